#ifndef PARLANCE_LINE_COLUMN_H_
#define PARLANCE_LINE_COLUMN_H_

// Lines and columns of a text.
//
// The spans of errors count bytes.  For messages to people:
//
//   Result<Grammar> grammar = Grammar::from_ebnf(text);
//   if (!grammar) std::cerr << to_string(grammar.error(), text) << "\n";
//   // bad_syntax (line 3, column 9): ...

#include <cstddef>
#include <string>
#include <string_view>

#include "parlance/error.h"

namespace parlance {

// Both count from 1.  A line ends after its "\n".  A column is a character
// (code point); each byte that is not UTF-8 counts as one character.
struct LineColumn {
  std::size_t line = 1;
  std::size_t column = 1;
  bool operator==(const LineColumn&) const = default;
};

// The line and column of the character that begins at `byte`, or of the end of
// the text if `byte` is beyond it.  Complexity: O(byte).
LineColumn line_column(std::string_view text, std::size_t byte);

// "line 3, column 9"
std::string to_string(LineColumn place);

// As error.to_string(), but with a line and column instead of bytes.  `source`
// is the text that the error is about.
std::string to_string(const Error& error, std::string_view source);

}  // namespace parlance

#endif  // PARLANCE_LINE_COLUMN_H_
