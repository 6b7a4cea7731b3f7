// Rendering; see render.h.  Layouts are trees of parts whose depth the loader
// has limited, so the writer is recursive.

#include "rendering/render.h"

#include <algorithm>
#include <optional>

#include "automata/language.h"
#include "base/reasoning_names.h"
#include "json/located.h"
#include "json/writer.h"
#include "regex/necessary_literals.h"
#include "regex/pattern.h"
#include "rendering/arguments.h"

namespace parlance::rendering {
namespace {

using format::FieldId;
using format::WriteLayout;
using format::WritePart;
using format::WriteParts;
using json::Value;

constexpr std::string_view kCalls = "tool_calls";

// The member of the message for a field: by its name, or by another name of
// reasoning.
const Value* find_field(const Value& message, std::string_view name,
                        std::string_view& found) {
  found = name;
  if (const Value* value = message.find(name)) return value;
  if (!base::is_reasoning_name(name)) return nullptr;
  for (const std::string_view other : base::kReasoningNames) {
    found = other;
    if (const Value* value = message.find(other)) return value;
  }
  return nullptr;
}

Error wrong(std::string what, const Value& value, std::string pointer) {
  return {ErrorCode::kWrongType,
          "message: " + std::move(what) + ", got " +
              std::string(json::to_string(value.kind())) + ".",
          std::move(pointer)};
}

Result<MessageCall> read_call(const Value& value, const std::string& pointer) {
  if (!value.is_object()) {
    return wrong("a call must be an object", value, pointer);
  }
  const Value* function = value.find("function");
  const Value& inner = function == nullptr ? value : *function;
  const std::string inner_pointer =
      function == nullptr ? pointer : json::append_pointer(pointer, "function");
  if (!inner.is_object()) {
    return wrong("'function' must be an object", inner, inner_pointer);
  }
  MessageCall out;
  const Value* name = inner.find("name");
  if (name == nullptr) {
    return Error{ErrorCode::kMissingKey, "message: a call has no 'name'.",
                 inner_pointer};
  }
  if (!name->is_string()) {
    return wrong("the name of a call must be a string", *name,
                 json::append_pointer(inner_pointer, "name"));
  }
  out.name = std::string(name->as_string());
  if (const Value* id = value.find("id"); id != nullptr && !id->is_null()) {
    if (!id->is_string()) {
      return wrong("the id of a call must be a string", *id,
                   json::append_pointer(pointer, "id"));
    }
    out.id = std::string(id->as_string());
  }
  out.arguments = Value(json::Object());
  const Value* arguments = inner.find("arguments");
  if (arguments == nullptr || arguments->is_null()) return out;
  out.arguments = *arguments;
  const std::string at = json::append_pointer(inner_pointer, "arguments");
  if (arguments->is_string()) {
    Result<Value> parsed = json::parse(arguments->as_string());
    if (!parsed) {
      return Error{ErrorCode::kInvalidJson,
                   "message: the arguments of a call are not JSON: " +
                       parsed.error().message,
                   at};
    }
    out.arguments = std::move(*parsed);
  }
  if (!out.arguments.is_object()) {
    return wrong("the arguments of a call must be an object", out.arguments,
                 at);
  }
  return out;
}

// Writes one message.
class Writer {
 public:
  Writer(const MessageFields& message, const format::FormatImpl& format,
         Absent absent, std::span<const std::string> escaped)
      : message_(message),
        format_(format),
        writing_(*format.family.writing),
        absent_(absent),
        escaped_(escaped),
        call_ends_(format.description.fields.size()) {}

  Result<std::string> write() {
    const std::optional<Error> error =
        writing_.messages ? write_messages() : write_steps();
    if (error) return *error;
    return std::move(out_);
  }

 private:
  // The call and the field that the parts being written belong to.
  struct Scope {
    FieldId field{0};
    const MessageCall* call = nullptr;
    std::size_t index = 0;  // of the call
    // Parts that end a response must not be chosen.
    bool goes_on = false;
  };

  const MessageFields::Field& value_of(FieldId field) const {
    return message_.fields[field];
  }
  bool given(FieldId field) const { return value_of(field).given; }
  bool is_reasoning(FieldId field) const {
    return base::is_reasoning_name(format_.description.fields[field].name);
  }

  // Whether the parts contain, outside of choices, a text that ends a response.
  bool ends_turn(const WriteParts& parts) const {
    for (const WritePart& part : parts) {
      if (part.kind != WritePart::Kind::kText) continue;
      for (const std::string& end : format_.family.reading.turn_end) {
        if (part.text.find(end) != std::string::npos) return true;
      }
    }
    return false;
  }

  // Whether the parts, or a choice in them, contain such a text.
  bool may_end_turn(const WriteParts& parts) const {
    return ends_turn(parts) ||
           std::ranges::any_of(parts, [this](const WritePart& part) {
             return std::ranges::any_of(part.choices,
                                        [this](const WriteParts& choice) {
                                          return may_end_turn(choice);
                                        });
           });
  }

  // The layout to write a field with.  If more of the response follows
  // (`goes_on`), the text must not end the turn:
  //
  // 1. A layout in which nothing ends a turn, not even a choice.
  // 2. Else one that ends it in a choice alone, since another way can be taken.
  // 3. Else the first.
  const WriteLayout* layout_of(FieldId field, bool goes_on) const {
    const std::vector<WriteLayout>& layouts = writing_.fields[field];
    for (const WriteLayout& layout : layouts) {
      if (!goes_on || layout.for_response_format) continue;
      if (!may_end_turn(layout.parts)) return &layout;
    }
    for (const WriteLayout& layout : layouts) {
      if (layout.for_response_format) continue;
      if (goes_on && ends_turn(layout.parts)) continue;
      return &layout;
    }
    return layouts.empty() ? nullptr : layouts.data();
  }

  std::optional<Error> write_parts(const WriteParts& parts, const Scope& scope);
  std::optional<Error> write_part(const WritePart& part, const Scope& scope);
  std::optional<Error> write_call_arguments(const WritePart& part,
                                            const Scope& scope);
  std::optional<Error> write_id(const WritePart& part, const Scope& scope);
  std::optional<Error> write_field(FieldId field, bool goes_on);
  std::optional<Error> write_calls(FieldId field, const WriteLayout& layout,
                                   bool goes_on);
  std::optional<Error> write_steps();
  std::optional<Error> write_messages();

  // The texts that end a call of the field, also in a string of its arguments,
  // and those that are escaped there in any case.
  const std::vector<std::string>& ends_of_call(FieldId field);

  std::string pointer(const Scope& scope) const {
    std::string out =
        json::append_pointer("", format_.description.fields[scope.field].name);
    return scope.call == nullptr ? out : json::append_pointer(out, scope.index);
  }

  const MessageFields& message_;
  const format::FormatImpl& format_;
  const format::Writing& writing_;
  const Absent absent_;
  const std::span<const std::string> escaped_;
  // By FieldId; nothing where it is not known yet.
  std::vector<std::optional<std::vector<std::string>>> call_ends_;
  std::string out_;
};

const std::vector<std::string>& Writer::ends_of_call(FieldId field) {
  std::optional<std::vector<std::string>>& known = call_ends_[field.value()];
  if (known) return *known;
  known.emplace(escaped_.begin(), escaped_.end());
  const auto add = [&](const format::Delimiter& delimiter) {
    using Kind = format::Delimiter::Kind;
    std::vector<std::string> texts;
    if (delimiter.kind == Kind::kLiterals) texts = delimiter.literals;
    if (delimiter.kind == Kind::kPattern) {
      auto found = regex::necessary_literals(delimiter.pattern.hir, true);
      if (found) texts = std::move(found->texts);
    }
    known->insert(known->end(), texts.begin(), texts.end());
  };
  const format::Reading& reading = format_.family.reading;
  const format::FieldReading& read = reading.fields[field];
  const format::Description& description = format_.description;
  // With a value that has its own end, nothing in its strings ends the call.
  // Elsewhere, as in elements, the closing text does.
  if (read.ends == format::RegionEnd::kValue) return *known;
  add(description.fields[field].close);
  known->insert(known->end(), reading.turn_end.begin(), reading.turn_end.end());
  for (const FieldId other : read.interrupted_by) {
    add(description.fields[other].open);
  }
  return *known;
}

std::optional<Error> Writer::write_parts(const WriteParts& parts,
                                         const Scope& scope) {
  for (const WritePart& part : parts) {
    if (auto error = write_part(part, scope)) return error;
  }
  return std::nullopt;
}

std::optional<Error> Writer::write_id(const WritePart& part,
                                      const Scope& scope) {
  Result<regex::Pattern> pattern = regex::parse_pattern(part.text);
  if (!pattern) return std::move(pattern).error();
  automata::Languages languages;
  Result<automata::LanguageId> language =
      languages.from_hir(pattern->hir, automata::Languages::Mode::kWhole);
  if (!language) return std::move(language).error();
  std::string number = std::to_string(scope.index);
  std::vector<std::string> candidates = {scope.call->id};
  // A call without an id gets one from its number.
  if (scope.call->id.empty()) {
    const std::string nine =
        std::string(9 - std::min<std::size_t>(9, number.size()), '0') + number;
    candidates = {"call" + nine.substr(4), nine, "call_" + number, number};
  }
  for (const std::string& candidate : candidates) {
    if (!languages.contains(*language, candidate)) continue;
    out_ += candidate;
    return std::nullopt;
  }
  return Error{ErrorCode::kConflict,
               scope.call->id.empty()
                   ? "message: the call needs an id that matches " +
                         json::quoted(part.text) + "."
                   : "message: the id " + json::quoted(scope.call->id) +
                         " does not match " + json::quoted(part.text) + ".",
               json::append_pointer(pointer(scope), "id")};
}

std::optional<Error> Writer::write_call_arguments(const WritePart& part,
                                                  const Scope& scope) {
  Result<std::string> text = write_arguments(
      scope.call->arguments, part.arguments, ends_of_call(scope.field));
  if (!text) {
    Error error = std::move(text).error();
    error.message = "message: " + error.message;
    error.path = pointer(scope) + "/function/arguments" + error.path;
    return error;
  }
  if (part.as_text) {
    json::append_string(out_, *text, /*ascii=*/false);
  } else {
    out_ += *text;
  }
  return std::nullopt;
}

std::optional<Error> Writer::write_part(const WritePart& part,
                                        const Scope& scope) {
  switch (part.kind) {
    case WritePart::Kind::kText:
      out_ += part.text;
      return std::nullopt;
    case WritePart::Kind::kPayload:
      out_ += value_of(scope.field).text;
      return std::nullopt;
    case WritePart::Kind::kName:
      if (part.json) {
        json::append_string(out_, scope.call->name, /*ascii=*/false);
      } else {
        out_ += scope.call->name;
      }
      return std::nullopt;
    case WritePart::Kind::kArguments:
      return write_call_arguments(part, scope);
    case WritePart::Kind::kIndex:
      out_ +=
          std::to_string(part.first + static_cast<std::int64_t>(scope.index));
      return std::nullopt;
    case WritePart::Kind::kId:
      return write_id(part, scope);
    case WritePart::Kind::kAny: {
      const WriteParts* chosen = &part.choices.front();
      if (scope.goes_on) {
        for (const WriteParts& choice : part.choices) {
          if (ends_turn(choice)) continue;
          chosen = &choice;
          break;
        }
      }
      return write_parts(*chosen, scope);
    }
    case WritePart::Kind::kOptional: {
      const bool has_id =
          std::any_of(part.choices[0].begin(), part.choices[0].end(),
                      [](const WritePart& inner) {
                        return inner.kind == WritePart::Kind::kId;
                      });
      if (has_id && scope.call != nullptr && scope.call->id.empty()) {
        return std::nullopt;
      }
      return write_parts(part.choices[0], scope);
    }
  }
  return std::nullopt;
}

// Writes the calls of a field: the section's opening, the calls with what
// stands between them, and the section's closing.
std::optional<Error> Writer::write_calls(FieldId field,
                                         const WriteLayout& layout,
                                         bool goes_on) {
  const std::vector<MessageCall>& calls = value_of(field).calls;
  if (auto error = write_parts(layout.section_begin, {.field = field})) {
    return error;
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i > 0) {
      if (auto error = write_parts(layout.between, {.field = field})) {
        return error;
      }
    }
    const Scope scope = {.field = field,
                         .call = &calls[i],
                         .index = i,
                         .goes_on = goes_on || i + 1 < calls.size()};
    if (auto error = write_parts(layout.parts, scope)) return error;
  }
  return write_parts(layout.section_end, {.field = field});
}

std::optional<Error> Writer::write_field(FieldId field, bool goes_on) {
  const WriteLayout* layout = layout_of(field, goes_on);
  if (layout == nullptr) return std::nullopt;
  if (!given(field)) {
    if (absent_ == Absent::kNothing) return std::nullopt;
    const bool block = absent_ == Absent::kBlock && is_reasoning(field);
    return write_parts(block ? layout->parts : layout->off, {.field = field});
  }
  if (!value_of(field).calls.empty()) {
    return write_calls(field, *layout, goes_on);
  }
  return write_parts(layout->parts, {.field = field, .goes_on = goes_on});
}

std::optional<Error> Writer::write_steps() {
  // Whether text of a field that is not reasoning stands before.
  bool content = false;
  for (const format::WriteStep& step : writing_.steps) {
    const WriteLayout* layout = layout_of(step.field, false);
    if (content && given(step.field) && layout != nullptr) {
      if (auto error = write_parts(layout->before, {.field = step.field})) {
        return error;
      }
    }
    if (!step.repeats && value_of(step.field).calls.size() > 1) {
      return Error{ErrorCode::kConflict,
                   "message: a response of this format has at most one call.",
                   json::append_pointer("", kCalls)};
    }
    if (auto error = write_field(step.field, false)) return error;
    if (given(step.field) && !is_reasoning(step.field)) content = true;
  }
  return std::nullopt;
}

// Messages come in the order of the list.  Each call is a message, and so are
// all calls in a section.
std::optional<Error> Writer::write_messages() {
  const format::WriteMessages& messages = *writing_.messages;
  struct Item {
    FieldId field;
    const MessageCall* call;
    std::size_t index;
  };
  std::vector<Item> items;
  for (const FieldId field : messages.fields) {
    if (!given(field) && !(absent_ == Absent::kBlock && is_reasoning(field))) {
      continue;
    }
    const std::vector<MessageCall>& calls = value_of(field).calls;
    const WriteLayout* layout = layout_of(field, false);
    if (calls.empty() ||
        (layout != nullptr && !layout->section_begin.empty())) {
      items.push_back({field, nullptr, 0});
      continue;
    }
    for (std::size_t i = 0; i < calls.size(); ++i) {
      items.push_back({field, &calls[i], i});
    }
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    const bool goes_on = i + 1 < items.size();
    if (i > 0) {
      if (auto error = write_parts(messages.between, {.field = item.field})) {
        return error;
      }
    }
    const WriteLayout* layout = layout_of(item.field, goes_on);
    if (layout == nullptr) continue;
    if (item.call == nullptr && !value_of(item.field).calls.empty()) {
      if (auto error = write_calls(item.field, *layout, goes_on)) return error;
      continue;
    }
    if (auto error = write_parts(layout->parts, {.field = item.field,
                                                 .call = item.call,
                                                 .index = item.index,
                                                 .goes_on = goes_on})) {
      return error;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<MessageFields> read_message(const Value& message,
                                   const format::FormatImpl& format) {
  if (!message.is_object()) return wrong("must be an object", message, "");
  const std::vector<format::Field>& fields = format.description.fields;
  MessageFields out;
  out.fields.resize(fields.size());
  std::vector<std::string_view> used = {"role"};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::string_view name;
    const Value* value = find_field(message, fields[i].name, name);
    if (value == nullptr) continue;
    used.push_back(name);
    if (value->is_null()) continue;
    const std::string pointer = json::append_pointer("", name);
    MessageFields::Field& field = out.fields[i];
    if (fields[i].name == kCalls) {
      if (!value->is_array()) {
        return wrong("'tool_calls' must be a list", *value, pointer);
      }
      for (std::size_t c = 0; c < value->items().size(); ++c) {
        Result<MessageCall> call =
            read_call(value->items()[c], json::append_pointer(pointer, c));
        if (!call) return std::move(call).error();
        field.calls.push_back(std::move(*call));
      }
      field.given = !field.calls.empty();
      continue;
    }
    if (!value->is_string()) {
      return wrong("'" + std::string(name) + "' must be a string", *value,
                   pointer);
    }
    field.text = std::string(value->as_string());
    field.given = !field.text.empty();
  }
  for (const json::Member& member : message.members()) {
    if (std::find(used.begin(), used.end(), member.key) != used.end() ||
        member.value.is_null() ||
        (member.value.is_string() && member.value.as_string().empty()) ||
        (member.value.is_array() && member.value.size() == 0)) {
      continue;
    }
    std::string known;
    for (const format::Field& field : fields) {
      if (!known.empty()) known += ", ";
      known += field.name;
    }
    return Error{ErrorCode::kUnknownName,
                 "message: this format has no field '" + member.key +
                     "'. Its fields are: " + known + ".",
                 json::append_pointer("", member.key)};
  }
  return out;
}

Result<std::string> render(const MessageFields& message,
                           const format::FormatImpl& format, Absent absent,
                           std::span<const std::string> escaped) {
  return Writer(message, format, absent, escaped).write();
}

}  // namespace parlance::rendering
