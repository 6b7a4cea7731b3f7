// Scanning values, see value_scanner.h.
//
//                 quote                quote
//   kOutside ------------> kString ------------> kUnconfirmed
//    |  ^  ^                  ^  third quote          |
//    |  |  |                  +-----------------------|
//    |  |  +------------------------------------------+
//    |  |                       a token that may follow
//    |  | the next value
//    |  +-------------- kAfter -----------> kOther
//    +-------------------^      other text
//     the outermost bracket closes
//
// From kOutside and kUnconfirmed a byte that does not fit leads to kDamaged.

#include "parse/value_scanner.h"

#include "json/dialect.h"

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

// Enough of a word to compare it with the literals of JSON.
constexpr std::size_t kLongestLiteral = 10;

// Whether `word` begins like a number or is a literal, as Python reads JSON.
bool is_json_word(std::string_view word, bool python_words) {
  if (python_words && !json::Dialect::json_word(word).empty()) return true;
  if (!word.empty() && word[0] == '-') word.remove_prefix(1);
  if (!word.empty() && word[0] >= '0' && word[0] <= '9') return true;
  return word == "true" || word == "false" || word == "null" || word == "NaN" ||
         word == "Infinity";
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
}

std::size_t ValueScanner::scan(std::string_view text,
                               const Delimits& delimits) {
  const Phase before = phase_;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (phase_ == Phase::kOther || phase_ == Phase::kDamaged) return i;
    if (!step(text[i], delimits)) return i;
    ++position_;
    if (phase_ != before) return i + 1;
  }
  return text.size();
}

void ValueScanner::finish() {
  if (phase_ == Phase::kAfter && token_ != Token::kNone) other(token_begin_);
  const bool scalar =
      phase_ == Phase::kOutside && token_ == Token::kWord && stack_.empty() &&
      language_->kind != ValueLanguage::Kind::kCalls &&
      (python() || is_json_word(word_, language_->python_words));
  if (scalar) end_value(position_);
}

bool ValueScanner::damaged() {
  phase_ = Phase::kDamaged;
  return false;
}

bool ValueScanner::other(std::uint64_t at) {
  phase_ = Phase::kOther;
  other_ = at;
  return false;
}

bool ValueScanner::step(char c, const Delimits& delimits) {
  if (phase_ == Phase::kString) return step_string(c, delimits);
  if (token_ == Token::kDelimiter) return step_delimiter(c);
  if (phase_ == Phase::kAfter) return step_after(c);
  if (phase_ == Phase::kUnconfirmed) {
    if (python() && empty_ && position_ == string_end_ && c == quote_) {
      // The third quote: a long string begins.
      phase_ = Phase::kString;
      triple_ = true;
      empty_ = false;
      in_row_ = 0;
      return true;
    }
    if (is_scanned_space(c)) return true;
    phase_ = Phase::kOutside;
    if (python() &&
        std::string_view(",:)]}\"'+%*").find(c) == std::string_view::npos) {
      return damaged();
    }
  }
  if (!python() && token_ == Token::kNone) {
    for (const auto& [begin, end] : language_->string_delims) {
      if (begin.empty() || begin[0] != c || !delimits(position_)) continue;
      if (expect_ == Expect::kColon || expect_ == Expect::kCommaOrEnd) {
        return damaged();
      }
      token_ = Token::kDelimiter;
      token_begin_ = position_;
      close_ = &end;
      matched_ = 0;
      return step_delimiter(c);
    }
  }
  if (!python()) return step_json(c);
  return stack_.empty() && language_->kind == ValueLanguage::Kind::kCalls
             ? step_name(c)
             : step_python(c);
}

// Reads a byte of the opening delimiter of a string.  close_ belongs to the
// first delimiter that the bytes so far fit.
bool ValueScanner::step_delimiter(char c) {
  const auto& all = language_->string_delims;
  const std::string* read = nullptr;  // the delimiter of close_
  for (const auto& [begin, end] : all) {
    if (close_ == &end) read = &begin;
    if (read == nullptr || matched_ >= begin.size() || begin[matched_] != c ||
        begin.compare(0, matched_, *read, 0, matched_) != 0) {
      continue;
    }
    close_ = &end;
    if (++matched_ < begin.size()) return true;
    token_ = Token::kNone;
    begin_string('\0');
    return true;
  }
  return damaged();
}

void ValueScanner::begin_string(char quote) {
  phase_ = Phase::kString;
  key_ = expect_ == Expect::kKey || expect_ == Expect::kKeyOrEnd;
  if (quote != '\0') close_ = nullptr;
  quote_ = quote;
  escaped_ = triple_ = false;
  empty_ = true;
  in_row_ = 0;
  matched_ = 0;
}

void ValueScanner::end_string() {
  string_end_ = position_ + 1;
  operand_ = true;
  spaced_ = false;
  expect_ = key_ ? Expect::kColon : Expect::kCommaOrEnd;
  if (stack_.empty()) {
    end_value(string_end_);
  } else {
    phase_ = Phase::kUnconfirmed;
  }
}

bool ValueScanner::step_string(char c, const Delimits& delimits) {
  if (close_ != nullptr) {
    // A delimiter's first byte does not occur again in it, or the delimiter is
    // searched for from its last possible beginning.
    const std::string& close = *close_;
    while (matched_ > 0 && close[matched_] != c) {
      // The longest shorter prefix that the bytes so far end with.
      std::size_t shorter = matched_ - 1;
      while (shorter > 0 && close.compare(0, shorter, close, matched_ - shorter,
                                          shorter) != 0) {
        --shorter;
      }
      matched_ = shorter;
    }
    if (close[matched_] == c) ++matched_;
    if (matched_ == close.size()) {
      matched_ = 0;
      if (delimits(position_ + 1 - close.size())) end_string();
    }
    return true;
  }
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
  // JSON has no control characters in strings.  Models write line feeds in
  // Python's.
  if (!python() && static_cast<unsigned char>(c) < 0x20) return damaged();
  return true;
}

void ValueScanner::end_value(std::uint64_t at) {
  phase_ = Phase::kAfter;
  has_value_ = true;
  value_end_ = at;
  expect_ = Expect::kValue;
  token_ = Token::kNone;
  matched_ = 0;
  separated_ = operand_ = spaced_ = name_ended_ = false;
}

void ValueScanner::open(char bracket) {
  if (first_bracket_ == 0) first_bracket_ = bracket;
  stack_ += bracket;
  expect_ = bracket == '{' ? Expect::kKeyOrEnd : Expect::kValueOrEnd;
  operand_ = spaced_ = false;
  if (stack_.size() > language_->max_depth) damaged();
}

bool ValueScanner::close(char bracket) {
  if (python()) {
    // A bracket closes what was left open inside its pair.
    const std::size_t pair = stack_.rfind(opening_of(bracket));
    if (pair == std::string::npos) return damaged();
    stack_.resize(pair);
  } else {
    if (stack_.empty() || stack_.back() != opening_of(bracket)) {
      return damaged();
    }
    stack_.pop_back();
  }
  expect_ = Expect::kCommaOrEnd;
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
  // Text may begin with another bracket than the values do.
  const bool opens = language_->kind == ValueLanguage::Kind::kJson
                         ? c == first_bracket_
                         : c == '{' || c == '[';
  if (!opens) return other(position_);
  phase_ = Phase::kOutside;
  open(c);
  return phase_ != Phase::kDamaged;
}

bool ValueScanner::step_json(char c) {
  if (token_ == Token::kWord) {
    if (is_scalar(c)) {
      if (word_.size() < kLongestLiteral) word_ += c;
      return true;
    }
    token_ = Token::kNone;
    if (expect_ == Expect::kCommaOrEnd &&
        !is_json_word(word_, language_->python_words)) {
      return damaged();
    }
    if (expect_ == Expect::kCommaOrEnd && stack_.empty()) {
      // A scalar ends with the byte before this one.
      end_value(position_);
      return step_after(c);
    }
  }
  if (is_scanned_space(c)) return true;
  switch (expect_) {
    case Expect::kValueOrEnd:
      if (c == ']') return close(c);
      [[fallthrough]];
    case Expect::kValue:
      if (c == '{' || c == '[') {
        open(c);
        return phase_ != Phase::kDamaged;
      }
      if (c == '"') {
        begin_string(c);
        return true;
      }
      if (!is_scalar(c)) return damaged();
      token_ = Token::kWord;
      word_ = c;
      expect_ = Expect::kCommaOrEnd;
      return true;
    case Expect::kKeyOrEnd:
      if (c == '}') return close(c);
      [[fallthrough]];
    case Expect::kKey:
      if (c == '"') {
        begin_string(c);
        return true;
      }
      if (!language_->unquoted_keys || !is_word(c)) return damaged();
      token_ = Token::kWord;
      expect_ = Expect::kColon;
      return true;
    case Expect::kColon:
      if (c != ':') return damaged();
      expect_ = Expect::kValue;
      return true;
    case Expect::kCommaOrEnd:
      if (c == ']' || c == '}') return close(c);
      if (c != ',' || stack_.empty()) return damaged();
      expect_ = stack_.back() == '{' ? Expect::kKey : Expect::kValue;
      return true;
  }
  return true;
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
      return phase_ != Phase::kDamaged;
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
