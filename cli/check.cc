// `parlance check`: what is wrong with templates, format files and response
// schemas, and what is probably not meant.

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

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  parlance check my_template.json
  parlance check --werror formats/*.json
  parlance check --format qwen3)";

struct Arguments {
  std::vector<std::string> files;
  std::vector<std::string> formats;
  bool werror = false;
  bool quiet = false;
  Color color = Color::kAuto;
};

struct Counts {
  std::size_t sources = 0;
  std::size_t errors = 0;
  std::size_t warnings = 0;
};

// Whether `text` is a format file rather than a bare template: warnings are
// placed in the template, which stands inside of it.
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

// A response schema, rather than a template or a format file.
bool is_schema(std::string_view text) {
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

std::string check(const std::string& name, std::string_view text,
                  const Style& style, Counts& counts) {
  ++counts.sources;
  if (is_schema(text)) return check_schema(name, text, style, counts);
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
  if (arguments.files.empty() && arguments.formats.empty()) {
    throw Failure("check what? a FILE, or --format NAME");
  }
  Style style(arguments.color, 1);
  Counts counts;
  for (const std::string& name : arguments.formats) {
    std::string_view text = Format::built_in_source(name);
    if (text.empty()) fail_with(Format::built_in(name).error(), "--format", "");
    put(check(name, text, style, counts));
  }
  for (const std::string& file : arguments.files) {
    std::string text = read_all(file);
    put(check(display_name(file), text, style, counts));
  }
  if (!arguments.quiet) put(summary(style, counts));
  bool bad = counts.errors > 0 || (arguments.werror && counts.warnings > 0);
  return bad ? kDamage : kOk;
}

}  // namespace

void add_check(CLI::App& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "check", "Finds what is wrong with a template, format or schema");
  command->footer(kExamples);
  command
      ->add_option("FILE", a->files,
                   "Templates or format files; - is "
                   "standard input")
      ->type_name("");
  command->add_option("-f,--format", a->formats, "Check a built-in format")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_flag("--werror", a->werror, "Warnings make the status 1 too");
  command->add_flag("-q,--quiet", a->quiet, "No summary");
  add_color(*command, a->color);
  command->callback([a, &run] { run = [a] { return run_check(*a); }; });
}

}  // namespace parlance::cli
