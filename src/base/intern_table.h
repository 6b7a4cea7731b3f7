#ifndef PARLANCE_SRC_BASE_INTERN_TABLE_H_
#define PARLANCE_SRC_BASE_INTERN_TABLE_H_

// Hash-consing of lists: each distinct list is stored once and has an id; equal
// lists have equal ids.
//
// The elements of all lists are stored in one array, and an open-addressing
// hash table maps a list to its id.  A list takes the memory of its elements
// and a few bytes, and no allocation of its own.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/mix.h"

namespace parlance::base {

// `Hash` returns an integer of well mixed bits for one element.
template <class T, class Hash>
class InternTable {
 public:
  std::size_t size() const { return lists_.size(); }
  // Valid until another list is added.
  std::span<const T> operator[](std::uint32_t id) const {
    const List& list = lists_[id];
    return std::span(values_).subspan(list.begin, list.size);
  }

  // The id of the list, kNone if it is not in the table.
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::uint32_t find(std::span<const T> list) const {
    return table_.empty() ? kNone : table_[place_of(list, hash_of(list))];
  }

  // The id of the list, and whether it is new.
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

  // Adds the list under a new id, even if an equal list exists.  intern() finds
  // the new id only if it found no equal list before.
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

  // Adds the list under a new id that find() and intern() never return.
  std::uint32_t add(std::span<const T> list) {
    const auto id = static_cast<std::uint32_t>(lists_.size());
    lists_.push_back({.begin = values_.size(),
                      .size = static_cast<std::uint32_t>(list.size())});
    values_.insert(values_.end(), list.begin(), list.end());
    return id;
  }

  // The approximate memory of one more list of `size` elements.
  static std::size_t bytes_of(std::size_t size) {
    return 2 * size * sizeof(T) + 2 * sizeof(List) + 16;
  }

 private:
  struct List {
    std::size_t begin = 0;
    std::uint32_t size = 0;
    std::uint32_t hash = 0;
    bool found = false;  // find() and intern() return this list
  };

  static std::uint32_t hash_of(std::span<const T> list) {
    std::uint64_t hash = list.size();
    for (const T& value : list) base::mix(hash, Hash()(value));
    return static_cast<std::uint32_t>(hash ^ hash >> 32);
  }

  // The index in `table_` of the list, or of the free entry where it belongs.
  // Linear probing; the table is at most half full, so the loop ends.
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
  std::vector<std::uint32_t> table_;  // ids by hash; kNone where free
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_INTERN_TABLE_H_
