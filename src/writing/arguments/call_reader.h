#ifndef PARLANCE_SRC_ARGUMENTS_CALL_READER_H_
#define PARLANCE_SRC_ARGUMENTS_CALL_READER_H_

// Arguments that are written as elements, as JSON text while they are being
// written.
//
//   <parameter=city>Be             {"city": "Be
//   rn</parameter>                 rn"
//   <parameter=days>3</parameter>  , "days": 3
//
// The values are those of ArgumentReader (reader.h).  The string of an argument
// that can only be a string is written while it grows.  Any other value is
// written when it is decided: a text that may still be the beginning of a JSON
// value that contains the closing marker waits.  Where such a value may also be
// a string and the elements after it, the rest of the text decides, as in
// ArgumentReader, and everything waits until the call ends.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "arguments/reader_rules.h"
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
                     std::shared_ptr<ArgumentRules> rules, std::mutex& mutex,
                     const Limits& limits);

  void advance(std::string_view text, bool end,
               call_stream::CallWriter& out) override;

 private:
  enum class Step : std::uint8_t {
    kOpen,       // an element
    kName,       // the rest of its name, and the marker after it
    kAttribute,  // the rest of the attribute, and the marker after it
    kString,     // the text of a string, up to the closing marker
    kValue,      // a value that may be JSON
    kUndecided,  // the rest of the text decides between two readings
    kStopped,    // nothing more can be read
  };

  // Each reads on from at_, and returns false if more text is needed.
  bool read_open(std::string_view text);
  bool read_name(std::string_view text);
  bool read_attribute(std::string_view text);
  bool read_string(std::string_view text, std::string& out);
  bool read_value(std::string_view text, bool end, std::string& out);
  // What became of a text: it is too short to say, it is no value, or it is
  // written.
  enum class Taken : std::uint8_t { kTooShort, kNothing, kAll };
  void scan_json(std::string_view text);
  Taken take_json(std::string_view text, std::size_t found, std::string& out);
  bool take_string(std::string_view text, std::size_t found, bool end,
                   std::string& out);
  bool may_be_string(std::string_view text, std::size_t found);
  bool read_type(std::string_view text);
  void begin_value(std::string_view attribute);
  void begin_exact_value(const TypeGroup& group);
  void start_value(bool is_string);
  bool may_be_cdata(std::string_view text);
  std::size_t held_before(std::string_view text, std::size_t end) const;
  // After optional white space, if the layout has it.
  std::size_t skip(std::string_view text, std::size_t pos) const;
  // Finds `marker` from searched_ on.
  std::size_t find(std::string_view text, std::string_view marker);
  bool find_member(std::string_view written);
  void end_element(std::size_t at);

  // What ends the string that is being read.  `text` is searched for.
  struct StringEnd {
    std::string before;  // white space
    std::string text;
    std::string after;
  };

  const std::string call_;
  const std::shared_ptr<void> owner_;
  const std::shared_ptr<ArgumentRules> shared_;
  ArgumentRules& rules_;
  std::mutex& mutex_;
  const Limits limits_;
  const ElementLayout& layout_;

  bool opened_ = false;
  bool first_ = true;  // no element has been read
  Step step_ = Step::kOpen;
  std::size_t at_ = 0;        // where the step began
  std::size_t searched_ = 0;  // no marker of the step begins before this
  call_syntax::JsonText json_;

  // The element that is being read.
  std::string name_;
  ValueId value_ = kNone;
  StringEnd end_;
  const TypeGroup* group_ = nullptr;  // of an exact layout
  bool string_first_ = false;         // the attribute says that it is a string
  bool string_written_ = false;       // the string has begun
  // Reads the value as JSON: the end of the value, once it is known.
  const call_syntax::JsonDialect dialect_;
  std::optional<call_syntax::JsonScanner> scanner_;
  std::optional<std::size_t> json_end_;
  bool no_json_ = false;
};

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_CALL_READER_H_
