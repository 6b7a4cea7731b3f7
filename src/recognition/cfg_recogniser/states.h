#ifndef PARLANCE_SRC_CFG_RECOGNISER_STATES_H_
#define PARLANCE_SRC_CFG_RECOGNISER_STATES_H_

// States and frames, the two halves of a configuration: see cfg_recogniser.h.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "automata/byte_classes.h"
#include "base/block_vector.h"
#include "base/byte_set.h"
#include "base/hashed_ids.h"
#include "base/id.h"
#include "cfg_recogniser/contexts.h"
#include "cfg_recogniser/equivalence_tree.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/network_facts.h"
#include "cfg_recogniser/read_sets.h"
#include "cfg_recogniser/state_row.h"
#include "cfg_recogniser/table_memory.h"
#include "recogniser/configuration.h"

namespace parlance::cfg_recogniser {

using LexId = base::Id<struct State>;  // Configuration::lex, outside schemas
using FrameId = base::Id<struct FrameTag>;  // Configuration::frame, likewise

// What a state was made of, if it has a few literals more (state_bases.h):
// after any other byte than theirs it is as if they had not been there.
struct StateBase {
  LexId lex = {};
  std::span<const std::uint32_t> slots = {};  // of the state, by base's slot
  std::uint32_t frame_size = 0;               // slots of the state
  base::ByteSet others = {};                  // the next bytes of the literals
};

// A set of items over slots: a state of the lazily built automaton.
struct State {
  Items items;
  Items kernel;  // what `items` is the closure of, if tokens are counted
  bool can_end = false;

  // Of Transitions.
  StateRow row;
  bool row_begun = false;
  bool only_literals = false;       // once the row is begun
  const StateBase* base = nullptr;  // of StateBases; null: none

  // Of StateBytes.  The representative of each byte's class; null: not yet
  // computed.
  std::unique_ptr<automata::ByteTable> byte_classes;
  // readable(), once asked for; nothing in an activation.
  bool readable_known = false;
  std::optional<base::ByteSet> readable;
  // repeatable(), once known.
  bool repeatable_known = false;
  base::ByteSet repeatable = {};

  // NetworkRule::temperature of the hottest item, once known.
  std::optional<std::uint32_t> temperature;
  // Of Equivalence: the root of the decision tree, if any.
  EquivalenceTree::Id equivalence_root = EquivalenceTree::kNone;
};

// A configuration that was made, and what it depends on.
struct MadeOfKernel {
  recogniser::Configuration to = {};
  ReadSetId read_set = {};  // the contexts that it depends on
  bool pure = false;        // it was made without reading a context
};

// Owns the states and the frames.  Whatever makes a configuration interns it
// here; everything reads it.
//
// Invariant: equal sets of items have one id, and so have equal frames; neither
// ever changes or moves.  What else is in a State is a memo of the class that
// is named there.
class States {
 public:
  States(const NetworkFacts& facts, const Contexts& contexts,
         TableMemory& memory);

  // Valid as long as the table.
  State& operator[](std::uint32_t lex) { return states_[lex]; }
  const State& operator[](std::uint32_t lex) const { return states_[lex]; }
  // The contexts of a frame by slot.  Valid as long as the table.
  std::span<const ContextId> frame(std::uint32_t id) const {
    return frames_[FrameId{id}];
  }
  FrameId intern_frame(std::span<const ContextId> contexts);

  // What a configuration consists of, with contexts instead of slots.
  struct Contents {
    Items items = {};
    Items kernel = {};  // as State::kernel
  };
  // The configuration of `contents`, whose contexts become slots.
  //
  // `pure`: whether no context was read.  A pure closure keeps the order of the
  // preceding frame, `slots`, so that the same state results in all frames,
  // which is what makes rows valid for all of them.
  recogniser::Configuration intern(Contents& contents, bool pure,
                                   std::span<const ContextId> slots);
  // The same configuration, with the slots in the order of those before.
  // REQUIRES: it is alive, and not inside the text of a schema.
  recogniser::Configuration reorder(recogniser::Configuration config,
                                    std::span<const ContextId> slots);
  // REQUIRES: as for reorder().
  void contents_of(recogniser::Configuration config, Contents& out) const {
    put_in_frame(states_[config.lex].items, config.frame, out.items);
    put_in_frame(states_[config.lex].kernel, config.frame, out.kernel);
  }
  // Overwrites `out` with items of a state, with the contexts of a frame.
  void put_in_frame(const Items& of_state, std::uint32_t frame_id,
                    Items& out) const {
    const std::span<const ContextId> contexts = frame(frame_id);
    out = of_state;
    for (Item& item : out) item.context = contexts[item.context];
  }

 private:
  LexId intern_state(const Contents& contents);

  const NetworkFacts& facts_;
  TableMemory& memory_;
  base::BlockVector<State> states_;
  base::HashedIds<LexId> state_of_;
  ContextLists<FrameId> frames_;
  // Memory of intern() and reorder().
  ContextSet used_;
  ContextSet slots_;
  Contents reordered_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_STATES_H_
