// See work.h.

#include "base/work.h"

#include <algorithm>
#include <atomic>

namespace parlance::base {
namespace {

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
    thread_work.left = ThreadWork::kUnlimited;
    return true;
  }
  // The value of the limit is known to the question.
  stop_work(WorkStop::kWork, thread_work.passed);
  return false;
}

Work::Work(std::uint64_t limit)
    : outer_(thread_work), limit_(std::min(limit, outer_.left)) {
  thread_work = {.left = limit_,
                 .stop = outer_.stop,
                 .question = next_question(),
                 .passed = limit,
                 .place = &place_};
}

Work::~Work() {
  const std::uint64_t spent = limit_ - thread_work.left;
  const std::uint64_t repeated = thread_work.repeated;
  thread_work = outer_;
  thread_work.repeated += repeated;
  if (in_question()) thread_work.left -= std::min(spent, thread_work.left);
}

}  // namespace parlance::base
