// From `write` of a format and a request to a structural tag.
//
//   steps      thinking? content? tool_calls*
//              sequence[ optional(reasoning)
//                        any_text
//                        optional(sequence[ optional(before) calls ])
//                        optional(turn_end) ]
//
//   messages   thinking, content, tool_calls with "between"
//              sequence[ star(sequence[ message between ]) last ]
//              A section of calls is one message, the last.
//
// The text of a field is one node, followed by what may come after it, so that
// a reader of the tag never has to wait for the end to know where the text
// belongs.

#include "inversion/tag_builder.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/trimmed.h"
#include "inversion/left_out.h"
#include "inversion/reading.h"
#include "inversion/tag_input.h"
#include "inversion/tag_values.h"
#include "json/writer.h"
#include "schema/conjoin.h"
#include "structural_tag/structural_tag.h"

namespace parlance::inversion {
namespace {

using format::FieldId;
using format::WriteLayout;
using format::WriteMessages;
using format::WritePart;
using format::WriteParts;
using format::WriteStep;
using json::Value;
using Texts = std::vector<std::string>;

// Between two lexemes of JSON, if the request does not say: enough for pretty
// printing, and no endless run.
constexpr std::uint32_t kMaxWhiteSpace = 64;

Value list(const Texts& texts) {
  json::Array out;
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

Value in_order(json::Array items) {
  if (items.empty()) return values::const_string("");
  return items.size() == 1 ? std::move(items.front())
                           : values::sequence(std::move(items));
}

Value one_of(json::Array choices) {
  return choices.size() == 1 ? std::move(choices.front())
                             : values::one_of(std::move(choices));
}

Value optional(Value content) {
  return values::repeated("optional", std::move(content));
}

bool is_text(const Value& node) {
  return node.find("type")->as_string() == "const_string";
}

// A text, or the list of texts of a choice of texts; nothing for other nodes.
std::optional<Value> marker_texts(const Value& node) {
  if (is_text(node)) return *node.find("value");
  if (node.find("type")->as_string() != "or") return std::nullopt;
  json::Array out;
  for (const Value& choice : node.find("elements")->items()) {
    if (!is_text(choice)) return std::nullopt;
    out.push_back(*choice.find("value"));
  }
  return Value(std::move(out));
}

// Appends `text` to the last node if that is a text, too.
void append_text(json::Array& nodes, std::string_view text) {
  if (text.empty()) return;
  if (!nodes.empty()) {
    const Value* type = nodes.back().find("type");
    if (type->as_string() == "const_string") {
      const Value* before = nodes.back().find("value");
      nodes.back() =
          values::const_string(std::string(before->as_string()).append(text));
      return;
    }
  }
  nodes.push_back(values::const_string(text));
}

// The text of `parts`, if they are nothing else.
std::optional<std::string> text_of(const WriteParts& parts) {
  std::string out;
  for (const WritePart& part : parts) {
    if (part.kind != WritePart::Kind::kText) return std::nullopt;
    out += part.text;
  }
  return out;
}

std::string name_in(const WritePart& part, std::string_view name) {
  if (!part.json) return std::string(name);
  std::string quoted;
  json::append_string(quoted, name, /*ascii=*/false);
  return quoted;
}

// The schema of arguments: an object, also where the tool does not say so.
Value arguments_schema(const Value& schema) {
  if (!schema.is_object()) {
    if (schema.kind() == json::Kind::kBool && !schema.as_bool()) return schema;
    return json::Object{{"type", "object"}};
  }
  if (schema.find("type") != nullptr) return schema;
  Value out = schema;
  out.mutable_members().set("type", "object");
  return out;
}

// A layout whose last text may be chosen, as one layout for each choice.
std::vector<WriteParts> by_ending(const WriteParts& parts) {
  if (parts.empty() || parts.back().kind != WritePart::Kind::kAny) {
    return {parts};
  }
  std::vector<WriteParts> out;
  for (const WriteParts& choice : parts.back().choices) {
    WriteParts made(parts.begin(), parts.end() - 1);
    made.insert(made.end(), choice.begin(), choice.end());
    out.push_back(std::move(made));
  }
  return out;
}

class Builder {
 public:
  explicit Builder(const TagInput& in) : in_(in) {}

  Result<BuiltTag> build() const {
    if (auto error = check_request(in_)) return *std::move(error);
    BuiltTag out;
    if (auto error = note_left_out(in_, out.notes)) return *std::move(error);
    out.format = in_.plan.writing->messages
                     ? build_messages(*in_.plan.writing->messages)
                     : build_steps();
    return out;
  }

 private:
  // ---- nodes ----

  // It does not begin with `first`, after white space, unless that is empty.
  Value free_text(FieldId field, std::string_view first = {}) const {
    const FieldPlan& plan = in_.plan_of(field);
    Value limit;
    if (plan.role == Role::kReasoning && in_.request.max_reasoning_tokens) {
      limit = std::int64_t{*in_.request.max_reasoning_tokens};
    }
    json::Object node{{"type", "any_text"},
                      {"excludes", list(plan.free_text.texts)},
                      {"max_tokens", std::move(limit)},
                      {"max_chars", nullptr}};
    Texts patterns = plan.free_text.patterns;
    if (!first.empty()) {
      std::string& pattern = patterns.emplace_back("^\\s*");
      for (const char c : first) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80 && !base::is_letter(byte) && !base::is_digit(byte)) {
          pattern += '\\';
        }
        pattern += c;
      }
    }
    if (!patterns.empty()) node.set("exclude_patterns", list(patterns));
    if (in_.is_required(field) && !in_.format.description.fields[field].open) {
      return as_field(not_empty(field, std::move(node)), field);
    }
    return as_field(std::move(node), field);
  }

  // Text that nothing opens is there if it has a character.  The first one is
  // no white space, and begins no excluded text.
  Value not_empty(FieldId field, Value text) const {
    std::string others = "[^\\s\\x1C-\\x1F\\x85";
    for (const std::string& excluded : in_.plan_of(field).free_text.texts) {
      std::size_t size = 1;
      while (size < excluded.size() && (excluded[size] & 0xC0) == 0x80) ++size;
      constexpr std::string_view kSpecial = "\\]^-[&~|";
      if (kSpecial.find(excluded[0]) != std::string_view::npos) others += '\\';
      others += excluded.substr(0, size);
    }
    return values::sequence({values::regex(others + "]"), std::move(text)});
  }

  // `node` as a region of the field, whose texts the template may join.
  Value as_field(Value node, FieldId field) const {
    Value out = values::with_field(std::move(node), in_.name_of(field));
    const auto& join = in_.format.description.fields[field].join;
    if (join && !join->empty()) out.mutable_members().set("join", *join);
    return out;
  }

  Value json_schema(Value schema, const Texts& excludes) const {
    json::Object node{
        {"type", "json_schema"},
        {"json_schema", std::move(schema)},
        {"style", "json"},
        {"any_order", in_.request.any_order},
        {"max_whitespace_cnt",
         std::int64_t{in_.request.max_white_space.value_or(kMaxWhiteSpace)}}};
    if (!excludes.empty()) node.set("excludes", list(excludes));
    return node;
  }

  Value document() const {
    const FieldPlan& plan = in_.plan_of(*in_.plan.content);
    return as_field(
        json_schema(with_rule(*in_.request.document, plan.documents),
                    plan.strings),
        *in_.plan.content);
  }

  Value arguments(const WritePart& part, const Tool& tool) const {
    const FieldPlan& plan = in_.plan_of(*in_.plan.calls);
    format::ArgumentLayout layout = part.arguments;
    using format::ArgumentStyle;
    const bool python = layout.style == ArgumentStyle::kPython;
    const bool raw = layout.style != ArgumentStyle::kJson && !python;
    Value schema = arguments_schema(tool.schema);
    if (!in_.plan.key_pattern.empty() && schema.is_object()) {
      // Elements in elements are JSON, and keys in Python are strings; other
      // literals have one notation throughout.
      if (layout.elements() == nullptr && !python) {
        schema = schema::with_names(std::move(schema), in_.plan.key_pattern);
      } else {
        json::Object names;
        names.set(in_.plan.key_pattern, true);
        json::Object limits;
        limits.set("patternProperties", std::move(names));
        limits.set("additionalProperties", false);
        schema = schema::conjoined(std::move(schema), std::move(limits));
      }
    }
    if (in_.plan.largest_number > 0) {
      schema = schema::with_numbers(std::move(schema), in_.plan.largest_number,
                                    /*nested=*/true);
    }
    const ReadTexts& read = in_.read_back.texts;
    Texts excludes = raw ? plan.raw_values : plan.strings;
    excludes.insert(excludes.end(), read.nested.begin(), read.nested.end());
    Value node = json_schema(std::move(schema), excludes);
    layout.element_layout.one_line = read.one_line;
    json::Object& members = node.mutable_members();
    structural_tag::add_style(layout.style, layout.element_layout,
                              layout.delimited_layout, members);
    if (layout.any_order) members.set("any_order", true);
    return node;
  }

  // `node` as the id of a call of the tool, if calls have one.
  Value as_id(Value node, const Tool* tool) const {
    const std::optional<Sample>& before = in_.read_back.id_before;
    if (tool != nullptr && before) {
      node.mutable_members().set("call_id", spelled(*before, tool->name));
    }
    return node;
  }

  // Appends the nodes of `parts`.  `payload` is for {"text": true}, `tool` for
  // the parts of a call.
  void append(json::Array& nodes, const WriteParts& parts,
              const Value* payload = nullptr,
              const Tool* tool = nullptr) const {
    using Kind = WritePart::Kind;
    for (const WritePart& part : parts) {
      switch (part.kind) {
        case Kind::kText:
          append_text(nodes, part.text);
          break;
        case Kind::kPayload:
          if (payload != nullptr) nodes.push_back(*payload);
          break;
        case Kind::kName:
          if (tool != nullptr) append_text(nodes, name_in(part, tool->name));
          break;
        case Kind::kArguments:
          if (tool != nullptr) nodes.push_back(arguments(part, *tool));
          break;
        case Kind::kIndex:
          nodes.push_back(as_id(values::regex("[0-9]{1,6}"), tool));
          break;
        case Kind::kId:
          nodes.push_back(as_id(values::regex(part.text), tool));
          break;
        case Kind::kAny: {
          json::Array choices;
          for (const WriteParts& choice : part.choices) {
            json::Array made;
            append(made, choice, payload, tool);
            choices.push_back(in_order(std::move(made)));
          }
          nodes.push_back(one_of(std::move(choices)));
          break;
        }
        case Kind::kOptional: {
          json::Array made;
          for (const WriteParts& choice : part.choices) {
            append(made, choice, payload, tool);
          }
          nodes.push_back(optional(in_order(std::move(made))));
          break;
        }
      }
    }
  }

  // White space that the reader takes for layout, which is therefore no text of
  // a field: the longest literal first, as the reader takes the longest.
  // `other` is a further choice, after all texts.
  std::optional<Value> layout_space(
      Texts texts, std::optional<Value> other = std::nullopt) const {
    std::erase(texts, "");
    std::stable_sort(texts.begin(), texts.end(),
                     [](const std::string& a, const std::string& b) {
                       return a.size() > b.size();
                     });
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    json::Array choices;
    for (const std::string& text : texts) {
      choices.push_back(values::const_string(text));
    }
    if (other) choices.push_back(*std::move(other));
    if (choices.empty()) return std::nullopt;
    return optional(one_of(std::move(choices)));
  }

  // Adds the layout that the reader takes away beside the markers of a field
  // and that the markers do not write themselves.
  void add_layout(FieldId field, json::Array& nodes,
                  const Value& payload) const {
    const format::Layout& layout = in_.reading_of(field).layout;
    const auto found = std::find(nodes.begin(), nodes.end(), payload);
    if (found == nodes.end()) return;
    auto at = static_cast<std::size_t>(found - nodes.begin());
    const auto ends_in_space = [](const Value& node) {
      if (!is_text(node)) return true;
      const std::string_view text = node.find("value")->as_string();
      return text.empty() || base::is_space(text.back());
    };
    const auto begins_with_space = [](const Value& node) {
      if (!is_text(node)) return true;
      const std::string_view text = node.find("value")->as_string();
      return text.empty() || base::is_space(text.front());
    };
    const auto insert = [&](std::size_t position, const Texts& texts) {
      auto space = layout_space(texts);
      if (!space) return false;
      nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(position),
                   *std::move(space));
      return true;
    };
    if (at > 0 && !ends_in_space(nodes[at - 1]) && insert(at, layout.first)) {
      ++at;
    }
    if (at + 1 < nodes.size() && !begins_with_space(nodes[at + 1])) {
      insert(at + 1, layout.last);
    }
    if (at + 1 < nodes.size() && !ends_in_space(nodes.back())) {
      insert(nodes.size(), layout.after);
    }
  }

  Value text_layout(FieldId field, const WriteParts& parts,
                    const Value& payload) const {
    json::Array nodes;
    append(nodes, parts, &payload);
    add_layout(field, nodes, payload);
    // Between two markers the text is a region even if it is empty.
    const std::optional<Value> end =
        nodes.size() == 3 ? marker_texts(nodes[2]) : std::nullopt;
    if (end && nodes[1] == payload && is_text(nodes[0])) {
      json::Object& content = nodes[1].mutable_members();
      json::Object keys;
      for (const char* key : {"field", "join"}) {
        if (const Value* value = content.find(key)) keys.set(key, *value);
        content.erase(key);
      }
      Value out =
          values::tag(nodes[0].find("value")->as_string(), nodes[1], *end);
      for (const json::Member& member : keys) {
        out.mutable_members().set(member.key, member.value);
      }
      return out;
    }
    return in_order(std::move(nodes));
  }

  // The layouts of a field of text that this request may use.
  json::Array text_layouts(FieldId field, const Value& payload) const {
    json::Array out;
    for (const WriteLayout& layout : in_.layouts_of(field)) {
      if (layout.for_response_format && !in_.request.document) continue;
      out.push_back(text_layout(field, layout.parts, payload));
    }
    return out;
  }

  // ---- calls ----

  // Where the last text may be chosen, a message that ends the response ends
  // with a text of turn_end, and another one does not.
  WriteParts ending(const WriteParts& parts, bool last) const {
    if (parts.empty() || parts.back().kind != WritePart::Kind::kAny) {
      return parts;
    }
    std::vector<WriteParts> fitting;
    for (const WriteParts& choice : parts.back().choices) {
      if (ends_turn(choice) == last) fitting.push_back(choice);
    }
    if (fitting.empty()) return parts;
    WriteParts out(parts.begin(), parts.end() - 1);
    if (fitting.size() == 1) {
      out.insert(out.end(), fitting[0].begin(), fitting[0].end());
    } else {
      out.push_back(parts.back());
      out.back().choices = std::move(fitting);
    }
    return out;
  }

  // The texts at both ends become the markers of the tag.
  Value call(const WriteParts& parts, const Tool& tool) const {
    json::Array nodes;
    append(nodes, parts, nullptr, &tool);
    const auto text_at = [&](std::size_t i) -> std::string {
      if (nodes[i].find("type")->as_string() != "const_string") return "";
      return std::string(nodes[i].find("value")->as_string());
    };
    const std::string begin = text_at(0);
    if (!begin.empty()) nodes.erase(nodes.begin());
    const std::string end = nodes.empty() ? "" : text_at(nodes.size() - 1);
    if (!end.empty()) nodes.pop_back();
    return values::with_tool(
        values::tag(begin, in_order(std::move(nodes)), end), tool.name);
  }

  // In messages, `last` says whether the call ends the response.
  json::Array call_tags(std::optional<bool> last = std::nullopt) const {
    json::Array out;
    for (const Tool& tool : in_.request.tools.functions) {
      const auto first = static_cast<std::ptrdiff_t>(out.size());
      for (const WriteLayout& layout : in_.layouts_of(*in_.plan.calls)) {
        // Layouts may differ in their sections alone.
        Value tag =
            call(last ? ending(layout.parts, *last) : layout.parts, tool);
        if (std::find(out.begin() + first, out.end(), tag) != out.end()) {
          continue;
        }
        out.push_back(std::move(tag));
      }
    }
    return out;
  }

  // The calls, with the texts between them and those that enclose all of them.
  Value all_calls(bool once) const {
    const WriteLayout& layout = in_.layouts_of(*in_.plan.calls).front();
    json::Array nodes;
    append(nodes, layout.section_begin);
    json::Array tags = call_tags();
    if (once) {
      nodes.push_back(one_of(std::move(tags)));
    } else if (in_.writes_text_between()) {
      const Value tag = one_of(std::move(tags));
      nodes.push_back(tag);
      json::Array gap;
      append(gap, layout.between);
      json::Array more;
      more.push_back(one_of({in_order(std::move(gap)), text_between()}));
      more.push_back(tag);
      nodes.push_back(values::repeated("star", in_order(std::move(more))));
    } else if (const auto between = text_of(layout.between)) {
      nodes.push_back(values::tags_with_separator(*between, std::move(tags)));
    } else {
      const Value tag = one_of(std::move(tags));
      nodes.push_back(tag);
      json::Array more;
      append(more, layout.between);
      more.push_back(tag);
      nodes.push_back(values::repeated("star", in_order(std::move(more))));
    }
    append(nodes, layout.section_end);
    const bool section =
        !layout.section_begin.empty() || !layout.section_end.empty();
    Value out = in_order(std::move(nodes));
    return section ? values::with_field(std::move(out), "tool_calls") : out;
  }

  // What may stand between text and the first call: what the layout writes, and
  // what the reader takes for layout.  The longest first, as the reader takes
  // the longest.
  std::optional<Value> before_calls() const {
    Texts texts;
    const WriteLayout& layout = in_.layouts_of(*in_.plan.calls).front();
    const std::optional<std::string> written = text_of(layout.before);
    if (written && !written->empty()) texts.push_back(*written);
    // If a call itself may begin with white space, that is the layout.
    const WriteParts& first =
        layout.section_begin.empty() ? layout.parts : layout.section_begin;
    const bool begins_with_text =
        !first.empty() && first.front().kind == WritePart::Kind::kText &&
        first.front().text.find_first_of(" \t\r\n") != 0;
    if (begins_with_text) {
      const Texts& before = in_.reading_of(*in_.plan.calls).layout.before;
      texts.insert(texts.end(), before.begin(), before.end());
    }
    std::optional<Value> other;
    if (!written) {
      json::Array nodes;
      append(nodes, layout.before);
      other = in_order(std::move(nodes));
    }
    return layout_space(std::move(texts), std::move(other));
  }

  // Text between two calls, with the layout that the reader takes away after
  // the first and before the second.  It does not begin with what separates the
  // calls of one region, which would announce another.
  Value text_between() const {
    const FieldId field = *in_.plan.content;
    const format::FieldReading& read = in_.reading_of(*in_.plan.calls);
    std::string_view separator;
    if (read.count == format::ValueCount::kSequence) {
      separator = base::trimmed(read.separator);
    }
    json::Array nodes;
    if (auto space = layout_space(read.layout.after)) {
      nodes.push_back(*std::move(space));
    }
    nodes.push_back(one_of(text_layouts(field, free_text(field, separator))));
    if (auto before = before_calls()) nodes.push_back(*std::move(before));
    return in_order(std::move(nodes));
  }

  // ---- steps ----

  // Reasoning, as the request wants it.
  void append_reasoning(json::Array& out, const WriteStep& step) const {
    if (in_.request.reasoning == Reasoning::kOff) {
      const WriteLayout& layout = in_.layouts_of(step.field).front();
      if (!layout.off.empty()) {
        out.push_back(optional(switched_off(step.field, layout)));
      } else if (in_.request.written) {
        // The prompt may have begun a block, or written one without text.
        out.push_back(optional(empty_block(step.field, layout)));
      }
      return;
    }
    json::Array blocks = text_layouts(step.field, free_text(step.field));
    if (!step.optional || in_.request.reasoning != Reasoning::kAllowed) {
      out.push_back(one_of(std::move(blocks)));
      return;
    }
    // A model that need not reason may say that it does not.
    const WriteLayout& layout = in_.layouts_of(step.field).front();
    if (!layout.off.empty() && !off_is_empty_block(layout)) {
      blocks.push_back(switched_off(step.field, layout));
    }
    out.push_back(optional(one_of(std::move(blocks))));
  }

  // Whether what is written instead of reasoning is the layout without text.
  static bool off_is_empty_block(const WriteLayout& layout) {
    WriteParts empty;
    for (const WritePart& part : layout.parts) {
      if (part.kind != WritePart::Kind::kPayload) empty.push_back(part);
    }
    const std::optional<std::string> off = text_of(layout.off);
    return off && off == text_of(empty);
  }

  // What is written instead of reasoning.  If it is the layout without text, it
  // is a block of reasoning whose text is empty.
  Value switched_off(FieldId field, const WriteLayout& layout) const {
    if (off_is_empty_block(layout)) return empty_block(field, layout);
    json::Array nodes;
    append(nodes, layout.off);
    return in_order(std::move(nodes));
  }

  Value empty_block(FieldId field, const WriteLayout& layout) const {
    return text_layout(field, layout.parts,
                       as_field(values::const_string(""), field));
  }

  enum class Answer : std::uint8_t {
    kText,      // text, and calls if there are tools
    kDocument,  // the document of response_format
    kCalls,     // calls, and no text that may be missing
  };

  // Invariant of the loop: `out` reads everything up to the current step, and
  // `open_text` says that it ends with text that only the next marker ends.
  json::Array steps(Answer answer) const {
    json::Array out;
    bool open_text = false;
    for (const WriteStep& step : in_.plan.writing->steps) {
      const Role role = in_.plan_of(step.field).role;
      if (role == Role::kReasoning) {
        append_reasoning(out, step);
        continue;
      }
      if (role == Role::kCalls) {
        if (!in_.with_calls() || answer == Answer::kDocument) continue;
        json::Array nodes;
        // White space alone is layout also where text could have been.
        if (open_text || in_.format.description.implicit) {
          if (auto before = before_calls()) nodes.push_back(*std::move(before));
        }
        nodes.push_back(all_calls(in_.one_call() || !step.repeats));
        Value calls = in_order(std::move(nodes));
        if (answer != Answer::kCalls && !in_.is_required(step.field)) {
          calls = optional(std::move(calls));
        }
        out.push_back(std::move(calls));
        open_text = false;
        continue;
      }
      const bool is_content = step.field == in_.plan.content;
      if (step.optional && (!is_content || (answer == Answer::kCalls &&
                                            !in_.text_before_calls()))) {
        // What the family writes in place of text is no text.
        const WriteLayout& layout = in_.layouts_of(step.field).front();
        if (is_content && !layout.off.empty()) {
          out.push_back(optional(switched_off(step.field, layout)));
        }
        continue;
      }
      const bool is_document = is_content && answer == Answer::kDocument;
      Value text = one_of(text_layouts(
          step.field, is_document ? document() : free_text(step.field)));
      const WriteParts& parts = in_.layouts_of(step.field).front().parts;
      open_text =
          !parts.empty() && parts.back().kind == WritePart::Kind::kPayload;
      const bool bare = parts.size() == 1 && open_text;
      if (step.optional && !is_document && !bare) {
        text = optional(std::move(text));
      }
      out.push_back(std::move(text));
    }
    return out;
  }

  Value build_steps() const {
    json::Array nodes;
    if (in_.must_call()) {
      nodes = steps(Answer::kCalls);
    } else if (!in_.request.document) {
      nodes = steps(Answer::kText);
    } else {
      nodes = steps(Answer::kDocument);
      if (in_.with_calls()) {
        nodes = either(std::move(nodes), steps(Answer::kCalls));
      }
    }
    if (!in_.plan.turn_end.empty() && !in_.read_back.no_turn_end) {
      json::Array ends;
      for (const std::string& text : in_.plan.turn_end) {
        ends.push_back(values::const_string(text));
      }
      nodes.push_back(optional(one_of(std::move(ends))));
    }
    return in_order(std::move(nodes));
  }

  // A choice of two sequences; what both begin with stands before it.
  static json::Array either(json::Array a, json::Array b) {
    json::Array out;
    std::size_t common = 0;
    while (common < a.size() && common < b.size() && a[common] == b[common]) {
      out.push_back(a[common]);
      ++common;
    }
    a.erase(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(common));
    b.erase(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(common));
    out.push_back(
        values::one_of({in_order(std::move(a)), in_order(std::move(b))}));
    return out;
  }

  // ---- messages ----

  bool ends_turn(const WriteParts& parts) const {
    if (parts.empty() || parts.back().kind != WritePart::Kind::kText) {
      return false;
    }
    return std::any_of(in_.plan.turn_end.begin(), in_.plan.turn_end.end(),
                       [&](const std::string& end) {
                         return parts.back().text.ends_with(end);
                       });
  }

  // The messages of a field of text.  An answer has a spelling that ends the
  // turn; other messages (a preamble) precede something.
  struct TextMessages {
    json::Array answers = {};
    json::Array others = {};
  };
  TextMessages text_messages(FieldId field, const Value& payload) const {
    TextMessages out;
    for (const WriteLayout& layout : in_.layouts_of(field)) {
      if (layout.for_response_format && !in_.request.document) continue;
      const std::vector<WriteParts> spellings = by_ending(layout.parts);
      const bool answer = std::any_of(
          spellings.begin(), spellings.end(),
          [&](const WriteParts& parts) { return ends_turn(parts); });
      (answer ? out.answers : out.others)
          .push_back(text_layout(field, layout.parts, payload));
    }
    return out;
  }

  // The choices of messages: what may come first, what may precede the last
  // message, and the last message itself.
  struct Messages {
    json::Array first = {};  // reasoning
    json::Array before = {};
    json::Array last = {};
    bool reasoning_repeats = false;
  };

  // Messages in any order.  Reasoning and preambles precede the last message,
  // and with parallel calls so do other calls:
  //
  //   text        (reasoning, preamble or call)*, then an answer or a call
  //   must call   (reasoning, preamble or call)*, then a call
  //   forced      reasoning*, then the call
  //
  // Reasoning that the template does not repeat comes once, first.
  // Calls that have a section are one message, the last.
  // Without tools there are no preambles and no calls.
  Value build_messages(const WriteMessages& messages) const {
    Messages made;
    for (const FieldId field : messages.fields) {
      const bool may_be_last =
          std::find(messages.last.begin(), messages.last.end(), field) !=
          messages.last.end();
      switch (in_.plan_of(field).role) {
        case Role::kReasoning:
          add_reasoning(made, field);
          break;
        case Role::kCalls:
          if (in_.with_calls()) add_calls(made, field, may_be_last);
          break;
        case Role::kContent:
        case Role::kOther:
          add_text(made, field, may_be_last);
          break;
      }
    }
    json::Array between;
    append(between, messages.between);
    const auto followed = [&](json::Array choices) {
      json::Array nodes = {one_of(std::move(choices))};
      add_all(nodes, between);
      return in_order(std::move(nodes));
    };
    json::Array out;
    const bool required = in_.request.reasoning == Reasoning::kRequired;
    if (!made.first.empty() && (required || !made.reasoning_repeats)) {
      Value reasoning = followed(std::move(made.first));
      out.push_back(required ? std::move(reasoning)
                             : optional(std::move(reasoning)));
    }
    if (!made.before.empty()) {
      out.push_back(values::repeated("star", followed(std::move(made.before))));
    }
    if (made.last.empty()) made.last.push_back(values::const_string(""));
    out.push_back(one_of(std::move(made.last)));
    return in_order(std::move(out));
  }

  static void add_all(json::Array& out, const json::Array& more) {
    out.insert(out.end(), more.begin(), more.end());
  }

  void add_reasoning(Messages& out, FieldId field) const {
    if (in_.request.reasoning == Reasoning::kOff) return;
    out.first = text_layouts(field, free_text(field));
    out.reasoning_repeats = in_.format.description.fields[field].repeats;
    if (out.reasoning_repeats) add_all(out.before, out.first);
  }

  void add_calls(Messages& out, FieldId field, bool may_be_last) const {
    if (!in_.layouts_of(field).front().section_begin.empty()) {
      if (may_be_last) out.last.push_back(all_calls(in_.one_call()));
      return;
    }
    if (!in_.one_call()) add_all(out.before, call_tags(/*last=*/false));
    if (may_be_last) add_all(out.last, call_tags(/*last=*/true));
  }

  void add_text(Messages& out, FieldId field, bool may_be_last) const {
    const TextMessages text = text_messages(field, free_text(field));
    const bool forced = in_.request.tools.choice == ToolChoice::kForced;
    if (in_.with_calls() && (!forced || in_.text_before_calls())) {
      add_all(out.before, text.others);
      if (in_.must_call() && in_.request.answers_before_calls) {
        for (const WriteLayout& layout : in_.layouts_of(field)) {
          const WriteParts parts = ending(layout.parts, /*last=*/false);
          if (!layout.for_response_format && !ends_turn(parts)) {
            out.before.push_back(text_layout(field, parts, free_text(field)));
          }
        }
      }
    }
    if (in_.must_call() || !may_be_last) return;
    if (in_.request.document && field == in_.plan.content) {
      add_all(out.last, text_messages(field, document()).answers);
    } else {
      add_all(out.last, text.answers.empty() ? text.others : text.answers);
    }
  }

  const TagInput in_;
};

}  // namespace

Result<BuiltTag> build_tag(const format::FormatImpl& format, const Plan& plan,
                           const ReadBack& read_back, const Request& request) {
  return Builder(TagInput{format, plan, read_back, request}).build();
}

}  // namespace parlance::inversion
