#ifndef PARLANCE_SRC_SCHEMA_SOLVER_MEMBER_CONDITIONS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_MEMBER_CONDITIONS_H_

// What a literal requires of the members of an object, as a condition.
//
// The expander joins such conditions to a disjunct in place of splitting it.
// This owns no conditions: it adds them to the table of the solver, which
// follows them while an object is read.  What a literal is translated to
// depends on the document alone.

#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "schema/document.h"
#include "schema_solver/conditions.h"
#include "schema_solver/exclusive.h"
#include "schema_solver/key_names.h"
#include "schema_solver/literal.h"

namespace parlance::schema_solver {

// Not thread-safe.
class MemberConditions {
 public:
  // All must outlive this.
  MemberConditions(const schema::Document& document, KeyNames& names,
                   OverlapTable& overlaps, Conditions& conditions)
      : document_(document),
        names_(names),
        overlaps_(overlaps),
        conditions_(conditions) {}

  // The condition that the literal is equivalent to for objects, in negation
  // normal form.  REQUIRES: no unevaluated rule is among the node's rules or
  // those of the nodes that apply in place.
  ConditionId of(Literal literal);
  // The negation of the node's own rules for objects, without
  // dependentSchemas and Node::object_closing: one alternative for each rule
  // that may fail.
  ConditionId of_failing_objects(NodeId id);
  // The same for one rule of a node: oneOf; if, then and else.
  ConditionId one_of(NodeId id, bool negated);
  ConditionId if_then_else(const schema::Node& node, bool negated);

 private:
  ConditionId of_objects(NodeId id);
  void add_dependencies(const schema::ObjectRules& rules,
                        std::vector<ConditionId>& parts);
  // How many of some nodes hold, as conditions.
  struct FewHold {
    ConditionId none = kImpossible;
    ConditionId one = kImpossible;   // exactly
    ConditionId some = kImpossible;  // one or more
    ConditionId two = kImpossible;   // or more
  };
  static constexpr std::size_t kSpelledOut = 8;  // longer lists are cut in two
  // Sets `none` and `one`.
  FewHold exactly_one(std::span<const NodeId> nodes);
  // Sets `some` and `two`.
  FewHold at_least_two(std::span<const NodeId> nodes);
  std::vector<std::vector<NodeId>> overlapping_groups(NodeId id);

  const schema::Document& document_;
  KeyNames& names_;
  OverlapTable& overlaps_;
  Conditions& conditions_;
  std::unordered_map<Literal, ConditionId> known_;  // of()
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_MEMBER_CONDITIONS_H_
