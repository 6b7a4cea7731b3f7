#ifndef PARLANCE_CLI_CONSTRAIN_H_
#define PARLANCE_CLI_CONSTRAIN_H_

// The arguments that `accept`, `mask` and `sample` share, and what they stand
// for: a grammar, and a compiler for a vocabulary.  Which grammar, see
// source.h.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "parlance/vocabulary.h"
#include "source.h"
#include "style.h"
#include "vocabulary.h"

namespace parlance::cli {

struct GrammarArguments {
  SourceArguments source;
  VocabularyArguments vocabulary;
  std::optional<std::size_t> max_white_space;
  std::optional<std::uint32_t> indent;
  bool compact = false;
  bool schema_order = false;
  std::string draft;
  bool closed = false;
  bool lenient = false;
  bool no_formats = false;
  std::string spelling;
  bool report = false;
  Color color = Color::kAuto;
};

// Adds the sources, --vocabulary, and the options of a JSON Schema.
void add_grammar(CLI::App& app, GrammarArguments& arguments,
                 bool needs_vocabulary);

// Everything that the arguments stand for, loaded.  With --report what became
// of the schemas is told on standard error.  Throws Failure.
struct Constraining {
  // `schema_order`: as with --schema-order, if there is a schema.
  explicit Constraining(const GrammarArguments& arguments,
                        bool schema_order = false);

  // REQUIRES: there is a vocabulary.
  Compiler compiler() const;
  // The grammar for that compiler; fails saying what to do.
  Constraint constraint(const Compiler& compiler) const;

  Source source;
  std::string vocabulary_name;
  std::optional<Vocabulary> vocabulary;
  Grammar grammar;
};

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_CONSTRAIN_H_
