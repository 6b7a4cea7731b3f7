// The `parlance` command: the functions of the library, from a shell.
//
// The command translates between arguments, files and terminals on one side and
// the library's public API on the other.  It decides nothing about how a
// response is read.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "io.h"
#include "parlance/version.h"
#include "style.h"
#include "suggest.h"

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

// Help without the lists of what needs and excludes what: descriptions say it
// where it matters, and a wrong combination is explained when it is met.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(28); }

  std::string make_option_opts(const CLI::Option* option) const override {
    std::string name = option->get_type_name();
    return option->get_type_size() == 0 || name.empty() ? "" : " " + name;
  }

  // Wrapped to 80 columns.
  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    std::size_t line = 0;
    while (text.size() - line > kDescription) {
      std::size_t space = text.rfind(' ', line + kDescription);
      if (space == std::string::npos || space <= line) break;
      text[space] = '\n';
      line = space + 1;
    }
    return text;
  }

 private:
  static constexpr std::size_t kDescription = 52;
};

// Tells on standard error what is wrong with the arguments.
int refuse(const CLI::App& app, const std::string& what) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  const std::string command =
      commands.empty() ? "" : " " + commands.front()->get_name();
  std::fprintf(stderr, "parlance%s: %s\nRun 'parlance%s --help' for more.\n",
               command.c_str(), parlance::cli::safe_text(what).c_str(),
               command.c_str());
  return parlance::cli::kUsage;
}

// "Could not convert: --tokens = x": a value of an option that takes a number,
// or of one that takes none.
std::string describe_conversion(const CLI::App& app, const std::string& what) {
  constexpr std::string_view kBefore = "Could not convert: ";
  const std::size_t equals = what.find(" = ");
  if (!what.starts_with(kBefore) || equals == std::string::npos) return what;
  const std::string name = what.substr(kBefore.size(), equals - kBefore.size());
  const std::vector<CLI::App*> commands = app.get_subcommands();
  const CLI::App& owner = commands.empty() ? app : *commands.front();
  const CLI::Option* option = owner.get_option_no_throw(name);
  if (option != nullptr && option->get_type_name().empty()) {
    return name + " takes no value";
  }
  return name + ": it must be a number that is in range, not '" +
         what.substr(equals + 3) + "'";
}

// "--format: 1 required NAME missing", "--format: At Most 1 required but
// received 2".
std::string describe_mismatch(const std::string& what) {
  const std::size_t colon = what.find(": ");
  if (colon == std::string::npos) return what;
  if (what.find(" missing", colon) != std::string::npos) {
    return what.substr(0, colon) + " needs a value";
  }
  if (what.find("received", colon) != std::string::npos) {
    return what.substr(0, colon) + " may be given only once";
  }
  return what;
}

// What CLI11 would take: "" for a file would be standard input, and "-1" a very
// large number.  By the type names of options, so that each has the rule.
std::string describe_bad_value(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    for (const CLI::Option* option : command->get_options()) {
      const std::string type = option->get_type_name();
      const std::string name = option->get_name();
      const bool file = type == "FILE" || type == "PATH" || name == "FILE";
      for (const std::string& value : option->results()) {
        if (file && value.empty()) {
          return name + ": the name of the file is empty";
        }
        std::uint64_t number = 0;
        const char* const end = value.data() + value.size();
        const auto [at, error] = std::from_chars(value.data(), end, number);
        if (type == "N" && (error != std::errc() || at != end)) {
          return name + ": it must be a whole number, 0 or more, not '" +
                 value + "'";
        }
      }
    }
  }
  return {};
}

// CLI11 writes help and finds errors; the texts of errors and the exit statuses
// are ours.
int parse_arguments(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    // Help and the version, which are output like any other.
    std::ostringstream text;
    app.exit(e, text, text);
    parlance::cli::put(text.str());
    return parlance::cli::kOk;
  } catch (const CLI::ExtrasError&) {
    // In the order in which they were given.
    const std::vector<std::string> unknown = app.remaining(true);
    std::vector<std::string> extras;
    for (int i = 1; i < argc; ++i) {
      if (std::find(unknown.begin(), unknown.end(), argv[i]) != unknown.end()) {
        extras.emplace_back(argv[i]);
      }
    }
    return refuse(app, parlance::cli::describe_extra(app, extras));
  } catch (const CLI::ConversionError& e) {
    return refuse(app, describe_conversion(app, e.what()));
  } catch (const CLI::ArgumentMismatch& e) {
    return refuse(app, describe_mismatch(e.what()));
  } catch (const CLI::ParseError& e) {
    return refuse(app, e.what());
  }
  return -1;
}

// `parlance help [COMMAND]`, for those who try it first.
void add_help(CLI::App& app, parlance::cli::Run& run) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("help", "Shows the help of a command");
  command->add_option("COMMAND", *name, "The command; all by default")
      ->type_name("");
  command->callback([&app, name, &run] {
    run = [&app, name] {
      if (name->empty()) {
        app.clear();
        parlance::cli::put(app.help());
        return parlance::cli::kOk;
      }
      for (const CLI::App* one : app.get_subcommands(
               [](const CLI::App* any) { return any != nullptr; })) {
        if (one->get_name() != *name) continue;
        parlance::cli::put(one->help(app.get_name()));
        return parlance::cli::kOk;
      }
      app.clear();
      const std::vector<std::string> words = {*name};
      return refuse(app, parlance::cli::describe_extra(app, words));
    };
  });
}

int run_command(int argc, char** argv) {
  CLI::App app{"Turns what a language model writes into messages."};
  app.name("parlance");
  app.set_version_flag("--version",
                       "parlance " + std::string(parlance::version()));
  app.footer(kExamples);
  app.require_subcommand(0, 1);
  app.formatter(std::make_shared<HelpFormatter>());

  parlance::cli::Run run;
  parlance::cli::add_parse(app, run);
  parlance::cli::add_watch(app, run);
  parlance::cli::add_explain(app, run);
  parlance::cli::add_check(app, run);
  parlance::cli::add_convert(app, run);
  parlance::cli::add_render(app, run);
  parlance::cli::add_harmony(app, run);
  parlance::cli::add_formats(app, run);
  parlance::cli::add_accept(app, run);
  parlance::cli::add_mask(app, run);
  parlance::cli::add_sample(app, run);
  parlance::cli::add_tag(app, run);
  parlance::cli::add_completions(app, run);
  parlance::cli::add_manual(app, run);
  add_help(app, run);

  int status = parse_arguments(app, argc, argv);
  if (status >= 0) return status;
  if (const std::string bad = describe_bad_value(app); !bad.empty()) {
    return refuse(app, bad);
  }
  if (!run) {
    std::fputs(app.help().c_str(), stderr);
    return parlance::cli::kUsage;
  }
  return run();
}

}  // namespace

int main(int argc, char** argv) {
  // A pipe whose reader has gone ends the command as it ends others, also
  // where a parent has chosen to ignore the signal.
  std::signal(SIGPIPE, SIG_DFL);
  parlance::cli::open_standard_descriptors();
  try {
    return run_command(argc, argv);
  } catch (const parlance::cli::OutputClosed&) {
    return 128 + SIGPIPE;
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
