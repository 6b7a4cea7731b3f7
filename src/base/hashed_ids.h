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
// Open addressing: 8 bytes an entry, at most half of them in use, and no
// allocation for each id.  intern_table.h stores the values, too, if they are
// lists.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace parlance::base {

// `Id` is an integer or a base::Id, below 2^32 - 1.
template <class Id>
class HashedIds {
 public:
  // The id with this hash for which `is_same` returns true.
  template <class IsSame>
  std::optional<Id> find(std::uint64_t hash, const IsSame& is_same) const {
    if (entries_.empty()) return std::nullopt;
    const std::uint32_t folded = fold(hash);
    for (std::size_t at = folded;; ++at) {
      const Entry& entry = entries_[at & (entries_.size() - 1)];
      if (entry.id == kFree) return std::nullopt;
      if (entry.hash != folded) continue;
      const auto id = static_cast<Id>(entry.id);
      if (is_same(id)) return id;
    }
  }

  // REQUIRES: find() has not found the value.
  void add(std::uint64_t hash, Id id) {
    if (2 * ++size_ > entries_.size()) grow();
    place({.hash = fold(hash), .id = static_cast<std::uint32_t>(id)});
  }

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;
  struct Entry {
    std::uint32_t hash = 0;
    std::uint32_t id = kFree;
  };

  static std::uint32_t fold(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash ^ hash >> 32);
  }

  void place(Entry entry) {
    std::size_t at = entry.hash & (entries_.size() - 1);
    while (entries_[at].id != kFree) at = (at + 1) & (entries_.size() - 1);
    entries_[at] = entry;
  }

  void grow() {
    std::vector<Entry> old(entries_.empty() ? 16 : 2 * entries_.size());
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.id != kFree) place(entry);
    }
  }

  std::vector<Entry> entries_;  // a power of two of them
  std::size_t size_ = 0;
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_HASHED_IDS_H_
