#ifndef PARLANCE_SRC_CFG_RECOGNISER_CLOSURES_H_
#define PARLANCE_SRC_CFG_RECOGNISER_CLOSURES_H_

// Closures: everything that follows from a set of items without reading.
// closure.h has the algorithm.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/work.h"
#include "cfg_recogniser/activations.h"
#include "cfg_recogniser/contexts.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/network_facts.h"
#include "cfg_recogniser/parts.h"
#include "cfg_recogniser/read_sets.h"
#include "cfg_recogniser/table_memory.h"

namespace parlance::cfg_recogniser {

// Computes closures.  It owns nothing but memory that they reuse; the contexts
// and activations that they make go into the tables.
class Closures {
 public:
  Closures(const NetworkFacts& facts, Contexts& contexts,
           Activations& activations, Parts& parts, ReadSets& read_sets,
           TableMemory& memory);
  ~Closures();

  // Replaces `items` by their closure.  Overwrites `trace`.
  void close(Items& items, Trace& trace);

 private:
  class Closure;
  // The stack of activations whose closures are being computed.
  struct Enclosing {
    Enclosing* outer = nullptr;
    ActivationId id = {};
    bool complete = false;  // it may end here, as far as is known so far
    bool asked = false;     // the closure has depended on `complete`
  };
  struct Closed {
    bool pure = true;         // Trace::pure
    std::uint32_t reach = 0;  // RuleActivation::reach
  };

  // `trace`: null inside an activation, whose items have no contexts but those
  // of the activation.
  Closed close(Items& items, Budget budget, std::size_t depth,
               Enclosing* inside, Trace* trace);
  // Computes the closure of activation `id` of `rule`, inside `outer`.  Returns
  // the id of the closed activation.
  ActivationId closed(ActivationId id, const NetworkRule& rule,
                      std::size_t depth, Enclosing* outer);

  // CfgRecogniserLimits::items.  A question has its own limit, of work.
  bool too_many(std::size_t items) const {
    return items > facts_.limits.items && !base::in_question();
  }

  const NetworkFacts& facts_;
  Contexts& contexts_;
  Activations& activations_;
  Parts& parts_;
  ReadSets& read_sets_;
  TableMemory& memory_;
  std::vector<std::unique_ptr<Closure>> reused_;  // by depth
  std::size_t closings_ = 0;  // closures of activations, for one closure
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_CLOSURES_H_
