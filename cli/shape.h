#ifndef PARLANCE_CLI_SHAPE_H_
#define PARLANCE_CLI_SHAPE_H_

// Events and messages as JSON.

#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/message.h"

namespace parlance::cli {

// An event with upstream's members ("type", "field", "text", "dirty",
// "value"), and ours behind them: "captures", "cut", "error", "start", "end"
// and, when tokens were fed, "tokens".
json::Value event_value(const Event& event, bool with_tokens);

// `message` as a message of the chat-completions API: role, content,
// reasoning, and tool_calls whose arguments are JSON text.  Calls that were cut
// off or malformed are left out; other fields stay.
json::Value chat_message(const Format& format, const Message& message);

// The name and arguments of `call` when it is a tool call: {"function":
// {"name", "arguments"}} or the inner object alone.  `arguments` may be null.
struct CallView {
  std::string_view name;
  const json::Value* arguments = nullptr;
};
bool is_call(const json::Value& call, CallView& view);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_SHAPE_H_
