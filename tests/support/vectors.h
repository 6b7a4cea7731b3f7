#ifndef PARLANCE_TESTS_SUPPORT_VECTORS_H_
#define PARLANCE_TESTS_SUPPORT_VECTORS_H_

// Running a parser over recorded cases and recording its events in a form
// that can be compared.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"

namespace parlance::testing {

// The string that an object has under `key`; "" if it has none.
inline std::string_view text_of(const json::Value& object,
                                std::string_view key) {
  const json::Value* found = object.find(key);
  return found == nullptr ? std::string_view() : found->as_string();
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline json::Value read_json(const std::filesystem::path& path) {
  Result<json::Value> value = json::parse(read_file(path));
  return value ? *value : json::Value();
}

// A text as a vector has it: a string, or {"hex": "..."}.
inline std::string bytes_of(const json::Value& value) {
  const json::Value* hex = value.find("hex");
  if (hex == nullptr) return std::string(value.as_string());
  std::string out;
  std::string_view digits = hex->as_string();
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    out += static_cast<char>(
        std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return out;
}

// {"$float": "nan"}, {"$int": "..."} and {"$utf16": [...]} stand for what JSON
// cannot hold.
inline json::Value decode(const json::Value& value) {
  if (value.is_array()) {
    json::Array items;
    for (const json::Value& item : value.items()) items.push_back(decode(item));
    return items;
  }
  if (!value.is_object()) return value;
  if (const json::Value* text = value.find("$float")) {
    std::string_view name = text->as_string();
    double infinity = std::numeric_limits<double>::infinity();
    return name == "nan" ? json::Value(std::numeric_limits<double>::quiet_NaN())
           : name == "-inf" ? json::Value(-infinity)
                            : json::Value(infinity);
  }
  if (const json::Value* text = value.find("$int")) {
    return json::Value::integer(text->as_string());
  }
  if (const json::Value* units = value.find("$utf16")) {
    std::string text;
    const json::Array& items = units->items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      auto unit = static_cast<char32_t>(items[i].as_int());
      if (unit >= 0xD800 && unit < 0xDC00 && i + 1 < items.size()) {
        auto low = static_cast<char32_t>(items[i + 1].as_int());
        if (low >= 0xDC00 && low < 0xE000) {
          unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
          ++i;
        }
      }
      base::append_utf8(text, unit);
    }
    return text;
  }
  json::Object out;
  for (const auto& [key, member] : value.members()) {
    out.set(key, decode(member));
  }
  return out;
}

// An event as upstream writes it.
inline json::Value event_value(const Event& event) {
  json::Object out;
  out.set("type", to_string(event.kind));
  out.set("field", event.field);
  switch (event.kind) {
    case EventKind::kRegionChunk:
      out.set("text", event.text);
      out.set("dirty", event.dirty);
      break;
    case EventKind::kRegionClose:
      out.set("value", *event.value);
      break;
    default:
      break;
  }
  return out;
}

// A list of events with neighbouring chunks of one region joined.
class Stream {
 public:
  void add(const json::Value& event) {
    if (!events_.empty() && event.find("text") != nullptr &&
        events_.back().find("text") != nullptr &&
        event.find("type")->as_string() == "region_chunk" &&
        *events_.back().find("field") == *event.find("field")) {
      json::Value& last = events_.back();
      std::string text(last.find("text")->as_string());
      text += event.find("text")->as_string();
      last.mutable_members().set("text", text);
      return;
    }
    events_.push_back(event);
  }
  void add(std::span<const Event> events) {
    for (const Event& event : events) add(event_value(event));
  }
  const json::Array& events() const { return events_; }
  std::string to_string() const {
    std::string out;
    for (const json::Value& event : events_) {
      out += json::dump(event, {.ascii = false}) + "\n";
    }
    return out;
  }

 private:
  json::Array events_;
};

// The events and the result of one run.
struct Run {
  std::vector<json::Array> initial_feeds_final;  // events of each call
  Stream stream;
  Message message;
  std::optional<Error> failure;
  std::uint64_t work = 0;
};

inline Run run(const Format& format, const std::vector<std::string>& chunks,
               const StreamOptions& options) {
  Run out;
  auto note = [&](std::span<const Event> events) {
    json::Array list;
    for (const Event& event : events) list.push_back(event_value(event));
    out.initial_feeds_final.push_back(std::move(list));
    out.stream.add(events);
  };
  ResponseParser parser(format, options);
  note(parser.initial_events());
  for (const std::string& chunk : chunks) note(parser.feed(chunk));
  note(parser.finalize());
  if (parser.failure() != nullptr) out.failure = *parser.failure();
  out.work = parser.work();
  out.message = parser.message();
  return out;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_VECTORS_H_
