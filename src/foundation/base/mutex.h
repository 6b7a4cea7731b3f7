#ifndef PARLANCE_SRC_BASE_MUTEX_H_
#define PARLANCE_SRC_BASE_MUTEX_H_

// The standard library's locks and threads.  Where a program has one thread
// only, as in WebAssembly without threads, the standard library may lack them:
// there locks are empty, and Thread is a type of which there is no value.
//
// std::lock_guard and std::unique_lock are used with both.

#include <mutex>

#if defined(__STDCPP_THREADS__)
#include <condition_variable>
#include <shared_mutex>
#include <thread>
#endif

namespace parlance::base {

#if defined(__STDCPP_THREADS__)

using Mutex = std::mutex;
using SharedMutex = std::shared_mutex;
using SharedLock = std::shared_lock<std::shared_mutex>;
using Condition = std::condition_variable;
using Thread = std::thread;

#else

struct Mutex {
  void lock() {}
  bool try_lock() { return true; }
  void unlock() {}
};

using SharedMutex = Mutex;
using SharedLock = std::lock_guard<SharedMutex>;

// What is waited for has happened: nobody else could let it happen.
struct Condition {
  void notify_one() {}
  void notify_all() {}
  template <class Lock, class Predicate>
  void wait(const Lock& /*lock*/, const Predicate& /*happened*/) {}
};

class Thread {
 public:
  Thread() = delete;
  static unsigned hardware_concurrency() { return 1; }
  void join() {}
};

#endif

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_MUTEX_H_
