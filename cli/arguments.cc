// Commands and options by CLI11, which writes help and finds errors; the texts
// of errors and the exit statuses are ours.

#include "arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "io.h"
#include "parlance/version.h"
#include "style.h"
#include "suggest.h"

namespace parlance::cli {
namespace {

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
               command.c_str(), safe_text(what).c_str(), command.c_str());
  return kUsage;
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

// What to say about the first argument that `app` does not know.
std::string describe_unknown(const CLI::App& app,
                             std::span<const std::string> extras) {
  const std::vector<CLI::App*> given = app.get_subcommands();
  std::vector<std::string> commands;
  if (given.empty()) {
    for (const CLI::App* command : app.get_subcommands(
             [](const CLI::App* any) { return any != nullptr; })) {
      commands.push_back(command->get_name());
    }
  }
  std::vector<std::string> options;
  const CLI::App& owner = given.empty() ? app : *given.front();
  for (const CLI::Option* option : owner.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      options.push_back("--" + name);
    }
  }
  return describe_extra(commands, options, extras);
}

// The exit status, or -1 when the arguments are parsed.
int parse_arguments(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    // Help and the version, which are output like any other.
    std::ostringstream text;
    app.exit(e, text, text);
    put(text.str());
    return kOk;
  } catch (const CLI::ExtrasError&) {
    // In the order in which they were given.
    const std::vector<std::string> unknown = app.remaining(true);
    std::vector<std::string> extras;
    for (int i = 1; i < argc; ++i) {
      if (std::find(unknown.begin(), unknown.end(), argv[i]) != unknown.end()) {
        extras.emplace_back(argv[i]);
      }
    }
    return refuse(app, describe_unknown(app, extras));
  } catch (const CLI::ConversionError& e) {
    return refuse(app, describe_conversion(app, e.what()));
  } catch (const CLI::ArgumentMismatch& e) {
    return refuse(app, describe_mismatch(e.what()));
  } catch (const CLI::ParseError& e) {
    return refuse(app, e.what());
  } catch (const BadArguments& e) {
    return refuse(app, e.what);
  }
  return -1;
}

// `parlance help [COMMAND]`, for those who try it first.
void add_help(CLI::App& app, Run& run) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("help", "Shows the help of a command");
  command->add_option("COMMAND", *name, "The command; all by default")
      ->type_name("");
  command->callback([&app, name, &run] {
    run = [&app, name] {
      if (name->empty()) {
        app.clear();
        put(app.help());
        return kOk;
      }
      for (const CLI::App* one : app.get_subcommands(
               [](const CLI::App* any) { return any != nullptr; })) {
        if (one->get_name() != *name) continue;
        put(one->help(app.get_name()));
        return kOk;
      }
      app.clear();
      const std::vector<std::string> words = {*name};
      return refuse(app, describe_unknown(app, words));
    };
  });
}

// The words of the validator that offering() has named.
std::vector<std::string> words_of(CLI::Option& option) {
  std::string joined;
  try {
    joined = option.get_validator(0)->get_name();
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
  std::vector<std::string> words;
  std::string_view rest = joined;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

OptionOutline outline_of(CLI::Option& option, const std::string& command) {
  OptionOutline out;
  for (const std::string& name : option.get_snames()) {
    out.names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    out.names.push_back("--" + name);
  }
  if (out.names.empty()) out.positional = option.get_name();
  if (option.get_type_size() != 0) out.value = option.get_type_name();
  out.description = option.get_description();
  out.required = option.get_required();
  out.repeats = option.get_expected_max() > 1;
  out.formats = std::ranges::count(out.names, "--format") != 0 ||
                (command == "formats" && !out.positional.empty());
  out.words = words_of(option);
  return out;
}

CommandOutline outline_of_one(CLI::App& app, const std::string& name) {
  CommandOutline out{name, app.get_description(), app.get_footer(), {}};
  for (CLI::Option* option : app.get_options()) {
    out.options.push_back(outline_of(*option, name));
  }
  // Positional ones first, as --help has them.
  std::stable_partition(
      out.options.begin(), out.options.end(),
      [](const OptionOutline& option) { return option.names.empty(); });
  return out;
}

CLI::Validator validator_of(Check check) {
  // Without a description it adds nothing to what --help shows as the value's
  // name.
  CLI::Validator out(std::move(check.test), "");
  return out.name(std::move(check.words));
}

}  // namespace

Option* Option::type_name(const std::string& name) {
  option_->type_name(name);
  return this;
}

Option* Option::required(bool required) {
  option_->required(required);
  return this;
}

Option* Option::allow_extra_args(bool allow) {
  option_->allow_extra_args(allow);
  return this;
}

Option* Option::needs(Option* other) {
  option_->needs(other->option_);
  return this;
}

Option* Option::needs(const std::string& other) {
  option_->needs(other);
  return this;
}

Option* Option::excludes(Option* other) {
  option_->excludes(other->option_);
  return this;
}

Option* Option::excludes(const std::string& other) {
  option_->excludes(other);
  return this;
}

Option* Option::check(Check check) {
  option_->check(validator_of(std::move(check)));
  return this;
}

Option* Option::transform(Check check) {
  option_->transform(validator_of(std::move(check)));
  return this;
}

std::size_t Option::count() const { return option_->count(); }

std::string Option::name() const { return option_->get_name(); }

Command* Command::add_subcommand(const std::string& name,
                                 const std::string& description) {
  CLI::App* added = app_->add_subcommand(name, description);
  return commands_.emplace_back(std::make_unique<Command>(added)).get();
}

void Command::footer(const std::string& text) { app_->footer(text); }

Option* Command::keep(CLI::Option* option) {
  return options_.emplace_back(std::make_unique<Option>(option)).get();
}

template <class T>
Option* Command::add_option(const std::string& names, T& value,
                            const std::string& description) {
  return keep(app_->add_option(names, value, description));
}

// A type of value is a line here.
template Option* Command::add_option(const std::string&, std::string&,
                                     const std::string&);
template Option* Command::add_option(const std::string&,
                                     std::vector<std::string>&,
                                     const std::string&);
template Option* Command::add_option(const std::string&, double&,
                                     const std::string&);
// std::size_t and std::uint64_t: on macOS they are not the same.
template Option* Command::add_option(const std::string&, unsigned long&,
                                     const std::string&);
template Option* Command::add_option(const std::string&, unsigned long long&,
                                     const std::string&);
template Option* Command::add_option(const std::string&,
                                     std::optional<std::size_t>&,
                                     const std::string&);
template Option* Command::add_option(const std::string&,
                                     std::optional<std::uint32_t>&,
                                     const std::string&);

Option* Command::add_number(const std::string& names,
                            std::function<void(int)> set,
                            const std::string& description) {
  const std::function<void(const int&)> called = std::move(set);
  return keep(app_->add_option_function<int>(names, called, description));
}

Option* Command::add_flag(const std::string& names, bool& value,
                          const std::string& description) {
  return keep(app_->add_flag(names, value, description));
}

Option* Command::option(const std::string& name) {
  const CLI::Option* wanted = app_->get_option(name);
  return std::ranges::find(options_, wanted,
                           [](const auto& option) { return option->option_; })
      ->get();
}

void Command::callback(std::function<void()> called) {
  app_->callback(std::move(called));
}

std::vector<CommandOutline> outline_of(const Command& program) {
  std::vector<CommandOutline> out = {outline_of_one(*program.app_, "")};
  for (CLI::App* command :
       program.app_->get_subcommands([](CLI::App*) { return true; })) {
    // Not what is left out of --help.
    if (!command->get_group().empty()) {
      out.push_back(outline_of_one(*command, command->get_name()));
    }
  }
  return out;
}

int run_program(const std::string& description, const std::string& footer,
                const std::function<void(Command&, Run&)>& add, int argc,
                char** argv) {
  CLI::App app{description};
  app.name("parlance");
  app.set_version_flag("--version", "parlance " + std::string(version()));
  app.footer(footer);
  app.require_subcommand(0, 1);
  app.formatter(std::make_shared<HelpFormatter>());

  Command program(&app);
  Run run;
  add(program, run);
  add_help(app, run);

  const int status = parse_arguments(app, argc, argv);
  if (status >= 0) return status;
  if (const std::string bad = describe_bad_value(app); !bad.empty()) {
    return refuse(app, bad);
  }
  if (!run) {
    std::fputs(app.help().c_str(), stderr);
    return kUsage;
  }
  return run();
}

}  // namespace parlance::cli
