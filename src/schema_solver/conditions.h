#ifndef PARLANCE_SRC_SCHEMA_SOLVER_CONDITIONS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_CONDITIONS_H_

// What the members of an object must be together, as a formula that the text
// resolves while it is read.
//
//   "allOf": [{"if": {"properties": {"t": {"const": "a0"}}},
//              "then": {"anyOf": [{"required": ["g"]}, {"required": ["h"]}]}},
//             {"if": {"properties": {"t": {"const": "a1"}}}, ...}, ...]
//
//      (t is not a0  or  g there  or  h there)
//  and (t is not a1  or  ...)
//
// To split such alternatives takes their product.  A formula is a sum: each
// member that is read replaces what it decides by true or false, and what is
// left is simplified, so that t = "a1" leaves one clause of thirty.  What is
// left is the state of an alternative (json_recogniser.h); equal formulas have
// equal ids.
//
// Formulas have no negation: it is moved into the parts when they are made.
// So a part that is not known to hold may be taken to fail.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace parlance::schema_solver {

// A node of the schema that must hold (even) or must not (odd).
using Literal = std::uint32_t;
inline constexpr Literal kNoLiteral = 0xFFFFFFFF;
inline constexpr Literal kNever = 0xFFFFFFFE;  // what nothing fulfils

// A name of a member, interned.
using KeyId = std::uint32_t;
inline constexpr KeyId kNoKey = 0xFFFFFFFF;

using ConditionId = std::uint32_t;
inline constexpr ConditionId kAlways = 0;
inline constexpr ConditionId kImpossible = 1;

// Names that have something in common.
struct KeyGroup {
  enum class Kind : std::uint8_t {
    kPattern,  // the schema::PatternId `id` matches them
    kExtra,    // the rules of the schema::NodeId `id` do not know them
    kName,     // as strings, they fulfil the literal `id`
  };
  Kind kind = Kind::kPattern;
  std::uint32_t id = 0;
  bool operator==(const KeyGroup&) const = default;
};

struct Condition {
  enum class Kind : std::uint8_t {
    kTrue,
    kFalse,
    kAll,
    kAny,
    kAbsent,   // `key` is not there
    kPresent,  // `key` is
    kValue,    // `key` is, and its value fulfils `literal`
    kTest,     // the value that comes now fulfils `literal`
    kSome,     // so does that of some name of `names`; kNoLiteral: there is one
    kEvery,    // so does that of every name of `names`; kNever: there is none
    kAtLeast,  // `bound` members or more
    kAtMost,
  };
  Kind kind = Kind::kTrue;
  KeyId key = kNoKey;
  Literal literal = kNoLiteral;
  KeyGroup keys = {};
  std::uint64_t bound = 0;
  std::vector<ConditionId> parts = {};  // sorted, each once
  bool operator==(const Condition&) const = default;
};

// Owns conditions.  Append-only.  Recursion is as deep as they are nested.
class Conditions {
 public:
  Conditions();

  // Of one part; kAll and kAny are made by all() and any().
  ConditionId of(Condition condition);
  ConditionId all(std::vector<ConditionId> parts);
  ConditionId any(std::vector<ConditionId> parts);

  const Condition& operator[](ConditionId id) const { return table_[id]; }

  // What is left where a member is read, the `count`th: one called `key`, or
  // one that no condition names (kNoKey).  `in` says which sets its name is in.
  // What depends on its value becomes kTest.
  ConditionId after_member(ConditionId id, KeyId key, std::uint64_t count,
                           const std::function<bool(const KeyGroup&)>& in);
  // What is left where the members that `gone` says will not come.
  ConditionId without_keys(ConditionId id,
                           const std::function<bool(KeyId)>& excluded);
  // The literal of some kTest; kNoLiteral if there is none.
  Literal first_test(ConditionId id) const { return tests_[id]; }
  // What is left where the value fulfils `literal`, or is taken not to.
  ConditionId after_test(ConditionId id, Literal literal, bool fulfilled);
  // Whether it holds where the object ends with `count` members.
  bool holds_at_end(ConditionId id, std::uint64_t count) const;

  // Calls `use` with each part that is neither kAll nor kAny.
  void for_each_atom(ConditionId id,
                     const std::function<void(const Condition&)>& use) const;

  std::size_t memory_bytes() const;

 private:
  using Change = std::function<ConditionId(ConditionId)>;
  ConditionId join(Condition::Kind kind, std::vector<ConditionId> parts);
  ConditionId map_atoms(ConditionId id, const Change& change,
                        std::unordered_map<ConditionId, ConditionId>& known);

  std::vector<Condition> table_;
  std::vector<Literal> tests_;
  std::unordered_multimap<std::uint64_t, ConditionId> id_of_;
  std::size_t part_count_ = 0;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_CONDITIONS_H_
