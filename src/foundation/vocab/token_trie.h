#ifndef PARLANCE_SRC_VOCAB_TOKEN_TRIE_H_
#define PARLANCE_SRC_VOCAB_TOKEN_TRIE_H_

// Tokens by their bytes: a trie in the order in which it is walked.
//
// The nodes stand in preorder, siblings by byte.  A node's first child is the
// node after it, its next sibling the node after its subtree, so a walk only
// goes forward, and to skip a subtree is one jump:
//
//   "a" 5, "ab" 7, "b" 9        i  byte  depth  subtree_end  token
//                               0    -     0         4        none   the root
//       0 ──a── 1 ──b── 2       1    a     1         3          5
//       └──b── 3                2    b     2         3          7
//                               3    b     1         4          9
//
//   // Every token that an automaton reads: states[d] is its state at depth d.
//   for (std::uint32_t i = 1; i < trie.node_count();) {
//     const TrieNode node = trie.node(i);
//     states[node.depth()] = step(states[node.depth() - 1], node.byte());
//     if (dead(states[node.depth()])) { i = node.subtree_end(); continue; }
//     if (node.token() != kNoToken) set(node.token());
//     ++i;
//   }
//
// Both classes are views: copying one is cheap, and the arrays that it views
// must outlive it.  Immutable, safe to share between threads.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "vocab/table.h"

namespace parlance::vocab {

// The result of TrieNode::token() for a node where no token ends.
inline constexpr Id kNoToken = (Id{1} << 24) - 1;

// A longer token is in no trie and in no table.
inline constexpr std::size_t kMaxTokenBytes = 255;

// The nodes that one trie can have.
inline constexpr std::size_t kMaxTrieNodes = (std::size_t{1} << 24) - 1;

// One node in eight bytes.
class TrieNode {
 public:
  TrieNode() = default;
  TrieNode(std::uint8_t byte, std::uint8_t depth, Id token,
           std::uint32_t subtree_end)
      : token_byte_(token << 8 | byte), end_depth_(subtree_end << 8 | depth) {}

  // The byte that leads here; 0 at the root.
  std::uint8_t byte() const { return static_cast<std::uint8_t>(token_byte_); }
  // Bytes from the root to here.
  std::uint8_t depth() const { return static_cast<std::uint8_t>(end_depth_); }
  // The token whose bytes end here, the lowest id of those that have the same
  // bytes; kNoToken where none does.
  Id token() const { return token_byte_ >> 8; }
  // The node after this one's subtree.
  std::uint32_t subtree_end() const { return end_depth_ >> 8; }

 private:
  std::uint32_t token_byte_ = 0;
  std::uint32_t end_depth_ = 0;
};
static_assert(sizeof(TrieNode) == 8);

// A token with the same bytes as another.
struct Duplicate {
  Id id = 0;     // the one in the trie, the lowest
  Id other = 0;  // one more with its bytes
};

// The ordinary tokens of a vocabulary.
class TokenTrie {
 public:
  TokenTrie() = default;
  TokenTrie(std::span<const TrieNode> nodes,
            std::span<const std::uint32_t> root_child,
            std::span<const Duplicate> duplicates)
      : nodes_(nodes), root_child_(root_child), duplicates_(duplicates) {}

  // At least 1: the root.
  std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(nodes_.size());
  }
  const TrieNode& node(std::uint32_t i) const { return nodes_[i]; }
  std::uint8_t byte(std::uint32_t i) const { return nodes_[i].byte(); }
  std::uint8_t depth(std::uint32_t i) const { return nodes_[i].depth(); }
  Id token(std::uint32_t i) const { return nodes_[i].token(); }
  std::uint32_t subtree_end(std::uint32_t i) const {
    return nodes_[i].subtree_end();
  }
  std::span<const TrieNode> nodes() const { return nodes_; }

  // The root's child for `byte`, 0 if it has none.
  std::uint32_t root_child(std::uint8_t byte) const {
    return root_child_[byte];
  }
  // The child of any node for `byte`, 0 if it has none.  Complexity: O(its
  // children).
  std::uint32_t child(std::uint32_t i, std::uint8_t byte) const;

  // All tokens with the bytes of another, by (id, other).  Mostly empty: a
  // walker sets the bits of the trie's ids and then copies each bit `id` to
  // its `other`.
  std::span<const Duplicate> all_duplicates() const { return duplicates_; }
  // The duplicates of `id`; empty unless `id` is in the trie and has some.
  std::span<const Duplicate> duplicates(Id id) const;
  // Calls `visit` with each token of the node's bytes: none, one or
  // several.
  template <class Visit>
  void each_token(const TrieNode& node, Visit visit) const {
    if (node.token() == kNoToken) return;
    visit(node.token());
    if (duplicates_.empty()) return;
    for (const Duplicate& pair : duplicates(node.token())) visit(pair.other);
  }

 private:
  std::span<const TrieNode> nodes_;
  std::span<const std::uint32_t> root_child_;
  std::span<const Duplicate> duplicates_;
};

// A token that continues after the string or the white space of a table.
struct ExitToken {
  Id id = 0;
  // Of a string body: characters completed before the quote.
  // Of white space: bytes of it before the rest.
  std::uint16_t count = 0;
  // Of white space: how many of these bytes are newlines.  Else 0.
  std::uint16_t newlines = 0;
};
static_assert(sizeof(ExitToken) == 8);

// Tokens that leave something, by the text that remains: after the closing
// quote of a string, or after white space.  Whether such a token fits depends
// on its remainder only (and its count), so that one walk over the few
// different remainders decides all tokens.
class ExitTrie {
 public:
  ExitTrie() = default;
  ExitTrie(std::span<const TrieNode> nodes,
           std::span<const std::uint32_t> first_exit,
           std::span<const ExitToken> exits)
      : nodes_(nodes), first_exit_(first_exit), exits_(exits) {}

  // At least 1: the root, which is the empty remainder.
  std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(nodes_.size());
  }
  // token() is kNoToken in all of them.
  const TrieNode& node(std::uint32_t i) const { return nodes_[i]; }
  std::span<const TrieNode> nodes() const { return nodes_; }

  // The tokens whose remainder ends at node `i`, by (count, id).
  std::span<const ExitToken> exits(std::uint32_t i) const {
    return exits_.subspan(first_exit_[i], first_exit_[i + 1] - first_exit_[i]);
  }
  // The tokens whose remainder ends at `i` or below.
  std::span<const ExitToken> subtree_exits(std::uint32_t i) const {
    const std::uint32_t begin = first_exit_[i];
    return exits_.subspan(begin, first_exit_[nodes_[i].subtree_end()] - begin);
  }
  // All tokens.
  std::span<const ExitToken> exits() const { return exits_; }

 private:
  std::span<const TrieNode> nodes_;
  std::span<const std::uint32_t> first_exit_;  // one more than nodes
  std::span<const ExitToken> exits_;
};

// Makes the nodes of a trie from texts in ascending order.
class TrieBuilder {
 public:
  TrieBuilder() { nodes_.emplace_back(0, 0, kNoToken, 0); }

  // The node of `text`, which is made if the text before was another.
  // nullopt: the trie is full (kMaxTrieNodes).
  // REQUIRES: `text` is not before the last one, has at most kMaxTokenBytes,
  // and stays valid until the next call.
  std::optional<std::uint32_t> add(std::string_view text);

  // Sets the token of the node that was added last.
  void set_token(Id token);
  Id last_token() const { return nodes_[path_[last_.size()]].token(); }

  // Closes the open nodes and hands them out.
  std::vector<TrieNode> finish();

 private:
  void close(std::size_t depth);

  std::vector<TrieNode> nodes_;
  std::string_view last_;
  std::uint32_t path_[kMaxTokenBytes + 1] = {0};  // open nodes by depth
};

// Whether `nodes` are a trie as described above, with tokens below
// `token_limit` or kNoToken.  O(nodes.size()).
bool is_trie(std::span<const TrieNode> nodes, std::size_t token_limit);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TOKEN_TRIE_H_
