#ifndef PARLANCE_SRC_SCHEMA_SOLVER_OBJECT_NAMES_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_OBJECT_NAMES_H_

// What is worked out once about the names of an object's disjunct.

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "schema_solver/name_sets.h"
#include "schema_solver/solver.h"

namespace parlance::schema_solver {

struct SchemaSolver::ObjectNames {
  std::vector<KeyId> names;    // sorted
  NameSet spelled = kNoNames;  // the same
  NameSet required = kNoNames;
  NameSet asked_again = kNoNames;
  NameSet deciding = kNoNames;
  std::vector<automata::LanguageId> languages;  // sorted
  automata::LanguageId names_rule = 0;          // if the disjunct has `names`
  std::vector<ExtraNames> extras;
  std::unordered_map<KeyId, std::uint32_t> ranks;
  std::vector<KeyId> declared;       // by rank
  std::vector<NameSet> below = {0};  // the first so many; grows on demand
  std::unordered_map<NameSet, std::uint32_t> least_ranks;
  automata::LanguageId possible = 0;
  bool possible_known = false;
  bool cut = false;  // some kinds of names are left out
  bool tracks_names = false;
  std::uint64_t count_cap = 0;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_OBJECT_NAMES_H_
