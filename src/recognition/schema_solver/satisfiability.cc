// Satisfiability of conjunctions.
//
// An object is satisfiable if its required members are and their number is
// allowed; an array if its minimum number of items is, and under uniqueItems,
// if there are as many different ones.

#include "schema_solver/satisfiability.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>

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
  if (known == nullptr) {
    known = std::make_unique<Known>();
    ++verdicts_;
  }
  return *known;
}

bool Satisfiability::answered(const Decision& decision) {
  using State = Decision::State;
  if (decision.state == State::kUnknown) {
    return questions_.holds(decision.provisional_no);
  }
  if (decision.state == State::kInProgress) questions_.read(decision.depth);
  return true;
}

template <class Decide>
Satisfiability::Verdict Satisfiability::decide(Decision& decision,
                                               Decide decide) {
  using State = Decision::State;
  Questions::Answer answer(questions_);
  Verdict verdict;
  {
    const Questions::Question question(questions_);
    decision.state = State::kInProgress;
    decision.depth = question.depth();
    solver_.steps().count();
    verdict = decide();
    if (verdict.yes) {
      question.has_more();
    } else if (verdict.exactness.exact()) {
      question.has_no_more();
    } else {
      question.undecided();
    }
  }
  decision.exactness = verdict.yes ? Exactness{} : verdict.exactness;
  if (verdict.yes) {
    answer.forget();
    decision.state = State::kYes;
    if (decision.postponed) questions_.changed();
  } else {
    store_no(decision, answer);
  }
  return verdict;
}

void Satisfiability::store_no(Decision& decision,
                              const Questions::Answer& answer) {
  using State = Decision::State;
  if (answer.final()) {
    decision.state = State::kNo;
  } else {
    decision.state = State::kUnknown;
    decision.provisional_no = answer.provisional();
  }
}

bool Satisfiability::may_continue(ConjunctionId conjunction, Verdict& verdict) {
  if (solver_.steps().left()) return true;
  questions_.not_asked();
  solver_.note_stop(conjunction);
  verdict.exactness |=
      !base::work_left()
          ? Exactness::undecided()
          : solver_.notes().leave_out(
                LeftOutBy::kLimit, solver_.place(conjunction), "",
                "values are left out that are not found within "
                "GrammarLimits::steps");
  return false;
}

bool Satisfiability::may_ask(const Subject& subject, Verdict& verdict) {
  if (!may_continue(subject.conjunction, verdict)) return false;
  // The outermost question has an answer, even from inside of a search for an
  // object that has begun, whose branches count as well.
  const std::uint32_t depth = questions_.depth();
  if (depth == 0 ||
      (depth < (questions_.in_expansion() ? kMostInExpansions : kMostNested) &&
       branches_ < kMostBranches)) {
    return true;
  }
  questions_.not_asked();
  if (questions_.in_expansion()) return false;
  Known& known = this->known(subject.conjunction, subject.type);
  (subject.all ? known.postponed : known.any.postponed) = true;
  postponed_.push_back(subject);
  return false;
}

bool Satisfiability::decided(const Subject& subject) {
  const Known& known = this->known(subject.conjunction, subject.type);
  return subject.all ? known.all_decided : known.any.decided();
}

// Asks in rounds, the innermost first, until a round finds nothing new.  Then
// what is not decided has no values: each "no" rests on others of the same
// round, and of the values that were not found, the one with the fewest levels
// has none of the others inside.
//
// A "no" of a round holds until something new is found, so a round takes no
// more than the questions that it asks.
void Satisfiability::settle() {
  std::vector<Subject> all;
  std::set<Subject> met;
  const auto take_postponed = [&] {
    for (const Subject& subject : std::exchange(postponed_, {})) {
      if (met.insert(subject).second) all.push_back(subject);
    }
  };
  take_postponed();
  std::uint64_t changes = 0;
  do {
    changes = questions_.changes();
    std::vector<Subject> waiting = all;
    std::erase_if(waiting, [&](const Subject& one) { return decided(one); });
    while (!waiting.empty() && solver_.steps().left()) {
      const auto [conjunction, type, list] = waiting.back();
      if (list) {
        ask_disjuncts(conjunction, type);
      } else {
        ask(conjunction, type);
      }
      const std::size_t before = all.size();
      take_postponed();
      if (all.size() == before) {
        waiting.pop_back();
      } else {
        waiting.insert(waiting.end(),
                       all.begin() + static_cast<std::ptrdiff_t>(before),
                       all.end());
      }
    }
  } while (changes != questions_.changes() && solver_.steps().left());
  if (solver_.steps().left()) {
    for (const Subject& subject : all) {
      if (decided(subject)) continue;
      Known& known = this->known(subject.conjunction, subject.type);
      const Exactness exactness =
          subject.all ? known.exactness : known.any.exactness;
      if (!exactness.exact()) {
        static_cast<void>(solver_.notes().leave_out(
            LeftOutBy::kLimit, solver_.place(subject.conjunction), "",
            "values are left out that are not found within the solver's "
            "limits"));
      }
      if (subject.all) {
        known.finish();
      } else {
        known.any.state = Decision::State::kNo;
      }
    }
  }
  questions_.changed();
}

// Whether some value of the type satisfies the conjunction: one satisfiable
// disjunct is enough.
Satisfiability::Verdict Satisfiability::solve(ConjunctionId conjunction,
                                              JsonType type) {
  if (solver_.excludes(conjunction, type)) return {};
  if (levels_ != kAnyLevels && is_nested(type)) {
    const bool yes = !disjuncts_within(conjunction, type).empty();
    return {.yes = yes,
            .exactness = yes ? Exactness{} : Exactness::undecided()};
  }
  if (questions_.depth() > 0) return ask(conjunction, type);
  Questions::Answer answer(questions_);
  Verdict verdict = ask(conjunction, type);
  // Each turn decides what was postponed, so that there is less of it.
  while (!postponed_.empty() && !verdict.yes) {
    settle();
    verdict = ask(conjunction, type);
  }
  if (!postponed_.empty()) {
    postponed_.clear();
    questions_.changed();
  }
  answer.forget();  // what was not asked at first has been settled
  return verdict;
}

Satisfiability::Verdict Satisfiability::ask(ConjunctionId conjunction,
                                            JsonType type) {
  Decision& any = known(conjunction, type).any;
  if (!answered(any)) {
    if (Verdict no; !may_ask({conjunction, type, false}, no)) return no;
    const Expansion& expansion = solver_.expansion(conjunction, type);
    if (expansion.expanding) {
      questions_.read(expansion.depth);
      return {};
    }
    return decide(any, [&] {
      Verdict found{.exactness = expansion.exactness};
      for (const DisjunctId disjunct : expansion.all) {
        const Verdict one = solve_disjunct(type, disjunct);
        if (one.yes) return one;
        found.exactness |= one.exactness;
      }
      return found;
    });
  }
  if (any.state == Decision::State::kInProgress) return {};
  if (any.state == Decision::State::kYes) return {.yes = true};
  return {.exactness = any.exactness};
}

Satisfiability::Verdict Satisfiability::solve(ConjunctionId conjunction) {
  if (conjunction == kAnything) return {.yes = true};
  if (conjunction == kNothing) return {};
  // Most members of an object of thousands have such a value; it need not be
  // expanded before it is written.
  const std::vector<Literal>& literals = solver_.literals(conjunction);
  if (literals.size() == 1 && !literals.front().negated() &&
      accepts_some_scalar(solver_.document().node(literals.front().node()))) {
    return {.yes = true};
  }
  Questions::Answer answer(questions_);
  Verdict verdict;
  // Scalars first: they need no recursion.
  for (const JsonType type :
       {JsonType::kString, JsonType::kNumber, JsonType::kBoolean,
        JsonType::kNull, JsonType::kArray, JsonType::kObject}) {
    const Verdict one = solve(conjunction, type);
    if (one.yes) {
      answer.forget();
      return one;
    }
    verdict.exactness |= one.exactness;
  }
  return verdict;
}

bool Satisfiability::proves_empty(ConjunctionId conjunction) {
  Questions::Answer answer(questions_);
  const Verdict verdict = solve(conjunction);
  const bool proved =
      !verdict.yes && verdict.exactness.exact() && answer.final();
  // That there is no proof is true whatever was read.
  answer.forget();
  return proved;
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

// The list is one question.  While it is in progress, those who ask for it find
// the disjuncts so far, and when there are more the others are asked again.
// While solve() decides about the conjunction, none counts.
//
// Invariant: `satisfiable` has only disjuncts with values, and a disjunct of
// which it is decided that it has none is never added.
const std::vector<DisjunctId>& Satisfiability::disjuncts(
    ConjunctionId conjunction, JsonType type) {
  static const std::vector<DisjunctId> none;
  if (solver_.excludes(conjunction, type)) return none;
  if (levels_ != kAnyLevels && is_nested(type)) {
    return disjuncts_within(conjunction, type);
  }
  if (questions_.depth() > 0) return ask_disjuncts(conjunction, type);
  Questions::Answer answer(questions_);
  const std::vector<DisjunctId>* found = &ask_disjuncts(conjunction, type);
  while (!postponed_.empty()) {
    settle();
    found = &ask_disjuncts(conjunction, type);
  }
  answer.forget();
  return *found;
}

const std::vector<DisjunctId>& Satisfiability::ask_disjuncts(
    ConjunctionId conjunction, JsonType type) {
  using State = Decision::State;
  static const std::vector<DisjunctId> none;
  const Expansion& expansion = solver_.expansion(conjunction, type);
  if (expansion.expanding) {
    questions_.read(expansion.depth);
    return none;
  }
  if (!is_nested(type)) return expansion.all;
  Known& known = this->known(conjunction, type);
  if (known.all_decided) return known.satisfiable;
  if (known.any.state == State::kInProgress) {
    questions_.read(known.any.depth);
    return none;
  }
  if (known.deciding_all) {
    questions_.read(*known.deciding_all);
    return known.satisfiable;
  }
  Questions::Answer answer(questions_);
  if (Verdict no;
      questions_.depth() > 0 && !may_ask({conjunction, type, true}, no)) {
    known.exactness |= no.exactness;
    return known.satisfiable;
  }
  {
    const Questions::Question question(questions_);
    known.deciding_all = question.depth();
    decide_all(conjunction, type, known, question);
    known.deciding_all.reset();
  }
  known.satisfiable.clear();
  for (std::size_t i = 0; i < expansion.all.size(); ++i) {
    if (known.each[i].state == State::kYes) {
      known.satisfiable.push_back(expansion.all[i]);
    }
  }
  if (answer.final()) known.finish();
  return known.satisfiable;
}

// Asks in rounds, until no answer may have become invalid.
void Satisfiability::decide_all(ConjunctionId conjunction, JsonType type,
                                Known& known,
                                const Questions::Question& question) {
  using State = Decision::State;
  const Expansion& expansion = solver_.expansion(conjunction, type);
  Questions::Answer answer(questions_);
  known.each.resize(expansion.all.size());
  Verdict stopped;
  std::uint64_t changes = 0;
  do {
    changes = questions_.changes();
    for (std::size_t i = 0; i < expansion.all.size(); ++i) {
      Decision& one = known.each[i];
      if (answered(one)) continue;
      Questions::Answer own(questions_);
      solver_.steps().count();
      const Verdict verdict = solve_disjunct(type, expansion.all[i]);
      if (verdict.yes) {
        own.forget();
        one.state = State::kYes;
        one.exactness = {};
        known.satisfiable.push_back(expansion.all[i]);
        question.has_more();
        if (known.postponed) questions_.changed();
        continue;
      }
      one.exactness = verdict.exactness;
      store_no(one, own);
    }
  } while (changes != questions_.changes() &&
           may_continue(conjunction, stopped));
  known.exactness = stopped.exactness;
  // What the answers of the last round rest on, and not those before it.
  answer.forget();
  for (const Decision& one : known.each) {
    answered(one);
    known.exactness |= one.exactness;
  }
  if ((expansion.exactness | known.exactness).exact()) {
    question.has_no_more();
  } else {
    if (changes != questions_.changes()) questions_.not_asked();
    question.undecided();
  }
}

bool Satisfiability::leaves_out(ConjunctionId conjunction, JsonType type) {
  return !solver_.excludes(conjunction, type) &&
         !(solver_.expansion(conjunction, type).exactness |
           known(conjunction, type).exactness |
           known(conjunction, type).any.exactness)
              .exact();
}

std::size_t Satisfiability::memory_bytes() const {
  return known_.size() * sizeof(known_.front()) + verdicts_ * sizeof(Known) +
         disjuncts_within_.size() * 96 + completable_.size() * 96 +
         completions_.size() * 256;
}

}  // namespace parlance::schema_solver
