#ifndef PARLANCE_SRC_JSON_WRITER_H_
#define PARLANCE_SRC_JSON_WRITER_H_

// The parts of json::dump, for code that writes JSON piece by piece.

#include <string>
#include <string_view>

#include "parlance/json.h"

namespace parlance::json {

// Appends `text` as a JSON string with its quotes.  With `ascii`, characters
// beyond ASCII (and U+007F) become \u escapes; without, only surrogates do.
void append_string(std::string& out, std::string_view text, bool ascii = true);

// `text` as a JSON string with its quotes, as append_string() without `ascii`.
std::string quoted(std::string_view text);

// Appends `value` as Python's repr() has it; NaN, Infinity, -Infinity by name.
void append_float(std::string& out, double value);

// json::dump() without `ascii`, as JSON that every reader takes, e.g. the text
// of a call's arguments: an infinite number is 1e999, which is out of range for
// its reader as the number was that the model wrote (1e400), and NaN is null.
std::string standard_text(const Value& value);

}  // namespace parlance::json

#endif  // PARLANCE_SRC_JSON_WRITER_H_
