#ifndef PARLANCE_SRC_GRAMMAR_MACHINE_H_
#define PARLANCE_SRC_GRAMMAR_MACHINE_H_

// What is inside a Grammar.

#include <memory>
#include <vector>

#include "grammar/recogniser.h"
#include "parlance/grammar.h"

namespace parlance {

struct Grammar::Machine {
  std::unique_ptr<grammar::Recogniser> recogniser;
  std::vector<SchemaNote> notes;
};

}  // namespace parlance

#endif  // PARLANCE_SRC_GRAMMAR_MACHINE_H_
