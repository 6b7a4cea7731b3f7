#include "schema_solver/dependent_keys.h"

#include <algorithm>
#include <optional>

#include "base/components.h"
#include "base/work.h"

namespace parlance::schema_solver {

// The keys of a component of the relation require one another, and all that one
// of them requires.  A component comes after those that it leads to, whose keys
// are known by then.
DependentKeys::DependentKeys(KeySets& sets, KeySet required,
                             Relation relation) {
  std::vector<KeyId> keys;
  for (const auto& [key, others] : relation) keys.push_back(key);
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  const auto index_of = [&](KeyId key) -> std::optional<std::uint32_t> {
    const auto at = std::ranges::lower_bound(keys, key);
    if (at == keys.end() || *at != key) return std::nullopt;
    return static_cast<std::uint32_t>(at - keys.begin());
  };
  std::vector<std::vector<KeyId>> others_of(keys.size());
  for (const auto& [key, others] : relation) {
    std::vector<KeyId>& all = others_of[*index_of(key)];
    all.insert(all.end(), others.begin(), others.end());
  }
  keys_ = sets.of(keys);

  base::ComponentWalk walk;
  std::vector<base::ComponentVisit> visits(keys.size());
  const auto next = [&](std::uint32_t at,
                        std::size_t& i) -> std::optional<std::uint32_t> {
    while (i < others_of[at].size()) {
      if (const auto found = index_of(others_of[at][i++])) return found;
    }
    return std::nullopt;
  };
  const auto complete = [&](std::span<const std::uint32_t> component) {
    KeySet all = kNoKeys;
    for (const std::uint32_t member : component) {
      base::spend_work(1 + others_of[member].size());
      all = sets.unite(all, sets.of(others_of[member]));
      for (const KeyId other : others_of[member]) {
        const auto known = required_by_key_.find(other);
        if (known != required_by_key_.end()) {
          all = sets.unite(all, known->second);
        }
      }
    }
    for (const std::uint32_t member : component) {
      required_by_key_[keys[member]] = all;
    }
  };
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    if (visits[i].order != 0) continue;
    base::visit_components(
        walk, i,
        [&](std::uint32_t at) -> base::ComponentVisit& { return visits[at]; },
        next, complete);
  }
  always_ = unite_all(sets, sets.intersect(required, keys_), required);
}

// `with`, and what each of `keys` requires.  REQUIRES: all of them are in
// keys_.
KeySet DependentKeys::unite_all(KeySets& sets, KeySet keys, KeySet with) const {
  sets.each(keys, [&](KeyId key) {
    with = sets.unite(with, required_by_key_.at(key));
    base::spend_work();
    return true;  // what is stored is complete
  });
  return with;
}

KeySet DependentKeys::needed(KeySets& sets, KeySet seen) {
  const KeySet more = required_by(sets, sets.intersect(seen, keys_));
  return sets.subtract(sets.unite(always_, more), seen);
}

KeySet DependentKeys::required_by(KeySets& sets, KeySet keys) {
  if (keys == kNoKeys) return kNoKeys;
  if (const auto known = known_.find(keys); known != known_.end()) {
    return known->second;
  }
  // What this set has in common with the last one is asked about most often.
  const KeySet common = sets.intersect(keys, last_);
  last_ = keys;
  const KeySet made = common == kNoKeys || common == keys
                          ? unite_all(sets, keys, kNoKeys)
                          : unite_all(sets, sets.subtract(keys, common),
                                      required_by(sets, common));
  last_ = keys;
  if (known_.size() >= kMaxKnown) known_.clear();
  known_[keys] = made;
  return made;
}

}  // namespace parlance::schema_solver
