#ifndef PARLANCE_SRC_BASE_DECIMAL_H_
#define PARLANCE_SRC_BASE_DECIMAL_H_

// Exact decimal numbers: the value that a JSON number denotes, not the nearest
// double.
//
// Bounds and steps of a schema are compared by value, so 2, 2.0 and 20e-1 are
// one Decimal, and 0.1 is a tenth.  The only operations are the two
// that the keywords need: comparison and the test for a multiple.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace parlance::base {

// (negative ? -1 : 1) * digits * 10^exponent.  Canonical when neither end of
// `digits` is a zero and zero itself is {false, "", 0}.  The functions here
// return canonical values and require canonical arguments.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;

  // The value of a JSON number: "-0", "2.50", "1E+400".  Nothing if `number`
  // is not a JSON number, or if its exponent is above 10^9 or below -10^9.
  static std::optional<Decimal> from_json(std::string_view number);
  static Decimal from_int(std::int64_t value);
  // digits * 10^exponent.  `digits` may have zeros at both ends.
  static Decimal from_digits(std::string_view digits, std::int64_t exponent);

  bool is_zero() const { return digits.empty(); }
  bool is_integer() const { return exponent >= 0; }

  // The n for which 10^(n-1) <= absolute value < 10^n: the number of digits
  // before the decimal point if the value is 1 or more.  0 for zero.
  std::int64_t magnitude() const {
    return exponent + static_cast<std::int64_t>(digits.size());
  }

  // A JSON number that reads back to the same: "-12.5", "0.001", "1e+30",
  // "1.5e-9".  Exponents appear where the plain form would need more than a
  // few zeros.
  std::string to_string() const;

  friend bool operator==(const Decimal&, const Decimal&) = default;
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);
};

// The order without the signs.
std::strong_ordering compare_magnitude(const Decimal& a, const Decimal& b);

// Whether `value` is an integer times `of`, exactly.
// REQUIRES: `of` is not zero; otherwise only zero is a multiple.  Signs do not
// matter.  Complexity: O(value.digits.size()) for up to 18 digits of `of`, else
// O(value.digits.size() * of.digits.size()).
bool is_multiple(const Decimal& value, const Decimal& of);

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_DECIMAL_H_
