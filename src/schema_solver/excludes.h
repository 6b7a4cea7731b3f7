#ifndef PARLANCE_SRC_SCHEMA_SOLVER_EXCLUDES_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_EXCLUDES_H_

// Texts that must not stand inside the strings of a JSON text, names of members
// included, as the text is written:
//
//   excludes "</tool_call>"      {"s": "</tool_call"}    fits
//                                {"s": "</tool_call>"}   does not
//   excludes "\n", two bytes     {"s": "a\nb"}           does not
//
// Where texts are excluded every string is spelled canonically (JsonSpelling),
// so that a string is one text.  Then "its text holds X" is a property of the
// string, a regular one, and a schema can say that strings do not have it:
//
//   {"allOf": [SCHEMA, {"$ref": "#x"}]},
//   x: {"not": {"type": "string", "pattern": HOLDS},
//       "propertyNames": {"$ref": "#x"},
//       "additionalProperties": {"$ref": "#x"}, "items": {"$ref": "#x"}}
//
// So what a schema asks for and what is excluded meet where everything else
// about the schema is decided: a constant that holds X is not let through, an
// object that requires such a name does not exist, and nothing is begun that
// could not be finished.

#include <span>
#include <string>
#include <string_view>

#include "schema/document.h"

namespace parlance::schema_solver {

// A pattern that matches the strings whose canonical text between the quotes
// holds `text`.  "" if there is no such string.
std::string string_pattern_of(std::string_view text);

// Adds to the root of a schema that no string may hold one of `texts`.
// REQUIRES: none of them is empty.
void exclude_texts(schema::Document& document,
                   std::span<const std::string> texts);

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_EXCLUDES_H_
