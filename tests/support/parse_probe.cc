// Runs parsers for tests in Python that compare with upstream's.
//
//   stdin:  one JSON object per line:
//     template (an object, or JSON text) | format (a built-in name)
//     prefix, tools, recover
//     chunks (strings) | hex (bytes as hexadecimal digits)
//     vocabulary (spellings by id; {"special": "<x>"}, {"hex": "f0"} or null
//     for an unused id) and ids (a list of lists)
//   stdout: one JSON object per line:
//     load_error {code, message, path, span}, or
//     message, events (a list per call: construction, each feed, finalize),
//     failure {code, message, path} or null, diagnostics, complete,
//     held (a text after each feed), prefix_bytes, work
//
// What JSON cannot hold is written as the recorded vectors write it: $float,
// $int and $utf16 (see decode() in vectors.h).

#include <cmath>
#include <cstddef>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "support/encode.h"
#include "support/vectors.h"

namespace {

using namespace parlance;
using json::Array;
using json::Object;
using json::Value;
using testing::encode;
using testing::encode_text;

Value span_value(Span span) {
  return Array{static_cast<std::int64_t>(span.begin),
               static_cast<std::int64_t>(span.end)};
}

Value error_value(const Error& error) {
  Object out;
  out.set("code", to_string(error.code));
  out.set("message", error.message);
  out.set("path", error.path);
  if (error.span) out.set("span", span_value(*error.span));
  return out;
}

Value diagnostic_value(const Diagnostic& diagnostic) {
  Object out;
  out.set("code", to_string(diagnostic.code));
  out.set("message", encode_text(diagnostic.message));
  out.set("field", encode_text(diagnostic.field));
  out.set("bytes", span_value(diagnostic.bytes));
  return out;
}

Value events_value(std::span<const Event> events, bool tokens) {
  Array list;
  for (const Event& event : events) {
    Value value = encode(testing::event_value(event));
    Object& out = value.mutable_members();
    out.set("bytes", span_value(event.bytes));
    if (tokens) out.set("tokens", span_value(event.tokens));
    if (event.cut) out.set("cut", true);
    if (!event.captures.empty()) {
      Object captures;
      for (const auto& [name, text] : event.captures) {
        captures.set(std::string(name), encode_text(text));
      }
      out.set("captures", std::move(captures));
    }
    if (event.diagnostic != nullptr) {
      out.set("diagnostic", diagnostic_value(*event.diagnostic));
    }
    list.push_back(std::move(value));
  }
  return list;
}

std::string unhex(std::string_view digits) {
  std::string out;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    out += static_cast<char>(
        std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return out;
}

Result<Format> format_of(const Value& request) {
  if (const Value* name = request.find("format")) {
    return Format::built_in(name->as_string());
  }
  const Value* spec = request.find("template");
  if (spec == nullptr) {
    return Error{ErrorCode::kUsage, "a request needs template or format"};
  }
  if (spec->is_string()) return Format::from_json(spec->as_string());
  return Format::from_json(json::dump(*spec));
}

Result<Vocabulary> vocabulary_of(const Value& list) {
  std::vector<TokenEntry> entries;
  for (std::size_t id = 0; id < list.items().size(); ++id) {
    const Value& item = list.items()[id];
    TokenEntry entry;
    entry.id = static_cast<TokenId>(id);
    if (item.is_null()) continue;
    if (const Value* special = item.find("special")) {
      entry.bytes = special->as_string();
      entry.kind = TokenKind::kControl;
    } else if (const Value* hex = item.find("hex")) {
      entry.bytes = unhex(hex->as_string());
    } else {
      entry.bytes = item.as_string();
    }
    entries.push_back(std::move(entry));
  }
  return Vocabulary::from_table(entries);
}

Value load_error(const Error& error) {
  return Object{{"load_error", error_value(error)}};
}

Value answer(const Value& request) {
  Result<Format> format = format_of(request);
  if (!format) return load_error(format.error());
  StreamOptions options;
  options.allow_surrogates = true;
  std::string prefix;
  if (const Value* value = request.find("prefix")) {
    prefix = testing::decode(*value).as_string();
  }
  options.prefix = prefix;
  ToolSet tools;
  if (const Value* value = request.find("tools")) {
    tools = ToolSet::from_value(*value);
    options.tools = &tools;
  }
  if (const Value* value = request.find("recover")) {
    options.recover = value->as_bool() ? Recover::kYes : Recover::kNo;
  }
  std::optional<Vocabulary> vocabulary;
  if (const Value* value = request.find("vocabulary")) {
    Result<Vocabulary> table = vocabulary_of(*value);
    if (!table) return load_error(table.error());
    vocabulary = std::move(*table);
    options.vocabulary = &*vocabulary;
  }

  ResponseParser parser(*format, options);
  Array events;
  Array held;
  auto note = [&](std::span<const Event> list) {
    events.push_back(events_value(list, vocabulary.has_value()));
  };
  note(parser.initial_events());
  if (const Value* ids = request.find("ids"); ids != nullptr && vocabulary) {
    for (const Value& group : ids->items()) {
      std::vector<TokenId> tokens;
      for (const Value& id : group.items()) {
        tokens.push_back(static_cast<TokenId>(id.as_int()));
      }
      note(parser.feed_tokens(tokens));
      held.push_back(encode_text(parser.held()));
    }
  } else {
    const Value* hex = request.find("hex");
    const Value* chunks = hex != nullptr ? hex : request.find("chunks");
    for (const Value& chunk : chunks != nullptr ? chunks->items() : Array()) {
      note(parser.feed(hex != nullptr
                           ? unhex(chunk.as_string())
                           : std::string(testing::decode(chunk).as_string())));
      // A character that is not whole yet cannot be written down.
      std::string waiting(parser.held());
      held.push_back(encode_text(waiting.substr(
          0, base::next_utf8(waiting, true).kind == base::Utf8Step::Kind::kValid
                 ? base::next_utf8(waiting, true).size
                 : 0)));
    }
  }
  note(parser.finalize());

  const Message& message = parser.message();
  Object out;
  out.set("message", encode(message.fields));
  out.set("events", std::move(events));
  out.set("failure", parser.failure() != nullptr
                         ? error_value(*parser.failure())
                         : Value());
  Array diagnostics;
  for (const Diagnostic& diagnostic : message.diagnostics) {
    diagnostics.push_back(diagnostic_value(diagnostic));
  }
  out.set("diagnostics", std::move(diagnostics));
  out.set("complete", message.complete);
  out.set("held", std::move(held));
  out.set("prefix_bytes", static_cast<std::int64_t>(parser.prefix_bytes()));
  out.set("work", static_cast<std::int64_t>(parser.work()));
  return out;
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) {
    Result<Value> request = json::parse(line);
    std::cout << json::dump(request ? answer(*request)
                                    : load_error(request.error()))
              << std::endl;
  }
  return 0;
}
