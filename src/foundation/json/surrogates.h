#ifndef PARLANCE_SRC_JSON_SURROGATES_H_
#define PARLANCE_SRC_JSON_SURROGATES_H_

// Surrogates without their partners, which a text of JSON or Python can spell
// and UTF-8 cannot encode.  In what a format file gives they are U+FFFD.

#include <cstddef>
#include <string>
#include <string_view>

#include "parlance/json.h"

namespace parlance::json {

// `text` with U+FFFD for each surrogate, which is three bytes.  With `pairs`,
// a high one and the low one after it are the character that they encode.
std::string without_surrogates(std::string_view text, bool pairs);
bool has_surrogates(std::string_view text);

// The same in all strings and keys of a value, with pairs.
void replace_surrogates(Value& value);

// The same for the escapes in the JSON text from `begin` to `end`, which keep
// their lengths.  REQUIRES: neither stands inside an escape or a pair.
void replace_surrogate_escapes(std::string& text, std::size_t begin,
                               std::size_t end);
// The size of the beginning of a JSON text without the escape at its end that
// is not whole, or whose partner may follow.  `begin` stands inside no escape.
std::size_t size_of_whole_escapes(std::string_view text, std::size_t begin);

}  // namespace parlance::json

#endif  // PARLANCE_SRC_JSON_SURROGATES_H_
