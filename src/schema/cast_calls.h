#ifndef PARLANCE_SRC_SCHEMA_CAST_CALLS_H_
#define PARLANCE_SRC_SCHEMA_CAST_CALLS_H_

// Gives the arguments of tool calls the types that the tools declare.

#include <cstdint>
#include <optional>
#include <string_view>

#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/tools.h"
#include "schema/tool_table.h"

namespace parlance::schema {

// Strings of arguments.
enum class Strings : std::uint8_t {
  // Are the written text of a value of any type, cast as in transformers.
  kText,
  // The strings of a family: a number of JSON is that number.  A text that is
  // JSON of a value that the schema lists, or of one of its types, is that
  // value, and so is any JSON but a string where the schema explicitly allows
  // all values.
  kWritten,
  // Were written as strings: not cast if the schema accepts a string.
  kTyped,
  // As kWritten, and a list or an object may be written as a Python literal.
  kPython,
};

// Finds the calls in `value`: the value itself or, if it is a list, its
// elements, recursively through lists of lists.  A call is an object whose
// "function" has a string "name" and an object "arguments".  Casts each
// argument of a known tool that is a string, and the strings in an argument
// that is a list although the schema accepts no array.  Nothing else changes,
// and a value that needs no cast is not copied.
//
// Error: kContentType, where upstream raises a TypeError, if a call has an
// argument whose schema has a union that is not a list.  All other arguments
// are cast nevertheless.
std::optional<Error> cast_tool_calls(json::Value& value, const ToolSet& tools,
                                     Strings strings = Strings::kText);

// The parameters of a tool, or null if the tool is unknown or has none.  They
// live as long as a copy of `tools`.
const StringMap<Parameter>* parameters_of(const ToolSet& tools,
                                          std::string_view tool);

// The schema of the arguments that a tool does not declare, if it explicitly
// allows them and their strings are raw; or null.
const Parameter* undeclared_of(const ToolSet& tools, std::string_view tool,
                               Strings strings);

// One argument after the cast, or nothing if the cast does not change it.
std::optional<json::Value> cast_argument(const json::Value& argument,
                                         const Parameter& parameter,
                                         Strings strings);

// Whether cast_argument() may change some string, or some list.
bool may_cast_string(const Parameter& parameter, Strings strings);
bool may_cast_list(const Parameter& parameter);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_CAST_CALLS_H_
