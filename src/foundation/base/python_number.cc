// Python's numbers.  Text is first brought to ASCII the way CPython does it
// (digits of any script to 0-9, white space beyond ASCII to a blank), then read
// by one small grammar per function.

#include "base/python_number.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "base/ascii.h"
#include "base/nearest_double.h"
#include "base/utf8.h"

namespace parlance::base {
namespace {

// Zeros of the runs of ten digits, ascending.
constexpr char32_t kZeros[] = {
#include "base/digits.inc"
};

// White space of C's isspace(), which int() and float() ignore at both ends of
// ASCII text.  Unlike str.isspace() it lacks U+001C-001F.
bool is_ascii_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view strip_ascii_blanks(std::string_view text) {
  while (!text.empty() && is_ascii_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_ascii_blank(text.back())) text.remove_suffix(1);
  return text;
}

// ASCII as it is, other digits as 0-9, other white space as a blank; anything
// else becomes '?', which no number contains.
std::string to_ascii(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const char32_t c = next_code_point(text, i);
    if (c < 0x80) {
      out.push_back(static_cast<char>(c));
    } else if (is_python_space(c)) {
      out.push_back(' ');
    } else if (const int digit = decimal_digit(c); digit >= 0) {
      out.push_back(static_cast<char>('0' + digit));
    } else {
      out.push_back('?');
      break;
    }
  }
  return out;
}

// Removes underscores; false if one does not stand between two digits.
bool remove_underscores(std::string_view text, std::string& out) {
  char previous = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '_') {
      if (!is_digit(previous)) return false;
      if (i + 1 == text.size() || !is_digit(text[i + 1])) return false;
    } else {
      out.push_back(text[i]);
    }
    previous = text[i];
  }
  return true;
}

// digits [. digits] or . digits, then an optional exponent.
bool is_decimal(std::string_view text) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t start = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    return i - start;
  };
  std::size_t mantissa = digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    mantissa += digits();
  }
  if (mantissa == 0) return false;
  if (i < text.size() && to_lower(text[i]) == 'e') {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

// The parts of a decimal number without sign: value = 0.DIGITS * 10^exponent,
// the first of DIGITS not 0.
struct Decimal {
  std::string digits;
  std::int64_t exponent = 0;
};

Decimal normalize(std::string_view text) {
  constexpr std::int64_t kFar = std::int64_t{1} << 58;  // * 10 fits
  Decimal out;
  bool fraction = false;
  std::size_t i = 0;
  for (; i < text.size() && to_lower(text[i]) != 'e'; ++i) {
    if (text[i] == '.') {
      fraction = true;
    } else if (text[i] == '0' && out.digits.empty()) {
      out.exponent -= fraction;
    } else {
      out.digits.push_back(text[i]);
      out.exponent += !fraction;
    }
  }
  if (i == text.size()) return out;
  ++i;
  const bool negative = i < text.size() && text[i] == '-';
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  std::int64_t exponent = 0;
  for (; i < text.size(); ++i) {
    exponent = std::min(kFar, exponent * 10 + (text[i] - '0'));
  }
  out.exponent += negative ? -exponent : exponent;
  return out;
}

}  // namespace

bool is_python_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31);
  return c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

int decimal_digit(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9' ? static_cast<int>(c - '0') : -1;
  const char32_t* above =
      std::upper_bound(std::begin(kZeros), std::end(kZeros), c);
  if (above == std::begin(kZeros)) return -1;
  const char32_t distance = c - *(above - 1);
  return distance < 10 ? static_cast<int>(distance) : -1;
}

std::string_view python_strip(std::string_view text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t next = begin;
    if (!is_python_space(next_code_point(text, next))) break;
    begin = next;
  }
  std::size_t end = text.size();
  while (end > begin) {
    std::size_t start = end - 1;
    while (start > begin &&
           (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80 &&
           end - start < 4) {
      --start;
    }
    std::size_t next = start;
    const char32_t c = next_code_point(text.substr(0, end), next);
    if (next != end || !is_python_space(c)) break;
    end = start;
  }
  return text.substr(begin, end - begin);
}

NumberStatus python_int(std::string_view text, std::string& out,
                        std::size_t max_digits) {
  const std::string ascii = to_ascii(text);
  std::string_view rest = strip_ascii_blanks(ascii);
  const bool negative = !rest.empty() && rest.front() == '-';
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
    rest.remove_prefix(1);
  }
  // CPython counts the digits of the leading run before it reads the rest of
  // the text, so a long run followed by other characters is kTooManyDigits.
  std::size_t run = 0;
  while (run < rest.size() && (is_digit(rest[run]) || rest[run] == '_')) ++run;
  std::string digits;
  if (run == 0 || !remove_underscores(rest.substr(0, run), digits)) {
    return NumberStatus::kNotANumber;
  }
  if (digits.size() > max_digits) return NumberStatus::kTooManyDigits;
  if (run != rest.size()) return NumberStatus::kNotANumber;
  const std::size_t first =
      std::min(digits.find_first_not_of('0'), digits.size() - 1);
  const bool zero = digits[first] == '0';
  out.clear();
  if (negative && !zero) out += '-';
  out.append(digits, first);
  return NumberStatus::kOk;
}

bool python_float(std::string_view text, double& out) {
  const std::string ascii = to_ascii(text);
  std::string cleaned;
  if (!remove_underscores(strip_ascii_blanks(ascii), cleaned)) return false;
  std::string_view rest = cleaned;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
    rest.remove_prefix(1);
  }
  double value = 0;
  if (equal_ignoring_case(rest, "nan")) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (equal_ignoring_case(rest, "inf") ||
             equal_ignoring_case(rest, "infinity")) {
    value = std::numeric_limits<double>::infinity();
  } else if (is_decimal(rest)) {
    value = decimal_to_double(rest);
  } else {
    return false;
  }
  out = negative ? -value : value;
  return true;
}

double decimal_to_double(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  double value = 0;
#if defined(__cpp_lib_to_chars)
  // Long text is normalized to a small exponent first: "0.000…1e400000" with as
  // many zeros is 0.1, which from_chars may not recognise.
  const bool read =
      text.size() < 400 &&
      std::from_chars(text.data(), text.data() + text.size(), value).ec ==
          std::errc();
#else
  constexpr bool read = false;  // the library reads integers only
#endif
  if (!read) {
    Decimal decimal = normalize(text);
    value = nearest_double(std::move(decimal.digits), decimal.exponent);
  }
  return negative ? -value : value;
}

}  // namespace parlance::base
