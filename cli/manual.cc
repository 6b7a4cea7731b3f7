// `parlance manual`: the manual page, for man.

#include <string>
#include <string_view>

#include "commands.h"
#include "io.h"
#include "outline.h"
#include "parlance/version.h"

namespace parlance::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  parlance manual | man -l -
An installed package has it where man looks.)";

// Text in the language of man pages: its control characters lose their meaning.
// A hyphen is one that can be searched for and copied.
std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '~') {
      out += "\\(ti";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out += c;
    }
    line_begins = c == '\n';
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }

std::string italic(std::string_view text) {
  return "\\fI" + roff(text) + "\\fR";
}

std::string option_entry(const OptionOutline& option) {
  std::string out = ".TP\n";
  if (option.names.empty()) {
    out += italic(option.positional);
  } else {
    for (const std::string& name : option.names) {
      if (&name != &option.names.front()) out += ", ";
      out += bold(name);
    }
    if (!option.value.empty()) out += " " + italic(option.value);
  }
  return out + "\n" + roff(option.description) + "\n";
}

std::string synopsis(const CommandOutline& command) {
  std::string out =
      bold("parlance " + command.name) + " [" + italic("OPTIONS") + "]";
  for (const OptionOutline& option : command.options) {
    if (!option.names.empty()) continue;
    std::string name = italic(option.positional);
    if (option.repeats) name += " ...";
    out += option.required ? " " + name : " [" + name + "]";
  }
  return out + "\n";
}

// The examples and what else stands below the options, line by line.
std::string verbatim(const std::string& text) {
  return ".PP\n.nf\n" + roff(text) + "\n.fi\n";
}

std::string page(const std::vector<CommandOutline>& outline) {
  const CommandOutline& program = outline.front();
  std::string out =
      "'\\\" Written by: parlance manual\n.TH PARLANCE 1 \"\" \"parlance " +
      roff(version()) + "\" \"User Commands\"\n.SH NAME\nparlance \\- " +
      roff(program.description) + "\n.SH SYNOPSIS\n" + bold("parlance") + " " +
      italic("COMMAND") + " [" + italic("OPTIONS") + "] [" + italic("FILE") +
      "]\n.SH OPTIONS\n";
  for (const OptionOutline& option : program.options) {
    out += option_entry(option);
  }
  out += ".SH COMMANDS\n";
  for (const CommandOutline& command : outline) {
    if (command.name.empty()) continue;
    out += ".SS " + roff(command.name) + "\n" + roff(command.description) +
           ".\n.PP\n" + synopsis(command);
    for (const OptionOutline& option : command.options) {
      out += option_entry(option);
    }
    if (!command.footer.empty()) out += verbatim(command.footer);
  }
  return out + ".SH EXAMPLES AND EXIT STATUS\n" + verbatim(program.footer);
}

}  // namespace

void add_manual(Command& app, Run& run) {
  Command* command = app.add_subcommand("manual", "Writes the manual page");
  command->footer(kExamples);
  command->callback([&app, &run] {
    run = [&app] {
      put(page(outline_of(app)));
      return kOk;
    };
  });
}

}  // namespace parlance::cli
