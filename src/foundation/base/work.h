#ifndef PARLANCE_SRC_BASE_WORK_H_
#define PARLANCE_SRC_BASE_WORK_H_

// How much work one question may take, counted and not timed.
//
//   base::Work work(limit);            // the question: a mask, a token
//   Answer answer = engine.ask(...);   // engines call base::spend_work()
//   if (work.stopped()) ...            // `answer` means nothing
//
// The innermost loops of every engine spend a step per unit of work: a node
// that is derived, an item that is followed, a branch of a tableau.  When the
// steps of the question are used up, spend_work() returns false, at once and
// from then on, and an engine returns from where it is, with any answer.  No
// clock is read, so the same calls stop at the same step on every machine.
//
// What an engine stored after the stop may be wrong.  So the tables that were
// in use then are not used again: the lock of a recogniser marks it as spoiled
// (recogniser/recogniser.h), and caches that outlive it store nothing unless
// work_left().
//
// A thread has at most one question at a time; one inside another spends the
// steps of both.  Outside of questions (compiles) work is not limited.

#include <cstdint>
#include <string>
#include <utility>

namespace parlance::base {

// Which limit was passed.
enum class WorkStop : std::uint8_t {
  kNone,
  kWork,   // GrammarLimits::work
  kSteps,  // GrammarLimits::steps
};

// The question of a thread.
struct ThreadWork {
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
  std::uint64_t left = kUnlimited;
  std::uint64_t repeated = 0;  // steps that were spent beside the limit
  WorkStop stop = WorkStop::kNone;
  bool spoiled = false;  // a table was used that another question had spoiled
  std::uint64_t question = 0;    // its number; 0: outside of questions
  std::uint64_t passed = 0;      // the value of the limit that was passed
  std::string* place = nullptr;  // where in the grammar it was passed
};

inline constinit thread_local ThreadWork thread_work;

// Whether the question may go on.
inline bool work_left() { return thread_work.stop == WorkStop::kNone; }

// Stops the question because a limit of `limit` was passed.
// REQUIRES: in_question().
void stop_work(WorkStop why, std::uint64_t limit);
bool spend_last_work();

// Spends steps of the question; false when there are not enough.
inline bool spend_work(std::uint64_t steps = 1) {
  if (steps < thread_work.left) {
    thread_work.left -= steps;
    return true;
  }
  return spend_last_work();
}

inline bool in_question() { return thread_work.question != 0; }

// Says where in the grammar the question stopped, unless that is known.  To be
// called by the engine whose call of spend_work() returned false.
template <class Place>
void note_place(const Place& place) {
  if (thread_work.place != nullptr && thread_work.place->empty()) {
    *thread_work.place = place();
  }
}

// A question, for as long as this lives.
class Work {
 public:
  // May take at most `limit` steps, and no more than an outer question has
  // left.
  explicit Work(std::uint64_t limit);
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  bool stopped() const { return thread_work.stop != WorkStop::kNone; }
  // Whether the answer may be wrong because tables were used that another
  // question had spoiled.  It is to be asked again.
  bool spoiled() const { return thread_work.spoiled; }
  WorkStop why() const { return thread_work.stop; }
  // The value of the limit that was passed.
  std::uint64_t passed() const { return thread_work.passed; }
  const std::string& place() const { return place_; }
  // Steps that were spent, those beside the limit included.
  std::uint64_t spent() const {
    return limit_ - thread_work.left + thread_work.repeated;
  }

 private:
  const ThreadWork outer_;
  std::uint64_t limit_;
  std::string place_;
};

// While it lives, the question may take as many steps as it has left, and they
// are counted beside its limit: for one step of a text that was read within the
// limit before, and is read again because tables are lost.
class RepeatedWork {
 public:
  RepeatedWork() : left_(thread_work.left) {}
  ~RepeatedWork() {
    if (!in_question() || !work_left()) return;
    thread_work.repeated += left_ - thread_work.left;
    thread_work.left = left_;
  }
  RepeatedWork(const RepeatedWork&) = delete;
  RepeatedWork& operator=(const RepeatedWork&) = delete;

 private:
  const std::uint64_t left_;
};

// While it lives, work is not limited, and is counted beside the limit of the
// question: for what is bounded by the compile of the same grammar.
class UnlimitedWork {
 public:
  UnlimitedWork() : outer_(std::exchange(thread_work, ThreadWork())) {}
  ~UnlimitedWork() {
    const std::uint64_t spent =
        ThreadWork::kUnlimited - thread_work.left + thread_work.repeated;
    thread_work = outer_;
    thread_work.repeated += spent;
  }
  UnlimitedWork(const UnlimitedWork&) = delete;
  UnlimitedWork& operator=(const UnlimitedWork&) = delete;

 private:
  const ThreadWork outer_;
};

// Counts the steps beside the limit since there were `before` of them towards
// the limit: for a question that begins with empty tables again and again.
inline bool limit_repeated(std::uint64_t before) {
  const std::uint64_t steps = thread_work.repeated - before;
  thread_work.repeated = before;
  return spend_work(1 + steps);
}

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_WORK_H_
