#ifndef PARLANCE_TESTS_SUPPORT_LONG_NUMBERS_H_
#define PARLANCE_TESTS_SUPPORT_LONG_NUMBERS_H_

#include <cstddef>
#include <string_view>

namespace parlance::testing {

// The validator's numbers are exact as long as they are short: a number with a
// long run of digits, or an exponent of three digits, is left to other tests.
inline bool has_long_number(std::string_view text) {
  std::size_t run = 0;
  bool exponent = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      if (++run > (exponent ? 2u : 14u)) return true;
      continue;
    }
    const bool follows_digit = run > 0;
    if (c == '.') continue;  // the digits in front count too
    exponent = (exponent && (c == '+' || c == '-')) ||
               (follows_digit && (c == 'e' || c == 'E'));
    run = 0;
  }
  return false;
}

// Whether a number has more than 15 digits once its exponent is applied.  A
// reader that goes by a double then gives other last digits than an exact one.
inline bool has_number_beyond_double(std::string_view text) {
  std::size_t digits = 0;
  std::size_t exponent = 0;
  bool in_exponent = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      if (in_exponent) {
        exponent = 10 * exponent + static_cast<std::size_t>(c - '0');
      } else {
        ++digits;
      }
      if (digits + exponent > 15) return true;
    } else if (digits > 0 && !in_exponent && (c == 'e' || c == 'E')) {
      in_exponent = true;
    } else if (c != '.' && !(in_exponent && exponent == 0 && c == '+')) {
      digits = 0;
      exponent = 0;
      in_exponent = false;
    }
  }
  return false;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_LONG_NUMBERS_H_
