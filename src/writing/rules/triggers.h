#ifndef PARLANCE_SRC_RULES_TRIGGERS_H_
#define PARLANCE_SRC_RULES_TRIGGERS_H_

// The triggers of free text.
//
// A trigger is matched as soon as its last byte is read.  After a trigger that
// is a prefix of a longer one both continue: its own target, and the rest of
// the longer trigger.  Which triggers can never match:
// automata/shadowed_words.h.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rules.h"

namespace parlance::rules {

// A trigger and what follows it.
struct TriggerTarget {
  std::string text;
  ExprId after = kNoExpr;
};

// The triggers, sorted, equal ones joined.
std::vector<TriggerTarget> join_equal_triggers(
    std::vector<TriggerTarget> targets, Rules& rules);

}  // namespace parlance::rules

#endif  // PARLANCE_SRC_RULES_TRIGGERS_H_
