#include "command_line.h"

#include <cstdio>
#include <exception>
#include <new>

#include "arguments.h"
#include "commands.h"
#include "io.h"
#include "style.h"
#include "system.h"

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  parlance parse --format qwen3 response.txt
  parlance watch --format gpt_oss --delay-ms 20 response.txt
  parlance explain --format qwen3 --chunk 4 response.txt
  parlance check my_template.json
  parlance formats
  parlance accept --schema city.json answer.json
  parlance tag --style qwen_3 --tools tools.json

'parlance COMMAND --help' tells the options of a command.
Exit status: 0 all is well, 1 what was read is damaged or has errors, 2 the
arguments, a file or a template cannot be used.)";

void add_commands(Command& program, Run& run) {
  add_parse(program, run);
  add_watch(program, run);
  add_explain(program, run);
  add_check(program, run);
  add_convert(program, run);
  add_render(program, run);
  add_harmony(program, run);
  add_formats(program, run);
  add_accept(program, run);
  add_mask(program, run);
  add_sample(program, run);
  add_tag(program, run);
  add_completions(program, run);
  add_manual(program, run);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  forget_files();
  try {
    return run_program("Turns what a language model writes into messages.",
                       kExamples, add_commands, argc, argv);
  } catch (const OutputClosed&) {
    return kOutputClosed;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "parlance: %s\n", failure.what());
    return failure.status();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "parlance: out of memory\n");
    return kUsage;
  } catch (const std::exception& error) {
    // Of the standard library: a thread or a length that there cannot be.
    std::fprintf(stderr, "parlance: %s\n", safe_text(error.what()).c_str());
    return kUsage;
  }
}

}  // namespace parlance::cli
