#ifndef PARLANCE_SRC_SCHEMA_CAST_CALLS_H_
#define PARLANCE_SRC_SCHEMA_CAST_CALLS_H_

// Gives the arguments of tool calls the types that the tools declare.

#include <cstddef>
#include <cstdint>
#include <memory>
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
  // JSON of a valid value other than a string is that value; otherwise it stays
  // as it is if the string is valid, as in src/writing/arguments/reader.h.
  // Only a text that is neither is cast as far as a type of the schema allows.
  kWritten,
  // Were written as strings: not cast if the string is valid.
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

// The same for the arguments of one call of `tool`.
std::optional<Error> cast_arguments(json::Value& arguments,
                                    const ToolSet& tools, std::string_view tool,
                                    Strings strings);

// The parameters of a tool, or null if the tool is unknown or has none.  They
// live as long as a copy of `tools`.
const StringMap<Parameter>* parameters_of(const ToolSet& tools,
                                          std::string_view tool);

// The parameter called `name`, declared or not; null if there is none.  If
// their strings are raw, undeclared arguments are those that the schema
// explicitly allows or requires, and those of patternProperties, $ref and
// allOf.  Lives as long as a copy of `tools`, or as the pointer.
std::shared_ptr<const Parameter> parameter_of(const ToolSet& tools,
                                              std::string_view tool,
                                              std::string_view name,
                                              Strings strings);

// One argument after the cast, or nothing if the cast does not change it.
std::optional<json::Value> cast_argument(const json::Value& argument,
                                         const Parameter& parameter,
                                         Strings strings);

// The parameter of an element in an element (minimax_m3_xml): the member `name`
// of `parent`, or its item `index`, if the name is "item" and no member's. What
// `parent` leaves open (a list without "items") may be any value.
Parameter inner_parameter(const Parameter& parent, std::string_view name,
                          std::size_t index);

// TypeBits that the schema allows; 0 if nothing is known.
std::uint8_t types_of(const Parameter& parameter);

// The value of an element of minimax_m3_xml that has only text: an empty list
// or object, if the text is blank and no valid string; else what
// cast_argument() makes of it.
json::Value value_of_leaf(std::string_view text, const Parameter& parameter);

// Whether cast_argument() may change some string, or some list.
bool may_cast_string(const Parameter& parameter, Strings strings);
bool may_cast_list(const Parameter& parameter);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_CAST_CALLS_H_
