#ifndef PARLANCE_SRC_BASE_THREADS_H_
#define PARLANCE_SRC_BASE_THREADS_H_

// Threads that help the caller of a function, and may be refused.
//
// The system may have no thread to give, and a thread may run out of memory.
// The first is no error: the work is done by fewer threads.  The second is
// reported to the caller, by an exception, when no helper uses the caller's
// objects any more.  This is the only place of the core that catches
// exceptions.
//
//   base::run_on_threads(base::thread_count(wanted), [&](std::size_t) {
//     while (take(item)) work_on(item);
//   });

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <vector>

#include "base/mutex.h"

namespace parlance::base {

// More threads than this would only wait for each other.
inline constexpr unsigned kMaxThreads = 256;

// How many threads to use, the caller's included: `wanted`, or as many as the
// machine has if that is 0; at least 1 and at most kMaxThreads.
unsigned thread_count(std::size_t wanted);

// For tests: while it is true, no thread is to be had.
inline constinit std::atomic<bool> refuse_threads{false};

// Threads that are joined when this is destroyed.
class Threads {
 public:
  Threads() = default;
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  // Starts a thread that calls body().  Returns false, and changes nothing, if
  // no thread or no memory is to be had.  REQUIRES: body() does not throw.
  bool start(const std::function<void()>& body);
  std::size_t size() const { return threads_.size(); }

 private:
  std::vector<Thread> threads_;
};

// What the first of several threads threw that failed.
class FirstFailure {
 public:
  // Calls work().  Returns false if it threw something.
  bool run(const std::function<void()>& work);
  // Throws what was thrown, if anything was, and forgets it.
  void rethrow();

 private:
  Mutex mutex_;
  std::exception_ptr failure_;  // guarded by the mutex
};

// Calls work(0) on this thread and work(1), work(2), ... on others, on at most
// `threads` in all, and returns when all have returned.  If one throws, the
// others are waited for, and the caller receives the exception.
void run_on_threads(std::size_t threads,
                    const std::function<void(std::size_t)>& work);

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_THREADS_H_
