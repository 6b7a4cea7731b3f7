#ifndef PARLANCE_SRC_BASE_PYTHON_NUMBER_H_
#define PARLANCE_SRC_BASE_PYTHON_NUMBER_H_

// How Python reads numbers and strips text: int(), float(), str.strip().
//
// Response templates are defined by these three functions, so the digits of
// every script are accepted, underscores may separate digits, and "١٢" is 12.

#include <cstddef>
#include <string>
#include <string_view>

namespace parlance::base {

// str.isspace() of one character: U+0009-000D, 001C-001F, 0020, 0085, 00A0,
// 1680, 2000-200A, 2028, 2029, 202F, 205F, 3000.
bool is_python_space(char32_t c);

// The value of a decimal digit of any script (category Nd), else -1.
int decimal_digit(char32_t c);

// str.strip().  A view into `text`.
std::string_view python_strip(std::string_view text);

enum class NumberStatus : unsigned char {
  kOk,
  kNotANumber,
  kTooManyDigits,  // more than `max_digits`, leading zeros included
};

// int(text): `out` becomes an optional '-' and decimal digits without leading
// zeros.  Unchanged unless kOk.
NumberStatus python_int(std::string_view text, std::string& out,
                        std::size_t max_digits = 4300);

// float(text), correctly rounded; too large is infinity, too small zero.
// False, and `out` unchanged, if `text` is not a number.
bool python_float(std::string_view text, double& out);

// The double nearest to `text`, which has the form of a JSON number (also
// "1." and ".5").  Too large is infinity, too small zero.
double decimal_to_double(std::string_view text);

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_PYTHON_NUMBER_H_
