#ifndef PARLANCE_SRC_SCHEMA_SOLVER_CONSTRAINTS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_CONSTRAINTS_H_

// What a disjunct says of a value: plain constraints on one type, without
// logic.  See solver.h for how disjuncts come about.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "automata/language.h"
#include "base/id.h"
#include "schema/document.h"
#include "schema_solver/conditions.h"
#include "schema_solver/literal.h"

namespace parlance::schema_solver {

using ConjunctionId = base::Id<struct ConjunctionTag>;
inline constexpr ConjunctionId kAnything{0};
inline constexpr ConjunctionId kNothing{1};

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

// The type as one of schema::TypeBits.
constexpr std::uint8_t type_bit(JsonType type) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(type));
}
static_assert(type_bit(JsonType::kNull) == schema::kNull &&
              type_bit(JsonType::kObject) == schema::kObject);

constexpr bool is_nested(JsonType type) {
  return type == JsonType::kArray || type == JsonType::kObject;
}

inline constexpr std::uint64_t kUnboundedCount = ~std::uint64_t{0};

struct StringConstraints {
  automata::LanguageId language = {};
  std::uint64_t min_chars = 0;
  std::uint64_t max_chars = kUnboundedCount;
  bool operator==(const StringConstraints&) const = default;
};

// The rules of one node for members: `properties` and `patternProperties` of
// `node`, and `extra` for the keys that neither declares.
struct MemberRules {
  NodeId node = {};
  Literal extra = kNoLiteral;
  bool operator==(const MemberRules&) const = default;
};

// The rule of `node` for the keys (or indexes) that are not evaluated, neither
// by other rules of `node` nor by a node in `scopes`.
struct UnevaluatedRule {
  Literal rule = kNoLiteral;
  NodeId node = {};
  std::vector<NodeId> scopes;
  bool operator==(const UnevaluatedRule&) const = default;
};

struct ObjectConstraints {
  std::vector<MemberRules> members;
  std::vector<UnevaluatedRule> unevaluated;
  std::vector<Literal> key_rules;             // for every key, as a string
  std::vector<std::pair<KeyId, Literal>> at;  // more for one key's value
  std::vector<KeyId> required;                // sorted
  std::vector<KeyId> forbidden;               // sorted
  std::vector<std::pair<KeyId, std::vector<KeyId>>> dependent;
  std::uint64_t min = 0;
  std::uint64_t max = kUnboundedCount;
  // The disjunctions that were not split, and the nodes that they come from, in
  // the order of the schema.
  ConditionId condition = kAlways;
  std::vector<NodeId> condition_nodes;
  bool operator==(const ObjectConstraints&) const = default;
};

// The most alternatives of one disjunction that are followed side by side.
// Further ones are joined, or left out with a note.
inline constexpr std::size_t kMostAlternatives = std::size_t{1} << 14;

// The most witnesses that one array disjunct may have.
inline constexpr std::size_t kMaxWitnesses = 32;

// The items' rules of one node: its prefix, then `rest`.
struct ItemRules {
  NodeId node = {};
  Literal rest = kNoLiteral;
  bool operator==(const ItemRules&) const = default;
};

// The number of items that satisfy `literal` is in [min, max].
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
  // (index, literal): some item at the index or after it satisfies the literal.
  std::vector<std::pair<std::uint64_t, Literal>> witnesses;
  std::vector<ItemCount> counts;
  std::uint64_t min = 0;
  std::uint64_t max = kUnboundedCount;
  bool unique = false;  // only if `max` is above 1
  bool operator==(const ArrayConstraints&) const = default;

  // The items from this index on have the same rules.
  std::uint64_t prefix = 0;
};

// A set of the values of a type that has at most two.
using Constants = std::uint8_t;
inline constexpr Constants kNullValue = 1;
inline constexpr Constants kFalseValue = 1;
inline constexpr Constants kTrueValue = 2;

// One disjunct of a conjunction for one type, as an index into the table of
// the type: SchemaSolver::string(), numbers(), array() or object().  Null
// and booleans have no table: there the id holds a set of values, which
// SchemaSolver::constants() returns.
using DisjunctId = base::Id<struct DisjunctTag>;

// A class of keys that the rules of an object do not distinguish: either one
// key that the schema spells, or all other keys that match the same of the
// patterns in `languages`, as `matched` says.
struct KeyClass {
  KeyId key = kNoKey;
  const std::vector<automata::LanguageId>* languages = nullptr;
  const std::vector<bool>* matched = nullptr;
};

// The keys that the schema does not spell and that match exactly the patterns
// in `matched`.
struct ExtraKeys {
  std::vector<bool> matched;
  automata::LanguageId language = {};  // unused where there is one class only
};

// One alternative for the value of a member, and the condition that remains
// after the member.
struct MemberAlternative {
  ConjunctionId conjunction = kNothing;
  ConditionId condition = kAlways;
  bool operator==(const MemberAlternative&) const = default;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_CONSTRAINTS_H_
