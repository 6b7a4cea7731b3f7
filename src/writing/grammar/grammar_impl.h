#ifndef PARLANCE_SRC_GRAMMAR_GRAMMAR_IMPL_H_
#define PARLANCE_SRC_GRAMMAR_GRAMMAR_IMPL_H_

// The implementation of a Grammar.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/once.h"
#include "cfg_recogniser/cfg_recogniser.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/schema_options.h"
#include "recogniser/language.h"
#include "rules/marks.h"
#include "rules/rules.h"

namespace parlance::grammar {

class CaptureReaders;

// What a grammar was made from (source.h).
struct Source {
  std::function<json::Value()> write;
  std::size_t bytes = 0;  // of what `write` keeps in memory, estimated
};

struct GrammarImpl {
  // A JSON Schema of `rules`, in a form that another grammar can share.
  struct EmbeddedSchema {
    std::shared_ptr<const json::Value> schema;
    JsonSchemaOptions options = {};
    // The source of the schema, for errors and notes: the bytes of a grammar's
    // text, or the pointer of a value in a structural tag or in the request
    // that it was made from.  `in_place`: this value is the schema itself; else
    // the schema was generated from the value.
    std::optional<Span> span = std::nullopt;
    std::string path = {};
    bool in_place = true;
    // What of a request the schema is, for errors: "tools: the tool 'f'".
    std::string subject = {};
    // May be shared with other schemas.  Null: no text fits, or it is not made
    // yet.
    std::shared_ptr<recogniser::Language> language = nullptr;
  };

  std::shared_ptr<recogniser::Language> language;
  // The marks that the language reads.  Null: markers are text.
  std::shared_ptr<const rules::Marks> marks = nullptr;
  // Of the compile.  A grammar from a JSON Schema has none here: see
  // compile_notes().
  std::vector<GrammarNote> notes;
  // Grammar::report(): the notes, then those of a survey of the schemas.
  base::Once reported = {};
  std::vector<GrammarNote> report = {};

  // Null for a grammar from a JSON Schema, which has one schema and no rules.
  std::shared_ptr<const rules::Rules> rules = nullptr;
  std::vector<EmbeddedSchema> schemas = {};
  std::shared_ptr<const Source> source = nullptr;
  // Of the language, for others that are made of the rules.
  cfg_recogniser::CfgRecogniserLimits limits = {};
  std::size_t work = GrammarLimits{}.work;  // of one call of a matcher
  // capture_readers_of(), made when it is first called.
  base::Once captures_made = {};
  std::shared_ptr<CaptureReaders> captures = nullptr;
};

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_GRAMMAR_IMPL_H_
