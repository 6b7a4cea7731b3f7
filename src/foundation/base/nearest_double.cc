// Decimal to binary by exact steps: the decimal is multiplied or divided by
// powers of two until it lies in [1/2, 1), then by the power that leaves the
// bits of the mantissa before the point.  A decimal times a power of two, or
// divided by one, is a decimal, so nothing is rounded before the end.

#include "base/nearest_double.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

namespace parlance::base {
namespace {

// No double, and no point halfway between two of them, has more digits.
constexpr std::size_t kMostDigits = 800;
// A digit times this power of two, and a carry, fit in 64 bits.
constexpr int kMostBits = 56;

// 0.DIGITS * 10^point.  The first digit and the last are not 0.
struct Exact {
  std::string digits;
  std::int64_t point;

  void trim() {
    const std::size_t last = digits.find_last_not_of('0');
    digits.resize(last == std::string::npos ? 0 : last + 1);
    const std::size_t zeros =
        std::min(digits.find_first_not_of('0'), digits.size());
    digits.erase(0, zeros);
    point -= static_cast<std::int64_t>(zeros);
  }

  // Times 2^bits.  From the right, as on paper.
  void multiply(int bits) {
    std::uint64_t carry = 0;
    for (std::size_t i = digits.size(); i-- > 0;) {
      carry += static_cast<std::uint64_t>(digits[i] - '0') << bits;
      digits[i] = static_cast<char>('0' + carry % 10);
      carry /= 10;
    }
    std::string before;
    for (; carry != 0; carry /= 10) {
      before.push_back(static_cast<char>('0' + carry % 10));
    }
    point += static_cast<std::int64_t>(before.size());
    digits.insert(digits.begin(), before.rbegin(), before.rend());
    trim();
  }

  // Divided by 2^bits.  From the left, until nothing remains: a power of two
  // divides the same power of ten.
  void divide(int bits) {
    const std::uint64_t below = (std::uint64_t{1} << bits) - 1;
    std::string out;
    std::uint64_t rest = 0;
    for (std::size_t i = 0; i < digits.size() || rest != 0; ++i) {
      rest *= 10;
      if (i < digits.size()) rest += static_cast<unsigned>(digits[i] - '0');
      out.push_back(static_cast<char>('0' + (rest >> bits)));
      rest &= below;
    }
    digits = std::move(out);
    trim();
  }

  // The nearest integer, the even one of two.  REQUIRES: point <= 18.
  std::uint64_t rounded() const {
    std::uint64_t out = 0;
    const auto whole =
        static_cast<std::size_t>(std::max<std::int64_t>(point, 0));
    for (std::size_t i = 0; i < whole; ++i) {
      out = out * 10 +
            (i < digits.size() ? static_cast<unsigned>(digits[i] - '0') : 0);
    }
    if (point < 0 || whole >= digits.size() || digits[whole] < '5') return out;
    const bool half = digits[whole] == '5' && whole + 1 == digits.size();
    return half && out % 2 == 0 ? out : out + 1;
  }
};

// Numbers whose digits and power of ten are doubles themselves: one operation
// rounds once.  Most numbers are such.
bool by_one_operation(const Exact& number, double& out) {
  constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  constexpr std::int64_t kMostPower = std::size(kPowers) - 1;
  const auto size = static_cast<std::int64_t>(number.digits.size());
  const std::int64_t power = number.point - size;
  if (FLT_EVAL_METHOD != 0 || size > 15 || power > kMostPower ||
      power < -kMostPower) {
    return false;
  }
  std::uint64_t digits = 0;
  for (const char c : number.digits) {
    digits = digits * 10 + static_cast<unsigned>(c - '0');
  }
  const auto whole = static_cast<double>(digits);
  out = power >= 0 ? whole * kPowers[power] : whole / kPowers[-power];
  return true;
}

}  // namespace

double nearest_double(std::string digits, std::int64_t exponent) {
  if (digits.size() > kMostDigits) {
    // That there is more than half or than nothing is all that counts.
    const bool more =
        digits.find_first_not_of('0', kMostDigits) != std::string::npos;
    digits.resize(kMostDigits);
    if (more) digits.push_back('1');
  }
  Exact number{std::move(digits), exponent};
  number.trim();
  if (number.digits.empty() || number.point < -330) return 0;
  if (number.point > 310) return std::numeric_limits<double>::infinity();
  if (double out = 0; by_one_operation(number, out)) return out;

  // The value is number * 2^scale.  Eight is less than ten, so three bits for
  // each power of ten pass neither end of [1/2, 1).
  int scale = 0;
  while (number.point > 0) {
    const int bits =
        static_cast<int>(std::min<std::int64_t>(kMostBits, number.point * 3));
    number.divide(bits);
    scale += bits;
  }
  while (number.point < 0 || number.digits[0] < '5') {
    const int bits = static_cast<int>(
        std::clamp<std::int64_t>(number.point * -3, 1, kMostBits));
    number.multiply(bits);
    scale -= bits;
  }
  // The smallest doubles have fewer bits.
  using Double = std::numeric_limits<double>;
  const int bits =
      std::min(Double::digits, scale - Double::min_exponent + Double::digits);
  if (bits < 0) return 0;
  if (bits > 0) number.multiply(bits);
  return std::ldexp(static_cast<double>(number.rounded()), scale - bits);
}

}  // namespace parlance::base
