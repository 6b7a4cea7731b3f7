#ifndef PARLANCE_CHAT_MESSAGE_H_
#define PARLANCE_CHAT_MESSAGE_H_

// A message as servers of chat completions send it.
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

// `fields[i]` is the name of the field with index i, as events have it.
//
// Members: "role" ("assistant"); "content", null where there is none;
// "reasoning", also of fields that are called "thinking" or
// "reasoning_content"; fields of other names as they are; "tool_calls" where
// there are any, with their arguments as JSON text.  Calls that were cut off or
// are malformed are left out.
json::Value chat_message(const Message& message,
                         std::span<const std::string_view> fields);

// The name and arguments of a tool call: {"function": {"name", "arguments"}},
// where arguments may be missing, or the inner object alone.  Nothing for any
// other value.  Views into `value`.
struct CallView {
  std::string_view name;
  const json::Value* arguments = nullptr;  // may be null
};
std::optional<CallView> view_call(const json::Value& value);

}  // namespace parlance

#endif  // PARLANCE_CHAT_MESSAGE_H_
