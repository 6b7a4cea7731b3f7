#ifndef PARLANCE_SRC_BASE_ONCE_H_
#define PARLANCE_SRC_BASE_ONCE_H_

// What is made when it is first needed, by whichever thread comes first.
//
// As std::call_once(), of which some implementations never return from the next
// call after one that threw.

#include <atomic>

#include "base/mutex.h"

namespace parlance::base {

class Once {
 public:
  // Calls make(), unless a call of it has returned already.  If make() throws,
  // the next caller tries again: it must begin from nothing.
  template <class Make>
  void call(const Make& make) {
    if (done_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    if (done_.load(std::memory_order_relaxed)) return;
    make();
    done_.store(true, std::memory_order_release);
  }

 private:
  std::atomic<bool> done_{false};
  Mutex mutex_;
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_ONCE_H_
