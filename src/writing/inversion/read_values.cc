#include "inversion/read_values.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/in_quotes.h"
#include "json/located.h"
#include "schema/cast_values.h"
#include "schema/declared.h"
#include "schema/tool_table.h"
#include "schema/typing.h"

namespace parlance::inversion {
namespace {

using json::Value;
using schema::CastValues;
using schema::Declared;
using schema::Notation;

// How the values of arguments are written, if the format casts them.
std::optional<Notation> notation_of(const Plan& plan) {
  const format::ArgumentLayout* layout =
      argument_layout(plan.writing->fields[*plan.calls].front());
  if (layout == nullptr) return std::nullopt;
  const format::ElementLayout* elements = layout->elements();
  return elements == nullptr ||
                 elements->strings == format::ElementLayout::Strings::kJson
             ? Notation::kQuoted
             : Notation::kRaw;
}

// Whether the arguments may have names that "properties" does not have.
bool may_have_others(const Value& schema) {
  constexpr std::string_view kSilent[] = {
      "type",    "title",    "description", "$schema",       "$defs",
      "$id",     "id",       "definitions", "properties",    "default",
      "example", "examples", "$comment",    "minProperties", "maxProperties"};
  const Value* properties = schema.find("properties");
  if (properties == nullptr || !properties->is_object()) return true;
  const Value* others = schema.find("additionalProperties");
  const bool closed = others != nullptr &&
                      others->kind() == json::Kind::kBool && !others->as_bool();
  return !closed &&
         std::ranges::any_of(schema.members(), [&](const json::Member& member) {
           if (member.key == "required") {
             return std::ranges::any_of(
                 member.value.items(), [&](const Value& name) {
                   return name.is_string() &&
                          properties->find(name.as_string()) == nullptr;
                 });
           }
           return std::ranges::find(kSilent, member.key) == std::end(kSilent);
         });
}

// Whether the schema allows no value that the cast loses, as far as its own
// type shows.
bool shows_its_type(const Value& schema,
                    const std::vector<schema::LooseType>& types) {
  if (types.size() != 1 || types[0] == schema::LooseType::kUnknown ||
      types[0] == schema::LooseType::kNumber) {
    return false;
  }
  const Value* type = schema.find("type");
  return type != nullptr && type->is_string();
}

std::string list_of_types(std::uint8_t bits) {
  constexpr std::pair<std::uint8_t, std::string_view> kNames[] = {
      {schema::kNull, "null"},      {schema::kBoolean, "true and false"},
      {schema::kNumber, "numbers"}, {schema::kString, "strings"},
      {schema::kArray, "lists"},    {schema::kObject, "objects"}};
  std::string out;
  for (const auto& [bit, name] : kNames) {
    if ((bits & bit) == 0) continue;
    out.append(out.empty() ? "" : ", ").append(name);
  }
  return out;
}

// Narrows the schema of one tool.
class Narrower {
 public:
  Narrower(Tool& tool, Notation notation, std::vector<GrammarNote>& notes)
      : tool_(tool),
        notation_(notation),
        root_(Declared::root(
            std::make_shared<const schema::ToolSchema>(tool.schema))),
        notes_(notes) {}

  std::optional<Error> narrow() {
    const Value* properties = tool_.declared.find("properties");
    json::Object limits;
    bool narrows = false;
    if (properties != nullptr) {
      for (const json::Member& member : properties->members()) {
        Value values = true;
        if (auto error = argument(member, values)) return error;
        narrows = narrows || values != Value(true);
        limits.set(member.key, std::move(values));
      }
    }
    json::Object all;
    if (narrows) all.set("properties", limits);
    if (notation_ == Notation::kRaw && may_have_others(tool_.schema)) {
      all.set("properties", std::move(limits));
      all.set("additionalProperties", json::Object{{"type", "string"}});
      note_others();
    }
    narrow_schema(tool_, std::move(all));
    return std::nullopt;
  }

 private:
  // Sets `values` to what is read back of one declared argument.
  std::optional<Error> argument(const json::Member& property, Value& values) {
    const auto types = schema::candidate_types(property.value);
    if (shows_its_type(property.value, types)) return std::nullopt;
    CastValues read = schema::values_of_cast(types, notation_);
    if (read.schema == Value(true)) return std::nullopt;
    values = std::move(read.schema);
    const Declared declared = root_.member(property.key);
    const std::uint8_t allowed = declared.restricts()
                                     ? declared.types()
                                     : std::uint8_t{schema::kAllTypes};
    const auto lost = static_cast<std::uint8_t>(allowed & ~read.types);
    const std::string subject = argument_called(tool_, property.key) + ": ";
    const std::string pointer = argument_pointer(tool_, property.key);
    if (allowed != 0 && (allowed & read.types) == 0 &&
        requires_argument(tool_, property.key)) {
      return Error{ErrorCode::kConflict,
                   "tools: " + subject +
                       "none of its values is read back, because the template "
                       "reads " +
                       list_of_types(lost) +
                       " as strings where the argument's own \"type\", "
                       "\"anyOf\", \"oneOf\" and \"nullable\" do not name "
                       "their type.",
                   pointer};
    }
    if (lost != 0) {
      note(pointer, "type",
           subject + list_of_types(lost) +
               " are left out, because the template reads them as strings "
               "where the argument's own \"type\", \"anyOf\", \"oneOf\" and "
               "\"nullable\" do not name their type.");
    }
    if (read.some_numbers && (allowed & schema::kNumber) != 0) {
      note(pointer, "type",
           subject +
               "numbers that the template reads as another value are left "
               "out.");
    }
    if (read.some_strings && (allowed & schema::kString) != 0) {
      note(pointer, "type",
           subject +
               "strings that the template reads as a value of another type "
               "are left out.");
    }
    return std::nullopt;
  }

  void note_others() {
    const Declared others = root_.member("\x01");
    const std::uint8_t allowed =
        others.restricts() ? others.types() : std::uint8_t{schema::kAllTypes};
    if ((allowed & ~schema::kString) == 0) return;
    note(tool_.path + "/parameters", "properties",
         "the tool " + base::in_quotes(tool_.name.substr(0, 200)) +
             ": arguments that \"properties\" does not name are strings, "
             "because the template reads them as such.");
  }

  void note(std::string pointer, std::string keyword, std::string what) {
    notes_.push_back({GrammarNote::Kind::kNarrowed, std::move(keyword),
                      std::move(pointer), std::move(what)});
  }

  Tool& tool_;
  const Notation notation_;
  const Declared root_;
  std::vector<GrammarNote>& notes_;
};

// Leaves out strings that are read as words of Python, though they are valid.
void leave_out_python_words(Tool& tool, std::vector<GrammarNote>& notes) {
  json::Object limits;
  bool narrows = false;
  const auto strings_of = [&](const Value& schema, const std::string& subject,
                              std::string pointer) -> Value {
    if (schema::parameter_of(schema).plain) return true;
    Value out = schema::without_python_words(schema::candidate_types(schema));
    if (out == Value(true)) return out;
    narrows = true;
    notes.push_back({GrammarNote::Kind::kNarrowed, "type", std::move(pointer),
                     subject +
                         ": the strings None, True and False are left out "
                         "where they are read as null, true and false."});
    return out;
  };
  if (const Value* declared = tool.schema.find("properties")) {
    for (const json::Member& member : declared->members()) {
      limits.set(member.key,
                 strings_of(member.value, argument_called(tool, member.key),
                            argument_pointer(tool, member.key)));
    }
  }
  json::Object all{{"properties", std::move(limits)}};
  const Value* others = tool.schema.find("additionalProperties");
  if (others != nullptr && others->is_object()) {
    all.set("additionalProperties",
            strings_of(*others,
                       "undeclared arguments of the tool " +
                           base::in_quotes(tool.name.substr(0, 200)),
                       tool.path + "/parameters/additionalProperties"));
  }
  if (narrows) narrow_schema(tool, std::move(all));
}

}  // namespace

std::optional<Error> narrow_to_read_values(const format::FormatImpl& format,
                                           const Plan& plan,
                                           std::vector<Tool>& tools,
                                           std::vector<GrammarNote>& notes) {
  if (!plan.calls) return std::nullopt;
  if (format.recovers) {
    const auto& fields = format.family.reading.fields;
    if (plan.calls->value() < fields.size() &&
        fields[plan.calls->value()].arguments.python) {
      for (Tool& tool : tools) leave_out_python_words(tool, notes);
    }
    return std::nullopt;
  }
  const std::optional<Notation> notation = notation_of(plan);
  if (!notation) return std::nullopt;
  for (Tool& tool : tools) {
    if (auto error = Narrower(tool, *notation, notes).narrow()) return error;
  }
  return std::nullopt;
}

}  // namespace parlance::inversion
