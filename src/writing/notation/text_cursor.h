#ifndef PARLANCE_SRC_NOTATION_TEXT_CURSOR_H_
#define PARLANCE_SRC_NOTATION_TEXT_CURSOR_H_

// A position in the text of a grammar, and the first error found in it: the
// common base of the readers of EBNF, GBNF and Lark.
//
// A method that returns bool returns false after it has called fail().

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
  bool at_newline() const { return peek() == '\n' || peek() == '\r'; }
  // Skips what is left of the line.
  void skip_line() {
    while (!at_end() && !at_newline()) ++at_;
  }
  // Skips `expected` and returns true if the text continues with it.
  bool match(std::string_view expected);
  // Reports an error in the bytes [begin, end), unless one has been reported
  // already.  Returns false.
  bool fail(std::size_t begin, std::size_t end, std::string message,
            ErrorCode code = ErrorCode::kBadSyntax);
  // Reads a number from `least` to `most`, else fails.
  bool number(std::uint64_t least, std::uint64_t most, std::uint64_t& out);

  std::string_view text_;
  std::size_t at_;
  std::optional<Error> error_ = std::nullopt;
};

}  // namespace parlance::notation

#endif  // PARLANCE_SRC_NOTATION_TEXT_CURSOR_H_
