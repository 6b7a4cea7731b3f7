#ifndef PARLANCE_SRC_RENDERING_RENDER_H_
#define PARLANCE_SRC_RENDERING_RENDER_H_

// Writes a message as a family writes it: the first layout of each field, in
// the order of the family file ("write" in docs/reference/format-files.md).
//
//   {"thinking": "Hm.", "tool_calls": [now({})]}
//
//   <think>\nHm.\n</think>\n\n         the parts of "thinking"
//   <tool_call>\n{"name": "now", ...   the parts of "tool_calls"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/description.h"
#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::rendering {

// A call of a message.
struct MessageCall {
  std::string name = {};
  std::string id = {};         // "" if it has none
  json::Value arguments = {};  // an object
};

// The fields of a message that a family writes, by FieldId.
struct MessageFields {
  struct Field {
    bool given = false;
    std::string text = {};                // of a field of text
    std::vector<MessageCall> calls = {};  // of the field of calls
  };
  std::vector<Field> fields = {};
};

// Reads the fields of a message in the shape that parsers return or that the
// chat completions API has: reasoning is called "thinking", "reasoning" or
// "reasoning_content", arguments are an object or its JSON text.  A field that
// is null or empty counts as absent.
//
// Errors, with pointers into `message`: kWrongType, kMissingKey; kUnknownName
// for a field that the format does not write.
Result<MessageFields> read_message(const json::Value& message,
                                   const format::FormatImpl& format);

// What is written for a field of reasoning that the message does not have.
enum class Absent : std::uint8_t {
  kOff,      // "off" of its layout
  kNothing,  // nothing
  kBlock,    // a block without text
};

// The text of the message.  REQUIRES: the format has a description of how it
// is written (Family::writing).
//
// Errors, with pointers into the message: kConflict for a value that the
// layout cannot write; kUnsupported.
//
// `escaped`: texts that strings of JSON in the arguments have as an escape, as
// they have those that end the call.
//
// Complexity: O(size of the text).
Result<std::string> render(const MessageFields& message,
                           const format::FormatImpl& format,
                           Absent absent = Absent::kOff,
                           std::span<const std::string> escaped = {});

}  // namespace parlance::rendering

#endif  // PARLANCE_SRC_RENDERING_RENDER_H_
