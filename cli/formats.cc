// `parlance formats`: the built-in formats, their templates, and which of them
// read a response.

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "io.h"
#include "parlance/format.h"
#include "parlance/hints.h"
#include "parlance/json.h"
#include "parlance/tools.h"
#include "setup.h"
#include "table.h"

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  parlance formats                    what there is, and for which models
  parlance formats qwen3              the response template, as JSON
  parlance formats qwen3 > mine.json  to start one of your own
  parlance formats --json             the list for programs
  parlance formats --reads out.txt    which of them read a response)";

struct Arguments {
  std::string name;
  std::string response;
  std::string tools_file;
  bool json = false;
  bool file = false;
  Color color = Color::kAuto;
};

Format built_in(std::string_view name) {
  return or_fail(Format::built_in(name), "formats", "");
}

std::string joined(std::span<const std::string> names) {
  std::string out;
  for (const std::string& name : names) {
    if (!out.empty()) out += ", ";
    out += name;
  }
  return out;
}

json::Value list_of(std::span<const std::string> names) {
  json::Array out;
  for (const std::string& name : names) out.emplace_back(name);
  return json::Value(std::move(out));
}

// "NAME  MODELS", and below it the names of variants and aliases.
std::string row(const Format& format, std::size_t width, const Style& style) {
  const std::string indent(width + 2, ' ');
  std::string out = style.paint(Style::kBold, format.name()) +
                    std::string(width - format.name().size() + 2, ' ') +
                    joined(format.models()) + "\n";
  if (!format.aliases().empty()) {
    out += indent +
           style.paint(Style::kDim, "also called " + joined(format.aliases())) +
           "\n";
  }
  for (const std::string& name : format.variants()) {
    const Format variant = built_in(name);
    out += indent + style.paint(Style::kDim, "variant ") +
           style.paint(Style::kBold, name);
    if (!variant.models().empty() &&
        !std::ranges::equal(variant.models(), format.models())) {
      out += style.paint(Style::kDim, ": " + joined(variant.models()));
    }
    if (!variant.aliases().empty()) {
      out += style.paint(Style::kDim,
                         " (also called " + joined(variant.aliases()) + ")");
    }
    out += "\n";
  }
  return out;
}

void list_as_table(const Style& style) {
  std::size_t width = 0;
  for (std::string_view name : Format::built_in_names()) {
    width = std::max(width, name.size());
  }
  std::string out;
  for (std::string_view name : Format::built_in_names()) {
    out += row(built_in(name), width, style);
  }
  put(out);
}

void list_as_json(const Style& style) {
  json::Array list;
  for (std::string_view name : Format::built_in_names()) {
    const Format format = built_in(name);
    json::Array variants;
    for (const std::string& variant_name : format.variants()) {
      const Format variant = built_in(variant_name);
      variants.emplace_back(
          json::Object{{"name", json::Value(variant_name)},
                       {"aliases", list_of(variant.aliases())},
                       {"models", list_of(variant.models())}});
    }
    list.emplace_back(
        json::Object{{"name", json::Value(name)},
                     {"aliases", list_of(format.aliases())},
                     {"models", list_of(format.models())},
                     {"variants", json::Value(std::move(variants))}});
  }
  put(paint_json(style, json_text(json::Value(std::move(list)), 2)) + "\n");
}

// The formats that read something in the response, the best first.
int rank(const Arguments& arguments, const Style& style) {
  ToolSet tools;
  const bool has_tools = !arguments.tools_file.empty();
  if (has_tools) {
    const std::string text = read_all(arguments.tools_file);
    tools = or_fail(ToolSet::from_json(text),
                    display_name(arguments.tools_file), text);
  }
  const std::string response = read_all(arguments.response);
  const std::vector<FormatReading> found =
      rank_formats(response, has_tools ? &tools : nullptr);
  std::size_t width = 0;
  for (const FormatReading& reading : found) {
    width = std::max(width, reading.name.size());
  }
  std::string out;
  json::Array list;
  for (const FormatReading& reading : found) {
    if (arguments.json) {
      list.emplace_back(json::Object{
          {"name", json::Value(reading.name)},
          {"calls", json::Value(static_cast<std::int64_t>(reading.calls))},
          {"call", json::Value(reading.call)},
          {"diagnostics",
           json::Value(static_cast<std::int64_t>(reading.diagnostics))},
          {"region_bytes",
           json::Value(static_cast<std::int64_t>(reading.region_bytes))},
          {"start",
           json::Value(static_cast<std::int64_t>(reading.bytes.begin))},
          {"end", json::Value(static_cast<std::int64_t>(reading.bytes.end))},
          {"marked", json::Value(reading.marked)}});
      continue;
    }
    out += style.paint(Style::kBold, reading.name) +
           std::string(width - reading.name.size() + 2, ' ') + "bytes " +
           range(reading.bytes) + ", " + std::to_string(reading.region_bytes) +
           " in regions";
    if (reading.calls > 0) {
      out += ", calls: " + std::to_string(reading.calls) + " (" +
             one_line(reading.call) + (reading.calls > 1 ? ", ...)" : ")");
    }
    if (reading.diagnostics > 0) {
      out += ", diagnostics: " + std::to_string(reading.diagnostics);
    }
    out += "\n";
  }
  if (arguments.json) {
    out = paint_json(style, json_text(json::Value(std::move(list)), 2)) + "\n";
  }
  put(out);
  if (!found.empty()) return kOk;
  put_error("parlance: no built-in format reads a region in " +
            display_name(arguments.response) + "\n");
  return kDamage;
}

int run_formats(const Arguments& arguments) {
  Style style(arguments.color, 1);
  if (!arguments.response.empty()) return rank(arguments, style);
  if (!arguments.name.empty()) {
    const Format format = named_format(arguments.name, "formats");
    std::string text = format.template_json();
    if (arguments.file) {
      // As it is written; a variant's is put together.
      text = Format::built_in_source(format.name());
      const bool is_family =
          std::ranges::binary_search(Format::built_in_names(), format.name());
      if (!is_family || is_format_path(arguments.name)) text = format.to_json();
    }
    while (!text.empty() && text.back() == '\n') text.pop_back();
    put(paint_json(style, safe_json(text)) + "\n");
  } else if (arguments.json) {
    list_as_json(style);
  } else {
    list_as_table(style);
  }
  return kOk;
}

}  // namespace

void add_formats(Command& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  Command* command =
      app.add_subcommand("formats", "Lists the built-in formats");
  command->footer(kExamples);
  auto* name = command
                   ->add_option("NAME", a->name,
                                "Write the response template of this format")
                   ->type_name("");
  command->add_flag("--file", a->file, "With NAME: write the whole format file")
      ->needs(name);
  command->add_flag("--json", a->json, "Write the list as JSON")
      ->excludes(name);
  auto* reads = command
                    ->add_option("--reads", a->response,
                                 "List the formats that read something in this "
                                 "response, the best first")
                    ->type_name("FILE")
                    ->excludes(name);
  command
      ->add_option("--tools", a->tools_file,
                   "With --reads: the request's tools (JSON list), whose calls "
                   "count however they are written")
      ->type_name("FILE")
      ->needs(reads);
  add_color(*command, a->color);
  command->callback([a, &run] { run = [a] { return run_formats(*a); }; });
}

}  // namespace parlance::cli
