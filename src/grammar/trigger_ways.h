#ifndef PARLANCE_SRC_GRAMMAR_TRIGGER_WAYS_H_
#define PARLANCE_SRC_GRAMMAR_TRIGGER_WAYS_H_

// Triggers of free text that begin one another.
//
//   "<f" a,  "<f>" b     ->    "<f" (a | ">" b)
//
// A text reads a trigger as soon as it is there.  Behind one that begins a
// longer one both ways are open: to what it leads to, and to the rest of the
// longer one.  Equal triggers are one.

#include <string>
#include <vector>

#include "grammar/rules.h"

namespace parlance::grammar {

// A trigger and what follows it.
struct TriggerWay {
  std::string text;
  ExprId behind = kNoId;
};

// The triggers that no other begins, sorted, each with all that may follow it.
std::vector<TriggerWay> join_triggers(std::vector<TriggerWay> ways,
                                      Rules& rules);

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_TRIGGER_WAYS_H_
