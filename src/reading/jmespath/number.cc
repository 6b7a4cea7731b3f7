// Integers of more than 64 bits are rare in JMESPath, so they remain strings of
// decimal digits, as json::Value stores them.  Addition, subtraction and
// division are the schoolbook algorithms on these digits.

#include "jmespath/number.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/python_number.h"

namespace parlance::jmespath {
namespace {

using json::Kind;
using json::Value;

bool is_integer(const Value& value) {
  return value.kind() == Kind::kInt || value.kind() == Kind::kBigInt;
}

std::string digits_of(const Value& integer) {
  return integer.kind() == Kind::kInt ? std::to_string(integer.as_int())
                                      : std::string(integer.as_string());
}

// All digits of a float without fraction.
std::string digits_of(double whole) {
  char text[400];
  const int size = std::snprintf(text, sizeof text, "%.0f", whole);
  return std::string(text, static_cast<std::size_t>(size));
}

struct Signed {
  bool negative;
  std::string_view digits;
};

Signed split(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  return {negative, negative ? text.substr(1) : text};
}

std::strong_ordering compare_magnitudes(std::string_view a,
                                        std::string_view b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

std::strong_ordering compare_digits(std::string_view a, std::string_view b) {
  const Signed x = split(a);
  const Signed y = split(b);
  if (x.negative != y.negative) return y.negative <=> x.negative;
  return x.negative ? compare_magnitudes(y.digits, x.digits)
                    : compare_magnitudes(x.digits, y.digits);
}

constexpr double kTwo63 = 9223372036854775808.0;

// Compares exactly, without rounding the integer.  A 64-bit integer is compared
// with the integral part of `d` first.  A larger integer is compared by its
// sign if `d` is in the range of 64 bits, and otherwise by its digits.
// REQUIRES: d is not NaN.
std::strong_ordering compare_with_float(const Value& integer, double d) {
  const bool outside = !(d >= -kTwo63 && d < kTwo63);
  if (integer.kind() == Kind::kInt) {
    if (outside) {
      return d > 0 ? std::strong_ordering::less : std::strong_ordering::greater;
    }
    const double whole = std::trunc(d);
    const auto order = integer.as_int() <=> static_cast<std::int64_t>(whole);
    if (order != 0 || d == whole) return order;
    return d > whole ? std::strong_ordering::less
                     : std::strong_ordering::greater;
  }
  const bool negative = integer.as_string().front() == '-';
  if (!outside) {
    return negative ? std::strong_ordering::less
                    : std::strong_ordering::greater;
  }
  if (std::isinf(d)) {
    return d > 0 ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  return compare_digits(integer.as_string(), digits_of(d));
}

std::string add_magnitudes(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  std::string out(a.size() + 1, '0');
  int carry = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    int digit = a[a.size() - 1 - i] - '0' + carry;
    if (i < b.size()) digit += b[b.size() - 1 - i] - '0';
    carry = digit / 10;
    out[a.size() - i] = static_cast<char>('0' + digit % 10);
  }
  out[0] = static_cast<char>('0' + carry);
  return out;
}

// REQUIRES: a >= b.
std::string subtract_magnitudes(std::string_view a, std::string_view b) {
  std::string out(a);
  int borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    int digit = a[a.size() - 1 - i] - '0' - borrow;
    if (i < b.size()) digit -= b[b.size() - 1 - i] - '0';
    borrow = digit < 0;
    out[a.size() - 1 - i] = static_cast<char>('0' + digit + 10 * borrow);
  }
  return out;
}

Value add_integers(const Value& a, const Value& b) {
  std::int64_t small;
  if (a.kind() == Kind::kInt && b.kind() == Kind::kInt &&
      !__builtin_add_overflow(a.as_int(), b.as_int(), &small)) {
    return Value(small);
  }
  const std::string first = digits_of(a);
  const std::string second = digits_of(b);
  Signed x = split(first);
  Signed y = split(second);
  std::string magnitude;
  if (x.negative == y.negative) {
    magnitude = add_magnitudes(x.digits, y.digits);
  } else {
    if (compare_magnitudes(x.digits, y.digits) < 0) std::swap(x, y);
    magnitude = subtract_magnitudes(x.digits, y.digits);
  }
  return Value::integer(x.negative ? "-" + magnitude : magnitude);
}

// The number as a float.  Nothing if an integer is too large.
std::optional<double> to_float(const Value& number) {
  const double d = number.as_float();
  if (number.kind() == Kind::kBigInt && std::isinf(d)) return std::nullopt;
  return d;
}

// Booleans count as 0 and 1.
Value numeric(const Value& value) {
  return value.kind() == Kind::kBool ? Value(value.as_bool() ? 1 : 0) : value;
}

std::optional<Value> rounded(const Value& number, double (*round)(double)) {
  if (is_integer(number)) return number;
  const double d = number.as_float();
  if (!std::isfinite(d)) return std::nullopt;
  return Value::integer(digits_of(round(d)));
}

}  // namespace

bool is_number(const Value& value) {
  return is_integer(value) || value.kind() == Kind::kFloat;
}

std::partial_ordering compare_numbers(const Value& a, const Value& b) {
  if (a.kind() == Kind::kInt && b.kind() == Kind::kInt) {
    return a.as_int() <=> b.as_int();
  }
  const bool a_whole = is_integer(a);
  const bool b_whole = is_integer(b);
  if (a_whole && b_whole) return compare_digits(digits_of(a), digits_of(b));
  if (!a_whole && !b_whole) return a.as_float() <=> b.as_float();
  const double d = a_whole ? b.as_float() : a.as_float();
  if (std::isnan(d)) return std::partial_ordering::unordered;
  if (a_whole) return compare_with_float(a, d);
  return 0 <=> compare_with_float(b, d);
}

bool python_equal(const Value& first, const Value& second) {
  // `pending` has the pairs of elements that are still to be compared, instead
  // of a recursion.  Invariant: the values are equal if *a equals *b and each
  // pending pair is equal.  Two scalars need no memory.
  std::vector<std::pair<const Value*, const Value*>> pending;
  const Value* a = &first;
  const Value* b = &second;
  for (;;) {
    const Kind kind = a->kind();
    const Kind other = b->kind();
    if (kind == Kind::kString || other == Kind::kString) {
      if (kind != other || a->as_string() != b->as_string()) return false;
    } else if (kind == Kind::kNull || other == Kind::kNull) {
      if (kind != other) return false;
    } else if (kind == Kind::kArray || other == Kind::kArray) {
      if (kind != other) return false;
      const json::Array& x = a->items();
      const json::Array& y = b->items();
      if (x.size() != y.size()) return false;
      // The same list is equal to itself even with NaN in it, as in Python.
      for (std::size_t i = x.size(); &x != &y && i-- > 0;) {
        pending.emplace_back(&x[i], &y[i]);
      }
    } else if (kind == Kind::kObject || other == Kind::kObject) {
      if (kind != other) return false;
      const json::Object& x = a->members();
      const json::Object& y = b->members();
      if (x.size() != y.size()) return false;
      if (&x != &y) {
        for (const json::Member& member : x) {
          const Value* match = y.find(member.key);
          if (match == nullptr) return false;
          pending.emplace_back(&member.value, match);
        }
      }
    } else if (compare_numbers(numeric(*a), numeric(*b)) != 0) {
      return false;
    }
    if (pending.empty()) return true;
    std::tie(a, b) = pending.back();
    pending.pop_back();
  }
}

bool equal(const Value& a, const Value& b) {
  const bool a_bool = a.kind() == Kind::kBool;
  const bool b_bool = b.kind() == Kind::kBool;
  return a_bool == b_bool && python_equal(a, b);
}

Value absolute(const Value& number) {
  switch (number.kind()) {
    case Kind::kFloat:
      return Value(std::fabs(number.as_float()));
    case Kind::kInt:
    case Kind::kBigInt: {
      if (number.kind() == Kind::kInt && number.as_int() >= 0) return number;
      const std::string digits = digits_of(number);
      return Value::integer(split(digits).digits);
    }
    default:
      return number;
  }
}

std::optional<Value> ceiling(const Value& number) {
  return rounded(number, [](double d) { return std::ceil(d) + 0.0; });
}

std::optional<Value> floor_of(const Value& number) {
  return rounded(number, [](double d) { return std::floor(d); });
}

std::optional<Value> sum(const json::Array& numbers) {
  Value whole(0);
  std::size_t i = 0;
  for (; i < numbers.size() && is_integer(numbers[i]); ++i) {
    whole = add_integers(whole, numbers[i]);
  }
  if (i == numbers.size()) return whole;
  const std::optional<double> start = to_float(whole);
  if (!start) return std::nullopt;
  double total = *start;
  for (; i < numbers.size(); ++i) {
    const std::optional<double> next = to_float(numbers[i]);
    if (!next) return std::nullopt;
    total += *next;
  }
  return Value(total);
}

std::optional<Value> divide(const Value& sum, std::size_t count) {
  const auto divisor = static_cast<double>(count);
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  if (sum.kind() == Kind::kFloat) return Value(sum.as_float() / divisor);
  if (sum.kind() == Kind::kInt && sum.as_int() <= kExact &&
      sum.as_int() >= -kExact) {
    return Value(sum.as_float() / divisor);
  }
  // Long division to forty decimal places, with a final '1' if a remainder is
  // left.  Rounding this decimal gives the same float as rounding the exact
  // quotient: the quotient is more than 1, so its distance from any float, and
  // from the midpoint of any two adjacent floats, is either zero or more than
  // 1e-35.
  const std::string text = digits_of(sum);
  const Signed parts = split(text);
  std::string quotient(parts.negative ? "-" : "");
  std::uint64_t rest = 0;
  const auto step = [&](std::uint64_t digit) {
    rest = rest * 10 + digit;
    quotient.push_back(static_cast<char>('0' + rest / count));
    rest %= count;
  };
  for (const char c : parts.digits) step(static_cast<std::uint64_t>(c - '0'));
  quotient.push_back('.');
  for (int i = 0; i < 40; ++i) step(0);
  if (rest != 0) quotient.push_back('1');
  const double result = base::decimal_to_double(quotient);
  if (std::isinf(result)) return std::nullopt;
  return Value(result);
}

}  // namespace parlance::jmespath
