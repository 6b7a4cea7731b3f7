#ifndef PARLANCE_SRC_BASE_HASHED_IDS_H_
#define PARLANCE_SRC_BASE_HASHED_IDS_H_

// Hash-consing of values that are stored elsewhere, in a table of structures:
// finds the id of a value by its hash.
//
//   const std::uint64_t hash = hash_of(value);
//   if (const auto known = ids.find(hash, [&](Id id) {
//         return table[id] == value;
//       })) {
//     return *known;
//   }
//   const Id id{table.size()};
//   table.push_back(value);
//   ids.add(hash, id);
//
// 8 bytes an entry (growing_table.h), and no allocation for each id.
// intern_table.h stores the values, too, if they are lists.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/growing_table.h"

namespace parlance::base {

// `Id` is an integer or a base::Id, below 2^32 - 1.
template <class Id>
class HashedIds {
 public:
  // The id with this hash for which `is_same` returns true.
  template <class IsSame>
  std::optional<Id> find(std::uint64_t hash, const IsSame& is_same) const {
    const std::uint32_t folded = fold(hash);
    const Entry* const found = entries_.find(folded, [&](const Entry& entry) {
      return entry.folded == folded && is_same(static_cast<Id>(entry.id()));
    });
    if (found == nullptr) return std::nullopt;
    return static_cast<Id>(found->id());
  }

  // REQUIRES: find() has not found the value.
  void add(std::uint64_t hash, Id id) {
    entries_.insert(
        {.folded = fold(hash), .id_and_1 = static_cast<std::uint32_t>(id) + 1});
  }

  std::size_t memory_bytes() const { return entries_.memory_bytes(); }

 private:
  struct Entry {
    std::uint32_t folded = 0;    // the hash
    std::uint32_t id_and_1 = 0;  // 0: free

    bool free() const { return id_and_1 == 0; }
    std::uint32_t hash() const { return folded; }
    std::uint32_t id() const { return id_and_1 - 1; }
  };

  // The upper half of a product, in which every bit of the hash takes part. (To
  // xor the halves would undo the last step of mix().)
  static std::uint32_t fold(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash * 0x9E3779B97F4A7C15 >> 32);
  }

  GrowingTable<Entry> entries_;
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_HASHED_IDS_H_
