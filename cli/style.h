#ifndef PARLANCE_CLI_STYLE_H_
#define PARLANCE_CLI_STYLE_H_

// Colours, widths and safe spellings: how text looks on a terminal.
//
// A Style either writes escape sequences or nothing; callers need not ask.
//
//   Style style(Color::kAuto, 1);
//   put(style.paint(Style::kBold, "qwen3") + "\n");

#include <cstddef>
#include <string>
#include <string_view>

#include "parlance/json.h"

namespace parlance::cli {

enum class Color { kAuto, kAlways, kNever };

class Style {
 public:
  // Parameters of "ESC [ ... m".
  static constexpr std::string_view kBold = "1";
  static constexpr std::string_view kDim = "2";
  static constexpr std::string_view kError = "1;38;5;203";
  static constexpr std::string_view kWarning = "1;38;5;214";
  static constexpr std::string_view kCaret = "38;5;203";
  static constexpr std::string_view kKey = "38;5;75";
  static constexpr std::string_view kString = "38;5;114";
  static constexpr std::string_view kNumber = "38;5;215";
  static constexpr std::string_view kHeld = "2;4";

  // kAuto: colours when `descriptor` is a terminal, NO_COLOR is unset or
  // empty, and TERM is not "dumb".
  Style(Color color, int descriptor);

  bool on() const { return on_; }
  // `text` in a look, or as it is.
  std::string paint(std::string_view look, std::string_view text) const;
  std::string begin(std::string_view look) const;
  std::string end() const;

 private:
  bool on_;
};

// The look of a field: reasoning, content and tool calls have theirs, others
// take turns by their index in the format.
std::string_view field_look(std::string_view field, std::size_t index);

// Columns of the terminal at `descriptor`; COLUMNS or 80 without a terminal.
std::size_t terminal_columns(int descriptor);

// Columns that a character takes, roughly: 0 for combining marks, 2 for East
// Asian wide characters and emoji.
std::size_t columns_of(char32_t c);
std::size_t columns_of(std::string_view text);

// Removes the first character of `text` and returns it; a byte that begins no
// UTF-8 sequence is U+FFFD.  REQUIRES: !text.empty().
char32_t take_character(std::string_view& text);

// Whatever the command writes that a model, a client or the name of a file may
// have chosen goes through one of the next three functions.  Nothing of it
// controls the terminal: bytes that are not UTF-8 and ASCII controls become
// \xNN, the controls U+0080 to U+009F and the marks of direction (U+061C,
// U+200E, U+200F, U+202A to U+202E, U+2066 to U+206F) \uNNNN.

// Newlines and tabs stay.
std::string safe_text(std::string_view text);

// For one line: newlines and tabs become \n and \t too, and a backslash is
// doubled.
std::string one_line(std::string_view text);

// JSON in UTF-8, as json::dump() writes it, that reads back as the same value:
// every escape is one of JSON.  Numbers that JSON cannot write are 1e999 and
// -1e999 where they are infinite, since a reader finds them out of range again,
// and null for NaN.
std::string safe_json(std::string_view json);
// A value as such a text.
std::string json_text(const json::Value& value, int indent = 0,
                      bool compact = false);

// The longest prefix of `text` that fits into `columns`, with an ellipsis for
// the text that is cut.
std::string clip(std::string_view text, std::size_t columns);
// The same, keeping the end of the text.
std::string clip_front(std::string_view text, std::size_t columns);

// `text` with spaces after it up to `columns`.
std::string pad(std::string text, std::size_t columns);
// With spaces before it.
std::string pad_left(std::string text, std::size_t columns);

// JSON text with colours for keys, strings and other values.
std::string paint_json(const Style& style, std::string_view json);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_STYLE_H_
