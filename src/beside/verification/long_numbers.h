#ifndef PARLANCE_SRC_VERIFICATION_LONG_NUMBERS_H_
#define PARLANCE_SRC_VERIFICATION_LONG_NUMBERS_H_

#include <cmath>
#include <cstddef>
#include <string_view>

#include "base/python_number.h"

namespace parlance::verification {

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

// Whether `text` has a number beyond a double in it: 1e999.
inline bool has_infinite_number(std::string_view text) {
  constexpr std::string_view kNumber = "0123456789.eE+-";
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] < '0' || text[at] > '9') {
      ++at;
      continue;
    }
    std::size_t end = text.find_first_not_of(kNumber, at);
    if (end == std::string_view::npos) end = text.size();
    double number = 0;
    if (base::python_float(text.substr(at, end - at), number) &&
        std::isinf(number)) {
      return true;
    }
    at = end;
  }
  return false;
}

}  // namespace parlance::verification

#endif  // PARLANCE_SRC_VERIFICATION_LONG_NUMBERS_H_
