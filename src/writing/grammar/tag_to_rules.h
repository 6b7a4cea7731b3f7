#ifndef PARLANCE_SRC_GRAMMAR_TAG_TO_RULES_H_
#define PARLANCE_SRC_GRAMMAR_TAG_TO_RULES_H_

// Lowers a structural tag to rules.
//
//   tag "<t>" any_text "</t>"   sequence "<t>" (text without "</t>") "</t>"
//   triggered_tags              free text with a rule for each trigger: the
//                               rest of the tags that the trigger begins
//   json_schema                 a schema or, for the styles that write
//                               parameters, rules over schemas and texts
//                               (arguments/to_rules.h)
//
// Lowering parses the patterns, grammars and schemas inside the tag, and looks
// up the tokens that are given by their text.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments/text_languages.h"
#include "arguments/to_rules.h"
#include "parlance/error.h"
#include "parlance/limits.h"
#include "recogniser/part_cache.h"
#include "rules/rules.h"
#include "structural_tag/structural_tag.h"
#include "structural_tag/tokens.h"

namespace parlance::grammar {

struct LowerOptions {
  structural_tag::TokenLookup tokens = {};

  rules::RulesLimits rules = {};
  Limits limits = {};

  // Called before each node.  Lowering fails once it returns true.
  std::function<bool()> cancelled = {};

  // Caches the rules of json_schema nodes in styles of elements.  May be null.
  recogniser::PartCache* cache = nullptr;
  // What the schemas of one compile share; may be null.
  arguments::SharedTexts* shared = nullptr;
};

struct LoweredTag {
  rules::Rules rules;
  // The pointer of the value that rules.schemas[i] comes from.
  std::vector<std::string> schema_paths = {};
  // Whether that value is rules.schemas[i] itself.  Then a pointer into the
  // schema, appended to the pointer of the value, is a pointer into the tag.
  // Else rules.schemas[i] was generated from the value, or is written inside a
  // grammar.
  std::vector<bool> schema_in_place = {};
  // What the rules leave out of the language of the tag.
  std::vector<GrammarNote> narrowed = {};
  // The arguments of each tag with a tool, in the order of the tags.
  struct Call {
    structural_tag::TagNodeId tag;
    rules::ExprId arguments;
  };
  std::vector<Call> calls = {};
  // Of lower_node(): the schema of a json_schema in a style of elements or
  // literals, for a reader of the node; null if the rules were cached.
  std::shared_ptr<const arguments::ArgumentDocument> document = {};
};

// The options of every SchemaExpr of a json_schema node are an object with the
// members "any_order" (boolean), "max_whitespace_cnt" (integer or null) and
// "strict_mode" (true); see schema_options.h.  A schema that no JSON text fits
// matches nothing, which is an error only if the whole tag matches nothing.
//
// Errors, with the pointer of the node's member and, inside a pattern or a
// grammar, a span that counts the bytes of this member: those of the patterns,
// grammars and schemas inside; those of structural_tag::resolve_tokens();
// kUnsupported for a schema whose parameters cannot be written in its style;
// kTooLarge, also if cancelled.
Result<LoweredTag> lower_tag(const structural_tag::TagTree& tag,
                             const LowerOptions& options = {});

// The rules of the tag with every pattern, grammar and schema replaced by the
// empty text.  All other markers and names are present.  Errors: those of
// lower_tag(), except the errors inside patterns, grammars and schemas.
Result<LoweredTag> lower_outline(const structural_tag::TagTree& tag,
                                 const structural_tag::TagAnalysis& analysis,
                                 const LowerOptions& options = {});

// The rules of one regex, grammar or json_schema node, the same as in the whole
// tag.  REQUIRES: `id` is such a node.
Result<LoweredTag> lower_node(const structural_tag::TagTree& tag,
                              const structural_tag::TagAnalysis& analysis,
                              structural_tag::TagNodeId id,
                              const LowerOptions& options = {});

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_TAG_TO_RULES_H_
