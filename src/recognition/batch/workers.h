#ifndef PARLANCE_SRC_BATCH_WORKERS_H_
#define PARLANCE_SRC_BATCH_WORKERS_H_

// Threads that share the items of one job after another and wait in between.

#include <cstddef>
#include <functional>
#include <memory>

namespace parlance::batch {

class Workers {
 public:
  // `threads` counts the caller of run(); 0 counts as 1.
  explicit Workers(unsigned threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Calls item(i) for each i below `count`, once, on this thread and on the
  // others, and returns when all calls have returned.  Items that follow one
  // another are taken together, so that a short item costs no more than its
  // work.  The others are started when they are first needed: fewer, if the
  // system has no more.
  //
  // If an item throws, no further items are begun, and the caller receives the
  // exception when all calls have returned.
  void run(std::size_t count, const std::function<void(std::size_t)>& item);

 private:
  class Others;

  // After fork(), in the child: forgets the other threads.
  void leave_to_parent();

  const unsigned threads_;
  // Null: not needed so far.
  std::unique_ptr<Others> others_;
};

}  // namespace parlance::batch

#endif  // PARLANCE_SRC_BATCH_WORKERS_H_
