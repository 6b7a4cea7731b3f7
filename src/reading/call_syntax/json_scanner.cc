// An automaton with a stack; see json_scanner.h.
//
// Invariant: the bytes before position_ are read, step_ says what may come
// there, and open_ has the objects and lists that are open.  A byte that ends a
// token without belonging to it, such as the comma after a number, is read
// again in the next step.
//
//   text (_: a space)   step                     phase
//                       kValue                   outside
//   [                   kFirstItem               outside
//   [1,                 kValue                   outside
//   [1_                 kAfterItem               outside
//   ["x"                kAfterItem               unconfirmed
//   {                   kFirstKey                outside
//   {"a"                kColon                   unconfirmed
//   {"a":               kValue                   outside
//   {"a": {}            kAfterMember             outside
//   {"a": {},           kKey                     outside
//   {}                  kDone                    after
//   {} <s               kSeparator               after (<sep> separates)
//   ["x                 kString                  inside
//   ["\                 kEscape                  inside
//   ["\u0               kHex                     inside
//   ['x                 kSingle                  inside
//   ['\                 kSingleEscape            inside
//   [<|                 kOpening                 outside
//   [<|"|>x             kDelimited               inside
//   [-  [0  [12         kMinus  kZero  kInteger  outside
//   [1.  [1.5           kPoint  kFraction        outside
//   [1e  [1e+  [1e5     kExponent ...            outside
//   [tru                kLiteral                 outside
//   [trx                kBadScalar               outside
//   {a                  kBareKey                 outside
//   [1 x                kRecover                 broken
//   [1 x "              kRecoverString           broken
//   [1 x "\             kRecoverEscape           broken
//   ]                   kStopped                 broken
//
// The phase is kOutside, kInside in a string, kUnconfirmed from its end to the
// next byte that is no white space, kOutside if that byte fits, and so on.
// After a whole value it is kAfter, until the next value begins.  kBroken is
// for good: the rest is read, but what is a string in it is a guess.
//
// Order: the loop, between tokens, inside tokens, damage.

#include "call_syntax/json_scanner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/find_special.h"
#include "json/python_literal.h"
#include "json/string_body.h"

namespace parlance::call_syntax {
namespace {

using base::is_digit;

bool is_scalar(char c) {
  return base::is_letter(static_cast<unsigned char>(c)) || is_digit(c) ||
         c == '_' || c == '+' || c == '-' || c == '.' ||
         static_cast<unsigned char>(c) >= 0x80;
}

char opening_of(char bracket) { return bracket == ']' ? '[' : '{'; }

bool is_bare_key(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != '{' && c != '}' &&
         c != '[' && c != ']' && c != ',' && c != ':' && c != '"';
}

}  // namespace

State JsonScanner::state() const {
  constexpr std::array<std::string_view, 31> kSteps = {
      "value",     "first item", "first key",      "key",
      "colon",     "after item", "after member",   "done",
      "separator", "recover",    "stopped",        "string",
      "escape",    "hex",        "single",         "single escape",
      "opening",   "delimited",  "recover string", "recover escape",
      "minus",     "zero",       "integer",        "point",
      "fraction",  "exponent",   "exponent sign",  "exponent digits",
      "literal",   "bad scalar", "bare key"};
  static_assert(kSteps.size() == static_cast<std::size_t>(Step::kBareKey) + 1);
  return {kSteps[static_cast<std::size_t>(step_)], phase_, position_,
          step_ >= Step::kString ? token_ : position_, open_};
}

// ---- The loop ----

// Where one byte has closed several brackets ({"a": [1}), each is a token, and
// nothing is read before they are returned.
Token JsonScanner::next(const Input& input) {
  if (closes_ > 0) {
    --closes_;
    return {Kind::kClose, Encoding::kPlain, position_ - 1, position_};
  }
  const std::uint64_t total = input.total();
  while (position_ < total && step_ != Step::kStopped) {
    const Token token = read(input);
    if (token.kind != Kind::kMore) return token;
  }
  if (input.end && position_ == total) {
    const Token token = finish();
    if (token.kind != Kind::kMore) return token;
  }
  return flush();
}

void JsonScanner::follow(const Input& input) {
  const Phase before = phase_;
  const std::uint64_t total = input.total();
  while (phase_ == before && position_ < total && step_ != Step::kStopped) {
    (void)read(input);
    closes_ = 0;  // nobody takes the tokens that are due
  }
  if (input.end && position_ == total) (void)finish();
}

bool JsonScanner::skip_plain(const Input& input) {
  if (step_ != Step::kString) return false;
  const char* const end = input.text.data() + input.text.size();
  const char* const from = input.text.data() + (position_ - input.base);
  if (json::find_special(from, end) != end) return false;
  if (from != end) high_ = false;
  position_ = input.total();
  return true;
}

// REQUIRES: there is a byte at position_.
Token JsonScanner::read(const Input& input) {
  const char c = input.text[static_cast<std::size_t>(position_ - input.base)];
  return step_ >= Step::kString ? read_inside(input, c)
                                : read_between(input, c);
}

// The text ends here for good: a number at the top ends with it.
Token JsonScanner::finish() {
  switch (step_) {
    case Step::kZero:
    case Step::kInteger:
    case Step::kFraction:
    case Step::kExponentDigits:
      return open_.empty() ? end_scalar() : Token();
    case Step::kSeparator:
      return other_text(token_);
    default:
      return {};
  }
}

// What is certain of a token that the text ends in: of a string, all but an
// escape that is not whole, a high surrogate, which a low one may complete, and
// what may be the beginning of the closing delimiter.  A key is one token, and
// so is the text of a string in single quotes, whose escapes are judged at its
// end.
Token JsonScanner::flush() {
  if (!details_) return {};
  if (space_ != kNowhere && space_ < position_ && step_ <= Step::kDone) {
    return {Kind::kSpace, Encoding::kPlain, std::exchange(space_, kNowhere),
            position_};
  }
  std::uint64_t end = 0;
  Encoding encoding = Encoding::kJson;
  if (step_ == Step::kDelimited && !recovers_) {
    end = position_ - matched_;
    encoding = Encoding::kPlain;
  } else if (step_ == Step::kString && !high_) {
    end = position_;
  } else if (step_ == Step::kString || step_ == Step::kEscape ||
             step_ == Step::kHex) {
    end = word_;
  }
  if (key_ || end <= text_) return {};
  return {Kind::kText, encoding, std::exchange(text_, end), end};
}

// ---- Between tokens ----

// Reads a byte between tokens, or the first byte of one.
//
// kSpace is the text between two other tokens: white space, and the comma or
// the colon.  It comes before the byte that ends it is read.
Token JsonScanner::read_between(const Input& input, char c) {
  if (step_ == Step::kRecover) return read_recover(input, c);
  const bool separates = c == ':' ? step_ == Step::kColon
                                  : c == ',' && (step_ == Step::kAfterItem ||
                                                 step_ == Step::kAfterMember);
  if (step_ != Step::kSeparator) {
    if (base::is_space(c) || separates) {
      if (space_ == kNowhere) space_ = position_;
    } else if (details_ && space_ != kNowhere) {
      return {Kind::kSpace, Encoding::kPlain, std::exchange(space_, kNowhere),
              position_};
    }
    if (base::is_space(c)) {
      ++position_;
      return {};
    }
  }
  if (step_ >= Step::kDone) return read_after(c);  // kDone or kSeparator
  // If the byte may not follow a string, the phase becomes kBroken below.
  if (phase_ == Phase::kUnconfirmed) phase_ = Phase::kOutside;
  if (c == ']' || c == '}') return read_close(c);
  switch (step_) {
    case Step::kFirstItem:
    case Step::kValue:
      key_ = false;
      return begin_value(input, c);
    case Step::kFirstKey:
    case Step::kKey:
      key_ = true;
      return begin_key(input, c);
    default:  // kColon, kAfterItem, kAfterMember
      if (!separates) {
        // 01 or truex: the scalar goes on where its token has ended.
        if (scalar_end_ != position_ || !is_scalar(c)) return broken();
        token_ = position_;
        return bad_scalar();
      }
      step_ = step_ == Step::kAfterMember ? Step::kKey : Step::kValue;
      break;
  }
  ++position_;
  return {};
}

// A delimiter comes first: it may begin with any character.
Token JsonScanner::begin_value(const Input& input, char c) {
  if (begin_delimiter(input, c)) return read_opening(c);
  if (c == '"') return begin_string(Step::kString, 1);
  if (c == '{' || c == '[') return open(c);
  token_ = position_;
  python_ = false;
  if (c == '-') {
    step_ = Step::kMinus;
  } else if (c == '0') {
    step_ = Step::kZero;
  } else if (is_digit(c)) {
    step_ = Step::kInteger;
  } else if (c == '\'' && dialect_->single_quotes) {
    return begin_string(Step::kSingle, 1);
  } else if (!begin_literal(c)) {
    return is_scalar(c) ? bad_scalar() : broken();
  }
  ++position_;
  return {};
}

// A bare key is read by read_bare_key(), from its first character on.
Token JsonScanner::begin_key(const Input& input, char c) {
  if (begin_delimiter(input, c)) return read_opening(c);
  if (c == '"') return begin_string(Step::kString, 1);
  if (c == '\'' && dialect_->single_quotes) {
    return begin_string(Step::kSingle, 1);
  }
  switch (dialect_->keys) {
    case JsonDialect::Keys::kQuoted:
      return broken();
    case JsonDialect::Keys::kText:
      if (!is_bare_key(c)) return broken();
      break;
    case JsonDialect::Keys::kWords: {
      auto at = static_cast<std::size_t>(position_ - input.base);
      if (!dialect_->is_word(base::next_code_point(input.text, at))) {
        return broken();
      }
      break;
    }
  }
  token_ = word_ = position_;
  matched_ = 0;
  step_ = Step::kBareKey;
  return {};
}

// What is nested too deeply cannot be followed: its brackets are not counted.
Token JsonScanner::open(char c) {
  if (open_.size() >= dialect_->max_depth) return stop();
  if (first_bracket_ == 0) first_bracket_ = c;
  open_ += c;
  step_ = c == '{' ? Step::kFirstKey : Step::kFirstItem;
  ++position_;
  return {c == '{' ? Kind::kObject : Kind::kList, Encoding::kPlain,
          position_ - 1, position_};
}

// A bracket closes the innermost object or list if that may end here, unlike in
// "[1,]" and {"a"}.
Token JsonScanner::read_close(char c) {
  const Step first = c == ']' ? Step::kFirstItem : Step::kFirstKey;
  const Step after = c == ']' ? Step::kAfterItem : Step::kAfterMember;
  if (step_ == first || step_ == after) {
    ++position_;
    open_.pop_back();
    end_value();
    return {Kind::kClose, Encoding::kPlain, position_ - 1, position_};
  }
  // Else it closes what was left open inside its pair, as read_recover() does.
  if (open_.rfind(opening_of(c)) == std::string::npos) return stop();
  return recover();
}

// A value has ended before position_.
void JsonScanner::end_value() {
  if (!open_.empty()) {
    step_ = open_.back() == '{' ? Step::kAfterMember : Step::kAfterItem;
    return;
  }
  step_ = Step::kDone;
  if (phase_ != Phase::kBroken) phase_ = Phase::kAfter;
  has_value_ = true;
  value_end_ = position_;
  separated_ = false;
}

// After a value: a separator, the next value, or something else.  token_ is
// where a separator may begin; if it is no separator, the other text begins
// there.
Token JsonScanner::read_after(char c) {
  using Values = JsonDialect::Values;
  const std::string& separator = dialect_->separator;
  const bool loose = dialect_->values == Values::kLoose;
  if (step_ == Step::kDone) {
    if (dialect_->values == Values::kOne) return other_text(position_);
    // The next value comes, unless its separator has to come first.
    if (separated_ || separator.empty() || (loose && c != separator[0])) {
      // Other text may begin with another bracket than the values do.
      const bool opens = loose ? c == '{' || c == '[' : c == first_bracket_;
      if (!opens) return other_text(position_);
      if (phase_ != Phase::kBroken) phase_ = Phase::kOutside;
      step_ = Step::kValue;
      return {};
    }
    token_ = position_;
    matched_ = 0;
    step_ = Step::kSeparator;
  }
  if (separator[matched_] != c) return other_text(token_);
  ++position_;
  if (++matched_ == separator.size()) {
    step_ = Step::kDone;
    separated_ = true;
  }
  return {};
}

Token JsonScanner::other_text(std::uint64_t at) {
  if (phase_ != Phase::kBroken) phase_ = Phase::kOther;
  step_ = Step::kStopped;
  other_ = at;
  return {};
}

// ---- Inside tokens ----

Token JsonScanner::read_inside(const Input& input, char c) {
  switch (step_) {
    case Step::kString:
      return read_string(input);
    case Step::kEscape:
      if (c == 'u') {
        hex_left_ = 4;
        step_ = Step::kHex;
      } else {
        high_ = false;
        step_ = Step::kString;
        // No escape: the byte is read as text.  It may be a line feed.
        if (json::short_escape(c) == 0) return bad();
      }
      break;
    case Step::kHex:
      return read_hex(c);
    case Step::kSingle:
    case Step::kSingleEscape:
      return read_single(input, c);
    case Step::kOpening:
      return read_opening(c);
    case Step::kDelimited:
      return read_delimited(input);
    case Step::kRecoverString:
      if (c == '"') step_ = Step::kRecover;
      if (c == '\\') step_ = Step::kRecoverEscape;
      break;
    case Step::kRecoverEscape:
      step_ = Step::kRecoverString;
      break;
    case Step::kLiteral:
      // After "N": None, not NaN.
      if (literal_left_ == "aN" && c == 'o' && dialect_->python_words) {
        python_ = true;
        word_ = kNowhere;
        literal_left_ = "one";
      }
      if (c != literal_left_.front()) return bad_scalar();
      literal_left_.remove_prefix(1);
      ++position_;
      return literal_left_.empty() ? end_scalar() : Token();
    case Step::kBadScalar:
      if (!is_scalar(c)) {
        end_value();
        return {};
      }
      break;
    case Step::kBareKey:
      return read_bare_key(input, c);
    default:
      return read_number(c);
  }
  ++position_;
  return {};
}

// ---- Strings ----

// Enters a string whose quote or delimiter ends `size` bytes after position_.
Token JsonScanner::begin_string(Step step, std::uint64_t size) {
  step_ = step;
  const std::uint64_t begin = position_;
  position_ += size;
  token_ = text_ = position_;
  matched_ = 0;
  high_ = false;
  if (phase_ != Phase::kBroken) phase_ = Phase::kInside;
  if (key_) return {};
  return {Kind::kTextBegin, Encoding::kPlain, begin, position_};
}

// Reads to the end of the string, to an escape, or to the end of the text.
Token JsonScanner::read_string(const Input& input) {
  const char* const begin = input.text.data();
  const char* const end = begin + input.text.size();
  const char* const from = begin + (position_ - input.base);
  const char* const p = json::find_special(from, end);
  if (p != from) high_ = false;
  position_ += static_cast<std::uint64_t>(p - from);
  if (p == end) return {};
  if (*p == '"') return end_string(1, Encoding::kJson);
  if (*p == '\\') {
    // A low surrogate belongs to the high one before it.
    if (!high_) word_ = position_;
    step_ = Step::kEscape;
    ++position_;
    return {};
  }
  // A control character, which JSON has not in strings.  At a line feed the
  // string was never closed, or it goes on: it is followed to the next quote.
  const Token token = broken();
  if (step_ == Step::kRecover) step_ = Step::kRecoverString;
  return token;
}

// The digits of a \u escape.  What stands before a high surrogate is certain,
// and so is a high surrogate before another one.  code_ has 16 bits: four
// digits replace those of the escape before.
Token JsonScanner::read_hex(char c) {
  const int digit = base::hex_digit(static_cast<unsigned char>(c));
  if (digit < 0) {
    step_ = Step::kString;
    high_ = false;
    return bad();
  }
  code_ = static_cast<std::uint16_t>(code_ << 4 | digit);
  ++position_;
  if (--hex_left_ == 0) {
    step_ = Step::kString;
    high_ = code_ >= 0xD800 && code_ < 0xDC00;
    if (high_) word_ = position_ - std::string_view("\\uD800").size();
  }
  return {};
}

// A string in single quotes has the escapes of Python.  They are judged at its
// end: a bad one (\N{...}) spoils the string before any of its text is sent.
// Without details nobody reads the text.
Token JsonScanner::read_single(const Input& input, char c) {
  if (step_ == Step::kSingleEscape) {
    step_ = Step::kSingle;
  } else if (c == '\\') {
    step_ = Step::kSingleEscape;
  } else if (c == '\'') {
    if (details_) {
      std::string text;
      const bool valid = json::append_python_text(
          input.slice(token_, position_), /*raw=*/false, text);
      if (!valid) {
        ++position_;
        step_ = Step::kBadScalar;
        return bad();
      }
    }
    return end_string(1, Encoding::kPython);
  }
  ++position_;
  return {};
}

// Whether a delimiter begins with `c`.  The bytes that follow decide which one;
// if they fit none, that is damage (read_opening).
bool JsonScanner::begin_delimiter(const Input& input, char c) {
  for (std::size_t i = 0; i < dialect_->delimiters.size(); ++i) {
    const auto& [open, close, marks] = dialect_->delimiters[i];
    if (open.empty() || open[0] != c) continue;
    if (marks && !input.has_mark_at(position_)) continue;
    delimiter_ = static_cast<std::uint32_t>(i);
    token_ = position_;
    matched_ = 0;
    step_ = Step::kOpening;
    return true;
  }
  return false;
}

// Reads a byte of an opening delimiter.  Invariant: delimiter_ is the first one
// that the bytes so far fit, and matched_ is how many they are.
Token JsonScanner::read_opening(char c) {
  const auto& all = dialect_->delimiters;
  const std::string& read = all[delimiter_].open;
  for (std::size_t i = delimiter_; i < all.size(); ++i) {
    const std::string& open = all[i].open;
    if (matched_ >= open.size() || open[matched_] != c ||
        open.compare(0, matched_, read, 0, matched_) != 0) {
      continue;
    }
    delimiter_ = static_cast<std::uint32_t>(i);
    if (++matched_ < open.size()) {
      ++position_;
      return {};
    }
    // In damage the string is followed without a token and a phase.
    if (recovers_) {
      step_ = Step::kDelimited;
      matched_ = 0;
      ++position_;
      return {};
    }
    const std::uint64_t begin = token_;
    Token token = begin_string(Step::kDelimited, 1);
    if (token.kind == Kind::kTextBegin) token.begin = begin;
    return token;
  }
  if (!recovers_) return broken();
  recovers_ = false;
  step_ = Step::kRecover;
  return {};
}

// Reads to the end of the string or of the text.  Invariant of the loop: the
// bytes before i end with the first matched_ bytes of the closing delimiter.
Token JsonScanner::read_delimited(const Input& input) {
  const auto& [open, close, marks] = dialect_->delimiters[delimiter_];
  const std::string_view text = input.text;
  auto i = static_cast<std::size_t>(position_ - input.base);
  for (; i < text.size(); ++i) {
    if (matched_ == 0) i = std::min(text.find(close[0], i), text.size() - 1);
    const char c = text[i];
    // The longest beginning of the delimiter that the bytes so far end with.
    while (matched_ > 0 && close[matched_] != c) {
      std::size_t shorter = matched_ - 1;
      while (shorter > 0 && close.compare(0, shorter, close, matched_ - shorter,
                                          shorter) != 0) {
        --shorter;
      }
      matched_ = shorter;
    }
    if (close[matched_] == c) ++matched_;
    if (matched_ < close.size()) continue;
    const std::uint64_t begin = input.base + i + 1 - close.size();
    matched_ = 0;
    // The spelling of a mark is text.
    if (marks && !input.has_mark_at(begin)) continue;
    if (recovers_) {
      position_ = input.base + i + 1;
      recovers_ = false;
      step_ = Step::kRecover;
      return {};
    }
    // end_string() sends the text before the delimiter first, if there is any.
    // Then the last byte of the delimiter is read once more, and the end is
    // found again.
    matched_ = close.size() - 1;
    position_ = begin;
    Token token = end_string(close.size(), Encoding::kPlain);
    if (token.kind == Kind::kText) {
      position_ = input.base + i;
    } else {
      matched_ = 0;
    }
    return token;
  }
  position_ = input.base + i;
  return {};
}

// A string ends with a quote or delimiter of `size` bytes after position_.  If
// some of its text was not sent, this is sent, and the end is read again.
Token JsonScanner::end_string(std::uint64_t size, Encoding encoding) {
  if (!key_ && details_ && text_ < position_) {
    const Token token = {Kind::kText, encoding, text_, position_};
    text_ = position_;
    return token;
  }
  const std::uint64_t end = position_;
  position_ += size;
  string_end_ = position_;
  if (phase_ != Phase::kBroken) phase_ = Phase::kUnconfirmed;
  if (key_) {
    step_ = Step::kColon;
    return {Kind::kKey, encoding, token_, end};
  }
  end_value();
  return {Kind::kTextEnd, encoding, end, position_};
}

// ---- Scalars and bare keys ----

// Enters the word whose first byte is `c`.  False: no word begins so.
bool JsonScanner::begin_literal(char c) {
  python_ = false;
  switch (c) {
    case 't':
      literal_left_ = "rue";
      break;
    case 'f':
      literal_left_ = "alse";
      break;
    case 'n':
      literal_left_ = "ull";
      break;
    case 'N':
      literal_left_ = "aN";
      break;
    case 'I':
      literal_left_ = "nfinity";
      break;
    case 'T':
    case 'F':
      if (!dialect_->python_words) return false;
      python_ = true;
      literal_left_ = c == 'T' ? "rue" : "alse";
      break;
    default:
      return false;
  }
  word_ = c == 'N' || c == 'I' ? position_ : kNowhere;
  step_ = Step::kLiteral;
  return true;
}

// A byte that cannot continue a whole number ends it, and is not read.
Token JsonScanner::read_number(char c) {
  const auto go = [&](Step next) {
    step_ = next;
    ++position_;
    return Token();
  };
  switch (step_) {
    case Step::kMinus:
      if (c == 'I') {
        (void)begin_literal(c);
        ++position_;
        return {};
      }
      if (!is_digit(c)) return bad_scalar();
      return go(c == '0' ? Step::kZero : Step::kInteger);
    case Step::kInteger:
      if (is_digit(c)) return go(step_);
      [[fallthrough]];
    case Step::kZero:
      if (c == '.') return go(Step::kPoint);
      if (c == 'e' || c == 'E') return go(Step::kExponent);
      return end_scalar();
    case Step::kPoint:
      return is_digit(c) ? go(Step::kFraction) : bad_scalar();
    case Step::kFraction:
      if (c == 'e' || c == 'E') return go(Step::kExponent);
      return is_digit(c) ? go(step_) : end_scalar();
    case Step::kExponent:
      if (c == '+' || c == '-') return go(Step::kExponentSign);
      [[fallthrough]];
    case Step::kExponentSign:
      return is_digit(c) ? go(Step::kExponentDigits) : bad_scalar();
    default:  // kExponentDigits
      return is_digit(c) ? go(step_) : end_scalar();
  }
}

Token JsonScanner::end_scalar() {
  scalar_end_ = position_;
  const Encoding encoding = python_ ? Encoding::kPython : Encoding::kJson;
  end_value();
  return {Kind::kScalar, encoding, token_, position_};
}

// A scalar that is not valid (tru, 1.x).  It is read to its end, and spoils
// only its value.  Outside brackets it is no value at all.
Token JsonScanner::bad_scalar() {
  if (open_.empty()) return stop();
  step_ = Step::kBadScalar;
  return {Kind::kBad, Encoding::kPlain, token_, position_};
}

// Whether the opening delimiter of a string ends with `c`, which is read after
// other characters of a key.  Invariant: matched_ is how many bytes of the
// delimiter delimiter_ stand before it.
bool JsonScanner::meets_delimiter(const Input& input, char c) {
  const auto& all = dialect_->delimiters;
  const auto fits = [&](std::size_t i) {
    const auto& [open, close, marks] = all[i];
    return matched_ < open.size() && open[matched_] == c &&
           (matched_ > 0 || !marks || input.has_mark_at(position_));
  };
  if (matched_ == 0 || !fits(delimiter_)) {
    matched_ = 0;
    std::size_t i = 0;
    while (i < all.size() && !fits(i)) ++i;
    if (i == all.size()) return false;
    delimiter_ = static_cast<std::uint32_t>(i);
  }
  return ++matched_ == all[delimiter_].open.size();
}

// Reads a character of a key.  word_ is the end of the key without white space.
Token JsonScanner::read_bare_key(const Input& input, char c) {
  if (dialect_->keys == JsonDialect::Keys::kWords) {
    const auto begin = static_cast<std::size_t>(position_ - input.base);
    std::size_t at = begin;
    if (dialect_->is_word(base::next_code_point(input.text, at))) {
      position_ += at - begin;
      return {};
    }
    word_ = position_;
  } else if (meets_delimiter(input, c)) {
    // A key has delimiters from its beginning on, or none: the string that
    // begins here is followed as one in damage.
    phase_ = Phase::kBroken;
    (void)recover();
    step_ = Step::kDelimited;
    recovers_ = true;
    matched_ = 0;
    ++position_;
    return bad();
  } else if (is_bare_key(c)) {
    ++position_;
    if (c != ' ') word_ = position_;
    return {};
  } else if (c != ':' && !base::is_space(c)) {
    return broken();
  }
  if (word_ < position_) space_ = word_;
  step_ = Step::kColon;
  return {Kind::kKey, Encoding::kPlain, token_, word_};
}

// ---- Damage ----

// From here on it is a guess what is a string: in ["say "hi" there"] the quotes
// after "say" may be text, or begin and end strings.
Token JsonScanner::broken() {
  if (open_.empty()) return stop();
  phase_ = Phase::kBroken;
  return recover();
}

// Follows brackets and strings until the innermost object or list closes.  The
// byte at position_ is not read yet.
Token JsonScanner::recover() {
  step_ = Step::kRecover;
  recover_depth_ = open_.size();
  space_ = kNowhere;
  return bad();
}

// After damage: strings and brackets, until structure is known again.
// Invariant: open_ is not shorter than recover_depth_, and the brackets beyond
// it were opened after the damage, without tokens.
//
// `items`: the damage is in a list, and nothing is open inside it.  A comma or
// a bracket begins its next item, as in [see below, {"name": "f"}].
Token JsonScanner::read_recover(const Input& input, char c) {
  const bool items = open_.size() == recover_depth_ && open_.back() == '[';
  if (begin_delimiter(input, c)) {
    recovers_ = true;
    return read_opening(c);
  }
  switch (c) {
    case '"':
      step_ = Step::kRecoverString;
      break;
    case '{':
    case '[':
      if (items) {
        step_ = Step::kValue;
        return {};
      }
      if (open_.size() >= dialect_->max_depth) return stop();
      open_ += c;
      break;
    case ',':
      if (items) step_ = Step::kValue;
      break;
    case '}':
    case ']': {
      const std::size_t pair = open_.rfind(opening_of(c));
      if (pair == std::string::npos) return stop();
      ++position_;
      open_.resize(pair);
      if (pair >= recover_depth_) return {};
      // One kClose for each bracket that had a token: this one, and those that
      // are due.
      closes_ = static_cast<std::uint32_t>(recover_depth_ - pair - 1);
      end_value();
      return {Kind::kClose, Encoding::kPlain, position_ - 1, position_};
    }
    default:
      break;
  }
  ++position_;
  return {};
}

// Nothing can be followed any more: a closing bracket without its pair,
// brackets that are nested too deeply, or damage outside brackets.
Token JsonScanner::stop() {
  phase_ = Phase::kBroken;
  step_ = Step::kStopped;
  return bad();
}

}  // namespace parlance::call_syntax
