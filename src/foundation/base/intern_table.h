#ifndef PARLANCE_SRC_BASE_INTERN_TABLE_H_
#define PARLANCE_SRC_BASE_INTERN_TABLE_H_

// Hash-consing of lists: each distinct list is stored once and has an id; equal
// lists have equal ids.
//
// The lists are in a list_store.h, and hashed_ids.h finds the id of a list.  A
// list takes the memory of its elements and a few bytes, and no allocation of
// its own.  No list is ever moved: neither is there a pause where the table
// grows, nor does a span become invalid.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/block_vector.h"
#include "base/hashed_ids.h"
#include "base/list_store.h"

namespace parlance::base {

// `Hash` returns an integer of well mixed bits for a list.  `Id` is an integer
// of 32 bits, or a base::Id of one.
template <class T, class Hash, class Id = std::uint32_t>
class InternTable {
 public:
  std::size_t size() const { return lists_.size(); }
  // Valid as long as the table.
  std::span<const T> operator[](Id id) const { return lists_[id]; }

  // The id of the list, kNone if it is not in the table.
  static constexpr Id kNone{0xFFFFFFFF};
  Id find(std::span<const T> list) const {
    return known(list, hash_of(list)).value_or(kNone);
  }

  // The id of the list, and whether it is new.
  std::pair<Id, bool> intern(std::span<const T> list) {
    const std::uint64_t hash = hash_of(list);
    if (const auto id = known(list, hash)) return {*id, false};
    const Id id = add(list);
    ids_.add(hash, id);
    return {id, true};
  }

  // As intern().  REQUIRES: the list is not in the table.
  Id intern_new(std::span<const T> list) {
    const Id id = add(list);
    ids_.add(hash_of(list), id);
    return id;
  }

  // Adds the list under a new id, even if an equal list exists.  intern() finds
  // the new id only if it found no equal list before.
  Id add_found(std::span<const T> list) {
    const std::uint64_t hash = hash_of(list);
    const bool first = !known(list, hash);
    const Id id = add(list);
    if (first) ids_.add(hash, id);
    return id;
  }

  // Adds the list under a new id that find() and intern() never return.
  Id add(std::span<const T> list) {
    const auto id = static_cast<Id>(lists_.size());
    lists_.push_back(store_.add(list));
    return id;
  }

  // The approximate memory of one more list of `size` elements.
  static std::size_t bytes_of(std::size_t size) {
    return 2 * size * sizeof(T) + 2 * sizeof(std::span<const T>) + 32;
  }

 private:
  static std::uint64_t hash_of(std::span<const T> list) { return Hash()(list); }

  std::optional<Id> known(std::span<const T> list, std::uint64_t hash) const {
    return ids_.find(
        hash, [&](Id id) { return std::ranges::equal((*this)[id], list); });
  }

  ListStore<T> store_;
  BlockVector<std::span<const T>> lists_;  // by id
  HashedIds<Id> ids_;                      // what find() and intern() return
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_INTERN_TABLE_H_
