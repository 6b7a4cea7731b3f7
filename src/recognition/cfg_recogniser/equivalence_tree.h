#ifndef PARLANCE_SRC_CFG_RECOGNISER_EQUIVALENCE_TREE_H_
#define PARLANCE_SRC_CFG_RECOGNISER_EQUIVALENCE_TREE_H_

// Decision trees that find, by a few questions about the contexts of a
// configuration, a configuration that is known to have the same mask.
//
// Contexts are numbered as they are met: first those that the configuration
// itself refers to, then those inside the contexts that were asked for.  A
// question is such a number.  The answer is the canonical form of that context
// and the numbers of the contexts inside it, new or known ones.
//
//   configuration at `)` in  f(g(x    context 0: the rest of g's call
//     ask 0 → form "rest of a call", inside it 1 (new)
//     ask 1 → form "rest of a call", inside it 2 (new); 2 makes no difference
//   a leaf: the first configuration with exactly these answers
//
// The answers of most nodes are few, and searched one by one.  Where a context
// holds a count there are as many as the count has values; these are hashed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/block_vector.h"
#include "base/hashed_ids.h"
#include "base/id.h"
#include "base/list_store.h"
#include "base/mix.h"
#include "recogniser/configuration.h"

namespace parlance::cfg_recogniser {

class EquivalenceTree {
 public:
  using Id = base::Id<struct EquivalenceTreeNode>;
  static constexpr Id kNone{0xFFFFFFFF};
  // No question; no edge.
  static constexpr std::uint32_t kNo = 0xFFFFFFFF;

  // A node without a question is a leaf, or was just added.
  struct Node {
    std::uint32_t question = kNo;
    recogniser::Configuration equivalent = {};  // of a leaf; dead elsewhere
    bool by_identity = false;       // asks for the context itself, not its form
    std::uint32_t last_edge = kNo;  // in edges_
    std::uint32_t edges = 0;
  };

  Id add() {
    nodes_.push_back({});
    return Id{nodes_.size() - 1};
  }
  Node& node(Id id) { return nodes_[id]; }

  // The child for an answer; kNone if that answer is new.
  Id find(Id from, std::uint32_t form,
          std::span<const std::uint32_t> inside) const {
    if (nodes_[from].edges > kFew) {
      const auto known =
          hashed_.find(hash(from, form, inside), [&](std::uint32_t id) {
            return edges_[id].from == from && answers(edges_[id], form, inside);
          });
      return known ? edges_[*known].to : kNone;
    }
    for (std::uint32_t i = nodes_[from].last_edge; i != kNo;
         i = edges_[i].before) {
      if (answers(edges_[i], form, inside)) return edges_[i].to;
    }
    return kNone;
  }
  // Adds a child.  REQUIRES: find() returns kNone for the answer.
  Id add(Id from, std::uint32_t form, std::span<const std::uint32_t> inside) {
    const Id to = add();
    Node& node = nodes_[from];
    edges_.push_back({from, form, to, node.last_edge, inside_.add(inside)});
    node.last_edge = static_cast<std::uint32_t>(edges_.size() - 1);
    if (++node.edges == kFew + 1) {
      for (std::uint32_t i = node.last_edge; i != kNo; i = edges_[i].before) {
        hashed_.add(hash(edges_[i]), i);
      }
    } else if (node.edges > kFew) {
      hashed_.add(hash(edges_[node.last_edge]), node.last_edge);
    }
    return to;
  }
  static std::size_t bytes_of(std::size_t inside) {
    return sizeof(Node) + sizeof(Edge) + inside * sizeof(std::uint32_t);
  }

 private:
  static constexpr std::uint32_t kFew = 8;

  struct Edge {
    Id from = {};
    std::uint32_t form = 0;
    Id to = {};
    std::uint32_t before = kNo;  // another edge of the same node, in edges_
    std::span<const std::uint32_t> inside = {};
  };

  static bool answers(const Edge& edge, std::uint32_t form,
                      std::span<const std::uint32_t> inside) {
    return edge.form == form && std::ranges::equal(edge.inside, inside);
  }
  static std::uint64_t hash(Id from, std::uint32_t form,
                            std::span<const std::uint32_t> inside) {
    std::uint64_t hash = from;
    base::mix(hash, form);
    for (const std::uint32_t number : inside) base::mix(hash, number);
    return hash;
  }
  static std::uint64_t hash(const Edge& edge) {
    return hash(edge.from, edge.form, edge.inside);
  }

  base::BlockVector<Node> nodes_;
  base::BlockVector<Edge> edges_;
  base::HashedIds<std::uint32_t> hashed_;  // of nodes with many edges
  base::ListStore<std::uint32_t> inside_;  // of all edges
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_EQUIVALENCE_TREE_H_
