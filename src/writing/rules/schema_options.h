#ifndef PARLANCE_SRC_RULES_SCHEMA_OPTIONS_H_
#define PARLANCE_SRC_RULES_SCHEMA_OPTIONS_H_

// How a schema inside a grammar is to be read, as JSON: what stands in
// SchemaExpr::options and in JsonSchema("...", options="{...}") of EBNF.
//
//   any_whitespace      true: white space between the parts; false: exactly
//                       what Python's json.dumps writes.  Default: false where
//                       indent or separators are given, else true.
//   max_whitespace_cnt  of each run, null: no bound.  Default: 64.
//   indent, separators  as of json.dumps, separators [between items, after a
//                       key]; null: its default.  Not with any_whitespace.
//   strict_mode         JsonSchemaOptions::closed.  Default: false.
//   any_order           Default: true.
//   excludes            JsonSchemaOptions::excludes.  Default: [].
//   spelling            "canonical", "any", "raw".  Default: "canonical".
//   lenient, assert_formats, draft ("7"), documents ({url: schema})

#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/schema_options.h"

namespace parlance::rules {

// Null means all defaults.  Errors: kWrongType, kUnknownKey, kUnknownName,
// kInvalidValue, kConflict, with pointers into `source`.
Result<JsonSchemaOptions> read_schema_options(const json::Value& source);

// The inverse of read_schema_options(), without limits; null for all defaults.
json::Value write_schema_options(const JsonSchemaOptions& options);

}  // namespace parlance::rules

#endif  // PARLANCE_SRC_RULES_SCHEMA_OPTIONS_H_
