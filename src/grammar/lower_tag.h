#ifndef PARLANCE_SRC_GRAMMAR_LOWER_TAG_H_
#define PARLANCE_SRC_GRAMMAR_LOWER_TAG_H_

// From a structural tag to rules.
//
//   tag "<t>" any_text "</t>"      sequence "<t>" (text without "</t>") "</t>"
//   triggered_tags                 text that calls a rule for each trigger:
//   what
//                                  follows the trigger in the tags it begins
//   json_schema                    a schema, or, for the styles that write
//                                  parameters, rules over schemas and texts
//                                  (lower_arguments.h)
//
// Here patterns, grammars and schemas inside the tag are read, and tokens that
// are given by their text are looked up.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/rules.h"
#include "grammar/structural_tag.h"
#include "parlance/error.h"
#include "parlance/limits.h"

namespace parlance::grammar {

struct LowerOptions {
  // The lowest token with a text; nothing if there is none.  Without this
  // function a token that is given by its text is an error.
  std::function<std::optional<Token>(std::string_view)> find_token = {};

  // Ids must be less.  Default: any.
  std::uint32_t vocabulary_size = 0xFFFFFFFF;

  RulesLimits rules = {};
  Limits limits = {};
};

struct LoweredTag {
  Rules rules;
  // Where the schema of rules.schemas[i] stands in the definition.
  std::vector<std::string> schema_paths;
};

// The options of every SchemaExpr made here are an object with the members
// "any_order" (boolean), "max_whitespace_cnt" (integer or null) and
// "strict_mode" (true), as the JSON-Schema front end names them.  A schema that
// no JSON text fits matches nothing: that is a mistake only where nothing is
// left of the whole.
//
// Errors, with the pointer of the format's field: those of the patterns,
// grammars and schemas inside; kUnknownName for a token that is not in the
// vocabulary; kUsage for one that is given by its text where there is no
// vocabulary; kConflict for an id that is too large; kUnsupported for a
// schema whose parameters cannot be written in its style; kTooLarge.
Result<LoweredTag> lower_tag(const StructuralTag& tag,
                             const LowerOptions& options = {});

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_LOWER_TAG_H_
