#ifndef PARLANCE_SRC_VOCAB_CLASS_TRIE_BUILDER_H_
#define PARLANCE_SRC_VOCAB_CLASS_TRIE_BUILDER_H_

// Builds a trie of tokens as strings of byte classes.
//
// The caller walks the trie of all tokens once and maps each of its nodes to
// the node of the same string of classes, which is created on first use.  So
// parents are created before their children, but not in preorder; finish()
// sorts the nodes into preorder.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "vocab/byte_class_map.h"
#include "vocab/table.h"

namespace parlance::vocab {

// The members that every node of such a trie has.
struct ClassTrieNode {
  std::uint32_t subtree_end = 0;  // nodes are in preorder, as in TokenTrie
  std::uint32_t first = 0, own_end = 0, last = 0;  // ranges of ids()
  std::uint8_t byte_class = 0;                     // of the edge to this node
  std::uint8_t depth = 0;  // bytes from the root to here
};

// Whether `nodes` are such a trie in preorder, of `ids` tokens, whose own
// tokens have as many bytes as the node has depth.  `size_of(i)`: bytes of
// token ids()[i].
//
// Invariant: ends[d], d <= deepest, is the end of the subtree of the open node
// at depth d; the ends descend, and ends[deepest] is at least i (is_trie() does
// the same).  `first` is the number of tokens before node i.
template <class Node, class SizeOf>
bool is_class_trie(std::span<const Node> nodes, std::size_t ids,
                   const ByteClassMap& classes, std::size_t class_count,
                   SizeOf size_of) {
  if (nodes.empty() || nodes[0].depth != 0 ||
      nodes[0].subtree_end != nodes.size()) {
    return false;
  }
  std::uint32_t ends[256] = {};
  std::size_t deepest = 0;
  std::size_t first = 0;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    const std::size_t depth = node.depth;
    if (i > 0) {
      if (depth == 0 || depth > deepest + 1 || node.subtree_end <= i ||
          node.subtree_end > ends[depth - 1] ||
          (depth <= deepest && ends[depth] != i) ||
          node.byte_class >= class_count ||
          classes.bytes(node.byte_class).empty()) {
        return false;
      }
    }
    if (node.first != first || node.own_end < first || node.own_end > ids) {
      return false;
    }
    for (; first < node.own_end; ++first) {
      if (size_of(first) != depth) return false;
    }
    ends[depth] = node.subtree_end;
    deepest = depth;
  }
  // The tokens of a subtree end where those of the next node begin.
  return first == ids && std::ranges::all_of(nodes, [&](const Node& node) {
           return node.last == (node.subtree_end == nodes.size()
                                    ? ids
                                    : nodes[node.subtree_end].first);
         });
}

// Node: a ClassTrieNode, extended by the data that a trie stores in each node.
template <class Node>
class ClassTrieBuilder {
 public:
  // The root is node 0.
  ClassTrieBuilder() : drafts_(1) {}

  // The child of `from` for `byte_class`.  If it does not exist, creates it and
  // calls make(child, parent) to initialise it.
  template <class Make>
  std::uint32_t child(std::uint32_t from, std::uint8_t byte_class, Make make) {
    for (std::uint32_t at = drafts_[from].child; at != 0;
         at = drafts_[at].sibling) {
      if (drafts_[at].node.byte_class == byte_class) return at;
    }
    const auto made = static_cast<std::uint32_t>(drafts_.size());
    Draft& draft = drafts_.emplace_back();
    draft.node.byte_class = byte_class;
    draft.node.depth = static_cast<std::uint8_t>(drafts_[from].node.depth + 1);
    draft.parent = from;
    draft.sibling = std::exchange(drafts_[from].child, made);
    make(draft.node, drafts_[from].node);
    return made;
  }

  Node& node(std::uint32_t node) { return drafts_[node].node; }

  // Adds the token `id`, whose string of classes ends at `node`.
  void add_token(std::uint32_t node, Id id) {
    tokens_.push_back({node, id});
    ++drafts_[node].tokens;
  }

  // Calls `fold(node, parent)` for each node except the root.  Each node comes
  // after all nodes of its subtree, because they were created later.
  template <class Fold>
  void fold(Fold fold) {
    for (auto at = static_cast<std::uint32_t>(drafts_.size() - 1); at > 0;
         --at) {
      fold(at, drafts_[at].parent);
    }
  }

  // Moves out the nodes in preorder, siblings in order of creation, and the
  // tokens in the order of their nodes.  REQUIRES: this is the first call.
  //
  // 1. Sum up the nodes and tokens of each subtree, from the last node to the
  //    first: children were created after their parents.
  // 2. From the first node to the last, copy each node to its position and
  //    compute the positions of its children: from the end of its subtree
  //    backwards, each child takes the size of its own subtree.
  // 3. Copy the tokens; `begin.ids` of a node is the next free position.
  void finish(std::vector<Node>& nodes, std::vector<Id>& ids) {
    for (Draft& draft : drafts_) draft.below = {1, draft.tokens};
    fold([&](std::uint32_t at, std::uint32_t parent) {
      drafts_[parent].below.nodes += drafts_[at].below.nodes;
      drafts_[parent].below.ids += drafts_[at].below.ids;
    });
    nodes.resize(drafts_.size());
    ids.resize(tokens_.size());
    // Invariant: `begin` of `draft` is known, since its parent came before it.
    for (Draft& draft : drafts_) {
      const Extent end = {draft.begin.nodes + draft.below.nodes,
                          draft.begin.ids + draft.below.ids};
      draft.node.subtree_end = end.nodes;
      draft.node.first = draft.begin.ids;
      draft.node.own_end = draft.begin.ids + draft.tokens;
      draft.node.last = end.ids;
      nodes[draft.begin.nodes] = draft.node;
      Extent begin = end;  // of the newest child, then of older ones
      for (std::uint32_t at = draft.child; at != 0; at = drafts_[at].sibling) {
        begin.nodes -= drafts_[at].below.nodes;
        begin.ids -= drafts_[at].below.ids;
        drafts_[at].begin = begin;
      }
    }
    for (const TokenAt& one : tokens_) {
      ids[drafts_[one.node].begin.ids++] = one.id;
    }
  }

 private:
  struct Extent {
    std::uint32_t nodes = 0, ids = 0;
  };
  struct Draft {
    Node node;
    std::uint32_t parent = 0;
    std::uint32_t child = 0;    // the newest child; 0: none
    std::uint32_t sibling = 0;  // the next older one; 0: none
    std::uint32_t tokens = 0;
    Extent begin, below;  // position in the output; size of the subtree
  };
  struct TokenAt {
    std::uint32_t node = 0;
    Id id = 0;
  };

  std::vector<Draft> drafts_;
  std::vector<TokenAt> tokens_;
};

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_CLASS_TRIE_BUILDER_H_
