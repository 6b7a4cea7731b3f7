// Implements parlance/tools.h: reads tool definitions into a ToolTable.

#include "parlance/tools.h"

#include <algorithm>
#include <utility>

#include "schema/tool_table.h"

namespace parlance {
namespace {

// The object that has the tool's name: the member "function", of any kind, or
// else the entry itself.
const json::Value* function_of(const json::Value& entry) {
  if (!entry.is_object()) return nullptr;
  const json::Value* function = entry.find("function");
  return function != nullptr ? function : &entry;
}

schema::StringMap<schema::Parameter> parameters_of(
    const json::Value& function) {
  schema::StringMap<schema::Parameter> out;
  const json::Value* parameters = function.find("parameters");
  const json::Value* properties =
      parameters != nullptr ? parameters->find("properties") : nullptr;
  if (properties == nullptr) return out;
  for (const json::Member& member : properties->members()) {
    schema::Parameter parameter;
    parameter.schema = member.value;
    parameter.types = schema::candidate_types(member.value);
    parameter.takes_array =
        std::find(parameter.types.begin(), parameter.types.end(),
                  schema::LooseType::kArray) != parameter.types.end();
    parameter.bad_union = schema::has_bad_union(member.value);
    out.insert_or_assign(member.key, std::move(parameter));
  }
  return out;
}

}  // namespace

ToolSet::ToolSet() : impl_(std::make_shared<const schema::ToolTable>()) {}

ToolSet ToolSet::from_value(const json::Value& list) {
  auto table = std::make_shared<schema::ToolTable>();
  for (const json::Value& entry : list.items()) {
    const json::Value* function = function_of(entry);
    if (function == nullptr) continue;
    const json::Value* name = function->find("name");
    if (name == nullptr || !name->is_string()) continue;
    table->tools.insert_or_assign(std::string(name->as_string()),
                                  parameters_of(*function));
  }
  ToolSet out;
  out.impl_ = std::move(table);
  return out;
}

Result<ToolSet> ToolSet::from_json(std::string_view text) {
  Result<json::Value> list = json::parse(text);
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
