#ifndef PARLANCE_SRC_JSON_RECOGNISER_DISTINCT_LIST_H_
#define PARLANCE_SRC_JSON_RECOGNISER_DISTINCT_LIST_H_

// Building lists without repetitions.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hashed_ids.h"
#include "base/mix.h"
#include "schema_solver/constraints.h"

namespace parlance::json_recogniser {

// Appends `conjunction` unless it is the last: equal ones are adjacent.
inline void add_conjunction(
    std::vector<schema_solver::ConjunctionId>& conjunctions,
    schema_solver::ConjunctionId conjunction) {
  if (conjunctions.empty() || conjunctions.back() != conjunction) {
    conjunctions.push_back(conjunction);
  }
}

// A list without repetitions, in the order of adding.  There may be thousands:
// an alternative for each object of an enum.  `Key`: a number of an item; only
// items with equal numbers are compared.
template <class Item, class Key>
class DistinctList {
 public:
  DistinctList(std::vector<Item>& to, Key key) : to_(to), key_(key) {}

  void add(const Item& item) {
    if (to_.size() < kFew) {
      if (std::ranges::find(to_, item) == to_.end()) to_.push_back(item);
      return;
    }
    for (; listed_ < to_.size(); ++listed_) places_.add(hash(listed_), listed_);
    const auto is_same = [&](std::uint32_t i) { return to_[i] == item; };
    if (places_.find(hash_of(key_(item)), is_same)) return;
    to_.push_back(item);
  }

 private:
  static constexpr std::size_t kFew = 32;

  static std::uint64_t hash_of(std::uint64_t key) {
    std::uint64_t hash = 0;
    base::mix(hash, key);
    return hash;
  }
  std::uint64_t hash(std::uint32_t i) const { return hash_of(key_(to_[i])); }

  std::vector<Item>& to_;
  Key key_;
  std::uint32_t listed_ = 0;  // the items of to_ before it are in places_
  base::HashedIds<std::uint32_t> places_;
};

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_DISTINCT_LIST_H_
