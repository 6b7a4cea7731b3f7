// Splits an expression into tokens and parses its literals.
//
// A literal in backticks is JSON.  Text that is not JSON is parsed again as the
// contents of a JSON string: `foo` is "foo".  The specification deprecates
// this, but the Python package supports it, so this lexer does as well.

#include "jmespath/lexer.h"

#include <limits>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/python_number.h"
#include "base/utf8.h"

namespace parlance::jmespath {
namespace {

using base::is_digit;
using base::is_letter;

bool is_name_start(char c) { return is_letter(c) || c == '_'; }

bool is_name(char c) { return is_name_start(c) || is_digit(c); }

// Replaces each "\X" by "X" for X == `delimiter`.  Other escapes do not change.
std::string unescape(std::string_view text, char delimiter) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == delimiter) ++i;
    out.push_back(text[i]);
  }
  return out;
}

std::string_view strip_left(std::string_view text) {
  while (!text.empty()) {
    std::size_t next = 0;
    if (!base::is_python_space(base::next_code_point(text, next))) break;
    text.remove_prefix(next);
  }
  return text;
}

class Lexer {
 public:
  Lexer(std::string_view text, const Limits& limits) : text_(text) {
    options_.limits = limits;
  }

  Result<std::vector<Token>> run() {
    while (skip_space(), at_ < text_.size()) {
      if (!next()) return *std::move(error_);
      if (tokens_.size() > options_.limits.pattern_states) {
        return Error{ErrorCode::kTooLarge,
                     "the expression has more than " +
                         std::to_string(options_.limits.pattern_states) +
                         " words (limit pattern_states).",
                     "", Span{0, at_}};
      }
    }
    tokens_.push_back({TokenKind::kEnd, {text_.size(), text_.size()}});
    return std::move(tokens_);
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && base::is_space(text_[at_])) ++at_;
  }

  Token& push(TokenKind kind, std::size_t size) {
    tokens_.push_back({kind, {at_, at_ + size}});
    at_ += size;
    return tokens_.back();
  }

  // Adds the token `both` if the next character is `second`, else `alone`.
  bool push_either(char second, TokenKind both, TokenKind alone) {
    const bool two = at_ + 1 < text_.size() && text_[at_ + 1] == second;
    push(two ? both : alone, two ? 2 : 1);
    return true;
  }

  bool fail(Span span, std::string message) {
    error_ = Error{ErrorCode::kBadExpression, std::move(message), "", span};
    return false;
  }

  // Adds the token at at_ and moves at_ to its end.  Returns false, with error_
  // set, if no token begins at at_.  The first character decides the kind of
  // the token, except for operators of two characters.
  bool next() {
    const char c = text_[at_];
    switch (c) {
      case '.':
        return push(TokenKind::kDot, 1), true;
      case '*':
        return push(TokenKind::kStar, 1), true;
      case ',':
        return push(TokenKind::kComma, 1), true;
      case ':':
        return push(TokenKind::kColon, 1), true;
      case '@':
        return push(TokenKind::kCurrent, 1), true;
      case '(':
        return push(TokenKind::kOpenParen, 1), true;
      case ')':
        return push(TokenKind::kCloseParen, 1), true;
      case '{':
        return push(TokenKind::kOpenBrace, 1), true;
      case '}':
        return push(TokenKind::kCloseBrace, 1), true;
      case ']':
        return push(TokenKind::kCloseBracket, 1), true;
      case '[':
        if (at_ + 1 < text_.size() && text_[at_ + 1] == '?') {
          return push(TokenKind::kFilter, 2), true;
        }
        return push_either(']', TokenKind::kFlatten, TokenKind::kOpenBracket);
      case '|':
        return push_either('|', TokenKind::kOr, TokenKind::kPipe);
      case '&':
        return push_either('&', TokenKind::kAnd, TokenKind::kReference);
      case '!':
        return push_either('=', TokenKind::kNotEqual, TokenKind::kNot);
      case '<':
        return push_either('=', TokenKind::kLessOrEqual, TokenKind::kLess);
      case '>':
        return push_either('=', TokenKind::kGreaterOrEqual,
                           TokenKind::kGreater);
      case '=':
        if (at_ + 1 < text_.size() && text_[at_ + 1] == '=') {
          return push(TokenKind::kEqual, 2), true;
        }
        return fail({at_, at_ + 1}, "'=' means nothing; equality is '=='.");
      case '\'':
      case '`':
      case '"':
        return quoted(c);
      default:
        break;
    }
    if (is_name_start(c)) return name();
    if (is_digit(c) || c == '-') return number();
    std::size_t end = at_;
    base::next_code_point(text_, end);
    std::string message = "the character '";
    message += text_.substr(at_, end - at_);
    message +=
        "' means nothing here; a key that contains it is written in "
        "double quotes.";
    return fail({at_, end}, std::move(message));
  }

  bool name() {
    std::size_t end = at_;
    while (end < text_.size() && is_name(text_[end])) ++end;
    const std::string_view text = text_.substr(at_, end - at_);
    push(TokenKind::kName, text.size()).text = text;
    return true;
  }

  bool number() {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    const bool negative = text_[at_] == '-';
    std::size_t end = at_ + negative;
    std::int64_t value = 0;
    for (; end < text_.size() && is_digit(text_[end]); ++end) {
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text_[end] - '0', &value)) {
        value = kMax;
      }
    }
    if (end == at_ + negative) {
      return fail({at_, end}, "'-' must be followed by a number.");
    }
    push(TokenKind::kNumber, end - at_).number = negative ? -value : value;
    return true;
  }

  // Finds the closing delimiter; a character after a backslash never closes.
  // Then 'text' is a literal string, "name" is a name spelled as a JSON string,
  // and `json` is a literal.  A literal that is too deep is an error and is not
  // parsed again as a string.
  bool quoted(char delimiter) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != delimiter) {
      end += text_[end] == '\\' ? 2 : 1;
    }
    if (end >= text_.size()) {
      return fail({at_, text_.size()},
                  std::string("the closing ") + delimiter + " is missing.");
    }
    const Span span{at_, end + 1};
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    if (delimiter == '\'') {
      push(TokenKind::kLiteral, span.size()).value = unescape(inside, '\'');
      return true;
    }
    if (delimiter == '"') {
      Result<json::Value> read =
          json::parse(text_.substr(at_, span.size()), options_);
      if (!read) {
        return fail(span, "a name in double quotes is a JSON string: " +
                              read.error().message + ".");
      }
      push(TokenKind::kQuotedName, span.size()).text = read->as_string();
      return true;
    }
    const std::string lexeme = unescape(inside, '`');
    Result<json::Value> read = json::parse(lexeme, options_);
    if (!read && read.error().code != ErrorCode::kTooDeep) {
      std::string text = "\"";
      text += strip_left(lexeme);
      text += '"';
      Result<json::Value> again = json::parse(text, options_);
      if (again) read = std::move(again);
    }
    if (!read) {
      return fail(span, "a literal between backticks is JSON: " +
                            read.error().message + ".");
    }
    push(TokenKind::kLiteral, span.size()).value = *std::move(read);
    return true;
  }

  const std::string_view text_;
  json::ParseOptions options_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
  std::optional<Error> error_;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view expression,
                                    const Limits& limits) {
  return Lexer(expression, limits).run();
}

}  // namespace parlance::jmespath
