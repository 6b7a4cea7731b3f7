#ifndef PARLANCE_CLI_VOCABULARY_H_
#define PARLANCE_CLI_VOCABULARY_H_

// --vocabulary and --stop, the same for every command.

#include <optional>
#include <string>
#include <vector>

#include "arguments.h"
#include "parlance/vocabulary.h"

namespace parlance::cli {

struct VocabularyArguments {
  std::string file;
  std::vector<std::string> stops;

  bool given() const { return !file.empty(); }
};

// Adds --vocabulary, and --stop, which needs it.  `what_for` begins the help of
// --vocabulary; may be empty.  Returns --vocabulary.
Option* add_vocabulary(Command& app, VocabularyArguments& arguments,
                       const std::string& what_for = "");

// Throws Failure.  Nothing where none is given.
std::optional<Vocabulary> load_vocabulary(const VocabularyArguments& arguments);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_VOCABULARY_H_
