// What `accept`, `mask` and `sample` are told.

#include "constrain.h"

#include <map>

#include "io.h"
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

// What is said of schemas and means nothing for the source.
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
    throw Failure(std::string(name) + " is about a JSON Schema, and " +
                  source.name + " is none");
  }
}

JsonSchemaOptions options_of(const GrammarArguments& arguments) {
  JsonSchemaOptions options;
  if (arguments.indent) {
    if (arguments.compact || arguments.max_white_space) {
      throw Failure(
          "--indent says exactly how the text is laid out; leave --compact "
          "and --max-white-space out");
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
  return options;
}

}  // namespace

void add_grammar(CLI::App& app, GrammarArguments& arguments,
                 bool needs_vocabulary) {
  GrammarArguments& a = arguments;
  add_sources(app, a.source);
  add_vocabulary(
      app, a.vocabulary,
      needs_vocabulary ? "" : "Where the grammar names tokens by their text: ")
      ->required(needs_vocabulary);
  app.add_flag("--compact", a.compact,
               "Of a schema: no white space between the parts");
  app.add_option("--indent", a.indent,
                 "Of a schema: laid out exactly as json.dumps does for this "
                 "indent")
      ->type_name("N");
  app.add_option("--max-white-space", a.max_white_space,
                 "Of a schema: at most so many bytes of white space between "
                 "two parts (64)")
      ->type_name("N");
  app.add_flag("--schema-order", a.schema_order,
               "Of a schema: declared properties in its order");
  app.add_option("--draft", a.draft,
                 "Of a schema: 4, 6, 7, 2019-09 or 2020-12; default: what "
                 "$schema says")
      ->type_name("DRAFT")
      ->check(CLI::IsMember(drafts()));
  app.add_flag("--closed", a.closed,
               "Of a schema: only properties and items that it lists");
  app.add_flag("--lenient", a.lenient,
               "Of a schema: ignore what cannot be enforced, and say so");
  app.add_flag("--no-formats", a.no_formats,
               "Of a schema: \"format\" means nothing");
  app.add_option("--spelling", a.spelling,
                 "Of a schema: how names, constants and patterns are spelled; "
                 "canonical (as json.dumps does, with the escapes that JSON "
                 "needs), any; default: canonical")
      ->type_name("HOW")
      ->check(CLI::IsMember({"canonical", "any"}));
  app.add_flag("--report", a.report,
               "Tell what of a schema is narrowed or ignored, on standard "
               "error");
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
                  " names no token that ends a text; --stop names one, or "
                  "give the model's folder, whose generation_config.json does");
  }
  return or_fail(std::move(made), source.name, source.text);
}

}  // namespace parlance::cli
