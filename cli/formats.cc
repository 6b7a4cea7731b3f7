// `parlance formats`: the built-in formats, and their templates.

#include <algorithm>
#include <memory>
#include <string>

#include "commands.h"
#include "io.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "setup.h"

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  parlance formats                    what there is, and for which models
  parlance formats qwen3              the response template, as JSON
  parlance formats qwen3 > mine.json  to start one of your own
  parlance formats --json             the list for programs)";

struct Arguments {
  std::string name;
  bool json = false;
  bool file = false;
  Color color = Color::kAuto;
};

Format built_in(std::string_view name) {
  return or_fail(Format::built_in(name), "formats", "");
}

std::string joined_models(std::string_view name) {
  std::string out;
  Format format = built_in(name);
  for (const std::string& model : format.models()) {
    if (!out.empty()) out += ", ";
    out += model;
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
    out += style.paint(Style::kBold, name) +
           std::string(width - name.size() + 2, ' ') + joined_models(name) +
           "\n";
  }
  put(out);
}

void list_as_json(const Style& style) {
  json::Array list;
  for (std::string_view name : Format::built_in_names()) {
    json::Array models;
    Format format = built_in(name);
    for (const std::string& model : format.models()) models.push_back(model);
    list.push_back(
        json::Value(json::Object{{"name", json::Value(name)},
                                 {"models", json::Value(std::move(models))}}));
  }
  std::string text =
      json::dump(json::Value(std::move(list)), {.ascii = false, .indent = 2});
  put(paint_json(style, text) + "\n");
}

int run_formats(const Arguments& arguments) {
  Style style(arguments.color, 1);
  if (!arguments.name.empty()) {
    Format format = built_in(arguments.name);
    std::string text =
        arguments.file ? std::string(Format::built_in_source(arguments.name))
                       : format.template_json();
    while (!text.empty() && text.back() == '\n') text.pop_back();
    put(paint_json(style, text) + "\n");
  } else if (arguments.json) {
    list_as_json(style);
  } else {
    list_as_table(style);
  }
  return kOk;
}

}  // namespace

void add_formats(CLI::App& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
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
  add_color(*command, a->color);
  command->callback([a, &run] { run = [a] { return run_formats(*a); }; });
}

}  // namespace parlance::cli
