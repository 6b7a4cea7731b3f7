#ifndef PARLANCE_SRC_GRAMMAR_TAG_TO_RULES_H_
#define PARLANCE_SRC_GRAMMAR_TAG_TO_RULES_H_

// From a structural tag to rules.
//
//   tag "<t>" any_text "</t>"      sequence "<t>" (text without "</t>") "</t>"
//   triggered_tags                 text that calls a rule for each trigger:
//   what
//                                  follows the trigger in the tags it begins
//   json_schema                    a schema, or, for the styles that write
//                                  parameters, rules over schemas and texts
//                                  (to_rules.h)
//
// Here patterns, grammars and schemas inside the tag are read, and tokens that
// are given by their text are looked up.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/error.h"
#include "parlance/limits.h"
#include "recogniser/part_cache.h"
#include "rules/rules.h"
#include "structural_tag/structural_tag.h"

namespace parlance::grammar {

struct LowerOptions {
  // The lowest token with a text; nothing if there is none.  Without this
  // function a token that is given by its text is an error.
  std::function<std::optional<rules::Token>(std::string_view)> find_token = {};

  // Ids must be less.  Default: any.
  std::uint32_t vocabulary_size = 0xFFFFFFFF;

  rules::RulesLimits rules = {};
  Limits limits = {};

  // Asked before each format; lowering ends where it says true.
  std::function<bool()> cancelled = {};

  // Keeps what json_schema formats become in styles of elements.  May be null.
  recogniser::PartCache* cache = nullptr;
};

struct LoweredTag {
  rules::Rules rules;
  // The pointer of the value that rules.schemas[i] comes from.
  std::vector<std::string> schema_paths = {};
  // Whether that value is this very schema, so that pointers go on into it;
  // else it was made of the schema there, or stands in the grammar there.
  std::vector<bool> schema_in_place = {};
  // Schemas whose members come in any order only within limits, and which.
  std::vector<std::pair<std::string, std::string>> narrowed = {};
};

// The options of every SchemaExpr of a json_schema format are an object with
// the members "any_order" (boolean), "max_whitespace_cnt" (integer or null) and
// "strict_mode" (true); see schema_options.h.  A schema that no JSON text fits
// matches nothing: that is a mistake only where nothing is left of the whole.
//
// Errors, with the pointer of the format's field, and where that is a pattern
// or a grammar with a span that counts its bytes: those of the patterns,
// grammars and schemas inside; kUnknownName for a token that is not in the
// vocabulary; kUsage for one that is given by its text where there is no
// vocabulary; kConflict for an id that is too large; kUnsupported for a
// schema whose parameters cannot be written in its style; kTooLarge, also when
// cancelled.
Result<LoweredTag> lower_tag(const structural_tag::TagTree& tag,
                             const LowerOptions& options = {});

// Errors: as lower_tag(), but not those of what patterns, grammars and schemas
// are inside.
std::optional<Error> check_tokens(const structural_tag::TagTree& tag,
                                  const LowerOptions& options = {});

// The rules of the tag without what is inside patterns, grammars and schemas:
// all other markers and names are there.  Errors: as check_tokens().
Result<LoweredTag> lower_outline(const structural_tag::TagTree& tag,
                                 const LowerOptions& options = {});

// The rules of one regex, grammar or json_schema alone, as the whole tag has
// them.  REQUIRES: `id` is such a format.
Result<LoweredTag> lower_node(const structural_tag::TagTree& tag,
                              structural_tag::TagNodeId id,
                              const LowerOptions& options = {});

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_TAG_TO_RULES_H_
