// Exact decimals as strings of digits.  See decimal.h.

#include "base/decimal.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/ascii.h"
#include "base/natural.h"

namespace parlance::base {
namespace {

constexpr std::int64_t kMaxExponent = 1'000'000'000;
// Plain notation is used while it needs no more zeros than this.
constexpr std::int64_t kPlainZeros = 21;
constexpr std::size_t kSmallDigits = 18;  // 10^18 < 2^63

// Makes (digits, exponent) canonical.
Decimal canonical(bool negative, std::string digits, std::int64_t exponent) {
  std::size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) return {};
  std::size_t last = digits.find_last_not_of('0');
  exponent += static_cast<std::int64_t>(digits.size() - 1 - last);
  return {negative, digits.substr(first, last - first + 1), exponent};
}

// The product of two numbers below `modulus`, modulo `modulus` <= 10^18.
std::uint64_t multiply(std::uint64_t a, std::uint64_t b,
                       std::uint64_t modulus) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % modulus);
}

// digits * 10^zeros mod `of`, for an `of` of at most kSmallDigits.
bool divides_small(const std::string& digits, std::int64_t zeros,
                   const std::string& of) {
  std::uint64_t modulus = 0;
  for (char c : of) modulus = modulus * 10 + static_cast<unsigned>(c - '0');
  std::uint64_t rest = 0;
  for (char c : digits) {
    rest = (multiply(rest, 10 % modulus, modulus) +
            static_cast<unsigned>(c - '0')) %
           modulus;
  }
  std::uint64_t power = 10 % modulus;
  for (auto left = static_cast<std::uint64_t>(zeros); left != 0; left >>= 1) {
    if ((left & 1) != 0) rest = multiply(rest, power, modulus);
    power = multiply(power, power, modulus);
  }
  return rest == 0;
}

// The same for any `of`.
bool divides_large(const std::string& digits, std::int64_t zeros,
                   const std::string& of) {
  // 10^n brings n factors 2 and 5; `of` has no more than four per digit.
  zeros = std::min(zeros, 4 * static_cast<std::int64_t>(of.size()));
  const Natural value =
      Natural::from_digits(digits).shifted(static_cast<std::size_t>(zeros));
  return (value % Natural::from_digits(of)).is_zero();
}

}  // namespace

std::optional<Decimal> Decimal::from_json(std::string_view number) {
  std::size_t at = 0;
  auto digit_here = [&] { return at < number.size() && is_digit(number[at]); };
  bool negative = !number.empty() && number[0] == '-';
  if (negative) ++at;

  std::size_t begin = at;
  while (digit_here()) ++at;
  std::string digits(number.substr(begin, at - begin));
  if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) return {};

  std::int64_t exponent = 0;
  if (at < number.size() && number[at] == '.') {
    begin = ++at;
    while (digit_here()) ++at;
    if (at == begin) return {};
    digits += number.substr(begin, at - begin);
    exponent = -static_cast<std::int64_t>(at - begin);
  }

  if (at < number.size() && (number[at] == 'e' || number[at] == 'E')) {
    ++at;
    bool minus = false;
    if (at < number.size() && (number[at] == '+' || number[at] == '-')) {
      minus = number[at++] == '-';
    }
    if (!digit_here()) return {};
    std::int64_t written = 0;
    for (; digit_here(); ++at) {
      written = std::min(written * 10 + (number[at] - '0'), kMaxExponent * 100);
    }
    exponent += minus ? -written : written;
  }
  if (at != number.size()) return {};

  Decimal value = canonical(negative, std::move(digits), exponent);
  if (value.exponent > kMaxExponent || value.exponent < -kMaxExponent) {
    return {};
  }
  return value;
}

Decimal Decimal::from_int(std::int64_t value) {
  bool negative = value < 0;
  auto left = static_cast<std::uint64_t>(value);
  if (negative) left = 0 - left;
  return canonical(negative, std::to_string(left), 0);
}

Decimal Decimal::from_digits(std::string_view digits, std::int64_t exponent) {
  return canonical(false, std::string(digits), exponent);
}

std::string Decimal::to_string() const {
  if (is_zero()) return "0";
  std::string out = negative ? "-" : "";
  std::int64_t point = magnitude();  // number of digits before the point
  if (exponent >= 0 && point <= kPlainZeros) {
    return out + digits + std::string(static_cast<std::size_t>(exponent), '0');
  }
  if (exponent < 0 && point > 0) {
    auto split = static_cast<std::size_t>(point);
    return out + digits.substr(0, split) + "." + digits.substr(split);
  }
  if (point <= 0 && point > -6) {
    return out + "0." + std::string(static_cast<std::size_t>(-point), '0') +
           digits;
  }
  out += digits[0];
  if (digits.size() > 1) out += "." + digits.substr(1);
  out += point > 0 ? "e+" : "e";
  return out + std::to_string(point - 1);
}

std::strong_ordering compare_magnitude(const Decimal& a, const Decimal& b) {
  if (a.is_zero() || b.is_zero()) return b.is_zero() <=> a.is_zero();
  if (auto order = a.magnitude() <=> b.magnitude(); order != 0) return order;
  // The shorter digits continue with zeros.  The longer ones end in a digit
  // other than zero, so the order of strings is the order of the values.
  return a.digits.compare(b.digits) <=> 0;
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative) return b.negative <=> a.negative;
  return a.negative ? compare_magnitude(b, a) : compare_magnitude(a, b);
}

bool is_multiple(const Decimal& value, const Decimal& of) {
  if (value.is_zero()) return true;
  if (of.is_zero()) return false;
  // Canonical digits have no trailing zero, so they are not a multiple of ten.
  // A value with a smaller exponent than `of` is therefore not a multiple.
  std::int64_t zeros = value.exponent - of.exponent;
  if (zeros < 0) return false;
  return of.digits.size() <= kSmallDigits
             ? divides_small(value.digits, zeros, of.digits)
             : divides_large(value.digits, zeros, of.digits);
}

}  // namespace parlance::base
