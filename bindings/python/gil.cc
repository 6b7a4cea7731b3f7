// What becomes of a thread that wants the GIL when the interpreter has begun to
// exit: a daemon thread that comes back from work without the GIL, or whose
// Python code, such as a callback, runs inside a call of this module.
//
// Python before 3.14 ends such a thread by pthread_exit().  With glibc that
// unwinds the stack like an exception, which would run the destructors of this
// module, that is, release Python objects without the GIL, and would end the
// process at the first function that is noexcept or catches everything.  So the
// thread is stopped at the first frame of this module that it reaches, and
// sleeps until the process has exited, as it does in later versions of Python.
//
// The unwinder calls the personality routine of each frame of C++ before
// anything of the frame runs.  The linker puts the routine below before that of
// the C++ library, for this module (--wrap in CMakeLists.txt).

#include <unwind.h>

#include <chrono>
#include <cstdint>
#include <thread>

extern "C" {

// NOLINTNEXTLINE(bugprone-reserved-identifier): as the linker calls them.
_Unwind_Reason_Code __real___gxx_personality_v0(int version,
                                                _Unwind_Action actions,
                                                std::uint64_t exception_class,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context);

// NOLINTNEXTLINE(bugprone-reserved-identifier)
_Unwind_Reason_Code __wrap___gxx_personality_v0(int version,
                                                _Unwind_Action actions,
                                                std::uint64_t exception_class,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context) {
  if ((actions & _UA_FORCE_UNWIND) != 0) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
  return __real___gxx_personality_v0(version, actions, exception_class,
                                     exception, context);
}
}
