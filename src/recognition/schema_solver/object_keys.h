#ifndef PARLANCE_SRC_SCHEMA_SOLVER_OBJECT_KEYS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_OBJECT_KEYS_H_

// The properties of an object disjunct's keys, computed once for each disjunct.

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schema_solver/constraints.h"
#include "schema_solver/exactness.h"
#include "schema_solver/key_sets.h"

namespace parlance::schema_solver {

class SchemaSolver;

struct ObjectKeys {
  std::vector<KeyId> spelled_list;  // sorted
  KeySet spelled = kNoKeys;         // the same
  KeySet required = kNoKeys;
  KeySet presence_keys = kNoKeys;
  KeySet condition_keys = kNoKeys;
  std::vector<automata::LanguageId> languages;  // sorted
  automata::LanguageBounds key_rule_language;   // if it has `key_rules`
  Exactness exactness;                          // of the languages of keys
  std::vector<ExtraKeys> extras;  // if `extras_known`; see classes_of()
  bool extras_known = false;
  std::vector<std::pair<KeyId, std::uint32_t>> ranks;  // by key
  std::vector<KeyId> declared;                         // by rank
  std::vector<KeySet> below = {0};  // by rank: lower keys; grows on demand
  std::unordered_map<KeySet, std::uint32_t> min_ranks;
  automata::LanguageId possible = {};
  bool possible_known = false;
  // Some classes of extra keys may be omitted: there are more patterns than are
  // divided into all classes.  Which are in `extras` then.
  bool incomplete = false;
  enum class Classes : std::uint8_t {
    kAtMostOne,  // those of the keys that match at most one pattern
    kUnmatched,  // that of the keys that match no pattern
    kNone,
  };
  Classes classes = Classes::kAtMostOne;
  bool tracks_extra_keys = false;
  std::uint64_t count_cap = 0;

  // Of the condition: keys whose presence matters, and groups of keys.
  std::vector<KeyId> presence;
  std::vector<KeyGroup> groups;

  void collect(SchemaSolver& solver, const ObjectConstraints& disjunct);
  void add_node(SchemaSolver& solver, NodeId node);
  void add_atom(SchemaSolver& solver, const Condition& atom);
  // Sets `ranks`, and drops the keys from `declared` that stand in it before.
  void rank_declared();
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_OBJECT_KEYS_H_
