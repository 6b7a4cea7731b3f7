#ifndef PARLANCE_SRC_NOTATION_TEXT_CURSOR_H_
#define PARLANCE_SRC_NOTATION_TEXT_CURSOR_H_

// A grammar's text while it is read: the place in it, and the first failure.
//
// What the readers of EBNF and Lark have in common.  Methods that return bool
// return false after fail() was called.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "parlance/error.h"

namespace parlance::notation {

using base::is_digit;

class TextCursor {
 protected:
  explicit TextCursor(std::string_view text, std::size_t at = 0)
      : text_(text), at_(at) {}

  bool at_end() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  // Goes behind `expected` if it stands here.
  bool match(std::string_view expected);
  // The first failure is the one that is kept.
  bool fail(std::size_t begin, std::size_t end, std::string message,
            ErrorCode code = ErrorCode::kBadSyntax);
  // A whole number within the bounds.
  bool number(std::uint64_t least, std::uint64_t most, std::uint64_t& out);

  std::string_view text_;
  std::size_t at_;
  std::optional<Error> error_ = std::nullopt;
};

}  // namespace parlance::notation

#endif  // PARLANCE_SRC_NOTATION_TEXT_CURSOR_H_
