// `parlance render`: a message as a model family writes it.

#include <memory>
#include <string>

#include "commands.h"
#include "io.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/tools.h"
#include "pointer.h"
#include "setup.h"

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  parlance render -f qwen3 message.json
  parlance parse -f qwen3 reply.txt | parlance render -f gpt_oss
  parlance render -t mine.json --tools tools.json message.json

The message is JSON as `parlance parse` prints it or as the chat completions API
has it. Parsing the text gives the message back; a message for which that is not
so is refused (--no-verify writes it nevertheless).)";

struct Arguments {
  std::string file = "-";
  std::string format;
  std::string template_file;
  std::string tools_file;
  std::string prefix;
  bool no_verify = false;
  Color color = Color::kAuto;
};

int run_render(const Arguments& arguments) {
  const Format format = [&] {
    if (!arguments.format.empty()) {
      return named_format(arguments.format, "--format");
    }
    return format_of_file(arguments.template_file);
  }();
  ToolSet tools;
  if (!arguments.tools_file.empty()) {
    const std::string text = read_all(arguments.tools_file);
    tools = or_fail(ToolSet::from_json(text),
                    display_name(arguments.tools_file), text);
  }
  const std::string text = read_all(arguments.file);
  const std::string name = display_name(arguments.file);
  const json::Value message = or_fail(json::parse(text), name, text);
  Result<std::string> out =
      format.render(message, {.tools = &tools,
                              .prefix = arguments.prefix,
                              .verify = !arguments.no_verify});
  if (!out) {
    Error error = std::move(out).error();
    if (!error.span && !error.path.empty()) {
      error.span = locate(text, error.path);
    }
    fail_with(error, name, text);
  }
  put_bytes(*out);
  return kOk;
}

}  // namespace

void add_render(Command& app, Run& run) {
  auto a = std::make_shared<Arguments>();
  Command* command = app.add_subcommand(
      "render", "Writes a message as a model family writes it");
  command->footer(kExamples);
  command->add_option("FILE", a->file, "The message, JSON; - is standard input")
      ->type_name("");
  Option* format =
      command->add_option("-f,--format", a->format, "A built-in format")
          ->type_name("NAME");
  Option* file = command
                     ->add_option("-t,--template", a->template_file,
                                  "A format file of your own")
                     ->type_name("FILE");
  format->excludes(file);
  command
      ->add_option("--tools", a->tools_file, "The tools of the request, JSON")
      ->type_name("FILE");
  command
      ->add_option("--prefix", a->prefix,
                   "The prompt; what it wrote of the response is left out")
      ->type_name("TEXT");
  command->add_flag("--no-verify", a->no_verify,
                    "Do not read the text back to compare");
  add_color(*command, a->color);
  command->callback([a, format, file, &run] {
    if (format->count() + file->count() == 0) {
      throw BadArguments{"--format or --template is required"};
    }
    run = [a] { return run_render(*a); };
  });
}

}  // namespace parlance::cli
