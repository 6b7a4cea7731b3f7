// Messages in the format of chat completions, see parlance/chat_message.h.

#include "parlance/chat_message.h"

#include <string>
#include <utility>

#include "base/reasoning_names.h"
#include "json/writer.h"

namespace parlance {
namespace {

void append_call(const json::Value& value, json::Array& calls) {
  const std::optional<CallView> call = view_call(value);
  if (!call) return;
  std::string arguments = "{}";
  if (call->arguments != nullptr) {
    arguments = call->arguments->is_string()
                    ? std::string(call->arguments->as_string())
                    : json::standard_text(*call->arguments);
  }
  const auto index = static_cast<std::int64_t>(calls.size());
  json::Object function{{"name", json::Value(call->name)},
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
  for (const Part& part : message.parts) {
    if (part.malformed || part.cut) continue;
    if (fields[part.field_index] != "tool_calls") continue;
    append_call(part.value, calls);
    // A list of calls, as transform_each produces it.
    for (const json::Value& item : part.value.items()) append_call(item, calls);
  }
  json::Object out;
  out.set("role", json::Value("assistant"));
  out.set("content", json::Value());
  for (const json::Member& member : message.fields.members()) {
    if (member.key == "tool_calls") continue;
    out.set(base::is_reasoning_name(member.key) ? "reasoning" : member.key,
            member.value);
  }
  if (!calls.empty()) out.set("tool_calls", json::Value(std::move(calls)));
  return json::Value(std::move(out));
}

std::optional<CallView> view_call(const json::Value& value) {
  const json::Value* function = value.find("function");
  if (function == nullptr || !function->is_object()) function = &value;
  const json::Value* name = function->find("name");
  if (name == nullptr || !name->is_string()) return std::nullopt;
  const CallView call{name->as_string(), function->find("arguments")};
  if (function == &value && call.arguments == nullptr) return std::nullopt;
  return call;
}

}  // namespace parlance
