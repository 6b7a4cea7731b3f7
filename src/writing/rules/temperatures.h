#ifndef PARLANCE_SRC_RULES_TEMPERATURES_H_
#define PARLANCE_SRC_RULES_TEMPERATURES_H_

// The temperature of a rule as an inherited attribute (Knuth, Semantics of
// Context-Free Languages, 1968).
//
// A rule without a temperature has that of its caller, so in a text the
// temperature of a rule depends on the rules that are open.  A copy of the rule
// for each temperature that it can inherit makes it a property of the rule:
//
//   root ::= item hot                 root      ::= item hot
//   hot[temperature=0.9] ::= item     hot  0.9  ::= item'
//   item ::= "x"                      item      ::= "x"
//                                     item' 0.9 ::= "x"

#include <optional>

#include "rules/rules.h"

namespace parlance::rules {

// Whether some rule has a temperature.
bool has_temperatures(const Rules& rules);

// The rules that the root of `rules` uses, copied so that each has the
// temperature that the innermost open rule with a temperature gives it.  The
// language is the same, and so are the indices of everything but rules,
// expressions, free texts and token texts.  Null if the copies exceed `limits`.
// Complexity: O(expressions) for each temperature.
std::optional<Rules> inherit_temperatures(const Rules& rules,
                                          const RulesLimits& limits = {});

}  // namespace parlance::rules

#endif  // PARLANCE_SRC_RULES_TEMPERATURES_H_
