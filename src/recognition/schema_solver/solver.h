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
// satisfiable() decides whether some value satisfies a conjunction, so that a
// recogniser never enters a dead end.  The recursion follows required members
// and items.  A conjunction that requires itself has no finite value, hence is
// not satisfiable.
//
// If a schema has more disjuncts than the limit, the first ones are used: the
// language becomes narrower, never wider.  Whatever leaves values out calls
// NoteList::leave_out(), which makes a note for report() and returns an
// Exactness for the verdict; no proof of emptiness rests on such a verdict
// (exactness.h).

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
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
#include "schema_solver/few_values.h"
#include "schema_solver/key_names.h"
#include "schema_solver/key_sets.h"
#include "schema_solver/key_tables.h"
#include "schema_solver/member_conditions.h"
#include "schema_solver/node_facts.h"
#include "schema_solver/notes.h"
#include "schema_solver/string_sets.h"
#include "schema_solver/value_lists.h"

namespace parlance::schema_solver {

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

  // While a ScopedDepthLimit is alive, satisfiable(), completable() and
  // disjuncts() consider only values with at most `levels` levels of arrays and
  // objects.
  static constexpr std::uint32_t kAnyLevels = 0xFFFFFFFF;
  class ScopedDepthLimit {
   public:
    ScopedDepthLimit(SchemaSolver& solver, std::uint32_t levels)
        : solver_(solver), before_(std::exchange(solver.levels_, levels)) {}
    ~ScopedDepthLimit() { solver_.levels_ = before_; }
    ScopedDepthLimit(const ScopedDepthLimit&) = delete;
    ScopedDepthLimit& operator=(const ScopedDepthLimit&) = delete;

   private:
    SchemaSolver& solver_;
    std::uint32_t before_;
  };

  // The number of levels of the innermost ScopedDepthLimit.
  std::uint32_t levels() const { return levels_; }

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

  // The satisfiable disjuncts of a conjunction; empty when no value of the type
  // satisfies it.
  const std::vector<DisjunctId>& disjuncts(ConjunctionId conjunction,
                                           JsonType type);
  // Whether a conjunction has alternatives for values of a type, satisfiable or
  // not, which is cheaper to know.
  bool has_alternatives(ConjunctionId conjunction, JsonType type) {
    return !excludes(conjunction, type) &&
           !expansion(conjunction, type).all.empty();
  }
  // Whether disjuncts() has left out alternatives that a value may satisfy.
  bool leaves_out(ConjunctionId conjunction, JsonType type);
  bool satisfiable(ConjunctionId conjunction) { return solve(conjunction).yes; }
  // Whether it is proved that no value, of any depth, satisfies the
  // conjunction.  !satisfiable() is weaker: it is also true when no value was
  // found within the limits.
  bool is_empty(ConjunctionId conjunction) {
    // Where `unevaluatedItems` stands for less, nothing is proved.
    if (!choices_.narrowed().empty()) return false;
    const ScopedDepthLimit any(*this, kAnyLevels);
    return solve(conjunction).proves_empty();
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
  // The members of an object so far.
  struct Members {
    KeySet seen = kNoKeys;
    // Keys that are absent and can no longer be written.
    KeySet excluded = kNoKeys;
    std::uint64_t count = 0;
    ConditionId condition = kAlways;  // the remainder of the disjunct's
  };
  // Whether an object with these members can be completed.  REQUIRES: the
  // disjunct is satisfiable.
  bool completable(DisjunctId object, const Members& members);
  // Whether it is complete.
  bool complete(DisjunctId object, const Members& members);
  // Whether an array of `size` items can be completed, and if so, the values
  // that the last of them must not have.  `counted` has the number of items for
  // each of the disjunct's counts; bit i of `found_witnesses` is set if there
  // is an item for witness i; `used` says which values the items before have.
  std::optional<std::vector<ValueText>> barred_before(
      DisjunctId array, std::uint64_t size,
      const std::vector<std::uint64_t>& counted, std::uint32_t found_witnesses,
      const IsUsed& used);
  bool complete_array(DisjunctId array, std::uint64_t size,
                      const std::vector<std::uint64_t>& counted,
                      std::uint32_t found_witnesses);

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
  std::size_t memory_bytes() const;

 private:
  friend class Translation;
  struct Branch;
  class Expander;
  enum class SolveState : std::uint8_t { kUnknown, kInProgress, kYes, kNo };
  struct Expansion {
    std::vector<DisjunctId> all;
    std::vector<DisjunctId> satisfiable;
    bool expanding = false;
    bool expanded = false;
    bool satisfiable_known = false;
    // Not exact: some alternatives were left out, here or in a conjunction
    // further in.
    Exactness exactness = {};
    SolveState state = SolveState::kUnknown;
    std::uint32_t depth = 0;  // of the call of solve(), while in progress
    // A "no" that depends on the call at depth `low` is valid while that call,
    // identified by its serial number, is in progress and no verdict was "yes"
    // since.  Without it a recursive schema would need 2^n calls.
    struct Provisional {
      std::uint32_t low = 0;
      std::uint64_t serial = 0;  // 0: there is none
      std::uint64_t yes_count = 0;
      Exactness exactness = {};
    } provisional_no = {};
  };
  // Whether something is satisfiable.  `low` is the least depth of a call in
  // progress that a "no" depends on; such a "no" is valid during that call
  // only.
  struct Verdict {
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;
    bool yes = false;
    std::uint32_t low = kNone;
    // Not exact: an alternative that was left out might be satisfiable.
    Exactness exactness = {};

    void depend_on(const Verdict& other) {
      low = std::min(low, other.low);
      exactness |= other.exactness;
    }
    bool proves_empty() const {
      return !yes && exactness.exact() && low == kNone;
    }
  };

  ConjunctionId find_member_conjunction(DisjunctId object,
                                        const KeyClass& key_class);
  Expansion& expansion(ConjunctionId conjunction, JsonType type);
  // Whether no value of the type visibly satisfies the conjunction.
  bool excludes(ConjunctionId conjunction, JsonType type) const {
    return (types_[conjunction] & type_bit(type)) == 0;
  }
  std::vector<UnevaluatedRule> unevaluated(const Branch& branch, JsonType type);
  void find_prefix(ArrayConstraints& array);
  std::optional<Literal> unevaluated_rule(NodeId id, JsonType type) const;
  bool has_unevaluated(ConjunctionId conjunction, JsonType type) const;
  std::size_t width(Literal literal, JsonType type);
  std::size_t find_width(Literal literal, JsonType type);
  std::size_t width(ConjunctionId conjunction, JsonType type);
  void expand(ConjunctionId conjunction, JsonType type, Expansion& into);
  // Counts steps of the present question.
  void count_step();
  // Whether it may take more steps.  If not, it is stopped.
  bool steps_left();
  // Says where the question was stopped, if it was.
  void note_stop(ConjunctionId conjunction) const;
  Verdict solve(ConjunctionId conjunction, JsonType type);
  Verdict solve(ConjunctionId conjunction);
  Verdict solve_disjunct(JsonType type, DisjunctId disjunct);
  const std::vector<DisjunctId>& disjuncts_within(ConjunctionId conjunction,
                                                  JsonType type);
  // `satisfiable`: whether the disjunct is known to be satisfiable.
  Verdict solve_members(DisjunctId object, const Members& members,
                        bool satisfiable);
  class CompletionSearch;
  class ItemSearch;

  // members.cc: see there.
  std::vector<MemberAlternative> split_by_constants(
      const MemberAlternative& of);
  Verdict solve_items(DisjunctId array, std::uint64_t size,
                      const std::vector<std::uint64_t>& counted,
                      std::uint32_t found_witnesses, const IsUsed& used);
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
  ValueLists values_;

  std::deque<std::vector<Literal>> conjunctions_;
  // The types that the positive literals of a conjunction allow: TypeBits.
  std::vector<std::uint8_t> types_;
  base::HashedIds<ConjunctionId> conjunction_of_;
  // Texts of many readers use the same solver, so the key of a memo has all
  // that its value reads beside the document, the options, and the content of
  // the conjunctions and disjuncts that it names, which never change.  What it
  // does not have is which questions were in progress: see disjuncts() in
  // satisfiable.cc for where that matters.
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
  // The cache of completable(), by its arguments and the number of levels.
  std::map<std::tuple<DisjunctId, ConditionId, KeySet, KeySet, std::uint64_t,
                      std::uint32_t>,
           bool>
      completable_;
  // What completes an object: the members that are present, with literals that
  // their values satisfy, and the rules for all members (each a kEvery).
  struct FoundCompletion {
    std::vector<std::pair<KeyId, std::vector<Literal>>> members;
    std::vector<ConditionId> every_rules;
  };
  // The last one that was found for an object: where a search begins, which
  // checks it.
  std::unordered_map<DisjunctId, FoundCompletion> completions_;

  NoteList notes_;
  bool has_unevaluated_ = false;
  std::vector<bool> spells_enum_;  // nodes that stand for a member of an enum
  // The most nested calls of solve(), beyond which the verdict is "no".
  static constexpr std::uint32_t kMaxDepth = 2000;
  std::uint32_t depth_ = 0;             // calls of solve() in progress
  std::vector<std::uint64_t> serials_;  // of those
  std::uint64_t next_serial_ = 1;
  std::uint64_t yes_count_ = 0;
  std::uint32_t levels_ = kAnyLevels;
  // disjuncts() for fewer levels than any.
  std::map<std::tuple<ConjunctionId, JsonType, std::uint32_t>,
           std::vector<DisjunctId>>
      disjuncts_within_;
  // GrammarLimits::steps counts those of one question, or of the compile.
  std::size_t steps_ = 0;
  std::uint64_t question_ = 0;  // that `steps_` counts for
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_SOLVER_H_
