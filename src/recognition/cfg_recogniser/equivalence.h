#ifndef PARLANCE_SRC_CFG_RECOGNISER_EQUIVALENCE_H_
#define PARLANCE_SRC_CFG_RECOGNISER_EQUIVALENCE_H_

// Mask-equivalent configurations: see Recogniser::mask_equivalent().
//
// Which tokens can be read after `x` in a call does not depend on everything
// that encloses the call, only on what some token reaches by closing brackets.
// So while a mask is made, the contexts that are read are recorded.  Wherever
// these have the same contents, down to contexts that were not read, the mask
// is the same.

#include <span>

#include "cfg_recogniser/configuration_table.h"
#include "cfg_recogniser/decision_trees.h"
#include "cfg_recogniser/read_sets.h"
#include "cfg_recogniser/states.h"
#include "cfg_recogniser/table_memory.h"
#include "recogniser/configuration.h"

namespace parlance::cfg_recogniser {

// Owns what is known of each configuration; the trees of the states are among
// those of DecisionTrees.  The recogniser asks it for configurations that are
// alive, and outside the texts of schemas.
//
// Invariant: the configuration at a leaf represents all configurations of its
// state that reach the leaf.
class Equivalence {
 public:
  Equivalence(const Contexts& contexts, States& states, DecisionTrees& trees,
              ReadSets& read_sets, TableMemory& memory)
      : states_(states),
        trees_(trees),
        read_sets_(read_sets),
        memory_(memory),
        reads_(contexts) {}

  // A configuration with the same mask: the one that represents it, or itself.
  recogniser::Configuration representative(recogniser::Configuration config);
  // The mask of `config` depends on the contexts of these read sets only.
  void learn(recogniser::Configuration config,
             std::span<const ReadSetId> read_sets);
  // Tracks what the mask of `config` depends on; false if that is not known.
  bool track_mask_of(recogniser::Configuration config);

 private:
  States& states_;
  DecisionTrees& trees_;
  ReadSets& read_sets_;
  TableMemory& memory_;
  ConfigurationTable known_;  // representatives by state and frame
  ReadSet reads_;             // memory
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_EQUIVALENCE_H_
