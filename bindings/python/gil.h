#ifndef PARLANCE_BINDINGS_PYTHON_GIL_H_
#define PARLANCE_BINDINGS_PYTHON_GIL_H_

// Releasing the GIL, and taking it again.
//
// A thread that wants the GIL when the interpreter has begun to exit never gets
// it; see gil.cc.

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

namespace parlance::python {

// Work that runs without the GIL may hold locks of the library, which a child
// of fork() would find locked for ever.  So a fork waits until none runs.  Work
// begins with the GIL, so none begins while the thread that forks, which has
// it, waits; and it ends without the GIL.  Python code that work calls has no
// lock.
class WorkWithoutGil {
 public:
  static void begin() { ++begun_; }  // REQUIRES: the GIL
  static void end() { ended_.fetch_add(1, std::memory_order_release); }

  // Before and after a fork, in the child.  REQUIRES: the GIL.  Does not wait
  // for ever: some work, such as reading a pipe, may never end.
  static void wait() {
    const auto last =
        std::chrono::steady_clock::now() + std::chrono::seconds(9);
    while (ended_.load(std::memory_order_acquire) != begun_ &&
           std::chrono::steady_clock::now() < last) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  static void forget() { ended_.store(begun_, std::memory_order_relaxed); }

 private:
  static constinit inline std::uint64_t begun_ = 0;
  static constinit inline std::atomic<std::uint64_t> ended_ = 0;
};

// The state of this thread while a WithoutGil exists, else null.
inline constinit thread_local PyThreadState* thread_without_gil = nullptr;

// This thread does not have the GIL as long as this exists.
// REQUIRES: the thread has the GIL.
class WithoutGil {
 public:
  WithoutGil() noexcept {
    WorkWithoutGil::begin();
    thread_without_gil = PyEval_SaveThread();
  }
  ~WithoutGil() {
    WorkWithoutGil::end();
    PyEval_RestoreThread(std::exchange(thread_without_gil, nullptr));
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
};

// This thread has the GIL as long as this exists.  It may have had it before.
class WithGil {
 public:
  WithGil() noexcept : state_(std::exchange(thread_without_gil, nullptr)) {
    if (state_ != nullptr) {
      WorkWithoutGil::end();
      PyEval_RestoreThread(state_);
    } else {
      ensured_ = PyGILState_Ensure();
    }
  }
  ~WithGil() {
    if (state_ != nullptr) {
      WorkWithoutGil::begin();
      thread_without_gil = PyEval_SaveThread();
    } else {
      PyGILState_Release(ensured_);
    }
  }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyThreadState* const state_;
  PyGILState_STATE ensured_ = PyGILState_UNLOCKED;
};

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_GIL_H_
