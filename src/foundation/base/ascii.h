#ifndef PARLANCE_SRC_BASE_ASCII_H_
#define PARLANCE_SRC_BASE_ASCII_H_

// Letters, digits and white space of ASCII, whatever the locale.  The functions
// take bytes as well as code points.

#include <algorithm>
#include <string_view>

namespace parlance::base {

constexpr bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }

constexpr bool is_letter(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The white space of JSON (and of several other formats): space, tab, line feed
// and carriage return.
constexpr bool is_space(char32_t c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The value of a hexadecimal digit, -1 for anything else.
constexpr int hex_digit(char32_t c) {
  if (is_digit(c)) return static_cast<int>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<int>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<int>(c - 'A') + 10;
  return -1;
}

// The small letter of a capital letter; any other byte as it is.
constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

// Whether `text` equals `lower_case` when to_lower() is applied to `text`.
constexpr bool equal_ignoring_case(std::string_view text,
                                   std::string_view lower_case) {
  return std::equal(text.begin(), text.end(), lower_case.begin(),
                    lower_case.end(),
                    [](char a, char b) { return to_lower(a) == b; });
}

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_ASCII_H_
