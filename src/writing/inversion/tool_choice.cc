// Loads the tools of a request, then reduces them to the tools that tool_choice
// allows.  Every error has a pointer into {"tools": ..., "tool_choice": ...}.

#include "inversion/tool_choice.h"

#include <algorithm>
#include <utility>

#include "base/in_quotes.h"
#include "json/located.h"
#include "schema/conjoin.h"

namespace parlance::inversion {
namespace {

std::string kind_of(const json::Value& value) {
  return std::string(json::to_string(value.kind()));
}

// At most the first 200 bytes of a name that a caller chose, in quotes.
std::string shown(std::string_view name) {
  return base::in_quotes(name.substr(0, 200));
}

Error wrong_type(const std::string& path, const std::string& what,
                 const std::string& needed, const json::Value& got) {
  return Error{ErrorCode::kWrongType,
               what + " must be " + needed + ", got " + kind_of(got) + ".",
               path};
}

// The schema of a tool's arguments.  It is `true` if "parameters" is absent or
// null, or if "strict" is false.
Result<json::Value> load_schema(const json::Value& owner,
                                const std::string& path) {
  const json::Value* schema = owner.find("parameters");
  if (schema == nullptr || schema->is_null()) return json::Value(true);
  if (!schema->is_object() && schema->kind() != json::Kind::kBool) {
    return wrong_type(path + "/parameters", "tool: 'parameters'",
                      "a schema: an object, a boolean or null", *schema);
  }
  const json::Value* strict = owner.find("strict");
  if (strict != nullptr && strict->kind() == json::Kind::kBool &&
      !strict->as_bool()) {
    return json::Value(true);
  }
  return *schema;
}

Result<std::string> load_name(const json::Value& name,
                              const std::string& path) {
  if (!name.is_string()) {
    return wrong_type(path, "tool: 'name'", "a string", name);
  }
  if (name.as_string().empty()) {
    return Error{ErrorCode::kEmptyValue, "tool: 'name' must not be empty.",
                 path};
  }
  return std::string(name.as_string());
}

Result<Tool> load_function(const json::Value& function,
                           const std::string& path) {
  if (!function.is_object()) {
    return wrong_type(path, "tool: 'function'", "an object", function);
  }
  const json::Value* given = function.find("name");
  if (given == nullptr) {
    return Error{ErrorCode::kMissingKey, "tool: 'name' is missing.", path};
  }
  Result<std::string> name = load_name(*given, path + "/name");
  if (!name) return std::move(name).error();
  const json::Value* strict = function.find("strict");
  if (strict != nullptr && !strict->is_null() &&
      strict->kind() != json::Kind::kBool) {
    return wrong_type(path + "/strict", "tool: 'strict'", "true or false",
                      *strict);
  }
  Result<json::Value> schema = load_schema(function, path);
  if (!schema) return std::move(schema).error();
  const json::Value* declared = function.find("parameters");
  return Tool{std::move(*name), "function", std::move(*schema), path,
              declared == nullptr ? json::Value() : *declared};
}

Result<Tool> load_tool(const json::Value& tool, const std::string& path) {
  if (!tool.is_object()) {
    return wrong_type(path, "tool: a tool", "an object", tool);
  }
  const json::Value* type = tool.find("type");
  if (type != nullptr && !type->is_string()) {
    return wrong_type(path + "/type", "tool: 'type'", "a string", *type);
  }
  const json::Value* function = tool.find("function");
  if (type == nullptr || type->as_string() == "function") {
    if (function != nullptr) {
      return load_function(*function, path + "/function");
    }
    // The object of "function" without the object that encloses it.
    if (tool.find("name") != nullptr) return load_function(tool, path);
    return Error{ErrorCode::kMissingKey, "tool: 'function' is missing.", path};
  }
  if (type->as_string().empty()) {
    return Error{ErrorCode::kEmptyValue, "tool: 'type' must not be empty.",
                 path + "/type"};
  }
  const json::Value* given = tool.find("name");
  const bool named = given != nullptr && !given->is_null();
  Result<std::string> name = named ? load_name(*given, path + "/name")
                                   : load_name(*type, path + "/type");
  if (!name) return std::move(name).error();
  Result<json::Value> schema = load_schema(tool, path);
  if (!schema) return std::move(schema).error();
  return Tool{std::move(*name), std::string(type->as_string()),
              std::move(*schema), path};
}

// The tools that a reference in a choice selects.
struct Matches {
  std::vector<Tool> functions;
  std::vector<Tool> builtins;
};

// Selects functions by their name, and builtin tools by their type and, if the
// reference has one, their name.  An error if there are no matches.
Result<Matches> resolve(const ToolSelection& all, const json::Value& reference,
                        const std::string& path) {
  if (!reference.is_object()) {
    return wrong_type(path, "tool_choice: a tool", "an object", reference);
  }
  const json::Value* type = reference.find("type");
  if (type == nullptr || !type->is_string()) {
    return type == nullptr ? Error{ErrorCode::kMissingKey,
                                   "tool_choice: 'type' is missing.", path}
                           : wrong_type(path + "/type", "tool_choice: 'type'",
                                        "a string", *type);
  }
  Matches out;
  // A function: {"type": "function", "function": {"name": "f"}}, or
  // {"type": "function", "name": "f"}.
  if (type->as_string() == "function") {
    const json::Value* function = reference.find("function");
    const bool nested = function != nullptr && function->is_object();
    const json::Value* name =
        nested ? function->find("name") : reference.find("name");
    if (name == nullptr || !name->is_string()) {
      return Error{ErrorCode::kMissingKey,
                   "tool_choice: the function's 'name' is missing.",
                   nested ? path + "/function" : path};
    }
    for (const Tool& tool : all.functions) {
      if (tool.name == name->as_string()) out.functions.push_back(tool);
    }
    if (out.functions.empty()) {
      return Error{ErrorCode::kUnknownName,
                   "tool_choice: there is no function called " +
                       shown(name->as_string()) + " among the tools.",
                   (nested ? path + "/function" : path) + "/name"};
    }
    return out;
  }
  // A builtin tool: {"type": "web_search"}, with a "name" or without.
  const json::Value* name = reference.find("name");
  for (const Tool& tool : all.builtins) {
    if (tool.type != type->as_string()) continue;
    if (name != nullptr && name->is_string() &&
        tool.name != name->as_string()) {
      continue;
    }
    out.builtins.push_back(tool);
  }
  if (out.builtins.empty()) {
    return Error{ErrorCode::kUnknownName,
                 "tool_choice: there is no builtin tool of type " +
                     shown(type->as_string()) + " among the tools.",
                 path + "/type"};
  }
  return out;
}

// Applies {"type": "allowed_tools", "allowed_tools": {"mode", "tools"}}.
// Removes the tools that no reference selects, and sets the choice to the mode.
std::optional<Error> allow_only(ToolSelection& selection,
                                const json::Value& choice) {
  const std::string path = "/tool_choice/allowed_tools";
  const json::Value* allowed = choice.find("allowed_tools");
  if (allowed == nullptr || !allowed->is_object()) {
    return allowed == nullptr
               ? Error{ErrorCode::kMissingKey,
                       "tool_choice: 'allowed_tools' is missing.",
                       "/tool_choice"}
               : wrong_type(path, "tool_choice: 'allowed_tools'", "an object",
                            *allowed);
  }
  // Check both members.
  const json::Value* mode = allowed->find("mode");
  if (mode == nullptr ||
      (mode->as_string() != "auto" && mode->as_string() != "required")) {
    return Error{
        mode == nullptr ? ErrorCode::kMissingKey : ErrorCode::kUnknownName,
        "tool_choice: 'mode' must be 'auto' or 'required'.",
        mode == nullptr ? path : path + "/mode"};
  }
  const json::Value* tools = allowed->find("tools");
  if (tools == nullptr || !tools->is_array()) {
    return tools == nullptr
               ? Error{ErrorCode::kMissingKey,
                       "tool_choice: 'tools' is missing.", path}
               : wrong_type(path + "/tools", "tool_choice: 'tools'", "a list",
                            *tools);
  }
  // Collect the names that the references select, then filter both lists by
  // them: each allowed tool remains once, in the order of the tools.
  std::vector<std::string> functions;
  std::vector<std::string> builtins;
  for (std::size_t i = 0; i < tools->items().size(); ++i) {
    Result<Matches> matches = resolve(selection, tools->items()[i],
                                      json::append_pointer(path + "/tools", i));
    if (!matches) return std::move(matches).error();
    for (const Tool& tool : matches->functions) functions.push_back(tool.name);
    for (const Tool& tool : matches->builtins) builtins.push_back(tool.name);
  }
  const auto keep = [](std::vector<Tool>& list,
                       const std::vector<std::string>& names) {
    std::erase_if(list, [&](const Tool& tool) {
      return std::find(names.begin(), names.end(), tool.name) == names.end();
    });
  };
  keep(selection.functions, functions);
  keep(selection.builtins, builtins);
  selection.choice = mode->as_string() == "required" ? ToolChoice::kRequired
                                                     : ToolChoice::kAuto;
  return std::nullopt;
}

// Applies a reference to one tool: the model must call this tool.
std::optional<Error> force(ToolSelection& selection,
                           const json::Value& choice) {
  Result<Matches> matches = resolve(selection, choice, "/tool_choice");
  if (!matches) return std::move(matches).error();
  if (matches->functions.size() + matches->builtins.size() != 1) {
    return Error{ErrorCode::kConflict,
                 "tool_choice: selects " +
                     std::to_string(matches->functions.size() +
                                    matches->builtins.size()) +
                     " tools; it must select exactly one.",
                 "/tool_choice"};
  }
  selection.functions = std::move(matches->functions);
  selection.builtins = std::move(matches->builtins);
  selection.choice = ToolChoice::kForced;
  return std::nullopt;
}

}  // namespace

std::string argument_called(const Tool& tool, std::string_view argument) {
  return "the argument " + shown(argument) + " of the tool " + shown(tool.name);
}

std::string argument_pointer(const Tool& tool, std::string_view argument) {
  return json::append_pointer(tool.path + "/parameters/properties", argument);
}

void narrow_schema(Tool& tool, json::Object keywords) {
  if (keywords.empty()) return;
  if (!tool.schema.is_object()) {
    if (!tool.schema.as_bool()) return;
    tool.schema = json::Object{{"type", "object"}};
  }
  tool.schema = schema::conjoined(std::move(tool.schema), std::move(keywords));
}

bool requires_argument(const Tool& tool, std::string_view argument) {
  const json::Value* required = tool.schema.find("required");
  return required != nullptr && required->is_array() &&
         std::ranges::any_of(required->items(), [&](const json::Value& one) {
           return one.is_string() && one.as_string() == argument;
         });
}

Result<ToolSelection> select_tools(const json::Value& tools,
                                   const json::Value& tool_choice) {
  ToolSelection selection;
  // Load all tools, so that an invalid tool is an error whatever the choice.
  if (!tools.is_null() && !tools.is_array()) {
    return wrong_type("/tools", "tools", "a list", tools);
  }
  for (std::size_t i = 0; i < tools.items().size(); ++i) {
    Result<Tool> tool =
        load_tool(tools.items()[i], json::append_pointer("/tools", i));
    if (!tool) return std::move(tool).error();
    (tool->type == "function" ? selection.functions : selection.builtins)
        .push_back(std::move(*tool));
  }

  const std::vector<Tool> all = selection.functions;
  // Apply the choice.
  if (tool_choice.is_object()) {
    const json::Value* type = tool_choice.find("type");
    const bool allowed =
        type != nullptr && type->as_string() == "allowed_tools";
    auto error = allowed ? allow_only(selection, tool_choice)
                         : force(selection, tool_choice);
    if (error) return *std::move(error);
  } else if (tool_choice.is_null() || tool_choice.as_string() == "auto") {
    selection.choice = ToolChoice::kAuto;
  } else if (tool_choice.as_string() == "none") {
    selection.functions.clear();
    selection.builtins.clear();
  } else if (tool_choice.as_string() == "required") {
    selection.choice = ToolChoice::kRequired;
  } else {
    return Error{tool_choice.is_string() ? ErrorCode::kUnknownName
                                         : ErrorCode::kWrongType,
                 "tool_choice: must be 'auto', 'none', 'required' or an "
                 "object that names a tool, got " +
                     (tool_choice.is_string() ? shown(tool_choice.as_string())
                                              : kind_of(tool_choice)) +
                     ".",
                 "/tool_choice"};
  }
  if (selection.choice == ToolChoice::kRequired &&
      selection.functions.empty() && selection.builtins.empty()) {
    return Error{ErrorCode::kConflict,
                 "tool_choice: is 'required', but there is no tool.",
                 "/tool_choice"};
  }
  for (const Tool& tool : all) {
    if (selection.functions.size() == all.size()) break;
    if (std::ranges::find(selection.functions, tool.name, &Tool::name) ==
        selection.functions.end()) {
      selection.excluded.push_back(tool.name);
    }
  }
  return selection;
}

}  // namespace parlance::inversion
