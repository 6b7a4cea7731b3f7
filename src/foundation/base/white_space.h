#ifndef PARLANCE_SRC_BASE_WHITE_SPACE_H_
#define PARLANCE_SRC_BASE_WHITE_SPACE_H_

// White space of Unicode and of ASCII.

#include <algorithm>
#include <string_view>

namespace parlance::base {

// Whether `c` has the property White_Space (Unicode 15, PropList.txt).
constexpr bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// The white space of ASCII.  Where it is nobody's, beside calls and ends of
// turn, it is layout; JSON has four of these characters (ascii.h).
inline constexpr std::string_view kAsciiSpace = " \t\n\r\f\v";

constexpr bool is_ascii_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Whether `text` has no other characters.
constexpr bool is_blank(std::string_view text) {
  return std::ranges::all_of(text, is_ascii_space);
}

// `text` without the white space of ASCII at its end.
constexpr std::string_view without_space_after(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kAsciiSpace) + 1);
}

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_WHITE_SPACE_H_
