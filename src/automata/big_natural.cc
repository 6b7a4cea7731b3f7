// Natural numbers as strings of digits.  See big_natural.h.

#include "automata/big_natural.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace parlance::automata::natural {

using base::Decimal;
using std::size_t;

std::string strip(std::string_view digits) {
  size_t first = digits.find_first_not_of('0');
  if (first == std::string_view::npos) return {};
  return std::string(digits.substr(first));
}

std::string zeros(std::int64_t count) {
  return std::string(static_cast<size_t>(std::max<std::int64_t>(count, 0)),
                     '0');
}

bool less(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

std::uint64_t modulo(std::string_view digits, std::uint64_t modulus) {
  const auto read = [&]<typename Number>(Number rest) {
    for (char c : digits) {
      rest = (rest * 10 + static_cast<unsigned>(c - '0')) % modulus;
    }
    return static_cast<std::uint64_t>(rest);
  };
  // Most moduli leave room for one digit more.
  if (modulus < std::numeric_limits<std::uint64_t>::max() / 10) {
    return read(std::uint64_t{0});
  }
  __extension__ using Wide = unsigned __int128;
  return read(Wide{0});
}

std::string plus(std::string digits, std::uint64_t n) {
  for (size_t i = digits.size(); n != 0; n /= 10) {
    if (i == 0) {
      digits.insert(digits.begin(), '0');
      i = 1;
    }
    --i;
    n += static_cast<unsigned>(digits[i] - '0');
    digits[i] = static_cast<char>('0' + n % 10);
  }
  return digits;
}

std::string minus(std::string digits, std::uint64_t n) {
  for (size_t i = digits.size(); n != 0 && i-- > 0; n /= 10) {
    auto digit = static_cast<unsigned>(digits[i] - '0');
    auto take = static_cast<unsigned>(n % 10);
    if (take > digit) {
      n += 10;
      digit += 10;
    }
    digits[i] = static_cast<char>('0' + (digit - take));
  }
  return strip(digits);
}

Decimal decimal(std::string_view digits, std::int64_t exponent) {
  size_t first = digits.find_first_not_of('0');
  if (first == std::string_view::npos) return {};
  size_t last = digits.find_last_not_of('0');
  exponent += static_cast<std::int64_t>(digits.size() - 1 - last);
  return {false, std::string(digits.substr(first, last - first + 1)), exponent};
}

std::string units(const Decimal& value, int scale, bool& exact) {
  std::int64_t more = value.exponent + scale;
  exact = value.is_zero() || more >= 0;
  if (value.is_zero()) return {};
  if (more >= 0) return value.digits + zeros(more);
  if (value.magnitude() + scale <= 0) return {};
  return value.digits.substr(0, static_cast<size_t>(value.magnitude() + scale));
}

}  // namespace parlance::automata::natural
