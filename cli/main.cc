// The `parlance` command: the functions of the library, from a shell.
//
// The command translates between arguments, files and terminals on one side and
// the library's public API on the other.  It decides nothing about how a
// response is read.

#include <cstdio>
#include <exception>
#include <new>

#include "arguments.h"
#include "commands.h"
#include "io.h"
#include "style.h"
#include "system.h"

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

void add_commands(parlance::cli::Command& program, parlance::cli::Run& run) {
  parlance::cli::add_parse(program, run);
  parlance::cli::add_watch(program, run);
  parlance::cli::add_explain(program, run);
  parlance::cli::add_check(program, run);
  parlance::cli::add_convert(program, run);
  parlance::cli::add_render(program, run);
  parlance::cli::add_harmony(program, run);
  parlance::cli::add_formats(program, run);
  parlance::cli::add_accept(program, run);
  parlance::cli::add_mask(program, run);
  parlance::cli::add_sample(program, run);
  parlance::cli::add_tag(program, run);
  parlance::cli::add_completions(program, run);
  parlance::cli::add_manual(program, run);
}

}  // namespace

int main(int argc, char** argv) {
  parlance::cli::prepare_process();
  argv = parlance::cli::utf8_arguments(argc, argv);
  try {
    return parlance::cli::run_program(
        "Turns what a language model writes into messages.", kExamples,
        add_commands, argc, argv);
  } catch (const parlance::cli::OutputClosed&) {
    return parlance::cli::kOutputClosed;
  } catch (const parlance::cli::Failure& failure) {
    std::fprintf(stderr, "parlance: %s\n", failure.what());
    return failure.status();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "parlance: out of memory\n");
    return parlance::cli::kUsage;
  } catch (const std::exception& error) {
    // Of the standard library: a thread or a length that there cannot be.
    std::fprintf(stderr, "parlance: %s\n",
                 parlance::cli::safe_text(error.what()).c_str());
    return parlance::cli::kUsage;
  }
}
