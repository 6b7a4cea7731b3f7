#ifndef PARLANCE_CLI_CONSTRAIN_H_
#define PARLANCE_CLI_CONSTRAIN_H_

// The arguments that `accept`, `mask` and `sample` share, and what is loaded
// from them: a grammar (see source.h) and a compiler for a vocabulary.

#include <optional>
#include <string>

#include "arguments.h"
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
void add_grammar(Command& app, GrammarArguments& arguments,
                 bool needs_vocabulary);

// Loads everything that the arguments name.  With --report it writes to
// standard error what is narrowed or ignored.  Throws Failure.
struct Constraining {
  // `schema_order`: a schema is compiled as with --schema-order.
  explicit Constraining(const GrammarArguments& arguments,
                        bool schema_order = false);

  // REQUIRES: a vocabulary is given.
  Compiler compiler() const;
  // Compiles the grammar.  Throws a Failure whose message has the remedy.
  Constraint constraint(const Compiler& compiler) const;

  Source source;
  std::string vocabulary_name;
  std::optional<Vocabulary> vocabulary;
  Grammar grammar;
};

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_CONSTRAIN_H_
