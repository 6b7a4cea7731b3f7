#ifndef PARLANCE_SRC_JSON_LAX_H_
#define PARLANCE_SRC_JSON_LAX_H_

// The lax dialects of response templates, which are defined as a rewriting of
// the whole text into JSON.
//
//   rewrite(R"({city:<|"|>Bern<|"|>})", dialect, is_word)
//       == R"({"city":"Bern"})"
//
// The text that comes out is read by the strict reader, and error messages
// show it, so it is exactly upstream's, oddities included: a string that holds
// an earlier pair's string keeps the marks U+0001, U+0002 in it; keys are also
// quoted inside ordinary strings.

#include <optional>
#include <string>
#include <string_view>

#include "json/dialect.h"

namespace parlance::json {

// `is_word` says which characters a key may consist of (\w of the pattern
// language, which is not this room's to know).  Nothing if the dialect has
// string_delims and `body` contains U+0001 or U+0002, which mark the places of
// strings on the way.
// Complexity: O(|body| * |string_delims|).
std::optional<std::string> rewrite(std::string_view body,
                                   const Dialect& dialect,
                                   bool (*is_word)(char32_t));

// The rewriting that response schemas call "gemma4-tool-call": strings stand
// between <|"|> marks, keys are unquoted.  Unlike above every text has an
// answer: the places of strings are marked with U+0000, and where `body` holds
// that too, marks are replaced one after the other, as upstream does.  Nothing
// if that would take too long.
// Complexity: O(|body|), with U+0000 in it O(|body| * strings).
std::optional<std::string> rewrite_gemma_call(std::string_view body,
                                              bool (*is_word)(char32_t));

}  // namespace parlance::json

#endif  // PARLANCE_SRC_JSON_LAX_H_
