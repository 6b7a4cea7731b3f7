#ifndef PARLANCE_SRC_VOCAB_CLASS_TRIE_BUILDER_H_
#define PARLANCE_SRC_VOCAB_CLASS_TRIE_BUILDER_H_

// Making a trie of shapes: the texts of a trie, with cells for bytes.
//
// The trie of all tokens is walked once; each of its nodes is sent to the node
// of its shape, which is made when first met.  Shapes are met in any order, so
// they are put into preorder afterwards.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "vocab/table.h"

namespace parlance::vocab {

// What every node of such a trie has.
struct ClassTrieNode {
  std::uint32_t subtree_end = 0;  // nodes are in preorder, as in TokenTrie
  std::uint32_t first = 0, own_end = 0, last = 0;  // of ids()
  std::uint8_t byte_class = 0;                     // that leads here
  std::uint8_t depth = 0;  // bytes from the root to here
};

// Node: a ClassTrieNode with what else its trie knows of a node.
template <class Node>
class ClassTrieBuilder {
 public:
  // The root is shape 0.
  ClassTrieBuilder() : met_(1) {}

  // The shape behind `from` and a byte of `cell`.  If it is new it is handed to
  // `make`, with its parent.
  template <class Make>
  std::uint32_t child(std::uint32_t from, std::uint8_t byte_class, Make make) {
    for (std::uint32_t at = met_[from].child; at != 0; at = met_[at].sibling) {
      if (met_[at].node.byte_class == byte_class) return at;
    }
    const auto made = static_cast<std::uint32_t>(met_.size());
    Met& met = met_.emplace_back();
    met.node.byte_class = byte_class;
    met.node.depth = static_cast<std::uint8_t>(met_[from].node.depth + 1);
    met.parent = from;
    met.sibling = std::exchange(met_[from].child, made);
    make(met.node, met_[from].node);
    return made;
  }

  Node& node(std::uint32_t node) { return met_[node].node; }

  // `id` has this shape.
  void place(std::uint32_t node, Id id) {
    placed_.push_back({node, id});
    ++met_[node].tokens;
  }

  // Calls `fold(shape, parent)` with each but the root, behind all below it.
  template <class Fold>
  void fold(Fold fold) {
    for (auto at = static_cast<std::uint32_t>(met_.size() - 1); at > 0; --at) {
      fold(at, met_[at].parent);
    }
  }

  // The nodes in preorder, siblings as they were met, and the tokens in the
  // same order.  Once.
  void finish(std::vector<Node>& nodes, std::vector<Id>& ids) {
    for (Met& met : met_) met.below = {1, met.tokens};
    fold([&](std::uint32_t at, std::uint32_t parent) {
      met_[parent].below.nodes += met_[at].below.nodes;
      met_[parent].below.ids += met_[at].below.ids;
    });
    nodes.resize(met_.size());
    ids.resize(placed_.size());
    // Parents were met before their children.
    for (Met& met : met_) {
      const Extent end = {met.begin.nodes + met.below.nodes,
                          met.begin.ids + met.below.ids};
      met.node.subtree_end = end.nodes;
      met.node.first = met.begin.ids;
      met.node.own_end = met.begin.ids + met.tokens;
      met.node.last = end.ids;
      nodes[met.begin.nodes] = met.node;
      Extent begin = end;  // of the child met last, and of those before
      for (std::uint32_t at = met.child; at != 0; at = met_[at].sibling) {
        begin.nodes -= met_[at].below.nodes;
        begin.ids -= met_[at].below.ids;
        met_[at].begin = begin;
      }
    }
    for (const Placed& one : placed_) ids[met_[one.node].begin.ids++] = one.id;
  }

 private:
  struct Extent {
    std::uint32_t nodes = 0, ids = 0;
  };
  struct Met {
    Node node;
    std::uint32_t parent = 0;
    std::uint32_t child = 0;    // the one met last; 0: none
    std::uint32_t sibling = 0;  // met before
    std::uint32_t tokens = 0;
    Extent begin, below;  // where it stands; it and what is below it
  };
  struct Placed {
    std::uint32_t node = 0;
    Id id = 0;
  };

  std::vector<Met> met_;
  std::vector<Placed> placed_;
};

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_CLASS_TRIE_BUILDER_H_
