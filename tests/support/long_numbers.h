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

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_LONG_NUMBERS_H_
