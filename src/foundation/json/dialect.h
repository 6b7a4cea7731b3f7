#ifndef PARLANCE_SRC_JSON_DIALECT_H_
#define PARLANCE_SRC_JSON_DIALECT_H_

// The deviations from JSON that response templates can allow (`content_args` of
// "content": "json"), and one that only a family file can allow ("syntax":
// "python").  By default none is allowed.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parlance::json {

struct Dialect {
  // {a:1} means {"a":1}.
  bool unquoted_keys = false;

  // Pairs of markers that enclose strings in which nothing is escaped:
  // {"<|\"|>", "<|\"|>"} makes a string of <|"|>it's<|"|>.
  std::vector<std::pair<std::string, std::string>> string_delims = {};

  // None, True and False mean null, true and false, wherever they are whole
  // words outside strings and not unquoted keys.
  bool python_words = false;

  bool strict() const {
    return !unquoted_keys && string_delims.empty() && !python_words;
  }

  // The word of JSON that `word` means under python_words; nothing if it means
  // none.
  static constexpr std::string_view json_word(std::string_view word) {
    if (word == "None") return "null";
    if (word == "True") return "true";
    if (word == "False") return "false";
    return {};
  }
  // Whether `text` is the beginning of a word that json_word() knows.
  static constexpr bool begins_python_word(std::string_view text) {
    using namespace std::string_view_literals;
    return "None"sv.starts_with(text) || "True"sv.starts_with(text) ||
           "False"sv.starts_with(text);
  }
};

}  // namespace parlance::json

#endif  // PARLANCE_SRC_JSON_DIALECT_H_
