#ifndef PARLANCE_BINDINGS_PYTHON_GIL_H_
#define PARLANCE_BINDINGS_PYTHON_GIL_H_

// Releasing the GIL, and taking it again.
//
// A thread that wants the GIL when the interpreter has begun to exit never gets
// it; see gil.cc.

#include <nanobind/nanobind.h>

#include <utility>

namespace parlance::python {

// The state of this thread while a WithoutGil exists, else null.
inline constinit thread_local PyThreadState* thread_without_gil = nullptr;

// This thread does not have the GIL as long as this exists.
// REQUIRES: the thread has the GIL.
class WithoutGil {
 public:
  WithoutGil() noexcept { thread_without_gil = PyEval_SaveThread(); }
  ~WithoutGil() {
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
      PyEval_RestoreThread(state_);
    } else {
      ensured_ = PyGILState_Ensure();
    }
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
