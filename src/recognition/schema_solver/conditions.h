#ifndef PARLANCE_SRC_SCHEMA_SOLVER_CONDITIONS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_CONDITIONS_H_

// Formulas over the members of an object, which are simplified while the object
// is read.
//
//   "allOf": [{"if": {"properties": {"t": {"const": "a0"}}},
//              "then": {"anyOf": [{"required": ["g"]}, {"required": ["h"]}]}},
//             {"if": {"properties": {"t": {"const": "a1"}}}, ...}, ...]
//
//      (t is not a0  or  g present  or  h present)
//  and (t is not a1  or  ...)
//
// The number of disjuncts of such a schema is the product of its clauses; the
// size of a formula is their sum.  Each member that is read replaces the atoms
// that it decides by true or false, and the formula is simplified: t = "a1"
// leaves one clause of thirty.  The remainder, a derivative of the formula as
// in Brzozowski (1964), is the state of an alternative (json_recogniser.h).
//
// Formulas are hash-consed: equal formulas have equal ids.  They are in
// negation normal form, with negation inside the atoms.  Therefore an atom that
// is not known to hold may be assumed to fail.

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/hashed_ids.h"
#include "base/id.h"
#include "schema_solver/key_sets.h"
#include "schema_solver/literal.h"

namespace parlance::schema_solver {

using ConditionId = base::Id<struct Condition>;
inline constexpr ConditionId kAlways{0};
inline constexpr ConditionId kImpossible{1};

// A set of keys that a rule applies to.
struct KeyGroup {
  enum class Kind : std::uint8_t {
    kPattern,  // the schema::PatternId `id` matches them
    kExtra,    // the rules of the schema::NodeId `id` do not declare them
    // As strings, they satisfy `name()`, and that is certain; or they do not,
    // or that they do is not certain.
    kName,
    kNotName,
  };
  Kind kind = Kind::kPattern;
  std::uint32_t id = 0;
  static KeyGroup named(Kind kind, Literal name) { return {kind, name.bits()}; }
  // REQUIRES: kPattern.
  schema::PatternId pattern() const { return schema::PatternId(id); }
  // REQUIRES: kExtra.
  schema::NodeId node() const { return schema::NodeId(id); }
  // REQUIRES: kName or kNotName.
  Literal name() const { return Literal::from_bits(id); }
  bool operator==(const KeyGroup&) const = default;
};

struct Condition {
  enum class Kind : std::uint8_t {
    kTrue,
    kFalse,
    kAll,
    kAny,
    kAbsent,   // the object has no member `key`
    kPresent,  // the object has a member `key`
    kValue,    // it has one, and the value satisfies `literal`
    kTest,     // the value that is read next satisfies `literal`
    kSome,     // some member with a key of `keys` has a value that satisfies
               // `literal`; kNoLiteral: any value
    kEvery,    // every member with a key of `keys` has a value that satisfies
               // `literal`; kNever: there is no such member
    kAtLeast,  // the object has `bound` members or more
    kAtMost,   // the object has `bound` members or fewer
  };
  Kind kind = Kind::kTrue;
  KeyId key = kNoKey;
  Literal literal = kNoLiteral;
  KeyGroup keys = {};
  std::uint64_t bound = 0;
  std::vector<ConditionId> parts = {};  // sorted, each once
  bool operator==(const Condition&) const = default;
};

// The table of conditions.  Append-only.  Recursion is as deep as conditions
// are nested.
class Conditions {
 public:
  Conditions();

  // The id of an atom.  all() and any() return conjunctions and disjunctions.
  ConditionId of(Condition condition);
  ConditionId all(std::vector<ConditionId> parts);
  ConditionId any(std::vector<ConditionId> parts);

  // Valid until a condition is added; its list of parts for as long as this.
  const Condition& operator[](ConditionId id) const { return table_[id]; }

  // The condition that remains after the `count`th member.  Its key is `key`,
  // or kNoKey if no condition spells the key; `in` returns whether the key is
  // in a group.  Atoms that depend on the member's value become kTest.
  ConditionId after_member(ConditionId id, KeyId key, std::uint64_t count,
                           const std::function<bool(const KeyGroup&)>& in);
  // The condition that remains if the keys for which `excluded` is true do not
  // follow.
  ConditionId without_keys(ConditionId id,
                           const std::function<bool(KeyId)>& excluded);
  // The literal of some kTest; kNoLiteral if there is none.
  Literal first_test(ConditionId id) const { return tests_[id]; }
  // The condition that remains if the value satisfies `literal`, or is assumed
  // not to.
  ConditionId after_test(ConditionId id, Literal literal, bool fulfilled);
  // The condition that remains if `decide` says of tests whether the value
  // fulfils them; nothing: not known.
  ConditionId after_tests(
      ConditionId id,
      const std::function<std::optional<bool>(Literal)>& decide);
  // Whether the condition holds if the object ends with `count` members.
  bool holds_at_end(ConditionId id, std::uint64_t count) const;

  // Calls `use` with each part that is neither kAll nor kAny, each part once.
  void for_each_atom(ConditionId id,
                     const std::function<void(const Condition&)>& use) const;

  std::size_t memory_bytes() const;

 private:
  // What the atoms of a condition are about.
  struct Subjects {
    std::bitset<256> keys = {};  // bit key % 256 of each key that they name
    bool others = false;         // some name no key: kSome, kEvery or a bound
  };
  static Subjects subjects_of(const Condition& atom);
  // Whether a condition holds at the end of an object, if that does not depend
  // on the number of members.
  enum class AtEnd : std::uint8_t { kFails, kHolds, kDepends };
  AtEnd at_end_of(const Condition& condition) const;
  bool about(ConditionId id, KeyId key) const;

  // The condition with each atom replaced by `change` of it.  `may_change`:
  // false if no atom of a condition changes, which is then not searched.
  template <class MayChange, class Change>
  ConditionId map_atoms(ConditionId id, const MayChange& may_change,
                        const Change& change);
  template <class MayChange, class Change>
  ConditionId map_atoms(ConditionId id, const MayChange& may_change,
                        const Change& change, std::uint32_t call);
  static std::uint64_t part_bit(ConditionId part) {
    return std::uint64_t{1} << part % 64;
  }
  ConditionId join(Condition::Kind kind, std::vector<ConditionId> parts);
  ConditionId of_list(Condition::Kind kind, std::vector<ConditionId> parts);

  std::vector<Condition> table_;
  std::vector<Condition::Kind> kinds_;  // those of table_, closer together
  std::vector<Literal> tests_;
  std::vector<std::uint64_t> part_bits_;  // part_bit() of all parts
  std::vector<Subjects> subjects_;
  std::vector<AtEnd> at_end_;
  base::HashedIds<ConditionId> id_of_;
  std::size_t part_count_ = 0;
  // By condition: what a call of map_atoms() made of it, and the number of that
  // call.
  struct Mapped {
    std::uint32_t call = 0;
    ConditionId to;
  };
  std::vector<Mapped> mapped_;
  std::uint32_t calls_ = 0;
  // Only used inside join(): they keep their memory.
  std::vector<ConditionId> flat_;
  std::vector<KeyId> absent_;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_CONDITIONS_H_
