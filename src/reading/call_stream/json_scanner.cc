// An automaton with a stack; see json_scanner.h.

#include "call_stream/json_scanner.h"

#include "base/ascii.h"
#include "json/string_body.h"

namespace parlance::call_stream {
namespace {

using base::is_digit;

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

// Enters the value whose first byte is `c`.  False: no value begins so.
bool JsonScanner::begin_value(char c) {
  switch (c) {
    case '"':
      key_ = false;
      step_ = Step::kString;
      return true;
    case '{':
    case '[':
      if (open_.size() >= max_depth_) return false;
      open_ += c;
      step_ = c == '{' ? Step::kFirstKey : Step::kFirstItem;
      return true;
    case '-':
      step_ = Step::kMinus;
      return true;
    case '0':
      step_ = Step::kZero;
      return true;
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
      words_.push_back(position_);
      break;
    case 'I':
      literal_left_ = "nfinity";
      words_.push_back(position_);
      break;
    default:
      if (!is_digit(c)) return false;
      step_ = Step::kInteger;
      return true;
  }
  step_ = Step::kLiteral;
  return true;
}

JsonScanner::Token JsonScanner::end_value() {
  step_ = open_.empty()         ? Step::kDone
          : open_.back() == '{' ? Step::kAfterMember
                                : Step::kAfterItem;
  return Token::kEnd;
}

// A byte of a number, or the byte after it (`more` is false).  Returns false if
// the number may not end so.
bool JsonScanner::number_byte(char c, bool& more) {
  more = true;
  switch (step_) {
    case Step::kMinus:
      if (c == 'I') {
        literal_left_ = "nfinity";
        words_.push_back(position_);
        step_ = Step::kLiteral;
        return true;
      }
      step_ = c == '0' ? Step::kZero : Step::kInteger;
      return is_digit(c);
    case Step::kInteger:
      if (is_digit(c)) return true;
      [[fallthrough]];
    case Step::kZero:
      if (c == '.') {
        step_ = Step::kPoint;
      } else if (c == 'e' || c == 'E') {
        step_ = Step::kExponent;
      } else {
        more = false;
      }
      return true;
    case Step::kPoint:
      step_ = Step::kFraction;
      return is_digit(c);
    case Step::kFraction:
      if (c == 'e' || c == 'E') {
        step_ = Step::kExponent;
      } else {
        more = is_digit(c);
      }
      return true;
    case Step::kExponent:
      if (c == '+' || c == '-') {
        step_ = Step::kExponentSign;
        return true;
      }
      [[fallthrough]];
    case Step::kExponentSign:
      step_ = Step::kExponentDigits;
      return is_digit(c);
    default:
      more = is_digit(c);
      return true;
  }
}

// Reads a byte inside a token, or the plain bytes of a string.
// REQUIRES: step_ is kString or after it; the text has a byte at position_.
JsonScanner::Token JsonScanner::read_inside(std::string_view text) {
  const char c = text[position_];
  switch (step_) {
    case Step::kString:
      while (position_ < text.size() && is_plain(text[position_])) ++position_;
      if (position_ == text.size()) return Token::kMore;
      if (text[position_] == '"') {
        ++position_;
        if (!key_) return end_value();
        step_ = Step::kColon;
        return Token::kKey;
      }
      if (text[position_] != '\\') return fail();
      step_ = Step::kEscape;
      break;
    case Step::kEscape:
      if (c == 'u') {
        hex_left_ = 4;
        step_ = Step::kHex;
      } else if (json::short_escape(c) != 0) {
        step_ = Step::kString;
      } else {
        return fail();
      }
      break;
    case Step::kHex:
      if (!is_hex(c)) return fail();
      if (--hex_left_ == 0) step_ = Step::kString;
      break;
    case Step::kLiteral:
      if (c != literal_left_.front()) return fail();
      literal_left_.remove_prefix(1);
      if (literal_left_.empty()) {
        ++position_;
        return end_value();
      }
      break;
    case Step::kFailed:
      return Token::kFailed;
    default: {
      bool more = false;
      if (!number_byte(c, more)) return fail();
      if (!more) return end_value();
      break;
    }
  }
  ++position_;
  return Token::kMore;
}

// Reads a byte between tokens, or the first byte of one.
JsonScanner::Token JsonScanner::read_between(char c) {
  if (base::is_space(c)) {
    ++position_;
    return Token::kMore;
  }
  const bool closes =
      c == ']' ? step_ == Step::kFirstItem || step_ == Step::kAfterItem
               : c == '}' &&
                     (step_ == Step::kFirstKey || step_ == Step::kAfterMember);
  if (closes) {
    ++position_;
    open_.pop_back();
    return end_value();
  }
  switch (step_) {
    case Step::kFirstItem:
    case Step::kValue:
      step_ = Step::kValue;
      if (!begun_) {
        begun_ = true;
        return Token::kBegin;
      }
      begun_ = false;
      if (!begin_value(c)) return fail();
      break;
    case Step::kFirstKey:
    case Step::kKey:
      if (c != '"') return fail();
      key_ = true;
      token_begin_ = position_;
      step_ = Step::kString;
      break;
    case Step::kColon:
      if (c != ':') return fail();
      step_ = Step::kValue;
      break;
    case Step::kAfterItem:
    case Step::kAfterMember:
      if (c != ',') return fail();
      step_ = step_ == Step::kAfterItem ? Step::kValue : Step::kKey;
      break;
    default:  // kDone
      return fail();
  }
  ++position_;
  return Token::kMore;
}

// Invariant: step_ says what may come at position_, and open_ has the arrays
// and objects that are open there.
JsonScanner::Token JsonScanner::next(std::string_view text) {
  Token token = Token::kMore;
  while (token == Token::kMore && position_ < text.size()) {
    token = step_ >= Step::kString ? read_inside(text)
                                   : read_between(text[position_]);
  }
  return token;
}

void JsonScanner::copy(std::string_view text, std::size_t& from, std::size_t to,
                       std::string& out) {
  std::size_t passed = 0;
  for (; passed < words_.size() && words_[passed] < to; ++passed) {
    const std::size_t begin = words_[passed];
    if (begin < from) continue;
    out += text.substr(from, begin - from);
    from = begin;
    const bool is_nan = text[begin] == 'N';
    const std::size_t end =
        begin + std::string_view(is_nan ? "NaN" : "Infinity").size();
    if (end > to) {
      to = begin;
      break;
    }
    out += is_nan ? "null" : "1e999";
    from = end;
  }
  words_.erase(words_.begin(),
               words_.begin() + static_cast<std::ptrdiff_t>(passed));
  out += text.substr(from, to - from);
  from = to;
}

}  // namespace parlance::call_stream
