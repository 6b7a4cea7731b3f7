#ifndef PARLANCE_SRC_BASE_INTERN_TABLE_H_
#define PARLANCE_SRC_BASE_INTERN_TABLE_H_

// Lists that are kept once and have a number each: equal lists, equal numbers.
//
// All stand in one array, and a table of numbers finds them, so that a list
// costs what is in it and a few bytes, and no allocation of its own.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/mix.h"

namespace parlance::base {

// `Hash` says a number of bits that are all good, of one value.
template <class T, class Hash>
class InternTable {
 public:
  std::size_t size() const { return lists_.size(); }
  // Valid until another list is added.
  std::span<const T> operator[](std::uint32_t id) const {
    const List& list = lists_[id];
    return std::span(values_).subspan(list.begin, list.size);
  }

  // The number of the list, kNone if it has none.
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::uint32_t find(std::span<const T> list) const {
    return table_.empty() ? kNone : table_[place_of(list, hash_of(list))];
  }

  // The number of the list, and whether it is new.
  std::pair<std::uint32_t, bool> intern(std::span<const T> list) {
    if (2 * lists_.size() >= table_.size()) grow();
    const std::uint32_t hash = hash_of(list);
    std::uint32_t& entry = table_[place_of(list, hash)];
    if (entry != kNone) return {entry, false};
    const std::uint32_t id = add(list);
    lists_[id].hash = hash;
    lists_[id].found = true;
    entry = id;
    return {id, true};
  }

  // A list with a number of its own, which intern() finds if none is equal.
  std::uint32_t add_found(std::span<const T> list) {
    if (2 * lists_.size() >= table_.size()) grow();
    const std::uint32_t hash = hash_of(list);
    const std::size_t at = place_of(list, hash);
    const std::uint32_t id = add(list);
    if (table_[at] != kNone) return id;
    lists_[id].hash = hash;
    lists_[id].found = true;
    table_[at] = id;
    return id;
  }

  // A list that intern() does not find.
  std::uint32_t add(std::span<const T> list) {
    const auto id = static_cast<std::uint32_t>(lists_.size());
    lists_.push_back({.begin = values_.size(),
                      .size = static_cast<std::uint32_t>(list.size())});
    values_.insert(values_.end(), list.begin(), list.end());
    return id;
  }

  // What one more list of a size costs, about.
  static std::size_t bytes_of(std::size_t size) {
    return 2 * size * sizeof(T) + 2 * sizeof(List) + 16;
  }

 private:
  struct List {
    std::size_t begin = 0;
    std::uint32_t size = 0;
    std::uint32_t hash = 0;
    bool found = false;  // by intern()
  };

  static std::uint32_t hash_of(std::span<const T> list) {
    std::uint64_t hash = list.size();
    for (const T& value : list) base::mix(hash, Hash()(value));
    return static_cast<std::uint32_t>(hash ^ hash >> 32);
  }

  // Of the table: where the list is, or where it comes.
  std::size_t place_of(std::span<const T> list, std::uint32_t hash) const {
    for (std::size_t i = hash;; ++i) {
      const std::size_t at = i & (table_.size() - 1);
      const std::uint32_t known = table_[at];
      if (known == kNone || (lists_[known].hash == hash &&
                             std::ranges::equal((*this)[known], list))) {
        return at;
      }
    }
  }

  void grow() {
    table_.assign(table_.empty() ? 64 : 2 * table_.size(), kNone);
    for (std::uint32_t id = 0; id < lists_.size(); ++id) {
      if (!lists_[id].found) continue;
      std::size_t at = lists_[id].hash;
      while (table_[at & (table_.size() - 1)] != kNone) ++at;
      table_[at & (table_.size() - 1)] = id;
    }
  }

  std::vector<T> values_;
  std::vector<List> lists_;
  std::vector<std::uint32_t> table_;  // by hash
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_INTERN_TABLE_H_
