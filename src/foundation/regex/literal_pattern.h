#ifndef PARLANCE_SRC_REGEX_LITERAL_PATTERN_H_
#define PARLANCE_SRC_REGEX_LITERAL_PATTERN_H_

#include <string>
#include <string_view>

namespace parlance::regex {

// A pattern that matches `text` only.
std::string literal_pattern(std::string_view text);

// `text` with a backslash before each character of `special`.
std::string escaped(std::string_view text, std::string_view special);

}  // namespace parlance::regex

#endif  // PARLANCE_SRC_REGEX_LITERAL_PATTERN_H_
