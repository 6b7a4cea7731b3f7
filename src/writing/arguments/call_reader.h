#ifndef PARLANCE_SRC_ARGUMENTS_CALL_READER_H_
#define PARLANCE_SRC_ARGUMENTS_CALL_READER_H_

// Arguments that are written as elements, as JSON text while they are being
// written.
//
//   <parameter=city>Be             {"city": "Be
//   rn</parameter>                 rn"
//   <parameter=days>3</parameter>  , "days": 3
//
// The values are those of ArgumentReader (reader.h), read by the same functions
// (element_parts.h).  The string of an argument that can only be a string is
// written while it grows.  Any other value is written when it is decided: a
// text that may still be the beginning of a JSON value that contains the
// closing marker waits.  Where such a value may also be a string and the
// elements after it, the rest of the text decides, and everything waits until
// the call ends.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "arguments/element_parts.h"
#include "arguments/reader_rules.h"
#include "base/mutex.h"
#include "call_stream/call_stream.h"
#include "call_syntax/json_scanner.h"
#include "call_syntax/json_text.h"
#include "parlance/limits.h"

namespace parlance::arguments {

class ArgumentCallReader final : public call_stream::CallReader {
 public:
  // Whether arguments under these rules are read piece by piece: elements are
  // not nested, the object has one alternative, the marker after a name ends
  // the name, and the closing marker ends a number.
  static bool streams(const ArgumentRules& rules);

  // `mutex`, which lives as long as `owner`, guards `rules`.
  // REQUIRES: streams(rules).
  ArgumentCallReader(std::string_view name, std::shared_ptr<void> owner,
                     std::shared_ptr<ArgumentRules> rules, base::Mutex& mutex,
                     const Limits& limits);

  void advance(std::string_view text, bool end,
               call_stream::CallWriter& out) override;

 private:
  enum class Step : std::uint8_t {
    kHead,       // an element
    kBegin,      // the beginning of its value
    kString,     // the text of a string, up to the closing marker
    kValue,      // a value that may be JSON
    kUndecided,  // the rest of the text decides between two readings
    kStopped,    // nothing more can be read
  };

  // Each reads on, and returns false if more text is needed.
  bool read_head(std::string_view text);
  bool begin_value(std::string_view text, bool end);
  bool read_string(std::string_view text, std::string& out);
  bool read_value(std::string_view text, bool end, std::string& out);
  void scan_json(std::string_view text);
  std::size_t held_before(std::string_view text, std::size_t end) const;
  void end_element(std::size_t at);
  ElementHead head_at(std::size_t at, bool first) const {
    return {rules_, rules_.list(rules_.root_list()).objects[0], at, first};
  }

  const std::string call_;
  const std::shared_ptr<void> owner_;
  const std::shared_ptr<ArgumentRules> shared_;
  ArgumentRules& rules_;
  base::Mutex& mutex_;
  const Limits limits_;
  const ElementLayout& layout_;

  bool opened_ = false;
  Step step_ = Step::kHead;
  call_syntax::JsonText json_;

  // The element that is being read.
  ElementHead head_;
  StringText string_;
  MarkerSearch search_;   // for what ends the string
  bool written_ = false;  // the string has begun
  std::size_t at_ = 0;    // the string before it is written
  // Reads the value as JSON: the end of the value, once it is known.
  const call_syntax::JsonDialect dialect_;
  std::optional<call_syntax::JsonScanner> scanner_;
  std::optional<std::size_t> json_end_;
  bool no_json_ = false;
};

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_CALL_READER_H_
