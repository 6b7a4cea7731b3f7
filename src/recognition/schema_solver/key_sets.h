#ifndef PARLANCE_SRC_SCHEMA_SOLVER_KEY_SETS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_KEY_SETS_H_

// Sets of keys, hash-consed.
//
// An object of n members passes through n sets of used keys.  A set that
// differs from another in one key shares all but O(log n) of its nodes, equal
// sets have equal ids, and the results of the set operations are cached, so
// that the operations on the next set cost O(log n) as well.
//
// Big-endian Patricia trees over blocks of 64 keys (Okasaki and Gill, "Fast
// Mergeable Integer Maps", 1998), hash-consed:
//
//   {3, 5, 70, 200}       branch, bit 2 of the block     (blocks 0 to 3)
//                        /                            .
//        branch, bit 1                leaf, block 3
//        /             .              {200}
//   leaf, block 0   leaf, block 1
//   {3, 5}          {70}

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/id.h"

namespace parlance::schema_solver {

// An object key, interned.
using KeyId = base::Id<struct KeyTag>;
inline constexpr KeyId kNoKey{0xFFFFFFFF};

// A set in a KeySets.  Equal sets have equal numbers.
using KeySet = std::uint32_t;
inline constexpr KeySet kNoKeys = 0;

// Not thread-safe.
class KeySets {
 public:
  KeySets();

  KeySet one(KeyId key);
  KeySet of(std::vector<KeyId> keys);
  KeySet with(KeySet set, KeyId key) { return unite(set, one(key)); }
  KeySet unite(KeySet a, KeySet b);
  KeySet intersect(KeySet a, KeySet b);
  KeySet subtract(KeySet a, KeySet b);

  bool contains(KeySet set, KeyId key) const;
  std::size_t size(KeySet set) const { return nodes_[set].size; }
  // Whether a key of [first, last] is in the set.
  bool any(KeySet set, KeyId first, KeyId last) const;
  // REQUIRES: set != kNoKeys.
  KeyId min(KeySet set) const;
  // Calls `use` with each key in ascending order until it returns false.
  template <class Use>
  void each(KeySet set, Use use) const {
    std::vector<KeySet> pending;
    if (set != kNoKeys) pending.push_back(set);
    while (!pending.empty()) {
      const Node node = nodes_[pending.back()];
      pending.pop_back();
      if (node.bit != 0) {
        pending.push_back(node.right());
        pending.push_back(node.left());
        continue;
      }
      for (std::uint64_t bits = node.content; bits != 0; bits &= bits - 1) {
        const auto at = static_cast<std::uint32_t>(std::countr_zero(bits));
        if (!use(KeyId(node.block * kBlock + at))) return;
      }
    }
  }

  // The two halves of a set of more than one block; two empty ones otherwise.
  struct Halves {
    KeySet left = kNoKeys;
    KeySet right = kNoKeys;
  };
  Halves halves(KeySet set) const {
    const Node& node = nodes_[set];
    return node.bit == 0 ? Halves{} : Halves{node.left(), node.right()};
  }

  // The number of nodes that the operations have visited: a measure of work.
  std::size_t work() const { return work_; }
  std::size_t memory_bytes() const {
    return nodes_.size() * sizeof(Node) + table_.size() * sizeof(KeySet) +
           known_.size() * sizeof(Known);
  }

 private:
  static constexpr std::uint32_t kBlock = 64;
  // Results that are remembered, at most.
  static constexpr std::size_t kMaxKnown = std::size_t{1} << 18;

  struct Node {
    // Leaf: the number of the block.  Branch: the bits above `bit` that its
    // blocks have in common, the others 0.
    std::uint32_t block = 0;
    std::uint32_t bit = 0;      // 0: a leaf
    std::uint64_t content = 0;  // leaf: the keys; branch: left, right
    std::uint32_t size = 0;

    KeySet left() const { return static_cast<KeySet>(content >> 32); }
    KeySet right() const { return static_cast<KeySet>(content); }
    // Whether `other` lies in one of the branch's halves.
    bool covers(const Node& other) const {
      return other.bit < bit && ((other.block ^ block) & ~(2 * bit - 1)) == 0;
    }
  };
  enum class Op : std::uint32_t { kUnite = 1, kIntersect, kSubtract };
  struct Known {
    std::uint32_t op = 0;  // 0: free
    KeySet a = 0, b = 0, result = 0;
  };

  KeySet leaf(std::uint32_t block, std::uint64_t keys);
  KeySet branch(std::uint32_t block, std::uint32_t bit, KeySet left,
                KeySet right);
  KeySet join(KeySet a, KeySet b);
  KeySet intern(Node node);
  KeySet apply(Op op, KeySet a, KeySet b);
  KeySet compute(Op op, KeySet a, KeySet b);
  void grow_table();

  std::vector<Node> nodes_;    // [0] is the empty set
  std::vector<KeySet> table_;  // open addressing; 0: free
  std::vector<Known> known_;   // direct-mapped
  std::size_t work_ = 0;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_KEY_SETS_H_
