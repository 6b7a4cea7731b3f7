// How many values satisfy a conjunction, and which, if they are few: for
// uniqueItems, whose items must not run out.
//
// A conjunction has infinitely many values if one of its strings or numbers is
// not bounded, if an array can grow, if an object can have any other key, or if
// a value inside of it can be any of infinitely many.  A value that may contain
// a value of its own conjunction can be nested for ever.  What remains has a
// bounded depth, and is listed.

#include "schema_solver/value_lists.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "base/work.h"
#include "schema_solver/solver.h"
#include "schema_solver/value_prints.h"

namespace parlance::schema_solver {

namespace {

// As many numbers as this count as infinitely many.
constexpr std::uint64_t kNeverListed = std::uint64_t{1} << 62;
// The most nested questions, beyond which no value is listed.  A thread may
// have a small stack: these take less than 256 KB.
constexpr std::uint32_t kMostNested = 200;

std::size_t bytes_of(const FewValues& few) {
  std::size_t bytes = 0;
  for (const ValueText& value : few.values) bytes += value.size() + 80;
  return bytes;
}

// The levels of a value inside of one with those that the solver considers.
std::uint32_t levels_inside(SchemaSolver& solver) {
  const std::uint32_t levels = solver.satisfiability().levels();
  return levels == kAnyLevels || levels == 0 ? levels : levels - 1;
}

}  // namespace

// Invariant of the recursion: a conjunction in progress is entered again only
// below a value of its own that exists, so its values never end.  Within a
// limit on depth they do, and there the levels that are left bound the calls.
//
// A question that is begun in between is about values that count less, so it
// asks anew.
bool ValueLists::infinite(ConjunctionId conjunction) {
  using State = Infinity::State;
  if (conjunction == kAnything) return true;
  if (conjunction == kNothing) return false;
  if (depth_ >= kMostNested) return false;
  const std::uint32_t levels = solver_.satisfiability().levels();
  Infinity& known = infinite_[{conjunction, levels}];
  if (known.state != State::kUnknown) return known.state == State::kYes;
  if (known.depth == questions_.depth()) return levels == kAnyLevels;
  if (questions_.holds(known.provisional_no)) return false;
  base::spend_work(4);
  Questions::Answer answer(questions_);
  const auto outer = std::exchange(known.depth, questions_.depth());
  ++depth_;
  const bool yes = finds_infinite(conjunction);
  --depth_;
  known.depth = outer;
  if (yes) {
    answer.forget();
    known.state = State::kYes;
  } else if (answer.final()) {
    known.state = State::kNo;
  } else {
    known.provisional_no = answer.provisional();
  }
  return yes;
}

bool ValueLists::finds_infinite(ConjunctionId conjunction) {
  for (const DisjunctId disjunct :
       solver_.disjuncts(conjunction, JsonType::kString)) {
    const StringConstraints& string = solver_.string(disjunct);
    if (string.max_chars == kUnboundedCount &&
        solver_.languages().infinite(string.language)) {
      return true;
    }
  }
  for (const DisjunctId disjunct :
       solver_.disjuncts(conjunction, JsonType::kNumber)) {
    if (solver_.numbers().count(disjunct, kNeverListed) == kNeverListed) {
      return true;
    }
  }
  const std::vector<DisjunctId> objects =
      solver_.disjuncts(conjunction, JsonType::kObject);
  const std::vector<DisjunctId> arrays =
      solver_.disjuncts(conjunction, JsonType::kArray);
  const ScopedDepthLimit inside(solver_.satisfiability(),
                                levels_inside(solver_));
  return std::ranges::any_of(
             objects, [this](DisjunctId id) { return infinite_object(id); }) ||
         std::ranges::any_of(
             arrays, [this](DisjunctId id) { return infinite_array(id); });
}

// One member is enough: every other can stay as it is.
bool ValueLists::infinite_object(DisjunctId object) {
  const ConditionId condition = solver_.object(object).condition;
  if (solver_.languages().infinite(
          solver_.keys().possible_extra_keys(object))) {
    const auto& patterns = solver_.keys().languages(object);
    const std::vector<ExtraKeys> classes = solver_.keys().extra_keys(object);
    for (const ExtraKeys& extra : classes) {
      if (!patterns.empty() && !solver_.languages().infinite(extra.language)) {
        continue;
      }
      for (const MemberAlternative& member : solver_.member_alternatives(
               object, condition, {kNoKey, &patterns, &extra.matched}, 1)) {
        if (solver_.satisfiable(member.conjunction) &&
            solver_.satisfiability().completable(
                object, {.count = 1, .condition = member.condition})) {
          return true;
        }
      }
    }
  }
  const std::vector<KeyId> keys = solver_.keys().spelled_list(object);
  return std::ranges::any_of(keys, [&](KeyId key) {
    base::spend_work();
    for (const MemberAlternative& member :
         solver_.member_alternatives(object, condition, {.key = key}, 1)) {
      if (solver_.satisfiable(member.conjunction) &&
          solver_.satisfiability().completable(
              object, {.seen = solver_.key_sets().one(key),
                       .count = 1,
                       .condition = member.condition}) &&
          infinite(member.conjunction)) {
        return true;
      }
    }
    return false;
  });
}

// An array can grow by items that count for no rule with a maximum.  Of single
// items only those of arrays without rules about all items are asked for.
bool ValueLists::infinite_array(DisjunctId array) {
  const ArrayConstraints& rules = solver_.array(array);
  if (rules.max == kUnboundedCount) {
    ConjunctionId more = solver_.item_conjunction(array, rules.prefix);
    for (const ItemCount& count : rules.counts) {
      if (count.max != kUnboundedCount) {
        more = solver_.with(more, negation(count.literal));
      }
    }
    if (rules.unique ? infinite(more) : solver_.satisfiable(more)) return true;
  }
  if (!rules.counts.empty() || !rules.witnesses.empty()) return false;
  for (std::uint64_t i = 0; i < rules.max && i <= rules.prefix; ++i) {
    const ConjunctionId item = solver_.item_conjunction(array, i);
    if (!solver_.satisfiable(item)) return false;
    if (infinite(item)) return true;
  }
  return false;
}

// --- Values that are few. ----------------------------------------------------

namespace {

// Of the arrays or objects of a disjunct that are begun to list some.
constexpr std::size_t kMostSteps = 200'000;

// The choice of one value among those of a set, from the last one on.
class Choice {
 public:
  Choice() = default;
  explicit Choice(std::shared_ptr<const FewValues> few)
      : few_(std::move(few)),
        next_(few_->values.rbegin()),
        end_(few_->values.rend()) {}

  bool done() const { return next_ == end_; }
  const ValueText& take() { return *next_++; }
  // REQUIRES: take() was called.
  const ValueText& taken() const { return *std::prev(next_); }

 private:
  std::shared_ptr<const FewValues> few_;
  std::set<ValueText>::const_reverse_iterator next_ = {};
  std::set<ValueText>::const_reverse_iterator end_ = {};
};

// Whether the values of a disjunct are listed no further.
bool full(const FewValues& values, std::uint64_t enough, std::size_t steps) {
  return values.many || values.values.size() >= std::min(enough, kMostListed) ||
         steps > kMostSteps || !base::spend_work();
}

void add_to(FewValues& into, const FewValues& inside) {
  into.partial = into.partial || inside.partial;
  into.many = into.many || inside.many;
}

}  // namespace

// Adds the arrays of a disjunct: a depth-first walk over their items.
// Invariant: the levels of `path` but the last have taken the items so far.
void ValueLists::list_arrays(DisjunctId array, std::uint64_t enough,
                             FewValues& into) {
  const ArrayConstraints& rules = solver_.array(array);
  if (!rules.counts.empty() || !rules.witnesses.empty()) {
    into.partial = true;
    return;
  }
  struct Level {
    Fingerprint sum;  // of the items before
    Choice item;
  };
  std::vector<Level> path;
  std::size_t steps = 0;
  // Adds the array of the items so far.  False if no more are listed.
  const auto enter = [&](const Fingerprint& sum) {
    if (full(into, enough, ++steps)) {
      into.partial = true;
      return false;
    }
    const std::size_t size = path.size();
    if (size >= rules.min) {
      into.values.insert(nested_text(print_of_array(sum, size)));
    }
    path.push_back({.sum = sum, .item = {}});
    if (size >= rules.max) return true;
    const ConjunctionId item = solver_.item_conjunction(array, size);
    if (!solver_.satisfiable(item)) return true;
    auto few = few_values(item, kMostListed);
    add_to(into, *few);
    path.back().item = Choice(std::move(few));
    return true;
  };
  if (!enter({})) return;
  while (!path.empty()) {
    Level& last = path.back();
    if (last.item.done()) {
      path.pop_back();
      continue;
    }
    const ValueText& value = last.item.take();
    if (rules.unique &&
        std::any_of(path.begin(), path.end() - 1, [&](const Level& level) {
          return level.item.taken() == value;
        })) {
      continue;
    }
    if (!enter(plus(last.sum, print_of_member(print_of_index(path.size() - 1),
                                              print_of_value(value))))) {
      return;
    }
  }
}

// Adds the objects of a disjunct: a depth-first walk over the keys in order.
// Each key is absent or has one of its values.
//
// Step 1: the keys, those that the schema spells and then the few others.
// Step 2: the walk.  Invariant: an object that is not listed yet extends one
// entry of `pending`, whose `begun` has decided the keys before `begun.key`.
void ValueLists::list_objects(DisjunctId object, std::uint64_t enough,
                              FewValues& into) {
  const std::vector<KeyId> spelled = solver_.keys().spelled_list(object);
  // The keys that the schema does not spell, each with its class.
  const auto& patterns = solver_.keys().languages(object);
  const automata::LanguageId possible =
      solver_.keys().possible_extra_keys(object);
  const std::vector<ExtraKeys> classes = solver_.keys().extra_keys(object);
  std::vector<std::pair<std::string, const ExtraKeys*>> others;
  for (const ExtraKeys& extra : classes) {
    const automata::LanguageId language =
        patterns.empty()
            ? possible
            : solver_.languages().all_of({extra.language, possible});
    if (solver_.languages().infinite(language)) {
      into.partial = true;
      continue;
    }
    FewValues keys;
    list_strings(language, kMostListed, keys);
    into.partial = into.partial || keys.partial;
    for (const ValueText& key : keys.values) {
      others.emplace_back(key.substr(1), &extra);
    }
  }
  struct Begun {
    std::size_t key = 0;
    MembersSoFar members = {};
    Fingerprint sum = {};
  };
  // An object that is begun, once with each value of its last key; once if that
  // is absent.
  struct Pending {
    Begun begun;
    bool absent = true;
    Fingerprint key = {};
    Choice value = {};
  };
  std::vector<Pending> pending = {
      {.begun = {.members = {.condition = solver_.object(object).condition}}}};
  std::size_t steps = 0;
  while (!pending.empty()) {
    Pending& last = pending.back();
    Begun at = last.begun;
    if (last.absent) {
      pending.pop_back();
    } else if (last.value.done()) {
      pending.pop_back();
      continue;
    } else {
      at.sum = plus(
          at.sum, print_of_member(last.key, print_of_value(last.value.take())));
    }
    if (full(into, enough, ++steps)) {
      into.partial = true;
      return;
    }
    if (!solver_.satisfiability().completable(object, at.members)) continue;
    if (at.key == spelled.size() + others.size()) {
      if (solver_.satisfiability().complete(object, at.members)) {
        into.values.insert(nested_text(print_of_object(at.sum)));
      }
      continue;
    }
    Begun next = at;
    ++next.key;
    Begun without = next;
    ++next.members.count;
    KeyClass key_class;
    std::string_view text;
    if (at.key < spelled.size()) {
      key_class.key = spelled[at.key];
      text = solver_.names().text(key_class.key);
      const KeySet one = solver_.key_sets().one(key_class.key);
      next.members.seen = solver_.key_sets().unite(at.members.seen, one);
      without.members.excluded =
          solver_.key_sets().unite(at.members.excluded, one);
      without.members.condition =
          solver_.without_keys(at.members.condition, one);
    } else {
      const auto& [key, extra] = others[at.key - spelled.size()];
      key_class = {kNoKey, &patterns, &extra->matched};
      text = key;
    }
    for (const MemberAlternative& member : solver_.member_alternatives(
             object, at.members.condition, key_class, next.members.count)) {
      next.members.condition = member.condition;
      if (!solver_.satisfiable(member.conjunction) ||
          !solver_.satisfiability().completable(object, next.members)) {
        continue;
      }
      auto few = few_values(member.conjunction, kMostListed);
      add_to(into, *few);
      pending.push_back({.begun = next,
                         .absent = false,
                         .key = print_of_key(text),
                         .value = Choice(std::move(few))});
    }
    pending.push_back({.begun = without});
  }
}

// --- All values of a conjunction. -------------------------------------------

// Adds the numbers of a disjunct, as long as there are fewer values than
// `enough`.
void ValueLists::list_numbers(DisjunctId disjunct, std::uint64_t enough,
                              FewValues& into) {
  const std::uint64_t wanted = std::max<std::uint64_t>(enough, 1);
  if (solver_.numbers().count(disjunct, wanted) == wanted) {
    into.many = true;
    return;
  }
  const auto values = solver_.numbers().values(disjunct, kMostListed);
  into.partial = into.partial || !values || !solver_.numbers().exact(disjunct);
  if (!values) return;
  for (const base::Decimal& value : *values) {
    into.values.insert(value.to_string());
  }
}

// A depth-first walk, in which every path leads to a string.
void ValueLists::list_strings(automata::LanguageId language,
                              std::uint64_t enough, FewValues& into) {
  constexpr std::size_t kMostStringSteps = 2'000'000;
  std::vector<std::pair<automata::StateId, std::string>> pending = {
      {solver_.languages().start(language), "\""}};
  std::size_t steps = 0;
  while (!pending.empty()) {
    const auto [state, text] = std::move(pending.back());
    pending.pop_back();
    if (into.values.size() >= enough) return;
    if (into.values.size() >= kMostListed || steps > kMostStringSteps ||
        !base::spend_work(8)) {
      into.partial = true;
      return;
    }
    if (solver_.languages().accepting(state)) into.values.insert(text);
    for (unsigned byte = 256; byte-- > 0;) {
      ++steps;
      const automata::StateId next =
          solver_.languages().step(state, static_cast<std::uint8_t>(byte));
      if (next == automata::kDeadState) continue;
      pending.emplace_back(next, text + static_cast<char>(byte));
    }
  }
}

std::shared_ptr<const FewValues> ValueLists::few_values(
    ConjunctionId conjunction, std::uint64_t enough) {
  static const auto too_deep = std::make_shared<const FewValues>(
      FewValues{.values = {}, .partial = true});
  if (depth_ >= kMostNested) return too_deep;
  Listed& known =
      few_[{conjunction, enough, solver_.satisfiability().levels()}];
  if (known.values != nullptr &&
      (known.final || questions_.holds(known.provisional))) {
    return known.values;
  }
  // Only if infinite() stopped at a limit.
  if (known.depth == questions_.depth()) return too_deep;
  Questions::Answer answer(questions_);
  const auto outer = std::exchange(known.depth, questions_.depth());
  FewValues found;
  list_values(conjunction, enough, found);
  known.depth = outer;
  if (found.many) {
    answer.forget();
    found = {.values = {}, .many = true};
  }
  known.final = answer.final();
  if (!known.final) known.provisional = answer.provisional();
  if (known.values != nullptr) listed_bytes_ -= bytes_of(*known.values);
  known.values = std::make_shared<const FewValues>(std::move(found));
  listed_bytes_ += bytes_of(*known.values);
  return known.values;
}

// Invariant of the recursion: what is listed has a bounded depth (infinite()).
void ValueLists::list_values(ConjunctionId conjunction, std::uint64_t enough,
                             FewValues& few) {
  if (infinite(conjunction)) {
    few.many = true;
    return;
  }
  for (const DisjunctId disjunct :
       solver_.disjuncts(conjunction, JsonType::kBoolean)) {
    const Constants values = SchemaSolver::constants(disjunct);
    if ((values & kFalseValue) != 0) few.values.insert("wfalse");
    if ((values & kTrueValue) != 0) few.values.insert("wtrue");
  }
  if (!solver_.disjuncts(conjunction, JsonType::kNull).empty()) {
    few.values.insert("wnull");
  }
  for (const DisjunctId disjunct :
       solver_.disjuncts(conjunction, JsonType::kNumber)) {
    if (!few.many) list_numbers(disjunct, enough, few);
  }
  for (const DisjunctId disjunct :
       solver_.disjuncts(conjunction, JsonType::kString)) {
    if (few.many) break;
    const StringConstraints& string = solver_.string(disjunct);
    automata::LanguageId language = string.language;
    if (string.max_chars != kUnboundedCount) {
      language = solver_.languages().all_of(
          {language, solver_.languages().length_between(string.min_chars,
                                                        string.max_chars)});
    }
    if (solver_.languages().infinite(language)) {
      few.many = true;
    } else {
      list_strings(language, enough, few);
    }
  }
  const std::vector<DisjunctId> arrays =
      solver_.disjuncts(conjunction, JsonType::kArray);
  const std::vector<DisjunctId> objects =
      solver_.disjuncts(conjunction, JsonType::kObject);
  const ScopedDepthLimit inside(solver_.satisfiability(),
                                levels_inside(solver_));
  ++depth_;
  for (const DisjunctId disjunct : arrays) {
    if (!few.many) list_arrays(disjunct, enough, few);
  }
  for (const DisjunctId disjunct : objects) {
    if (!few.many) list_objects(disjunct, enough, few);
  }
  --depth_;
  if (few.values.size() >= enough) few.many = true;
}

}  // namespace parlance::schema_solver
