#ifndef PARLANCE_SRC_CALL_STREAM_PYTHON_CALLS_H_
#define PARLANCE_SRC_CALL_STREAM_PYTHON_CALLS_H_

// Calls in Python's syntax, as JSON text while they are being written.
//
//   [get(city='Be      call_open       get
//                      call_arguments  {"city": "Be
//   rn', on=True),     call_arguments  rn", "on": true}
//
// The values are those of json::PythonReader.  A call is announced with its
// opening parenthesis, a string is written while it grows, and so is a number;
// lists and dicts are written item by item.  What is held:
//
//   words, numbers that JSON spells differently (0x10, .5), keys of dicts
//                             until they end
//   an escape in a string     until it ends, and a high surrogate until the
//                             escape after it ends: at most 20 bytes
//   the end of a string       until the next byte that is not white space:
//                             strings beside each other are one
//   a parenthesised value or a tuple, a set, and an argument that the schema of
//   the tool may cast         until they end
//
// Held text is in the text of the region, which is in memory anyway.  A call
// that cannot be read stays as it is; the next one is looked for where its
// brackets close.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "call_stream/call_stream.h"
#include "call_stream/json_calls.h"
#include "parlance/limits.h"
#include "schema/cast_calls.h"

namespace parlance::call_stream {

class PythonCallReader final : public CallReader {
 public:
  // Reads one call, calls after one another, or a list of calls.
  PythonCallReader(Casts casts, std::string_view id, const Limits& limits)
      : casts_(std::move(casts)), id_(id), limits_(limits) {}
  // Reads the arguments of a call of `name`, without parentheses.
  static std::unique_ptr<PythonCallReader> of_arguments(std::string_view name,
                                                        const Limits& limits);

  void advance(std::string_view text, bool end, CallWriter& out) override;

 private:
  enum class Step : std::uint8_t {
    kStart,     // the bracket of a list of calls, if there is one
    kBetween,   // separators, the end of the list, or the name of a call
    kName,      // the rest of the name and the parenthesis
    kArgument,  // the name of an argument and "=", or the end of the call
    kValue,
    kFirstItem,  // of a list, or its end
    kItem,       // after a comma: an item, or the end of the list
    kKey,        // after a comma: a key of a dict, or its end
    kString,
    kAfterString,  // another string may follow
    kNumber,
    kHeld,    // a text that is written when it ends
    kAfter,   // a comma, or the end of what is open
    kDamage,  // the rest of a call that cannot be read
    kStopped,
  };
  // What a held text is.
  enum class Held : std::uint8_t {
    kScalar,    // a word or a number
    kBrackets,  // a value in parentheses, or a set
    kBrace,     // from "{": a dict if a colon comes first
    kKey,       // the key of a dict, up to its colon
    kArgument,  // an argument that may be cast
  };
  // Follows a text that is held: where its strings and brackets end.
  struct Extent {
    std::size_t at = 0;  // scanned up to here
    std::string open = {};
    char quote = 0;  // of the open string, 0 outside
    bool triple = false;
    bool escaped = false;  // after a backslash; of damage alone
  };

  // Each returns false if more text is needed.
  bool step(std::string_view text, bool end, CallWriter& out);
  bool read_between(std::string_view text, bool end);
  bool read_name(std::string_view text, CallWriter& out);
  bool read_argument(std::string_view text, bool end, std::string& out);
  bool read_value(std::string_view text, bool end, std::string& out);
  bool read_string(std::string_view text, std::string& out);
  bool read_after_string(std::string_view text, bool end, std::string& out);
  bool read_number(std::string_view text, bool end, std::string& out);
  bool read_held(std::string_view text, bool end, std::string& out);
  bool read_brace(std::string_view text, bool end, std::string& out);
  bool read_key(std::string_view text, bool end, std::string& out);
  bool read_after(std::string_view text, bool end, std::string& out);

  void hold(Held held, std::size_t begin);
  bool follow(std::string_view text, bool end, bool (*stops)(char));
  std::string_view held(std::string_view text) const;
  bool write_held(std::string_view held, std::string& out);
  void begin_string(std::string_view text, std::size_t quote);
  bool read_damage(std::string_view text);
  bool stop();
  void skip_space(std::string_view text);
  bool may_cast(char first) const;
  void begin_arguments(CallWriter& out);
  void end_arguments(std::string& out);

  const Casts casts_;
  const std::string id_;
  const Limits limits_;
  bool only_arguments_ = false;

  Step step_ = Step::kStart;
  std::size_t at_ = 0;  // everything before this is read
  std::size_t searched_ = 0;
  bool list_ = false;
  bool closed_ = false;  // the list of calls

  // The call.
  std::string name_;
  std::size_t item_begin_ = 0;  // its name
  std::size_t call_begin_ = 0;  // its parenthesis
  const schema::StringMap<schema::Parameter>* parameters_ = nullptr;
  const schema::Parameter* parameter_ = nullptr;  // of the argument
  std::set<std::string, std::less<>> names_;      // of its arguments
  std::string open_;   // the open brackets, of the call first
  bool first_ = true;  // no member or item of the innermost one is written

  // The string or the number.
  char quote_ = 0;
  bool triple_ = false;
  bool raw_ = false;
  bool fraction_ = false;  // a point or an exponent was read
  bool exponent_ = false;

  Held held_ = Held::kScalar;
  std::size_t held_begin_ = 0;
  Extent extent_;
};

}  // namespace parlance::call_stream

#endif  // PARLANCE_SRC_CALL_STREAM_PYTHON_CALLS_H_
