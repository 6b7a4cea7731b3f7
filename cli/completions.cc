// `parlance completions`: what lets a shell complete the command's words.
//
// Each script holds the names of commands and options, the words that an option
// takes, and the names of formats.  Where a value is a file or a text, the
// shell offers files.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "io.h"
#include "outline.h"
#include "setup.h"

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  source <(parlance completions bash)   in this shell
  parlance completions fish > ~/.config/fish/completions/parlance.fish
An installed package has them where the shells look.)";

using Outline = std::vector<CommandOutline>;
using Writer = std::string (*)(const Outline&);

std::string joined(const std::vector<std::string>& words,
                   std::string_view separator) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += separator;
    out += word;
  }
  return out;
}

// `text` with a backslash before each of `characters`.
std::string escaped(std::string_view text, std::string_view characters) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// One word of a shell of Bourne's kind.
std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

// What `option` takes, if that can be listed.
std::vector<std::string> values_of(const OptionOutline& option) {
  return option.formats ? format_names() : option.words;
}

std::vector<std::string> command_names(const Outline& outline) {
  std::vector<std::string> out;
  for (const CommandOutline& command : outline) {
    if (!command.name.empty()) out.push_back(command.name);
  }
  return out;
}

// The branch of one command.  `before` is the word before the one that is
// completed.
std::string bash_command(const CommandOutline& command,
                         const std::vector<std::string>& others) {
  std::vector<std::string> names;
  std::vector<std::string> positional = others;
  std::string cases;
  for (const OptionOutline& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
    const std::vector<std::string> values = values_of(option);
    if (option.names.empty()) {
      positional.insert(positional.end(), values.begin(), values.end());
    } else if (!option.value.empty()) {
      cases += "        " + joined(option.names, "|") +
               ") words=" + shell_word(joined(values, " ")) + " ;;\n";
    }
  }
  return "    " + shell_word(command.name) + ")\n      case $before in\n" +
         cases + "        *)\n          case $word in\n            -*) words=" +
         shell_word(joined(names, " ")) +
         " ;;\n            *) words=" + shell_word(joined(positional, " ")) +
         " ;;\n          esac ;;\n      esac ;;\n";
}

// Where nothing is offered, `-o default` offers files.
std::string bash_script(const Outline& outline) {
  std::string out = R"(# Completion of the parlance command in Bash.
# Written by: parlance completions bash

_parlance() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local command= words= i
  # --option=value comes as three words.
  if [ "$word" = "=" ]; then
    word=
  elif [ "$before" = "=" ] && [ "$COMP_CWORD" -gt 1 ]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
)";
  const std::vector<std::string> names = command_names(outline);
  out += "      " + joined(names, "|") +
         ") command=${COMP_WORDS[i]}; break ;;\n    esac\n  done\n"
         "  case $command in\n";
  for (const CommandOutline& command : outline) {
    out += bash_command(
        command, command.name.empty() ? names : std::vector<std::string>());
  }
  return out + R"(  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}

complete -o default -F _parlance parlance
)";
}

// What zsh offers for a value: "NAME:ACTION".
std::string zsh_value(const OptionOutline& option) {
  std::string label = option.value.empty() ? option.positional : option.value;
  label = label.substr(0, label.find(':'));
  if (option.formats) return label + ":_parlance_formats";
  if (!option.words.empty()) {
    return label + ":(" + joined(option.words, " ") + ")";
  }
  return label + ":_files";
}

// An argument of _arguments.
std::string zsh_option(const OptionOutline& option) {
  if (option.names.empty()) {
    return shell_word((option.repeats    ? "*:"
                       : option.required ? ":"
                                         : "::") +
                      zsh_value(option));
  }
  std::vector<std::string> forms;
  for (const std::string& name : option.names) {
    std::string form = name;
    if (!option.value.empty()) form += name.starts_with("--") ? "=" : "+";
    forms.push_back(form);
  }
  std::string tail = "[" + escaped(option.description, "[]\\") + "]";
  if (!option.value.empty()) tail += ":" + zsh_value(option);
  const std::string head =
      option.repeats ? "*" : "(" + joined(option.names, " ") + ")";
  if (forms.size() == 1) return shell_word(head + forms.front() + tail);
  return shell_word(head) + "{" + joined(forms, ",") + "}" + shell_word(tail);
}

std::string zsh_options(const CommandOutline& command,
                        std::string_view indent) {
  std::string out;
  for (const OptionOutline& option : command.options) {
    out += " \\\n" + std::string(indent) + zsh_option(option);
  }
  return out;
}

std::string zsh_script(const Outline& outline) {
  std::string out = R"(#compdef parlance
# Completion of the parlance command in zsh.
# Written by: parlance completions zsh

_parlance_formats() {
  _alternative 'formats:format:()" +
                    joined(format_names(), " ") + R"()' 'files:file:_files'
}

_parlance() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C)" + zsh_options(outline.front(), "    ") +
                    R"( \
    '1: :->command' '*:: :->arguments'
  case $state in
    command)
      local -a commands
      commands=(
)";
  for (const CommandOutline& command : outline) {
    if (command.name.empty()) continue;
    out +=
        "        " +
        shell_word(command.name + ":" + escaped(command.description, ":\\")) +
        "\n";
  }
  out += R"(      )
      _describe -t commands command commands ;;
    arguments)
      case $words[1] in
)";
  for (const CommandOutline& command : outline) {
    if (command.name.empty()) continue;
    out += "        " + command.name + ")\n          _arguments -S" +
           zsh_options(command, "            ") + " ;;\n";
  }
  return out + R"(      esac ;;
  esac
}

if [ "$funcstack[1]" = _parlance ]; then
  _parlance "$@"
else
  compdef _parlance parlance
fi
)";
}

std::string fish_word(std::string_view text) {
  return "'" + escaped(text, "'\\") + "'";
}

std::string fish_option(const OptionOutline& option,
                        const std::string& condition) {
  const std::vector<std::string> values = values_of(option);
  std::string line = "complete -c parlance -n " + fish_word(condition);
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2)
                                   : " -s " + name.substr(1);
  }
  if (option.names.empty()) {
    // Files are what fish offers by itself.
    if (values.empty()) return "";
    if (!option.formats) line += " -f";
  } else if (!option.value.empty()) {
    // -r: a word or a file; -x: one of the words.
    line += option.formats || values.empty() ? " -r" : " -x";
  }
  if (!values.empty()) line += " -a " + fish_word(joined(values, " "));
  return line + " -d " + fish_word(option.description) + "\n";
}

std::string fish_script(const Outline& outline) {
  std::string out = R"(# Completion of the parlance command in fish.
# Written by: parlance completions fish

)";
  const std::string before = "__fish_use_subcommand";
  out += "complete -c parlance -n " + fish_word(before) + " -f\n";
  for (const CommandOutline& command : outline) {
    std::string condition = before;
    if (!command.name.empty()) {
      out += "complete -c parlance -n " + fish_word(before) + " -f -a " +
             command.name + " -d " + fish_word(command.description) + "\n";
      condition = "__fish_seen_subcommand_from " + command.name;
    }
    for (const OptionOutline& option : command.options) {
      out += fish_option(option, condition);
    }
  }
  return out;
}

const std::map<std::string, Writer> kWriters = {
    {"bash", bash_script}, {"fish", fish_script}, {"zsh", zsh_script}};

}  // namespace

void add_completions(Command& app, Run& run) {
  auto shell = std::make_shared<std::string>();
  Command* command = app.add_subcommand(
      "completions", "Writes the completion script of a shell");
  command->footer(kExamples);
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(one_of(kWriters))
      ->type_name("");
  command->callback([&app, shell, &run] {
    run = [&app, shell] {
      put(kWriters.at(*shell)(outline_of(app)));
      return kOk;
    };
  });
}

}  // namespace parlance::cli
