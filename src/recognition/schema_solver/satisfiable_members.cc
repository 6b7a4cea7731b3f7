// Whether an object can be completed: a search for a completion, which is a
// choice of members, present or absent, that makes the rest of the condition
// true.
//
// The search is that of Davis, Putnam, Logemann and Loveland (1962) for
// satisfiability of clauses.  Atoms without an alternative are assumed at once
// (unit propagation).  Then the clause with the fewest open alternatives is
// tried, alternative by alternative, absent members first.  When the limit of
// steps is reached the verdict is "no": the language becomes narrower, and
// narrowed() returns true.
//
// Most questions about an object are about one more member, and what completed
// the object before completes it still: the last completion that a search found
// is tried first, without a search.

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/work.h"
#include "schema_solver/satisfiability.h"
#include "schema_solver/solver.h"

namespace parlance::schema_solver {
namespace {

using Kind = Condition::Kind;

template <class T>
bool contains(const std::vector<T>& sorted, const T& value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

// The order in which alternatives are tried: those that constrain the fewest
// members first.
int cost_of(Kind kind) {
  switch (kind) {
    case Kind::kAbsent:
      return 0;
    case Kind::kAtMost:
    case Kind::kAtLeast:
      return 1;
    case Kind::kEvery:
      return 2;
    case Kind::kPresent:
      return 3;
    case Kind::kValue:
      return 4;
    case Kind::kSome:
      return 6;
    default:
      return 5;
  }
}

}  // namespace

class Satisfiability::CompletionSearch {
 public:
  // `satisfiable`: whether the disjunct is known to be satisfiable.
  CompletionSearch(Satisfiability& answers, DisjunctId object,
                   const MembersSoFar& members, bool satisfiable)
      : answers_(answers),
        solver_(answers.solver_),
        object_(object),
        known_satisfiable_(satisfiable),
        disjunct_(solver_.object(object)),
        object_keys_(solver_.keys().object_keys(object)),
        sets_(solver_.key_sets()),
        answer_(answers.questions_),
        seen_(members.seen),
        excluded_(members.excluded),
        count_(members.count) {}

  Verdict run(ConditionId condition) {
    Completion completion;
    completion.min = disjunct_.min;
    completion.max = disjunct_.max;
    if (condition == kAlways) {
      verdict_.yes = step() && fits(completion);
    } else {
      verdict_.yes = completes_as_before(completion, condition) ||
                     search(std::move(completion), {condition}, {}, {});
    }
    if (!verdict_.yes) {
      verdict_.exactness |= object_keys_.exactness;
      if (object_keys_.incomplete) {
        verdict_.exactness |= solver_.keys().note_incomplete(object_);
      }
    }
    return verdict_;
  }

 private:
  static constexpr std::size_t kMaxSteps = 2000;

  // While it is alive, one more clause is branched on.
  class Branch {
   public:
    explicit Branch(std::uint32_t& all) : all_(all) { ++all_; }
    ~Branch() { --all_; }
    Branch(const Branch&) = delete;
    Branch& operator=(const Branch&) = delete;

   private:
    std::uint32_t& all_;
  };

  // A partial completion: decisions on the members that matter.
  struct Completion {
    struct Member {
      KeyId key = kNoKey;  // kNoKey: a key of `extra`
      const ExtraKeys* extra = nullptr;
      bool absent = false;
      std::vector<Literal> literals = {};

      bool has(Literal literal) const {
        return std::find(literals.begin(), literals.end(), literal) !=
               literals.end();
      }
    };
    std::vector<Member> members;           // the last ones are taken back
    std::vector<ConditionId> every_rules;  // each a kEvery
    std::uint64_t min = 0;
    std::uint64_t max = kUnboundedCount;
    // By key: one more than the place of its member, once there are many.  A
    // member that was taken back may have its place still.
    std::vector<std::uint32_t> places;

    void add(Member member) {
      constexpr std::size_t kMany = 16;
      members.push_back(std::move(member));
      if (members.size() < kMany && places.empty()) return;
      const std::size_t begin = places.empty() ? 0 : members.size() - 1;
      for (std::size_t i = begin; i < members.size(); ++i) {
        if (members[i].extra != nullptr) continue;
        const KeyId key = members[i].key;
        if (places.size() <= key) places.resize(2 * std::size_t{key} + 1);
        places[key] = static_cast<std::uint32_t>(i + 1);
      }
    }
    const Member* find(KeyId key) const {
      const auto is = [&](const Member& member) {
        return member.key == key && member.extra == nullptr;
      };
      if (places.empty()) {
        const auto found = std::ranges::find_if(members, is);
        return found == members.end() ? nullptr : &*found;
      }
      const std::size_t place = key < places.size() ? places[key] : 0;
      return place != 0 && place <= members.size() && is(members[place - 1])
                 ? &members[place - 1]
                 : nullptr;
    }
    Member* find(KeyId key) {
      return const_cast<Member*>(std::as_const(*this).find(key));
    }
    bool lacks(KeyId key) const {
      const Member* member = find(key);
      return member != nullptr && member->absent;
    }
  };
  using Ids = std::vector<ConditionId>;
  enum class Status : std::uint8_t { kHolds, kFails, kOpen };

  Satisfiability& answers_;
  SchemaSolver& solver_;
  DisjunctId object_;
  bool known_satisfiable_;
  const ObjectConstraints& disjunct_;
  const ObjectKeys& object_keys_;
  KeySets& sets_;
  const Questions::Answer answer_;
  KeySet seen_;
  KeySet excluded_;
  std::uint64_t count_;
  std::size_t steps_ = 0;
  Verdict verdict_;

  const Condition& at(ConditionId id) const { return solver_.conditions()[id]; }
  bool is_seen(KeyId key) const { return sets_.contains(seen_, key); }
  bool is_excluded(KeyId key) const { return sets_.contains(excluded_, key); }
  bool is_required(KeyId key) const {
    return contains(disjunct_.required, key);
  }

  bool solve(ConjunctionId conjunction) {
    const Verdict one = answers_.solve(conjunction);
    verdict_.exactness |= one.exactness;
    return one.yes;
  }

  bool step() {
    if (!base::spend_work()) return false;
    if (++steps_ <= kMaxSteps) return true;
    if (answers_.questions_.depth() > 0 && answer_.unasked()) {
      verdict_.exactness |= Exactness::undecided();  // it is searched again
      return false;
    }
    verdict_.exactness |= solver_.notes().leave_out(
        LeftOutBy::kLimit, solver_.place_of_object(object_), "",
        "objects are left out whose members are not found within " +
            std::to_string(kMaxSteps) + " steps");
    return false;
  }

  // The conjunction that the value of a member must satisfy in the completion.
  ConjunctionId value_conjunction(const Completion& completion,
                                  const KeyClass& key_class,
                                  const std::vector<Literal>& more) {
    ConjunctionId conjunction = solver_.member_conjunction(object_, key_class);
    for (const Literal literal : more) {
      conjunction = solver_.with(conjunction, literal);
    }
    for (const ConditionId id : completion.every_rules) {
      const KeyGroup keys = at(id).keys;
      const Literal literal = at(id).literal;
      if (!solver_.keys().is_in(keys, key_class)) continue;
      conjunction =
          literal == kNever ? kNothing : solver_.with(conjunction, literal);
    }
    return conjunction;
  }
  bool can_be_present(const Completion& completion, KeyId key) {
    const Completion::Member* member = completion.find(key);
    return solve(value_conjunction(
        completion, {.key = key},
        member == nullptr ? std::vector<Literal>() : member->literals));
  }

  static Status known(bool holds) {
    return holds ? Status::kHolds : Status::kFails;
  }

  // The value of a condition in a partial completion: it holds in every
  // extension, it fails in every extension, or neither is known.  Recursion is
  // as deep as conditions are nested.
  Status status(const Completion& completion, ConditionId id) {
    if (!base::spend_work()) return Status::kFails;
    const Kind kind = at(id).kind;
    const KeyId key = at(id).key;
    const std::uint64_t bound = at(id).bound;
    switch (kind) {
      case Kind::kTrue:
        return Status::kHolds;
      case Kind::kFalse:
      case Kind::kTest:
        return Status::kFails;
      case Kind::kAll:
      case Kind::kAny:
        return status_of_parts(completion, id);
      case Kind::kAbsent:
        return status_of_absence(completion, key);
      case Kind::kPresent: {
        const Status absent = status_of_absence(completion, key);
        return absent == Status::kOpen ? absent
                                       : known(absent == Status::kFails);
      }
      case Kind::kValue:
        return status_of_value(completion, key, at(id).literal);
      case Kind::kSome:
        return Status::kOpen;
      case Kind::kEvery: {
        const Ids& rules = completion.every_rules;
        return std::find(rules.begin(), rules.end(), id) != rules.end()
                   ? Status::kHolds
                   : Status::kOpen;
      }
      case Kind::kAtLeast:
        if (bound <= std::max(completion.min, count_)) return Status::kHolds;
        return bound > completion.max ? Status::kFails : Status::kOpen;
      case Kind::kAtMost:
        if (bound >= completion.max) return Status::kHolds;
        return bound < std::max(completion.min, count_) ? Status::kFails
                                                        : Status::kOpen;
    }
    return Status::kOpen;
  }

  Status status_of_parts(const Completion& completion, ConditionId id) {
    const bool all = at(id).kind == Kind::kAll;
    const Status decides = all ? Status::kFails : Status::kHolds;
    bool open = false;
    const std::span<const ConditionId> parts = at(id).parts;
    for (const ConditionId part : parts) {
      const Status one = status(completion, part);
      if (one == decides) return one;
      open = open || one == Status::kOpen;
    }
    return open ? Status::kOpen : known(all);
  }

  // Whether the member is absent; nothing if that is not decided yet.
  std::optional<bool> absent(const Completion& completion, KeyId key) const {
    if (is_seen(key)) return false;
    if (is_excluded(key)) return true;
    if (is_required(key)) return false;
    const Completion::Member* member = completion.find(key);
    if (member == nullptr) return std::nullopt;
    return member->absent;
  }

  Status status_of_absence(const Completion& completion, KeyId key) {
    if (const auto decided = absent(completion, key)) return known(*decided);
    return can_be_present(completion, key) ? Status::kOpen : Status::kHolds;
  }

  // Of "the member is present, and its value satisfies `literal`".
  Status status_of_value(const Completion& completion, KeyId key,
                         Literal literal) {
    if (is_seen(key) || is_excluded(key)) return Status::kFails;
    const Completion::Member* member = completion.find(key);
    std::vector<Literal> all = {literal};
    if (member != nullptr) {
      if (member->absent) return Status::kFails;
      if (member->has(literal)) return Status::kHolds;
      all.insert(all.end(), member->literals.begin(), member->literals.end());
    }
    return solve(value_conjunction(completion, {.key = key}, all))
               ? Status::kOpen
               : Status::kFails;
  }

  // Adds an atom to the completion.  False if it contradicts the completion.
  // kSome is left to search().
  bool assume(Completion& completion, ConditionId id) {
    const Kind kind = at(id).kind;
    const KeyId key = at(id).key;
    switch (kind) {
      case Kind::kAbsent:
        if (completion.find(key) == nullptr) {
          completion.add({.key = key, .absent = true});
        }
        return true;
      case Kind::kPresent:
      case Kind::kValue: {
        if (is_seen(key)) return kind == Kind::kPresent;
        if (is_excluded(key)) return false;
        if (completion.find(key) == nullptr) {
          completion.add({.key = key});
        }
        if (kind == Kind::kValue) {
          completion.find(key)->literals.push_back(at(id).literal);
        }
        return can_be_present(completion, key);
      }
      case Kind::kEvery: {
        completion.every_rules.push_back(id);
        for (const Completion::Member& member : completion.members) {
          if (member.extra == nullptr && !member.absent &&
              !can_be_present(completion, member.key)) {
            return false;
          }
        }
        return true;
      }
      case Kind::kAtLeast:
        completion.min = std::max(completion.min, at(id).bound);
        return completion.min <= completion.max;
      case Kind::kAtMost:
        completion.max = std::min(completion.max, at(id).bound);
        return completion.min <= completion.max;
      default:
        return true;
    }
  }

  // Assumes the conditions of `pending`: what is decided is dropped, clauses go
  // to `open`, and each kSome to `some`.  False if one fails.
  bool propagate(Completion& completion, Ids& pending, Ids& open, Ids& some) {
    while (!pending.empty()) {
      const ConditionId id = pending.back();
      pending.pop_back();
      const Status now = status(completion, id);
      if (now == Status::kHolds) continue;
      if (now == Status::kFails) return false;
      const Kind kind = at(id).kind;
      if (kind == Kind::kAll) {
        const Ids parts = at(id).parts;
        pending.insert(pending.end(), parts.begin(), parts.end());
      } else if (kind == Kind::kAny) {
        open.push_back(id);
      } else if (kind == Kind::kSome) {
        some.push_back(id);
      } else if (!assume(completion, id)) {
        return false;
      }
    }
    return true;
  }

  // A clause, and those of its alternatives that are open.
  struct Clause {
    ConditionId id = kAlways;
    Ids alternatives = {};
  };

  // Drops the clauses that hold from `open`, moves the only alternative of
  // those with one to `pending`, and finds the one with the fewest; none if no
  // clause is left.  Nothing if a clause fails.
  std::optional<Clause> reduce(const Completion& completion, Ids& pending,
                               Ids& open) {
    Clause best;
    Ids left;
    for (const ConditionId id : open) {
      Ids now;
      bool done = false;
      for (const ConditionId part : Ids(at(id).parts)) {
        const Status one = status(completion, part);
        done = done || one == Status::kHolds;
        if (one == Status::kOpen) now.push_back(part);
      }
      if (done) continue;
      if (now.empty()) return std::nullopt;
      if (now.size() == 1) {
        pending.push_back(now[0]);
        continue;
      }
      left.push_back(id);
      if (best.id == kAlways || now.size() < best.alternatives.size()) {
        best = {id, std::move(now)};
      }
    }
    open = std::move(left);
    return best;
  }

  // Whether some extension of `completion` makes all conditions of `pending`,
  // one alternative of each clause of `open`, and all of `some` (each a kSome)
  // true.
  //
  // Invariant: the conditions that search() was called for are true in an
  // extension iff `pending`, `open` and `some` are.
  bool search(Completion completion, Ids pending, Ids open, Ids some) {
    if (!step()) return false;
    // Unit propagation, until nothing changes.
    std::optional<Clause> best;
    do {
      if (!propagate(completion, pending, open, some)) return false;
      best = reduce(completion, pending, open);
      if (!best) return false;
    } while (!pending.empty());
    if (best->id == kAlways) {
      return assign_keys(std::move(completion), std::move(some));
    }
    if (some.empty()) {
      Completion all = completion;
      if (completes_by_absence(all, open)) return remember(all);
    }
    // Branch on the best clause.
    std::erase(open, best->id);
    std::stable_sort(best->alternatives.begin(), best->alternatives.end(),
                     [&](auto one, auto other) {
                       return cost_of(at(one).kind) < cost_of(at(other).kind);
                     });
    const Branch branch(answers_.branches_);
    for (const ConditionId alternative : best->alternatives) {
      if (search(completion, {alternative}, open, some)) return true;
      if (steps_ > kMaxSteps) return false;
    }
    return false;
  }

  // Whether the object can be completed by members that are absent, one for
  // each open clause, which are added.  This pass without backtracking finds
  // the common case, in which clauses are about different members.  False
  // proves nothing.
  bool completes_by_absence(Completion& completion, const Ids& open) {
    return std::all_of(open.begin(), open.end(),
                       [&](ConditionId id) {
                         return satisfy_by_absence(completion, id);
                       }) &&
           fits(completion);
  }

  // Makes `id` true by atoms that forbid members or constrain all of them, if
  // that is possible.  A part that fails is undone: `completion` has what was
  // added only for parts that hold.  Recursion is as deep as conditions are
  // nested.
  bool satisfy_by_absence(Completion& completion, ConditionId id) {
    if (!base::spend_work()) return false;
    const Kind kind = at(id).kind;
    if (kind != Kind::kAll && kind != Kind::kAny) {
      return holds_by_absence(completion, id);
    }
    // They stay where they are while the table of conditions grows.
    const std::span<const ConditionId> parts = at(id).parts;
    const auto lacks = [&](ConditionId part) {
      const std::size_t members = completion.members.size();
      const std::size_t every_rules = completion.every_rules.size();
      if (satisfy_by_absence(completion, part)) return true;
      completion.members.resize(members);
      completion.every_rules.resize(every_rules);
      return false;
    };
    return kind == Kind::kAll ? std::all_of(parts.begin(), parts.end(), lacks)
                              : std::any_of(parts.begin(), parts.end(), lacks);
  }

  // Whether an atom holds if no member is present but those that are required
  // or in the completion.  What that forbids is added to the completion.
  // Agrees with status(), without a question about the value of a key that is
  // absent here.
  bool holds_by_absence(Completion& completion, ConditionId id) {
    const Kind kind = at(id).kind;
    if (kind == Kind::kEvery) {
      return status(completion, id) == Status::kHolds || assume(completion, id);
    }
    if (kind != Kind::kAbsent && kind != Kind::kPresent &&
        kind != Kind::kValue) {
      return status(completion, id) == Status::kHolds;
    }
    const KeyId key = at(id).key;
    if (kind == Kind::kValue) {
      // Only what is neither seen nor excluded is chosen with literals.
      const Completion::Member* const member = completion.find(key);
      return member != nullptr && member->has(at(id).literal);
    }
    const std::optional<bool> decided = absent(completion, key);
    if (kind == Kind::kPresent) return !decided.value_or(true);
    if (!decided) completion.add({.key = key, .absent = true});
    return decided.value_or(true);
  }

  // Whether the completion that the last search found, without the members
  // that are present by now, is one of `condition` too.  `start` is the empty
  // completion.  False proves nothing.
  bool completes_as_before(Completion start, ConditionId condition) {
    const auto known = answers_.completions_.find(object_);
    if (known != answers_.completions_.end()) {
      start.every_rules = known->second.every_rules;
      for (const auto& [key, literals] : known->second.members) {
        if (is_seen(key) || is_excluded(key)) continue;
        start.add({.key = key, .literals = literals});
      }
    }
    return completes_by_absence(start, {condition});
  }

  // Remembers what a search found, unless it has keys that the schema does not
  // spell.  Returns true.
  bool remember(const Completion& completion) {
    FoundCompletion found{.members = {}, .every_rules = completion.every_rules};
    for (const Completion::Member& member : completion.members) {
      if (member.extra != nullptr) return true;
      if (!member.absent) {
        found.members.emplace_back(member.key, member.literals);
      }
    }
    answers_.completions_[object_] = std::move(found);
    return true;
  }

  // Finds a key for each of `some`, by backtracking: first keys that the schema
  // spells, then extra keys that the completion already has, then new ones.
  //
  // Invariant: each key in the completion can have a value that satisfies all
  // that was assumed of it; what was assigned is no longer in `some`.
  bool assign_keys(Completion completion, Ids some) {
    if (some.empty()) return fits(completion) && remember(completion);
    if (!step()) return false;
    const ConditionId id = some.back();
    some.pop_back();
    const KeyGroup keys = at(id).keys;
    const Literal literal = at(id).literal;
    for (const KeyId key : object_keys_.spelled_list) {
      if (is_seen(key) || is_excluded(key) || completion.lacks(key) ||
          !solver_.keys().is_in(keys, {.key = key})) {
        continue;
      }
      Completion with = completion;
      if (with.find(key) == nullptr) with.add({.key = key});
      if (literal != kNoLiteral) with.find(key)->literals.push_back(literal);
      if (can_be_present(with, key) && assign_keys(std::move(with), some)) {
        return true;
      }
    }
    // One member may satisfy several of them.
    for (std::size_t i = 0; i < completion.members.size(); ++i) {
      const ExtraKeys* extra = completion.members[i].extra;
      if (extra == nullptr) continue;
      const KeyClass key_class{kNoKey, &object_keys_.languages,
                               &extra->matched};
      if (!solver_.keys().is_in(keys, key_class)) continue;
      Completion with = completion;
      std::vector<Literal>& literals = with.members[i].literals;
      if (literal != kNoLiteral) literals.push_back(literal);
      if (solve(value_conjunction(completion, key_class, literals)) &&
          assign_keys(std::move(with), some)) {
        return true;
      }
    }
    for (const ExtraKeys& extra : solver_.keys().classes_of(object_)) {
      const KeyClass key_class{kNoKey, &object_keys_.languages, &extra.matched};
      if (!solver_.keys().is_in(keys, key_class) ||
          keys_left(completion, extra, 1) == 0) {
        continue;
      }
      std::vector<Literal> literals;
      if (literal != kNoLiteral) literals.push_back(literal);
      if (!solve(value_conjunction(completion, key_class, literals))) continue;
      Completion with = completion;
      with.add({.extra = &extra, .literals = literals});
      if (assign_keys(std::move(with), some)) return true;
    }
    return false;
  }

  // How many keys of a class are neither used nor in the completion, counted up
  // to `wanted`.
  std::uint64_t keys_left(const Completion& completion, const ExtraKeys& extra,
                          std::uint64_t wanted) {
    automata::Languages& languages = solver_.languages();
    if (object_keys_.languages.empty() || languages.infinite(extra.language)) {
      return wanted;
    }
    std::uint64_t taken = 0;
    sets_.each(sets_.unite(seen_, excluded_), [&](KeyId key) {
      taken += solver_.keys().matches(extra.language, {.key = key});
      return true;
    });
    for (const Completion::Member& member : completion.members) {
      taken += member.extra == &extra;
    }
    FewValues keys;
    solver_.values().list_strings(extra.language, wanted + taken, keys);
    if (keys.partial) {
      verdict_.exactness |= solver_.notes().leave_out(
          LeftOutBy::kLimit, solver_.place_of_object(object_), "minProperties",
          "objects are left out that need more different names than are "
          "listed");
    }
    return keys.values.size() > taken ? keys.values.size() - taken : 0;
  }

  // Whether the members of the completion, the required members, and the
  // members that these require can be present together, in an allowed number:
  //   1. the members that are present or needed;
  //   2. none of the needed ones is absent, and each can have a value;
  //   3. their number is at most the maximum;
  //   4. it reaches the minimum, or other members can fill up.
  bool fits(const Completion& completion) {
    KeySet present = seen_;
    std::uint64_t extras = 0;
    for (const Completion::Member& member : completion.members) {
      if (member.extra != nullptr) {
        ++extras;
      } else if (!member.absent) {
        if (!can_be_present(completion, member.key)) return false;
        present = sets_.with(present, member.key);
      }
    }
    const KeySet needed = solver_.keys().needed(object_, present);
    bool all = sets_.intersect(needed, excluded_) == kNoKeys;
    if (!all) return false;
    sets_.each(needed, [&](KeyId key) { return all = !completion.lacks(key); });
    if (!all) return false;
    // If the disjunct is known to be satisfiable, its required members are too.
    const bool possible = known_satisfiable_ && completion.every_rules.empty();
    sets_.each(
        possible ? sets_.subtract(needed, object_keys_.required) : needed,
        [&](KeyId key) { return all = can_be_present(completion, key); });
    if (!all) return false;
    const std::uint64_t min = count_ +
                              (sets_.size(present) - sets_.size(seen_)) +
                              sets_.size(needed) + extras;
    if (min > completion.max || completion.min > completion.max) return false;
    if (min >= completion.min) return true;
    // Extra keys first: they require no other keys.
    std::uint64_t others = 0;
    for (const ExtraKeys& extra : solver_.keys().classes_of(object_)) {
      const KeyClass key_class{kNoKey, &object_keys_.languages, &extra.matched};
      if (!solve(value_conjunction(completion, key_class, {}))) continue;
      others += keys_left(completion, extra, completion.min - min - others);
      if (min + others >= completion.min) return true;
    }
    KeySet absent = excluded_;
    for (const Completion::Member& member : completion.members) {
      if (member.absent) absent = sets_.with(absent, member.key);
    }
    return can_fill(completion, sets_.unite(present, needed), absent,
                    completion.min - min - others, completion.max - min);
  }

  // Whether at least `min` and at most `max` spelled keys can be added to those
  // that are `present`, each together with the keys that it requires.
  bool can_fill(const Completion& completion, KeySet present, KeySet absent,
                std::uint64_t min, std::uint64_t max) {
    const auto needs_of = [&](KeyId key) {
      return solver_.keys().needed(object_, sets_.with(present, key));
    };
    const KeySet others =
        sets_.subtract(object_keys_.spelled, sets_.unite(present, absent));
    // The common case: enough keys require no other key.
    KeySet free = kNoKeys;
    std::uint64_t single = 0;
    sets_.each(others, [&](KeyId key) {
      if (!can_be_present(completion, key)) return true;
      free = sets_.with(free, key);
      if (needs_of(key) == kNoKeys) ++single;
      return single < min;
    });
    if (single >= min) return true;
    // Greatest fixpoint: drop keys that require a key which is not free.  All
    // keys that remain in `free` can be added together.
    std::vector<std::pair<KeyId, KeySet>> groups;
    for (KeySet before = kNoKeys; before != free;) {
      before = free;
      groups.clear();
      KeySet left = kNoKeys;
      sets_.each(free, [&](KeyId key) {
        const KeySet needs = needs_of(key);
        if (sets_.subtract(needs, free) != kNoKeys) return true;
        left = sets_.with(left, key);
        groups.emplace_back(key, needs);
        return true;
      });
      free = left;
    }
    if (sets_.size(free) < min) return false;
    if (sets_.size(free) <= max) return true;
    // All together are too many.  Keys come in groups (a key and the keys that
    // it requires), so the possible numbers may have gaps.  Search the unions
    // of groups that are not larger than `max`.  Keys that require nothing are
    // added last, because they can fill any gap.
    KeySet idle = kNoKeys;
    for (const auto& [key, needs] : groups) {
      if (needs == kNoKeys) idle = sets_.with(idle, key);
    }
    std::set<KeySet> tried;
    std::vector<KeySet> pending = {kNoKeys};
    while (!pending.empty()) {
      const KeySet now = pending.back();
      pending.pop_back();
      if (sets_.size(sets_.unite(now, idle)) >= min) return true;
      for (const auto& [key, needs] : groups) {
        if (needs == kNoKeys || sets_.contains(now, key)) continue;
        const KeySet next = sets_.unite(sets_.with(now, key), needs);
        if (sets_.size(next) > max || !tried.insert(next).second) continue;
        if (!step()) return false;
        pending.push_back(next);
      }
    }
    return false;
  }
};

Satisfiability::Verdict Satisfiability::solve_members(
    DisjunctId object, const MembersSoFar& members, bool satisfiable) {
  return CompletionSearch(*this, object, members, satisfiable)
      .run(members.condition);
}

bool Satisfiability::completable(DisjunctId object,
                                 const MembersSoFar& members) {
  constexpr std::size_t kMaxKnown = 100'000;
  if (members.condition == kImpossible) return false;
  const auto found = [&] {
    return solve_members(object, members, levels_ == kAnyLevels).yes;
  };
  if (members.condition == kAlways) return found();
  if (complete(object, members)) return true;
  const std::tuple query(object, members.condition, members.seen,
                         members.excluded, members.count, levels_);
  const auto known = completable_.find(query);
  if (known != completable_.end()) return known->second;
  Questions::Answer answer(questions_);
  const bool yes = found();
  if (yes) answer.forget();
  if (yes || answer.final()) {
    if (completable_.size() >= kMaxKnown) completable_.clear();
    completable_.emplace(query, yes);
  }
  return yes;
}

bool Satisfiability::complete(DisjunctId object, const MembersSoFar& members) {
  const ObjectConstraints& disjunct = solver_.object(object);
  return members.count >= disjunct.min && members.count <= disjunct.max &&
         solver_.keys().needed(object, members.seen) == kNoKeys &&
         solver_.conditions().holds_at_end(members.condition, members.count);
}

}  // namespace parlance::schema_solver
