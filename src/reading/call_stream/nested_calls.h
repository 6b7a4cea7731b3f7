#ifndef PARLANCE_SRC_CALL_STREAM_NESTED_CALLS_H_
#define PARLANCE_SRC_CALL_STREAM_NESTED_CALLS_H_

// Arguments that are written as nested elements, as JSON text while they are
// being written.
//
//   <cofl:value name="a" type="dict">           {"a": {
//   <cofl:value name="b" type="raw">Be          "b": "Be
//   rn</cofl:value></cofl:value>                rn"}
//
// The values are those of the readers of whole regions (parse/nested_elements.h
// and the reader of the room arguments).  What is held:
//
//   cohere_xml       an argument that the schema of the tool may cast, until
//                    its end
//   minimax_m3_xml   white space at the beginning of an element, and a text
//                    that the schema does not declare as a string, until the
//                    element ends; from the first element on that is repeated
//                    among its neighbours, or that may be a list or an object,
//                    all until the region closes
//
// and what may be the beginning of a delimiter.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "call_stream/call_stream.h"
#include "call_stream/json_calls.h"
#include "call_stream/json_scanner.h"
#include "parlance/limits.h"
#include "parlance/tools.h"

namespace parlance::call_stream {

// cohere_xml.
class CohereCallReader final : public CallReader {
 public:
  CohereCallReader(std::string_view name, std::string_view id, Casts casts,
                   const Limits& limits);
  void advance(std::string_view text, bool end, CallWriter& out) override;

 private:
  enum class Step : std::uint8_t { kNext, kTag, kRaw, kJson, kStopped };

  bool read_next(std::string_view text, bool end, std::string& out);
  bool read_tag(std::string_view text, std::string& out);
  bool read_raw(std::string_view text, std::string& out);
  bool read_json(std::string_view text, std::string& out);
  bool begin_value(std::string_view attributes, std::string& out);
  void end_value(std::string& out);
  // Where the text of a value ends, as far as it is known; `found`: with its
  // closing tag.
  std::size_t text_end(std::string_view text, bool& found);
  std::string& target(std::string& out) {
    return held_ != nullptr ? held_text_ : out;
  }
  bool stop() {
    step_ = Step::kStopped;
    return true;
  }

  const std::string name_;
  const std::string id_;
  const Casts casts_;
  const Limits limits_;
  const schema::StringMap<schema::Parameter>* const parameters_;
  bool opened_ = false;
  bool begun_ = false;  // the arguments are an object, whose "{" is written

  Step step_ = Step::kNext;
  std::size_t at_ = 0;        // everything before this is read
  std::size_t searched_ = 0;  // no closing tag begins before this
  bool quoted_ = false;       // kTag: inside the value of an attribute
  std::string open_ = "{";    // brackets; the first is that of the arguments
  bool first_ = true;         // no member of the innermost bracket is written
  std::optional<JsonScanner> scanner_;
  std::size_t value_begin_ = 0;  // of the JSON text
  // The value of an argument that may be cast is written here first.
  const schema::Parameter* held_ = nullptr;
  std::string held_text_;
};

// minimax_m3_xml.
class MinimaxCallReader final : public CallReader {
 public:
  // `tools` give the elements their types.  `exact`: the text is one that a
  // grammar of the schema generates, so a text that the schema does not declare
  // as a string alone, or as no string, waits until the region closes.
  MinimaxCallReader(std::string_view name, std::string_view id, ToolSet tools,
                    bool exact, const Limits& limits);
  void advance(std::string_view text, bool end, CallWriter& out) override;

 private:
  struct Frame {
    std::string name;
    schema::Parameter parameter = {};
    std::size_t items = 0;  // elements in it
    std::size_t begin = 0;  // of its text
    enum class Kind : std::uint8_t { kOpen, kString, kList, kObject };
    Kind kind = Kind::kOpen;  // kOpen: nothing of its value is written
    std::set<std::string, std::less<>> names = {};  // of its elements
    bool first = true;
  };

  bool step(std::string_view text, std::string& out);
  bool begin_element(std::string_view name, std::string& out);
  bool end_element(std::string_view text, std::size_t end, std::string& out);
  void grow(std::string_view text, std::size_t end, std::string& out);
  void write_key(std::string& out);
  bool is_string(const Frame& frame) const;

  const std::string name_;
  const std::string id_;
  const ToolSet tools_;
  const bool exact_;
  const Limits limits_;
  bool opened_ = false;
  bool stopped_ = false;
  bool rest_ = false;  // what follows is known when the region closes

  std::size_t at_ = 0;             // everything before this is read or held
  std::size_t searched_ = 0;       // no marker begins before this
  std::size_t name_searched_ = 0;  // nor ends one before this
  std::vector<Frame> frames_;
};

}  // namespace parlance::call_stream

#endif  // PARLANCE_SRC_CALL_STREAM_NESTED_CALLS_H_
