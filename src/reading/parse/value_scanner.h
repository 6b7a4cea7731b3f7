#ifndef PARLANCE_SRC_PARSE_VALUE_SCANNER_H_
#define PARLANCE_SRC_PARSE_VALUE_SCANNER_H_

// Follows the values in a region while they arrive: where strings are, where
// the last value ends, and where the text stops being values.
//
//   {"a": "x</f>y"}; {"b": 1} and so on
//          ^^^^^^^           ^ value_end()
//          Phase::kString     ^ other(): Phase::kOther
//
// The scanner decides where a region ends (read.FIELD.ends "value"); the
// region's value is read later, by parse_content() or read_values().  So it
// knows brackets, strings and the order of tokens, but not which scalars are
// valid, and it accepts some texts that are no values.
//
// JSON: a token that JSON does not allow is damage.  Python: a closing bracket
// without its opening one, and a string after which a value cannot go on, are
// damage; a bracket that closes an outer one closes the inner ones as well, so
// that one bad call does not hide the calls after it.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parlance::parse {

struct ValueLanguage {
  enum class Kind : std::uint8_t {
    kJson,
    kPython,  // JSON and Python literals
    kCalls,   // f(a=1), a list of calls, or several calls
  };
  Kind kind = Kind::kJson;
  // kJson: words may be keys; strings without escapes between delimiters.
  bool unquoted_keys = false;
  bool python_words = false;  // None, True and False are values
  std::vector<std::pair<std::string, std::string>> string_delims = {};
  // Several values, with `separator` (without white space) between them, or
  // nothing but white space if it is empty.
  bool several = false;
  std::string separator = {};
  std::size_t max_depth = 1000;
};

// Scans one region.  Positions count from the beginning of the stream.
//
// Law: the phase and the positions depend on the bytes scanned so far, not on
// how they were cut.
class ValueScanner {
 public:
  enum class Phase : std::uint8_t {
    kOutside,      // before or inside a value, outside strings
    kString,       // inside a string
    kUnconfirmed,  // after a string; what follows decides whether it was one
    kElement,      // in the value of an element (ElementScanner)
    kAfter,        // after a complete value
    kOther,        // other() begins something that is no value
    kDamaged,      // position() is the first byte that does not fit
  };

  // `language` must outlive the scanner.
  void start(const ValueLanguage* language, std::uint64_t position);

  // Scans `text`, which begins at position(), to its end or to the next change
  // of phase; returns the number of bytes that were read.  In kOther and
  // kDamaged reads nothing.  `delimits` tells whether the string delimiter of a
  // dialect that is spelled at a position counts as one.
  // Complexity: O(bytes read).
  std::size_t scan(std::string_view text,
                   const std::function<bool(std::uint64_t)>& delimits);

  // Ends the text: what has only begun after a value is no value.
  void finish();

  Phase phase() const { return phase_; }
  std::uint64_t position() const { return position_; }
  // The end of the last complete value.  REQUIRES: a value was complete.
  std::uint64_t value_end() const { return value_end_; }
  // The end of the last string, after its closing quote.
  std::uint64_t string_end() const { return string_end_; }
  std::uint64_t other() const { return other_; }
  // The number of brackets that are open.
  std::size_t depth() const { return stack_.size(); }
  bool has_value() const { return has_value_; }

 private:
  using Delimits = std::function<bool(std::uint64_t)>;
  // What JSON allows next.
  enum class Expect : std::uint8_t {
    kValue,
    kValueOrEnd,
    kKey,
    kKeyOrEnd,
    kColon,
    kCommaOrEnd,
  };
  // A token that several bytes make.
  enum class Token : std::uint8_t {
    kNone,
    kWord,       // a scalar, a bare key, the name of a call
    kDelimiter,  // the opening delimiter of a string
    kSeparator,
  };

  bool python() const { return language_->kind != ValueLanguage::Kind::kJson; }
  // Each reads one byte, or returns false if the byte belongs to what follows.
  bool step(char c, const Delimits& delimits);
  bool step_string(char c, const Delimits& delimits);
  bool step_after(char c);
  bool step_json(char c);
  bool step_python(char c);
  bool step_name(char c);
  bool step_in_name(char c);
  bool step_delimiter(char c);

  bool damaged();
  bool other(std::uint64_t at);
  void open(char bracket);
  bool close(char bracket);
  void begin_string(char quote);
  void end_string();
  void end_value(std::uint64_t at);

  const ValueLanguage* language_ = nullptr;
  Phase phase_ = Phase::kOutside;
  std::uint64_t position_ = 0;
  std::uint64_t value_end_ = 0;
  std::uint64_t string_end_ = 0;
  std::uint64_t other_ = 0;
  bool has_value_ = false;

  std::string stack_;  // the open brackets
  Expect expect_ = Expect::kValue;
  Token token_ = Token::kNone;
  std::uint64_t token_begin_ = 0;
  std::string word_;         // JSON: the beginning of a scalar
  std::size_t matched_ = 0;  // bytes of a separator or delimiter
  char first_bracket_ = 0;   // of the first value that has one
  bool separated_ = false;   // a separator follows the last value
  bool name_ended_ = false;  // white space follows the name of a call
  bool operand_ = false;     // Python: the last token ends an operand
  bool spaced_ = false;      // Python: white space follows it

  // The string that is open, or was the last.
  bool key_ = false;
  char quote_ = '"';
  bool escaped_ = false;
  bool triple_ = false;
  bool empty_ = false;                  // nothing between its quotes
  unsigned in_row_ = 0;                 // quotes in a row
  const std::string* close_ = nullptr;  // its closing delimiter; null: a quote
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_VALUE_SCANNER_H_
