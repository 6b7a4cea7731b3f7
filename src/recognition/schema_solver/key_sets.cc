// The operations recurse along the bits of a block's number: at most 26 deep.

#include "schema_solver/key_sets.h"

#include <algorithm>

#include "base/mix.h"

namespace parlance::schema_solver {
namespace {

std::size_t hash_of(std::uint64_t a, std::uint64_t b) {
  std::uint64_t hash = a;
  base::mix(hash, b);
  return static_cast<std::size_t>(hash);
}

}  // namespace

KeySets::KeySets() : nodes_(1) {}

void KeySets::grow_table() {
  table_.assign(table_.empty() ? 64 : table_.size() * 2, 0);
  for (KeySet set = 1; set < nodes_.size(); ++set) {
    const Node& node = nodes_[set];
    std::size_t at =
        hash_of(std::uint64_t{node.block} << 32 | node.bit, node.content);
    while (table_[at & (table_.size() - 1)] != 0) ++at;
    table_[at & (table_.size() - 1)] = set;
  }
}

// Block, bit and content identify a node; its size follows from them.  At most
// two thirds of the table are used, so that linear probing stays short.
KeySet KeySets::intern(Node node) {
  if (nodes_.size() * 3 >= table_.size() * 2) grow_table();
  std::size_t at =
      hash_of(std::uint64_t{node.block} << 32 | node.bit, node.content);
  for (;; ++at) {
    KeySet& entry = table_[at & (table_.size() - 1)];
    if (entry == 0) {
      entry = static_cast<KeySet>(nodes_.size());
      nodes_.push_back(node);
      return entry;
    }
    const Node& other = nodes_[entry];
    if (other.block == node.block && other.bit == node.bit &&
        other.content == node.content) {
      return entry;
    }
  }
}

KeySet KeySets::leaf(std::uint32_t block, std::uint64_t keys) {
  if (keys == 0) return kNoKeys;
  return intern({.block = block,
                 .content = keys,
                 .size = static_cast<std::uint32_t>(std::popcount(keys))});
}

KeySet KeySets::branch(std::uint32_t block, std::uint32_t bit, KeySet left,
                       KeySet right) {
  // A branch has two halves that are not empty: otherwise a set would have
  // several trees.
  if (left == kNoKeys) return right;
  if (right == kNoKeys) return left;
  return intern({.block = block,
                 .bit = bit,
                 .content = std::uint64_t{left} << 32 | right,
                 .size = nodes_[left].size + nodes_[right].size});
}

// The union of two sets of which neither covers the other.
KeySet KeySets::join(KeySet a, KeySet b) {
  const std::uint32_t block = nodes_[a].block;
  // The highest bit in which their blocks differ.  It is above the bits of
  // both, since neither covers the other, so that the zeros which stand for
  // lower bits in a branch do not count.
  const std::uint32_t bit = std::bit_floor(block ^ nodes_[b].block);
  const std::uint32_t common = block & ~(2 * bit - 1);
  return (block & bit) == 0 ? branch(common, bit, a, b)
                            : branch(common, bit, b, a);
}

KeySet KeySets::one(KeyId key) {
  return leaf(key / kBlock, std::uint64_t{1} << key % kBlock);
}

// Unites the blocks pairwise.  Adding one key after another would leave each
// intermediate set in the table.
KeySet KeySets::of(std::vector<KeyId> keys) {
  std::sort(keys.begin(), keys.end());
  std::vector<KeySet> parts;
  for (std::size_t i = 0; i < keys.size();) {
    const std::uint32_t block = keys[i] / kBlock;
    std::uint64_t bits = 0;
    for (; i < keys.size() && keys[i] / kBlock == block; ++i) {
      bits |= std::uint64_t{1} << keys[i] % kBlock;
    }
    parts.push_back(leaf(block, bits));
  }
  while (parts.size() > 1) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < parts.size(); i += 2) {
      parts[kept++] =
          i + 1 < parts.size() ? unite(parts[i], parts[i + 1]) : parts[i];
    }
    parts.resize(kept);
  }
  return parts.empty() ? kNoKeys : parts.front();
}

KeySet KeySets::unite(KeySet a, KeySet b) {
  if (a == kNoKeys || a == b) return b;
  if (b == kNoKeys) return a;
  // One entry of the cache for both orders.
  return apply(Op::kUnite, std::min(a, b), std::max(a, b));
}

KeySet KeySets::intersect(KeySet a, KeySet b) {
  if (a == kNoKeys || b == kNoKeys) return kNoKeys;
  if (a == b) return a;
  return apply(Op::kIntersect, std::min(a, b), std::max(a, b));
}

KeySet KeySets::subtract(KeySet a, KeySet b) {
  if (a == kNoKeys || a == b) return kNoKeys;
  if (b == kNoKeys) return a;
  return apply(Op::kSubtract, a, b);
}

KeySet KeySets::apply(Op op, KeySet a, KeySet b) {
  ++work_;
  // Two leaves are computed faster than looked up.
  if (nodes_[a].bit == 0 && nodes_[b].bit == 0) return compute(op, a, b);
  // Doubling drops the results known so far, and is as rare as doublings of the
  // nodes.
  if (known_.size() < nodes_.size() && known_.size() < kMaxKnown) {
    known_.assign(std::max<std::size_t>(64, known_.size() * 2), {});
  }
  const auto code = static_cast<std::uint32_t>(op);
  const std::size_t hash = hash_of(std::uint64_t{a} << 32 | b, code);
  const Known& known = known_[hash & (known_.size() - 1)];
  if (known.op == code && known.a == a && known.b == b) return known.result;
  const KeySet result = compute(op, a, b);
  // compute() may have grown the table, so the entry is found again.
  known_[hash & (known_.size() - 1)] = {code, a, b, result};
  return result;
}

// The operation on two trees, by how the ranges of their roots lie:
//   1. the same range: half by half, or word by word for leaves;
//   2. one range inside a half of the other: the operation meets that half, and
//      the other half is in the result unless it is intersected away;
//   3. no block in common: nothing meets.
// Invariant: branch(), leaf() and join() give the only tree of their set.
KeySet KeySets::compute(Op op, KeySet a, KeySet b) {
  // Copies: the operation adds nodes, which moves the others.
  const Node x = nodes_[a];
  const Node y = nodes_[b];
  const auto part = [&](KeySet left, KeySet right) {
    switch (op) {
      case Op::kUnite:
        return unite(left, right);
      case Op::kIntersect:
        return intersect(left, right);
      case Op::kSubtract:
        break;
    }
    return subtract(left, right);
  };
  if (x.bit == y.bit && x.block == y.block) {
    if (x.bit != 0) {
      return branch(x.block, x.bit, part(x.left(), y.left()),
                    part(x.right(), y.right()));
    }
    switch (op) {
      case Op::kUnite:
        return leaf(x.block, x.content | y.content);
      case Op::kIntersect:
        return leaf(x.block, x.content & y.content);
      case Op::kSubtract:
        break;
    }
    return leaf(x.block, x.content & ~y.content);
  }
  if (x.covers(y)) {
    const bool low = (y.block & x.bit) == 0;
    const KeySet met = part(low ? x.left() : x.right(), b);
    if (op == Op::kIntersect) return met;
    return branch(x.block, x.bit, low ? met : x.left(), low ? x.right() : met);
  }
  if (y.covers(x)) {
    const bool low = (x.block & y.bit) == 0;
    const KeySet met = part(a, low ? y.left() : y.right());
    if (op != Op::kUnite) return met;
    return branch(y.block, y.bit, low ? met : y.left(), low ? y.right() : met);
  }
  // They have no block in common.
  switch (op) {
    case Op::kUnite:
      return join(a, b);
    case Op::kIntersect:
      return kNoKeys;
    case Op::kSubtract:
      break;
  }
  return a;
}

bool KeySets::contains(KeySet set, KeyId key) const {
  const std::uint32_t block = key / kBlock;
  const Node* node = &nodes_[set];
  // Only the bits that branches test are compared on the way; the leaf compares
  // all of the block.
  while (node->bit != 0) {
    node = &nodes_[(block & node->bit) == 0 ? node->left() : node->right()];
  }
  return node->block == block && (node->content >> key % kBlock & 1) != 0;
}

KeyId KeySets::min(KeySet set) const {
  const Node* node = &nodes_[set];
  while (node->bit != 0) node = &nodes_[node->left()];
  return KeyId(node->block * kBlock +
               static_cast<std::uint32_t>(std::countr_zero(node->content)));
}

bool KeySets::any(KeySet set, KeyId first, KeyId last) const {
  if (set == kNoKeys || first > last) return false;
  // [low, high] are blocks.  Only the branches along two paths are neither
  // inside nor outside the range.
  const std::uint32_t low = first / kBlock;
  const std::uint32_t high = last / kBlock;
  const Node& node = nodes_[set];
  if (node.bit != 0) {
    const std::uint32_t end = node.block + (2 * node.bit - 1);
    if (node.block > high || end < low) return false;
    // Strictly inside: the first and the last block may be in the range in
    // part.
    if (node.block > low && end < high) return true;
    return any(node.left(), first, last) || any(node.right(), first, last);
  }
  if (node.block < low || node.block > high) return false;
  std::uint64_t keys = node.content;
  if (node.block == low) keys &= ~std::uint64_t{0} << first % kBlock;
  if (node.block == high) {
    keys &= ~std::uint64_t{0} >> (kBlock - 1 - last % kBlock);
  }
  return keys != 0;
}

}  // namespace parlance::schema_solver
