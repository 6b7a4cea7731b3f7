#ifndef PARLANCE_SRC_JSON_LAX_H_
#define PARLANCE_SRC_JSON_LAX_H_

// The lax dialects of response templates, which are defined as a rewriting of
// the whole text into JSON.
//
//   rewrite(R"({city:<|"|>Bern<|"|>})", dialect, is_word)
//       == R"({"city":"Bern"})"
//
// The strict reader reads the rewritten text, and error messages show it.  The
// text is therefore exactly upstream's, including its irregularities: a string
// that contains a string of an earlier pair still has the marks U+0001, U+0002
// in it, and a delimiter inside an ordinary string counts.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parlance::json {

// The deviations from JSON that response templates can allow (`content_args` of
// "content": "json").  By default none is allowed.
struct Dialect {
  // {a: 1} means {"a": 1}.
  bool unquoted_keys = false;

  // Pairs of markers that enclose strings in which nothing is escaped:
  // {"<|\"|>", "<|\"|>"} makes a string of <|"|>it's<|"|>.
  std::vector<std::pair<std::string, std::string>> string_delims = {};
};

// `is_word` decides which characters a key may consist of (\w of the pattern
// language, which the caller defines).  Nothing if the dialect has
// string_delims and `body` contains U+0001 or U+0002, which mark the positions
// of strings during the rewriting. Complexity: O(|body| * |string_delims|).
std::optional<std::string> rewrite(std::string_view body,
                                   const Dialect& dialect,
                                   bool (*is_word)(char32_t));

// The rewriting that response schemas call "gemma4-tool-call": strings are
// enclosed in <|"|>, and keys are unquoted.  Unlike rewrite(), it accepts every
// text: the positions of strings are marked with U+0000, and if `body` contains
// U+0000 as well, the marks are replaced one after the other, as upstream does.
// Nothing if that would take too long.
// Complexity: O(|body|), with U+0000 in it O(|body| * strings).
std::optional<std::string> rewrite_gemma_call(std::string_view body,
                                              bool (*is_word)(char32_t));

}  // namespace parlance::json

#endif  // PARLANCE_SRC_JSON_LAX_H_
