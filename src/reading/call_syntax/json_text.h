#ifndef PARLANCE_SRC_CALL_SYNTAX_JSON_TEXT_H_
#define PARLANCE_SRC_CALL_SYNTAX_JSON_TEXT_H_

// The one writer of growing JSON text, e.g. of the arguments of a call.
//
//   f(city='Be        {"city": "Be
//   rn', days=3)      rn", "days": 3}
//
// Everything that is written is the beginning of some JSON text.  Numbers that
// are no JSON are written as json::standard_text() has them.  A key that comes
// twice is written twice.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "call_syntax/token.h"
#include "parlance/json.h"

namespace parlance::call_syntax {

class JsonText {
 public:
  enum class Spacing : std::uint8_t {
    kOwn,     // ", " and ": ", as json::dump() has them
    kModels,  // that of kSpace tokens
  };
  explicit JsonText(Spacing spacing = Spacing::kOwn) : spacing_(spacing) {}

  // Writes a token; tokens of calls are not written.  False: it is a scalar
  // that has no value (too many digits), and nothing was written.
  bool add(const Token& token, const Input& input, std::string& out);

  // The same for parts that are known otherwise.
  void open(bool object, std::string& out);
  void close(std::string& out);
  void key(std::string_view text, std::string& out);
  void value(const json::Value& value, std::string& out);
  void open_string(std::string& out);
  void text(std::string_view piece, Encoding encoding, std::string& out);
  void close_string(std::string& out) { out += '"'; }

  // The outermost object, which opens with its first member or at its end.
  void member(std::string_view name, std::string& out) {
    if (open_.empty()) open(true, out);
    key(name, out);
  }
  void end_members(std::string& out) {
    if (open_.empty()) open(true, out);
    close(out);
  }

  // The objects and lists that are open.
  std::size_t depth() const { return open_.size(); }

 private:
  void begin_value(std::string& out);
  void separate(std::string& out);

  Spacing spacing_;
  bool first_ = true;   // nothing is in the innermost object or list yet
  bool keyed_ = false;  // a key was written, and no value after it
  std::string open_;    // what closes the open objects and lists
};

}  // namespace parlance::call_syntax

#endif  // PARLANCE_SRC_CALL_SYNTAX_JSON_TEXT_H_
