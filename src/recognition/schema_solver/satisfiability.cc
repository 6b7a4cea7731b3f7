// Satisfiability of conjunctions.
//
// An object is satisfiable if its required members are and their number is
// allowed; an array if its minimum number of items is.  In a recursive schema a
// conjunction may require itself.  Satisfiability is the least fixpoint: a
// conjunction that is in progress counts as "no", because a value that contains
// itself is never finite.  A "no" is final only if it does not depend on a
// conjunction in progress further out.  Verdict::low tracks that dependency,
// like the low links of Tarjan's strongly connected components (1972).

#include "schema_solver/satisfiability.h"

#include <string_view>

#include "base/work.h"
#include "schema_solver/solver.h"

namespace parlance::schema_solver {
namespace {

// Whether a node visibly accepts some null, boolean, number or string: it has
// no rule that could exclude it.
bool accepts_some_scalar(const schema::Node& node) {
  if (node.scalars || !node.all_of.empty() || node.has_any_of ||
      node.has_one_of || node.not_node != schema::kNoNode ||
      node.if_node != schema::kNoNode || node.ref != schema::kNoNode) {
    return false;
  }
  const auto accepts = [&](JsonType type) {
    return (node.types & type_bit(type)) != 0;
  };
  return accepts(JsonType::kNull) || accepts(JsonType::kBoolean) ||
         (accepts(JsonType::kNumber) && node.number_rules == nullptr) ||
         (accepts(JsonType::kString) && node.string_rules == nullptr);
}

}  // namespace

Satisfiability::Known& Satisfiability::known(ConjunctionId conjunction,
                                             JsonType type) {
  if (known_.size() <= conjunction) {
    known_.resize(std::size_t{conjunction} + 1);
  }
  auto& known = known_[conjunction][static_cast<std::size_t>(type)];
  if (known == nullptr) known = std::make_unique<Known>();
  return *known;
}

// Whether some value of the type satisfies the conjunction.
//   1. What is known, or assumed of a call in progress, is the verdict.
//   2. Otherwise one satisfiable disjunct is enough.
//   3. A "yes" is final, for it rests on values that exist.  A "no" is final if
//      it rests on no call further out; else it is stored with that call.
// Invariant: serials_[i] identifies the call in progress at depth i, and a
// state kYes or kNo is right whatever calls are in progress.
Satisfiability::Verdict Satisfiability::solve(ConjunctionId conjunction,
                                              JsonType type) {
  if (solver_.excludes(conjunction, type)) return {};
  if (levels_ != kAnyLevels && is_nested(type)) {
    const bool yes = !disjuncts_within(conjunction, type).empty();
    return {.yes = yes,
            .exactness = yes ? Exactness{} : Exactness::undecided()};
  }
  using State = Known::State;
  const Expansion& expansion = solver_.expansion(conjunction, type);
  Known& known = this->known(conjunction, type);
  if (known.state == State::kYes) return {.yes = true};
  if (known.state == State::kNo) return {.exactness = known.exactness};
  // In progress: the "no" depends on that call.  While a conjunction is being
  // expanded its disjuncts are unknown, and the "no" is taken to depend on the
  // outermost call.
  if (expansion.expanding) return {.low = 0};
  if (known.state == State::kInProgress) return {.low = known.depth};
  // A provisional "no" can be reused while the call that it depends on is still
  // in progress, unless some "yes" since then may have changed it.
  if (known.provisional_no.serial != 0 && known.provisional_no.low < depth_ &&
      serials_[known.provisional_no.low] == known.provisional_no.serial &&
      yes_count_ == known.provisional_no.yes_count) {
    return {.low = known.provisional_no.low,
            .exactness = known.provisional_no.exactness};
  }
  if (depth_ >= kMaxDepth || !solver_.steps().left()) {
    solver_.note_stop(conjunction);
    if (!base::work_left()) {
      return {.low = 0, .exactness = Exactness::undecided()};
    }
    return {.low = 0,
            .exactness = solver_.notes().leave_out(
                LeftOutBy::kLimit, solver_.place(conjunction), "",
                depth_ >= kMaxDepth
                    ? "values that need more levels of schemas than "
                      "are followed are "
                      "left out"
                    : "values are left out that are not found within "
                      "GrammarLimits::steps")};
  }
  known.state = State::kInProgress;
  known.depth = depth_++;
  serials_.resize(depth_);
  serials_.back() = next_serial_++;
  solver_.steps().count();
  Verdict verdict;
  for (const DisjunctId disjunct : expansion.all) {
    const Verdict one = solve_disjunct(type, disjunct);
    verdict.yes = verdict.yes || one.yes;
    verdict.depend_on(one);
    if (one.yes) break;
  }
  --depth_;
  if (verdict.yes) {
    known.state = State::kYes;
    ++yes_count_;
    return {.yes = true};
  }
  known.exactness |= expansion.exactness | verdict.exactness;
  verdict.exactness = known.exactness;
  known.state = verdict.low >= known.depth ? State::kNo : State::kUnknown;
  if (known.state == State::kNo) {
    verdict.low = Verdict::kNone;
  } else {
    known.provisional_no = {verdict.low, serials_[verdict.low], yes_count_,
                            verdict.exactness};
  }
  return verdict;
}

Satisfiability::Verdict Satisfiability::solve(ConjunctionId conjunction) {
  if (conjunction == kAnything) return {.yes = true};
  Verdict verdict;
  if (conjunction == kNothing) return verdict;
  // Most members of an object of thousands have such a value; it need not be
  // expanded before it is written.
  const std::vector<Literal>& literals = solver_.literals(conjunction);
  if (literals.size() == 1 && !literals.front().negated() &&
      accepts_some_scalar(solver_.document().node(literals.front().node()))) {
    return {.yes = true};
  }
  // Scalars first: they need no recursion.
  for (const JsonType type :
       {JsonType::kString, JsonType::kNumber, JsonType::kBoolean,
        JsonType::kNull, JsonType::kArray, JsonType::kObject}) {
    const Verdict one = solve(conjunction, type);
    if (one.yes) return one;
    verdict.depend_on(one);
  }
  return verdict;
}

Satisfiability::Verdict Satisfiability::solve_disjunct(JsonType type,
                                                       DisjunctId disjunct) {
  switch (type) {
    case JsonType::kArray: {
      const std::vector<std::uint64_t> none(
          solver_.array(disjunct).counts.size(), 0);
      return solve_items(disjunct, 0, none, 0,
                         [](std::string_view) { return false; });
    }
    case JsonType::kObject:
      return solve_members(
          disjunct, {.condition = solver_.object(disjunct).condition}, false);
    default:
      return {.yes = true};  // expand() drops disjuncts that are empty
  }
}

// The recursion terminates without a check for cycles, because each call leads
// to calls for fewer levels only.
const std::vector<DisjunctId>& Satisfiability::disjuncts_within(
    ConjunctionId conjunction, JsonType type) {
  const std::tuple key(conjunction, type, levels_);
  const auto known = disjuncts_within_.find(key);
  if (known != disjuncts_within_.end()) return known->second;
  std::vector<DisjunctId> satisfiable;
  if (levels_ > 0) {
    std::vector<DisjunctId> all;
    {
      const ScopedDepthLimit any(*this, kAnyLevels);
      all = disjuncts(conjunction, type);
    }
    const ScopedDepthLimit inside(*this, levels_ - 1);
    for (const DisjunctId disjunct : all) {
      if (solve_disjunct(type, disjunct).yes) satisfiable.push_back(disjunct);
    }
  }
  return disjuncts_within_.emplace(key, std::move(satisfiable)).first->second;
}

// The list is marked as known before it is filled, and a disjunct is left out
// of it for good if its verdict was "no", also if that "no" rested on a
// question in progress.  solve() itself does not read it: it goes through
// Expansion::all, and asks this for scalars, which need no recursion, or for
// fewer levels, which are other lists.
//
// ValueLists does ask for arrays and objects, while items that differ are being
// counted.  Of a conjunction whose list is being filled it finds the disjuncts
// so far; and a list that is filled for it lacks the disjuncts that need a
// value of a conjunction in progress.  So of values inside of values of their
// own schema it counts too few, never too many.  The lists, the counts and the
// keys that were found possible (KeyTables) are stored, and the answers that
// rest on them are not marked as inexact: under uniqueItems, texts of such
// schemas may be refused without a note, and a conjunction may count as empty
// that is not.
const std::vector<DisjunctId>& Satisfiability::disjuncts(
    ConjunctionId conjunction, JsonType type) {
  static const std::vector<DisjunctId> none;
  if (solver_.excludes(conjunction, type)) return none;
  if (levels_ != kAnyLevels && is_nested(type)) {
    return disjuncts_within(conjunction, type);
  }
  const Expansion& expansion = solver_.expansion(conjunction, type);
  Known& known = this->known(conjunction, type);
  if (!known.satisfiable_known) {
    known.satisfiable_known = true;
    for (const DisjunctId disjunct : expansion.all) {
      const Verdict verdict = solve_disjunct(type, disjunct);
      if (verdict.yes) {
        known.satisfiable.push_back(disjunct);
      } else {
        known.exactness |= verdict.exactness;
      }
    }
  }
  return known.satisfiable;
}

bool Satisfiability::leaves_out(ConjunctionId conjunction, JsonType type) {
  return !solver_.excludes(conjunction, type) &&
         !(solver_.expansion(conjunction, type).exactness |
           known(conjunction, type).exactness)
              .exact();
}

std::size_t Satisfiability::memory_bytes() const {
  return disjuncts_within_.size() * 96 + completable_.size() * 96 +
         completions_.size() * 256;
}

}  // namespace parlance::schema_solver
