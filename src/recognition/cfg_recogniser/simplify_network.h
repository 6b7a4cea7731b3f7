#ifndef PARLANCE_SRC_CFG_RECOGNISER_SIMPLIFY_NETWORK_H_
#define PARLANCE_SRC_CFG_RECOGNISER_SIMPLIFY_NETWORK_H_

// Merges states of a transition network that have the same continuations,
// whatever rule they were written in: the minimisation of an acyclic automaton
// from its ends (Revuz, 1992), with cycles left as they are.
//
//   call ::= name "(" ws args ws ")"      the ends `ws ")"` are merged
//   row  ::= "(" ws list ws ")"
//   list ::= x (ws "," ws x)*             the states after the first x and
//   after
//                                         any other x are merged
//
// Items, contexts and states of a recogniser that differ only in where they
// were written then have equal ids.

#include "cfg_recogniser/transition_network.h"

namespace parlance::cfg_recogniser {

// State ids do not change, but some states become unreachable.  States of
// cycles are not merged with each other.  Triggers that differ only in their
// texts (TransitionNetwork::trigger_texts) may be merged.
//
// Complexity: O(states and their edges).
void simplify(TransitionNetwork& network);

// Makes tries of texts that are alternatives of each other, where there are
// many: 5,000 keywords are 5,000 items at their first byte, and a trie of them
// has as many items as they have first bytes.
//
//   "for" | "from" | "of" ...    "f" -> ( "or" | "rom" )    "of"
//
// Complexity: O(epsilon transitions + bytes of the texts).
// REQUIRES: simplify() was called, so that epsilon transitions are sorted.
void share_prefixes(TransitionNetwork& network);

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_SIMPLIFY_NETWORK_H_
