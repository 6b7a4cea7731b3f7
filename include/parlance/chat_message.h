#ifndef PARLANCE_CHAT_MESSAGE_H_
#define PARLANCE_CHAT_MESSAGE_H_

// A message in the shape of the chat completions API.
//
//   {"role": "assistant", "content": "Let me look.", "reasoning": "Bern, ...",
//    "tool_calls": [{"id": "call_0", "type": "function", "index": 0,
//                    "function": {"name": "get_weather",
//                                 "arguments": "{\"city\": \"Bern\"}"}}]}

#include <optional>
#include <span>
#include <string_view>

#include "parlance/json.h"
#include "parlance/message.h"

namespace parlance {

// Makes that shape from the message of a parser.  `fields[i]` is the name of
// the field with Event::field_index i.
//
// Members: "role" ("assistant", unless the message has its own); "content",
// null if there is none; "reasoning", which also takes fields called "thinking"
// or "reasoning_content"; fields with other names, unchanged; and "tool_calls"
// if there are any, with arguments as JSON text; arguments that are a string in
// which an object is written are that object.  What cannot be read, or was cut
// off before it could be read, is no call.
//
// REQUIRES: `fields` has an entry for each field_index of message.parts.
json::Value chat_message(const Message& message,
                         std::span<const std::string_view> fields);

// The name and arguments of a tool call.  A call is {"function": {"name",
// "arguments"}}, where "arguments" may be absent, or the inner object alone.
// Nothing for any other value.  Valid until `value` changes.
struct CallView {
  std::string_view name;
  const json::Value* arguments = nullptr;  // may be null
};
std::optional<CallView> view_call(const json::Value& value);

}  // namespace parlance

#endif  // PARLANCE_CHAT_MESSAGE_H_
