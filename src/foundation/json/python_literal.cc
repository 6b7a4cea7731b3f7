// Reads Python literals, see python_literal.h.
//
// Containers that are open are on a stack of frames.  The reader alternates
// between two steps: read a value, or open a container; give a complete value
// to the innermost container, which may complete that one.

#include "json/python_literal.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/python_number.h"
#include "base/utf8.h"
#include "base/white_space.h"

namespace parlance::json {
namespace {

using base::hex_digit;
using base::is_ascii_space;
using base::is_digit;

bool is_word(char c) {
  return base::is_letter(c) || is_digit(c) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Whether `c` is a digit in base 2, 8, 10 or 16.
bool is_digit_in(char c, unsigned base) {
  const int value = hex_digit(c);
  return value >= 0 && value < static_cast<int>(base);
}

// The decimal digits of a number in base 2, 8 or 16.  O(digits squared).
std::string to_decimal(std::string_view digits, unsigned base) {
  constexpr std::uint64_t kLimb = 1'000'000'000;
  std::vector<std::uint64_t> limbs = {0};  // the lowest first
  for (const char c : digits) {
    if (c == '_') continue;
    auto carry = static_cast<std::uint64_t>(hex_digit(c));
    for (std::uint64_t& limb : limbs) {
      carry += limb * base;
      limb = carry % kLimb;
      carry /= kLimb;
    }
    if (carry > 0) limbs.push_back(carry);
  }
  std::string out = std::to_string(limbs.back());
  for (std::size_t i = limbs.size() - 1; i-- > 0;) {
    const std::string part = std::to_string(limbs[i]);
    out.append(9 - part.size(), '0').append(part);
  }
  return out;
}

char closing(char bracket) {
  return bracket == '[' ? ']' : bracket == '(' ? ')' : '}';
}

bool is_high(char32_t c) { return c >= 0xD800 && c < 0xDC00; }
bool is_low(char32_t c) { return c >= 0xDC00 && c < 0xE000; }

// Reads a value at the beginning of a text.
class PythonReader {
 public:
  // `text` must outlive the reader.
  explicit PythonReader(std::string_view text, const Limits& limits = {})
      : text_(text), limits_(limits) {}

  // Reads the value at position(), after white space.  Afterwards position() is
  // after the value, or at the byte that does not fit.
  // Errors: kSyntax, kTooDeep, kTooLarge, with the byte as the span.
  // Complexity: O(bytes read).  Nesting does not use the call stack.
  Result<Value> value();

  std::size_t position() const { return at_; }
  void skip_space();
  // Reads `c` if it is next.
  bool skip(char c);
  // See append_python_text().
  Result<bool> characters(std::string_view end, bool raw, std::string& out);

 private:
  // A container that is open.
  struct Frame {
    char bracket = '[';
    Array items = {};
    Object members = {};
    std::string key = {};
    bool comma = false;  // a comma was read
    bool set = false;    // braces without keys
  };

  // What a step of value() has read.
  enum class Next : std::uint8_t {
    kDone,   // a value
    kValue,  // the beginning of a container, or what separates its values
    kFault,  // nothing: fault_ says why
  };

  Error error(std::string message) const;
  Next fail(Error fault);
  Next fail(std::string message, ErrorCode code = ErrorCode::kInvalidContent);
  Next begin_value(std::vector<Frame>& frames, Value& done);
  Next add_value(std::vector<Frame>& frames, Value& done);
  Next read_key(Frame& frame, Value& done);
  Next scalar(Value& out);
  Next number(Value& out);
  unsigned base_prefix();
  std::size_t digits(unsigned base);
  std::optional<bool> decimal();
  Next real_value(std::string_view text, bool negative, Value& out);
  Next integer_value(std::string_view text, unsigned base, bool negative,
                     Value& out);
  bool at_string() const;
  Result<std::string> string();
  Result<std::string> one_string();
  std::string_view name();
  std::size_t escape(std::string& out);

  const std::string_view text_;
  const Limits limits_;
  std::size_t at_ = 0;
  std::optional<Error> fault_ = std::nullopt;
};

Error PythonReader::error(std::string message) const {
  Error out{ErrorCode::kInvalidContent, std::move(message), ""};
  out.span = Span{at_, at_};
  return out;
}

PythonReader::Next PythonReader::fail(Error fault) {
  fault_ = std::move(fault);
  return Next::kFault;
}

PythonReader::Next PythonReader::fail(std::string message, ErrorCode code) {
  Error out = error(std::move(message));
  out.code = code;
  return fail(std::move(out));
}

void PythonReader::skip_space() {
  while (at_ < text_.size() && is_ascii_space(text_[at_])) ++at_;
}

bool PythonReader::skip(char c) {
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

std::string_view PythonReader::name() {
  const std::size_t begin = at_;
  if (at_ < text_.size() && !is_digit(text_[at_])) {
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  }
  return text_.substr(begin, at_ - begin);
}

// Invariant of the outer loop: `frames` are the open containers, and a value of
// the innermost one comes next.  Of the inner loop: `done` is the latest value
// of the innermost container, and not yet in it.
Result<Value> PythonReader::value() {
  std::vector<Frame> frames;
  for (;;) {
    Value done;
    Next next = begin_value(frames, done);
    while (next == Next::kDone) {
      if (frames.empty()) return done;
      next = add_value(frames, done);
    }
    if (next == Next::kFault) return *std::exchange(fault_, std::nullopt);
  }
}

// Reads a value, or opens a container.
PythonReader::Next PythonReader::begin_value(std::vector<Frame>& frames,
                                             Value& done) {
  skip_space();
  if (at_ >= text_.size()) return fail("the text ends inside a value");
  const char c = text_[at_];
  if (c != '[' && c != '(' && c != '{') return scalar(done);
  if (frames.size() >= limits_.json_depth) {
    return fail("the nesting is deeper than Limits::json_depth",
                ErrorCode::kTooDeep);
  }
  ++at_;
  frames.emplace_back().bracket = c;
  skip_space();
  if (skip(closing(c))) {
    done = c == '{' ? Value(Object()) : Value(Array());
    frames.pop_back();
    return Next::kDone;
  }
  return c == '{' ? read_key(frames.back(), done) : Next::kValue;
}

// Gives `done` to the innermost container and reads what follows it: the end of
// the container, which is then `done`, or the comma and the key of the next
// value.  The items of a set are scalars, so the next one is read here.
PythonReader::Next PythonReader::add_value(std::vector<Frame>& frames,
                                           Value& done) {
  Frame& frame = frames.back();
  const bool dict = frame.bracket == '{' && !frame.set;
  if (dict) {
    frame.members.set(std::move(frame.key), std::move(done));
  } else {
    frame.items.push_back(std::move(done));
  }
  skip_space();
  const bool comma = skip(',');
  frame.comma = frame.comma || comma;
  skip_space();
  if (skip(closing(frame.bracket))) {
    const bool parenthesised = frame.bracket == '(' && !frame.comma;
    done = dict            ? Value(std::move(frame.members))
           : parenthesised ? std::move(frame.items[0])
                           : Value(std::move(frame.items));
    frames.pop_back();
    return Next::kDone;
  }
  if (!comma) {
    return fail(std::string("expected ',' or '") + closing(frame.bracket) +
                "'");
  }
  if (dict) return read_key(frame, done);
  return frame.set ? scalar(done) : Next::kValue;
}

// Reads the key of a dict and its colon.  In braces that have no key yet, a
// scalar without a colon is the first item of a set.
PythonReader::Next PythonReader::read_key(Frame& frame, Value& done) {
  const bool is_text = at_string();
  Value other;  // a key that is no string
  if (is_text) {
    Result<std::string> text = string();
    if (!text) return fail(std::move(text).error());
    frame.key = std::move(*text);
  } else {
    if (scalar(other) == Next::kFault) return Next::kFault;
    frame.key = dump(other);  // as json.dumps writes it
  }
  skip_space();
  if (skip(':')) return Next::kValue;
  if (!frame.members.empty()) return fail("expected ':' after a key");
  frame.set = true;
  done = is_text ? Value(frame.key) : std::move(other);
  return Next::kDone;
}

// Whether a string begins here, after a prefix or not.
bool PythonReader::at_string() const {
  std::size_t i = at_;
  while (i < text_.size() && i < at_ + 2 &&
         std::string_view("rRuUbBfF").find(text_[i]) !=
             std::string_view::npos) {
    ++i;
  }
  return i < text_.size() && (text_[i] == '"' || text_[i] == '\'');
}

PythonReader::Next PythonReader::scalar(Value& out) {
  if (at_ >= text_.size()) return fail("the text ends inside a value");
  if (at_string()) {
    Result<std::string> text = string();
    if (!text) return fail(std::move(text).error());
    out = Value(*text);
    return Next::kDone;
  }
  const char c = text_[at_];
  if (is_digit(c) || c == '.' || c == '+' || c == '-') return number(out);
  const std::size_t begin = at_;
  const std::string_view word = name();
  if (word == "None" || word == "null") {
    out = Value();
  } else if (word == "True" || word == "true") {
    out = Value(true);
  } else if (word == "False" || word == "false") {
    out = Value(false);
  } else {
    at_ = begin;
    return fail(word.empty() ? "expected a value"
                             : "'" + std::string(word) + "' is no literal");
  }
  return Next::kDone;
}

// An optional sign and a number.
PythonReader::Next PythonReader::number(Value& out) {
  const std::size_t start = at_;
  bool negative = false;
  if (text_[at_] == '+' || text_[at_] == '-') {
    negative = text_[at_++] == '-';
    skip_space();
  }
  const std::size_t begin = at_;
  const unsigned base = base_prefix();
  bool real = false;
  if (base == 10) {
    const std::optional<bool> read = decimal();
    if (!read) {
      at_ = start;
      return fail("expected a number");
    }
    real = *read;
  } else if (digits(base) == 0) {
    return fail("this is no number that JSON has");
  }
  if (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.')) {
    return fail("this is no number that JSON has");
  }
  // An error in the value of the number is at its beginning.
  const std::size_t end = at_;
  const std::string_view text = text_.substr(begin, end - begin);
  at_ = start;
  const Next next = real ? real_value(text, negative, out)
                         : integer_value(text, base, negative, out);
  if (next == Next::kDone) at_ = end;
  return next;
}

// Reads 0x, 0o or 0b.
unsigned PythonReader::base_prefix() {
  if (at_ + 1 >= text_.size() || text_[at_] != '0') return 10;
  const char kind = text_[at_ + 1];
  const unsigned base = kind == 'x' || kind == 'X'   ? 16
                        : kind == 'o' || kind == 'O' ? 8
                        : kind == 'b' || kind == 'B' ? 2
                                                     : 10;
  if (base != 10) at_ += 2;
  return base;
}

// Reads digits with single underscores between them; after 0x also at the
// start.  Returns how many bytes.
std::size_t PythonReader::digits(unsigned base) {
  const std::size_t begin = at_;
  bool underscore = base != 10;  // one may come now
  while (at_ < text_.size()) {
    if (text_[at_] == '_' && underscore && at_ + 1 < text_.size() &&
        is_digit_in(text_[at_ + 1], base)) {
      underscore = false;
    } else if (is_digit_in(text_[at_], base)) {
      underscore = true;
    } else {
      break;
    }
    ++at_;
  }
  return at_ - begin;
}

// Reads digits, a fraction and an exponent.  Returns whether there is a
// fraction or an exponent; nothing if there is no digit.
std::optional<bool> PythonReader::decimal() {
  std::size_t count = digits(10);
  bool real = skip('.');
  if (real) count += digits(10);
  if (count == 0) return std::nullopt;
  if (at_ >= text_.size() || (text_[at_] != 'e' && text_[at_] != 'E')) {
    return real;
  }
  std::size_t exponent = at_ + 1;
  if (exponent < text_.size() &&
      (text_[exponent] == '+' || text_[exponent] == '-')) {
    ++exponent;
  }
  if (exponent >= text_.size() || !is_digit(text_[exponent])) return real;
  at_ = exponent;
  digits(10);
  return true;
}

PythonReader::Next PythonReader::real_value(std::string_view text,
                                            bool negative, Value& out) {
  double number = 0;
  if (!base::python_float(text, number) || !std::isfinite(number)) {
    return fail("the number is not finite");
  }
  out = Value(negative ? -number : number);
  return Next::kDone;
}

PythonReader::Next PythonReader::integer_value(std::string_view text,
                                               unsigned base, bool negative,
                                               Value& out) {
  if (text.size() > limits_.integer_digits) {
    return fail("an integer is longer than Limits::integer_digits",
                ErrorCode::kTooLarge);
  }
  std::string decimal;
  if (base != 10) {
    decimal = to_decimal(text.substr(2), base);
  } else if (base::python_int(text, decimal) != base::NumberStatus::kOk ||
             (text[0] == '0' && decimal != "0")) {
    return fail("an integer must not begin with 0");
  }
  out = Value::integer(negative && decimal != "0" ? "-" + decimal : decimal);
  return Next::kDone;
}

// Strings beside each other are one.
Result<std::string> PythonReader::string() {
  Result<std::string> out = one_string();
  while (out) {
    const std::size_t end = at_;
    skip_space();
    if (!at_string()) {
      at_ = end;
      break;
    }
    Result<std::string> next = one_string();
    if (!next) return next;
    *out += *next;
  }
  return out;
}

Result<std::string> PythonReader::one_string() {
  const std::size_t start = at_;
  bool raw = false;
  while (text_[at_] != '"' && text_[at_] != '\'') {
    const char prefix = text_[at_];
    if (prefix == 'b' || prefix == 'B') return error("bytes are no JSON value");
    if (prefix == 'f' || prefix == 'F') {
      return error("an f-string is evaluated");
    }
    raw = raw || prefix == 'r' || prefix == 'R';
    ++at_;
  }
  const char quote = text_[at_];
  const std::string three(3, quote);
  const bool triple = text_.substr(at_).starts_with(three);
  const std::string_view end =
      triple ? std::string_view(three) : std::string_view(three).substr(0, 1);
  at_ += end.size();
  std::string out;
  Result<bool> closed = characters(end, raw, out);
  if (!closed) return std::move(closed).error();
  if (*closed) return out;
  at_ = start;
  return error("the text ends inside a string");
}

// Appends the characters of a string up to `end`, or to the end of the text if
// there is no `end`; returns whether `end` was found.
Result<bool> PythonReader::characters(std::string_view end, bool raw,
                                      std::string& out) {
  const char quote = end.empty() ? '\\' : end[0];
  std::size_t high = std::string::npos;  // where a high surrogate was written
  while (at_ < text_.size()) {
    // Most bytes neither end the string nor escape anything.
    const std::size_t plain = at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\\') {
      ++at_;
    }
    if (at_ > plain) {
      out.append(text_.substr(plain, at_ - plain));
      high = std::string::npos;
      continue;
    }
    if (!end.empty() && text_.substr(at_).starts_with(end)) {
      at_ += end.size();
      return true;
    }
    if (text_[at_] != '\\' || at_ + 1 >= text_.size()) {
      out += text_[at_++];
      high = std::string::npos;
      continue;
    }
    if (raw) {
      out += text_.substr(at_, 2);
      at_ += 2;
      continue;
    }
    const std::size_t begin = out.size();
    const std::size_t size = escape(out);
    if (size == 0) return error("this escape is not readable");
    at_ += size;
    // A low surrogate completes the high one before it.
    std::size_t i = begin;
    const char32_t c =
        out.size() > begin ? base::next_code_point(out, i) : U'\0';
    if (is_low(c) && high != std::string::npos) {
      std::size_t j = high;
      const char32_t first = base::next_code_point(out, j);
      out.resize(high);
      base::append_utf8(out, 0x10000 + ((first - 0xD800) << 10) + (c - 0xDC00));
      high = std::string::npos;
    } else {
      high = is_high(c) ? begin : std::string::npos;
    }
  }
  return false;
}

// Appends what the escape at at_ means.  Returns its length, 0 if it is not
// valid.  An unknown escape is its text, as in Python.
std::size_t PythonReader::escape(std::string& out) {
  constexpr std::string_view kNames = "\\'\"abfnrtv";
  constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
  const char c = text_[at_ + 1];
  if (c == '\n') return 2;
  if (const std::size_t known = kNames.find(c); known != kNames.npos) {
    out += kMeanings[known];
    return 2;
  }
  if (c >= '0' && c <= '7') {
    char32_t code = 0;
    std::size_t size = 1;
    while (size < 4 && at_ + size < text_.size() && text_[at_ + size] >= '0' &&
           text_[at_ + size] <= '7') {
      code = code * 8 + static_cast<char32_t>(text_[at_ + size] - '0');
      ++size;
    }
    base::append_utf8(out, code);
    return size;
  }
  const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  if (c == 'N') return 0;
  if (digits == 0) {
    out += '\\';
    return 1;
  }
  char32_t code = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const std::size_t place = at_ + 2 + i;
    const int digit = place < text_.size() ? hex_digit(text_[place]) : -1;
    if (digit < 0) return 0;
    code = code * 16 + static_cast<char32_t>(digit);
  }
  if (code > 0x10FFFF) return 0;
  base::append_utf8(out, code);
  return 2 + digits;
}

}  // namespace

Result<Value> read_python(std::string_view text, const Limits& limits) {
  PythonReader reader(text, limits);
  Result<Value> out = reader.value();
  if (!out) return out;
  reader.skip_space();
  if (reader.position() < text.size()) {
    Error error{ErrorCode::kInvalidContent, "text follows the value", ""};
    error.span = Span{reader.position(), text.size()};
    return error;
  }
  return out;
}

bool append_python_text(std::string_view text, bool raw, std::string& out) {
  return PythonReader(text).characters({}, raw, out).has_value();
}

}  // namespace parlance::json
