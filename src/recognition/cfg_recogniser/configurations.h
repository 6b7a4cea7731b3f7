#ifndef PARLANCE_SRC_CFG_RECOGNISER_CONFIGURATIONS_H_
#define PARLANCE_SRC_CFG_RECOGNISER_CONFIGURATIONS_H_

// From items to configurations, and back.

#include <span>

#include "base/block_vector.h"
#include "cfg_recogniser/closures.h"
#include "cfg_recogniser/contexts.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/network_facts.h"
#include "cfg_recogniser/parts.h"
#include "cfg_recogniser/read_sets.h"
#include "cfg_recogniser/sites.h"
#include "cfg_recogniser/states.h"
#include "cfg_recogniser/table_memory.h"

namespace parlance::cfg_recogniser {

// Owns the configurations of kernels whose closures read contexts, and so
// depend on no order of slots.  A kernel is what a symbol leads to, before its
// closure.
class Configurations {
 public:
  Configurations(const NetworkFacts& facts, const Contexts& contexts,
                 Closures& closures, Parts& parts, Sites& sites, States& states,
                 ReadSets& read_sets, TableMemory& memory)
      : facts_(facts),
        closures_(closures),
        parts_(parts),
        sites_(sites),
        states_(states),
        read_sets_(read_sets),
        memory_(memory),
        trace_(contexts) {}

  // The configuration of a kernel, by its closure.  `slots` is the frame of the
  // configuration that this one follows, if any.  If only a schema's text can
  // continue, the configuration is that of the schema.  Overwrites `trace`.
  recogniser::Configuration make(std::span<const Item> kernel,
                                 std::span<const ContextId> slots,
                                 Trace& trace);
  // The same, if it was not made before.
  MadeOfKernel find_or_make(Items kernel,
                            std::span<const ContextId> slots = {});
  // The same without slots, for what follows a symbol that was read: the result
  // is tracked.
  recogniser::Configuration follow(Items kernel);

  // The items of a configuration, with contexts instead of slots; those of its
  // kernel.
  Items items_of(recogniser::Configuration config);
  Items kernel_of(recogniser::Configuration config);

 private:
  const NetworkFacts& facts_;
  Closures& closures_;
  Parts& parts_;
  Sites& sites_;
  States& states_;
  ReadSets& read_sets_;
  TableMemory& memory_;
  ItemLists<std::uint32_t> kernels_;
  base::BlockVector<MadeOfKernel> made_of_;  // by kernel
  // Memory.
  Trace trace_;
  States::Contents contents_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_CONFIGURATIONS_H_
