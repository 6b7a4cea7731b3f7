#ifndef PARLANCE_CLI_CONSTRAIN_H_
#define PARLANCE_CLI_CONSTRAIN_H_

// The arguments that `accept`, `mask` and `sample` share, and what they stand
// for: a grammar, and a compiler for a vocabulary.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "style.h"

namespace parlance::cli {

struct GrammarArguments {
  std::string schema_file;
  std::optional<std::size_t> max_white_space;
  std::optional<std::uint32_t> indent;
  bool compact = false;
  bool schema_order = false;
  std::string draft;
  bool closed = false;
  bool lenient = false;
  bool no_formats = false;
  bool report = false;
  Color color = Color::kAuto;
};

// Adds --schema and the options of the grammar.
void add_grammar(CLI::App& app, GrammarArguments& arguments);

// The grammar; with --report what became of the schema is told on standard
// error.  Throws Failure.
Grammar load_grammar(const GrammarArguments& arguments);

Compiler load_compiler(const std::string& vocabulary_file);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_CONSTRAIN_H_
