#include "shape.h"

#include <string>

namespace parlance::cli {
namespace {

bool is_reasoning(std::string_view field) {
  return field == "thinking" || field == "reasoning" ||
         field == "reasoning_content";
}

void append_calls(const json::Value& value, json::Array& calls) {
  CallView view;
  if (value.is_array()) {
    for (const json::Value& item : value.items()) {
      // A list of calls, as transform_each gives it.
      if (!item.is_array()) append_calls(item, calls);
    }
  } else if (is_call(value, view)) {
    std::string arguments = "{}";
    if (view.arguments != nullptr) {
      arguments = view.arguments->is_string()
                      ? std::string(view.arguments->as_string())
                      : json::dump(*view.arguments, {.ascii = false});
    }
    auto index = static_cast<std::int64_t>(calls.size());
    json::Object function{{"name", json::Value(view.name)},
                          {"arguments", json::Value(arguments)}};
    calls.push_back(json::Value(
        json::Object{{"id", json::Value("call_" + std::to_string(index))},
                     {"type", json::Value("function")},
                     {"index", json::Value(index)},
                     {"function", json::Value(std::move(function))}}));
  }
}

}  // namespace

json::Value event_value(const Event& event, bool with_tokens) {
  json::Object out;
  out.set("type", json::Value(to_string(event.kind)));
  out.set("field", json::Value(event.field));
  switch (event.kind) {
    case EventKind::kRegionOpen:
      if (!event.captures.empty()) {
        json::Object captures;
        for (const Capture& capture : event.captures) {
          captures.set(std::string(capture.name), json::Value(capture.text));
        }
        out.set("captures", json::Value(std::move(captures)));
      }
      break;
    case EventKind::kRegionChunk:
      out.set("text", json::Value(event.text));
      out.set("dirty", json::Value(event.dirty));
      break;
    case EventKind::kRegionClose:
      out.set("value", event.value == nullptr ? json::Value() : *event.value);
      if (event.cut) out.set("cut", json::Value(true));
      break;
    case EventKind::kRegionMalformed:
      out.set("text", json::Value(event.text));
      if (event.diagnostic != nullptr) {
        out.set("error", json::Value(event.diagnostic->message));
      }
      if (event.cut) out.set("cut", json::Value(true));
      break;
  }
  out.set("start", json::Value(static_cast<std::int64_t>(event.bytes.begin)));
  out.set("end", json::Value(static_cast<std::int64_t>(event.bytes.end)));
  if (with_tokens) {
    json::Array tokens;
    tokens.push_back(static_cast<std::int64_t>(event.tokens.begin));
    tokens.push_back(static_cast<std::int64_t>(event.tokens.end));
    out.set("tokens", json::Value(std::move(tokens)));
  }
  return json::Value(std::move(out));
}

bool is_call(const json::Value& call, CallView& view) {
  const json::Value* function = call.find("function");
  if (function == nullptr || !function->is_object()) function = &call;
  const json::Value* name = function->find("name");
  if (name == nullptr || !name->is_string()) return false;
  view.name = name->as_string();
  view.arguments = function->find("arguments");
  if (function == &call && view.arguments == nullptr) return false;
  return true;
}

json::Value chat_message(const Format& format, const Message& message) {
  json::Array calls;
  for (const Part& part : message.parts) {
    if (part.malformed || part.cut) continue;
    if (format.field_name(part.field_index) != "tool_calls") continue;
    append_calls(part.value, calls);
  }
  json::Object out;
  out.set("role", json::Value("assistant"));
  out.set("content", json::Value());
  for (const json::Member& member : message.fields.members()) {
    if (member.key == "tool_calls") continue;
    out.set(is_reasoning(member.key) ? "reasoning" : member.key, member.value);
  }
  if (!calls.empty()) out.set("tool_calls", json::Value(std::move(calls)));
  return json::Value(std::move(out));
}

}  // namespace parlance::cli
