#ifndef PARLANCE_SRC_SCHEMA_SOLVER_KEY_TABLES_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_KEY_TABLES_H_

// What the rules of an object disjunct say of keys: which they spell, in which
// order, which require others, and how they divide all other keys.
//
// Owns one ObjectKeys for each disjunct that was asked about, and what follows
// from them.  Recognisers ask it for the next member, the solver for the
// members that complete an object.  It asks the solver in turn, for which keys
// there are values, so the two are one recursion.
//
// An answer depends on the disjunct, the arguments and, where values are
// concerned, the number of levels that the solver considers; never on what was
// asked before.  While questions are in progress it may be about fewer values,
// and then it is not stored (questions.h).

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "automata/language.h"
#include "schema/document.h"
#include "schema_solver/constraints.h"
#include "schema_solver/dependent_keys.h"
#include "schema_solver/exactness.h"
#include "schema_solver/key_sets.h"
#include "schema_solver/object_keys.h"

namespace parlance::schema_solver {

class SchemaSolver;
struct PatternRules;

// Not thread-safe.  References to what it returns stay valid.
class KeyTables {
 public:
  // `solver` owns this.
  KeyTables(SchemaSolver& solver, KeySets& sets)
      : solver_(solver), sets_(sets) {}

  // The required keys that are not in `seen`, with the keys that those and the
  // keys of `seen` require (dependentRequired).
  KeySet needed(DisjunctId object, KeySet seen);
  // The keys in `required`.
  KeySet required(DisjunctId object) { return of(object).required; }
  // The keys whose presence matters to other rules than `required`: those in
  // dependentRequired and in atoms of the disjunct's condition.
  KeySet presence_keys(DisjunctId object) { return of(object).presence_keys; }
  // presence_keys(), and the spelled keys in a group of the condition.
  KeySet condition_keys(DisjunctId object) { return of(object).condition_keys; }
  // The keys that the rules of a disjunct spell, sorted.
  const std::vector<KeyId>& spelled_list(DisjunctId object) {
    return of(object).spelled_list;
  }
  KeySet spelled(DisjunctId object) { return of(object).spelled; }
  // The patterns in its rules for keys.
  const std::vector<automata::LanguageId>& languages(DisjunctId object) {
    return of(object).languages;
  }
  // All other keys, by the patterns that they match.  Makes a note if some are
  // left out.
  const std::vector<ExtraKeys>& extra_keys(DisjunctId object);
  // extra_keys() without a note.
  const std::vector<ExtraKeys>& classes_of(DisjunctId object);
  // The extra keys that may be members.
  automata::LanguageId possible_extra_keys(DisjunctId object);
  // Whether keys that the schema does not spell have to be distinguished, so
  // that a repeated key does not count as two members.
  bool tracks_extra_keys(DisjunctId object) {
    return of(object).tracks_extra_keys;
  }
  // Numbers of members above this one need not be distinguished.
  std::uint64_t count_cap(DisjunctId object) { return of(object).count_cap; }

  // The position of a key in the order of declaration; kNoRank if it has none.
  static constexpr std::uint32_t kNoRank = 0xFFFFFFFF;
  std::uint32_t rank(DisjunctId object, KeyId key);
  // The minimum rank of the keys in the set; kNoRank if none has a rank.
  std::uint32_t min_rank(DisjunctId object, KeySet set);
  // The keys with a rank below this one.
  KeySet ranked_below(DisjunctId object, std::uint32_t rank);

  // Whether the keys of `key_class` are in the group.  REQUIRES: a condition of
  // the disjunct that the class belongs to has the group.
  bool is_in(const KeyGroup& keys, const KeyClass& key_class);
  // Whether the language has the keys of the class.
  bool matches(automata::LanguageId language, const KeyClass& key_class);
  // Whether another rule than the unevaluated one is about the keys.
  bool evaluated(const UnevaluatedRule& rule, const KeyClass& key_class);

  const ObjectKeys& object_keys(DisjunctId object) { return of(object); }
  // Makes the note that keys were left out, if some may be missed.
  Exactness note_incomplete(DisjunctId object);
  std::size_t memory_bytes() const { return dependent_bytes_; }

 private:
  ObjectKeys& of(DisjunctId object);
  bool knows(NodeId node, const KeyClass& key_class);
  std::vector<std::string> few_strings(automata::LanguageId language);
  std::optional<std::vector<bool>> match_alone(
      const std::vector<automata::LanguageId>& list);
  void find_extra_keys(ObjectKeys& object_keys);
  std::vector<PatternRules> pattern_rules(DisjunctId object);
  std::optional<automata::LanguageId> extra_keys_of_any_class(
      DisjunctId object);

  SchemaSolver& solver_;
  KeySets& sets_;
  std::deque<std::unique_ptr<ObjectKeys>> tables_;  // by disjunct
  std::unordered_map<DisjunctId, std::unique_ptr<DependentKeys>>
      dependent_keys_;
  std::size_t dependent_bytes_ = 0;  // of these
  // matches(), by language and key.
  std::unordered_map<std::uint64_t, bool> matches_;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_KEY_TABLES_H_
