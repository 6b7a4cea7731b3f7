#ifndef PARLANCE_SRC_SCHEMA_SOLVER_DEPENDENT_KEYS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_DEPENDENT_KEYS_H_

// Which members an object must have because it has others (dependentRequired).
//
//   "dependentRequired": {"a": ["b"], "b": ["c"]}
//
//   needed({a}) = {b, c}     directly, or because of what is required
//
// What each key requires in the end is found once: the transitive closure of
// the relation.  A set of keys requires the union.  Objects are asked about the
// keys that they have and one more, so that a union is mostly a known one and
// what the last key adds.

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schema_solver/conditions.h"
#include "schema_solver/key_sets.h"

namespace parlance::schema_solver {

class DependentKeys {
 public:
  using Relation = std::span<const std::pair<KeyId, std::vector<KeyId>>>;

  // `required`: the keys that every object has.  `relation`: keys, which may
  // repeat, and what they require.  Complexity: O(size of the relation) set
  // operations.
  DependentKeys(KeySets& sets, KeySet required, Relation relation);

  // The keys that an object with the keys `seen` lacks.
  KeySet needed(KeySets& sets, KeySet seen);

  // Without the sets themselves.
  std::size_t memory_bytes() const {
    return sizeof(*this) + 40 * (required_by_key_.size() + known_.size());
  }

 private:
  static constexpr std::size_t kMaxKnown = 1024;

  KeySet required_by(KeySets& sets, KeySet keys);
  KeySet unite_all(KeySets& sets, KeySet keys, KeySet with) const;

  std::unordered_map<KeyId, KeySet> required_by_key_;  // in the end
  KeySet keys_ = kNoKeys;                              // those of it
  KeySet always_ = kNoKeys;
  // required_by() of sets of keys; all are dropped when there are many.
  std::unordered_map<KeySet, KeySet> known_;
  KeySet last_ = kNoKeys;  // that required_by() was asked about
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_DEPENDENT_KEYS_H_
