// Implements parlance/message_json.h.

#include "parlance/message_json.h"

#include <cstdint>
#include <string>
#include <utility>

namespace parlance {
namespace {

json::Value pair_of(Span span) {
  return json::Array{static_cast<std::int64_t>(span.begin),
                     static_cast<std::int64_t>(span.end)};
}

json::Value error_of(const Diagnostic& diagnostic) {
  return json::Object{{"code", to_string(diagnostic.code)},
                      {"message", diagnostic.message}};
}

}  // namespace

json::Value to_json(const Event& event, bool with_tokens) {
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
        out.set("error", error_of(*event.diagnostic));
      }
      if (event.cut) out.set("cut", json::Value(true));
      break;
    case EventKind::kTextUnclaimed:
      out.set("text", json::Value(event.text));
      out.set("error", error_of(*event.diagnostic));
      break;
    case EventKind::kCallOpen:
      out.set("call", json::Value(std::int64_t{event.call}));
      out.set("name", json::Value(event.text));
      if (!event.call_id.empty()) out.set("id", json::Value(event.call_id));
      break;
    case EventKind::kCallArguments:
      out.set("call", json::Value(std::int64_t{event.call}));
      out.set("text", json::Value(event.text));
      break;
    case EventKind::kCallClose:
      out.set("call", json::Value(std::int64_t{event.call}));
      break;
    case EventKind::kCallAttempt:
      out.set("attempt", to_json(*event.attempt));
      break;
  }
  out.set("start", json::Value(static_cast<std::int64_t>(event.bytes.begin)));
  out.set("end", json::Value(static_cast<std::int64_t>(event.bytes.end)));
  if (with_tokens) out.set("tokens", pair_of(event.tokens));
  return json::Value(std::move(out));
}

json::Value to_json(const Diagnostic& diagnostic) {
  return json::Object{
      {"code", to_string(diagnostic.code)},
      {"message", diagnostic.message},
      {"field", diagnostic.field.empty() ? json::Value()
                                         : json::Value(diagnostic.field)},
      {"span", pair_of(diagnostic.bytes)}};
}

}  // namespace parlance
