// See translation.h.

#include "schema_solver/translation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/work.h"

namespace parlance::schema_solver {

// The keys of the document have the same ids in all solvers.
KeyId Translation::key(KeyId key) {
  if (key == kNoKey || key < from_.names_.in_order()) return key;
  return to_.names_.id(from_.names_.text(key));
}

KeySet Translation::keys(KeySet set) {
  base::spend_work(1 + from_.key_sets().size(set) / 4);
  std::vector<KeyId> keys;
  from_.key_sets().each(set, [&](KeyId one) {
    keys.push_back(key(one));
    return true;
  });
  return to_.key_sets().of(std::move(keys));
}

ConjunctionId Translation::conjunction(ConjunctionId id) {
  if (id == kAnything || id == kNothing) return id;
  return to_.conjunction(from_.literals(id));
}

// Recursive: as deep as conditions are nested.
ConditionId Translation::condition(ConditionId id) {
  if (id == kAlways || id == kImpossible) return id;
  if (const auto known = conditions_.find(id.value());
      known != conditions_.end()) {
    return known->second;
  }
  base::spend_work();
  Condition made = from_.conditions()[id];
  made.key = key(made.key);
  for (ConditionId& part : made.parts) part = condition(part);
  ConditionId to;
  switch (made.kind) {
    case Condition::Kind::kAll:
      to = to_.conditions_.all(std::move(made.parts));
      break;
    case Condition::Kind::kAny:
      to = to_.conditions_.any(std::move(made.parts));
      break;
    default:
      to = to_.conditions_.of(std::move(made));
  }
  conditions_.emplace(id.value(), to);
  return to;
}

ObjectConstraints Translation::object(const ObjectConstraints& of) {
  ObjectConstraints made = of;
  const auto sorted = [&](std::vector<KeyId>& list) {
    for (KeyId& one : list) one = key(one);
    std::ranges::sort(list);
  };
  for (auto& [at, literal] : made.at) at = key(at);
  sorted(made.required);
  sorted(made.forbidden);
  for (auto& [one, others] : made.dependent) {
    one = key(one);
    for (KeyId& other : others) other = key(other);
  }
  made.condition = condition(of.condition);
  return made;
}

// The disjunct of `to` that is `wanted`; most have the same place in the list
// of their conjunction.
template <class Table>
std::optional<DisjunctId> Translation::find(
    ConjunctionId of, JsonType type, DisjunctId id, const Table& table,
    const typename Table::value_type& wanted) {
  const ConjunctionId there = conjunction(of);
  if (from_.excludes(of, type) || to_.excludes(there, type)) {
    return std::nullopt;
  }
  const std::vector<DisjunctId>& listed = from_.expansion(of, type).all;
  const std::vector<DisjunctId>& all = to_.expansion(there, type).all;
  const auto place =
      static_cast<std::size_t>(std::ranges::find(listed, id) - listed.begin());
  if (place < all.size() && table[all[place]] == wanted) return all[place];
  const auto at = std::ranges::find_if(
      all, [&](DisjunctId one) { return table[one] == wanted; });
  return at == all.end() ? std::nullopt : std::optional(*at);
}

// One that the other solver has found itself is the same disjunct.  Else the
// content is enough: nothing asks how a disjunct was found.
DisjunctId Translation::disjunct(ConjunctionId of, JsonType type,
                                 DisjunctId id) {
  const auto [known, is_new] = disjuncts_.try_emplace(
      std::uint64_t{id} << 1 | (type == JsonType::kArray ? 1 : 0),
      DisjunctId());
  if (!is_new) return known->second;
  DisjunctId& made = known->second;
  if (type == JsonType::kArray) {
    const ArrayConstraints& array = from_.array(id);
    if (const auto found = find(of, type, id, to_.arrays_, array)) {
      made = *found;
    } else {
      made = static_cast<DisjunctId>(to_.arrays_.size());
      to_.arrays_.push_back(array);
    }
  } else {
    ObjectConstraints one = object(from_.object(id));
    if (const auto found = find(of, type, id, to_.objects_, one)) {
      made = *found;
    } else {
      made = static_cast<DisjunctId>(to_.objects_.size());
      to_.objects_.push_back(std::move(one));
    }
  }
  return made;
}

}  // namespace parlance::schema_solver
