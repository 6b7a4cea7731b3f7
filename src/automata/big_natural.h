#ifndef PARLANCE_SRC_AUTOMATA_BIG_NATURAL_H_
#define PARLANCE_SRC_AUTOMATA_BIG_NATURAL_H_

// Natural numbers of any size, as strings of decimal digits.
//
// Highest digit first; zero is the empty string.  There is just the arithmetic
// that finding the next multiple of a step needs, each function linear in the
// digits.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/decimal.h"

namespace parlance::automata::natural {

// Without leading zeros.
std::string strip(std::string_view digits);

// That many zeros; none if `count` is negative.
std::string zeros(std::int64_t count);

// REQUIRES: neither has leading zeros.
bool less(const std::string& a, const std::string& b);

// REQUIRES: 0 < modulus <= 10^18.
std::uint64_t modulo(std::string_view digits, std::uint64_t modulus);

// Preserves leading zeros.
// REQUIRES: n <= 10^18.
std::string plus(std::string digits, std::uint64_t n);

// Drops leading zeros.
// REQUIRES: n is not greater than the number, and <= 10^18.
std::string minus(std::string digits, std::uint64_t n);

// digits * 10^exponent.
base::Decimal decimal(std::string_view digits, std::int64_t exponent);

// value * 10^scale, rounded down to an integer; `exact`: nothing was dropped.
// REQUIRES: `value` is not negative.
std::string units(const base::Decimal& value, int scale, bool& exact);

}  // namespace parlance::automata::natural

#endif  // PARLANCE_SRC_AUTOMATA_BIG_NATURAL_H_
