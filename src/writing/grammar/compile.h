#ifndef PARLANCE_SRC_GRAMMAR_COMPILE_H_
#define PARLANCE_SRC_GRAMMAR_COMPILE_H_

// Compiles rules, and the schemas embedded in them, to the GrammarImpl of a
// Grammar.
//
// The language of a schema depends only on the schema and its options.  So
// equal schemas share one, within a grammar and, with a cache, across all
// grammars that are compiled with this cache.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/grammar_impl.h"
#include "json_recogniser/json_recogniser.h"
#include "parlance/error.h"
#include "parlance/grammar.h"
#include "recogniser/cache_key.h"
#include "recogniser/part_cache.h"
#include "rules/marks.h"
#include "rules/rules.h"

namespace parlance::grammar {

using EmbeddedSchema = GrammarImpl::EmbeddedSchema;

// How to compile: `cache` may be null.
struct CompileOptions {
  GrammarLimits limits = {};
  recogniser::PartCache* cache = nullptr;
  // Null: markers are text.
  const rules::MarkedFor* marked = nullptr;
};

// Called between the steps of a compile; the compile of a schema calls it too.
inline bool cancelled(const GrammarLimits& limits) {
  return limits.cancelled != nullptr &&
         limits.cancelled(limits.cancelled_argument);
}
Error cancelled_error();

// The schemas of `rules`.  A schema whose options are a number i is given[i].
std::vector<EmbeddedSchema> schemas_of(
    const rules::Rules& rules, const GrammarLimits& limits,
    const std::vector<EmbeddedSchema>& given = {});

// The tables of the result are JsonRecognisers.  Errors: those of
// schema::load() and JsonRecogniser::create().
Result<std::shared_ptr<recogniser::Language>> make_schema(
    const json::Value& schema, const JsonSchemaOptions& options,
    recogniser::PartCache* cache);

// Builds the language of each schema that has none, except for schemas that no
// text fits.  Adds the notes of all schemas, in order.
std::optional<Error> make_schemas(std::vector<EmbeddedSchema>& schemas,
                                  const CompileOptions& options,
                                  std::vector<GrammarNote>& notes);
// The notes of the compile.
std::vector<GrammarNote> compile_notes(const GrammarImpl& impl);
// Adds the notes that a survey of the schemas finds, in order.
void survey_schemas(const std::vector<EmbeddedSchema>& schemas,
                    std::vector<GrammarNote>& notes);
// The languages of the schemas, as CfgRecogniser takes them.
std::vector<std::shared_ptr<recogniser::Language>> languages_of(
    const std::vector<EmbeddedSchema>& schemas);

// An error if no text fits (kUnsatisfiable), or if the tables have no room
// after the beginning (kTooLarge).  `what` was compiled, for the message.
std::optional<Error> check_start(cfg_recogniser::CfgRecogniser& impl,
                                 std::string_view what);

Result<std::shared_ptr<GrammarImpl>> make_impl(
    rules::Rules rules, std::vector<EmbeddedSchema> schemas,
    const CompileOptions& options);

// The entry of a cache for a grammar.
recogniser::PartCache::CacheEntry cache_entry(
    const std::shared_ptr<GrammarImpl>& impl);

// The implementations of the functions of parlance/grammar.h, and their files.
using ImplResult = Result<std::shared_ptr<GrammarImpl>>;
// api.cc
ImplResult schema_grammar(std::string_view schema,
                          const JsonSchemaOptions& options,
                          recogniser::PartCache* cache);
// rules_api.cc
ImplResult ebnf_grammar(std::string_view text, const EbnfOptions& options,
                        recogniser::PartCache* cache);
ImplResult gbnf_grammar(std::string_view text, const GbnfOptions& options,
                        recogniser::PartCache* cache);
ImplResult regex_grammar(std::string_view pattern, const GrammarLimits& limits);
ImplResult lark_grammar(std::string_view text,
                        const LarkGrammarOptions& options,
                        recogniser::PartCache* cache);
// tag_api.cc
ImplResult tag_grammar(std::string_view text,
                       const StructuralTagGrammarOptions& options,
                       recogniser::PartCache* cache,
                       const rules::MarkedFor* marked = nullptr);
ImplResult tag_grammar(const parlance::StructuralTag& tag,
                       const StructuralTagGrammarOptions& options,
                       recogniser::PartCache* cache,
                       const rules::MarkedFor* marked = nullptr);

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_COMPILE_H_
