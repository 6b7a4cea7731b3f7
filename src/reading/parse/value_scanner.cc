// Scanning values, see value_scanner.h.
//
//                 quote                quote
//   kOutside ------------> kInside ------------> kUnconfirmed
//    |  ^  ^                  ^  third quote          |
//    |  |  |                  +-----------------------|
//    |  |  +------------------------------------------+
//    |  |                       a token that may follow
//    |  | the next value
//    |  +-------------- kAfter -----------> kOther
//    +-------------------^      other text
//     the outermost bracket closes
//
// From kOutside and kUnconfirmed a byte that does not fit leads to kBroken.

#include "parse/value_scanner.h"

namespace parlance::parse {
namespace {

bool is_scanned_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_scalar(char c) {
  return is_word(c) || c == '+' || c == '-' || c == '.';
}

char opening_of(char bracket) {
  return bracket == ')' ? '(' : bracket == ']' ? '[' : '{';
}

}  // namespace

void ValueScanner::start(const ValueLanguage* language,
                         std::uint64_t position) {
  *this = ValueScanner();
  language_ = language;
  position_ = position;
  if (language->kind == ValueLanguage::Kind::kJson) {
    json_.emplace(language->json, position);
  }
}

void ValueScanner::scan(const Input& input) {
  if (json_) return json_->follow(input);
  const Phase before = phase_;
  while (phase_ == before && position_ < input.total()) {
    if (phase_ == Phase::kOther || phase_ == Phase::kBroken) return;
    if (!step(input.text[static_cast<std::size_t>(position_ - input.base)])) {
      return;
    }
    ++position_;
  }
  if (input.end && position_ == input.total()) finish();
}

// Ends the text: what has only begun after a value is no value.
void ValueScanner::finish() {
  if (phase_ == Phase::kAfter && token_ != Token::kNone) other(token_begin_);
  const bool scalar = phase_ == Phase::kOutside && token_ == Token::kWord &&
                      stack_.empty() &&
                      language_->kind != ValueLanguage::Kind::kCalls;
  if (scalar) end_value(position_);
}

bool ValueScanner::damaged() {
  phase_ = Phase::kBroken;
  return false;
}

bool ValueScanner::other(std::uint64_t at) {
  phase_ = Phase::kOther;
  other_ = at;
  return false;
}

bool ValueScanner::step(char c) {
  if (phase_ == Phase::kInside) return step_string(c);
  if (phase_ == Phase::kAfter) return step_after(c);
  if (phase_ == Phase::kUnconfirmed) {
    if (empty_ && position_ == string_end_ && c == quote_) {
      // The third quote: a long string begins.
      phase_ = Phase::kInside;
      triple_ = true;
      empty_ = false;
      in_row_ = 0;
      return true;
    }
    if (is_scanned_space(c)) return true;
    phase_ = Phase::kOutside;
    if (std::string_view(",:)]}\"'+%*").find(c) == std::string_view::npos) {
      return damaged();
    }
  }
  return stack_.empty() && language_->kind == ValueLanguage::Kind::kCalls
             ? step_name(c)
             : step_python(c);
}

void ValueScanner::begin_string(char quote) {
  phase_ = Phase::kInside;
  quote_ = quote;
  escaped_ = triple_ = false;
  empty_ = true;
  in_row_ = 0;
}

void ValueScanner::end_string() {
  string_end_ = position_ + 1;
  operand_ = true;
  spaced_ = false;
  if (stack_.empty()) {
    end_value(string_end_);
  } else {
    phase_ = Phase::kUnconfirmed;
  }
}

bool ValueScanner::step_string(char c) {
  if (escaped_) {
    escaped_ = false;
    in_row_ = 0;
    return true;
  }
  if (c == '\\') {
    escaped_ = true;
    empty_ = false;
    in_row_ = 0;
    return true;
  }
  if (c == quote_) {
    if (!triple_ || ++in_row_ == 3) end_string();
    return true;
  }
  in_row_ = 0;
  empty_ = false;
  return true;
}

void ValueScanner::end_value(std::uint64_t at) {
  phase_ = Phase::kAfter;
  has_value_ = true;
  value_end_ = at;
  token_ = Token::kNone;
  matched_ = 0;
  separated_ = operand_ = spaced_ = name_ended_ = false;
}

void ValueScanner::open(char bracket) {
  stack_ += bracket;
  operand_ = spaced_ = false;
  if (stack_.size() > language_->max_depth) damaged();
}

bool ValueScanner::close(char bracket) {
  // A bracket closes what was left open inside its pair.
  const std::size_t pair = stack_.rfind(opening_of(bracket));
  if (pair == std::string::npos) return damaged();
  stack_.resize(pair);
  operand_ = true;
  spaced_ = false;
  if (stack_.empty()) end_value(position_ + 1);
  return true;
}

// In the name of a call: more of it, or its parenthesis.
bool ValueScanner::step_in_name(char c) {
  if (c == '(') {
    token_ = Token::kNone;
    phase_ = Phase::kOutside;
    open('(');
    return true;
  }
  if (is_scanned_space(c) && c != '\n') {
    name_ended_ = true;
    return true;
  }
  return !name_ended_ && (is_word(c) || c == '.');
}

// After a value: white space, a separator, the next value, or something else.
bool ValueScanner::step_after(char c) {
  const std::string& separator = language_->separator;
  if (token_ == Token::kSeparator) {
    if (separator[matched_] != c) return other(token_begin_);
    if (++matched_ == separator.size()) {
      token_ = Token::kNone;
      separated_ = true;
    }
    return true;
  }
  if (token_ == Token::kWord) {
    return step_in_name(c) || other(token_begin_);
  }
  if (is_scanned_space(c)) return true;
  if (!language_->several) return other(position_);
  if (!separated_ && !separator.empty()) {
    if (separator[0] != c) return other(position_);
    token_ = Token::kSeparator;
    token_begin_ = position_;
    matched_ = 0;
    return step_after(c);
  }
  if (language_->kind == ValueLanguage::Kind::kCalls && is_word(c)) {
    token_ = Token::kWord;
    token_begin_ = position_;
    name_ended_ = false;
    return true;
  }
  if (c != '{' && c != '[') return other(position_);
  phase_ = Phase::kOutside;
  open(c);
  return phase_ != Phase::kBroken;
}

bool ValueScanner::step_python(char c) {
  if (token_ == Token::kWord) {
    if (is_scalar(c)) return true;
    token_ = Token::kNone;
    if (stack_.empty() && c != '"' && c != '\'') {
      end_value(position_);
      return step_after(c);
    }
  }
  if (is_scanned_space(c)) {
    spaced_ = true;
    return true;
  }
  switch (c) {
    case '(':
    case '[':
    case '{':
      open(c);
      return phase_ != Phase::kBroken;
    case ')':
    case ']':
    case '}':
      return close(c);
    case '"':
    case '\'':
      begin_string(c);
      return true;
    default:
      break;
  }
  if (is_scalar(c)) {
    if (operand_ && spaced_ && c != '+' && c != '-') return damaged();
    token_ = Token::kWord;
    operand_ = true;
    spaced_ = false;
    return true;
  }
  if (stack_.empty()) return damaged();
  operand_ = spaced_ = false;
  return true;
}

// Before the first call, outside brackets: a name and its parenthesis, or a
// bracket.
bool ValueScanner::step_name(char c) {
  if (token_ == Token::kWord) return step_in_name(c) || damaged();
  if (is_scanned_space(c)) return true;
  if (c == '[') {
    open(c);
    return true;
  }
  if (!is_word(c)) return damaged();
  token_ = Token::kWord;
  return true;
}

}  // namespace parlance::parse
