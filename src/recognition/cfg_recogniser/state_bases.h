#ifndef PARLANCE_SRC_CFG_RECOGNISER_STATE_BASES_H_
#define PARLANCE_SRC_CFG_RECOGNISER_STATE_BASES_H_

// States that are another state and a few literals.
//
// While a keyword may also be a name, each of its letters makes a kernel of its
// own, and what follows the name is the same in all of them.  So only the items
// from which something follows are a kernel with renamings, the *part*; those
// that only read are added to what is made of it.
//
//   after "wh"     read more of the name, or end it | read "ile"
//   after "whi"    read more of the name, or end it | read "le"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/block_vector.h"
#include "base/list_store.h"
#include "cfg_recogniser/contexts.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/network_facts.h"
#include "cfg_recogniser/renamings.h"
#include "cfg_recogniser/states.h"
#include "cfg_recogniser/table_memory.h"
#include "recogniser/configuration.h"

namespace parlance::cfg_recogniser {

// Owns the bases, to which states point, and remembers which state was made of
// a part and literals.  Transitions asks it when it makes a configuration by
// parts.
class StateBases {
 public:
  StateBases(const NetworkFacts& facts, const Contexts& contexts,
             States& states, TableMemory& memory)
      : facts_(facts), states_(states), memory_(memory), slots_(contexts) {}

  // Notes how `to` was made of a part of a kernel of `shape`, if what was added
  // are a few literals.
  void note(ShapeId shape, const MadeOfKernel& part,
            std::span<const Item> literals, recogniser::Configuration to);
  // What was noted, if it was in other contexts; dead if it was not, or if
  // these contexts are not alike.
  recogniser::Configuration find(ShapeId shape, const MadeOfKernel& part,
                                 std::span<const Item> literals);
  // The configuration of the base of the state of `config`; dead if it has
  // none.
  recogniser::Configuration base_of(recogniser::Configuration config);

 private:
  const NetworkFacts& facts_;
  States& states_;
  TableMemory& memory_;
  base::BlockVector<StateBase> bases_;
  base::ListStore<std::uint32_t> slot_lists_;
  // By shape and state of the part: the state that was made of them, whose base
  // is the part.  That the contexts are alike is checked by find().
  std::unordered_map<std::uint64_t, LexId> made_of_;
  // Memory.
  std::vector<ContextId> frame_;
  PerContext<std::uint32_t> slots_;  // in frame_, of the contexts that it has
  std::vector<std::uint32_t> numbers_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_STATE_BASES_H_
