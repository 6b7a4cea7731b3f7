// What a string becomes depends on how it was written (Strings), and on its
// parameter: of a plain one a list of types says all, of any other the schema
// of the tool is asked (Declared).  cast_argument() has the order of the
// attempts; the rest finds parameters, and the arguments of calls.

#include "schema/cast_calls.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/access.h"
#include "base/python_number.h"
#include "json/python_literal.h"
#include "schema/tool_table.h"
#include "schema/typing.h"
#include "schema/validate.h"

namespace parlance::schema {
namespace {

bool is_container(const json::Value& value) {
  return value.is_array() || value.is_object();
}

bool takes(const Parameter& parameter, LooseType type) {
  return std::ranges::find(parameter.types, type) != parameter.types.end();
}

std::uint8_t bits_of(LooseType type) {
  switch (type) {
    case LooseType::kNull:
      return kNull;
    case LooseType::kBoolean:
      return kBoolean;
    case LooseType::kInteger:
    case LooseType::kNumber:
      return kNumber;
    case LooseType::kString:
      return kString;
    case LooseType::kArray:
      return kArray;
    case LooseType::kObject:
      return kObject;
    case LooseType::kUnknown:
      return 0;
  }
  return 0;
}

// The types that the tool's schema allows; none if it cannot be loaded.
std::uint8_t known_types(const Parameter& parameter) {
  const Declared declared = parameter.declared();
  return declared.known() ? declared.types() : 0;
}

// A Python literal that is a list or an object, if the schema accepts one.
std::optional<json::Value> cast_python(std::string_view text,
                                       const Parameter& parameter) {
  // Parameter::types says all of a plain parameter.
  const std::uint8_t types =
      parameter.plain ? std::uint8_t{0} : known_types(parameter);
  const bool list =
      takes(parameter, LooseType::kArray) || (types & kArray) != 0;
  const bool object =
      takes(parameter, LooseType::kObject) || (types & kObject) != 0;
  if (!list && !object) return std::nullopt;
  Result<json::Value> value = json::read_python(text);
  if (!value ||
      !((list && value->is_array()) || (object && value->is_object()))) {
    return std::nullopt;
  }
  return std::move(*value);
}

bool takes_strings(const Parameter& parameter) {
  return takes(parameter, LooseType::kString);
}

bool is_raw(Strings strings) {
  return strings == Strings::kWritten || strings == Strings::kPython;
}

LooseType type_of(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull:
      return LooseType::kNull;
    case json::Kind::kBool:
      return LooseType::kBoolean;
    case json::Kind::kInt:
    case json::Kind::kBigInt:
      return LooseType::kInteger;
    case json::Kind::kFloat:
      return LooseType::kNumber;
    case json::Kind::kString:
      return LooseType::kString;
    case json::Kind::kArray:
      return LooseType::kArray;
    case json::Kind::kObject:
      return LooseType::kObject;
  }
  return LooseType::kUnknown;
}

// What a raw text is as JSON: a value that the schema lists, or of one of
// several types, or any if the schema allows all.  Nothing if the text is a
// listed string, or no such JSON; `text_is_listed` says which.
std::optional<json::Value> cast_json(std::string_view text,
                                     const Parameter& parameter,
                                     bool& text_is_listed) {
  if (parameter.listed.empty() && !parameter.unrestricted &&
      parameter.types.size() < 2) {
    return std::nullopt;
  }
  Result<json::Value> value = json::parse(text);
  const auto lists = [&](const json::Value& one) {
    return std::ranges::any_of(parameter.listed, [&](const json::Value& other) {
      return equal_values(one, other);
    });
  };
  if (!parameter.listed.empty()) {
    if (value && !value->is_string() && lists(*value)) return std::move(*value);
    text_is_listed = lists(json::Value(text));
    return std::nullopt;
  }
  if (!value || value->is_string()) return std::nullopt;
  if (parameter.unrestricted) return std::move(*value);
  LooseType type = type_of(*value);
  // A number may be an integer, and an integer is a number.
  if (type == LooseType::kInteger && !takes(parameter, type)) {
    type = LooseType::kNumber;
  } else if (type == LooseType::kNumber && !takes(parameter, type)) {
    type = LooseType::kInteger;
  }
  if (!takes(parameter, type)) return std::nullopt;
  // cast() decides whether 2.0 is an integer.
  return cast(text, {type}, Numbers::kJson);
}

// The same by the schema of the tool, for a parameter that is not plain.
// `stays`: the text is a valid string.
std::optional<json::Value> cast_valid(std::string_view text,
                                      const Parameter& parameter, bool& stays) {
  // valid() may not know.  Then the text is neither a value nor a string that
  // stays, and the types of the parameter decide (cast_argument()).
  const Declared declared = parameter.declared();
  json::ParseOptions options;
  options.allow_nonfinite = false;
  Result<json::Value> value = json::parse(text, options);
  if (value && !value->is_string() && declared.valid(*value) == true) {
    const LooseType type = type_of(*value);
    if (type == LooseType::kNumber || type == LooseType::kInteger) {
      if (auto number = cast(text, {type}, Numbers::kJson)) return number;
    }
    return std::move(*value);
  }
  stays = declared.valid(json::Value(text)) == true;
  return std::nullopt;
}

// What Python calls null, true and false, which is no JSON, if the parameter
// takes such a value: a string is rarely meant.
std::optional<json::Value> cast_python_word(std::string_view text,
                                            const Parameter& parameter) {
  const std::string_view word = base::python_strip(text);
  if (word == "None" && takes(parameter, LooseType::kNull)) return nullptr;
  if (!takes(parameter, LooseType::kBoolean)) return std::nullopt;
  if (word == "True") return true;
  if (word == "False") return false;
  return std::nullopt;
}

// Whether some text can be cast.
bool casts(const Parameter& parameter) {
  return std::ranges::any_of(parameter.types, [](LooseType type) {
    return type != LooseType::kString && type != LooseType::kUnknown;
  });
}

}  // namespace

bool may_cast_string(const Parameter& parameter, Strings strings) {
  if (strings == Strings::kTyped && takes_strings(parameter)) return false;
  if (is_raw(strings) &&
      (parameter.unrestricted ||
       std::ranges::any_of(
           parameter.listed,
           [](const json::Value& value) { return !value.is_string(); }) ||
       (!parameter.plain && (known_types(parameter) & ~kString) != 0))) {
    return true;
  }
  return casts(parameter);
}

std::shared_ptr<const Parameter> parameter_of(const ToolSet& tools,
                                              std::string_view tool,
                                              std::string_view name,
                                              Strings strings) {
  if (tools.empty()) return nullptr;
  const ToolTable& table = *detail::Access::impl(tools);
  // The table outlives the pointer, which does not own it.
  const auto in_table = [](const Parameter& parameter) {
    return std::shared_ptr<const Parameter>(std::shared_ptr<const void>(),
                                            &parameter);
  };
  if (const auto declared = table.tools.find(tool);
      declared != table.tools.end()) {
    const auto found = declared->second.find(name);
    if (found != declared->second.end()) return in_table(found->second);
  }
  const auto found = table.undeclared.find(tool);
  if (!is_raw(strings) || found == table.undeclared.end()) return nullptr;
  const Undeclared& undeclared = found->second;
  if (undeclared.tool != nullptr) {
    const Declared root = Declared::root(undeclared.tool);
    Declared inner = root.member(name);
    if (inner.restricts()) {
      Parameter out = undeclared.others.value_or(Parameter());
      out.plain = false;
      out.inner = std::move(inner);
      return std::make_shared<const Parameter>(std::move(out));
    }
    if (!undeclared.others && root.may_require(name)) {
      return std::make_shared<const Parameter>(parameter_of(json::Value(true)));
    }
  }
  return undeclared.others ? in_table(*undeclared.others) : nullptr;
}

bool may_cast_list(const Parameter& parameter) {
  return !parameter.takes_array && casts(parameter);
}

const StringMap<Parameter>* parameters_of(const ToolSet& tools,
                                          std::string_view tool) {
  if (tools.empty()) return nullptr;
  const ToolTable& table = *detail::Access::impl(tools);
  const auto found = table.tools.find(tool);
  if (found == table.tools.end() || found->second.empty()) return nullptr;
  return &found->second;
}

// Of a string, by what is known of how it was written: raw text is tried as a
// word of Python, as a valid value of the schema, as JSON, and then, like other
// strings, as one of the parameter's types.  `stays` ends this: the string is
// the value.
std::optional<json::Value> cast_argument(const json::Value& argument,
                                         const Parameter& parameter,
                                         Strings strings) {
  const Numbers numbers =
      strings == Strings::kText ? Numbers::kPython : Numbers::kJson;
  if (argument.is_string()) {
    if (!may_cast_string(parameter, strings)) return std::nullopt;
    if (is_raw(strings)) {
      bool stays = false;
      if (!parameter.plain) {
        if (strings == Strings::kPython) {
          auto word = cast_python_word(argument.as_string(), parameter);
          if (word) return word;
        }
        auto valid = cast_valid(argument.as_string(), parameter, stays);
        if (valid || stays) return valid;
      }
      auto value = cast_json(argument.as_string(), parameter, stays);
      if (value || stays) return value;
    } else if (strings == Strings::kTyped && !parameter.plain &&
               parameter.declared().valid(argument) == true) {
      return std::nullopt;
    }
    auto value = cast(argument.as_string(), parameter.types, numbers);
    if (!value && strings == Strings::kPython) {
      value = cast_python(argument.as_string(), parameter);
    }
    return value;
  }
  // A list for a parameter that is not an array comes from a repeated tag: each
  // element is a value of the parameter.
  if (!argument.is_array() || parameter.takes_array) return std::nullopt;
  if (strings != Strings::kText && !parameter.plain &&
      parameter.declared().valid(argument) == true) {
    return std::nullopt;
  }
  std::optional<json::Value> changed;
  for (std::size_t i = 0; i < argument.items().size(); ++i) {
    const json::Value& item = argument.items()[i];
    if (!item.is_string()) continue;
    std::optional<json::Value> value =
        cast(item.as_string(), parameter.types, numbers);
    if (!value) continue;
    if (!changed) changed = argument;
    changed->mutable_items()[i] = std::move(*value);
  }
  return changed;
}

Parameter inner_parameter(const Parameter& parent, std::string_view name,
                          std::size_t index) {
  constexpr std::string_view kItem = "item";
  const json::Value* properties = parent.schema.find("properties");
  const json::Value* found =
      properties == nullptr ? nullptr : properties->find(name);
  if (found == nullptr && name == kItem) found = parent.schema.find("items");
  Parameter out;
  if (found != nullptr) out = parameter_of(*found);
  if (found != nullptr && out.plain) return out;
  const Declared around = parent.declared();
  out.inner = around.member(name);
  if (!out.inner.restricts() && name == kItem) out.inner = around.item(index);
  out.plain = !out.inner.restricts();
  if (!out.plain) return out;
  // What a schema leaves open may be any value.
  const bool open = parent.unrestricted ||
                    (name == kItem && (types_of(parent) & kArray) != 0) ||
                    (parent.plain && properties == nullptr &&
                     takes(parent, LooseType::kObject));
  return open ? parameter_of(json::Value(true)) : out;
}

std::uint8_t types_of(const Parameter& parameter) {
  if (!parameter.plain) {
    const Declared declared = parameter.declared();
    if (declared.known()) return declared.types();
  }
  std::uint8_t out = 0;
  for (const LooseType type : parameter.types) out |= bits_of(type);
  return out;
}

json::Value value_of_leaf(std::string_view text, const Parameter& parameter) {
  const json::Value string(text);
  // In `<a></a>` stands an empty list, an empty object or an empty string.
  // Where the schema accepts strings, and this one, it is the string; else the
  // first container that it accepts; else, if no string is ever valid, the
  // first that it names.
  if (base::python_strip(text).empty()) {
    const std::uint8_t types = types_of(parameter);
    const bool never_string = (types & kString) == 0;
    const Declared declared =
        parameter.plain ? Declared() : parameter.declared();
    const bool invalid = declared.valid(string) == false;
    std::optional<json::Value> first;
    for (const auto& [type, empty] :
         {std::pair<std::uint8_t, json::Value>(kArray, json::Array()),
          std::pair<std::uint8_t, json::Value>(kObject, json::Object())}) {
      if ((types & type) == 0) continue;
      const std::optional<bool> valid = declared.valid(empty);
      if ((never_string && valid != false) || (invalid && valid == true)) {
        return empty;
      }
      if (!first) first = empty;
    }
    if (never_string && first) return *std::move(first);
  }
  return cast_argument(string, parameter, Strings::kWritten).value_or(string);
}

namespace {

// The arguments that change.  The first bad union sets `error`.
std::vector<json::Member> changed_arguments(const json::Value& arguments,
                                            const ToolSet& tools,
                                            std::string_view tool,
                                            Strings strings,
                                            std::optional<Error>& error) {
  std::vector<json::Member> out;
  if (tools.empty() || !arguments.is_object() ||
      !detail::Access::impl(tools)->tools.contains(tool)) {
    return out;
  }
  for (const json::Member& member : arguments.members()) {
    const std::shared_ptr<const Parameter> parameter =
        parameter_of(tools, tool, member.key, strings);
    if (parameter == nullptr) continue;
    if (parameter->bad_union && !error) {
      error =
          Error{ErrorCode::kContentType,
                "parameter '" + member.key + "' of tool '" + std::string(tool) +
                    "' has an 'anyOf' or 'oneOf' that is not a list of "
                    "schemas."};
    }
    if (auto value = cast_argument(member.value, *parameter, strings)) {
      out.push_back({member.key, *std::move(value)});
    }
  }
  return out;
}

void set_members(std::vector<json::Member> changes, json::Value& object) {
  json::Object& members = object.mutable_members();
  // The keys are those of the object: changed_arguments() has them from there.
  for (auto& [key, value] : changes) *members.find(key) = std::move(value);
}

// Looks for changes first, without mutable access to the call: a call without
// changes is never copied.
void cast_call(json::Value& call, const ToolSet& tools, Strings strings,
               std::optional<Error>& error) {
  const json::Value* function = call.find("function");
  if (function == nullptr) return;
  const json::Value* name = function->find("name");
  const json::Value* arguments = function->find("arguments");
  if (name == nullptr || !name->is_string() || arguments == nullptr) return;
  auto changes =
      changed_arguments(*arguments, tools, name->as_string(), strings, error);
  if (changes.empty()) return;
  set_members(std::move(changes), *call.mutable_members()
                                       .find("function")
                                       ->mutable_members()
                                       .find("arguments"));
}

}  // namespace

std::optional<Error> cast_arguments(json::Value& arguments,
                                    const ToolSet& tools, std::string_view tool,
                                    Strings strings) {
  std::optional<Error> error;
  auto changes = changed_arguments(arguments, tools, tool, strings, error);
  if (!changes.empty()) set_members(std::move(changes), arguments);
  return error;
}

std::optional<Error> cast_tool_calls(json::Value& value, const ToolSet& tools,
                                     Strings strings) {
  std::optional<Error> error;
  if (tools.empty()) return error;
  std::vector<json::Value*> pending = {&value};
  while (!pending.empty()) {
    json::Value& next = *pending.back();
    pending.pop_back();
    if (next.is_object()) {
      cast_call(next, tools, strings, error);
    } else if (next.is_array()) {
      bool nested = false;
      for (const json::Value& item : next.items()) {
        nested = nested || is_container(item);
      }
      if (!nested) continue;
      // mutable_items() copies a shared list here, before `pending` stores
      // pointers to its elements.
      json::Array& items = next.mutable_items();
      // From the last, so that the first is taken from the stack next and the
      // error is that of the first call.
      for (std::size_t i = items.size(); i-- > 0;) {
        if (is_container(items[i])) pending.push_back(&items[i]);
      }
    }
  }
  return error;
}

}  // namespace parlance::schema
