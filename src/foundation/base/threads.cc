// See threads.h.
//
// Compiled without exceptions, or where there are no threads, none is started:
// a refusal would end the process.

#include "base/threads.h"

#include <algorithm>
#include <utility>

namespace parlance::base {

unsigned thread_count(std::size_t wanted) {
  if (wanted == 0) wanted = Thread::hardware_concurrency();
  return static_cast<unsigned>(std::clamp<std::size_t>(wanted, 1, kMaxThreads));
}

Threads::~Threads() {
  for (Thread& thread : threads_) thread.join();
}

bool Threads::start([[maybe_unused]] const std::function<void()>& body) {
#if __cpp_exceptions && defined(__STDCPP_THREADS__)
  if (refuse_threads.load(std::memory_order_relaxed)) return false;
  try {
    threads_.emplace_back(body);
    return true;
  } catch (...) {  // std::system_error or std::bad_alloc
    return false;
  }
#else
  return false;
#endif
}

bool FirstFailure::run(const std::function<void()>& work) {
#if __cpp_exceptions
  try {
    work();
    return true;
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr) failure_ = std::current_exception();
    return false;
  }
#else
  work();
  return true;
#endif
}

void FirstFailure::rethrow() {
  std::exception_ptr failure;
  {
    const std::lock_guard lock(mutex_);
    failure = std::exchange(failure_, nullptr);
  }
#if __cpp_exceptions
  if (failure != nullptr) std::rethrow_exception(std::move(failure));
#endif
}

void run_on_threads(std::size_t threads,
                    const std::function<void(std::size_t)>& work) {
  FirstFailure failure;
  {
    Threads helpers;
    for (std::size_t i = 1; i < threads; ++i) {
      if (!helpers.start(
              [&failure, &work, i] { failure.run([&] { work(i); }); })) {
        break;
      }
    }
    work(0);
  }
  failure.rethrow();
}

}  // namespace parlance::base
