#ifndef PARLANCE_LINE_COLUMN_H_
#define PARLANCE_LINE_COLUMN_H_

// Places in a text as people count them.
//
// Spans of errors are bytes.  For the eyes of whoever wrote the text:
//
//   Result<Grammar> grammar = Grammar::from_ebnf(text);
//   if (!grammar) std::cerr << to_string(grammar.error(), text) << "\n";
//   // bad_syntax (line 3, column 9): ...

#include <cstddef>
#include <string>
#include <string_view>

#include "parlance/error.h"

namespace parlance {

// Both count from 1.  A line ends behind its "\n"; a column is a character
// (code point), and so is each byte that is no UTF-8.
struct LineColumn {
  std::size_t line = 1;
  std::size_t column = 1;
  bool operator==(const LineColumn&) const = default;
};

// The place of the character that begins at `byte`, or of the text's end where
// `byte` is beyond it.  Complexity: O(byte).
LineColumn line_column(std::string_view text, std::size_t byte);

// "line 3, column 9"
std::string to_string(LineColumn place);

// As error.to_string(), with line and column of `source`, the text that the
// error is about, in the place of bytes.
std::string to_string(const Error& error, std::string_view source);

}  // namespace parlance

#endif  // PARLANCE_LINE_COLUMN_H_
