#ifndef PARLANCE_SRC_CFG_RECOGNISER_ACTIVATIONS_H_
#define PARLANCE_SRC_CFG_RECOGNISER_ACTIVATIONS_H_

// The activations of lazy and limited rules: see cfg_recogniser.h.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/id.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/network_facts.h"
#include "cfg_recogniser/table_memory.h"
#include "rules/rules.h"

namespace parlance::cfg_recogniser {

// What an activation may still read; kUnbounded: no budget.
struct Budget {
  std::uint32_t chars = rules::kUnbounded;
  std::uint32_t tokens = rules::kUnbounded;
  bool exhausted() const { return chars == 0 || tokens == 0; }
  bool operator==(const Budget&) const = default;
};

// Whether an activation can still read something or end: always, or only if
// an enclosing activation can (bit 0 of `outward`: the next enclosing one).
struct Reading {
  bool always = false;
  std::uint64_t outward = 0;
  bool any() const { return always || outward != 0; }
};

// An activation of a lazy or limited rule, interned.
//
// The item that calls such a rule has as its `inner`: 0 before the activation
// begins; the id of the activation; or kOutward | n if the activation is the
// n-th enclosing one, counted from the innermost, 1 (a de Bruijn index).
//
// An activation that begins inside another of the same rule, at the same
// position and with the same budget, accepts the same texts and ends at the
// same positions, so it is represented by that one.  Hence a rule that calls
// itself without reading makes a cycle, not an infinite descent.
struct RuleActivation {
  Budget budget = {};
  Items kernel = {};
  Reading left = {};  // of the kernel
  // The closure of the kernel; valid once `closed`.
  bool closed = false;
  bool whole = false;     // the rule may end here, its marker included
  bool body_end = false;  // the body of the rule may end here
  // How many enclosing activations the closure depends on.
  std::uint32_t reach = 0;
  Items items = {};
  Reading reading = {};  // of the items

  // Whether the activation, which is one of `rule`, may end here.
  bool is_complete(const NetworkRule& rule) const {
    return whole ||
           (body_end && (rule.options.marker_optional || budget.exhausted()));
  }
};
using ActivationId = base::Id<RuleActivation>;  // 0: none

inline constexpr std::uint32_t kOutward = 0x80000000;
inline constexpr std::uint32_t kMostOutward = 64;
inline bool is_outward(const Item& item) {
  return (item.inner & kOutward) != 0;
}

// Owns the activations.  Closures add and close them; scans advance them.
//
// Invariant: the budget and the kernel of an activation never change, nor does
// its closure once it is closed.  An activation whose closure depends on
// enclosing ones has that closure from the beginning, as part of its identity;
// of any other there is one by budget and kernel.
class Activations {
 public:
  Activations(const NetworkFacts& facts, TableMemory& memory);

  // Valid as long as the table, which never moves them.
  const RuleActivation& operator[](ActivationId id) const { return all_[id]; }
  // The one that a call has as its `inner`.
  const RuleActivation& of(const Item& call) const { return all_[call.inner]; }

  // `kernel` need not be sorted.
  ActivationId intern(Budget budget, Items kernel) {
    return intern(budget, std::move(kernel), nullptr);
  }
  // An activation whose closure depends on enclosing ones.
  ActivationId intern_closed(const RuleActivation& one) {
    return intern(one.budget, one.kernel, &one);
  }
  // Stores the closure of an activation that was not closed.
  void close(ActivationId id, RuleActivation closed);

  // Whether an item is a call with an activation of its own.
  bool begun(const Item& item) const {
    return item.inner != 0 && !is_outward(item) &&
           facts_.state_of(item).action == Action::kCall;
  }
  // Whether items can read or end, by `inside` of their activations.
  Reading reading_of(const Items& items, Reading RuleActivation::*inside) const;
  // All activations in `items`, nested ones included, without duplicates.
  std::vector<ActivationId> nested_in(const Items& items) const;

 private:
  ActivationId intern(Budget budget, Items kernel,
                      const RuleActivation* closed);

  const NetworkFacts& facts_;
  TableMemory& memory_;
  std::deque<RuleActivation> all_;
  std::unordered_map<std::string, ActivationId> id_of_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_ACTIVATIONS_H_
