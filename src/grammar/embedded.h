#ifndef PARLANCE_SRC_GRAMMAR_EMBEDDED_H_
#define PARLANCE_SRC_GRAMMAR_EMBEDDED_H_

// What reads the text of one regex, grammar or json_schema of a structural tag:
// the same machine over the same rules as in the grammar of the whole tag, so
// that both agree on every byte.

#include <memory>
#include <vector>

#include "grammar/tag_to_rules.h"
#include "parlance/error.h"
#include "parlance/schema_options.h"
#include "recogniser/recogniser.h"
#include "rules/marks.h"
#include "rules/rules.h"
#include "structural_tag/structural_tag.h"

namespace parlance::grammar {

struct EmbeddedRecogniser {
  std::shared_ptr<recogniser::Recogniser> recogniser;  // null: no text fits
  // Some places read tokens by their ids, or count them.
  bool reads_tokens = false;

  // What it is made of, if it has markers or free text, which read a token that
  // is a mark in another way than other tokens; else null.
  std::shared_ptr<const rules::Rules> rules;
  std::vector<std::shared_ptr<recogniser::Recogniser>> schemas = {};
};

// Machines of schemas are those of lowering.cache, if there is one.
// Errors: as Grammar::from_structural_tag's, for this format.
// REQUIRES: `id` is a regex, grammar or json_schema.
Result<EmbeddedRecogniser> make_embedded(const structural_tag::TagTree& tag,
                                         structural_tag::TagNodeId id,
                                         const LowerOptions& lowering,
                                         const GrammarLimits& limits);

// The same text with its markers as tokens.  REQUIRES: embedded.rules.
Result<EmbeddedRecogniser> embedded_with_marks(
    const EmbeddedRecogniser& embedded,
    std::shared_ptr<const rules::Marks> marks, const GrammarLimits& limits);

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_EMBEDDED_H_
