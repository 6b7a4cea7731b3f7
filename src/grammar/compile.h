#ifndef PARLANCE_SRC_GRAMMAR_COMPILE_H_
#define PARLANCE_SRC_GRAMMAR_COMPILE_H_

// From rules, and the schemas that stand in them, to what is inside a Grammar.
//
// The machine of a schema depends on the schema and its options alone.  So one
// machine stands for all schemas that are equal, in one grammar and, with a
// cache, in all grammars made with it.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/json_recogniser.h"
#include "grammar/machine.h"
#include "grammar/marks.h"
#include "grammar/part_cache.h"
#include "grammar/rules.h"
#include "parlance/error.h"
#include "parlance/grammar.h"

namespace parlance::grammar {

using EmbeddedSchema = Grammar::Machine::EmbeddedSchema;

// How to compile: `cache` may be null.
struct CompileOptions {
  GrammarLimits limits = {};
  PartCache* cache = nullptr;
  // Null: markers are text.
  const MarkedFor* marked = nullptr;
};

// Asked between the steps of a compile; schemas ask by themselves.
inline bool cancelled(const GrammarLimits& limits) {
  return limits.cancelled != nullptr &&
         limits.cancelled(limits.cancelled_argument);
}
Error cancelled_error();

// The bytes that say all of something; equal only for what is equal.
class KeyWriter {
 public:
  explicit KeyWriter(char kind) { key_.push_back(kind); }
  KeyWriter& number(std::uint64_t value);
  KeyWriter& text(std::string_view text);
  KeyWriter& value(const json::Value& value);
  KeyWriter& limits(const GrammarLimits& limits);
  KeyWriter& limits(const Limits& limits);
  KeyWriter& options(const JsonSchemaOptions& options);
  std::string take() { return std::move(key_); }

 private:
  std::string key_;
};

// The schemas of `rules`.  Those whose options are a number are those of
// `given`.
std::vector<EmbeddedSchema> schemas_of(
    const Rules& rules, const GrammarLimits& limits,
    const std::vector<EmbeddedSchema>& given = {});

// Errors: those of schema::load() and JsonRecogniser::create().
Result<std::shared_ptr<JsonRecogniser>> make_schema(
    const json::Value& schema, const JsonSchemaOptions& options,
    PartCache* cache);

// Makes the machines of schemas that have none; one that no text fits stays
// without.  Notes of all are added, in order.
std::optional<Error> make_schemas(std::vector<EmbeddedSchema>& schemas,
                                  const CompileOptions& options,
                                  std::vector<GrammarNote>& notes);
// What a survey of their machines adds to those notes, in order.
void survey_schemas(const std::vector<EmbeddedSchema>& schemas,
                    std::vector<GrammarNote>& notes);
// As the CfgRecogniser wants them.
std::vector<std::shared_ptr<Recogniser>> machines_of(
    const std::vector<EmbeddedSchema>& schemas);

// Why there is no text at all: kTooLarge, kUnsatisfiable; nothing if there is.
std::optional<Error> check_start(CfgRecogniser& machine);

Result<std::shared_ptr<Grammar::Machine>> make_machine(
    Rules rules, std::vector<EmbeddedSchema> schemas,
    const CompileOptions& options);

std::size_t rules_bytes(const Rules& rules);

// What a cache keeps of it.
PartCache::CacheEntry cache_entry(
    const std::shared_ptr<Grammar::Machine>& machine);

// The grammars behind the doors of parlance/grammar.h, and where they are made.
using MachineResult = Result<std::shared_ptr<Grammar::Machine>>;
// api.cc
MachineResult schema_grammar(std::string_view schema,
                             const JsonSchemaOptions& options,
                             PartCache* cache);
// rules_api.cc
MachineResult ebnf_grammar(std::string_view text, const EbnfOptions& options,
                           PartCache* cache);
MachineResult regex_grammar(std::string_view pattern,
                            const GrammarLimits& limits);
MachineResult lark_grammar(std::string_view text,
                           const LarkGrammarOptions& options, PartCache* cache);
// tag_api.cc
MachineResult tag_grammar(std::string_view text,
                          const StructuralTagGrammarOptions& options,
                          PartCache* cache, const MarkedFor* marked = nullptr);
MachineResult tag_grammar(const parlance::StructuralTag& tag,
                          const StructuralTagGrammarOptions& options,
                          PartCache* cache, const MarkedFor* marked = nullptr);

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_COMPILE_H_
