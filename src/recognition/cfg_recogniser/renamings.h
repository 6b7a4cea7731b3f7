#ifndef PARLANCE_SRC_CFG_RECOGNISER_RENAMINGS_H_
#define PARLANCE_SRC_CFG_RECOGNISER_RENAMINGS_H_

// Closures up to renaming of contexts.
//
// One bracket further in, a state has another frame, and every transition that
// depends on the frame is a new one.  But its closure only asks whether two
// contexts are the same, and what is in some of them.  So the closure is
// computed once for all frames in which these answers are equal:
//
//   kernel     the items after the byte, with contexts as numbers (its shape)
//   questions  the contexts that the closure compared or read: a decision tree
//              (equivalence_tree.h) asks for their forms, and numbers what is
//              in them
//   renaming   the target, and the contexts made on the way, in terms of the
//              numbered contexts
//
// To follow a transition is then to walk a tree, to intern the few contexts
// that are made, and to intern a frame.
//
// A renaming depends on what was compared in vain, too.  A closure that drops
// nothing for that reason would be right in any frame, but not as small as it
// could be: what ambiguity piles up would no longer be found.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/block_vector.h"
#include "base/id.h"
#include "base/list_store.h"
#include "cfg_recogniser/contexts.h"
#include "cfg_recogniser/decision_trees.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/read_sets.h"
#include "cfg_recogniser/sites.h"
#include "cfg_recogniser/states.h"
#include "cfg_recogniser/table_memory.h"
#include "recogniser/configuration.h"

namespace parlance::cfg_recogniser {

// The items of a kernel with numbers in place of contexts.
using ShapeId = base::Id<struct ShapeTag>;

// A kernel by its shape, and what each of its numbers stands for: a context,
// or a slot of the state that the kernel follows.
class NumberedKernel {
 public:
  // The list by which kernels are interned: the shape, then what the numbers
  // stand for.
  std::span<const ContextId> list() const { return list_; }
  ShapeId shape() const { return ShapeId{list_.front().value()}; }
  std::span<const ContextId> contexts() const { return list().subspan(1); }
  ContextId context_of(const Item& item) const {
    return list_[item.context + 1];
  }

  // Replaces contexts or slots by numbers in the order of the items, which get
  // sorted.  The shape is set afterwards.  `met`: memory.
  void number(Items& items, ContextSet& met);
  void set_shape(ShapeId shape) { list_.front() = ContextId{shape.value()}; }
  void assign(std::span<const ContextId> list) {
    list_.assign(list.begin(), list.end());
  }
  // Replaces indices into `contexts` by these.
  void replace(std::span<const ContextId> contexts) {
    for (std::size_t i = 1; i < list_.size(); ++i) {
      list_[i] = contexts[list_[i]];
    }
  }

 private:
  std::vector<ContextId> list_ = {ContextId{}};
};

// Owns the shapes, and for each a decision tree whose leaves are renamings.
// Transitions asks for one before it computes a closure, and has one learnt
// from the trace of a closure.
//
// Invariant: a renaming never changes, and gives what the closure would give,
// wherever its leaf is reached.
class Renamings {
 public:
  Renamings(Contexts& contexts, States& states, Sites& sites,
            DecisionTrees& trees, ReadSets& read_sets, TableMemory& memory)
      : contexts_(contexts),
        states_(states),
        sites_(sites),
        trees_(trees),
        read_sets_(read_sets),
        memory_(memory),
        asked_(contexts),
        made_(contexts) {}

  ShapeId intern_shape(std::span<const Item> items);
  // Valid as long as the table.
  std::span<const Item> shape(ShapeId id) const { return shapes_[id]; }

  // What a renaming that is known makes of a kernel.
  std::optional<MadeOfKernel> rename(const NumberedKernel& kernel);
  // Learns how a closure has made `to` of a kernel, if that is a renaming.
  void learn(const NumberedKernel& kernel, recogniser::Configuration to,
             Trace& trace);

 private:
  // What a closure makes of contexts that it knows by number only.  Where a
  // context is expected, a number stands for that context, and local_context(i)
  // for the i-th context that is made.
  struct Renaming {
    struct Made {
      std::span<const Item> content = {};
      std::uint32_t loop = 1;  // this and the following refer to each other
    };
    bool pure = false;
    // The target: a state, or a configuration of the schema of `site`.
    recogniser::Configuration to = {};
    StateId site = {};
    std::span<const ContextId> frame = {};  // of the state, or of the site
    std::span<const ContextId> reads = {};
    std::span<const Made> made = {};
  };

  std::optional<MadeOfKernel> apply(const Renaming& renaming,
                                    DecisionTrees::Walk& walk);
  Renaming number_targets(recogniser::Configuration to, const Trace& trace,
                          DecisionTrees::Walk& walk);

  Contexts& contexts_;
  States& states_;
  Sites& sites_;
  DecisionTrees& trees_;
  ReadSets& read_sets_;
  TableMemory& memory_;

  ItemLists<ShapeId> shapes_;
  std::vector<DecisionTrees::Node> roots_;  // by shape
  base::BlockVector<Renaming> all_;
  // The lists of all renamings.
  base::ListStore<ContextId> number_lists_;
  base::ListStore<Item> item_lists_;
  base::ListStore<Renaming::Made> made_lists_;

  // Memory of learn().
  ReadSet asked_;
  std::vector<std::pair<ContextId, ContextId>> names_;
  std::vector<Renaming::Made> renaming_made_;
  Items items_;
  // Memory of apply(): the contexts that it made, and their contents.
  ContextSet made_;
  std::vector<Items> contents_;
  std::vector<ContextId> numbers_;  // of learn(), too
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_RENAMINGS_H_
