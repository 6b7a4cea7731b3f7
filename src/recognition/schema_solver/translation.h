#ifndef PARLANCE_SRC_SCHEMA_SOLVER_TRANSLATION_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_TRANSLATION_H_

// The ids of one solver as ids of another solver of the same document.
//
// Literals, nodes and patterns are those of the document, and mean the same in
// both.  What is interned by a solver is translated by its content: a key by
// its text, a conjunction by its literals, a condition and a disjunct part by
// part.  So nothing depends on the order in which the two have met things.

#include <optional>
#include <unordered_map>

#include "automata/language.h"
#include "automata/number_language.h"
#include "schema_solver/solver.h"

namespace parlance::schema_solver {

class Translation {
 public:
  // Both must outlive the translation.  Adds to the tables of `to`.
  Translation(SchemaSolver& from, SchemaSolver& to)
      : from_(from), to_(to), languages_(from.languages_, to.languages_) {}

  KeyId key(KeyId key);
  KeySet keys(KeySet set);
  ConjunctionId conjunction(ConjunctionId id);
  ConditionId condition(ConditionId id);
  // A disjunct of arrays or objects, of the conjunction `of`.
  DisjunctId disjunct(ConjunctionId of, JsonType type, DisjunctId id);

  automata::LanguageId language(automata::LanguageId language) {
    return languages_.language(language);
  }
  automata::StateId state(automata::StateId state) {
    return languages_.state(state);
  }
  automata::NumberLanguages::State number(
      automata::NumberLanguages::State state) {
    return to_.numbers_.copy(from_.numbers_, state);
  }

 private:
  ObjectConstraints object(const ObjectConstraints& of);
  template <class Table>
  std::optional<DisjunctId> find(ConjunctionId of, JsonType type, DisjunctId id,
                                 const Table& table,
                                 const typename Table::value_type& wanted);

  SchemaSolver& from_;
  SchemaSolver& to_;
  automata::Languages::Copier languages_;
  std::unordered_map<ConditionId::Value, ConditionId> conditions_;
  std::unordered_map<std::uint64_t, DisjunctId> disjuncts_;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_TRANSLATION_H_
