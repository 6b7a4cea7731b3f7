// Messages in the format of chat completions, see parlance/message.h.

#include <string>
#include <utility>

#include "base/reasoning_names.h"
#include "call_stream/call_stream.h"
#include "json/surrogates.h"
#include "parlance/message.h"

namespace parlance {
namespace {

void append_call(const call_stream::CallView& call, json::Array& calls) {
  const auto index = static_cast<std::int64_t>(calls.size());
  std::string arguments = call.text();
  json::replace_surrogate_escapes(arguments, 0, arguments.size());
  json::Object function{{"name", json::Value(call.name)},
                        {"arguments", json::Value(arguments)}};
  calls.push_back(json::Value(
      json::Object{{"id", json::Value("call_" + std::to_string(index))},
                   {"type", json::Value("function")},
                   {"index", json::Value(index)},
                   {"function", json::Value(std::move(function))}}));
}

}  // namespace

json::Value chat_message(const Message& message,
                         std::span<const std::string_view> fields) {
  json::Array calls;
  std::string rest;  // of the regions of calls
  for (const Part& part : message.parts) {
    if (part.malformed || fields[part.field_index] != "tool_calls") continue;
    const std::string beside = call_stream::text_beside_calls(part.value);
    if (!rest.empty() && !beside.empty()) rest += '\n';
    rest += beside;
    for (const call_stream::CallView& call :
         call_stream::calls_in(part.value)) {
      append_call(call, calls);
    }
  }
  json::Object out;
  out.set("role", json::Value("assistant"));
  out.set("content", json::Value());
  for (const json::Member& member : message.fields.members()) {
    if (member.key == "tool_calls") continue;
    out.set(base::is_reasoning_name(member.key) ? "reasoning" : member.key,
            member.value);
  }
  if (!rest.empty()) {
    json::Value& content = *out.find("content");
    if (!content.is_null()) {
      rest.insert(0, call_stream::text_of(content) + "\n");
    }
    content = json::Value(rest);
  }
  if (!calls.empty()) out.set("tool_calls", json::Value(std::move(calls)));
  json::Value chat = std::move(out);
  json::replace_surrogates(chat);  // those that a bare template keeps
  return chat;
}

std::optional<CallView> view_call(const json::Value& value) {
  const std::optional<call_stream::CallView> call =
      call_stream::view_call(value);
  if (!call) return std::nullopt;
  return CallView{call->name, call->arguments};
}

}  // namespace parlance
