#ifndef PARLANCE_SRC_SCHEMA_SOLVER_STEP_COUNTER_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_STEP_COUNTER_H_

// The steps that a solver takes for one question, or for the compile, which
// GrammarLimits::steps bounds.

#include <cstddef>
#include <cstdint>

#include "base/work.h"

namespace parlance::schema_solver {

// Not thread-safe.
class StepCounter {
 public:
  explicit StepCounter(std::size_t limit) : limit_(limit) {}

  // Counts a step of the present question.
  void count() {
    begin();
    ++steps_;
    base::spend_work();
  }
  // Whether the present question may take more steps.  If not, it is stopped.
  bool left() const {
    if (!base::work_left()) return false;
    if (question_ != base::thread_work.question || steps_ <= limit_) {
      return true;
    }
    if (base::in_question()) base::stop_work(base::WorkStop::kSteps, limit_);
    return false;
  }
  // The steps of the present question so far.
  std::size_t taken() {
    begin();
    return steps_;
  }

 private:
  void begin() {
    if (question_ == base::thread_work.question) return;
    question_ = base::thread_work.question;
    steps_ = 0;
  }

  const std::size_t limit_;
  std::size_t steps_ = 0;
  std::uint64_t question_ = 0;  // that `steps_` counts for
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_STEP_COUNTER_H_
