#ifndef PARLANCE_SRC_CFG_RECOGNISER_EQUIVALENCE_TREE_H_
#define PARLANCE_SRC_CFG_RECOGNISER_EQUIVALENCE_TREE_H_

// Which places of a text are known to be alike, by a few questions about what
// is around them.
//
// Around a place stand things that are numbered as they are met: first those
// that it names itself, then what is in those that were asked about.  A
// question is such a number, and the answer is the thing's form and what is in
// it: new things, or ones that have a number.
//
//   place of `)` in  f(g(x    things 0: rest of g's call
//     ask 0 → form "rest of a call", in it 1 (new)
//     ask 1 → form "rest of a call", in it 2 (new)    and 2 makes no difference
//   a leaf: the first place for which all answers were so

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "recogniser/recogniser.h"

namespace parlance::cfg_recogniser {

class EquivalenceTree {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNone = 0xFFFFFFFF;

  // A node without a question is a leaf, or one that was just made.
  struct Node {
    std::uint32_t question = kNone;
    recogniser::Configuration equivalent = {};  // of a leaf; else dead
    bool by_identity = false;  // asks which thing it is, not for its form
  };

  Id add() {
    nodes_.emplace_back();
    edges_.emplace_back();
    return static_cast<Id>(nodes_.size() - 1);
  }
  Node& node(Id id) { return nodes_[id]; }

  // Where the answer leads, kNone if it never came.
  Id find(Id from, std::uint32_t form,
          std::span<const std::uint32_t> inside) const {
    for (const Edge& edge : edges_[from]) {
      if (edge.form == form && std::ranges::equal(edge.inside, inside)) {
        return edge.to;
      }
    }
    return kNone;
  }
  // REQUIRES: it never came.
  Id add(Id from, std::uint32_t form, std::span<const std::uint32_t> inside) {
    const Id to = add();
    edges_[from].push_back({form, to, {inside.begin(), inside.end()}});
    return to;
  }
  static std::size_t bytes_of(std::size_t inside) {
    return sizeof(Node) + sizeof(std::vector<Edge>) + sizeof(Edge) + 32 +
           inside * sizeof(std::uint32_t);
  }

 private:
  struct Edge {
    std::uint32_t form = 0;
    Id to = 0;
    std::vector<std::uint32_t> inside;
  };

  std::vector<Node> nodes_;
  std::vector<std::vector<Edge>> edges_;  // by node
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_EQUIVALENCE_TREE_H_
