#ifndef PARLANCE_SRC_GRAMMAR_PRODUCTIVE_H_
#define PARLANCE_SRC_GRAMMAR_PRODUCTIVE_H_

// Which expressions of a grammar have a text at all.

#include <vector>

#include "rules/rules.h"

namespace parlance::grammar {

// By ExprId: false if no text fits the expression.  True for what only an
// automaton could decide: a regex, free text.  `empty_schemas`, by the index of
// a schema, says which schemas no JSON text fits.
// Complexity: O(size of the rules).
std::vector<bool> productive_exprs(const rules::Rules& rules,
                                   const std::vector<bool>& empty_schemas);

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_PRODUCTIVE_H_
