#ifndef PARLANCE_SRC_CFG_RECOGNISER_SIMPLIFY_NETWORK_H_
#define PARLANCE_SRC_CFG_RECOGNISER_SIMPLIFY_NETWORK_H_

// The same network with fewer places: what goes on alike is one place, whatever
// rule it was written in.
//
//   call ::= name "(" ws args ws ")"      the ends `ws ")"` are one
//   row  ::= "(" ws list ws ")"
//   list ::= x (ws "," ws x)*             behind the first x and behind any
//                                         other is one place
//
// Then items, contexts and states of a recogniser that differ in nothing but
// where they were written have equal numbers.

#include "cfg_recogniser/transition_network.h"

namespace parlance::cfg_recogniser {

// Numbers of states stay, but some are no longer led to.  What is part of a
// loop is only told apart from what is outside, not merged.  The texts of
// triggers (TransitionNetwork::trigger_texts) are no longer told apart.
//
// Complexity: O(states and their edges).
void simplify(TransitionNetwork& network);

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_SIMPLIFY_NETWORK_H_
