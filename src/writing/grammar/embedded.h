#ifndef PARLANCE_SRC_GRAMMAR_EMBEDDED_H_
#define PARLANCE_SRC_GRAMMAR_EMBEDDED_H_

// The language of one regex, grammar or json_schema node of a structural tag.
// It has the same rules as this node in the grammar of the whole tag, so that
// both agree on every byte.

#include <memory>
#include <vector>

#include "grammar/tag_to_rules.h"
#include "parlance/error.h"
#include "parlance/schema_options.h"
#include "recogniser/language.h"
#include "recogniser/part_cache.h"
#include "rules/marks.h"
#include "rules/rules.h"
#include "structural_tag/structural_tag.h"

namespace parlance::grammar {

struct EmbeddedLanguage {
  std::shared_ptr<recogniser::Language> language;  // null: no text fits
  // Whether some rule reads tokens by their ids, or counts them.
  bool reads_tokens = false;

  // The rules and schemas of the language, if it has markers or free text:
  // these read a token that is a mark differently from other tokens.  Else
  // null.
  std::shared_ptr<const rules::Rules> rules;
  std::vector<std::shared_ptr<recogniser::Language>> schemas = {};
};

// `lowered`: lower_node() of `id`.  Takes the languages of schemas from
// `cache`, if there is one.  Errors: those of Grammar::from_structural_tag, for
// this node, after it was lowered.
Result<EmbeddedLanguage> make_embedded(const structural_tag::TagTree& tag,
                                       structural_tag::TagNodeId id,
                                       const LoweredTag& lowered,
                                       recogniser::PartCache* cache,
                                       const GrammarLimits& limits);

// The same language with its markers as tokens.  REQUIRES: embedded.rules.
Result<EmbeddedLanguage> embedded_with_marks(
    const EmbeddedLanguage& embedded, std::shared_ptr<const rules::Marks> marks,
    const GrammarLimits& limits);

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_EMBEDDED_H_
