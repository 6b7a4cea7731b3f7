#ifndef PARLANCE_SRC_VOCAB_LINES_H_
#define PARLANCE_SRC_VOCAB_LINES_H_

// Shared by the two line-based sources: lines with their positions, decimal ids
// and base64.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parlance/error.h"

namespace parlance::vocab {

// Walks the lines of a text.  Lines end with LF or CR LF; the last may lack it.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  // Moves to the next line; false after the last.
  bool next();
  // The line without its end.
  std::string_view line() const { return line_; }
  Span span() const { return {begin_, begin_ + line_.size()}; }
  // From 1.
  std::size_t number() const { return number_; }

 private:
  std::string_view text_;
  std::string_view line_;
  std::size_t begin_ = 0;
  std::size_t next_ = 0;
  std::size_t number_ = 0;
};

// Decimal digits only, nothing before or after, below 2^63.
std::optional<std::uint64_t> parse_number(std::string_view digits);

// Replaces `out` by what `text` stands for.  False, `out` undefined, unless it
// is base64 with padding and without white space.
bool decode_base64(std::string_view text, std::string& out);

// kBadVocabulary at `span`.
Error bad_line(const Lines& lines, std::string message);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_LINES_H_
