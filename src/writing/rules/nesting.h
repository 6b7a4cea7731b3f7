#ifndef PARLANCE_SRC_RULES_NESTING_H_
#define PARLANCE_SRC_RULES_NESTING_H_

// How deep lazy and limited rules are nested without recursion.

#include <cstddef>
#include <optional>

#include "rules/rules.h"

namespace parlance::rules {

// A rule in which more than `most` lazy and limited rules are nested, itself
// included, without any of them inside itself.  An over-approximation: some may
// end together with the rule outside.  For those inside themselves there is
// find_nesting().
std::optional<RuleId> find_deep_nesting(const Rules& rules, std::size_t most);

}  // namespace parlance::rules

#endif  // PARLANCE_SRC_RULES_NESTING_H_
