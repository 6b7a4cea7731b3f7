// See work.h and cancellable.h.

#include "base/work.h"

#include <algorithm>
#include <atomic>

#include "base/cancellable.h"

namespace parlance::base {
namespace {

// About a millisecond.
constexpr std::uint64_t kStepsPerPoll = std::uint64_t{1} << 14;

// The compile of a thread that may be cancelled.
struct ThreadCompile {
  bool (*cancelled)(void*) = nullptr;
  void* argument = nullptr;
  bool stopped = false;
};
constinit thread_local ThreadCompile thread_compile;

// A number that no other question has.  Threads take numbers in blocks.
std::uint64_t next_question() {
  constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;
  static std::atomic<std::uint64_t> blocks{1};
  constinit static thread_local std::uint64_t next = 0;
  if (next % kBlock == 0) {
    next = blocks.fetch_add(1, std::memory_order_relaxed) * kBlock;
  }
  return next++;
}

}  // namespace

void stop_work(WorkStop why, std::uint64_t limit) {
  if (thread_work.stop != WorkStop::kNone) return;
  thread_work.left = 0;
  thread_work.stop = why;
  thread_work.passed = limit;
}

bool spend_last_work() {
  if (!in_question()) {
    if (!work_left()) return false;
    if (thread_compile.cancelled == nullptr) {
      thread_work.left = ThreadWork::kUnlimited;
      return true;
    }
    if (thread_compile.cancelled(thread_compile.argument)) {
      thread_compile.stopped = true;
      thread_work.left = 0;
      thread_work.stop = WorkStop::kWork;
      return false;
    }
    thread_work.left = kStepsPerPoll;
    return true;
  }
  // The value of the limit is known to the question.
  stop_work(WorkStop::kWork, thread_work.passed);
  return false;
}

Work::Work(std::uint64_t limit)
    : outer_(thread_work),
      limit_(in_question() ? std::min(limit, outer_.left) : limit) {
  thread_work = {.left = limit_,
                 .stop = outer_.stop,
                 .question = next_question(),
                 .passed = limit,
                 .place = &place_};
}

Cancellable::Cancellable(bool (*cancelled)(void*), void* argument)
    : outermost_(!in_question() && thread_compile.cancelled == nullptr &&
                 cancelled != nullptr) {
  if (!outermost_) return;
  thread_compile = {.cancelled = cancelled, .argument = argument};
  thread_work.left = 1;
}

Cancellable::~Cancellable() {
  if (!outermost_) return;
  thread_compile = {};
  thread_work = {};
}

bool Cancellable::stopped() const { return thread_compile.stopped; }

Work::~Work() {
  const std::uint64_t spent = limit_ - thread_work.left;
  const std::uint64_t repeated = thread_work.repeated;
  thread_work = outer_;
  thread_work.repeated += repeated;
  if (in_question()) thread_work.left -= std::min(spent, thread_work.left);
}

}  // namespace parlance::base
