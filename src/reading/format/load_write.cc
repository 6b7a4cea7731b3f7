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

namespace parlance::format {
namespace {

using namespace std::string_view_literals;

constexpr std::array kPartKeys = {"text"sv, "name"sv, "arguments"sv, "index"sv,
                                  "id"sv,   "any"sv,  "optional"sv};
constexpr std::array kElementKeys = {"key"sv, "type"sv, "value"sv};

// ORDER: ArgumentStyle
constexpr std::array<std::string_view, kArgumentStyles> kStyleNames = {
    "json",           "qwen_xml",    "minimax_xml", "deepseek_xml",
    "glm_xml",        "kimi_k3_xml", "cohere_xml",  "deepseek_v4_1_xml",
    "minimax_m3_xml", "elements",    "python",      "delimited",
};

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
    // `best` bounds the choices that were counted so far.
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
  explicit WriteLoader(const FormatImpl& format)
      : format_(format), names_(format.description) {}

  Writing load(const FileValue& value) const {
    Writing out;
    const std::vector<Field>& fields = format_.description.fields;
    value.each_member([&](const std::string& key, const FileValue& layouts) {
      if (key != "order") names_.find(key, layouts);
    });
    if (value.ok() && value.json().find("order") == nullptr) {
      value.fail(ErrorCode::kMissingKey,
                 "'write' has no 'order': a list of the fields as they follow "
                 "each other.");
    }
    if (!value.ok()) return out;
    load_order(value.member("order", "'order'"), out);
    out.fields.resize(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string& name = fields[i].name;
      if (value.json().find(name) == nullptr || name == "order") continue;
      load_layouts(value.member(name, ""), fields[i], out.fields[FieldId(i)]);
    }
    if (value.ok()) check_fields(value, out);
    return out;
  }

 private:
  // ---- order ----

  void load_order(const FileValue& value, Writing& out) const {
    constexpr std::string_view kStep =
        "a step of 'order' (\"FIELD\", \"FIELD?\", \"FIELD*\" or an object "
        "with 'messages')";
    value.each_item(
        "steps", std::string(kStep), "'order' must have a step.",
        [&](const FileValue& step) {
          if (!step.json().is_object()) return load_step(step, out);
          if (value.json().size() > 1) {
            return step.fail(ErrorCode::kConflict,
                             "a step with 'messages' must be the only one.");
          }
          out.messages = load_messages(step.called("a step of 'order'"));
        });
  }

  void load_step(const FileValue& value, Writing& out) const {
    std::string name = value.text();
    if (!value.ok()) return;
    WriteStep step;
    step.repeats = name.ends_with('*');
    step.optional = name.ends_with('?');
    if (step.repeats || step.optional) name.pop_back();
    const auto id = names_.find(name, value);
    if (!id) return;
    step.field = *id;
    out.steps.push_back(step);
  }

  WriteMessages load_messages(const FileValue& value) const {
    WriteMessages out;
    const auto load_last = [&](const FileValue& last) {
      out.last = load_fields(last);
      for (std::size_t i = 0; i < out.last.size(); ++i) {
        if (std::ranges::find(out.fields, out.last[i]) != out.fields.end()) {
          continue;
        }
        last.fail_at(i, ErrorCode::kConflict,
                     "a field of 'last' must be one of 'messages'.");
      }
    };
    value.members(
        {{"messages",
          [&](const FileValue& one) {
            out.last = out.fields = load_fields(one);
          },
          "a step that is an object must have 'messages': the fields "
          "of which each is a message."},
         {"between",
          [&](const FileValue& one) { out.between = load_marker(one); }},
         {"last", load_last}});
    return out;
  }

  std::vector<FieldId> load_fields(const FileValue& value) const {
    std::vector<FieldId> out;
    // out.size() is the index of `name`, since each name adds a field.
    for (const std::string& name : value.texts()) {
      if (!value.ok()) break;
      const auto id = names_.find(name, value.item(out.size(), ""));
      if (!id) return out;
      out.push_back(*id);
    }
    if (out.empty()) {
      value.fail(ErrorCode::kEmptyValue, value.what() + " must name a field.");
    }
    return out;
  }

  // ---- layouts ----

  void load_layouts(const FileValue& value, const Field& field,
                    std::vector<WriteLayout>& out) const {
    const std::string what = "a layout of field '" + field.name + "'";
    const auto load = [&](const FileValue& one) {
      out.push_back(load_layout(one, field));
    };
    if (!value.json().is_array()) return load(value.called(what));
    value.each_item("layouts", what,
                    "field '" + field.name + "' needs at least one layout.",
                    load);
  }

  WriteLayout load_layout(const FileValue& value, const Field& field) const {
    WriteLayout out;
    const auto marker = [&](WriteParts& to) {
      return [&](const FileValue& one) { to = load_marker(one); };
    };
    value.members(
        {{"parts",
          [&](const FileValue& one) {
            out.parts = load_parts(one, 0);
            check_parts(out.parts, one);
          },
          value.what() + " must have 'parts'."},
         {"before", marker(out.before)},
         {"between", marker(out.between)},
         {"section", [&](const FileValue& one) { load_section(one, out); }},
         {"off", marker(out.off)},
         {"when",
          [&](const FileValue& one) {
            one.choice({"response_format"});
            out.for_response_format = true;
          }}},
        " of field '" + field.name + "'");
    return out;
  }

  void load_section(const FileValue& value, WriteLayout& out) const {
    std::vector<WriteParts> markers;
    value.each_item(
        "two lists of parts", value.what(),
        [&](const FileValue& one) { markers.push_back(load_marker(one)); });
    if (markers.size() != 2) {
      return value.fail(
          ErrorCode::kWrongType,
          value.what() +
              " must be a list of two lists of parts: what begins "
              "the section, and what ends it.");
    }
    out.section_begin = std::move(markers[0]);
    out.section_end = std::move(markers[1]);
  }

  // Each part once: the text, or the name and the arguments of a call.  Some
  // families write the name twice: in a header, and in the call.
  static void check_parts(const WriteParts& parts, const FileValue& at) {
    if (!at.ok()) return;
    using Kind = WritePart::Kind;
    const auto most = [&](Kind kind) { return count(parts, kind).max; };
    constexpr std::array<std::pair<Kind, std::string_view>, 4> kOnce = {
        {{Kind::kPayload, "text"},
         {Kind::kArguments, "arguments"},
         {Kind::kIndex, "index"},
         {Kind::kId, "id"}}};
    for (const auto& [kind, name] : kOnce) {
      if (most(kind) < 2) continue;
      at.fail(ErrorCode::kConflict, at.what() + " has the part '" +
                                        std::string(name) +
                                        "' more than once.");
    }
    const bool name = most(Kind::kName) > 0;
    const bool arguments = most(Kind::kArguments) > 0;
    if (most(Kind::kPayload) > 0) {
      if (name || arguments || most(Kind::kIndex) > 0 || most(Kind::kId) > 0) {
        at.fail(ErrorCode::kConflict,
                at.what() +
                    " has the text of the field and parts of a call; a "
                    "field has either.");
      }
      return require(parts, Kind::kPayload, "text", at);
    }
    if (!name && !arguments) {
      at.fail(ErrorCode::kMissingKey,
              at.what() +
                  " writes nothing of the field: it needs {\"text\": "
                  "true}, or {\"name\": ...} and {\"arguments\": ...}.");
    }
    require(parts, Kind::kName, "name", at);
    require(parts, Kind::kArguments, "arguments", at);
  }

  static void require(const WriteParts& parts, WritePart::Kind kind,
                      std::string_view name, const FileValue& at) {
    const Occurrences found = count(parts, kind);
    if (found.min > 0) return;
    at.fail(ErrorCode::kMissingKey,
            at.what() + " has no part '" + std::string(name) + "'" +
                (found.max > 0 ? " in some of its choices." : "."));
  }

  // Every field in the order has a layout, and every layout a place.
  void check_fields(const FileValue& value, const Writing& out) const {
    std::vector<bool> placed(out.fields.size());
    for (const WriteStep& step : out.steps) placed[step.field] = true;
    if (out.messages) {
      for (FieldId id : out.messages->fields) placed[id] = true;
    }
    for (std::size_t i = 0; i < out.fields.size(); ++i) {
      const std::string& name = format_.description.fields[FieldId(i)].name;
      const bool laid_out = !out.fields[FieldId(i)].empty();
      if (placed[i] && !laid_out) {
        value.fail(ErrorCode::kMissingKey,
                   "field '" + name +
                       "' is in 'order', and 'write' does not say how it is "
                       "written.");
      } else if (laid_out && !placed[i]) {
        value.fail_at(name, ErrorCode::kConflict,
                      "field '" + name + "' has no place in 'order'.");
      }
    }
  }

  // ---- parts ----

  // Parts without a payload.
  WriteParts load_marker(const FileValue& value) const {
    WriteParts out = load_parts(value, 0);
    using Kind = WritePart::Kind;
    for (Kind kind : {Kind::kPayload, Kind::kName, Kind::kArguments,
                      Kind::kIndex, Kind::kId}) {
      if (count(out, kind).max == 0) continue;
      value.fail(
          ErrorCode::kConflict,
          value.what() + " must consist of texts, 'any' and 'optional'.");
    }
    return out;
  }

  // The recursion depth is at most kMaxPartDepth.
  WriteParts load_parts(const FileValue& value, std::size_t depth) const {
    WriteParts out;
    if (depth == kMaxPartDepth) {
      value.fail(ErrorCode::kTooDeep, "parts are nested more than " +
                                          std::to_string(kMaxPartDepth) +
                                          " levels.");
      return out;
    }
    value.each_item("parts", value.what(), [&](const FileValue& part) {
      out.push_back(load_part(part, depth));
    });
    return out;
  }

  WritePart load_part(const FileValue& value, std::size_t depth) const {
    using Kind = WritePart::Kind;
    WritePart out;
    if (value.json().is_string()) {
      out.text = value.called("a text in " + value.what()).text();
      return out;
    }
    const auto only =
        value.called("a part in " + value.what())
            .only_member(kPartKeys, "a part must have one key, of: " +
                                        listed(kPartKeys) + ".");
    if (!only) return out;
    const auto& [key, member] = *only;
    if (key == "text") {
      out.kind = Kind::kPayload;
      if (!member.called("'text' (marker text is a plain string)").boolean()) {
        member.fail(ErrorCode::kWrongType, "'text' must be true.");
      }
    } else if (key == "name") {
      out.kind = Kind::kName;
      out.json = member.choice({"raw", "json"}) == 1;
    } else if (key == "arguments") {
      out.kind = Kind::kArguments;
      load_arguments(member, out);
    } else if (key == "index") {
      out.kind = Kind::kIndex;
      out.first = member.integer(0, kMaxIndex);
    } else if (key == "id") {
      out.kind = Kind::kId;
      Result<regex::Pattern> pattern =
          load_pattern(member.json(), {member.pointer(), "format file"}, "id",
                       format_.limits);
      if (!pattern) member.fail(std::move(pattern).error());
      out.text = member.json().as_string();
    } else if (key == "any") {
      out.kind = Kind::kAny;
      member.each_item("lists of parts", "a choice of 'any'",
                       "'any' must have a choice.", [&](const FileValue& one) {
                         out.choices.push_back(load_parts(one, depth + 1));
                       });
    } else {
      out.kind = Kind::kOptional;
      out.choices.push_back(load_parts(member, depth + 1));
    }
    return out;
  }

  // ---- arguments ----

  static void load_arguments(const FileValue& value, WritePart& out) {
    using Style = ArgumentStyle;
    ArgumentLayout& layout = out.arguments;
    if (value.json().is_object()) {
      if (value.json().find("delimited") != nullptr) {
        layout.style = Style::kDelimited;
        value.members({{"delimited", [&](const FileValue& one) {
                          load_delimited(one, layout);
                        }}});
      } else {
        layout.style = Style::kElements;
        load_elements(value, layout.element_layout);
      }
      return;
    }
    constexpr std::array kStyles = {Style::kJson, Style::kJson, Style::kPython,
                                    Style::kCohereXml, Style::kMinimaxM3Xml};
    const std::size_t index =
        value
            .called(
                "'arguments' (a name, or an object with 'each' or 'delimited')")
            .choice({"json", "json_text", "python", "cohere_xml",
                     "minimax_m3_xml"});
    out.as_text = index == 1;
    layout.style = kStyles[index];
  }

  static void load_delimited(const FileValue& value, ArgumentLayout& out) {
    const auto load_string = [&](const FileValue& string) {
      std::vector<std::string> texts = string.texts();
      if (texts.size() != 2) {
        return string.fail(
            ErrorCode::kWrongType,
            "'string' must be a list of two texts: what opens a string, "
            "and what closes it.");
      }
      out.delimited_layout.open = std::move(texts[0]);
      out.delimited_layout.close = std::move(texts[1]);
    };
    value.members(
        {{"string", load_string,
          "'delimited' must have 'string': [OPEN, CLOSE]."},
         {"keys",
          [&](const FileValue& keys) {
            out.delimited_layout.text_keys = keys.choice({"bare", "text"}) == 1;
          }},
         // Schemas have no order of names, so the grammar takes any.
         {"order", [&](const FileValue& order) {
            out.any_order = order.choice({"schema", "sorted"}) == 1;
          }}});
  }

  // {"each": [parts], "between": text, "ends": [texts]}: the texts before the
  // key are ElementLayout::open, those before the type or the value `middle`,
  // those after the type `after_type`, those after the value `close`.
  static void load_elements(const FileValue& value, ElementLayout& out) {
    value.members(
        {{"each", [&](const FileValue& each) { load_each(each, out); },
          "'arguments' must be a name, or have 'each' or 'delimited'."},
         {"between",
          [&](const FileValue& one) { out.between = one.maybe_empty_text(); }},
         {"ends", into(out.ends)}});
  }

  // The part that comes last so far.
  enum class Place : std::uint8_t { kBegin, kKey, kType, kValue };

  // The parts must be
  //
  //   texts key texts (type texts)? value texts
  //
  // `place` is what came last, so it says which text of the layout the next
  // text belongs to, and which parts may come.
  static void load_each(const FileValue& value, ElementLayout& out) {
    Place place = Place::kBegin;
    value.each_item("parts", "a part in 'each'", [&](const FileValue& part) {
      if (!part.json().is_string()) return load_element_part(part, place, out);
      (place == Place::kBegin  ? out.open
       : place == Place::kKey  ? out.middle
       : place == Place::kType ? out.after_type
                               : out.close) +=
          part.called("a text in 'each'").text();
    });
    if (place == Place::kValue) return;
    value.fail(ErrorCode::kMissingKey,
               place == Place::kBegin ? "'each' has no part {\"key\": ...}."
                                      : "'each' has no part {\"value\": ...}.");
  }

  static void load_element_part(const FileValue& part, Place& place,
                                ElementLayout& out) {
    const auto only = part.only_member(
        kElementKeys,
        "a part in 'each' must have one key, of: key, type, value.");
    if (!only) return;
    const auto& [key, member] = *only;
    const bool fits = key == "key" ? place == Place::kBegin
                      : key == "type"
                          ? place == Place::kKey
                          : place == Place::kKey || place == Place::kType;
    if (!fits) {
      part.fail(ErrorCode::kConflict,
                "the parts of 'each' must be one 'key', at most one 'type', "
                "and one 'value', in this order, with texts around them.");
    } else if (key == "key") {
      into(out.key, {"raw", "xml"})(member);
      place = Place::kKey;
    } else if (key == "type") {
      load_types(member, out);
      place = Place::kType;
    } else {
      into(out.strings, {"raw", "json", "cdata"})(member);
      place = Place::kValue;
    }
  }

  // {"string": "true", "*": "false"}: of all types of JSON Schema.
  static void load_types(const FileValue& value, ElementLayout& out) {
    const auto type = [&](std::string_view name) {
      return FileMember{
          name, [&out, name](const FileValue& one) {
            out.types.emplace_back(
                name,
                one.called("the text for " + one.what()).maybe_empty_text());
          }};
    };
    value.members({type("string"), type("integer"), type("number"),
                   type("boolean"), type("array"), type("object"), type("null"),
                   type("*")});
    constexpr std::size_t kTypes = 7;
    if (value.json().find("*") == nullptr && value.json().size() < kTypes) {
      value.fail(ErrorCode::kMissingKey,
                 "'type' must name a text for every type of JSON; '*' stands "
                 "for all types that are not listed.");
    }
  }

  const FormatImpl& format_;
  const FieldNames names_;
};

}  // namespace

std::string_view to_string(ArgumentStyle style) {
  return kStyleNames[static_cast<std::size_t>(style)];
}

Writing load_writing(const FileValue& value, const FormatImpl& format) {
  return WriteLoader(format).load(value);
}

}  // namespace parlance::format
