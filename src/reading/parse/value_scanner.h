#ifndef PARLANCE_SRC_PARSE_VALUE_SCANNER_H_
#define PARLANCE_SRC_PARSE_VALUE_SCANNER_H_

// Follows the values in a region while they arrive: where strings are, where
// the last value ends, and where the text stops being values.
//
//   {"a": "x</f>y"}; {"b": 1} and so on
//          ^^^^^^^           ^ value_end()
//          Phase::kInside     ^ other(): Phase::kOther
//
// The scanner decides where a region ends (read.FIELD.ends "value"); the
// region's value is read later, by parse_content() or read_values().  JSON is
// followed by its scanner (call_syntax/json_scanner.h).  Of Python it knows
// brackets, strings and the order of tokens, but not which scalars are valid,
// and it accepts some texts that are no values.
//
// Python: a closing bracket without its opening one, and a string after which a
// value cannot go on, are damage; a bracket that closes an outer one closes the
// inner ones as well, so that one bad call does not hide the calls after it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "call_syntax/json_scanner.h"
#include "call_syntax/token.h"

namespace parlance::parse {

using call_syntax::Input;
using call_syntax::Phase;

struct ValueLanguage {
  enum class Kind : std::uint8_t {
    kJson,
    kPython,  // JSON and Python literals
    kCalls,   // f(a=1), a list of calls, or several calls
  };
  Kind kind = Kind::kJson;
  call_syntax::JsonDialect json = {};  // kJson
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
  // `language` must outlive the scanner.
  void start(const ValueLanguage* language, std::uint64_t position);

  // Scans the text from position() to its end or to the next change of phase.
  // In kOther and kBroken reads nothing.  Complexity: O(bytes read).
  void scan(const Input& input);

  Phase phase() const { return json_ ? json_->phase() : phase_; }
  std::uint64_t position() const {
    return json_ ? json_->position() : position_;
  }
  // The end of the last complete value.  REQUIRES: a value was complete.
  std::uint64_t value_end() const {
    return json_ ? json_->value_end() : value_end_;
  }
  // The end of the last string, after its closing quote.
  std::uint64_t string_end() const {
    return json_ ? json_->string_end() : string_end_;
  }
  std::uint64_t other() const { return json_ ? json_->other() : other_; }
  bool has_value() const { return json_ ? json_->has_value() : has_value_; }

 private:
  // A token that several bytes make.
  enum class Token : std::uint8_t {
    kNone,
    kWord,  // a scalar, the name of a call
    kSeparator,
  };

  // Each reads one byte, or returns false if the byte belongs to what follows.
  bool step(char c);
  bool step_string(char c);
  bool step_after(char c);
  bool step_python(char c);
  bool step_name(char c);
  bool step_in_name(char c);
  void finish();

  bool damaged();
  bool other(std::uint64_t at);
  void open(char bracket);
  bool close(char bracket);
  void begin_string(char quote);
  void end_string();
  void end_value(std::uint64_t at);

  const ValueLanguage* language_ = nullptr;
  std::optional<call_syntax::JsonScanner> json_;
  Phase phase_ = Phase::kOutside;
  std::uint64_t position_ = 0;
  std::uint64_t value_end_ = 0;
  std::uint64_t string_end_ = 0;
  std::uint64_t other_ = 0;
  bool has_value_ = false;

  std::string stack_;  // the open brackets
  Token token_ = Token::kNone;
  std::uint64_t token_begin_ = 0;
  std::size_t matched_ = 0;  // bytes of a separator
  bool separated_ = false;   // a separator follows the last value
  bool name_ended_ = false;  // white space follows the name of a call
  bool operand_ = false;     // the last token ends an operand
  bool spaced_ = false;      // white space follows it

  // The string that is open, or was the last.
  char quote_ = '"';
  bool escaped_ = false;
  bool triple_ = false;
  bool empty_ = false;   // nothing between its quotes
  unsigned in_row_ = 0;  // quotes in a row
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_VALUE_SCANNER_H_
