#ifndef PARLANCE_SRC_BASE_ONCE_H_
#define PARLANCE_SRC_BASE_ONCE_H_

// A value that is made when it is first needed, by the thread that needs it
// first.
//
// This is std::call_once() for functions that may throw: in some
// implementations of the standard library the call after one that threw never
// returns.

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
