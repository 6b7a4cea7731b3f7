// `parlance check`: errors and likely mistakes in templates, format files,
// response schemas, structural tags and grammars.

#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "io.h"
#include "parlance/format.h"
#include "parlance/response_schema.h"
#include "pointer.h"
#include "report.h"
#include "setup.h"
#include "source.h"

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  parlance check my_template.json
  parlance check --werror formats/*.json
  parlance check --format qwen3
  parlance check tools.tag.json sums.ebnf words.lark
  parlance check --schema city.json)";

struct Arguments {
  std::vector<std::string> files;
  std::vector<std::string> formats;
  std::vector<std::string> schemas;
  std::vector<std::string> tags;
  std::vector<std::string> ebnfs;
  std::vector<std::string> larks;
  std::vector<std::string> regexes;
  std::string root = "root";
  VocabularyArguments vocabulary;
  bool werror = false;
  bool quiet = false;
  Color color = Color::kAuto;
};

struct Counts {
  std::size_t sources = 0;
  std::size_t errors = 0;
  std::size_t warnings = 0;
};

// Whether `text` is a format file, not a bare template.  Pointers of warnings
// start at the template, which is inside the format file.
std::string_view template_path(std::string_view text) {
  Result<json::Value> value = json::parse(text);
  return value && value->find("response_template") != nullptr
             ? "/response_template"
             : "";
}

std::string describe_lints(const std::string& name, std::string_view text,
                           std::string_view prefix,
                           const std::vector<Lint>& lints, const Style& style,
                           Counts& counts) {
  std::string out;
  for (const Lint& lint : lints) {
    ++counts.warnings;
    std::string path = std::string(prefix) + lint.path;
    out += describe(style, name, text,
                    {.severity = Severity::kWarning,
                     .message = lint.message,
                     .path = path,
                     .span = locate(text, path)});
  }
  return out;
}

// Whether `text` is a response schema, not a template or a format file.
bool is_response_schema(std::string_view text) {
  Result<json::Value> value = json::parse(text);
  return value && ResponseSchema::is_schema(*value) &&
         value->find("response_template") == nullptr;
}

std::string check_schema(const std::string& name, std::string_view text,
                         const Style& style, Counts& counts) {
  Result<ResponseSchema> schema = ResponseSchema::from_json(text);
  if (!schema) {
    ++counts.errors;
    return describe(style, name, text, schema.error());
  }
  return describe_lints(name, text, "", schema->lint(), style, counts);
}

// Checks a structural tag or grammar with everything inside it.
std::string check_source(const Source& source, const CompileOptions& options,
                         const Style& style, Counts& counts) {
  Result<Grammar> grammar = compile(source, options);
  if (!grammar) {
    ++counts.errors;
    return describe(style, source.name, source.text, grammar.error());
  }
  std::string out;
  for (const std::string& note : describe_notes(*grammar, source, style)) {
    ++counts.warnings;
    out += note;
  }
  return out;
}

// The kind of a source that can be recognised without an option.  JSON is a
// schema only if it says so itself.
std::optional<SourceKind> source_kind(const std::string& name,
                                      std::string_view text) {
  const std::optional<SourceKind> kind = kind_of(name, text);
  if (kind != SourceKind::kSchema) return kind;
  const Result<json::Value> value = json::parse(text);
  return value && value->find("$schema") != nullptr ? kind : std::nullopt;
}

std::string check(const std::string& name, std::string_view text,
                  const CompileOptions& options, const Style& style,
                  Counts& counts) {
  ++counts.sources;
  if (const auto kind = source_kind(name, text)) {
    return check_source(make_source(name, std::string(text), *kind), options,
                        style, counts);
  }
  if (is_response_schema(text)) return check_schema(name, text, style, counts);
  Result<Format> format = Format::from_json(text);
  if (!format) {
    ++counts.errors;
    return describe(style, name, text, format.error());
  }
  return describe_lints(name, text, template_path(text), format->lint(), style,
                        counts);
}

std::string counted(std::size_t n, std::string_view what) {
  return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

std::string summary(const Style& style, const Counts& counts) {
  std::string out = counted(counts.sources, "description") + " checked: ";
  if (counts.errors == 0 && counts.warnings == 0) {
    return out + style.paint(Style::kString, "no errors, no warnings") + "\n";
  }
  std::string errors = counted(counts.errors, "error");
  std::string warnings = counted(counts.warnings, "warning");
  if (counts.errors > 0) errors = style.paint(Style::kError, errors);
  if (counts.warnings > 0) warnings = style.paint(Style::kWarning, warnings);
  return out + errors + ", " + warnings + "\n";
}

int run_check(const Arguments& arguments) {
  const std::pair<const std::vector<std::string>&, SourceKind> sources[] = {
      {arguments.schemas, SourceKind::kSchema},
      {arguments.tags, SourceKind::kTag},
      {arguments.ebnfs, SourceKind::kEbnf},
      {arguments.larks, SourceKind::kLark},
      {arguments.regexes, SourceKind::kRegex}};
  std::size_t all = arguments.files.size() + arguments.formats.size();
  for (const auto& [list, kind] : sources) all += list.size();
  if (all == 0) {
    throw Failure(
        "nothing to check: give a FILE, --format NAME, or one of --schema, "
        "--tag, --ebnf, --lark and --regex");
  }
  const std::optional<Vocabulary> vocabulary =
      load_vocabulary(arguments.vocabulary);
  CompileOptions options;
  options.root = arguments.root;
  options.vocabulary = vocabulary ? &*vocabulary : nullptr;
  options.every_token = true;
  Style style(arguments.color, 1);
  Counts counts;
  for (const std::string& name : arguments.formats) {
    std::string_view text = Format::built_in_source(name);
    if (text.empty()) fail_with(Format::built_in(name).error(), "--format", "");
    put(check(name, text, options, style, counts));
  }
  for (const std::string& file : arguments.files) {
    std::string text = read_all(file);
    put(check(display_name(file), text, options, style, counts));
  }
  for (const auto& [list, kind] : sources) {
    for (const std::string& given : list) {
      const Source source = kind == SourceKind::kRegex
                                ? Source{kind, "--regex", given}
                                : read_source(given, "the text", kind);
      ++counts.sources;
      put(check_source(source, options, style, counts));
    }
  }
  if (!arguments.quiet) put(summary(style, counts));
  bool bad = counts.errors > 0 || (arguments.werror && counts.warnings > 0);
  return bad ? kDamage : kOk;
}

}  // namespace

void add_check(CLI::App& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("check",
                         "Checks a template, format, tag or grammar for errors "
                         "and likely mistakes");
  command->footer(kExamples);
  command
      ->add_option("FILE", a->files,
                   "Templates, format files, structural tags or grammars, "
                   "recognised by file name and content; - is standard input")
      ->type_name("");
  command->add_option("-f,--format", a->formats, "Check a built-in format")
      ->type_name("NAME")
      ->allow_extra_args(false);
  const auto add = [&](const char* names, std::vector<std::string>& list,
                       const char* what) {
    command->add_option(names, list, what)
        ->type_name("FILE")
        ->allow_extra_args(false);
  };
  add("-s,--schema", a->schemas, "Check a JSON Schema, as a grammar");
  add("--tag", a->tags, "Check a structural tag");
  add("--ebnf", a->ebnfs, "Check EBNF");
  add("--lark", a->larks, "Check a Lark grammar");
  command->add_option("--regex", a->regexes, "Check a regular expression")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  command
      ->add_option("--root", a->root, "EBNF: the name of the start rule (root)")
      ->type_name("RULE");
  add_vocabulary(*command, a->vocabulary,
                 "To look up tokens that are named by their text (default: "
                 "every such name is accepted): ");
  command->add_flag("--werror", a->werror,
                    "Exit with status 1 on warnings too");
  command->add_flag("-q,--quiet", a->quiet, "No summary");
  add_color(*command, a->color);
  command->callback([a, &run] { run = [a] { return run_check(*a); }; });
}

}  // namespace parlance::cli
