// `parlance check`: errors and likely mistakes in templates, format files,
// response schemas, structural tags and grammars.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "io.h"
#include "parlance/detect.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_schema.h"
#include "parlance/verify_format.h"
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
  parlance check --walk 1000 my_format.json
  parlance check tools.tag.json sums.ebnf words.lark
  parlance check --schema city.json)";

struct Arguments {
  std::vector<std::string> files;
  std::vector<std::string> formats;
  std::vector<std::string> schemas;
  std::vector<std::string> tags;
  std::vector<std::string> ebnfs;
  std::vector<std::string> gbnfs;
  std::vector<std::string> larks;
  std::vector<std::string> regexes;
  std::string root;
  VocabularyArguments vocabulary;
  std::string tools;
  std::uint64_t walks = 0;
  std::optional<std::uint32_t> seed;
  bool werror = false;
  bool quiet = false;
  Color color = Color::kAuto;
};

// What a description was read as.
enum class Kind {
  kFormatFile,
  kTemplate,
  kResponseSchema,
  kJsonSchema,
  kTag,
  kEbnf,
  kGbnf,
  kLark,
  kRegex,
};

// ORDER: Kind
constexpr std::array<std::string_view, 9> kKindNames = {
    "format file",  "response template", "response schema",
    "JSON Schema",  "structural tag",    "EBNF grammar",
    "GBNF grammar", "Lark grammar",      "regular expression"};

Kind kind_of_source(SourceKind kind) {
  switch (kind) {
    case SourceKind::kSchema:
      return Kind::kJsonSchema;
    case SourceKind::kTag:
      return Kind::kTag;
    case SourceKind::kEbnf:
      return Kind::kEbnf;
    case SourceKind::kGbnf:
      return Kind::kGbnf;
    case SourceKind::kLark:
      return Kind::kLark;
    case SourceKind::kRegex:
      return Kind::kRegex;
  }
  return Kind::kJsonSchema;
}

struct Counts {
  std::array<std::size_t, kKindNames.size()> kinds = {};
  std::size_t sources = 0;
  std::size_t errors = 0;
  std::size_t warnings = 0;

  void add(Kind kind) {
    ++sources;
    ++kinds[static_cast<std::size_t>(kind)];
  }
};

std::string describe_lints(const std::string& name, std::string_view text,
                           const std::vector<Lint>& lints, const Style& style,
                           Counts& counts) {
  std::string out;
  for (const Lint& lint : lints) {
    ++counts.warnings;
    out += describe(style, name, text,
                    {.severity = Severity::kWarning,
                     .message = lint.message,
                     .code = to_string(lint.code),
                     .path = lint.path,
                     .span = locate(text, lint.path)});
  }
  return out;
}

// Whether a key anywhere in a response schema says how text is read.  The
// recursion depth is at most that of JSON texts.
bool reads_text(const json::Value& value) {
  for (const json::Member& member : value.members()) {
    if (member.key.starts_with("x-") || reads_text(member.value)) return true;
  }
  return std::any_of(value.items().begin(), value.items().end(), reads_text);
}

std::string check_schema(const std::string& name, std::string_view text,
                         const Style& style, Counts& counts) {
  Result<ResponseSchema> schema = ResponseSchema::from_json(text);
  if (!schema) {
    ++counts.errors;
    return describe(style, name, text, schema.error());
  }
  return describe_lints(name, text, schema->lint(), style, counts);
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

// The warnings about a format, and those about its variants that are not about
// the format as well.
std::vector<Lint> lints_of(const Format& format, std::string_view text) {
  std::vector<Lint> out = format.lint();
  const std::size_t common = out.size();
  for (const std::string& name : format.variants()) {
    FormatOptions options;
    options.variant = name;
    const Result<Format> variant = Format::from_json(text, options);
    if (!variant) continue;  // the file would not have loaded
    for (Lint& lint : variant->lint()) {
      const auto same = [&](const Lint& other) {
        return other.path == lint.path && other.message == lint.message;
      };
      if (std::any_of(out.begin(), out.begin() + common, same)) continue;
      lint.message = "in variant '" + name + "': " + lint.message;
      out.push_back(std::move(lint));
    }
  }
  return out;
}

// How descriptions are tried.
struct Checking {
  CompileOptions compile;
  VerifyFormatOptions verify;
  // The file of verify.tools.
  std::string tools_name;
  std::string tools_text;
};

// What a format, or a variant of it, writes and does not read.  What "write"
// says is an error; a template without "write" only reads.
std::string describe_findings(const std::string& name, std::string_view text,
                              const json::Value& file, const Format& format,
                              const Checking& options, const Style& style,
                              Counts& counts) {
  std::vector<Error> errors;
  const auto add = [&](const Format& one, const std::string& where) {
    // What only reads has a lint that says so.
    if (std::ranges::any_of(one.lint(), [](const Lint& lint) {
          return lint.code == LintCode::kNotInvertible;
        })) {
      return;
    }
    for (const FormatFinding& finding : verify_format(one, options.verify)) {
      const bool known =
          std::any_of(errors.begin(), errors.end(), [&](const Error& other) {
            return other.path == finding.error.path &&
                   other.message == finding.error.message;
          });
      if (known) continue;
      errors.push_back(finding.error);
      errors.back().message = where + errors.back().message;
    }
  };
  add(format, "");
  for (const std::string& variant : format.variants()) {
    const Result<Format> loaded =
        Format::from_json(text, {.limits = {}, .variant = variant});
    if (loaded) add(*loaded, "in variant '" + variant + "': ");
  }
  const json::Value* extension = file.find("parlance");
  const bool claimed =
      extension != nullptr && extension->find("write") != nullptr;
  std::string out;
  for (const Error& error : errors) {
    const bool of_tools =
        !options.tools_name.empty() && error.path.starts_with("/tools");
    const bool is_error = claimed || of_tools;
    ++(is_error ? counts.errors : counts.warnings);
    const std::string path =
        of_tools ? error.path.substr(std::string_view("/tools").size())
                 : error.path;
    const std::string_view source = of_tools ? options.tools_text : text;
    out +=
        describe(style, of_tools ? options.tools_name : name, source,
                 {.severity = is_error ? Severity::kError : Severity::kWarning,
                  .message = error.message,
                  .code = to_string(error.code),
                  .path = path,
                  .span = locate(source, path)});
  }
  return out;
}

// Whether an object is a format file, perhaps with a misspelled key: it has a
// key that only format files have.
bool is_format_file(const json::Value& value) {
  if (value.find("response_template") != nullptr) return true;
  if (value.find("fields") != nullptr) return false;
  for (const char* key :
       {"name", "aliases", "models", "sources", "detect", "parlance"}) {
    if (value.find(key) != nullptr) return true;
  }
  const json::Value* schema = value.find("$schema");
  return schema != nullptr && schema->is_string() &&
         schema->as_string().ends_with("format.schema.json");
}

// What a text is.  JSON is a JSON Schema only if it says so itself, and a
// response schema if it is nothing else.
Kind recognise(const std::string& name, std::string_view text,
               const json::Value* value) {
  if (value != nullptr && value->is_object() && is_format_file(*value)) {
    return Kind::kFormatFile;
  }
  const std::optional<SourceKind> kind = kind_of(name, text);
  if (kind && *kind != SourceKind::kSchema) return kind_of_source(*kind);
  if (value == nullptr) return Kind::kTemplate;
  // A template with the key that editors read is still a template.
  if (kind && value->find("$schema") != nullptr &&
      value->find("fields") == nullptr) {
    return Kind::kJsonSchema;
  }
  return ResponseSchema::is_schema(*value) ? Kind::kResponseSchema
                                           : Kind::kTemplate;
}

// A response schema that reads nothing is probably something else.
std::string describe_guess(const std::string& name, std::string_view text,
                           const json::Value& value, const Style& style,
                           Counts& counts) {
  for (const char* key : {"type", "properties", "items", "$ref", "$defs",
                          "enum", "const", "anyOf", "oneOf", "allOf"}) {
    if (value.find(key) == nullptr) continue;
    ++counts.warnings;
    return describe(
        style, name, text,
        {.severity = Severity::kWarning,
         .message = "this was taken for a response schema, but none of its "
                    "keys reads text (x-regex, x-parser, ...), so every "
                    "response gives the same message.  A JSON Schema is "
                    "checked with --schema, or if it has a \"$schema\".",
         .code = to_string(LintCode::kKindGuessed),
         .span = locate(text, "")});
  }
  ++counts.errors;
  return describe(
      style, name, text,
      {.severity = Severity::kError,
       .message = "nothing here says what this describes.  A response template "
                  "has \"fields\", a format file \"response_template\", a "
                  "response schema keys such as \"x-regex\", a JSON Schema "
                  "\"$schema\", a structural tag \"type\": "
                  "\"structural_tag\".",
       .code = to_string(ErrorCode::kMissingKey),
       .span = locate(text, "")});
}

SourceKind source_kind_of(Kind kind) {
  switch (kind) {
    case Kind::kTag:
      return SourceKind::kTag;
    case Kind::kEbnf:
      return SourceKind::kEbnf;
    case Kind::kGbnf:
      return SourceKind::kGbnf;
    case Kind::kLark:
      return SourceKind::kLark;
    case Kind::kRegex:
      return SourceKind::kRegex;
    default:
      return SourceKind::kSchema;
  }
}

std::string check(const std::string& name, std::string_view text,
                  const Checking& options, const Style& style, Counts& counts);

// Checks what a tokenizer's configuration says of responses: its template and
// its schema, or the built-in format that fits it.  Nothing for other texts.
std::optional<std::string> check_configuration(const std::string& name,
                                               std::string_view text,
                                               const Checking& options,
                                               const Style& style,
                                               Counts& counts) {
  using SpecKind = ResponseSpec::Kind;
  const Result<ResponseSpec> spec = response_spec(text);
  if (!spec) {
    ++counts.sources;
    ++counts.errors;
    return describe(style, name, text, spec.error());
  }
  switch (spec->kind) {
    case SpecKind::kGiven:
      return std::nullopt;
    case SpecKind::kFormat:
      return check(spec->text, Format::built_in_source(spec->text), options,
                   style, counts);
    case SpecKind::kTemplate:
    case SpecKind::kSchema:
      break;
  }
  std::string out;
  if (spec->kind == SpecKind::kTemplate) {
    out += check("response_template of " + name, spec->text, options, style,
                 counts);
  }
  const Result<ResponseSpec> schema = response_spec(text, true);
  if (schema && schema->kind == SpecKind::kSchema) {
    out += check("response_schema of " + name, schema->text, options, style,
                 counts);
  }
  return out;
}

std::string check(const std::string& name, std::string_view text,
                  const Checking& options, const Style& style, Counts& counts) {
  if (auto out = check_configuration(name, text, options, style, counts)) {
    return *std::move(out);
  }
  const Result<json::Value> value = json::parse(text);
  const Kind kind = recognise(name, text, value ? &*value : nullptr);
  counts.add(kind);
  switch (kind) {
    case Kind::kFormatFile:
    case Kind::kTemplate: {
      Result<Format> format = Format::from_json(text);
      if (!format) {
        ++counts.errors;
        return describe(style, name, text, format.error());
      }
      return describe_lints(name, text, lints_of(*format, text), style,
                            counts) +
             describe_findings(name, text, *value, *format, options, style,
                               counts);
    }
    case Kind::kResponseSchema:
      if (!reads_text(*value)) {
        return describe_guess(name, text, *value, style, counts);
      }
      return check_schema(name, text, style, counts);
    default:
      return check_source(
          make_source(name, std::string(text), source_kind_of(kind)),
          options.compile, style, counts);
  }
}

std::string counted(std::size_t n, std::string_view what) {
  return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

std::string summary(const Style& style, const Counts& counts) {
  // "11 descriptions checked (10 format files, 1 structural tag): "
  std::string kinds;
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (counts.kinds[i] == 0) continue;
    if (!kinds.empty()) kinds += ", ";
    kinds += counts.sources == 1 ? std::string(kKindNames[i])
                                 : counted(counts.kinds[i], kKindNames[i]);
  }
  std::string out =
      counted(counts.sources, "description") + " checked (" + kinds + "): ";
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
      {arguments.gbnfs, SourceKind::kGbnf},
      {arguments.larks, SourceKind::kLark},
      {arguments.regexes, SourceKind::kRegex}};
  std::size_t all = arguments.files.size() + arguments.formats.size();
  for (const auto& [list, kind] : sources) all += list.size();
  if (all == 0) {
    throw Failure(
        "nothing to check: give a FILE, --format NAME, or one of --schema, "
        "--tag, --ebnf, --gbnf, --lark and --regex");
  }
  const std::optional<Vocabulary> vocabulary =
      load_vocabulary(arguments.vocabulary);
  Checking options;
  options.compile.root = arguments.root;
  options.compile.vocabulary = vocabulary ? &*vocabulary : nullptr;
  options.compile.every_token = true;
  options.verify.vocabulary = options.compile.vocabulary;
  options.verify.walks = static_cast<std::size_t>(arguments.walks);
  options.verify.seed = arguments.seed.value_or(0);
  if (!arguments.tools.empty()) {
    options.tools_name = display_name(arguments.tools);
    options.tools_text = read_all(arguments.tools);
    options.verify.tools = or_fail(json::parse(options.tools_text),
                                   options.tools_name, options.tools_text);
  }
  Style style(arguments.color, 1);
  Counts counts;
  for (const std::string& name : arguments.formats) {
    if (is_format_path(name)) {
      const std::string text = read_all(name);
      put(check(display_name(name), text, options, style, counts));
      continue;
    }
    const Format format = named_format(name, "--format");
    // As it is written; a variant's is put together.
    const bool is_family =
        std::ranges::binary_search(Format::built_in_names(), format.name());
    const std::string text =
        is_family ? std::string(Format::built_in_source(format.name()))
                  : format.to_json();
    put(check(std::string(format.name()), text, options, style, counts));
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
      counts.add(kind_of_source(kind));
      put(check_source(source, options.compile, style, counts));
    }
  }
  if (!arguments.quiet) put(summary(style, counts));
  bool bad = counts.errors > 0 || (arguments.werror && counts.warnings > 0);
  return bad ? kDamage : kOk;
}

}  // namespace

void add_check(Command& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  Command* command =
      app.add_subcommand("check",
                         "Checks a template, format, tag or grammar for errors "
                         "and likely mistakes");
  command->footer(kExamples);
  command
      ->add_option("FILE", a->files,
                   "Templates, format files, structural tags or grammars, "
                   "recognised by file name and content; - is standard input")
      ->type_name("");
  command
      ->add_option("-f,--format", a->formats,
                   "Check a built-in format, or a format file")
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
  add("--gbnf", a->gbnfs, "Check GBNF");
  add("--lark", a->larks, "Check a Lark grammar");
  command->add_option("--regex", a->regexes, "Check a regular expression")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--root", a->root,
          "EBNF, GBNF, Lark: the name of the start rule (root; in Lark "
          "start)")
      ->type_name("RULE");
  add_vocabulary(*command, a->vocabulary,
                 "To look up tokens that are named by their text (default: "
                 "every such name is accepted): ");
  command
      ->add_option("--walk", a->walks,
                   "Of a template or format file: also write this many random "
                   "responses, and read them cut anywhere, rendered, damaged")
      ->type_name("N");
  command->add_option("--seed", a->seed, "The seed of the first of them (0)")
      ->type_name("N");
  command
      ->add_option("--tools", a->tools,
                   "The tools that are called, a JSON list; default: a sample")
      ->type_name("FILE");
  command->add_flag("--werror", a->werror,
                    "Exit with status 1 on warnings too");
  command->add_flag("-q,--quiet", a->quiet, "No summary");
  add_color(*command, a->color);
  command->callback([a, &run] { run = [a] { return run_check(*a); }; });
}

}  // namespace parlance::cli
