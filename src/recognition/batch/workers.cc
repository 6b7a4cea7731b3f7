#include "batch/workers.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/mutex.h"
#include "base/system.h"
#include "base/threads.h"

namespace parlance::batch {

namespace {

// Below, waking a thread takes longer than the work that it would do.
constexpr std::size_t kItemsPerThread = 16;
// How many items are taken at once: few enough that the last ones, which may be
// slow, are spread over the threads.
constexpr std::size_t kTogether = 8;

}  // namespace

// The other threads, and the job that they share with the caller.
class Workers::Others {
 public:
  Others() = default;
  ~Others() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    job_.notify_all();
  }
  Others(const Others&) = delete;
  Others& operator=(const Others&) = delete;

  // False in a child made by fork(), which has none of these threads.
  bool belong_to(long process) const { return process == process_; }

  // Starts threads until there are `wanted`, or no more are to be had.
  void start(std::size_t wanted) {
    while (threads_.size() < wanted &&
           threads_.start([this, seen = jobs_] { wait_for_jobs(seen); })) {
    }
  }

  void run(std::size_t count, const std::function<void(std::size_t)>& item) {
    {
      const std::lock_guard lock(mutex_);
      item_ = &item;
      count_ = count;
      next_.store(0, std::memory_order_relaxed);
      working_ = threads_.size();
      ++jobs_;
    }
    job_.notify_all();
    take_items();
    {
      // Every thread must have seen this job before the next one replaces it.
      std::unique_lock lock(mutex_);
      done_.wait(lock, [&] { return working_ == 0; });
    }
    failure_.rethrow();
  }

 private:
  // `seen`: the jobs before the thread was started.
  void wait_for_jobs(std::uint64_t seen) {
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

  void take_items() {
    const bool done = failure_.run([this] {
      for (;;) {
        const std::size_t begin =
            next_.fetch_add(kTogether, std::memory_order_relaxed);
        if (begin >= count_) return;
        const std::size_t end = std::min(begin + kTogether, count_);
        for (std::size_t i = begin; i < end; ++i) (*item_)(i);
      }
    });
    if (!done) next_.store(count_, std::memory_order_relaxed);
  }

  const long process_ = base::process_id();

  // The job: written under `mutex_` while no thread works.
  const std::function<void(std::size_t)>* item_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<std::size_t> next_{0};  // the first item that nobody took
  base::FirstFailure failure_;        // of an item

  base::Mutex mutex_;
  base::Condition job_;      // there is a job, or the end
  base::Condition done_;     // no other thread works
  std::uint64_t jobs_ = 0;   // so far
  std::size_t working_ = 0;  // other threads that are at the job
  bool ends_ = false;

  base::Threads threads_;  // the last member: they use the others
};

Workers::Workers(unsigned threads) : threads_(threads) {}

// In a child made by fork() there is nobody to wait for, and what the threads
// of the parent waited for can neither be used nor destroyed.
void Workers::leave_to_parent() {
  if (others_ != nullptr && !others_->belong_to(base::process_id())) {
    static_cast<void>(others_.release());
  }
}

Workers::~Workers() { leave_to_parent(); }

void Workers::run(std::size_t count,
                  const std::function<void(std::size_t)>& item) {
  const std::size_t wanted = std::min<std::size_t>(
      threads_, (count + kItemsPerThread - 1) / kItemsPerThread);
  if (wanted <= 1) {
    for (std::size_t i = 0; i < count; ++i) item(i);
    return;
  }
  leave_to_parent();
  if (others_ == nullptr) others_ = std::make_unique<Others>();
  others_->start(wanted - 1);
  others_->run(count, item);
}

}  // namespace parlance::batch
