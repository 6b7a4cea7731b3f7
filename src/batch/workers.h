#ifndef PARLANCE_SRC_BATCH_WORKERS_H_
#define PARLANCE_SRC_BATCH_WORKERS_H_

// Threads that share the items of one job after another and wait in between.

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace parlance::batch {

class Workers {
 public:
  // `threads` counts the caller of run(); 0 counts as 1.
  explicit Workers(unsigned threads) : threads_(threads) {}
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Calls item(i) for each i below `count`, once, on this thread and on the
  // others, and returns when all calls have returned.  Items that follow one
  // another are taken together, so that a short item costs no more than its
  // work.  The others are started when they are first needed.
  void run(std::size_t count, const std::function<void(std::size_t)>& item);

 private:
  void start(std::size_t wanted);
  // `seen`: the jobs before the thread was started.
  void wait_for_jobs(std::uint64_t seen);
  void take_items();

  const unsigned threads_;
  std::vector<std::thread> others_;

  // The job: written under `mutex_` while no thread works.
  const std::function<void(std::size_t)>* item_ = nullptr;
  std::size_t count_ = 0;
  std::size_t together_ = 1;
  std::atomic<std::size_t> next_{0};  // the first item that nobody took

  std::mutex mutex_;
  std::condition_variable job_;   // there is a job, or the end
  std::condition_variable done_;  // no other thread works
  std::uint64_t jobs_ = 0;        // so far
  std::size_t working_ = 0;       // other threads that are at the job
  bool ends_ = false;
};

}  // namespace parlance::batch

#endif  // PARLANCE_SRC_BATCH_WORKERS_H_
