#ifndef PARLANCE_SRC_SCHEMA_CAST_CALLS_H_
#define PARLANCE_SRC_SCHEMA_CAST_CALLS_H_

// Gives the arguments of tool calls the types that the tools declare.

#include <cstdint>
#include <optional>

#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/tools.h"

namespace parlance::schema {

// Strings of arguments.
enum class Strings : std::uint8_t {
  kText,   // are what was written, without a type
  kTyped,  // were written as strings: one that the schema takes stays one
};

// Looks for calls in `value`: the value itself and, through lists of lists,
// its elements.  A call is an object whose "function" has a string "name" and
// an object "arguments".  Arguments of known tools that are text, or lists of
// text where the schema takes no array, are cast; nothing else changes, and a
// value that needs no cast is not copied.
//
// Returns what upstream raises as a TypeError: a call gave a parameter whose
// schema has a union that is no list (kContentType).  Everything else is cast
// all the same.
std::optional<Error> cast_tool_calls(json::Value& value, const ToolSet& tools,
                                     Strings strings = Strings::kText);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_CAST_CALLS_H_
