#ifndef PARLANCE_SRC_SCHEMA_SOLVER_SATISFIABILITY_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_SATISFIABILITY_H_

// Whether some value satisfies a conjunction or one of its disjuncts, and
// whether an object or array that has begun can be completed.
//
// The recursion follows required members and items.  A conjunction that
// requires itself has no finite value, hence is not satisfiable: questions.h
// says what the answers are while others are in progress.
//
// The recursion does not use the call stack without limit.  A question that has
// too many enclosing ones is postponed: it counts as "no" for now, and is asked
// from outside once they have ended; then they are asked again.
//
// This reads the solver's tables through its public functions, and owns what
// was decided of them: verdicts, and what completed an object.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schema_solver/conditions.h"
#include "schema_solver/constraints.h"
#include "schema_solver/exactness.h"
#include "schema_solver/few_values.h"
#include "schema_solver/key_sets.h"
#include "schema_solver/questions.h"

namespace parlance::schema_solver {

class SchemaSolver;

// Of values: that they may have any number of levels of arrays and objects.
inline constexpr std::uint32_t kAnyLevels = 0xFFFFFFFF;

// The members of an object so far.
struct MembersSoFar {
  KeySet seen = kNoKeys;
  // Keys that are absent and can no longer be written.
  KeySet excluded = kNoKeys;
  std::uint64_t count = 0;
  ConditionId condition = kAlways;  // the remainder of the disjunct's
};

// Not thread-safe.  References to what it returns stay valid.
class Satisfiability {
 public:
  // `solver` owns this.
  Satisfiability(SchemaSolver& solver, Questions& questions)
      : solver_(solver), questions_(questions) {}

  // The number of levels of the innermost ScopedDepthLimit.
  std::uint32_t levels() const { return levels_; }

  // The satisfiable disjuncts of a conjunction; empty when no value of the type
  // satisfies it.  While questions are in progress there may be fewer, and the
  // reference is valid until the next question.
  const std::vector<DisjunctId>& disjuncts(ConjunctionId conjunction,
                                           JsonType type);
  // Whether disjuncts() has left out alternatives that a value may satisfy.
  bool leaves_out(ConjunctionId conjunction, JsonType type);
  bool satisfiable(ConjunctionId conjunction) { return solve(conjunction).yes; }
  // Whether it is proved that no value satisfies the conjunction.
  bool proves_empty(ConjunctionId conjunction);

  // Whether an object with these members can be completed.  REQUIRES: the
  // disjunct is satisfiable.
  bool completable(DisjunctId object, const MembersSoFar& members);
  // Whether it is complete.
  bool complete(DisjunctId object, const MembersSoFar& members);
  // Whether an array of `size` items can be completed, and if so, the values
  // that the last of them must not have.  `counted` has the number of items for
  // each of the disjunct's counts; bit i of `found_witnesses` is set if there
  // is an item for witness i; `used` says which values the items before have.
  std::optional<std::vector<ValueText>> barred_before(
      DisjunctId array, std::uint64_t size,
      const std::vector<std::uint64_t>& counted, std::uint32_t found_witnesses,
      const IsUsed& used);
  bool complete_array(DisjunctId array, std::uint64_t size,
                      const std::vector<std::uint64_t>& counted,
                      std::uint32_t found_witnesses);

  std::size_t memory_bytes() const;

 private:
  friend class ScopedDepthLimit;
  friend class ScopedExpansion;
  class CompletionSearch;
  class ItemSearch;

  // Whether something is satisfiable.
  struct Verdict {
    bool yes = false;
    // Not exact: an alternative that was left out might be satisfiable.
    Exactness exactness = {};
  };
  // What is known of one question.
  struct Decision {
    enum class State : std::uint8_t { kUnknown, kInProgress, kYes, kNo };
    State state = State::kUnknown;
    std::uint32_t depth = 0;                // while in progress
    Questions::Provisional provisional_no;  // while unknown
    bool postponed = false;                 // it was assumed to be "no"
    Exactness exactness;                    // of the last "no"

    bool decided() const { return state == State::kYes || state == State::kNo; }
  };
  // What is known of a conjunction and a type.
  struct Known {
    Decision any;  // whether some disjunct is satisfiable
    // Of each disjunct, until all are decided.
    std::vector<Decision> each;
    bool all_decided = false;
    bool postponed = false;  // the list was assumed to be what it had
    // While they are being decided, the depth of that question.
    std::optional<std::uint32_t> deciding_all = {};
    std::vector<DisjunctId> satisfiable;  // as far as they are decided
    // Of disjuncts().  Not exact: some alternatives were left out, in a
    // conjunction further in.
    Exactness exactness = {};

    void finish() {
      all_decided = true;
      each = {};
    }
  };
  // What a question is about.
  struct Subject {
    ConjunctionId conjunction = kAnything;
    JsonType type = JsonType::kNull;
    bool all = false;  // of each disjunct, not only whether there is one

    auto operator<=>(const Subject&) const = default;
  };

  // The most nested questions; and those with the questions that an expansion
  // asks, which cannot be postponed.  They take less than 256 KB of stack, of
  // which a thread may have little, and as much again the clauses that they
  // branch on.  The innermost may branch on 2,000 more.
  static constexpr std::uint32_t kMostNested = 64;
  static constexpr std::uint32_t kMostInExpansions = 2 * kMostNested;
  static constexpr std::uint32_t kMostBranches = 400;

  Known& known(ConjunctionId conjunction, JsonType type);
  Verdict solve(ConjunctionId conjunction, JsonType type);
  Verdict solve(ConjunctionId conjunction);
  Verdict solve_disjunct(JsonType type, DisjunctId disjunct);
  // Whether a question is answered without asking it: yes, no for good or for
  // now, or because it is in progress.
  bool answered(const Decision& decision);
  // Makes an answer of `decide`, which returns a verdict.
  template <class Decide>
  Verdict decide(Decision& decision, Decide decide);
  // Stores a "no", for good or for as long as it holds.
  void store_no(Decision& decision, const Questions::Answer& answer);
  // Decides about each disjunct, in answer to `question`.
  void decide_all(ConjunctionId conjunction, JsonType type, Known& known,
                  const Questions::Question& question);
  // Whether the work may go on.  If not, `verdict` says so.
  bool may_continue(ConjunctionId conjunction, Verdict& verdict);
  // Whether one more question may be asked now.  If not, `verdict` says so, and
  // a question for which there are too many in progress is postponed.
  bool may_ask(const Subject& subject, Verdict& verdict);
  bool decided(const Subject& subject);
  // Decides about what was postponed.  REQUIRES: no question is in progress.
  void settle();
  // solve() and disjuncts() for any number of levels, from inside of other
  // questions.
  Verdict ask(ConjunctionId conjunction, JsonType type);
  const std::vector<DisjunctId>& ask_disjuncts(ConjunctionId conjunction,
                                               JsonType type);
  const std::vector<DisjunctId>& disjuncts_within(ConjunctionId conjunction,
                                                  JsonType type);
  // `satisfiable`: whether the disjunct is known to be satisfiable.
  Verdict solve_members(DisjunctId object, const MembersSoFar& members,
                        bool satisfiable);
  Verdict solve_items(DisjunctId array, std::uint64_t size,
                      const std::vector<std::uint64_t>& counted,
                      std::uint32_t found_witnesses, const IsUsed& used);

  SchemaSolver& solver_;
  Questions& questions_;
  std::deque<std::array<std::unique_ptr<Known>, kJsonTypes>> known_;
  std::size_t verdicts_ = 0;  // in known_
  // The cache of completable(), by its arguments and the number of levels.
  std::map<std::tuple<DisjunctId, ConditionId, KeySet, KeySet, std::uint64_t,
                      std::uint32_t>,
           bool>
      completable_;
  // What completes an object: the members that are present, with literals that
  // their values satisfy, and the rules for all members (each a kEvery).
  struct FoundCompletion {
    std::vector<std::pair<KeyId, std::vector<Literal>>> members;
    std::vector<ConditionId> every_rules;
  };
  // The last one that was found for an object: where a search begins, which
  // checks it.
  std::unordered_map<DisjunctId, FoundCompletion> completions_;
  // disjuncts() for fewer levels than any.
  std::map<std::tuple<ConjunctionId, JsonType, std::uint32_t>,
           std::vector<DisjunctId>>
      disjuncts_within_;

  std::uint32_t levels_ = kAnyLevels;
  std::uint32_t branches_ = 0;      // clauses that are branched on
  std::vector<Subject> postponed_;  // and not yet asked from outside
};

// While it is alive, all answers but complete() and complete_array() are about
// values with at most `levels` levels of arrays and objects.
class ScopedDepthLimit {
 public:
  ScopedDepthLimit(Satisfiability& answers, std::uint32_t levels)
      : answers_(answers), before_(std::exchange(answers.levels_, levels)) {}
  ~ScopedDepthLimit() { answers_.levels_ = before_; }
  ScopedDepthLimit(const ScopedDepthLimit&) = delete;
  ScopedDepthLimit& operator=(const ScopedDepthLimit&) = delete;

 private:
  Satisfiability& answers_;
  const std::uint32_t before_;
};

// While it is alive, questions are those of an expansion, which is stored for
// every number of levels.
class ScopedExpansion {
 public:
  explicit ScopedExpansion(Satisfiability& answers)
      : any_(answers, kAnyLevels), expansion_(answers.questions_) {}

 private:
  const ScopedDepthLimit any_;
  const Questions::InExpansion expansion_;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_SATISFIABILITY_H_
