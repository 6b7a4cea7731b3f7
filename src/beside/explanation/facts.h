#ifndef PARLANCE_SRC_EXPLANATION_FACTS_H_
#define PARLANCE_SRC_EXPLANATION_FACTS_H_

// The parts of which to_json() and the page make their facts.

#include <string>
#include <string_view>

#include "parlance/explain.h"
#include "parlance/json.h"

namespace parlance::explanation {

// What was read, and how it ended.
json::Object head_facts(const Explanation& explanation);

// A row of the text `all`.  If `all` is null, only what equal rows have in
// common: no text, and no place unless the row is a remark.
json::Object row_facts(const ExplanationRow& row, const std::string* all);

// Tokens (with `tokens`), diagnostics and the failure.
void add_tail_facts(const Explanation& explanation, bool tokens,
                    json::Object& out);

// Two hexadecimal digits for each byte.
std::string hex(std::string_view bytes);

}  // namespace parlance::explanation

#endif  // PARLANCE_SRC_EXPLANATION_FACTS_H_
