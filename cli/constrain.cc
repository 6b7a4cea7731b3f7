// The arguments of `accept`, `mask` and `sample`, see constrain.h.

#include "constrain.h"

#include <array>
#include <map>
#include <string>

#include "io.h"
#include "outline.h"
#include "setup.h"

namespace parlance::cli {
namespace {

const std::map<std::string, SchemaDraft>& drafts() {
  static const std::map<std::string, SchemaDraft> kDrafts = {
      {"4", SchemaDraft::k4},
      {"6", SchemaDraft::k6},
      {"7", SchemaDraft::k7},
      {"2019-09", SchemaDraft::k2019},
      {"2020-12", SchemaDraft::k2020}};
  return kDrafts;
}

// Refuses options for schemas if the source is not a schema.
void refuse_schema_options(const GrammarArguments& a, const Source& source) {
  const std::pair<bool, const char*> given[] = {
      {a.compact, "--compact"},
      {a.indent.has_value(), "--indent"},
      {a.max_white_space.has_value(), "--max-white-space"},
      {a.schema_order, "--schema-order"},
      {!a.draft.empty(), "--draft"},
      {a.closed, "--closed"},
      {a.lenient, "--lenient"},
      {a.no_formats, "--no-formats"},
      {!a.spelling.empty(), "--spelling"}};
  for (const auto& [set, name] : given) {
    if (!set) continue;
    throw Failure(std::string(name) + " applies to a JSON Schema, and " +
                  source.name + " is not one");
  }
}

JsonSchemaOptions options_of(const GrammarArguments& arguments) {
  JsonSchemaOptions options;
  if (arguments.indent) {
    if (arguments.compact || arguments.max_white_space) {
      throw Failure(
          "--indent fixes the layout, so it excludes --compact and "
          "--max-white-space");
    }
    options.layout.exact = true;
    options.layout.indent = arguments.indent;
  }
  if (arguments.max_white_space) {
    options.layout.max_white_space = *arguments.max_white_space;
  }
  if (arguments.compact) options.layout.max_white_space = 0;
  if (arguments.schema_order) options.key_order = KeyOrder::kSchema;
  if (!arguments.draft.empty()) options.draft = drafts().at(arguments.draft);
  options.closed = arguments.closed;
  options.lenient = arguments.lenient;
  options.assert_formats = !arguments.no_formats;
  if (arguments.spelling == "any") options.spelling = JsonSpelling::kAny;
  if (arguments.spelling == "raw") options.spelling = JsonSpelling::kRaw;
  return options;
}

}  // namespace

void add_grammar(Command& app, GrammarArguments& arguments,
                 bool needs_vocabulary) {
  GrammarArguments& a = arguments;
  add_sources(app, a.source);
  add_vocabulary(
      app, a.vocabulary,
      needs_vocabulary ? "" : "Where the grammar names tokens by their text: ")
      ->required(needs_vocabulary);
  app.add_flag("--compact", a.compact,
               "With a schema: no white space between the parts");
  app.add_option("--indent", a.indent,
                 "With a schema: the layout of json.dumps with this indent")
      ->type_name("N");
  app.add_option(
         "--max-white-space", a.max_white_space,
         "With a schema: the most bytes of white space between two parts (64)")
      ->type_name("N");
  app.add_flag("--schema-order", a.schema_order,
               "With a schema: declared properties in the order of the schema");
  app.add_option("--draft", a.draft,
                 "With a schema: its draft: 4, 6, 7, 2019-09 or 2020-12; "
                 "default: what $schema says")
      ->type_name("DRAFT")
      ->check(one_of(drafts()));
  app.add_flag(
      "--closed", a.closed,
      "With a schema: allow only properties and items that it declares");
  app.add_flag(
      "--lenient", a.lenient,
      "With a schema: ignore keywords that cannot be enforced, with a warning");
  app.add_flag("--no-formats", a.no_formats,
               "With a schema: ignore \"format\"");
  app.add_option("--spelling", a.spelling,
                 "With a schema: how names, constants and patterns are "
                 "escaped: canonical (only the escapes that JSON needs, as "
                 "json.dumps writes them) or any; raw: the text is a string "
                 "without quotes; default: canonical")
      ->type_name("HOW")
      ->check(one_of(std::array<std::string, 3>{"canonical", "any", "raw"}));
  app.add_flag("--report", a.report,
               "Report on standard error which parts of a schema are narrowed "
               "or ignored");
  add_color(app, a.color);
}

namespace {

Grammar compile_or_fail(const GrammarArguments& arguments, const Source& source,
                        const std::optional<Vocabulary>& vocabulary,
                        bool schema_order) {
  CompileOptions options;
  options.root = arguments.source.root;
  options.vocabulary = vocabulary ? &*vocabulary : nullptr;
  if (source.kind == SourceKind::kSchema) {
    options.schema = options_of(arguments);
    if (schema_order) options.schema.key_order = KeyOrder::kSchema;
  } else {
    refuse_schema_options(arguments, source);
  }
  Grammar grammar = or_fail(compile(source, options), source.name, source.text);
  if (arguments.report) {
    const Style style(arguments.color, 2);
    for (const std::string& note : describe_notes(grammar, source, style)) {
      put_error(note);
    }
  }
  return grammar;
}

}  // namespace

Constraining::Constraining(const GrammarArguments& arguments, bool schema_order)
    : source(read_source(arguments.source)),
      vocabulary_name(display_name(arguments.vocabulary.file)),
      vocabulary(load_vocabulary(arguments.vocabulary)),
      grammar(compile_or_fail(arguments, source, vocabulary, schema_order)) {}

Compiler Constraining::compiler() const {
  return or_fail(Compiler::create(*vocabulary), vocabulary_name, "");
}

Constraint Constraining::constraint(const Compiler& compiler) const {
  Result<Constraint> made = compiler.compile(grammar);
  if (!made && made.error().code == ErrorCode::kMissingStopIds) {
    throw Failure(vocabulary_name +
                  " has no stop token; give one with --stop, or give the "
                  "model's folder, whose generation_config.json names it");
  }
  return or_fail(std::move(made), source.name, source.text);
}

}  // namespace parlance::cli
