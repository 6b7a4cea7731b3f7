#ifndef PARLANCE_SRC_CFG_RECOGNISER_SIMULATION_H_
#define PARLANCE_SRC_CFG_RECOGNISER_SIMULATION_H_

// Which contexts make others redundant.
//
// A context `b` subsumes `a` if for each item of `a` there is one of `b` in the
// same state whose context subsumes that of the first: then all that may follow
// in `a` may follow in `b`.  This is the largest simulation between contexts,
// which are a graph whose edges are items (Henzinger, Henzinger and Kopke,
// 1995).  It is sound for any grammar, and finds what left recursion and
// ambiguity pile up: after "1+1+1" in e ::= e "+" e | [0-9] there is one
// context of e, not a larger one for each "+".
//
// The simulation is computed coinductively.  A pair is assumed to hold while
// its items are compared, so cycles end.  A pair that fails does so in spite of
// the assumptions, so its failure is final.  A pair that holds is final once
// all assumed pairs hold.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/mix.h"
#include "base/reusable_set.h"
#include "cfg_recogniser/activations.h"
#include "cfg_recogniser/contexts.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/local_contexts.h"
#include "cfg_recogniser/read_sets.h"
#include "cfg_recogniser/transition_network.h"

namespace parlance::cfg_recogniser {

// Compares the contexts of one closure, local and interned ones.  Owns what is
// found out during that closure; what holds in any is stored in Contexts.
class Simulation {
 public:
  Simulation(const TransitionNetwork& network, Contexts& contexts,
             const Activations& activations, ReadSets& read_sets,
             LocalContexts& locals)
      : network_(network),
        contexts_(contexts),
        activations_(activations),
        read_sets_(read_sets),
        locals_(locals) {}

  // Begins with another closure, to whose trace the contexts are added that
  // results depend on; null: none.
  void begin(Trace* trace);

  // Drops items that others make redundant, and returns whether there were any.
  // REQUIRES: `items` is sorted.
  bool drop_redundant(Items& items);
  // A context that is equivalent to a local one and was interned before: one of
  // the contexts that the local one refers to.  kLocal if there is none.
  ContextId older_equal(std::uint32_t local);

 private:
  using Pair = std::pair<ContextId, ContextId>;
  struct PairHash {
    std::size_t operator()(std::uint64_t pair) const {
      std::uint64_t hash = 0;
      base::mix(hash, pair);
      return static_cast<std::size_t>(hash);
    }
  };

  bool covers(const Item& b, const Item& a) const;
  bool covers(const RuleActivation& b, const RuleActivation& a,
              const NetworkRule& rule) const;
  bool subsumed(ContextId a, ContextId b);
  bool holds(ContextId a, ContextId b);
  std::uint16_t& assumption(ContextId a, ContextId b);
  bool take_compared(ReadSetId read_set);
  ReadSetId compared_since(std::size_t mark);
  void record_pairs();

  const TransitionNetwork& network_;
  Contexts& contexts_;
  const Activations& activations_;
  ReadSets& read_sets_;
  LocalContexts& locals_;
  Trace* trace_ = nullptr;

  // Of the closure.  Pairs of contexts whose second subsumes the first, if that
  // is in the read set already; by pair_key().
  base::ReusableSet<std::uint64_t, PairHash> recorded_pairs_;
  std::size_t pairs_of_all_ = 0;  // compared before

  // Of one subsumed(): the pairs for which the answer yes is assumed, and those
  // for which it was known.
  std::vector<Pair> assumed_;
  std::vector<Pair> taken_;
  // By hash of a pair, its index in assumed_, from 1.  An entry is void if
  // another pair is there.  And the entries that are not 0.
  std::array<std::uint16_t, 512> assumed_at_{};
  std::vector<std::uint16_t> assumed_entries_;
  // The contexts that were compared, in order, with repetitions.
  std::vector<ContextId> compared_;
  bool too_many_compared_ = false;
  std::size_t pairs_ = 0;
  std::size_t items_ = 0;  // of the contexts that were compared
  bool gave_up_ = false;

  std::vector<bool> gone_;  // of drop_redundant(): memory
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_SIMULATION_H_
