#ifndef PARLANCE_SRC_JSON_PYTHON_LITERAL_H_
#define PARLANCE_SRC_JSON_PYTHON_LITERAL_H_

// Reads Python literals, and JSON, as values.  Nothing is evaluated.
//
//   read_python("{'a': [1, None, (True,)], 'b': \"it's\"}")
//       == {"a": [1, null, [true]], "b": "it's"}
//
// The language is that of Python's ast.literal_eval, as far as JSON has such
// values, with
//
//   true, false, null       as in JSON, besides True, False, None
//   line feeds in strings   models write them as they are
//   surrogate pairs         "\ud83d\ude00" is one character, as in JSON
//
// A tuple is a list, and so is a set of scalars, as written.  Keys of a dict
// that are numbers, booleans or None become the strings that json.dumps writes.
// Refused because JSON has no such values: bytes, complex numbers, numbers that
// are not finite, other keys.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"

namespace parlance::json {

// Reads values from a text, one after another.
class PythonReader {
 public:
  // `text` must outlive the reader.
  explicit PythonReader(std::string_view text, const Limits& limits = {})
      : text_(text), limits_(limits) {}

  // Reads the value at position(), after white space.  Afterwards position() is
  // after the value, or at the byte that does not fit.
  // Errors: kSyntax, kTooDeep, kTooLarge, with the byte as the span.
  // Complexity: O(bytes read).  Nesting does not use the call stack.
  Result<Value> value();

  std::size_t position() const { return at_; }
  void seek(std::size_t position) { at_ = position; }
  void skip_space();
  // Reads `c` if it is next.
  bool skip(char c);
  // The name at position(), "" if there is none.
  std::string_view name();

 private:
  struct Frame;

  // What a step of value() has read.
  enum class Next : std::uint8_t {
    kDone,   // a value
    kValue,  // the beginning of a container, or what separates its values
    kFault,  // nothing: fault_ says why
  };

  Error error(std::string message) const;
  Next fail(Error fault);
  Next fail(std::string message, ErrorCode code = ErrorCode::kInvalidContent);
  Next begin_value(std::vector<Frame>& frames, Value& done);
  Next add_value(std::vector<Frame>& frames, Value& done);
  Next read_key(Frame& frame, Value& done);
  Next scalar(Value& out);
  Next number(Value& out);
  unsigned base_prefix();
  std::size_t digits(unsigned base);
  std::optional<bool> decimal();
  Next real_value(std::string_view text, bool negative, Value& out);
  Next integer_value(std::string_view text, unsigned base, bool negative,
                     Value& out);
  bool at_string() const;
  Result<std::string> string();
  Result<std::string> one_string();
  Result<bool> characters(std::string_view end, bool raw, std::string& out);
  friend bool append_python_text(std::string_view text, bool raw,
                                 std::string& out);
  std::size_t escape(std::string& out);

  const std::string_view text_;
  const Limits limits_;
  std::size_t at_ = 0;
  std::optional<Error> fault_ = std::nullopt;
};

// Reads `text` as one value, with white space around it.
Result<Value> read_python(std::string_view text, const Limits& limits = {});

// Appends what `text`, a part of a string between its quotes, means, up to an
// escape that is not valid; returns whether there is none.  `raw`: it has no
// escapes.  The part does not end inside an escape, or after a high surrogate
// that a low one completes.
bool append_python_text(std::string_view text, bool raw, std::string& out);

}  // namespace parlance::json

#endif  // PARLANCE_SRC_JSON_PYTHON_LITERAL_H_
