// How many values satisfy a conjunction, and which, if they are few: for
// uniqueItems, whose items must not run out.
//
// A conjunction has infinitely many values if one of its strings or numbers is
// not bounded, if an array can grow, if an object can have any other key, or if
// a value inside of it can be any of infinitely many.  A value that may contain
// a value of its own conjunction can be nested for ever.  What remains has a
// bounded depth, and is listed.

#include <algorithm>
#include <utility>
#include <vector>

#include "base/work.h"
#include "schema_solver/solver.h"
#include "schema_solver/value_prints.h"

namespace parlance::schema_solver {

namespace {

// So many numbers are taken for infinitely many.
constexpr std::uint64_t kNeverListed = std::uint64_t{1} << 62;

}  // namespace

// Invariant of the recursion: a conjunction in progress is entered again only
// below a value of its own that exists, so its values never end.  Within a
// limit on depth they do, and there the levels that are left bound the calls.
bool SchemaSolver::infinite(ConjunctionId conjunction) {
  if (conjunction == kAnything) return true;
  if (conjunction == kNothing) return false;
  const bool any_depth = levels_ == kAnyLevels;
  const auto [it, is_new] =
      infinite_.try_emplace({conjunction, levels_}, any_depth);
  if (!is_new) return it->second;
  base::spend_work(4);
  bool& known = it->second;
  return known = finds_infinite(conjunction);
}

bool SchemaSolver::finds_infinite(ConjunctionId conjunction) {
  for (const DisjunctId disjunct : disjuncts(conjunction, JsonType::kString)) {
    const StringConstraints& string = strings_[disjunct];
    if (string.max_chars == kUnboundedCount &&
        languages_.infinite(string.language)) {
      return true;
    }
  }
  for (const DisjunctId disjunct : disjuncts(conjunction, JsonType::kNumber)) {
    if (numbers_.count(disjunct, kNeverListed) == kNeverListed) return true;
  }
  const std::vector<DisjunctId> objects =
      disjuncts(conjunction, JsonType::kObject);
  const std::vector<DisjunctId> arrays =
      disjuncts(conjunction, JsonType::kArray);
  const ScopedDepthLimit inside(
      *this, levels_ == kAnyLevels || levels_ == 0 ? levels_ : levels_ - 1);
  return std::ranges::any_of(
             objects, [this](DisjunctId id) { return infinite_object(id); }) ||
         std::ranges::any_of(
             arrays, [this](DisjunctId id) { return infinite_array(id); });
}

// One member is enough: every other can stay as it is.
bool SchemaSolver::infinite_object(DisjunctId object) {
  const ConditionId condition = objects_[object].condition;
  if (languages_.infinite(possible_extra_keys(object))) {
    const auto& patterns = key_languages(object);
    const std::vector<ExtraKeys> classes = extra_keys(object);
    for (const ExtraKeys& extra : classes) {
      if (!patterns.empty() && !languages_.infinite(extra.language)) continue;
      for (const MemberAlternative& member : member_alternatives(
               object, condition, {kNoKey, &patterns, &extra.matched}, 1)) {
        if (satisfiable(member.conjunction) &&
            completable(object, {.count = 1, .condition = member.condition})) {
          return true;
        }
      }
    }
  }
  const std::vector<KeyId> keys = spelled_list(object);
  return std::ranges::any_of(keys, [&](KeyId key) {
    base::spend_work();
    for (const MemberAlternative& member :
         member_alternatives(object, condition, {.key = key}, 1)) {
      if (satisfiable(member.conjunction) &&
          completable(object, {.seen = key_sets_.one(key),
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
bool SchemaSolver::infinite_array(DisjunctId array) {
  const ArrayConstraints& rules = arrays_[array];
  if (rules.max == kUnboundedCount) {
    ConjunctionId more = item_conjunction(array, rules.prefix);
    for (const ItemCount& count : rules.counts) {
      if (count.max != kUnboundedCount) {
        more = with(more, negation(count.literal));
      }
    }
    if (rules.unique ? infinite(more) : satisfiable(more)) return true;
  }
  if (!rules.counts.empty() || !rules.witnesses.empty()) return false;
  for (std::uint64_t i = 0; i < rules.max && i <= rules.prefix; ++i) {
    const ConjunctionId item = item_conjunction(array, i);
    if (!satisfiable(item)) return false;
    if (infinite(item)) return true;
  }
  return false;
}

// --- Values that are few. ----------------------------------------------------

namespace {

bool full(const FewValues& values, std::uint64_t enough) {
  return values.many || values.values.size() >= std::min(enough, kMostListed) ||
         !base::spend_work();
}

}  // namespace

// Adds the arrays of a disjunct: a depth-first walk over their items.
void SchemaSolver::list_arrays(DisjunctId array, std::uint64_t enough,
                               FewValues& into) {
  const ArrayConstraints& rules = arrays_[array];
  if (!rules.counts.empty() || !rules.witnesses.empty()) {
    into.partial = true;
    return;
  }
  struct Begun {
    std::vector<ValueText> items;
    Fingerprint sum;
  };
  std::vector<Begun> pending = {{}};
  while (!pending.empty()) {
    const Begun at = std::move(pending.back());
    pending.pop_back();
    if (full(into, enough)) {
      into.partial = true;
      return;
    }
    const std::size_t size = at.items.size();
    if (size >= rules.min) {
      into.values.insert(nested_text(print_of_array(at.sum, size)));
    }
    if (size >= rules.max) continue;
    const ConjunctionId item = item_conjunction(array, size);
    if (!satisfiable(item)) continue;
    const FewValues& few = few_values(item, kMostListed);
    into.partial = into.partial || few.partial;
    into.many = into.many || few.many;
    for (const ValueText& value : few.values) {
      if (rules.unique &&
          std::ranges::find(at.items, value) != at.items.end()) {
        continue;
      }
      Begun next = at;
      next.items.push_back(value);
      next.sum = plus(next.sum, print_of_member(print_of_index(size),
                                                print_of_value(value)));
      pending.push_back(std::move(next));
    }
  }
}

// Adds the objects of a disjunct: a depth-first walk over the keys in order,
// each of which is absent or has one of its values.
void SchemaSolver::list_objects(DisjunctId object, std::uint64_t enough,
                                FewValues& into) {
  const std::vector<KeyId> spelled = spelled_list(object);
  // The keys that the schema does not spell, each with its class.
  const auto& patterns = key_languages(object);
  const automata::LanguageId possible = possible_extra_keys(object);
  const std::vector<ExtraKeys> classes = extra_keys(object);
  std::vector<std::pair<std::string, const ExtraKeys*>> others;
  for (const ExtraKeys& extra : classes) {
    const automata::LanguageId language =
        patterns.empty() ? possible
                         : languages_.all_of({extra.language, possible});
    if (languages_.infinite(language)) {
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
    Members members = {};
    Fingerprint sum = {};
  };
  std::vector<Begun> pending = {
      {.members = {.condition = objects_[object].condition}}};
  while (!pending.empty()) {
    const Begun at = pending.back();
    pending.pop_back();
    if (full(into, enough)) {
      into.partial = true;
      return;
    }
    if (!completable(object, at.members)) continue;
    if (at.key == spelled.size() + others.size()) {
      if (complete(object, at.members)) {
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
      text = key_text(key_class.key);
      const KeySet one = key_sets_.one(key_class.key);
      next.members.seen = key_sets_.unite(at.members.seen, one);
      without.members.excluded = key_sets_.unite(at.members.excluded, one);
      without.members.condition = without_keys(at.members.condition, one);
    } else {
      const auto& [key, extra] = others[at.key - spelled.size()];
      key_class = {kNoKey, &patterns, &extra->matched};
      text = key;
    }
    for (const MemberAlternative& member : member_alternatives(
             object, at.members.condition, key_class, next.members.count)) {
      next.members.condition = member.condition;
      if (!satisfiable(member.conjunction) ||
          !completable(object, next.members)) {
        continue;
      }
      const FewValues& few = few_values(member.conjunction, kMostListed);
      into.partial = into.partial || few.partial;
      into.many = into.many || few.many;
      for (const ValueText& value : few.values) {
        next.sum = plus(
            at.sum, print_of_member(print_of_key(text), print_of_value(value)));
        pending.push_back(next);
      }
    }
    pending.push_back(without);
  }
}

}  // namespace parlance::schema_solver
