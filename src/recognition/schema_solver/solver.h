#ifndef PARLANCE_SRC_SCHEMA_SOLVER_SOLVER_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_SOLVER_H_

// Decides schema logic: rewrites the requirement on a value as alternatives
// without logic, and decides which alternatives some value satisfies.
//
// A *literal* is a node of the schema that must hold, or must not.  A
// *conjunction* is a set of literals that must hold together.  For each type of
// JSON a conjunction is expanded into *disjuncts*, the parts of a disjunctive
// normal form.  A disjunct has plain constraints on one type and no logic.  The
// expansion is that of an analytic tableau (Smullyan, "First-Order Logic",
// 1968): see expander.h.
//
//   {"type": ["object", "null"],          object: {members of 0, required a}
//    "anyOf": [{"required": ["a"]},    =>         {members of 0, required b}
//              {"required": ["b"]}],      null:   {null}
//    "properties": {"a": {..}, "b": {..}}}
//
// Negation moves inwards: not {"properties": {"a": S}} is "a is present and its
// value does not satisfy S".  A recogniser therefore follows disjuncts only: a
// value is valid if it satisfies one of them.
//
// Some disjunctions about an object would multiply when they are split.  They
// stay in the disjunct as a condition (conditions.h).
//
// Satisfiability decides whether some value satisfies a conjunction, so that a
// recogniser never enters a dead end (satisfiability.h).
//
// If a schema has more disjuncts than the limit, the first ones are used: the
// language becomes narrower, never wider.  Whatever leaves values out calls
// NoteList::leave_out(), which makes a note for report() and returns an
// Exactness for the verdict; no proof of emptiness rests on such a verdict
// (exactness.h).

#include <array>
#include <cassert>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "automata/language.h"
#include "automata/number_language.h"
#include "base/hashed_ids.h"
#include "base/id.h"
#include "parlance/error.h"
#include "parlance/schema_options.h"
#include "schema/document.h"
#include "schema_solver/conditions.h"
#include "schema_solver/constraints.h"
#include "schema_solver/contains.h"
#include "schema_solver/exactness.h"
#include "schema_solver/exclusive.h"
#include "schema_solver/key_names.h"
#include "schema_solver/key_sets.h"
#include "schema_solver/key_tables.h"
#include "schema_solver/member_conditions.h"
#include "schema_solver/node_facts.h"
#include "schema_solver/notes.h"
#include "schema_solver/questions.h"
#include "schema_solver/satisfiability.h"
#include "schema_solver/step_counter.h"
#include "schema_solver/string_sets.h"
#include "schema_solver/value_lists.h"

namespace parlance::schema_solver {

// The disjuncts of a conjunction for one type.
struct Expansion {
  std::vector<DisjunctId> all;
  bool expanding = false;
  std::uint32_t depth = 0;  // of that question, while in progress
  bool expanded = false;
  // Not exact: some were left out.
  Exactness exactness = {};
};

// Not thread-safe.  Tables only grow; references to their entries stay valid.
class SchemaSolver {
 public:
  // All arguments must outlive the solver.  `languages`: where it builds its
  // languages of strings and keys, so that its owner can combine them with
  // others; null for a table of its own.
  SchemaSolver(const schema::Document& document, const ItemChoices& choices,
               const JsonSchemaOptions& options,
               automata::Languages* languages = nullptr);
  ~SchemaSolver();

  // Checks each node by itself: returns an error for a pattern that is not
  // regular or a keyword that cannot be enforced (in lenient mode: adds a
  // note).  Adds notes on what the grammar ignores or narrows.
  std::optional<Error> check_nodes();

  // The error of the first pattern that was needed and cannot be compiled: any
  // string has matched it.  None after check_nodes().
  const std::optional<Error>& pattern_error() const {
    return string_sets_.error();
  }

  // Expands the conjunctions that are reachable from `root`, up to a limit of
  // work, so that narrowed() and the notes are known before a text is read.
  void survey(ConjunctionId root);

  // The same literal of the node inside of references, and of nodes that have
  // one part and no rules.
  Literal unwrapped(Literal literal) const;
  ConjunctionId conjunction(std::vector<Literal> literals);
  const std::vector<Literal>& literals(ConjunctionId id) const {
    return conjunctions_[id];
  }
  ConjunctionId with(ConjunctionId conjunction, Literal literal);

  // The node, and those that apply in place to the same value.
  std::vector<NodeId> in_place_nodes(NodeId from) const;
  // The strings that satisfy the literals, as one language: those that are
  // generated, and those that there may be.
  automata::LanguageBounds string_language(
      const std::vector<Literal>& literals);

  // The disjuncts of a conjunction for a type, satisfiable or not.
  // REQUIRES: !excludes(conjunction, type).
  const Expansion& expansion(ConjunctionId conjunction, JsonType type);
  // Whether no value of the type visibly satisfies the conjunction.
  bool excludes(ConjunctionId conjunction, JsonType type) const {
    return (types_[conjunction] & type_bit(type)) == 0;
  }
  // Whether a conjunction has alternatives for values of a type, satisfiable or
  // not, which is cheaper to know.
  bool has_alternatives(ConjunctionId conjunction, JsonType type) {
    return !excludes(conjunction, type) &&
           !expansion(conjunction, type).all.empty();
  }
  // Satisfiability::disjuncts(), and whether there is one for some type.
  const std::vector<DisjunctId>& disjuncts(ConjunctionId conjunction,
                                           JsonType type) {
    return satisfiability_.disjuncts(conjunction, type);
  }
  bool satisfiable(ConjunctionId conjunction) {
    return satisfiability_.satisfiable(conjunction);
  }
  // Whether it is proved that no value, of any depth, satisfies the
  // conjunction.  !satisfiable() is weaker: it is also true when no value was
  // found within the limits.
  bool is_empty(ConjunctionId conjunction) {
    // Where `unevaluatedItems` stands for less, nothing is proved.
    if (!choices_.narrowed().empty()) return false;
    const ScopedDepthLimit any(satisfiability_, kAnyLevels);
    return satisfiability_.proves_empty(conjunction);
  }

  const StringConstraints& string(DisjunctId id) const { return strings_[id]; }
  const ObjectConstraints& object(DisjunctId id) const { return objects_[id]; }
  const ArrayConstraints& array(DisjunctId id) const { return arrays_[id]; }
  // REQUIRES: `id` is a disjunct of null or of the booleans.
  static Constants constants(DisjunctId id) {
    assert(id >= 1 && id <= 3);
    return static_cast<Constants>(id);
  }

  // The conjunction that the value of a member must satisfy; kNothing if the
  // key is not allowed.
  ConjunctionId member_conjunction(DisjunctId object,
                                   const KeyClass& key_class);
  ConjunctionId item_conjunction(DisjunctId array, std::uint64_t index);
  // Splits the values of the `count`th member, with a key of `key_class`, by
  // the condition that remains after them.  Every value that the member may
  // have satisfies one of the alternatives.
  std::vector<MemberAlternative> member_alternatives(DisjunctId object,
                                                     ConditionId condition,
                                                     const KeyClass& key_class,
                                                     std::uint64_t count);
  // The condition that remains if no member has a key of the set.
  ConditionId without_keys(ConditionId condition, KeySet names);
  const Conditions& conditions() const { return conditions_; }

  Satisfiability& satisfiability() { return satisfiability_; }
  Questions& questions() { return questions_; }
  ValueLists& values() { return values_; }
  KeyTables& keys() { return keys_; }
  StringSets& string_sets() { return string_sets_; }
  KeySets& key_sets() { return key_sets_; }
  const KeySets& key_sets() const { return key_sets_; }
  KeyNames& names() { return names_; }
  const KeyNames& names() const { return names_; }

  automata::Languages& languages() { return languages_; }
  automata::NumberLanguages& numbers() { return numbers_; }
  const schema::Document& document() const { return document_; }
  const JsonSchemaOptions& options() const { return options_; }

  // Where to look for what is made of several nodes, for NoteList::leave_out().
  NodeId place(ConjunctionId conjunction) const;
  NodeId place_of_object(DisjunctId object) const;
  NodeId place_of_array(DisjunctId array) const;

  NoteList& notes() { return notes_; }
  StepCounter& steps() { return steps_; }
  // Says where the question was stopped, if it was.
  void note_stop(ConjunctionId conjunction) const;
  std::size_t memory_bytes() const;

 private:
  friend class Translation;
  struct Branch;
  class Expander;
  ConjunctionId find_member_conjunction(DisjunctId object,
                                        const KeyClass& key_class);
  std::vector<UnevaluatedRule> unevaluated(const Branch& branch, JsonType type);
  void find_prefix(ArrayConstraints& array);
  std::optional<Literal> unevaluated_rule(NodeId id, JsonType type) const;
  bool has_unevaluated(ConjunctionId conjunction, JsonType type) const;
  std::size_t width(Literal literal, JsonType type);
  std::size_t find_width(Literal literal, JsonType type);
  std::size_t width(ConjunctionId conjunction, JsonType type);
  void expand(ConjunctionId conjunction, JsonType type, Expansion& into);
  // members.cc: see there.
  std::vector<MemberAlternative> split_by_constants(
      const MemberAlternative& of);
  bool evaluated(const UnevaluatedRule& rule, std::uint64_t index);
  // The literal that an unevaluated item must satisfy.
  Literal item_rule(const UnevaluatedRule& rule) const;
  // The language of `spec` in the spelling of the options.
  automata::NumberLanguages::Id add_numbers(automata::NumberSpec& spec);

  const schema::Document& document_;
  const ItemChoices& choices_;
  const JsonSchemaOptions& options_;
  const std::unique_ptr<automata::Languages> own_languages_;  // may be null
  automata::Languages& languages_;
  automata::NumberLanguages numbers_;
  StringSets string_sets_;
  KeyNames names_;
  NodeFacts facts_;
  OverlapTable overlaps_;
  Conditions conditions_;
  MemberConditions member_conditions_;
  KeySets key_sets_;
  KeyTables keys_;
  Questions questions_;
  ValueLists values_;
  Satisfiability satisfiability_;

  std::deque<std::vector<Literal>> conjunctions_;
  // The types that the positive literals of a conjunction allow: TypeBits.
  std::vector<std::uint8_t> types_;
  base::HashedIds<ConjunctionId> conjunction_of_;
  // Texts of many readers use the same solver, so the key of a memo has all
  // that its value reads beside the document, the options, and the content of
  // the conjunctions and disjuncts that it names, which never change.  What was
  // read of questions in progress is not stored for good (questions.h).
  //
  // Caches of with() and member_conjunction(), by conjunction and literal and
  // by disjunct and key.
  std::unordered_map<std::uint64_t, ConjunctionId> with_;
  std::unordered_map<std::uint64_t, ConjunctionId> member_conjunctions_;
  std::deque<std::array<std::unique_ptr<Expansion>, kJsonTypes>> expansions_;

  std::deque<StringConstraints> strings_;
  std::deque<ObjectConstraints> objects_;
  std::deque<ArrayConstraints> arrays_;

  // The cache of width(), by literal and type.
  std::unordered_map<std::uint64_t, std::size_t> widths_;
  NoteList notes_;
  bool has_unevaluated_ = false;
  std::vector<bool> spells_enum_;  // nodes that stand for a member of an enum
  StepCounter steps_;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_SOLVER_H_
