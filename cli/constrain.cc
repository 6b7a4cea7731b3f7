// What `accept`, `mask` and `sample` are told.

#include "constrain.h"

#include <map>

#include "io.h"
#include "pointer.h"
#include "report.h"
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
  return options;
}

}  // namespace

void add_grammar(CLI::App& app, GrammarArguments& arguments) {
  GrammarArguments& a = arguments;
  app.add_option("-s,--schema", a.schema_file,
                 "The JSON Schema: a file, or the text itself")
      ->type_name("FILE")
      ->required();
  app.add_flag("--compact", a.compact, "No white space between the parts");
  app.add_option("--indent", a.indent,
                 "Laid out exactly as json.dumps does for this indent")
      ->type_name("N");
  app.add_option("--max-white-space", a.max_white_space,
                 "At most so many bytes of white space between two parts "
                 "(default 64)")
      ->type_name("N");
  app.add_flag("--schema-order", a.schema_order,
               "Declared properties in the order of the schema");
  app.add_option("--draft", a.draft,
                 "4, 6, 7, 2019-09 or 2020-12; default: what $schema says")
      ->type_name("DRAFT")
      ->check(CLI::IsMember(drafts()));
  app.add_flag("--closed", a.closed,
               "Only properties and items that the schema lists");
  app.add_flag("--lenient", a.lenient,
               "Ignore what cannot be enforced, and say so");
  app.add_flag("--no-formats", a.no_formats, "\"format\" means nothing");
  app.add_flag("--report", a.report,
               "Tell what is narrowed or ignored, on standard error");
  add_color(app, a.color);
}

Grammar load_grammar(const GrammarArguments& arguments) {
  const JsonSchemaOptions options = options_of(arguments);
  const bool inline_text = arguments.schema_file.starts_with('{');
  const std::string text =
      inline_text ? arguments.schema_file : read_all(arguments.schema_file);
  const std::string name =
      inline_text ? "--schema" : display_name(arguments.schema_file);
  Result<Grammar> made = Grammar::from_json_schema(text, options);
  if (!made) {
    Error error = made.error();
    if (!error.span) error.span = locate(text, error.path);
    fail_with(error, name, text);
  }
  Grammar grammar = *std::move(made);
  if (arguments.report) {
    const Style style(arguments.color, 2);
    for (const SchemaNote& note : grammar.report()) {
      const bool narrowed = note.kind == SchemaNote::Kind::kNarrowed;
      const std::string message =
          std::string(narrowed ? "narrowed" : "ignored") + " '" + note.keyword +
          "': " + note.message;
      put_error(describe(style, name, text,
                         {.severity = Severity::kWarning,
                          .message = message,
                          .path = note.path,
                          .span = locate(text, note.path)}));
    }
  }
  return grammar;
}

Compiler load_compiler(const std::string& vocabulary_file) {
  const std::string text = read_all(vocabulary_file);
  const std::string name = display_name(vocabulary_file);
  const Vocabulary vocabulary =
      or_fail(Vocabulary::from_text(text), name, text);
  return or_fail(Compiler::create(vocabulary), name, "");
}

}  // namespace parlance::cli
