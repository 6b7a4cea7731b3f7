#ifndef PARLANCE_SRC_JMESPATH_LEXER_H_
#define PARLANCE_SRC_JMESPATH_LEXER_H_

// The words of an expression.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance::jmespath {

// ORDER: TokenKind
enum class TokenKind : std::uint8_t {
  kEnd,
  kName,        // text: foo
  kQuotedName,  // text: "foo bar"
  kLiteral,     // value: `1`, 'text'
  kNumber,      // number: 12, -3
  kDot,
  kStar,
  kComma,
  kColon,
  kCurrent,  // @
  kOpenParen,
  kCloseParen,
  kOpenBrace,
  kCloseBrace,
  kOpenBracket,
  kCloseBracket,
  kFlatten,  // []
  kFilter,   // [?
  kPipe,
  kOr,
  kAnd,
  kReference,  // &
  kNot,
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Span span = {};
  std::string text = {};
  json::Value value = {};
  std::int64_t number = 0;  // beyond 64 bits: the nearest
};

// All tokens, kEnd last.  Fails with kBadExpression, or kTooLarge for more
// than limits.pattern_states tokens.
// REQUIRES: `expression` is UTF-8 (surrogates allowed).
Result<std::vector<Token>> tokenize(std::string_view expression,
                                    const Limits& limits);

}  // namespace parlance::jmespath

#endif  // PARLANCE_SRC_JMESPATH_LEXER_H_
