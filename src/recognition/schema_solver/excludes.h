#ifndef PARLANCE_SRC_SCHEMA_SOLVER_EXCLUDES_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_EXCLUDES_H_

// Texts that must not occur inside the strings of a JSON text, keys included,
// as the text is written:
//
//   excludes "</tool_call>"      {"s": "</tool_call"}    fits
//                                {"s": "</tool_call>"}   does not
//   excludes "\n", two bytes     {"s": "a\nb"}           does not
//
// If texts are excluded, every string has one spelling, the canonical one
// (JsonSpelling).  Then "the spelling contains X" is a regular property of the
// string, and a schema can require that no string has the property:
//
//   {"allOf": [SCHEMA, {"$ref": "#x"}]},
//   x: {"not": {"type": "string", "pattern": HOLDS},
//       "propertyNames": {"$ref": "#x"},
//       "additionalProperties": {"$ref": "#x"}, "items": {"$ref": "#x"}}
//
// So the solver decides exclusions together with the rest of the schema: a
// constant that contains X is not allowed, an object that requires such a key
// is not satisfiable, and a recogniser begins nothing that it cannot finish.

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "regex/pattern.h"
#include "schema/document.h"

namespace parlance::schema_solver {

// A pattern that matches the strings whose canonical text between the quotes
// contains `text`.  "" if there is no such string.
std::string string_pattern_of(std::string_view text);

// The pattern of the strings whose canonical text contains one of `texts`, or
// which contain one themselves if they are `raw`; null if there is no such
// string.  REQUIRES: none of them is empty.
using SharedPattern = std::shared_ptr<const regex::Pattern>;
SharedPattern excluded_strings(std::span<const std::string> texts,
                               bool raw = false);

// Whether some text of the schema may contain a string.  May be true although
// none does.
bool may_have_strings(const schema::Document& document);

// Adds to the root of a schema that no string may match `pattern`, which may be
// null.
void exclude_strings(schema::Document& document, SharedPattern pattern);

// The same for texts.  REQUIRES: none of them is empty.
void exclude_texts(schema::Document& document,
                   std::span<const std::string> texts);

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_EXCLUDES_H_
