// Finds the nodes of the tag where the response may be by what the parser has
// read, and makes the rest of the tag from there.

#include "inversion/continuation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/byte_set.h"
#include "base/trimmed.h"
#include "inversion/tag_rest.h"
#include "inversion/tag_values.h"

namespace parlance::inversion {
namespace {

using json::Value;

std::string_view after_space(std::string_view text) {
  return text.substr(
      std::min(text.find_first_not_of(base::kJsonWhitespace), text.size()));
}

// --- Places in the tag -------------------------------------------------------

// A node with what is left after it.
struct Place {
  Value node;
  Rest rest;
};

bool is_call(const Value& node) { return node.find("tool") != nullptr; }

// The places of nodes, whatever must come before them.
class Places {
 public:
  enum class Of : std::uint8_t { kCalls, kField, kAll };
  explicit Places(Of of, std::string_view field = {})
      : of_(of), field_(field) {}

  void find(const Value& node, const Rest& rest) {
    const std::string_view type = text_of(node, "type");
    const bool wanted = of_ == Of::kCalls ? is_call(node)
                        : of_ == Of::kField
                            ? text_of(node, "field") == field_
                            : type == "const_string" || type == "tag" ||
                                  type == "any_text" || type == "regex" ||
                                  type == "json_schema";
    if (wanted) {
      found_.push_back({node, rest});
      return;
    }
    if (type == "sequence") {
      const json::Array& elements = node.find("elements")->items();
      for (std::size_t i = 0; i < elements.size(); ++i) {
        Rest with = rest;
        with.insert(with.end(), elements.rbegin(),
                    elements.rend() - static_cast<std::ptrdiff_t>(i + 1));
        find(elements[i], with);
      }
    } else if (type == "or") {
      for (const Value& choice : node.find("elements")->items()) {
        find(choice, rest);
      }
    } else if (type == "optional") {
      find(*node.find("content"), rest);
    } else if (type == "star") {
      Rest with = rest;
      with.push_back(node);
      find(*node.find("content"), with);
    } else if (type == "tags_with_separator") {
      find(as_sequence(node), rest);
    }
  }

  const std::vector<Place>& found() const { return found_; }

 private:
  const Of of_;
  const std::string_view field_;
  std::vector<Place> found_;
};

// --- Free text ---------------------------------------------------------------

// `content` up to the end of `tag`.
Value up_to_end(const Value& tag, Value content) {
  Value out = tag;
  out.mutable_members().set("begin", "");
  out.mutable_members().set("content", std::move(content));
  return out;
}

Value any_json(const Value& leaf, Value schema) {
  Value out = leaf;
  json::Object& members = out.mutable_members();
  members.set("json_schema", std::move(schema));
  members.set("any_order", true);
  members.set("max_whitespace_cnt", nullptr);
  return out;
}

Value with(const Rest& rest, Value node) {
  Rest out = rest;
  out.push_back(std::move(node));
  return left_to_read(out);
}

constexpr std::string_view kNoSchema =
    "what the prompt has written is not valid under a schema of the request, "
    "which the rest of it is therefore not held to";

// --- Calls -------------------------------------------------------------------

// A call as its tag writes it.
struct CallTag {
  const Value& tag;
  std::vector<Value> before = {};  // nodes before the arguments
  Value arguments = {};            // json_schema
  std::vector<Value> after = {};

  explicit CallTag(const Value& node) : tag(node) {
    const Value& content = *node.find("content");
    const bool one = text_of(content, "type") != "sequence";
    const json::Array alone = {content};
    for (const Value& item : one ? alone : content.find("elements")->items()) {
      if (text_of(item, "type") == "json_schema" && arguments.is_null()) {
        arguments = item;
      } else {
        (arguments.is_null() ? before : after).push_back(item);
      }
    }
  }

  std::string_view name() const { return text_of(tag, "tool"); }

  // The call from its arguments on.
  Value from_arguments(Value with) const {
    json::Array nodes = {std::move(with)};
    nodes.insert(nodes.end(), after.begin(), after.end());
    return up_to_end(
        tag, nodes.size() == 1 ? nodes.front() : values::sequence(nodes));
  }

  // The text after the name, up to the arguments.
  std::string_view after_name() const {
    if (!before.empty()) return text_of(before.back(), "value");
    const std::string_view begin = text_of(tag, "begin");
    const std::size_t at = begin.rfind(name());
    return at == std::string_view::npos ? begin
                                        : begin.substr(at + name().size());
  }
};

// A call that is one JSON object: {"name": "f", "arguments": ...} in any order,
// and the text after it.
struct JsonCall {
  json::Object properties = {};
  json::Array required = {};
  std::string arguments = {};  // the key
  std::string end = {};
};

// Where the object that begins at `begin` ends; npos if it does not.
std::size_t end_of_object(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) return i + 1;
    }
  }
  return std::string_view::npos;
}

std::optional<JsonCall> json_call(const CallTag& call) {
  if (text_of(call.arguments, "style") != "json" || !call.before.empty()) {
    return std::nullopt;
  }
  std::string text(text_of(call.tag, "begin"));
  const std::size_t begin = text.find('{');
  if (begin == std::string::npos) return std::nullopt;
  text += "{}";
  for (const Value& node : call.after) text += text_of(node, "value");
  text += text_of(call.tag, "end");
  const std::size_t end = end_of_object(text, begin);
  if (end == std::string::npos) return std::nullopt;
  const Result<Value> object =
      json::parse(std::string_view(text).substr(begin, end - begin));
  if (!object) return std::nullopt;
  JsonCall out;
  out.end = text.substr(end);
  for (const json::Member& member : object->members()) {
    out.required.emplace_back(member.key);
    if (member.value.is_object()) {
      if (!out.arguments.empty()) return std::nullopt;
      out.arguments = member.key;
    } else {
      out.properties.set(member.key, json::Object{{"const", member.value}});
    }
  }
  if (out.arguments.empty()) return std::nullopt;
  return out;
}

// The last object of `text` that stands in no other one, from its beginning, or
// what follows it if it has ended.
struct LastObject {
  std::string_view text;
  bool ended = false;
};
LastObject last_object(std::string_view text) {
  LastObject out{text, true};
  for (std::size_t at = 0;;) {
    at = text.find('{', at);
    if (at == std::string_view::npos) return out;
    const std::size_t end = end_of_object(text, at);
    if (end == std::string_view::npos) return {text.substr(at), false};
    out.text = text.substr(end);
    at = end;
  }
}

// The end of a call without the punctuation with which its body ends.
std::string_view closer(std::string_view end) {
  return end.substr(
      std::min(end.find_first_not_of(" \t\r\n\"')]}"), end.size()));
}

class Continuations {
 public:
  Continuations(std::string_view written, const WrittenPart& read,
                std::vector<Beginning>& out)
      : written_(written), read_(read), out_(out) {}

  void of_text(const std::vector<Place>& places) {
    std::vector<Value> formats;
    std::vector<Value> same;
    std::vector<Value> any;
    for (const auto& [node, rest] : places) {
      const std::string_view type = text_of(node, "type");
      if (type == "tag") {
        formats.push_back(with(rest, up_to_end(node, *node.find("content"))));
      } else if (type == "sequence") {
        formats.push_back(with(rest, node.find("elements")->items().back()));
      } else if (type == "json_schema") {
        same.push_back(with(rest, any_json(node, *node.find("json_schema"))));
        any.push_back(with(rest, any_json(node, true)));
      } else {
        formats.push_back(with(rest, node));
      }
    }
    const std::string_view body = after_space(written_.substr(read_.body));
    add(same, body);
    add(any, body, kNoSchema);
    add(formats, read_.held);
  }

  void of_calls(const std::vector<Place>& places) {
    std::vector<const Place*> fitting;
    for (const Place& place : places) {
      if (text_of(place.node, "tool") == read_.call) fitting.push_back(&place);
    }
    const bool unknown = fitting.empty() && !read_.call.empty();
    if (fitting.empty()) {
      for (const Place& place : places) fitting.push_back(&place);
    }
    for (const bool valid : {true, false}) {
      if (valid && unknown) continue;
      from_arguments(fitting, valid);
      from_object(fitting, valid);
    }
    as_text(fitting);
  }

 private:
  void add(const std::vector<Value>& formats, std::string_view prefix,
           std::string_view note = {}) {
    if (formats.empty()) return;
    out_.push_back({any_of(formats), std::string(prefix), std::string(note)});
  }

  // Where the text of the arguments may begin.
  std::vector<std::size_t> arguments_begin(const CallTag& call) const {
    std::vector<std::size_t> out;
    if (read_.arguments && text_of(call.arguments, "style") == "json") {
      out.push_back(*read_.arguments);
    }
    const std::size_t name = read_.call.empty()
                                 ? std::string_view::npos
                                 : written_.find(read_.call, read_.body);
    const std::size_t after =
        name == std::string_view::npos ? name : name + read_.call.size();
    for (const std::string_view text :
         {call.after_name(), base::trimmed(call.after_name())}) {
      const std::size_t at =
          after == std::string_view::npos ? after : written_.find(text, after);
      if (at == std::string_view::npos) continue;
      out.push_back(at + text.size());
      const std::string_view left = written_.substr(at + text.size());
      out.push_back(at + text.size() +
                    (left.size() - after_space(left).size()));
    }
    return out;
  }

  void from_arguments(const std::vector<const Place*>& places, bool valid) {
    for (const Place* place : places) {
      const CallTag call(place->node);
      Value node = call.from_arguments(
          any_json(call.arguments, valid ? *call.arguments.find("json_schema")
                                         : json::Object{{"type", "object"}}));
      const std::vector<Value> formats = {with(place->rest, std::move(node))};
      for (const std::size_t begin : arguments_begin(call)) {
        add(formats, written_.substr(begin), valid ? "" : kNoSchema);
      }
    }
  }

  void from_object(const std::vector<const Place*>& places, bool valid) {
    const LastObject last = last_object(written_.substr(read_.body));
    std::vector<Value> formats;
    std::vector<Value> any;
    for (const Place* place : places) {
      const CallTag call(place->node);
      std::optional<JsonCall> object = json_call(call);
      if (!object) continue;
      Rest rest = place->rest;
      if (!object->end.empty()) {
        rest.push_back(values::const_string(object->end));
      }
      if (last.ended) {
        formats.push_back(left_to_read(rest));
        continue;
      }
      object->properties.set(object->arguments,
                             valid ? *call.arguments.find("json_schema")
                                   : json::Object{{"type", "object"}});
      formats.push_back(
          with(rest, any_json(call.arguments,
                              json::Object{{"type", "object"},
                                           {"properties", object->properties},
                                           {"required", object->required}})));
      any.push_back(
          with(rest, any_json(call.arguments,
                              json::Object{{"type", "object"},
                                           {"required", object->required}})));
    }
    if (last.ended && !valid) return;
    add(formats, last.text, valid ? "" : kNoSchema);
    if (last.ended) {
      add(formats, after_space(last.text));
      add(formats, "");
    } else if (!valid) {
      add(any, last.text, kNoSchema);
    }
  }

  // Any text up to the end of the call.
  void as_text(const std::vector<const Place*>& places) {
    std::vector<Value> formats;
    for (const Place* place : places) {
      const std::string_view end = closer(text_of(place->node, "end"));
      Value text = values::any_text({});
      if (!end.empty()) text = values::tag("", std::move(text), end);
      formats.push_back(with(place->rest, std::move(text)));
    }
    add(formats, read_.held,
        "what the prompt has written of the call is in another notation than "
        "that of the family, and the rest of it is any text");
  }

  const std::string_view written_;
  const WrittenPart& read_;
  std::vector<Beginning>& out_;
};

}  // namespace

std::vector<Beginning> beginnings(const Value& root, std::string_view written,
                                  const WrittenPart& read,
                                  std::string_view calls) {
  std::vector<Beginning> out = {{root, std::string(written)}};
  const auto places = [&](std::string_view field) {
    Places found(field == calls ? Places::Of::kCalls : Places::Of::kField,
                 field);
    found.find(root, {});
    return found.found();
  };
  std::vector<Value> after;
  if (read.finished.empty()) {
    after.push_back(root);
  } else {
    for (const Place& place : places(read.finished)) {
      after.push_back(left_to_read(place.rest));
    }
  }
  if (!after.empty()) {
    const Value rest = any_of(after);
    const std::string_view left = written.substr(read.end);
    out.push_back({rest, std::string(left)});
    // What must come first is missing, or stands in another message.
    Places all(Places::Of::kAll);
    all.find(rest, {});
    std::vector<Value> formats;
    for (const Place& place : all.found()) {
      formats.push_back(with(place.rest, place.node));
    }
    if (!formats.empty()) out.push_back({any_of(formats), std::string(left)});
    if (read.open.empty()) {
      out.push_back({rest, read.held});
      out.push_back({rest, "",
                     "what the prompt has written last is in no field, and the "
                     "rest begins after it"});
    }
  }
  if (read.open.empty()) return out;
  Continuations continuations(written, read, out);
  if (read.open == calls) {
    continuations.of_calls(places(read.open));
  } else {
    continuations.of_text(places(read.open));
  }
  return out;
}

}  // namespace parlance::inversion
