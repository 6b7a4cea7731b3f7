#ifndef PARLANCE_SRC_CALL_SYNTAX_JSON_VALUES_H_
#define PARLANCE_SRC_CALL_SYNTAX_JSON_VALUES_H_

// Whole texts of JSON, by its scanner.

#include <string>
#include <vector>

#include "call_syntax/json_scanner.h"
#include "call_syntax/token.h"
#include "parlance/error.h"

namespace parlance::call_syntax {

// `input`, which is one value in a dialect, as JSON.  From the first damage on
// it is as it was written, so that it is no JSON, and errors can show it.
// Complexity: O(size).
std::string plain_json(const Input& input, const JsonDialect& dialect);

// Where the values of `input` are: the items of the list that it is, if `list`
// and it is one, else the values one after another, by `dialect`.  Other text
// and damaged values have places, too.  Positions count from input.text[0].
// Complexity: O(size).
std::vector<Span> json_items(const Input& input, const JsonDialect& dialect,
                             bool list);

}  // namespace parlance::call_syntax

#endif  // PARLANCE_SRC_CALL_SYNTAX_JSON_VALUES_H_
