#ifndef PARLANCE_SRC_GRAMMAR_SCHEMA_FACTS_H_
#define PARLANCE_SRC_GRAMMAR_SCHEMA_FACTS_H_

// What is worked out once about the names of an object's shape.

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "grammar/schema_goals.h"

namespace parlance::grammar {

struct Goals::ObjectFacts {
  std::vector<KeyId> names;                     // sorted
  std::vector<automata::LanguageId> languages;  // sorted
  automata::LanguageId names_rule = 0;          // if the shape has `names`
  std::vector<ExtraNames> extras;
  std::unordered_map<KeyId, std::size_t> ranks;
  automata::LanguageId possible = 0;
  bool possible_known = false;
  bool cut = false;  // some kinds of names are left out
  bool tracks_names = false;
  std::uint64_t count_cap = 0;
};

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_SCHEMA_FACTS_H_
