#ifndef PARLANCE_SRC_VOCAB_LINES_H_
#define PARLANCE_SRC_VOCAB_LINES_H_

// The parts of a line-based format: lines with their positions, decimal ids and
// base64.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parlance/error.h"

namespace parlance::vocab {

// Iterates over the lines of a text.  A line ends with LF or CR LF; the last
// line may end with the text.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  // Moves to the next line; false after the last.
  bool next();
  // The line without LF or CR LF.
  std::string_view line() const { return line_; }
  Span span() const { return {begin_, begin_ + line_.size()}; }
  // The number of the line, from 1.
  std::size_t number() const { return number_; }

 private:
  std::string_view text_;
  std::string_view line_;
  std::size_t begin_ = 0;
  std::size_t next_ = 0;
  std::size_t number_ = 0;
};

// Parses decimal digits.  Nothing if `digits` is empty, has any other
// character, or is 2^63 or more.
std::optional<std::uint64_t> parse_number(std::string_view digits);

// Replaces `out` by the bytes that `text` encodes.  Returns false, with `out`
// undefined, unless `text` is base64 with padding and without white space.
bool decode_base64(std::string_view text, std::string& out);

// The error kBadVocabulary at the current line.
Error bad_line(const Lines& lines, std::string message);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_LINES_H_
