#ifndef PARLANCE_SRC_CALL_STREAM_JSON_SCANNER_H_
#define PARLANCE_SRC_CALL_STREAM_JSON_SCANNER_H_

// Finds where the values of a JSON text begin and end, while the text grows.
//
//   {"a": [1]}      kBegin {   kKey "a"   kBegin [   kBegin 1   kEnd   kEnd
//                   kEnd
//
// The scanner builds no values (json/reader.h does), so its memory is the
// nesting depth.  Its language is that of the reader: strict JSON, and NaN,
// Infinity and -Infinity.  Before an error, all text up to position() is the
// beginning of some JSON text.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parlance::call_stream {

class JsonScanner {
 public:
  enum class Token : std::uint8_t {
    kMore,    // the text ends; position() is its size
    kBegin,   // a value begins with the byte at position(), which is not read
    kKey,     // a key: the bytes from token_begin() to position(), with quotes
    kEnd,     // the innermost value has ended before position()
    kFailed,  // the byte at position() cannot follow
  };

  explicit JsonScanner(std::size_t max_depth, std::size_t position = 0)
      : max_depth_(max_depth), position_(position) {}

  // Reads on in `text`, the text of the last call with more at its end.
  // Complexity: O(bytes read).
  Token next(std::string_view text);

  std::size_t position() const { return position_; }
  std::size_t token_begin() const { return token_begin_; }
  // Reads all that is left of `text`, if it is inside a string and has neither
  // escapes nor the end of the string.  Otherwise reads nothing.
  bool skip_plain(std::string_view text) {
    if (step_ != Step::kString) return false;
    for (std::size_t i = position_; i < text.size(); ++i) {
      if (!is_plain(text[i])) return false;
    }
    position_ = text.size();
    return true;
  }
  // Appends the text in [from, to) to `out`, and sets `from` to where what was
  // appended ends.  NaN and Infinity, which are no JSON, are written as
  // json::standard_text has them; one that is not whole yet waits, and all
  // after it. REQUIRES: from <= to <= position(), and `from` is never less than
  // before.
  void copy(std::string_view text, std::size_t& from, std::size_t to,
            std::string& out);
  // The arrays and objects that are open: equal at kBegin and kEnd of a value.
  std::size_t depth() const { return open_.size(); }

 private:
  // What comes next.  From kString on, the scanner is inside a token.
  enum class Step : std::uint8_t {
    kValue,
    kFirstItem,
    kFirstKey,
    kKey,
    kColon,
    kAfterItem,
    kAfterMember,
    kDone,
    kString,
    kEscape,
    kHex,
    kMinus,
    kZero,
    kInteger,
    kPoint,
    kFraction,
    kExponent,      // after "e"
    kExponentSign,  // after "e+"
    kExponentDigits,
    kLiteral,
    kFailed,
  };

  // A byte that leaves the scanner inside a string.
  static bool is_plain(char c) {
    return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
  }
  bool begin_value(char c);
  bool number_byte(char c, bool& more);
  // The next token; kMore if there is none yet.
  Token read_inside(std::string_view text);
  Token read_between(char c);
  Token end_value();
  Token fail() {
    step_ = Step::kFailed;
    return Token::kFailed;
  }

  std::size_t max_depth_;
  std::size_t position_;
  std::size_t token_begin_ = 0;
  Step step_ = Step::kValue;
  bool begun_ = false;  // kBegin was returned for the value at position_
  bool key_ = false;    // the string is a key
  std::uint8_t hex_left_ = 0;
  std::string_view literal_left_ = {};
  std::string open_;  // '{' and '['
  // Where NaN and Infinity begin that copy() has not passed.
  std::vector<std::size_t> words_;
};

}  // namespace parlance::call_stream

#endif  // PARLANCE_SRC_CALL_STREAM_JSON_SCANNER_H_
