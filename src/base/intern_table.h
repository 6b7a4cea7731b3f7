#ifndef PARLANCE_SRC_BASE_INTERN_TABLE_H_
#define PARLANCE_SRC_BASE_INTERN_TABLE_H_

// Hash-consing of lists: each distinct list is stored once and has an id; equal
// lists have equal ids.
//
// The elements of many lists are stored in one block, and hashed_ids.h finds
// the id of a list.  A list takes the memory of its elements and a few bytes,
// and no allocation of its own.  No list is ever moved: neither is there a
// pause where the table grows, nor does a span become invalid.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/block_vector.h"
#include "base/hashed_ids.h"
#include "base/mix.h"

namespace parlance::base {

// `Hash` returns an integer of well mixed bits for one element.
template <class T, class Hash>
class InternTable {
 public:
  std::size_t size() const { return lists_.size(); }
  // Valid as long as the table.
  std::span<const T> operator[](std::uint32_t id) const {
    const List& list = lists_[id];
    return {list.begin, list.size};
  }

  // The id of the list, kNone if it is not in the table.
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::uint32_t find(std::span<const T> list) const {
    return known(list, hash_of(list)).value_or(kNone);
  }

  // The id of the list, and whether it is new.
  std::pair<std::uint32_t, bool> intern(std::span<const T> list) {
    const std::uint64_t hash = hash_of(list);
    if (const auto id = known(list, hash)) return {*id, false};
    const std::uint32_t id = add(list);
    ids_.add(hash, id);
    return {id, true};
  }

  // As intern().  REQUIRES: the list is not in the table.
  std::uint32_t intern_new(std::span<const T> list) {
    const std::uint32_t id = add(list);
    ids_.add(hash_of(list), id);
    return id;
  }

  // Adds the list under a new id, even if an equal list exists.  intern() finds
  // the new id only if it found no equal list before.
  std::uint32_t add_found(std::span<const T> list) {
    const std::uint64_t hash = hash_of(list);
    const bool first = !known(list, hash);
    const std::uint32_t id = add(list);
    if (first) ids_.add(hash, id);
    return id;
  }

  // Adds the list under a new id that find() and intern() never return.
  std::uint32_t add(std::span<const T> list) {
    const auto id = static_cast<std::uint32_t>(lists_.size());
    T* const begin = room_for(list.size());
    std::ranges::copy(list, begin);
    lists_.push_back(
        {.begin = begin, .size = static_cast<std::uint32_t>(list.size())});
    return id;
  }

  // The approximate memory of one more list of `size` elements.
  static std::size_t bytes_of(std::size_t size) {
    return 2 * size * sizeof(T) + 2 * sizeof(List) + 32;
  }

 private:
  struct List {
    const T* begin = nullptr;
    std::uint32_t size = 0;
  };
  // Blocks grow with the table, up to so many elements.  A list of more than a
  // quarter of the next block has one of its own.
  static constexpr std::size_t kLeastBlock = 32;
  static constexpr std::size_t kMostBlock = 1024;

  T* room_for(std::size_t size) {
    if (size > left_) {
      const std::size_t next = std::clamp(elements_, kLeastBlock, kMostBlock);
      const bool own = size > next / 4;
      blocks_.push_back(std::make_unique<T[]>(own ? size : next));
      elements_ += own ? size : next;
      if (own) return blocks_.back().get();
      free_ = blocks_.back().get();
      left_ = next;
    }
    left_ -= size;
    return std::exchange(free_, free_ + size);
  }

  static std::uint64_t hash_of(std::span<const T> list) {
    std::uint64_t hash = list.size();
    for (const T& value : list) base::mix(hash, Hash()(value));
    return hash;
  }

  std::optional<std::uint32_t> known(std::span<const T> list,
                                     std::uint64_t hash) const {
    return ids_.find(hash, [&](std::uint32_t id) {
      return std::ranges::equal((*this)[id], list);
    });
  }

  std::vector<std::unique_ptr<T[]>> blocks_;
  std::size_t elements_ = 0;  // of all blocks
  T* free_ = nullptr;         // in the last block that is shared
  std::size_t left_ = 0;      // elements from there
  BlockVector<List> lists_;
  HashedIds<std::uint32_t> ids_;  // those that find() and intern() return
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_INTERN_TABLE_H_
