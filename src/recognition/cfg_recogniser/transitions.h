#ifndef PARLANCE_SRC_CFG_RECOGNISER_TRANSITIONS_H_
#define PARLANCE_SRC_CFG_RECOGNISER_TRANSITIONS_H_

// The transitions of states by bytes, each computed when it is first taken.
//
// The entry of a row is the next state, in the same frame; or kUnknown if it is
// not computed yet; or kByFrame | i if the frame decides, where i is the kernel
// after the byte.  What such a kernel makes in a frame is found by its
// contexts: many transitions lead to the same kernel in the same contexts.
// After `;` any statement is over.
//
// What is not found is made by the cheapest of three ways: by a renaming that
// is known (renamings.h), by parts (state_bases.h), by a closure.

#include <cstdint>
#include <span>

#include "base/block_vector.h"
#include "base/id.h"
#include "cfg_recogniser/configurations.h"
#include "cfg_recogniser/contexts.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/network_facts.h"
#include "cfg_recogniser/read_sets.h"
#include "cfg_recogniser/renamings.h"
#include "cfg_recogniser/scanner.h"
#include "cfg_recogniser/state_bases.h"
#include "cfg_recogniser/state_bytes.h"
#include "cfg_recogniser/states.h"
#include "cfg_recogniser/table_memory.h"
#include "recogniser/configuration.h"

namespace parlance::cfg_recogniser {

// Owns the kernels after bytes and what was made of kernels; writes the rows of
// states.  Called for configurations outside the texts of schemas.
//
// Invariant: an entry of a row holds in every frame, so it is a state only if
// the closure that made it was pure and stays in the frame.
class Transitions {
 public:
  Transitions(const NetworkFacts& facts, const Contexts& contexts,
              Scanner& scanner, States& states, Configurations& configurations,
              Renamings& renamings, StateBases& bases, StateBytes& bytes,
              ReadSets& read_sets, TableMemory& memory)
      : facts_(facts),
        scanner_(scanner),
        states_(states),
        configurations_(configurations),
        renamings_(renamings),
        bases_(bases),
        bytes_(bytes),
        read_sets_(read_sets),
        memory_(memory),
        met_(contexts),
        trace_(contexts) {}

  // The configuration after a byte.  REQUIRES: `config` is alive.
  recogniser::Configuration step(recogniser::Configuration config,
                                 std::uint8_t byte) {
    const std::uint32_t known = states_[config.lex].row[byte];
    if (known == 0) return {};
    if (known < kByFrame) return {known, config.frame, 0, 0};
    if (known == StateRow::kUnknown) return learn_step(config, byte);
    return step_in_frame(config.frame, KernelId{known & ~kByFrame});
  }

 private:
  static constexpr std::uint32_t kByFrame = 0x80000000;
  // A kernel after a byte, in any frame.
  using KernelId = base::Id<struct KernelTag>;

  recogniser::Configuration learn_step(recogniser::Configuration config,
                                       std::uint8_t byte);
  recogniser::Configuration learn_kernel(recogniser::Configuration config,
                                         std::uint8_t byte, Items& kernel);
  void begin_row(State& state);
  recogniser::Configuration step_in_frame(std::uint32_t frame, KernelId kernel);

  // What follows makes the configuration of a kernel.  `order`: of the slots,
  // if the closure is pure.
  MadeOfKernel find_or_make(const NumberedKernel& kernel,
                            std::span<const ContextId> order);
  // Made by parts; dead if the kernel has no parts.
  MadeOfKernel make_by_parts(const NumberedKernel& kernel,
                             std::span<const ContextId> order);
  MadeOfKernel make_part(const NumberedKernel& kernel, Items& part);
  // By a closure.  Overwrites trace_, which is that of the closure if the
  // result is alive.
  MadeOfKernel make_by_closure(const NumberedKernel& kernel,
                               std::span<const ContextId> order);
  // Fills contents_ with the items of a part and those that only read.  False
  // if one of these is in the place of another item, or if there are too many
  // to look at.
  bool merge_reading(Items& items, Items& reading);
  // Whether nothing follows from an item but what it reads.
  bool only_reads(const Item& item) const;

  const NetworkFacts& facts_;
  Scanner& scanner_;
  States& states_;
  Configurations& configurations_;
  Renamings& renamings_;
  StateBases& bases_;
  StateBytes& bytes_;
  ReadSets& read_sets_;
  TableMemory& memory_;

  // With the slot of each number in the state before the byte.
  ContextLists<KernelId> kernels_after_;
  // With the context of each number.  If the closure is pure, the order of the
  // slots of what was made is another's (States::reorder()).
  ContextLists<std::uint32_t> kernels_;
  base::BlockVector<MadeOfKernel> made_of_;  // by the latter

  // Memory of the functions above.  No one calls itself but find_or_make(), for
  // a part, which is not divided again; what that uses is apart.
  NumberedKernel kernel_by_slots_;
  NumberedKernel kernel_;
  NumberedKernel kernel_of_part_;
  Items scanned_;
  Items kernel_items_;
  Items reading_;
  Items others_;
  Items part_items_;
  States::Contents contents_;
  ContextSet met_;
  Trace trace_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_TRANSITIONS_H_
