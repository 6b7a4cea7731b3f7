#include "schema_solver/conditions.h"

#include <algorithm>
#include <bitset>
#include <span>
#include <type_traits>
#include <utility>

#include "base/mix.h"
#include "base/work.h"

namespace parlance::schema_solver {
namespace {

using Kind = Condition::Kind;

std::uint64_t hash_of(const Condition& one) {
  std::uint64_t hash = static_cast<std::uint64_t>(one.kind);
  base::mix(hash, std::uint64_t{one.key} << 32 | one.literal.bits());
  base::mix(hash,
            static_cast<std::uint64_t>(one.keys.kind) << 32 | one.keys.id);
  base::mix(hash, one.bound);
  // A sum, because the steps of a chain wait for one another: lists are long.
  std::uint64_t sum = 0;
  for (const ConditionId part : one.parts) {
    std::uint64_t own = one.parts.size();
    base::mix(own, part);
    sum += own * 0x94D049BB133111EB;
  }
  base::mix(hash, sum);
  return hash;
}

bool is_list(Kind kind) { return kind == Kind::kAll || kind == Kind::kAny; }

// The part that changes nothing in a list of this kind, and the one that
// decides it.
ConditionId neutral_in(Kind list) {
  return list == Kind::kAll ? kAlways : kImpossible;
}
ConditionId absorbing_in(Kind list) {
  return list == Kind::kAll ? kImpossible : kAlways;
}

}  // namespace

Conditions::Conditions() {
  of({.kind = Kind::kTrue});
  of({.kind = Kind::kFalse});
}

ConditionId Conditions::of(Condition condition) {
  const std::uint64_t hash = hash_of(condition);
  if (const auto known = id_of_.find(
          hash, [&](ConditionId id) { return table_[id] == condition; })) {
    return *known;
  }
  const auto id = static_cast<ConditionId>(table_.size());
  Literal test = kNoLiteral;
  if (condition.kind == Kind::kTest) test = condition.literal;
  Subjects subjects = subjects_of(condition);
  std::uint64_t parts = 0;
  for (const ConditionId part : condition.parts) {
    parts |= part_bit(part);
    if (test == kNoLiteral) test = tests_[part];
    subjects.keys |= subjects_[part].keys;
    subjects.others = subjects.others || subjects_[part].others;
  }
  part_count_ += condition.parts.size();
  kinds_.push_back(condition.kind);
  table_.push_back(std::move(condition));
  tests_.push_back(test);
  part_bits_.push_back(parts);
  subjects_.push_back(subjects);
  at_end_.push_back(at_end_of(table_.back()));
  id_of_.add(hash, id);
  return id;
}

Conditions::Subjects Conditions::subjects_of(const Condition& atom) {
  switch (atom.kind) {
    case Kind::kAbsent:
    case Kind::kPresent:
    case Kind::kValue:
      return {.keys = std::bitset<256>().set(atom.key % 256)};
    case Kind::kSome:
    case Kind::kEvery:
    case Kind::kAtLeast:
    case Kind::kAtMost:
      return {.others = true};
    default:
      return {};
  }
}

// Whether an atom may be about a member with this key.  False is exact.
bool Conditions::about(ConditionId id, KeyId key) const {
  const Subjects& of = subjects_[id];
  return of.others || (key != kNoKey && of.keys[key % 256]);
}

ConditionId Conditions::all(std::vector<ConditionId> parts) {
  return join(Kind::kAll, std::move(parts));
}
ConditionId Conditions::any(std::vector<ConditionId> parts) {
  return join(Kind::kAny, std::move(parts));
}

// The conjunction (kAll) or disjunction (kAny) of the parts, in canonical form:
// nested lists of the same kind are flattened, equal parts occur once, a part
// and its contradiction ("absent" and "present") give the absorbing element,
// and a part is dropped that another one absorbs: x and (x or y) is x.
//
// join() calls nothing that joins, so flat_ and absent_ are in use by one call
// at a time.  Step 1: `flat` has the parts, sorted, each once.  Step 2: `bits`
// and `atoms` have a bit for each atom among them, and `absent` the keys that
// must be absent.  Step 3: `left` has the parts that no atom contradicts or
// absorbs.
ConditionId Conditions::join(Kind kind, std::vector<ConditionId> parts) {
  const ConditionId neutral = neutral_in(kind);
  const ConditionId absorbing = absorbing_in(kind);
  const Kind other = kind == Kind::kAll ? Kind::kAny : Kind::kAll;
  std::vector<ConditionId>& flat = flat_;
  flat.clear();
  for (const ConditionId part : parts) {
    if (part == absorbing) return absorbing;
    if (part == neutral) continue;
    if (kinds_[part] == kind) {
      const std::vector<ConditionId>& inner = table_[part].parts;
      flat.insert(flat.end(), inner.begin(), inner.end());
    } else {
      flat.push_back(part);
    }
  }
  // Mostly the list of another condition with one part replaced: two runs.
  const auto second = std::is_sorted_until(flat.begin(), flat.end());
  if (second != flat.end()) {
    if (!std::is_sorted(second, flat.end())) std::sort(second, flat.end());
    std::inplace_merge(flat.begin(), second, flat.end());
  }
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  std::vector<KeyId>& absent = absent_;
  absent.clear();
  // Of the parts of a part only atoms can be parts themselves: lists alternate.
  // Few are, and most others have no bit here.
  std::bitset<1024> bits;
  std::uint64_t atoms = 0;
  for (const ConditionId part : flat) {
    if (is_list(kinds_[part])) continue;
    atoms |= part_bit(part);
    bits.set(part % bits.size());
    if (kinds_[part] == Kind::kAbsent) absent.push_back(table_[part].key);
  }
  if (atoms == 0) return of_list(kind, {flat.begin(), flat.end()});
  std::sort(absent.begin(), absent.end());
  const auto has = [&](ConditionId part) {
    return bits.test(part % bits.size()) &&
           std::binary_search(flat.begin(), flat.end(), part);
  };
  std::vector<ConditionId> left = std::move(parts);
  left.clear();
  for (const ConditionId part : flat) {
    const Kind of_part = kinds_[part];
    const bool here = of_part == Kind::kPresent ||
                      (kind == Kind::kAll && of_part == Kind::kValue);
    if (here &&
        std::binary_search(absent.begin(), absent.end(), table_[part].key)) {
      return absorbing;
    }
    if (of_part == other && (part_bits_[part] & atoms) != 0 &&
        std::ranges::any_of(table_[part].parts, has)) {
      continue;
    }
    left.push_back(part);
  }
  return of_list(kind, std::move(left));
}

// The list of the parts, which are canonical.
ConditionId Conditions::of_list(Kind kind, std::vector<ConditionId> parts) {
  if (parts.empty()) return neutral_in(kind);
  if (parts.size() == 1) return parts[0];
  return of({.kind = kind, .parts = std::move(parts)});
}

template <class MayChange, class Change>
ConditionId Conditions::map_atoms(ConditionId id, const MayChange& may_change,
                                  const Change& change) {
  if (mapped_.size() < table_.size()) mapped_.resize(table_.size());
  return map_atoms(id, may_change, change, ++calls_);
}

// A span of a condition's parts survives the growth of the table that the
// condition is in: growing moves conditions, and a moved vector keeps its
// elements where they are.
static_assert(std::is_nothrow_move_constructible_v<Condition>);

// Bottom up, and only along parts for which `may_change` holds.  Invariant of
// the loop: `changed` is empty as long as every part so far maps to itself;
// afterwards it has what the parts so far map to, then the remaining parts.
//
// If parts only became neutral, the others are a canonical list already: each
// was there, and what none of them absorbed is still absorbed by none.
template <class MayChange, class Change>
ConditionId Conditions::map_atoms(ConditionId id, const MayChange& may_change,
                                  const Change& change, std::uint32_t call) {
  if (!may_change(id)) return id;
  if (!is_list(kinds_[id])) return change(id);
  // Stays valid while the recursion adds to the table: see above.
  const std::span<const ConditionId> parts = table_[id].parts;
  // A list of atoms is soon done again.
  const bool nested = std::ranges::any_of(
      parts, [&](ConditionId part) { return is_list(kinds_[part]); });
  if (nested && mapped_[id].call == call) return mapped_[id].to;
  const Kind kind = kinds_[id];
  base::spend_work(1 + parts.size() / 4);
  const ConditionId neutral = neutral_in(kind);
  const ConditionId absorbing = absorbing_in(kind);
  std::vector<ConditionId> changed;  // the parts, once one of them changes
  bool fewer = true;                 // every part that changed became neutral
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ConditionId now = map_atoms(parts[i], may_change, change, call);
    if (now == parts[i]) continue;
    if (changed.empty()) changed.assign(parts.begin(), parts.end());
    fewer = fewer && now == neutral;
    changed[i] = now;
    if (now == absorbing) break;
  }
  ConditionId made = id;
  if (!changed.empty() && fewer) {
    std::erase(changed, neutral);
    made = of_list(kind, std::move(changed));
  } else if (!changed.empty()) {
    made = join(kind, std::move(changed));
  }
  if (nested) mapped_[id] = {.call = call, .to = made};
  return made;
}

ConditionId Conditions::after_member(
    ConditionId id, KeyId key, std::uint64_t count,
    const std::function<bool(const KeyGroup&)>& in) {
  const auto test = [&](Literal literal) {
    if (literal == kNoLiteral) return kAlways;
    if (literal == kNever) return kImpossible;
    return of({.kind = Kind::kTest, .literal = literal});
  };
  return map_atoms(
      id, [&](ConditionId at) { return about(at, key); },
      [&](ConditionId at) {
        const Condition one = table_[at];
        switch (one.kind) {
          case Kind::kAbsent:
            return one.key == key ? kImpossible : at;
          case Kind::kPresent:
            return one.key == key ? kAlways : at;
          case Kind::kValue:
            return one.key == key ? test(one.literal) : at;
          case Kind::kSome:
            return in(one.keys) ? any({test(one.literal), at}) : at;
          case Kind::kEvery:
            return in(one.keys) ? all({test(one.literal), at}) : at;
          case Kind::kAtLeast:
            return count >= one.bound ? kAlways : at;
          case Kind::kAtMost:
            return count > one.bound ? kImpossible : at;
          default:
            return at;
        }
      });
}

ConditionId Conditions::without_keys(
    ConditionId id, const std::function<bool(KeyId)>& excluded) {
  return map_atoms(
      id, [&](ConditionId at) { return subjects_[at].keys.any(); },
      [&](ConditionId at) {
        const Condition& one = table_[at];
        if (one.key == kNoKey || !excluded(one.key)) return at;
        return one.kind == Kind::kAbsent ? kAlways : kImpossible;
      });
}

ConditionId Conditions::after_test(ConditionId id, Literal literal,
                                   bool fulfilled) {
  return map_atoms(
      id, [&](ConditionId at) { return tests_[at] != kNoLiteral; },
      [&](ConditionId at) {
        const Condition& one = table_[at];
        if (one.kind != Kind::kTest) return at;
        if (one.literal == literal) return fulfilled ? kAlways : kImpossible;
        // A value does not satisfy a literal and its negation.
        return fulfilled && negation(one.literal) == literal ? kImpossible : at;
      });
}

ConditionId Conditions::after_tests(
    ConditionId id, const std::function<std::optional<bool>(Literal)>& decide) {
  return map_atoms(
      id, [&](ConditionId at) { return tests_[at] != kNoLiteral; },
      [&](ConditionId at) {
        const Condition& one = table_[at];
        if (one.kind != Kind::kTest) return at;
        const std::optional<bool> fulfilled = decide(one.literal);
        if (!fulfilled) return at;
        return *fulfilled ? kAlways : kImpossible;
      });
}

Conditions::AtEnd Conditions::at_end_of(const Condition& condition) const {
  switch (condition.kind) {
    case Kind::kTrue:
    case Kind::kAbsent:
    case Kind::kEvery:
      return AtEnd::kHolds;
    case Kind::kFalse:
    case Kind::kPresent:
    case Kind::kValue:
    case Kind::kTest:
    case Kind::kSome:
      return AtEnd::kFails;
    case Kind::kAtLeast:
    case Kind::kAtMost:
      return AtEnd::kDepends;
    case Kind::kAll:
    case Kind::kAny:
      break;
  }
  const bool all = condition.kind == Kind::kAll;
  const AtEnd decides = all ? AtEnd::kFails : AtEnd::kHolds;
  AtEnd out = all ? AtEnd::kHolds : AtEnd::kFails;
  for (const ConditionId part : condition.parts) {
    if (at_end_[part] == decides) return decides;
    if (at_end_[part] == AtEnd::kDepends) out = AtEnd::kDepends;
  }
  return out;
}

bool Conditions::holds_at_end(ConditionId id, std::uint64_t count) const {
  if (at_end_[id] != AtEnd::kDepends) return at_end_[id] == AtEnd::kHolds;
  const Condition& one = table_[id];
  const auto holds = [&](ConditionId part) {
    return holds_at_end(part, count);
  };
  switch (one.kind) {
    case Kind::kAll:
      return std::all_of(one.parts.begin(), one.parts.end(), holds);
    case Kind::kAny:
      return std::any_of(one.parts.begin(), one.parts.end(), holds);
    case Kind::kAtLeast:
      return count >= one.bound;
    default:
      return count <= one.bound;  // kAtMost
  }
}

void Conditions::for_each_atom(
    ConditionId id, const std::function<void(const Condition&)>& use) const {
  std::vector<ConditionId> pending = {id};
  std::unordered_map<ConditionId, bool> seen;
  while (!pending.empty()) {
    const ConditionId at = pending.back();
    pending.pop_back();
    if (!seen.try_emplace(at, true).second) continue;
    const Condition& one = table_[at];
    if (is_list(one.kind)) {
      pending.insert(pending.end(), one.parts.begin(), one.parts.end());
    } else {
      use(one);
    }
  }
}

std::size_t Conditions::memory_bytes() const {
  return table_.size() * (sizeof(Condition) + 96) +
         part_count_ * sizeof(ConditionId);
}

}  // namespace parlance::schema_solver
