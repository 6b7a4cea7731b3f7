#ifndef PARLANCE_SRC_SCHEMA_SOLVER_SOLVER_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_SOLVER_H_

// What a value has to be, taken apart until only plain disjuncts are left.
//
// A *literal* is a node of the schema that must hold, or must not.  A
// *conjunction* is a set of literals that must hold together.  For each type of
// JSON a conjunction is expanded into alternative *disjuncts*: conjunctions
// without any and, or, not or if left in them.
//
//   {"type": ["object", "null"],          object: {members of 0, required a}
//    "anyOf": [{"required": ["a"]},    =>         {members of 0, required b}
//              {"required": ["b"]}],      null:   {null}
//    "properties": {"a": {..}, "b": {..}}}
//
// Negation goes inwards: not {"properties": {"a": S}} is "a is there and its
// value is not S".  So each disjunct is a plain description that a machine can
// ride along, and the text is valid if one of them is fulfilled.
//
// Where splitting would multiply, what is left open about an object stays in
// its disjunct as a condition (conditions.h).
//
// Whether anything at all fulfils a disjunct is decided here too
// (satisfiable()), so that nobody sets out for what cannot be reached.  The
// question recurs along required members and items; a cycle that never comes to
// an end has no finite value, hence is not satisfiable.
//
// When a schema has more alternatives than the limit, the first ones are kept:
// the language gets narrower, never wider, and narrowed() says so.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automata/language.h"
#include "automata/number_language.h"
#include "parlance/error.h"
#include "parlance/schema_options.h"
#include "schema/document.h"
#include "schema_solver/conditions.h"
#include "schema_solver/contains.h"
#include "schema_solver/key_sets.h"

namespace parlance::schema_solver {

using schema::NodeId;

constexpr Literal holds(NodeId node) { return node << 1; }
constexpr Literal fails(NodeId node) { return node << 1 | 1; }
constexpr Literal negation(Literal literal) { return literal ^ 1; }

using ConjunctionId = std::uint32_t;
inline constexpr ConjunctionId kAnything = 0;
inline constexpr ConjunctionId kNothing = 1;

// ORDER: JsonType
enum class JsonType : std::uint8_t {
  kNull,
  kBoolean,
  kNumber,
  kString,
  kArray,
  kObject,
};
inline constexpr std::size_t kJsonTypes = 6;

inline constexpr std::uint64_t kUnboundedCount = ~std::uint64_t{0};

struct StringConstraints {
  automata::LanguageId language = 0;
  std::uint64_t min_chars = 0;
  std::uint64_t max_chars = kUnboundedCount;
  bool operator==(const StringConstraints&) const = default;
};

// The members' rules of one node: `properties` and `patternProperties` of
// `node`, and `extra` for the names that neither knows.
struct MemberRules {
  NodeId node = 0;
  Literal extra = kNoLiteral;
  bool operator==(const MemberRules&) const = default;
};

// The rule of `node` for the names (or indexes) that neither its own other
// rules nor those of a node in `scopes` have evaluated.
struct UnevaluatedRule {
  Literal rule = kNoLiteral;
  NodeId node = 0;
  std::vector<NodeId> scopes;
  bool operator==(const UnevaluatedRule&) const = default;
};

struct ObjectConstraints {
  std::vector<MemberRules> members;
  std::vector<UnevaluatedRule> unevaluated;
  std::vector<Literal> key_rules;             // for every key, as a string
  std::vector<std::pair<KeyId, Literal>> at;  // more for one name's value
  std::vector<KeyId> required;                // sorted
  std::vector<KeyId> forbidden;               // sorted
  std::vector<std::pair<KeyId, std::vector<KeyId>>> dependent;
  std::uint64_t min = 0;
  std::uint64_t max = kUnboundedCount;
  // What is left open while the object is written, and the nodes that it is
  // about, in the order of the schema.
  ConditionId condition = kAlways;
  std::vector<NodeId> condition_nodes;
  bool operator==(const ObjectConstraints&) const = default;
};
// Of an array.
inline constexpr std::size_t kMaxWitnesses = 32;

// The items' rules of one node: its prefix, then `rest`.
struct ItemRules {
  NodeId node = 0;
  Literal rest = kNoLiteral;
  bool operator==(const ItemRules&) const = default;
};

// The number of items that fulfil `literal` is within bounds.
struct ItemCount {
  Literal literal = kNoLiteral;
  std::uint64_t min = 1;
  std::uint64_t max = kUnboundedCount;
  bool operator==(const ItemCount&) const = default;
};

struct ArrayConstraints {
  std::vector<ItemRules> items;
  std::vector<UnevaluatedRule> unevaluated;
  std::vector<std::pair<std::uint64_t, Literal>> at;  // more for one index
  // Some item from an index on has to fulfil a literal.
  std::vector<std::pair<std::uint64_t, Literal>> witnesses;
  std::vector<ItemCount> counts;
  std::uint64_t min = 0;
  std::uint64_t max = kUnboundedCount;
  bool unique = false;
  bool operator==(const ArrayConstraints&) const = default;

  // From this index on every item has the same rules.
  std::uint64_t prefix = 0;
};

// A set of the values of a type that has at most two.
using Constants = std::uint8_t;
inline constexpr Constants kNullValue = 1;
inline constexpr Constants kFalseValue = 1;
inline constexpr Constants kTrueValue = 2;

// One disjunct of a conjunction for one type, as an index into the table of
// the type: SchemaSolver::string(), number_spec(), array() or object().  Null
// and booleans have no table: there the id holds a set of values, which
// SchemaSolver::constants() returns.
using DisjunctId = std::uint32_t;

// A kind of name as the rules see it: one that is spelled somewhere in the
// schema, or any other that matches exactly `patterns` of the ones in play.
struct KeyClass {
  KeyId key = kNoKey;
  const std::vector<automata::LanguageId>* languages = nullptr;
  const std::vector<bool>* matched = nullptr;
};

// Names that the schema spells nowhere and that match just these patterns.
struct ExtraKeys {
  std::vector<bool> matched;
  automata::LanguageId language = 0;  // unused where there is one class only
};

// What the value of a member may be, and what is then left of a condition.
struct MemberAlternative {
  ConjunctionId conjunction = kNothing;
  ConditionId condition = kAlways;
  bool operator==(const MemberAlternative&) const = default;
};

// Not thread-safe.  Tables only grow; references to their entries stay good.
class SchemaSolver {
 public:
  // All must outlive the conjunctions.
  SchemaSolver(const schema::Document& document, const ItemChoices& choices,
               const JsonSchemaOptions& options);
  ~SchemaSolver();

  // What is wrong with single nodes: patterns that are not regular, keywords
  // that cannot be enforced.  Fills notes().
  std::optional<Error> check_nodes();

  // Looks at what can be reached from a conjunction, as far as that is not too
  // much work, so that narrowed() and the notes are known before a text is
  // read.
  void survey(ConjunctionId root);

  // While one is alive, what is satisfiable, completable or among the disjuncts
  // is meant for values with at most so many levels of arrays and objects.
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

  ConjunctionId conjunction(std::vector<Literal> literals);
  const std::vector<Literal>& literals(ConjunctionId id) const {
    return conjunctions_[id];
  }
  ConjunctionId with(ConjunctionId conjunction, Literal literal);

  // The satisfiable alternatives of a conjunction; empty when no value of the
  // type fits.
  const std::vector<DisjunctId>& disjuncts(ConjunctionId conjunction,
                                           JsonType type);
  bool satisfiable(ConjunctionId conjunction) { return solve(conjunction).yes; }
  // Nothing fulfils the conjunction, of any number of levels.  More than
  // !satisfiable(), which also says that nothing was found within the limits.
  bool is_empty(ConjunctionId conjunction) {
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
  const automata::NumberSpec& number_spec(DisjunctId id) const {
    return specs_.at(id);
  }

  // What the value of a member has to be; kNothing where the name itself is
  // not allowed.
  ConjunctionId member_conjunction(DisjunctId object,
                                   const KeyClass& key_class);
  ConjunctionId item_conjunction(DisjunctId array, std::uint64_t index);
  // What a member of that name, the `count`th, makes of a condition of the
  // object.  Every value that it may have is under one of the ways.
  std::vector<MemberAlternative> member_alternatives(DisjunctId object,
                                                     ConditionId condition,
                                                     const KeyClass& key_class,
                                                     std::uint64_t count);
  // What is left of a condition where these members do not come.
  ConditionId without_keys(ConditionId condition, KeySet names);
  // Whether names that the schema does not spell have to be told apart.
  bool tracks_extra_keys(DisjunctId object);

  // The members of an object so far.
  struct Members {
    KeySet seen = kNoKeys;
    // Those that were left out and can come no more.
    KeySet excluded = kNoKeys;
    std::uint64_t count = 0;
    ConditionId condition = kAlways;  // what is left of the disjunct's
  };
  // Whether an object with these members can be completed.  REQUIRES: the
  // disjunct is satisfiable.
  bool completable(DisjunctId object, const Members& members);
  // Whether it is complete.
  bool complete(DisjunctId object, const Members& members);
  // Counts of members beyond this one are all alike.
  std::uint64_t count_cap(DisjunctId object);
  // The same for an array of `size` items, `counted` of which fulfil the
  // disjunct's counts.
  bool completable_array(DisjunctId array, std::uint64_t size,
                         const std::vector<std::uint64_t>& counted,
                         std::uint32_t found_witnesses) {
    return solve_items(array, size, counted, found_witnesses).yes;
  }
  bool complete_array(DisjunctId array, std::uint64_t size,
                      const std::vector<std::uint64_t>& counted,
                      std::uint32_t found_witnesses);

  // What is required beyond `seen`, dependent names included.
  KeySet needed(DisjunctId object, KeySet seen);
  // What is always required.
  KeySet required(DisjunctId object);
  // The names of which rules solve again, when they have come or were left out,
  // whether they came; required() apart.
  KeySet presence_keys(DisjunctId object);
  // Those that the disjunct's condition speaks of.
  KeySet condition_keys(DisjunctId object);
  // The names that the rules of a disjunct spell, sorted.
  const std::vector<KeyId>& spelled_list(DisjunctId object);
  KeySet spelled(DisjunctId object);
  // The patterns that its rules for names use.
  const std::vector<automata::LanguageId>& key_languages(DisjunctId object);
  // All other names, by the patterns they match.
  const std::vector<ExtraKeys>& extra_keys(DisjunctId object);
  // Those of them that may be members.
  automata::LanguageId possible_extra_keys(DisjunctId object);
  // The place of a name in the order of declaration; kNoRank if it has none.
  static constexpr std::uint32_t kNoRank = 0xFFFFFFFF;
  std::uint32_t rank(DisjunctId object, KeyId key);
  // The least rank of a name in the set; kNoRank if none has one.
  std::uint32_t min_rank(DisjunctId object, KeySet set);
  // The names with a rank below this one.
  KeySet ranked_below(DisjunctId object, std::uint32_t rank);

  KeyId key(std::string_view name);
  // Keys below this one are in the order of their texts.
  KeyId keys_in_order() const { return keys_in_order_; }
  KeySets& key_sets() { return key_sets_; }
  const KeySets& key_sets() const { return key_sets_; }
  const std::string& key_text(KeyId key) const { return keys_[key]; }

  automata::Languages& languages() { return languages_; }
  automata::NumberLanguages& numbers() { return numbers_; }
  const schema::Document& document() const { return document_; }
  const JsonSchemaOptions& options() const { return options_; }

  std::vector<GrammarNote> take_notes() { return std::move(notes_); }
  bool narrowed() const { return narrowed_ || languages_.narrowed(); }
  std::size_t memory_bytes() const;

 private:
  struct Branch;
  class Expander;
  struct ObjectKeys;
  enum class SolveState : std::uint8_t { kUnknown, kInProgress, kYes, kNo };
  struct Expansion {
    std::vector<DisjunctId> all;
    std::vector<DisjunctId> satisfiable;
    bool expanding = false;
    bool expanded = false;
    bool satisfiable_known = false;
    bool incomplete =
        false;  // some alternatives were left out, here or further in
    SolveState state = SolveState::kUnknown;
    std::uint32_t depth = 0;  // on the stack of questions, while busy
    // A "no" that rests on the question at place `low` is good as long as that
    // is being asked (by its serial number) and no question has had a "yes".
    // Without it, those of a recursive schema would be asked 2^n times.
    struct Provisional {
      std::uint32_t low = 0;
      std::uint64_t serial = 0;  // 0: there is none
      std::uint64_t yes_count = 0;
      bool incomplete = false;
    } provisional_no = {};
  };
  // Whether something is satisfiable.  A "no" that rests on a question still
  // being asked is good for that question only: `low` is the lowest such place.
  struct Verdict {
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;
    bool yes = false;
    std::uint32_t low = kNone;
    bool incomplete = false;  // what was left out might have led to a yes

    void depend_on(const Verdict& other) {
      low = std::min(low, other.low);
      incomplete = incomplete || other.incomplete;
    }
    bool proves_empty() const { return !yes && !incomplete && low == kNone; }
  };

  ConjunctionId find_member_conjunction(DisjunctId object,
                                        const KeyClass& key_class);
  Expansion& expansion(ConjunctionId conjunction, JsonType type);
  std::vector<UnevaluatedRule> unevaluated(const Branch& branch, JsonType type);
  void find_prefix(ArrayConstraints& array);
  bool can_join(ConjunctionId conjunction, JsonType type) const;
  void expand(ConjunctionId conjunction, JsonType type, Expansion& into);
  Verdict solve(ConjunctionId conjunction, JsonType type);
  Verdict solve(ConjunctionId conjunction);
  Verdict solve_disjunct(JsonType type, DisjunctId disjunct);
  const std::vector<DisjunctId>& disjuncts_within(ConjunctionId conjunction,
                                                  JsonType type);
  // `satisfiable`: the disjunct is known to be.
  Verdict solve_members(DisjunctId object, const Members& members,
                        bool satisfiable);
  class CompletionSearch;

  // members.cc: see there.
  bool accepts_all(NodeId id, JsonType type);
  bool has_exact_negation(NodeId id);
  std::vector<NodeId> in_place_nodes(NodeId from) const;
  ConditionId object_condition(NodeId id);
  ConditionId negated_object_condition(NodeId id);
  ConditionId condition_of(Literal literal);
  ConditionId one_of(const schema::Node& node, bool negated);
  ConditionId if_then_else(const schema::Node& node, bool negated);
  bool is_in(const KeyGroup& keys, const KeyClass& key_class);

  Verdict solve_items(DisjunctId array, std::uint64_t size,
                      const std::vector<std::uint64_t>& counted,
                      std::uint32_t found_witnesses);
  // The same where counts stand in each other's way; nothing if there are too
  // many of them.  `most`: how many items there can be.
  std::optional<Verdict> solve_counts(DisjunctId array, std::uint64_t size,
                                      const std::vector<std::uint64_t>& counted,
                                      std::uint32_t found_witnesses,
                                      std::uint64_t max_items);
  std::uint64_t count_strings(automata::StateId state, std::uint64_t wanted);
  std::uint64_t count_numbers(DisjunctId disjunct, std::uint64_t wanted);
  bool enough_values(ConjunctionId conjunction, std::uint64_t wanted);
  bool enough_to_differ(DisjunctId array, std::uint64_t size,
                        const std::vector<std::uint64_t>& counted);
  ObjectKeys& object_keys(DisjunctId object);
  std::vector<std::string> few_strings(automata::LanguageId language);
  void find_extra_keys(DisjunctId object, ObjectKeys& object_keys);
  void intern_keys();
  const std::vector<std::pair<KeyId, NodeId>>& node_keys(NodeId node);
  NodeId declared(NodeId node, KeyId key);
  bool matches(automata::LanguageId language, const KeyClass& key_class);
  bool knows(NodeId node, const KeyClass& key_class);
  bool evaluated(const UnevaluatedRule& rule, const KeyClass& key_class);
  bool evaluated(const UnevaluatedRule& rule, std::uint64_t index);
  // What an item that is not evaluated has to fulfil.
  Literal item_rule(const UnevaluatedRule& rule) const;
  automata::LanguageId pattern_language(schema::PatternId pattern);
  // The strings among the values of an enum.
  automata::LanguageId enum_language(const std::vector<json::Value>& values);
  automata::LanguageId all_of(std::vector<automata::LanguageId> languages);
  automata::LanguageId complement(automata::LanguageId language);
  bool list_contains(automata::LanguageId language, const std::string& word);
  automata::LanguageId string_language(const std::vector<Literal>& names);
  std::optional<Error> check_node(NodeId id);
  void note_format(NodeId id);
  void note_negated();
  void note(GrammarNote::Kind kind, NodeId node, std::string_view keyword,
            std::string message);

  const schema::Document& document_;
  const ItemChoices& choices_;
  const JsonSchemaOptions& options_;
  automata::Languages languages_;
  automata::NumberLanguages numbers_;

  std::deque<std::vector<Literal>> conjunctions_;
  std::unordered_multimap<std::uint64_t, ConjunctionId> conjunction_of_;
  // What with() and member_conjunction() said: by conjunction and literal, by
  // disjunct and key.
  std::unordered_map<std::uint64_t, ConjunctionId> with_;
  std::unordered_map<std::uint64_t, ConjunctionId> member_conjunctions_;
  std::deque<std::array<std::unique_ptr<Expansion>, kJsonTypes>> expansions_;

  std::deque<StringConstraints> strings_;
  std::deque<ObjectConstraints> objects_;
  std::deque<ArrayConstraints> arrays_;
  std::unordered_map<automata::NumberLanguages::Id, automata::NumberSpec>
      specs_;
  std::deque<std::unique_ptr<ObjectKeys>> object_keys_;

  std::deque<std::string> keys_;
  std::unordered_map<std::string_view, KeyId> key_of_;
  KeyId keys_in_order_ = 0;
  KeySets key_sets_;
  std::unordered_map<NodeId, std::vector<std::pair<KeyId, NodeId>>> node_keys_;
  Conditions conditions_;
  std::unordered_map<Literal, ConditionId> condition_of_;
  std::unordered_map<std::uint64_t, bool> accepts_all_;  // by node and type
  std::unordered_map<NodeId, bool> has_exact_negation_;
  // What completable() said.
  std::map<std::tuple<DisjunctId, ConditionId, KeySet, KeySet, std::uint64_t,
                      std::uint32_t>,
           bool>
      completable_;
  std::vector<automata::LanguageId> pattern_languages_;
  std::unordered_map<const void*, automata::LanguageId> enum_languages_;
  // Languages that are lists of words, sorted, and by their complements.
  std::unordered_map<automata::LanguageId, std::vector<std::string>>
      string_lists_;
  std::unordered_map<automata::LanguageId, automata::LanguageId>
      complemented_lists_;
  std::unordered_map<std::uint64_t, bool> key_matches_;

  std::vector<GrammarNote> notes_;
  bool has_unevaluated_ = false;
  std::vector<bool> spells_enum_;  // nodes that stand for a member of an enum
  bool narrowed_ = false;
  std::uint32_t depth_ = 0;             // questions being asked
  std::vector<std::uint64_t> serials_;  // of those
  std::uint64_t next_serial_ = 1;
  std::uint64_t yes_count_ = 0;
  std::uint32_t levels_ = kAnyLevels;
  // disjuncts() for fewer levels than any.
  std::map<std::tuple<ConjunctionId, JsonType, std::uint32_t>,
           std::vector<DisjunctId>>
      disjuncts_within_;
  std::size_t steps_ = 0;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_SOLVER_H_
