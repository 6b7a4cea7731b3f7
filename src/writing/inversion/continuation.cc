// Finds the nodes of the tag where the response may be by what the parser has
// read, and makes the rest of the tag from there.

#include "inversion/continuation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/byte_set.h"
#include "base/trimmed.h"
#include "inversion/tag_rest.h"
#include "inversion/tag_values.h"
#include "json/container_end.h"

namespace parlance::inversion {
namespace {

using json::Value;

std::string_view after_space(std::string_view text) {
  return text.substr(
      std::min(text.find_first_not_of(base::kJsonWhitespace), text.size()));
}

// --- Places in the tag -------------------------------------------------------

bool is_call(const Value& node) { return node.find("tool") != nullptr; }

// Whether every text of the node has a call.
bool must_call(const Value& node) {
  const std::string_view type = text_of(node, "type");
  if (type == "tags_with_separator") {
    return flag_of(node, "at_least_one") &&
           std::ranges::all_of(node.find("tags")->items(), is_call);
  }
  const Value* const elements = node.find("elements");
  if (type == "or") return std::ranges::all_of(elements->items(), must_call);
  if (type == "sequence") {
    return std::ranges::any_of(elements->items(), must_call);
  }
  return is_call(node);
}

// Appends the texts from a node on, and says whether a text may begin there; if
// not, it may begin inside the node.
using BeginAt = std::function<bool(const Value& node, std::vector<Value>& out)>;

// What is left of the texts of `node` from each place on where one may begin,
// whatever must come before it but a call.  Nothing without such a place.
//
//   sequence [a, b, c], a text may begin at b     b' c, b' being what b is from
//                                                 there on
//   star(a), a text may begin inside a            a' a*
//
// Places after an element that has a call in each of its texts are not taken:
// the rest would lack that call.
std::optional<Value> begin_inside(const Value& node, const BeginAt& begin_at) {
  std::vector<Value> out;
  if (!begin_at(node, out)) {
    const std::string_view type = text_of(node, "type");
    if (type == "tags_with_separator") {
      return begin_inside(as_sequence(node), begin_at);
    }
    if (type == "sequence") {
      const json::Array& elements = node.find("elements")->items();
      for (std::size_t i = 0; i < elements.size(); ++i) {
        if (auto begun = begin_inside(elements[i], begin_at)) {
          Rest rest(elements.rbegin(),
                    elements.rend() - static_cast<std::ptrdiff_t>(i + 1));
          rest.push_back(*std::move(begun));
          out.push_back(left_to_read(rest));
        }
        if (must_call(elements[i])) break;
      }
    } else if (type == "or") {
      for (const Value& choice : node.find("elements")->items()) {
        if (auto begun = begin_inside(choice, begin_at)) {
          out.push_back(*std::move(begun));
        }
      }
    } else if (type == "optional" || type == "star") {
      auto begun = begin_inside(*node.find("content"), begin_at);
      if (begun && type == "star") begun = left_to_read({node, *begun});
      if (begun) out.push_back(*std::move(begun));
    }
  }
  if (out.empty()) return std::nullopt;
  return any_of(out);
}

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

constexpr std::string_view kNoSchema =
    "what the prompt has written is not valid under a schema of the request, "
    "which the rest of it is therefore not held to";

constexpr std::string_view kNoField =
    "what the prompt has written last is in no field, and the rest begins "
    "after it";

// The longest end of `text` that begins a text of the format's markers.  All
// strings of the tag count, not only its markers: the end is merely offered as
// a beginning of the rest, and `take` decides whether it is one.
std::string_view half_marker(const Value& format, std::string_view text) {
  std::size_t longest = 0;
  std::vector<const Value*> left = {&format};
  while (!left.empty()) {
    const Value& next = *left.back();
    left.pop_back();
    for (const Value& item : next.items()) left.push_back(&item);
    for (const json::Member& member : next.members()) {
      if (member.key != "json_schema") left.push_back(&member.value);
    }
    if (!next.is_string() || next.size() == 0) continue;
    const std::string_view marker = next.as_string();
    for (std::size_t n = std::min(text.size() + 1, marker.size());
         --n > longest;) {
      if (text.ends_with(marker.substr(0, n))) longest = n;
    }
  }
  return text.substr(text.size() - longest);
}

constexpr std::string_view kGoesOn =
    "what the prompt has written last goes on as text";

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
  const std::size_t end = json::container_end(text, begin);
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

// The last object of `text` that is not inside another object: the text from
// its beginning on or, if it has ended, the text after it.  If no object has
// begun, the text that may precede one.
struct LastObject {
  std::string_view text;
  bool ended = false;
};
LastObject last_object(std::string_view text) {
  LastObject out{
      text.substr(std::min(text.find_first_not_of(" \t\r\n["), text.size())),
      false};
  for (std::size_t at = 0;;) {
    at = text.find('{', at);
    if (at == std::string_view::npos) return out;
    const std::size_t end = json::container_end(text, at);
    if (end == std::string_view::npos) return {text.substr(at), false};
    out = {text.substr(end), true};
    at = end;
  }
}

// The end of a call without the punctuation with which its body ends.
std::string_view closer(std::string_view end) {
  return end.substr(
      std::min(end.find_first_not_of(" \t\r\n\"')]}"), end.size()));
}

// Text that ends with the bracket that closes its first one.
constexpr std::string_view kBrackets = R"ebnf(
root ::= "(" item* ")" | "[" item* "]" | "{" item* "}"
item ::= root | "\"" ([^"\\] | "\\" [^])* "\"" | "'" ([^'\\] | "\\" [^])* "'"
  | [^()[\]{}"']
)ebnf";

class Continuations {
 public:
  Continuations(std::string_view written, const WrittenPart& read,
                const CallFacts& calls, const Take& take)
      : written_(written), read_(read), calls_(calls), take_(take) {
    const WrittenPart::Call* const call = read_.open_call();
    begin_ = call == nullptr ? read_.body : std::max(call->begin, read_.body);
    if (call != nullptr) name_ = call->name;
  }

  // In the order of preference.
  enum Tier : std::uint8_t {
    kAfter,       // what has ended need not fit
    kSkipping,    // what must come first is missing
    kValid,       // the open region, in its own notation
    kInvalid,     // the same without the schema
    kUnreadable,  // up to its end
  };

  // Whether one of them was taken.
  bool offer(const Whole& whole, Tier tier) {
    whole_ = &whole;
    const auto serves = [&](std::string_view field) {
      return whole.use == Whole::For::kAll ||
             (whole.use == Whole::For::kCalls) == (field == calls_.field);
    };
    if (serves(read_.finished)) {
      after_finished(tier);
    } else if (tier == kSkipping && whole.use == Whole::For::kOthers) {
      add(whole.format, written_.substr(read_.end), kGoesOn);
    }
    // A call may have begun that the parser has not announced yet.
    if (serves(calls_.field) &&
        (read_.open == calls_.field || read_.open_call() != nullptr)) {
      of_calls(tier);
    } else if (!read_.open.empty() && serves(read_.open)) {
      of_text(tier);
    }
    return taken_;
  }

 private:
  void add(const std::optional<Value>& format, std::string_view prefix,
           std::string_view note = {}) {
    if (!format || taken_) return;
    std::string notes(note);
    if (!notes.empty() && !whole_->note.empty()) notes += "; ";
    notes += whole_->note;
    taken_ = take_({*format, std::string(prefix), std::move(notes)});
  }

  std::optional<Value> from(const BeginAt& begin_at) const {
    return begin_inside(whole_->format, begin_at);
  }

  bool in_field(const Value& node, std::string_view field) const {
    return field == calls_.field ? is_call(node)
                                 : text_of(node, "field") == field;
  }

  // ---- After the last region that has ended ----

  void after_finished(Tier tier) {
    if (tier == kValid || tier == kInvalid) return;
    // A call that cannot be read does not count, so a call may still have to
    // come.
    const bool anew = read_.finished.empty() ||
                      (read_.finished == calls_.field && calls_.must_come &&
                       read_.complete_calls() == 0);
    const std::optional<Value> rest =
        anew ? whole_->format
             : from([&](const Value& node, std::vector<Value>& out) {
                 if (!in_field(node, read_.finished)) return false;
                 out.push_back(values::const_string(""));
                 return true;
               });
    if (!rest) return;
    const std::string_view left = written_.substr(read_.end);
    if (tier == kAfter) {
      add(rest, left);
    } else if (tier == kSkipping) {
      // What must come first is missing, or stands in another message.
      const auto begins = [](const Value& node, std::vector<Value>& out) {
        const std::string_view type = text_of(node, "type");
        if (type != "const_string" && type != "tag" && type != "any_text" &&
            type != "regex" && type != "json_schema") {
          return false;
        }
        out.push_back(node);
        return true;
      };
      add(begin_inside(*rest, begins), left);
    } else if (read_.open.empty() && read_.open_call() == nullptr) {
      add(rest, read_.held);
      // It may be half a call of a tool that is not listed.
      if (!calls_.only_listed || read_.complete_calls() > 0) {
        add(rest, "", kNoField);
      }
    }
  }

  // ---- Text ----

  void of_text(Tier tier) {
    if (tier < kValid) return;
    const bool json = tier != kUnreadable;
    const auto format = from([&](const Value& node, std::vector<Value>& out) {
      if (!in_field(node, read_.open)) return false;
      const std::string_view type = text_of(node, "type");
      if (json != (type == "json_schema")) return true;
      if (json) {
        out.push_back(any_json(
            node, tier == kValid ? *node.find("json_schema") : Value(true)));
      } else if (type == "tag") {
        out.push_back(up_to_end(node, *node.find("content")));
      } else if (type == "sequence") {
        out.push_back(node.find("elements")->items().back());
      } else {
        out.push_back(node);
      }
      return true;
    });
    if (json) {
      add(format, after_space(written_.substr(read_.body)),
          tier == kValid ? "" : kNoSchema);
    } else {
      add(format, read_.held);
      // The text that is held need not begin like a marker of the tag.
      if (format && !taken_) {
        add(format, half_marker(*format, read_.held), kGoesOn);
      }
    }
  }

  // ---- Calls ----

  // What is left of the open call, as `begin` makes it of each tag that may be
  // the call, and what follows it.
  using BeginCall = std::function<std::optional<Value>(const CallTag&)>;
  std::optional<Value> from_calls(const BeginCall& begin,
                                  bool any_name = false) const {
    return from([&](const Value& node, std::vector<Value>& out) {
      if (!is_call(node)) return false;
      const CallTag call(node);
      if (name_.empty() || any_name || call.name() == name_) {
        if (auto begun = begin(call)) out.push_back(*std::move(begun));
      }
      return true;
    });
  }

  void of_calls(Tier tier) {
    if (tier < kValid) return;
    const auto after = [](const CallTag&) { return values::const_string(""); };
    const bool listed = from_calls(after).has_value();
    // A complete call, and more of its region.
    const bool complete = read_.open_call() == nullptr && !read_.calls.empty();
    if (tier == kValid && complete) {
      add(from_calls(after), written_.substr(read_.calls.back().end));
    }
    if (tier == kUnreadable) {
      if (complete) add(from_calls(after), "", kNoField);
      if (!calls_.only_listed || !name_.empty()) as_text(!listed);
      return;
    }
    if (tier == kValid && !listed) return;
    from_arguments(tier == kValid, !listed);
    from_object(tier == kValid, !listed);
  }

  // Where the text of the arguments may begin.
  std::vector<std::size_t> arguments_begin(const CallTag& call) const {
    std::vector<std::size_t> out;
    if (read_.arguments && text_of(call.arguments, "style") == "json") {
      out.push_back(*read_.arguments);
    }
    const std::size_t name = written_.find(name_, begin_);
    if (name == std::string_view::npos) return out;
    const std::size_t after = name + name_.size();
    for (const std::string_view text :
         {call.after_name(), base::trimmed(call.after_name())}) {
      const std::size_t at = written_.find(text, after);
      if (at == std::string_view::npos) continue;
      const std::string_view left = written_.substr(at + text.size());
      out.push_back(at + text.size());
      out.push_back(at + text.size() +
                    (left.size() - after_space(left).size()));
    }
    return out;
  }

  void from_arguments(bool valid, bool any_name) {
    if (name_.empty()) return;
    std::vector<std::size_t> begins;
    const auto format = from_calls(
        [&](const CallTag& call) {
          for (const std::size_t begin : arguments_begin(call)) {
            if (std::ranges::find(begins, begin) == begins.end()) {
              begins.push_back(begin);
            }
          }
          return call.from_arguments(any_json(
              call.arguments, valid ? *call.arguments.find("json_schema")
                                    : json::Object{{"type", "object"}}));
        },
        any_name);
    for (const std::size_t begin : begins) {
      add(format, written_.substr(begin), valid ? "" : kNoSchema);
    }
  }

  void from_object(bool valid, bool any_name) {
    const LastObject last = last_object(written_.substr(begin_));
    if (last.ended && !valid) return;
    // `listed`: the name and the other constants are those of the call.
    const auto format = [&](bool listed) {
      return from_calls(
          [&](const CallTag& call) -> std::optional<Value> {
            std::optional<JsonCall> object = json_call(call);
            if (!object) return std::nullopt;
            Rest rest;
            if (!object->end.empty()) {
              rest.push_back(values::const_string(object->end));
            }
            if (last.ended) return left_to_read(rest);
            json::Object schema{{"type", "object"}};
            if (listed) {
              object->properties.set(object->arguments,
                                     valid ? *call.arguments.find("json_schema")
                                           : json::Object{{"type", "object"}});
              schema.set("properties", object->properties);
            }
            schema.set("required", object->required);
            rest.push_back(any_json(call.arguments, std::move(schema)));
            return left_to_read(rest);
          },
          any_name);
    };
    const std::optional<Value> listed = format(true);
    add(listed, last.text, valid ? "" : kNoSchema);
    if (last.ended) {
      add(listed, after_space(last.text));
      add(listed, "");
    } else if (!valid && !calls_.only_listed) {
      add(format(false), last.text, kNoSchema);
    }
  }

  // Any text up to the end of the call.  Where no marker ends it, its brackets
  // do.
  void as_text(bool any_name) {
    constexpr std::string_view kAnyText =
        "what the prompt has written of the call is not how the family writes "
        "one of a tool of the request, and the rest of it is any text";
    const auto marker = [](const CallTag& call) -> std::optional<Value> {
      const std::string_view end = closer(text_of(call.tag, "end"));
      if (end.empty()) return std::nullopt;
      return values::tag("", values::any_text({}), end);
    };
    const auto brackets = [&](const CallTag& call) -> std::optional<Value> {
      if (marker(call)) return std::nullopt;
      return json::Object{{"type", "grammar"}, {"grammar", kBrackets}};
    };
    add(from_calls(marker, any_name), read_.held, kAnyText);
    const std::string_view call = written_.substr(begin_);
    add(from_calls(brackets, any_name),
        call.substr(std::min(call.find_first_of("([{"), call.size())),
        kAnyText);
  }

  const std::string_view written_;
  const WrittenPart& read_;
  const CallFacts calls_;
  const Take& take_;
  bool taken_ = false;
  const Whole* whole_ = nullptr;
  // Of the open call.
  std::size_t begin_ = 0;
  std::string_view name_ = {};  // "" if it is not known yet
};

}  // namespace

bool begin_after(const std::vector<Whole>& wholes, std::string_view written,
                 const WrittenPart& read, const CallFacts& calls,
                 const Take& take) {
  using enum Continuations::Tier;
  Continuations continuations(written, read, calls, take);
  for (const auto tier : {kAfter, kSkipping, kValid, kInvalid, kUnreadable}) {
    for (const Whole& whole : wholes) {
      if (continuations.offer(whole, tier)) return true;
    }
  }
  return false;
}

}  // namespace parlance::inversion
