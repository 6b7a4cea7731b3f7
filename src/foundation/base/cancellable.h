#ifndef PARLANCE_SRC_BASE_CANCELLABLE_H_
#define PARLANCE_SRC_BASE_CANCELLABLE_H_

// Compiles that a caller may cancel.
//
//   base::Cancellable compile(limits.cancelled, limits.cancelled_argument);
//   Answer answer = engine.ask(...);   // engines call base::spend_work()
//   if (compile.stopped()) ...         // `answer` means nothing
//
// The work outside of questions is not limited (work.h), but the steps that are
// spent say when to ask the caller: about every millisecond, in every loop that
// spends steps.  Once the caller says so, spend_work() returns false, as when a
// question is stopped.

namespace parlance::base {

// A compile, for as long as this lives.  One inside another, or inside a
// question, changes nothing.
class Cancellable {
 public:
  // `cancelled` may be null.  It is asked at the first step.
  Cancellable(bool (*cancelled)(void*), void* argument);
  ~Cancellable();
  Cancellable(const Cancellable&) = delete;
  Cancellable& operator=(const Cancellable&) = delete;

  // Whether this compile, or the one that it is inside of, was cancelled.
  bool stopped() const;

 private:
  const bool outermost_;
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_CANCELLABLE_H_
