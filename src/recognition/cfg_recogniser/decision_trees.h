#ifndef PARLANCE_SRC_CFG_RECOGNISER_DECISION_TREES_H_
#define PARLANCE_SRC_CFG_RECOGNISER_DECISION_TREES_H_

// Asks the questions of decision trees (equivalence_tree.h) about contexts.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cfg_recogniser/contexts.h"
#include "cfg_recogniser/equivalence_tree.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/read_sets.h"
#include "cfg_recogniser/table_memory.h"
#include "recogniser/configuration.h"

namespace parlance::cfg_recogniser {

// Owns the trees.  Equivalence has one for each state, Renamings one for each
// shape of a kernel; what a leaf stands for is theirs.
//
// Invariant: on one path of a tree, equal answers give equal numbers to the
// contexts that are met.  So a question, which is a number, means the same
// context to all who pass a node.
class DecisionTrees {
 public:
  using Node = EquivalenceTree::Id;
  static constexpr Node kNone = EquivalenceTree::kNone;

  DecisionTrees(Contexts& contexts, TableMemory& memory)
      : contexts_(contexts), memory_(memory), walk_(contexts), met_(contexts) {}

  // A walk down a tree.
  struct Walk {
    explicit Walk(const Contexts& contexts) : numbers(contexts) {}

    Node leaf = kNone;
    bool refined = false;  // a leaf became a node with a question
    // Contexts are numbered as they are met: first those given, then those
    // inside the contexts that were asked for.
    ContextSet numbers;
    // By number: what the nodes on the path asked of the context.
    enum class Asked : std::uint8_t { kNothing, kForm, kIdentity };
    std::vector<Asked> asked = {};
  };
  // The result is valid until the next walk.  Its leaf is kNone if the path
  // ends before a leaf.
  Walk& find(Node& root, std::span<const ContextId> contexts) {
    return walk(root, contexts, How::kFind, nullptr);
  }
  // Adds a path that asks for what is in `reads`, if the tree has none.  A new
  // leaf has no configuration yet.
  Walk& extend(Node& root, std::span<const ContextId> contexts,
               ReadSet& reads) {
    return walk(root, contexts, How::kExtend, &reads);
  }
  // As extend(), but a leaf whose path does not ask for all of the set becomes
  // a node that asks for the rest.  The value of that leaf is lost.
  Walk& refine(Node& root, std::span<const ContextId> contexts,
               ReadSet& reads) {
    return walk(root, contexts, How::kRefine, &reads);
  }

  // What a leaf stands for; dead: nothing yet.
  recogniser::Configuration& at(Node leaf) {
    return tree_.node(leaf).equivalent;
  }

 private:
  enum class How : std::uint8_t { kFind, kExtend, kRefine };
  Walk& walk(Node& root, std::span<const ContextId> contexts, How how,
             ReadSet* reads);
  std::uint32_t meet(ContextId context);
  bool add_question(Node at, ReadSet& reads, std::uint32_t& first);
  std::uint32_t answer(Node at, ReadSet* fresh);

  Contexts& contexts_;
  TableMemory& memory_;
  EquivalenceTree tree_;
  Walk walk_;
  // Memory of answer().
  std::vector<std::uint32_t> inside_;
  ContextSet met_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_DECISION_TREES_H_
