#ifndef PARLANCE_SRC_SCHEMA_SOLVER_QUESTIONS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_QUESTIONS_H_

// The solver's questions that are in progress, and what an answer rests on.
//
// "Does this conjunction have a value?" leads to the same question about the
// values inside, and in a recursive schema back to itself.  The answers are
// those of the least fixpoint.  While a question is in progress, its subject
// counts as having no values but those that were found.  That loses nothing:
// of the values that were not, the one with the fewest levels has none of the
// others inside.
//
// Hence every answer is a lower bound.  A "yes", or that values never run out,
// is final.  Any other answer is final only if it read no question in progress.
// If it did, it is provisional: it may count too little for those who ask after
// that question has ended, and it must not be stored for them.
//
//   Questions::Answer answer(questions);              // tracks what is read
//   {
//     const Questions::Question question(questions);  // is in progress
//     ...
//     question.has_more();  or has_no_more(), or undecided()
//   }
//   if (yes) {
//     answer.forget();
//   } else if (answer.final()) {
//     ...                                             // "no", for good
//   } else {
//     known = answer.provisional();                   // "no", for now
//   }
//   ...
//   if (questions.holds(known)) ...                   // the same "no" again
//
// What an answer has read is known by the smallest depth of a question, like
// the low links of Tarjan's strongly connected components (1972).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace parlance::schema_solver {

// Not thread-safe.
class Questions {
 public:
  // An answer that was not final.  It is valid while the outermost question
  // that it read is in progress, and after that if there are no more values
  // than were assumed; unless more were found since, of a question that was
  // read.  Without it a recursive schema would need 2^n questions.
  struct Provisional {
    std::uint32_t low = 0;
    std::uint64_t serial = 0;  // of the question at `low`; 0: there is none
    std::uint64_t changes = 0;
    // It rests on a question that was not asked, and is valid until more is
    // found of anything.  What an expansion did not ask is asked outside of it.
    bool unasked = false;
    bool in_expansion = false;
  };

  // The number of questions in progress.  Of two questions in progress the
  // outer one has the smaller depth.
  std::uint32_t depth() const {
    return static_cast<std::uint32_t>(in_progress_.size());
  }

  // Says that the answer that is being made rests on the question in progress
  // at `depth`.  REQUIRES: depth < depth().
  void read(std::uint32_t depth) {
    in_progress_[depth].read = true;
    low_ = std::min(low_, depth);
  }
  // Says that a question was not asked that should have been: no answer that is
  // being made is final, nor is what those in progress are answered with.
  void not_asked() {
    if (in_progress_.empty()) return;
    read(0);
    ++undecided_;
    ++unasked_;
  }
  // Whether a provisional answer is still valid.  If so, the answer that is
  // being made rests on what that one had read.
  bool holds(Provisional answer) {
    if (answer.unasked) {
      if (answer.changes != changes_ ||
          (answer.in_expansion && !in_expansion())) {
        return false;
      }
      not_asked();
      return true;
    }
    if (answer.serial == 0) return false;
    // What was assumed of a question is what it was answered with: then the
    // answer rests on what that one rests on.
    while (answer.low >= depth() ||
           in_progress_[answer.low].serial != answer.serial) {
      const auto ended = ended_.find(answer.serial);
      if (ended == ended_.end() || ended->second.changes != answer.changes) {
        return false;
      }
      if (ended->second.serial == 0) return true;  // for good
      answer = ended->second;
    }
    if (answer.changes != changes_) return false;
    read(answer.low);
    return true;
  }
  // It changes when answers may have become invalid.
  std::uint64_t changes() const { return changes_; }
  // Says that more was found than was assumed of a question not asked.
  void changed() { ++changes_; }
  bool in_expansion() const { return expansions_ > 0; }
  std::size_t memory_bytes() const { return ended_.size() * 64; }

  // While it is alive, questions are those of an expansion, which cannot be
  // made again: they are not postponed.
  class InExpansion {
   public:
    explicit InExpansion(Questions& all) : all_(all) { ++all_.expansions_; }
    ~InExpansion() { --all_.expansions_; }
    InExpansion(const InExpansion&) = delete;
    InExpansion& operator=(const InExpansion&) = delete;

   private:
    Questions& all_;
  };

  // While it is alive, a question is in progress.
  class Question {
   public:
    explicit Question(Questions& all)
        : all_(all), depth_(all.depth()), undecided_(all.undecided_) {
      all_.in_progress_.push_back({.serial = all_.next_serial_++});
    }
    ~Question() { all_.in_progress_.pop_back(); }
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;

    std::uint32_t depth() const { return depth_; }
    // No more values were found, but there may be some.
    void undecided() const {
      if (all_.in_progress_[depth_].read) ++all_.undecided_;
    }
    // The subject has the values that were assumed last.  REQUIRES: what this
    // answer rests on is what the innermost Answer has read.
    void has_no_more() const {
      if (!all_.in_progress_[depth_].read || undecided_ != all_.undecided_) {
        return;
      }
      const std::uint64_t serial = all_.in_progress_[depth_].serial;
      const std::uint32_t low = all_.low_;
      all_.ended_[serial] =
          low >= depth_ ? Provisional{.changes = all_.changes_}
                        : Provisional{.low = low,
                                      .serial = all_.in_progress_[low].serial,
                                      .changes = all_.changes_};
    }
    // The subject has more values than were assumed: answers that have read
    // the question may count too little.
    void has_more() const {
      if (all_.in_progress_[depth_].read) ++all_.changes_;
    }

   private:
    Questions& all_;
    const std::uint32_t depth_;
    const std::uint64_t undecided_;  // Questions::undecided_ when it began
  };

  // Tracks what an answer reads.  What reads this answer rests on the same,
  // unless that is forgotten.
  class Answer {
   public:
    explicit Answer(Questions& all)
        : all_(all),
          before_(std::exchange(all.low_, kNone)),
          unasked_before_(all.unasked_) {}
    ~Answer() {
      if (all_.low_ >= all_.depth()) all_.low_ = kNone;
      all_.low_ = std::min(before_, all_.low_);
    }
    Answer(const Answer&) = delete;
    Answer& operator=(const Answer&) = delete;

    // Whether no question in progress was read, and all were asked.
    bool final() const { return !unasked() && all_.low_ >= all_.depth(); }
    // Whether it rests on a question that was not asked.
    bool unasked() const { return all_.unasked_ != unasked_before_; }
    void forget() {
      all_.low_ = kNone;
      all_.unasked_ = unasked_before_;
    }
    // REQUIRES: !final().
    Provisional provisional() const {
      if (unasked()) {
        return {.changes = all_.changes_,
                .unasked = true,
                .in_expansion = all_.in_expansion()};
      }
      return {.low = all_.low_,
              .serial = all_.in_progress_[all_.low_].serial,
              .changes = all_.changes_};
    }

   private:
    Questions& all_;
    const std::uint32_t before_;
    const std::uint64_t unasked_before_;
  };

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  struct InProgress {
    std::uint64_t serial = 0;
    bool read = false;
  };
  std::vector<InProgress> in_progress_;  // the outermost first
  std::uint64_t next_serial_ = 1;
  // How often more values were found of what had been read.
  std::uint64_t changes_ = 0;
  // How many that the answers being made rest on were not asked.
  std::uint64_t unasked_ = 0;
  std::uint32_t expansions_ = 0;  // in progress
  // How many questions that had been read ended undecided, or were not asked.
  std::uint64_t undecided_ = 0;
  // Of questions that had been read and ended without more values, by serial:
  // what that answer rests on, or serial 0 if it is final.
  std::unordered_map<std::uint64_t, Provisional> ended_;
  // The smallest depth that the answer that is being made has read.
  std::uint32_t low_ = kNone;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_QUESTIONS_H_
