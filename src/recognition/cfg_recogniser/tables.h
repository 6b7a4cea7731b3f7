#ifndef PARLANCE_SRC_CFG_RECOGNISER_TABLES_H_
#define PARLANCE_SRC_CFG_RECOGNISER_TABLES_H_

// All that a recogniser has learnt: the list in cfg_recogniser.h.

#include <cstddef>
#include <memory>
#include <utility>

#include "cfg_recogniser/activations.h"
#include "cfg_recogniser/cfg_recogniser.h"
#include "cfg_recogniser/closures.h"
#include "cfg_recogniser/configurations.h"
#include "cfg_recogniser/contexts.h"
#include "cfg_recogniser/decision_trees.h"
#include "cfg_recogniser/equivalence.h"
#include "cfg_recogniser/network_facts.h"
#include "cfg_recogniser/parts.h"
#include "cfg_recogniser/read_sets.h"
#include "cfg_recogniser/renamings.h"
#include "cfg_recogniser/scanner.h"
#include "cfg_recogniser/sites.h"
#include "cfg_recogniser/state_bases.h"
#include "cfg_recogniser/state_bytes.h"
#include "cfg_recogniser/states.h"
#include "cfg_recogniser/table_memory.h"
#include "cfg_recogniser/transitions.h"

namespace parlance::cfg_recogniser {

// Each refers to those before it, and none to those after it.
struct CfgRecogniser::Tables {
  Tables(CfgRecogniser& owner, const std::size_t& room,
         std::shared_ptr<const NetworkFacts> shared, const Languages& languages,
         PartTables part_tables)
      : facts(std::move(shared)),
        memory(owner, room, facts->limits.bytes / 2, facts->bytes),
        parts(owner, *facts, languages, std::move(part_tables), memory) {}

  const std::shared_ptr<const NetworkFacts> facts;
  TableMemory memory;
  Parts parts;
  Contexts contexts{memory};
  ReadSets read_sets{memory};
  Activations activations{*facts, memory};
  Closures closures{*facts, contexts, activations, parts, read_sets, memory};
  Scanner scanner{*facts, parts, activations};
  States states{*facts, contexts, memory};
  Sites sites{*facts, parts, memory};
  Configurations configurations{*facts, contexts, closures,  parts,
                                sites,  states,   read_sets, memory};
  DecisionTrees trees{contexts, memory};
  Equivalence equivalence{contexts, states, trees, read_sets, memory};
  Renamings renamings{contexts, states, sites, trees, read_sets, memory};
  StateBases bases{*facts, contexts, states, memory};
  StateBytes bytes{*facts, parts, activations, scanner, states, memory};
  Transitions transitions{*facts,         contexts,  scanner, states,
                          configurations, renamings, bases,   bytes,
                          read_sets,      memory};
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_TABLES_H_
