#ifndef PARLANCE_BINDINGS_PYTHON_GIL_H_
#define PARLANCE_BINDINGS_PYTHON_GIL_H_

// Releasing the GIL, taking it again, and running the caller's Python code, at
// the exit of the process, too.
//
// A thread that wants the GIL when the interpreter has begun to exit never gets
// it.  Python before 3.14 ends such a thread by pthread_exit().  On Linux that
// unwinds the stack like an exception: it would release Python objects without
// the GIL, and ends the process at the first function that is noexcept or
// catches everything.  Such a thread is stopped here where it asks, and sleeps
// until the process has exited, as it does in later versions of Python.

#include <nanobind/nanobind.h>

#include <chrono>
#include <thread>
#if defined(__GLIBCXX__)
#include <cxxabi.h>
#endif

namespace parlance::python {

// Calls `run`, which may run the caller's Python code, or take the GIL.
template <class Run>
auto into_python(const Run& run) {
#if defined(__GLIBCXX__)
  try {
    return run();
  } catch (const abi::__forced_unwind&) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
#else
  return run();
#endif
}

// The state of this thread while a WithoutGil exists, else null.
inline constinit thread_local PyThreadState* thread_without_gil = nullptr;

// This thread does not have the GIL as long as this exists.
// REQUIRES: the thread has the GIL.
class WithoutGil {
 public:
  WithoutGil() noexcept { thread_without_gil = PyEval_SaveThread(); }
  ~WithoutGil() {
    PyThreadState* const state = std::exchange(thread_without_gil, nullptr);
    into_python([&] { PyEval_RestoreThread(state); });
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
};

// This thread has the GIL as long as this exists.  It may have had it before.
class WithGil {
 public:
  WithGil() noexcept : state_(std::exchange(thread_without_gil, nullptr)) {
    into_python([&] {
      if (state_ != nullptr) {
        PyEval_RestoreThread(state_);
      } else {
        ensured_ = PyGILState_Ensure();
      }
    });
  }
  ~WithGil() {
    if (state_ != nullptr) {
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
