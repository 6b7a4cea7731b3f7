#include "batch/workers.h"

#include <algorithm>

namespace parlance::batch {

namespace {

// Below, waking a thread takes longer than the work that it would do.
constexpr std::size_t kItemsPerThread = 16;
// How many items are taken at once: few enough that the last ones, which may be
// slow, are spread over the threads.
constexpr std::size_t kTogether = 8;

}  // namespace

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  job_.notify_all();
  for (std::thread& other : others_) other.join();
}

void Workers::run(std::size_t count,
                  const std::function<void(std::size_t)>& item) {
  const std::size_t wanted = std::min<std::size_t>(
      threads_, (count + kItemsPerThread - 1) / kItemsPerThread);
  if (wanted <= 1) {
    for (std::size_t i = 0; i < count; ++i) item(i);
    return;
  }
  start(wanted - 1);
  {
    const std::lock_guard lock(mutex_);
    item_ = &item;
    count_ = count;
    together_ = kTogether;
    next_.store(0, std::memory_order_relaxed);
    working_ = others_.size();
    ++jobs_;
  }
  job_.notify_all();
  take_items();
  // Every thread must have seen this job before the next one replaces it.
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return working_ == 0; });
}

void Workers::start(std::size_t wanted) {
  while (others_.size() < wanted) {
    others_.emplace_back([this, seen = jobs_] { wait_for_jobs(seen); });
  }
}

void Workers::wait_for_jobs(std::uint64_t seen) {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      job_.wait(lock, [&] { return ends_ || jobs_ != seen; });
      if (ends_) return;
      seen = jobs_;
    }
    take_items();
    const std::lock_guard lock(mutex_);
    if (--working_ == 0) done_.notify_one();
  }
}

void Workers::take_items() {
  for (;;) {
    const std::size_t begin =
        next_.fetch_add(together_, std::memory_order_relaxed);
    if (begin >= count_) return;
    const std::size_t end = std::min(begin + together_, count_);
    for (std::size_t i = begin; i < end; ++i) (*item_)(i);
  }
}

}  // namespace parlance::batch
