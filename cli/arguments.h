#ifndef PARLANCE_CLI_ARGUMENTS_H_
#define PARLANCE_CLI_ARGUMENTS_H_

// The arguments of the program: its commands and their options.
//
//   Command* command = program.add_subcommand("mask", "Lists the tokens ...");
//   command->add_option("--limit", limit, "List at most this many tokens (20)")
//       ->type_name("N")
//       ->excludes(other);
//
// These are CLI11's commands and options by their names there.  CLI11 is a
// header of ten thousand lines, and compiles its parser into each source that
// includes it; so arguments.cc includes it and nothing else does.

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "outline.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace parlance::cli {

// What parsing sets to the work of the command that was given.  Returns the
// exit status.
using Run = std::function<int()>;

// A test of the text of a value.  Returns what is wrong with the text, "" if
// nothing is.
struct Check {
  // May replace the text, in Option::transform().
  std::function<std::string(std::string&)> test;
  // The values it accepts, joined by '|', for completions; "" for any.
  std::string words = {};
};

// Thrown by the callback of a command: what is wrong with the arguments.
struct BadArguments {
  std::string what;
};

// An option of a command, or a positional argument.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  // What --help calls the value.  Values of "FILE" and "PATH" must not be
  // empty, and those of "N" must be whole numbers.
  Option* type_name(const std::string& name);
  Option* required(bool required = true);
  // Whether several values may follow one name.
  Option* allow_extra_args(bool allow);
  // Options of the same command, which must be given with this one, or must
  // not.
  Option* needs(Option* other);
  Option* needs(const std::string& other);
  Option* excludes(Option* other);
  Option* excludes(const std::string& other);
  Option* check(Check check);
  Option* transform(Check check);

  // How many times it was given.
  std::size_t count() const;
  std::string name() const;

 private:
  friend class Command;

  CLI::Option* option_;
};

// A command, or the program itself.  It owns its commands and options.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command* add_subcommand(const std::string& name,
                          const std::string& description);
  // What --help ends with.
  void footer(const std::string& text);
  // `names` is "-f,--format", or "FILE" for a positional argument.  `value`
  // must outlive the parsing: a string, a list of strings, a number, or an
  // optional number.
  template <class T>
  Option* add_option(const std::string& names, T& value,
                     const std::string& description);
  // An enumeration, which needs a transform() from its words (setup.h).
  template <class T>
  requires std::is_enum_v<T> Option* add_option(
      const std::string& names, T& value, const std::string& description) {
    return add_number(
        names, [&value](int number) { value = static_cast<T>(number); },
        description);
  }
  Option* add_flag(const std::string& names, bool& value,
                   const std::string& description);
  // REQUIRES: this command has an option of that name.
  Option* option(const std::string& name);
  // Called when the command is given, after its options have their values.
  void callback(std::function<void()> called);

 private:
  friend std::vector<CommandOutline> outline_of(const Command& program);

  Option* keep(CLI::Option* option);
  Option* add_number(const std::string& names, std::function<void(int)> set,
                     const std::string& description);

  CLI::App* app_;
  std::vector<std::unique_ptr<Command>> commands_;
  std::vector<std::unique_ptr<Option>> options_;
};

// What the program says about itself: the program first, then its commands in
// the order of --help.
std::vector<CommandOutline> outline_of(const Command& program);

// Lets `add` declare the commands of a program, which takes at most one of
// them, `help` and `--version`.  Parses the arguments, and runs the command
// that they name.  Returns the exit status.  `footer` is what the help ends
// with.
int run_program(const std::string& description, const std::string& footer,
                const std::function<void(Command&, Run&)>& add, int argc,
                char** argv);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_ARGUMENTS_H_
