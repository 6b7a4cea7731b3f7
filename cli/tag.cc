// `parlance tag`: the structural tag of a model family's tool calls, the
// canonical form of any structural tag, and the rules that one becomes.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "io.h"
#include "outline.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "pointer.h"
#include "setup.h"
#include "source.h"
#include "system.h"

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  parlance tag --format qwen3 --tools tools.json > tools.tag.json
  parlance tag --format gpt_oss --tools tools.json --tool-choice required
  parlance tag --format qwen3 --response-format schema.json --prefix "$PROMPT"
  parlance tag --format llama --tools tools.json --tool-choice get_weather --ebnf
  parlance tag my.tag.json)";

const std::map<std::string, TextWithCalls>& places_of_text() {
  static const std::map<std::string, TextWithCalls> kPlaces = {
      {"optional", TextWithCalls::kOptional},
      {"before", TextWithCalls::kBefore},
      {"between", TextWithCalls::kBetween}};
  return kPlaces;
}

const std::map<std::string, ReasoningMode>& reasoning_modes() {
  static const std::map<std::string, ReasoningMode> kModes = {
      {"required", ReasoningMode::kRequired},
      {"allowed", ReasoningMode::kAllowed},
      {"off", ReasoningMode::kNone},
      {"none", ReasoningMode::kNone}};
  return kModes;
}

struct Arguments {
  std::string file;
  std::string format;
  std::string response_format_file;
  std::string prefix;
  std::string tools_file;
  std::string tool_choice = "auto";
  bool no_parallel = false;
  std::string text_with_calls = "optional";
  std::string reasoning = "allowed";
  bool any_order = false;
  std::optional<std::uint32_t> max_white_space;
  bool ebnf = false;
  bool pretty = false;
  bool compact = false;
  VocabularyArguments vocabulary;
  Color color = Color::kAuto;
};

// A mode, a function's name, or JSON.
json::Value tool_choice_of(const std::string& text) {
  if (text == "auto" || text == "none" || text == "required") {
    return json::Value(text);
  }
  if (text.starts_with('{')) {
    return or_fail(json::parse(text), "--tool-choice", text);
  }
  json::Object function{{"name", json::Value(text)}};
  return json::Value(
      json::Object{{"type", json::Value("function")},
                   {"function", json::Value(std::move(function))}});
}

// The files of a request.
struct RequestTexts {
  std::string tools = "[]";
  std::string response_format = {};
};

// Reports an error about a request at the option or file that caused it.
[[noreturn]] void fail_by_option(Error error, const Arguments& arguments,
                                 const RequestTexts& texts) {
  const std::string path = error.path;
  const auto fail_in_file = [&](const std::string& part,
                                const std::string& file,
                                const std::string& text) {
    if (!path.starts_with(part + "/")) return;
    error.path = path.substr(part.size());
    error.span = locate(text, error.path);
    fail_with(error, display_name(file), text);
  };
  fail_in_file("/tools", arguments.tools_file, texts.tools);
  fail_in_file("/response_format", arguments.response_format_file,
               texts.response_format);
  // A place in the format's own file.
  for (const char* part : {"/parlance", "/response_template", "/fields"}) {
    if (!path.starts_with(part) || !is_format_path(arguments.format)) continue;
    const std::string text = read_all(arguments.format);
    error.span = locate(text, path);
    fail_with(error, display_name(arguments.format), text);
  }
  std::string option = "--" + path.substr(1, path.find('/', 1) - 1);
  for (char& c : option) {
    if (c == '_') c = '-';
  }
  fail_with(error, path.empty() ? "--format" : option, "");
}

// The tag of a format: what its file says of how it is written.
StructuralTag family_tag(const Arguments& arguments, RequestTexts& texts) {
  StructuralTagOptions options;
  if (!arguments.tools_file.empty()) {
    texts.tools = read_all(arguments.tools_file);
  }
  options.tools = or_fail(json::parse(texts.tools, {.exact_floats = true}),
                          display_name(arguments.tools_file), texts.tools);
  options.tool_choice = tool_choice_of(arguments.tool_choice);
  options.parallel_tool_calls = !arguments.no_parallel;
  options.text_with_calls = places_of_text().at(arguments.text_with_calls);
  options.reasoning = reasoning_modes().at(arguments.reasoning);
  options.any_order = arguments.any_order;
  options.max_white_space = arguments.max_white_space;
  options.prefix = arguments.prefix;
  if (!arguments.response_format_file.empty()) {
    texts.response_format = read_all(arguments.response_format_file);
    options.response_format = or_fail(
        json::parse(texts.response_format, {.exact_floats = true}),
        display_name(arguments.response_format_file), texts.response_format);
  }
  const Format format = named_format(arguments.format, "--format");
  Result<StructuralTag> tag = format.structural_tag(options);
  if (!tag) fail_by_option(tag.error(), arguments, texts);
  return *std::move(tag);
}

int run_tag(const Arguments& arguments) {
  const bool made = !arguments.format.empty();
  if (!made && arguments.file.empty()) {
    throw Failure(
        "no structural tag given: use --format NAME (see 'parlance formats') "
        "or a FILE");
  }
  Source source{SourceKind::kTag, "the tag", ""};
  if (!made) source = read_source(arguments.file, "FILE", SourceKind::kTag);
  RequestTexts texts;
  const StructuralTag tag = [&] {
    if (made) return family_tag(arguments, texts);
    return or_fail(StructuralTag::from_json(source.text), source.name,
                   source.text);
  }();
  if (arguments.ebnf) {
    const std::optional<Vocabulary> vocabulary =
        load_vocabulary(arguments.vocabulary);
    CompileOptions options;
    options.vocabulary = vocabulary ? &*vocabulary : nullptr;
    const Result<Grammar> grammar =
        made ? compile(tag, options) : compile(source, options);
    if (!grammar && made) fail_by_option(grammar.error(), arguments, texts);
    put_bytes(or_fail(grammar, source.name, source.text).to_ebnf());
    return kOk;
  }
  const bool pretty =
      arguments.pretty || (!arguments.compact && is_terminal(1));
  const std::string text =
      json_text(tag.to_json(), pretty ? 2 : 0, arguments.compact);
  put(paint_json(Style(arguments.color, 1), text) + "\n");
  return kOk;
}

// The options that only a request has, besides those that need --format.
std::vector<Option*> add_request(Command& command, Arguments& a) {
  Option* tools =
      command
          .add_option("--tools", a.tools_file,
                      "The request's tools, a JSON list; default: none")
          ->type_name("FILE");
  Option* choice =
      command
          .add_option(
              "--tool-choice", a.tool_choice,
              "auto, none, required, a function's name, or the request's "
              "JSON (auto)")
          ->type_name("CHOICE");
  Option* no_parallel =
      command.add_flag("--no-parallel", a.no_parallel, "At most one call");
  Option* text_with_calls =
      command
          .add_option("--text-with-calls", a.text_with_calls,
                      "Where text may stand beside calls: optional, before "
                      "or between (optional)")
          ->type_name("WHERE")
          ->check(one_of(places_of_text()));
  Option* reasoning = command
                          .add_option("--reasoning", a.reasoning,
                                      "required, allowed or off (allowed)")
                          ->type_name("MODE")
                          ->check(one_of(reasoning_modes()));
  Option* any_order = command.add_flag(
      "--any-order", a.any_order, "Allow members of arguments in any order");
  Option* white_space =
      command
          .add_option(
              "--max-white-space", a.max_white_space,
              "The most characters of white space between two parts of JSON")
          ->type_name("N")
          ->check(one_or_more());
  return {tools,     choice,    no_parallel, text_with_calls,
          reasoning, any_order, white_space};
}

}  // namespace

void add_tag(Command& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  Command* command = app.add_subcommand(
      "tag", "Writes the structural tag for tools, or the one in a file");
  command->footer(kExamples);
  auto* file = command->add_option(
      "FILE", a->file, "A structural tag, to be written in canonical form");
  file->type_name("");
  auto* format =
      command
          ->add_option("-f,--format,--style", a->format,
                       "The model family, see 'parlance formats', or a format "
                       "file; --style is another name of --format")
          ->type_name("NAME")
          ->excludes(file);
  command
      ->add_option("--response-format", a->response_format_file,
                   "The schema of the answer, or the request's response_format")
      ->type_name("FILE")
      ->needs(format);
  command
      ->add_option("--prefix", a->prefix,
                   "The prompt; the tag begins where it ends")
      ->type_name("TEXT")
      ->needs(format);
  const std::vector<Option*> request = add_request(*command, *a);
  auto* ebnf = command->add_flag(
      "--ebnf", a->ebnf, "Write the rules that the tag becomes, as EBNF");
  add_vocabulary(*command, a->vocabulary,
                 "With --ebnf, for tokens that are named by their text: ")
      ->needs(ebnf);
  auto* pretty = command->add_flag("--pretty", a->pretty,
                                   "Indent (default on a terminal)");
  command->add_flag("--compact", a->compact, "One line without spaces")
      ->excludes(pretty);
  add_color(*command, a->color);
  command->callback([a, request, &run] {
    if (a->format.empty()) {
      for (const Option* option : request) {
        if (option->count() == 0) continue;
        throw BadArguments{option->name() + " requires --format"};
      }
    }
    run = [a] { return run_tag(*a); };
  });
}

}  // namespace parlance::cli
