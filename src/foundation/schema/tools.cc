// Implements parlance/tools.h: reads tool definitions into a ToolTable.

#include "parlance/tools.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/access.h"
#include "schema/tool_table.h"
#include "schema/validate.h"

namespace parlance {
namespace {

// The object that has the tool's name: the member "function", of any kind, or
// else the entry itself.
const json::Value* function_of(const json::Value& entry) {
  if (!entry.is_object()) return nullptr;
  const json::Value* function = entry.find("function");
  return function != nullptr ? function : &entry;
}

// Whether a schema is `true`, or has annotations only.
bool allows_all(const json::Value& schema) {
  constexpr std::string_view kAnnotations[] = {
      "title", "description", "default", "examples", "deprecated", "$comment"};
  if (schema.kind() == json::Kind::kBool) return schema.as_bool();
  return schema.is_object() &&
         std::ranges::all_of(schema.members(), [&](const json::Member& member) {
           return std::ranges::find(kAnnotations, member.key) !=
                  std::end(kAnnotations);
         });
}

bool may_be(const json::Value& value,
            const std::vector<schema::LooseType>& types) {
  return std::ranges::any_of(types, [&](schema::LooseType type) {
    const bool number = type == schema::LooseType::kInteger ||
                        type == schema::LooseType::kNumber;
    if (number) return schema::type_bit(value) == schema::kNumber;
    return schema::to_string(type) == json::to_string(value.kind());
  });
}

bool is_plain(const schema::Parameter& parameter) {
  const json::Value& own = parameter.schema;
  if (parameter.unrestricted || own.find("nullable") != nullptr) return true;
  const json::Value* type = own.find("type");
  return type != nullptr && type->is_string() && parameter.types.size() == 1;
}

// Whether the arguments require, themselves or where another one is there, one
// that they do not declare.
bool requires_undeclared(const json::Value& parameters) {
  if (parameters.find("dependentSchemas") != nullptr ||
      parameters.find("dependencies") != nullptr) {
    return true;
  }
  const json::Value* required = parameters.find("required");
  const json::Value* properties = parameters.find("properties");
  return required != nullptr && properties != nullptr &&
         std::ranges::any_of(required->items(), [&](const json::Value& name) {
           return name.is_string() &&
                  properties->find(name.as_string()) == nullptr;
         });
}

// What the tool says of arguments that it does not declare.  They are allowed
// only explicitly: a tool that declares some arguments and mentions no others
// accepts, besides those, only the ones that it requires.
std::optional<schema::Undeclared> undeclared_of(
    const json::Value& parameters,
    const std::shared_ptr<const schema::ToolSchema>& tool) {
  schema::Undeclared out;
  constexpr std::string_view kElsewhere[] = {
      "patternProperties", "$ref", "allOf", "anyOf", "oneOf", "if"};
  const bool elsewhere = std::ranges::any_of(
      kElsewhere,
      [&](std::string_view key) { return parameters.find(key) != nullptr; });
  const bool open = parameters.is_object() &&
                    parameters.find("properties") == nullptr &&
                    parameters.find("unevaluatedProperties") == nullptr;
  if (const json::Value* others = parameters.find("additionalProperties")) {
    if (others->is_object() || allows_all(*others)) {
      out.others = schema::parameter_of(*others);
    }
  } else if (open || allows_all(parameters)) {
    out.others = schema::parameter_of(json::Value(true));
  }
  if (elsewhere) out.others.reset();
  if (elsewhere ||
      (out.others ? !out.others->plain : requires_undeclared(parameters))) {
    out.tool = tool;
  }
  if (!out.others && out.tool == nullptr) return std::nullopt;
  return out;
}

schema::StringMap<schema::Parameter> parameters_of(
    const json::Value& parameters,
    const std::shared_ptr<const schema::ToolSchema>& tool) {
  schema::StringMap<schema::Parameter> out;
  const json::Value* properties = parameters.find("properties");
  if (properties == nullptr) return out;
  for (const json::Member& member : properties->members()) {
    schema::Parameter parameter = schema::parameter_of(member.value);
    parameter.tool = tool;
    parameter.name = member.key;
    out.insert_or_assign(member.key, std::move(parameter));
  }
  return out;
}

}  // namespace

schema::Parameter schema::parameter_of(const json::Value& schema) {
  Parameter out;
  out.schema = schema;
  out.types = candidate_types(schema);
  out.takes_array =
      std::ranges::find(out.types, LooseType::kArray) != out.types.end();
  out.bad_union = has_bad_union(schema);
  out.unrestricted = allows_all(schema);
  if (const json::Value* listed = schema.find("enum")) {
    if (listed->is_array()) out.listed = listed->items();
  } else if (const json::Value* value = schema.find("const")) {
    out.listed = {*value};
  }
  out.plain = is_plain(out);
  // A value that is listed but not of the type is not valid.
  const json::Value* type = schema.find("type");
  if (type != nullptr && type->is_string()) {
    std::erase_if(out.listed, [&](const json::Value& value) {
      return !value.is_string() && !may_be(value, out.types);
    });
  }
  return out;
}

std::shared_ptr<const schema::ToolSchema> schema::schema_of(
    const ToolSet& tools, std::string_view tool) {
  const ToolTable& table = *detail::Access::impl(tools);
  const auto found = table.schemas.find(tool);
  return found == table.schemas.end() ? nullptr : found->second;
}

// All sets without tools share one table, which is never destroyed, so that its
// owners are not counted: each parser makes such a set, and to count them took
// most of the time.
ToolSet::ToolSet() {
  static const auto& none = *new schema::ToolTable;
  impl_ =
      std::shared_ptr<const schema::ToolTable>(std::shared_ptr<void>(), &none);
}

ToolSet ToolSet::from_value(const json::Value& list) {
  auto table = std::make_shared<schema::ToolTable>();
  for (const json::Value& entry : list.items()) {
    const json::Value* function = function_of(entry);
    if (function == nullptr) continue;
    const json::Value* name = function->find("name");
    if (name == nullptr || !name->is_string()) continue;
    const json::Value* found = function->find("parameters");
    const json::Value parameters =
        found == nullptr ? json::Value(false) : *found;
    const auto tool = std::make_shared<const schema::ToolSchema>(parameters);
    table->tools.insert_or_assign(std::string(name->as_string()),
                                  parameters_of(parameters, tool));
    table->undeclared.erase(std::string(name->as_string()));
    table->schemas.erase(std::string(name->as_string()));
    if (found != nullptr && !found->is_null()) {
      table->schemas.emplace(name->as_string(), tool);
    }
    if (auto undeclared = undeclared_of(parameters, tool)) {
      table->undeclared.emplace(name->as_string(), std::move(*undeclared));
    }
  }
  ToolSet out;
  out.impl_ = std::move(table);
  return out;
}

Result<ToolSet> ToolSet::from_json(std::string_view text) {
  Result<json::Value> list = json::parse(text, {.exact_floats = true});
  if (!list) return std::move(list).error();
  if (!list->is_array()) {
    return Error{ErrorCode::kWrongType,
                 "tools must be a list of tool definitions, got " +
                     std::string(json::to_string(list->kind())) + ".",
                 "", Span{0, text.size()}};
  }
  return from_value(*list);
}

bool ToolSet::empty() const { return impl_->tools.empty(); }

std::size_t ToolSet::size() const { return impl_->tools.size(); }

bool ToolSet::contains(std::string_view tool) const {
  return impl_->tools.find(tool) != impl_->tools.end();
}

const json::Value* ToolSet::parameter(std::string_view tool,
                                      std::string_view parameter) const {
  const auto found_tool = impl_->tools.find(tool);
  if (found_tool == impl_->tools.end()) return nullptr;
  const auto found = found_tool->second.find(parameter);
  return found != found_tool->second.end() ? &found->second.schema : nullptr;
}

}  // namespace parlance
