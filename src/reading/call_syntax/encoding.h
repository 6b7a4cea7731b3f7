#ifndef PARLANCE_SRC_CALL_SYNTAX_ENCODING_H_
#define PARLANCE_SRC_CALL_SYNTAX_ENCODING_H_

// What the text of a token means.

#include <string>
#include <string_view>

#include "call_syntax/token.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance::call_syntax {

// Appends the characters that `text`, a stretch of a string, stands for.  A
// surrogate without its partner is three bytes, as json::parse() has it.
void append_text(std::string& out, std::string_view text, Encoding encoding);

// Appends the same characters as a JSON string has them, without quotes.
void append_json(std::string& out, std::string_view text, Encoding encoding);

// The value of a number or a word.
Result<json::Value> scalar_value(std::string_view text, Encoding encoding,
                                 const Limits& limits);

}  // namespace parlance::call_syntax

#endif  // PARLANCE_SRC_CALL_SYNTAX_ENCODING_H_
