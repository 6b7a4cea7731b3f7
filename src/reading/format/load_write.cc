// Reads "parlance.write": how a response is written.
//
// Each layout is checked by itself: a layout of text has the text once, a
// layout of calls has the name and the arguments once each.  Whether the format
// reads what it writes is not checked here.

#include <algorithm>
#include <array>
#include <utility>

#include "format/load.h"
#include "format/load_family.h"
#include "format/names.h"
#include "json/located.h"

namespace parlance::format {
namespace {

using namespace std::string_view_literals;
using json::append_pointer;

constexpr std::array kPartKeys = {"text"sv, "name"sv, "arguments"sv, "index"sv,
                                  "id"sv,   "any"sv,  "optional"sv};
constexpr std::array kWriteLayoutKeys = {"parts"sv,   "before"sv, "between"sv,
                                         "section"sv, "off"sv,    "when"sv};
constexpr std::array kMessagesKeys = {"messages"sv, "between"sv, "last"sv};
constexpr std::array kEachKeys = {"each"sv, "between"sv, "ends"sv};
// The types of JSON Schema, and all others.
constexpr std::array kTypeKeys = {"string"sv,  "integer"sv, "number"sv,
                                  "boolean"sv, "array"sv,   "object"sv,
                                  "null"sv,    "*"sv};

// The levels of "any" and "optional" in a layout.
constexpr std::size_t kMaxPartDepth = 16;
constexpr std::int64_t kMaxIndex = 1000000;

// How often a part occurs in a list of parts, over all choices.
struct Occurrences {
  std::size_t min = 0;
  std::size_t max = 0;
};

// The recursion depth is at most kMaxPartDepth.
Occurrences count(const WriteParts& parts, WritePart::Kind kind) {
  Occurrences out;
  for (const WritePart& part : parts) {
    if (part.kind == kind) {
      ++out.min;
      ++out.max;
    }
    if (part.choices.empty()) continue;
    Occurrences best = count(part.choices[0], kind);
    for (const WriteParts& choice : part.choices) {
      const Occurrences one = count(choice, kind);
      best = {std::min(best.min, one.min), std::max(best.max, one.max)};
    }
    out.min += part.kind == WritePart::Kind::kOptional ? 0 : best.min;
    out.max += best.max;
  }
  return out;
}

class WriteLoader {
 public:
  WriteLoader(const FormatImpl& format, FileReader& read)
      : format_(format), read_(read) {}

  void load(const json::Value& value, const std::string& pointer,
            Writing& out) {
    const std::vector<Field>& fields = format_.description.fields;
    if (!read_.any_object(value, pointer, "'write'")) return;
    for (const json::Member& member : value.members()) {
      if (member.key == "order") continue;
      find_field(member.key, append_pointer(pointer, member.key),
                 format_.description, read_);
    }
    if (!read_.ok()) return;
    const json::Value* order = value.find("order");
    if (order == nullptr) {
      read_.fail(ErrorCode::kMissingKey,
                 "'write' has no 'order': a list of the fields as they follow "
                 "each other.",
                 pointer);
      return;
    }
    load_order(*order, append_pointer(pointer, "order"), out);
    out.fields.resize(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const json::Value* layouts = value.find(fields[i].name);
      if (layouts == nullptr || fields[i].name == "order") continue;
      load_layouts(*layouts, append_pointer(pointer, fields[i].name), fields[i],
                   out.fields[FieldId(i)]);
    }
    if (read_.ok()) check_fields(pointer, out);
  }

 private:
  // ---- order ----

  void load_order(const json::Value& value, const std::string& pointer,
                  Writing& out) {
    if (!read_.list(value, pointer, "'order'", "steps")) return;
    if (value.items().empty()) {
      read_.fail(ErrorCode::kEmptyValue, "'order' must have a step.", pointer);
      return;
    }
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      const json::Value& step = value.items()[i];
      const std::string at = append_pointer(pointer, i);
      if (!step.is_object()) {
        load_step(step, at, out);
        continue;
      }
      if (value.items().size() > 1) {
        read_.fail(ErrorCode::kConflict,
                   "a step with 'messages' must be the only one.", at);
        return;
      }
      load_messages(step, at, out);
    }
  }

  void load_step(const json::Value& value, const std::string& pointer,
                 Writing& out) {
    std::string name = read_.text(
        value, pointer,
        "a step of 'order' (\"FIELD\", \"FIELD?\", \"FIELD*\" or an object "
        "with 'messages')");
    if (!read_.ok()) return;
    WriteStep step;
    step.repeats = name.ends_with('*');
    step.optional = name.ends_with('?');
    if (step.repeats || step.optional) name.pop_back();
    const std::optional<FieldId> id =
        find_field(name, pointer, format_.description, read_);
    if (!id) return;
    step.field = *id;
    out.steps.push_back(step);
  }

  void load_messages(const json::Value& value, const std::string& pointer,
                     Writing& out) {
    if (!read_.object(value, pointer, "a step of 'order'", kMessagesKeys)) {
      return;
    }
    const json::Value* fields = value.find("messages");
    if (fields == nullptr) {
      read_.fail(ErrorCode::kMissingKey,
                 "a step that is an object must have 'messages': the fields "
                 "of which each is a message.",
                 pointer);
      return;
    }
    WriteMessages messages;
    messages.fields =
        load_fields(*fields, append_pointer(pointer, "messages"), "messages");
    if (const json::Value* between = value.find("between")) {
      messages.between = load_marker(
          *between, append_pointer(pointer, "between"), "'between'");
    }
    messages.last = messages.fields;
    if (const json::Value* last = value.find("last")) {
      const std::string at = append_pointer(pointer, "last");
      messages.last = load_fields(*last, at, "last");
      for (std::size_t i = 0; i < messages.last.size(); ++i) {
        if (std::find(messages.fields.begin(), messages.fields.end(),
                      messages.last[i]) == messages.fields.end()) {
          read_.fail(ErrorCode::kConflict,
                     "a field of 'last' must be one of 'messages'.",
                     append_pointer(at, i));
        }
      }
    }
    out.messages = std::move(messages);
  }

  std::vector<FieldId> load_fields(const json::Value& value,
                                   const std::string& pointer,
                                   const std::string& key) {
    std::vector<FieldId> out;
    for (const std::string& name :
         read_.texts(value, pointer, "'" + key + "'")) {
      const std::optional<FieldId> id =
          find_field(name, append_pointer(pointer, out.size()),
                     format_.description, read_);
      if (!id) return out;
      out.push_back(*id);
    }
    if (read_.ok() && out.empty()) {
      read_.fail(ErrorCode::kEmptyValue, "'" + key + "' must name a field.",
                 pointer);
    }
    return out;
  }

  // ---- layouts ----

  void load_layouts(const json::Value& value, const std::string& pointer,
                    const Field& field, std::vector<WriteLayout>& out) {
    if (!value.is_array()) {
      out.push_back(load_layout(value, pointer, field));
      return;
    }
    if (value.items().empty()) {
      read_.fail(ErrorCode::kEmptyValue,
                 "field '" + field.name + "' needs at least one layout.",
                 pointer);
    }
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      out.push_back(
          load_layout(value.items()[i], append_pointer(pointer, i), field));
    }
  }

  WriteLayout load_layout(const json::Value& value, const std::string& pointer,
                          const Field& field) {
    WriteLayout out;
    if (!read_.object(value, pointer, "a layout of field '" + field.name + "'",
                      kWriteLayoutKeys)) {
      return out;
    }
    if (value.find("parts") == nullptr) {
      read_.fail(ErrorCode::kMissingKey,
                 "a layout of field '" + field.name + "' must have 'parts'.",
                 pointer);
      return out;
    }
    for (const auto& [key, member] : value.members()) {
      const std::string at = append_pointer(pointer, key);
      const std::string what = "'" + key + "' of field '" + field.name + "'";
      if (key == "parts") {
        out.parts = load_parts(member, at, what, 0);
        check_parts(out.parts, at, field);
      } else if (key == "before") {
        out.before = load_marker(member, at, what);
      } else if (key == "between") {
        out.between = load_marker(member, at, what);
      } else if (key == "off") {
        out.off = load_marker(member, at, what);
      } else if (key == "section") {
        load_section(member, at, what, out);
      } else if (key == "when") {
        constexpr std::array kNames = {"response_format"sv};
        read_.choice(member, at, what, kNames);
        out.for_response_format = true;
      }
    }
    return out;
  }

  void load_section(const json::Value& value, const std::string& pointer,
                    const std::string& what, WriteLayout& out) {
    if (!read_.list(value, pointer, what, "two lists of parts")) return;
    if (value.items().size() != 2) {
      read_.fail(ErrorCode::kWrongType,
                 what +
                     " must be a list of two lists of parts: what begins "
                     "the section, and what ends it.",
                 pointer);
      return;
    }
    out.section_begin =
        load_marker(value.items()[0], append_pointer(pointer, 0), what);
    out.section_end =
        load_marker(value.items()[1], append_pointer(pointer, 1), what);
  }

  // Each part once: the text, or the name and the arguments of a call.  Some
  // families write the name twice: in a header, and in the call.
  void check_parts(const WriteParts& parts, const std::string& pointer,
                   const Field& field) {
    if (!read_.ok()) return;
    using Kind = WritePart::Kind;
    constexpr std::array<std::pair<Kind, std::string_view>, 4> kOnce = {
        {{Kind::kPayload, "text"},
         {Kind::kArguments, "arguments"},
         {Kind::kIndex, "index"},
         {Kind::kId, "id"}}};
    for (const auto& [kind, name] : kOnce) {
      if (count(parts, kind).max < 2) continue;
      read_.fail(ErrorCode::kConflict,
                 "'parts' of field '" + field.name + "' has the part '" +
                     std::string(name) + "' more than once.",
                 pointer);
      return;
    }
    const bool text = count(parts, Kind::kPayload).max > 0;
    const bool name = count(parts, Kind::kName).max > 0;
    const bool arguments = count(parts, Kind::kArguments).max > 0;
    if (text) {
      if (name || arguments || count(parts, Kind::kIndex).max > 0 ||
          count(parts, Kind::kId).max > 0) {
        read_.fail(ErrorCode::kConflict,
                   "'parts' of field '" + field.name +
                       "' has the text of the field and parts of a call; a "
                       "field has either.",
                   pointer);
      }
      require(parts, Kind::kPayload, "text", pointer, field);
      return;
    }
    if (!name && !arguments) {
      read_.fail(ErrorCode::kMissingKey,
                 "'parts' of field '" + field.name +
                     "' writes nothing of the field: it needs {\"text\": "
                     "true}, or {\"name\": ...} and {\"arguments\": ...}.",
                 pointer);
      return;
    }
    require(parts, Kind::kName, "name", pointer, field);
    require(parts, Kind::kArguments, "arguments", pointer, field);
  }

  void require(const WriteParts& parts, WritePart::Kind kind,
               std::string_view name, const std::string& pointer,
               const Field& field) {
    const Occurrences found = count(parts, kind);
    if (found.min > 0) return;
    read_.fail(ErrorCode::kMissingKey,
               "'parts' of field '" + field.name + "' has no part '" +
                   std::string(name) + "'" +
                   (found.max > 0 ? " in some of its choices." : "."),
               pointer);
  }

  // Every field in the order has a layout, and every layout a place.
  void check_fields(const std::string& pointer, const Writing& out) {
    std::vector<bool> placed(out.fields.size());
    for (const WriteStep& step : out.steps) placed[step.field] = true;
    if (out.messages) {
      for (FieldId id : out.messages->fields) placed[id] = true;
    }
    for (std::size_t i = 0; i < out.fields.size(); ++i) {
      const std::string& name = format_.description.fields[FieldId(i)].name;
      const bool laid_out = !out.fields[FieldId(i)].empty();
      if (placed[i] && !laid_out) {
        read_.fail(ErrorCode::kMissingKey,
                   "field '" + name +
                       "' is in 'order', and 'write' does not say how it is "
                       "written.",
                   pointer);
      } else if (laid_out && !placed[i]) {
        read_.fail(ErrorCode::kConflict,
                   "field '" + name + "' has no place in 'order'.",
                   append_pointer(pointer, name));
      }
    }
  }

  // ---- parts ----

  // Parts without a payload.
  WriteParts load_marker(const json::Value& value, const std::string& pointer,
                         const std::string& what) {
    WriteParts out = load_parts(value, pointer, what, 0);
    using Kind = WritePart::Kind;
    for (Kind kind : {Kind::kPayload, Kind::kName, Kind::kArguments,
                      Kind::kIndex, Kind::kId}) {
      if (count(out, kind).max == 0) continue;
      read_.fail(ErrorCode::kConflict,
                 what + " must consist of texts, 'any' and 'optional'.",
                 pointer);
      break;
    }
    return out;
  }

  // The recursion depth is at most kMaxPartDepth.
  WriteParts load_parts(const json::Value& value, const std::string& pointer,
                        const std::string& what, std::size_t depth) {
    WriteParts out;
    if (!read_.list(value, pointer, what, "parts")) return out;
    if (depth == kMaxPartDepth) {
      read_.fail(ErrorCode::kTooDeep,
                 "parts are nested more than " + std::to_string(kMaxPartDepth) +
                     " levels.",
                 pointer);
      return out;
    }
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      out.push_back(
          load_part(value.items()[i], append_pointer(pointer, i), what, depth));
    }
    return out;
  }

  WritePart load_part(const json::Value& value, const std::string& pointer,
                      const std::string& what, std::size_t depth) {
    using Kind = WritePart::Kind;
    WritePart out;
    if (value.is_string()) {
      out.text = read_.text(value, pointer, "a text in " + what);
      return out;
    }
    if (!read_.object(value, pointer, "a part in " + what, kPartKeys)) {
      return out;
    }
    if (value.size() != 1) {
      read_.fail(ErrorCode::kConflict,
                 "a part must have one key, of: " + listed(kPartKeys) + ".",
                 pointer);
      return out;
    }
    const auto& [key, member] = *value.members().begin();
    const std::string at = append_pointer(pointer, key);
    if (key == "text") {
      out.kind = Kind::kPayload;
      if (!read_.boolean(member, at,
                         "'text' (marker text is a plain string)") &&
          read_.ok()) {
        read_.fail(ErrorCode::kWrongType, "'text' must be true.", at);
      }
    } else if (key == "name") {
      constexpr std::array kNames = {"raw"sv, "json"sv};
      out.kind = Kind::kName;
      out.json = read_.choice(member, at, "'name'", kNames) == 1;
    } else if (key == "arguments") {
      out.kind = Kind::kArguments;
      load_arguments(member, at, out);
    } else if (key == "index") {
      out.kind = Kind::kIndex;
      out.first = read_.integer(member, at, "'index'", 0, kMaxIndex);
    } else if (key == "id") {
      out.kind = Kind::kId;
      Result<regex::Pattern> pattern =
          load_pattern(member, {at, "format file"}, "id", format_.limits);
      if (!pattern) {
        read_.fail(std::move(pattern).error());
      } else {
        out.text = member.as_string();
      }
    } else if (key == "any") {
      out.kind = Kind::kAny;
      out.choices = load_choices(member, at, depth + 1);
    } else {
      out.kind = Kind::kOptional;
      out.choices.push_back(load_parts(member, at, "'optional'", depth + 1));
    }
    return out;
  }

  std::vector<WriteParts> load_choices(const json::Value& value,
                                       const std::string& pointer,
                                       std::size_t depth) {
    std::vector<WriteParts> out;
    if (!read_.list(value, pointer, "'any'", "lists of parts")) return out;
    if (value.items().empty()) {
      read_.fail(ErrorCode::kEmptyValue, "'any' must have a choice.", pointer);
    }
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      out.push_back(load_parts(value.items()[i], append_pointer(pointer, i),
                               "a choice of 'any'", depth));
    }
    return out;
  }

  // ---- arguments ----

  void load_arguments(const json::Value& value, const std::string& pointer,
                      WritePart& out) {
    json::Object style;
    if (value.is_object()) {
      if (value.find("delimited") != nullptr) {
        load_delimited(value, pointer, style);
      } else {
        load_elements(value, pointer, style);
      }
    } else {
      constexpr std::array kNames = {"json"sv, "json_text"sv, "python"sv,
                                     "cohere_xml"sv, "minimax_m3_xml"sv};
      const std::size_t index = read_.choice(
          value, pointer,
          "'arguments' (a name, or an object with 'each' or 'delimited')",
          kNames);
      out.as_text = index == 1;
      style.set("style", out.as_text ? kNames[0] : kNames[index]);
    }
    out.style = json::Value(std::move(style));
  }

  void load_delimited(const json::Value& value, const std::string& pointer,
                      json::Object& style) {
    constexpr std::array kKeys = {"delimited"sv};
    constexpr std::array kInnerKeys = {"string"sv, "keys"sv, "order"sv};
    if (!read_.object(value, pointer, "'arguments'", kKeys)) return;
    const json::Value& inner = *value.find("delimited");
    const std::string at = append_pointer(pointer, "delimited");
    if (!read_.object(inner, at, "'delimited'", kInnerKeys)) return;
    const json::Value* delimiters = inner.find("string");
    if (delimiters == nullptr) {
      read_.fail(ErrorCode::kMissingKey,
                 "'delimited' must have 'string': [OPEN, CLOSE].", at);
      return;
    }
    const std::string string_at = append_pointer(at, "string");
    if (read_.texts(*delimiters, string_at, "'string'").size() != 2) {
      read_.fail(ErrorCode::kWrongType,
                 "'string' must be a list of two texts: what opens a string, "
                 "and what closes it.",
                 string_at);
      return;
    }
    json::Object out;
    out.set("string", *delimiters);
    constexpr std::array kForms = {"bare"sv, "text"sv};
    const json::Value* keys = inner.find("keys");
    const std::size_t form =
        keys == nullptr
            ? 0
            : read_.choice(*keys, append_pointer(at, "keys"), "'keys'", kForms);
    out.set("keys", kForms[form]);
    style.set("style", "delimited");
    style.set("delimited", json::Value(std::move(out)));
    if (const json::Value* order = inner.find("order")) {
      constexpr std::array kNames = {"schema"sv, "sorted"sv};
      // Schemas have no order of names, so the grammar takes any.
      if (read_.choice(*order, append_pointer(at, "order"), "'order'",
                       kNames) == 1) {
        style.set("any_order", true);
      }
    }
  }

  // {"each": [parts], "between": text, "ends": [texts]}: the parts become the
  // members of "elements": the texts before the key "open", those before the
  // type or the value "middle", those after the type "after_type", those after
  // the value "close".
  void load_elements(const json::Value& value, const std::string& pointer,
                     json::Object& style) {
    if (!read_.object(value, pointer, "'arguments'", kEachKeys)) return;
    const json::Value* each = value.find("each");
    if (each == nullptr) {
      read_.fail(ErrorCode::kMissingKey,
                 "'arguments' must be a name, or have 'each' or 'delimited'.",
                 pointer);
      return;
    }
    ElementParts parts;
    if (!load_each(*each, append_pointer(pointer, "each"), parts)) return;
    json::Object out;
    out.set("open", parts.texts[0]);
    out.set("middle", parts.texts[1]);
    if (parts.types != nullptr) {
      out.set("types", *parts.types);
      out.set("after_type", parts.texts[2]);
    }
    out.set("close", parts.texts[3]);
    if (const json::Value* between = value.find("between")) {
      out.set("between",
              read_.maybe_empty_text(
                  *between, append_pointer(pointer, "between"), "'between'"));
    }
    out.set("key", parts.key);
    out.set("strings", parts.strings);
    if (const json::Value* ends = value.find("ends")) {
      read_.texts(*ends, append_pointer(pointer, "ends"), "'ends'");
      out.set("ends", *ends);
    }
    style.set("style", "elements");
    style.set("elements", json::Value(std::move(out)));
  }

  // What the parts of "each" say.
  struct ElementParts {
    std::array<std::string, 4> texts = {};  // open, middle, after_type, close
    std::size_t place = 0;                  // in `texts`
    std::string_view key = {};
    std::string_view strings = {};
    const json::Value* types = nullptr;
  };

  // The parts must be
  //
  //   texts key texts (type texts)? value texts
  //
  // Invariant: out.place says which texts come now.  False if a part is in the
  // wrong place, or one is missing.
  bool load_each(const json::Value& value, const std::string& pointer,
                 ElementParts& out) {
    if (!read_.list(value, pointer, "'each'", "parts")) return false;
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      const json::Value& part = value.items()[i];
      const std::string at = append_pointer(pointer, i);
      if (part.is_string()) {
        out.texts[out.place] += read_.text(part, at, "a text in 'each'");
      } else if (!load_element_part(part, at, out)) {
        return false;
      }
    }
    if (out.place == 3) return true;
    read_.fail(ErrorCode::kMissingKey,
               out.place == 0 ? "'each' has no part {\"key\": ...}."
                              : "'each' has no part {\"value\": ...}.",
               pointer);
    return false;
  }

  bool load_element_part(const json::Value& part, const std::string& pointer,
                         ElementParts& out) {
    constexpr std::array kKeys = {"key"sv, "type"sv, "value"sv};
    if (!read_.object(part, pointer, "a part in 'each'", kKeys)) return false;
    if (part.size() != 1) {
      read_.fail(ErrorCode::kConflict,
                 "a part in 'each' must have one key, of: key, type, value.",
                 pointer);
      return false;
    }
    const auto& [key, member] = *part.members().begin();
    const bool fits = key == "key"    ? out.place == 0
                      : key == "type" ? out.place == 1
                                      : out.place == 1 || out.place == 2;
    if (!fits) {
      read_.fail(ErrorCode::kConflict,
                 "the parts of 'each' must be one 'key', at most one 'type', "
                 "and one 'value', in this order, with texts around them.",
                 pointer);
      return false;
    }
    const std::string at = append_pointer(pointer, key);
    if (key == "key") {
      constexpr std::array kNames = {"raw"sv, "xml"sv};
      out.key = kNames[read_.choice(member, at, "'key'", kNames)];
      out.place = 1;
    } else if (key == "type") {
      load_types(member, at);
      out.types = &member;
      out.place = 2;
    } else {
      constexpr std::array kNames = {"raw"sv, "json"sv, "cdata"sv};
      out.strings = kNames[read_.choice(member, at, "'value'", kNames)];
      out.place = 3;
    }
    return true;
  }

  // {"string": "true", "*": "false"}
  void load_types(const json::Value& value, const std::string& pointer) {
    if (!read_.object(value, pointer, "'type'", kTypeKeys)) return;
    for (const auto& [type, text] : value.members()) {
      read_.maybe_empty_text(text, append_pointer(pointer, type),
                             "the text for '" + type + "'");
    }
    const bool all =
        value.find("*") != nullptr || value.size() + 1 == kTypeKeys.size();
    if (!all) {
      read_.fail(ErrorCode::kMissingKey,
                 "'type' must name a text for every type of JSON; '*' stands "
                 "for all types that are not listed.",
                 pointer);
    }
  }

  const FormatImpl& format_;
  FileReader& read_;
};

}  // namespace

void load_writing(const json::Value& value, const std::string& pointer,
                  const FormatImpl& format, FileReader& read, Writing& out) {
  WriteLoader(format, read).load(value, pointer, out);
}

}  // namespace parlance::format
