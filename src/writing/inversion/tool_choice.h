#ifndef PARLANCE_SRC_INVERSION_TOOL_CHOICE_H_
#define PARLANCE_SRC_INVERSION_TOOL_CHOICE_H_

// The tools of a request, and which of them the model may or must call.  The
// result is independent of the model family.
//
//   tools        [{"type": "function", "function": {"name": "f", ...}},
//                 {"type": "web_search", "name": "browser.search", ...}]
//   tool_choice  "auto", null (auto), "none", "required",
//                {"type": "function", "function": {"name": "f"}},
//                {"type": "web_search"},
//                {"type": "allowed_tools", "allowed_tools":
//                    {"mode": "auto" or "required", "tools": [references]}}

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::inversion {

struct Tool {
  std::string name;    // what the model writes
  std::string type;    // "function", or the type of a builtin tool
  json::Value schema;  // the schema of the arguments; `true` allows any JSON
  // JSON Pointer of the object that has "name" and "parameters".
  std::string path = {};
  // "parameters", by which readers type the arguments, also where "strict" is
  // false and `schema` allows any.
  json::Value declared = {};
};

// "the argument 'city' of the tool 'get'", each name cut if it is long, and the
// pointer of the argument.
std::string argument_called(const Tool& tool, std::string_view argument);
std::string argument_pointer(const Tool& tool, std::string_view argument);
// Adds keywords to the schema of the tool's arguments, which they narrow.
void narrow_schema(Tool& tool, json::Object keywords);
// Whether "required" of the tool's schema has the argument.
bool requires_argument(const Tool& tool, std::string_view argument);

enum class ToolChoice : std::uint8_t { kAuto, kRequired, kForced };

struct ToolSelection {
  std::vector<Tool> functions;
  std::vector<Tool> builtins;
  // The names of the functions that the choice leaves out.
  std::vector<std::string> excluded = {};
  // kRequired: there is at least one tool.  kForced: there is exactly one tool.
  ToolChoice choice = ToolChoice::kAuto;
};

// The tools that the model may call, and whether it must call one.
//
// Errors, with pointers that begin with "/tools" or "/tool_choice":
// kWrongType, kMissingKey and kEmptyValue for a malformed tool or choice;
// kUnknownName for a tool or mode that does not exist; kConflict for a choice
// that selects several tools, or none.
Result<ToolSelection> select_tools(const json::Value& tools,
                                   const json::Value& tool_choice);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_TOOL_CHOICE_H_
