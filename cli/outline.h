#ifndef PARLANCE_CLI_OUTLINE_H_
#define PARLANCE_CLI_OUTLINE_H_

// What the command says about itself, as data: its commands and their options,
// read by outline_of() (arguments.h) from the declarations that the parser of
// arguments uses.  The manual page and the completions of shells are written
// from it, so that neither can differ from --help.

#include <string>
#include <vector>

namespace parlance::cli {

struct OptionOutline {
  std::vector<std::string> names;  // "-f", "--format"; empty if positional
  std::string positional;          // "FILE"; empty if there are names
  std::string value;               // as in --help, "NAME"; empty for a flag
  std::string description;
  bool required = false;
  bool repeats = false;            // it may be given more than once
  bool formats = false;            // it takes the name of a format
  std::vector<std::string> words;  // the values it takes; empty: any
};

struct CommandOutline {
  std::string name;  // "parse"; "" is the program itself
  std::string description;
  std::string footer;
  std::vector<OptionOutline> options;
};

// The names that an option that takes a format accepts: those of families,
// their variants and aliases, sorted.
std::vector<std::string> format_names();

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_OUTLINE_H_
