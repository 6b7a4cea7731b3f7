#ifndef PARLANCE_SRC_CALL_SYNTAX_VALUE_BUILDER_H_
#define PARLANCE_SRC_CALL_SYNTAX_VALUE_BUILDER_H_

// Makes a value of tokens.
//
//   ValueBuilder builder(limits);
//   while ((token = scanner.next(input)).kind != Kind::kMore)
//     builder.add(token, input);
//   if (builder.complete()) use(builder.take());

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "call_syntax/token.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance::call_syntax {

class ValueBuilder {
 public:
  explicit ValueBuilder(const Limits& limits = {}) : limits_(limits) {}

  // Adds a token of the value.  Tokens of calls and of spacing are ignored, and
  // so is all that follows the value or an error.  Complexity: O(its text).
  void add(const Token& token, const Input& input);
  // The same for parts that are known otherwise.
  void key(std::string_view text);
  void value(json::Value value);

  // Whether the value has ended.
  bool complete() const { return complete_; }
  // Moves the value out, and prepares for the next.  REQUIRES: complete().
  json::Value take();

  // Whether the last key was one that its object had already.  Of equal keys
  // the last counts.
  bool repeats() const { return repeats_; }
  // What a scalar could not be read for, e.g. too many digits.
  const std::optional<Error>& error() const { return error_; }

 private:
  struct Frame {
    json::Value container;
    std::string key = {};  // of the member whose value is next
  };

  Limits limits_;
  std::vector<Frame> open_;
  json::Value root_;
  std::string text_;  // of the string so far
  bool complete_ = false;
  bool repeats_ = false;
  std::optional<Error> error_;
};

}  // namespace parlance::call_syntax

#endif  // PARLANCE_SRC_CALL_SYNTAX_VALUE_BUILDER_H_
