#include "schema_solver/conditions.h"

#include <algorithm>
#include <bitset>
#include <utility>

#include "base/mix.h"
#include "base/work.h"

namespace parlance::schema_solver {
namespace {

using Kind = Condition::Kind;

std::uint64_t hash_of(const Condition& one) {
  std::uint64_t hash = static_cast<std::uint64_t>(one.kind);
  base::mix(hash, std::uint64_t{one.key} << 32 | one.literal);
  base::mix(hash,
            static_cast<std::uint64_t>(one.keys.kind) << 32 | one.keys.id);
  base::mix(hash, one.bound);
  for (const ConditionId part : one.parts) base::mix(hash, part);
  return hash;
}

bool is_list(Kind kind) { return kind == Kind::kAll || kind == Kind::kAny; }

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
  for (const ConditionId part : condition.parts) {
    if (test == kNoLiteral) test = tests_[part];
    subjects.keys |= subjects_[part].keys;
    subjects.others = subjects.others || subjects_[part].others;
  }
  part_count_ += condition.parts.size();
  table_.push_back(std::move(condition));
  tests_.push_back(test);
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
      return {.keys = bit_of(atom.key)};
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
  return of.others || (key != kNoKey && (of.keys & bit_of(key)) != 0);
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
ConditionId Conditions::join(Kind kind, std::vector<ConditionId> parts) {
  const ConditionId neutral = kind == Kind::kAll ? kAlways : kImpossible;
  const ConditionId absorbing = kind == Kind::kAll ? kImpossible : kAlways;
  const Kind other = kind == Kind::kAll ? Kind::kAny : Kind::kAll;
  std::vector<ConditionId> flat;
  for (const ConditionId part : parts) {
    if (part == absorbing) return absorbing;
    if (part == neutral) continue;
    const Condition& one = table_[part];
    if (one.kind == kind) {
      flat.insert(flat.end(), one.parts.begin(), one.parts.end());
    } else {
      flat.push_back(part);
    }
  }
  if (!std::is_sorted(flat.begin(), flat.end())) {
    std::sort(flat.begin(), flat.end());
  }
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  std::vector<KeyId> absent;
  for (const ConditionId part : flat) {
    if (table_[part].kind == Kind::kAbsent) absent.push_back(table_[part].key);
  }
  std::sort(absent.begin(), absent.end());
  // Few parts of parts are parts themselves, and most others have no bit here.
  std::bitset<1024> bits;
  for (const ConditionId part : flat) bits.set(part % bits.size());
  const auto has = [&](ConditionId part) {
    return bits.test(part % bits.size()) &&
           std::binary_search(flat.begin(), flat.end(), part);
  };
  std::vector<ConditionId> left;
  for (const ConditionId part : flat) {
    const Condition& one = table_[part];
    const bool here = one.kind == Kind::kPresent ||
                      (kind == Kind::kAll && one.kind == Kind::kValue);
    if (here && std::binary_search(absent.begin(), absent.end(), one.key)) {
      return absorbing;
    }
    if (one.kind == other &&
        std::any_of(one.parts.begin(), one.parts.end(), has)) {
      continue;
    }
    left.push_back(part);
  }
  if (left.empty()) return neutral;
  if (left.size() == 1) return left[0];
  return of({.kind = kind, .parts = std::move(left)});
}

template <class MayChange, class Change>
ConditionId Conditions::map_atoms(ConditionId id, const MayChange& may_change,
                                  const Change& change) {
  std::unordered_map<ConditionId, ConditionId> known;
  return map_atoms(id, may_change, change, known);
}

template <class MayChange, class Change>
ConditionId Conditions::map_atoms(
    ConditionId id, const MayChange& may_change, const Change& change,
    std::unordered_map<ConditionId, ConditionId>& known) {
  if (!may_change(id)) return id;
  if (!is_list(table_[id].kind)) return change(id);
  const auto found = known.find(id);
  if (found != known.end()) return found->second;
  const Kind kind = table_[id].kind;
  base::spend_work(1 + table_[id].parts.size() / 4);
  // A copy, because map_atoms() adds to the table.
  std::vector<ConditionId> parts = table_[id].parts;
  bool same = true;
  for (ConditionId& part : parts) {
    const ConditionId now = map_atoms(part, may_change, change, known);
    same = same && now == part;
    part = now;
  }
  const ConditionId made = same ? id : join(kind, std::move(parts));
  known.emplace(id, made);
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
      id, [&](ConditionId at) { return subjects_[at].keys != 0; },
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
        return fulfilled && (one.literal ^ 1) == literal ? kImpossible : at;
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
  return table_.size() * (sizeof(Condition) + 48) +
         part_count_ * sizeof(ConditionId);
}

}  // namespace parlance::schema_solver
