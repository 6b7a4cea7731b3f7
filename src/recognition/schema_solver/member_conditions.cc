// The rules of nodes as conditions: see member_conditions.h.

#include "schema_solver/member_conditions.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace parlance::schema_solver {

using schema::kNoNode;
using Kind = Condition::Kind;

// Adds a clause for each dependency: "absent, or what it requires holds".
void MemberConditions::add_dependencies(const schema::ObjectRules& rules,
                                        std::vector<ConditionId>& parts) {
  const auto if_there = [&](std::string_view name, ConditionId then) {
    parts.push_back(conditions_.any(
        {conditions_.of({.kind = Kind::kAbsent, .key = names_.id(name)}),
         then}));
  };
  for (const auto& [name, others] : rules.dependent_required) {
    std::vector<ConditionId> all;
    for (const std::string_view other : others) {
      all.push_back(
          conditions_.of({.kind = Kind::kPresent, .key = names_.id(other)}));
    }
    if_there(name, conditions_.all(std::move(all)));
  }
  for (const auto& [name, child] : rules.dependent_schemas) {
    if_there(name, of(holds(child)));
  }
}

// The condition that the node's rules for objects hold: one part for each rule.
// A property is a clause, "absent, or the value satisfies ...".
ConditionId MemberConditions::of_objects(NodeId id) {
  const schema::ObjectRules& rules = document_.node(id).objects();
  std::vector<ConditionId> parts;
  const auto rule = [&](NodeId child) {
    return document_.node(child).types == 0 ? kNever : holds(child);
  };
  const auto every = [&](KeyGroup keys, Literal literal) {
    parts.push_back(conditions_.of(
        {.kind = Kind::kEvery, .literal = literal, .keys = keys}));
  };
  for (const std::string_view name : rules.required) {
    parts.push_back(
        conditions_.of({.kind = Kind::kPresent, .key = names_.id(name)}));
  }
  for (const auto& [name, child] : rules.properties) {
    if (document_.node(child).accepts_everything()) continue;
    const KeyId at = names_.id(name);
    std::vector<ConditionId> alternatives = {
        conditions_.of({.kind = Kind::kAbsent, .key = at})};
    if (rule(child) != kNever) {
      alternatives.push_back(conditions_.of(
          {.kind = Kind::kValue, .key = at, .literal = rule(child)}));
    }
    parts.push_back(conditions_.any(std::move(alternatives)));
  }
  for (const auto& [pattern, child] : rules.pattern_properties) {
    if (!document_.node(child).accepts_everything()) {
      every({KeyGroup::Kind::kPattern, pattern}, rule(child));
    }
  }
  if (rules.additional_properties != kNoNode) {
    if (!document_.node(rules.additional_properties).accepts_everything()) {
      every({KeyGroup::Kind::kExtra, id}, rule(rules.additional_properties));
    }
  } else if (document_.node(id).object_closing ==
             schema::Closing::kAdditional) {
    every({KeyGroup::Kind::kExtra, id}, kNever);
  }
  if (rules.property_names != kNoNode) {
    every(
        KeyGroup::named(KeyGroup::Kind::kNotName, holds(rules.property_names)),
        kNever);
  }
  if (rules.min_properties.value_or(0) > 0) {
    parts.push_back(conditions_.of(
        {.kind = Kind::kAtLeast, .bound = *rules.min_properties}));
  }
  if (rules.max_properties) {
    parts.push_back(conditions_.of(
        {.kind = Kind::kAtMost, .bound = *rules.max_properties}));
  }
  add_dependencies(rules, parts);
  return conditions_.all(std::move(parts));
}

// The negation of of_objects(), without dependentSchemas and
// Node::object_closing: one alternative for each rule that may fail.
ConditionId MemberConditions::of_failing_objects(NodeId id) {
  const schema::ObjectRules& rules = document_.node(id).objects();
  std::vector<ConditionId> alternatives;
  const auto add = [&](Condition condition) {
    alternatives.push_back(conditions_.of(std::move(condition)));
  };
  const auto some = [&](KeyGroup keys, NodeId child) {
    const schema::Node& node = document_.node(child);
    if (node.accepts_everything()) return;
    add({.kind = Kind::kSome,
         .literal = node.types == 0 ? kNoLiteral : fails(child),
         .keys = keys});
  };
  for (const std::string_view name : rules.required) {
    add({.kind = Kind::kAbsent, .key = names_.id(name)});
  }
  for (const auto& [name, child] : rules.properties) {
    const schema::Node& node = document_.node(child);
    if (node.accepts_everything()) continue;
    if (node.types == 0) {
      add({.kind = Kind::kPresent, .key = names_.id(name)});
    } else {
      add({.kind = Kind::kValue,
           .key = names_.id(name),
           .literal = fails(child)});
    }
  }
  for (const auto& [pattern, child] : rules.pattern_properties) {
    some({KeyGroup::Kind::kPattern, pattern}, child);
  }
  if (rules.additional_properties != kNoNode) {
    some({KeyGroup::Kind::kExtra, id}, rules.additional_properties);
  }
  if (rules.property_names != kNoNode) {
    add({.kind = Kind::kSome,
         .keys = KeyGroup::named(KeyGroup::Kind::kName,
                                 fails(rules.property_names))});
  }
  if (rules.min_properties.value_or(0) > 0) {
    add({.kind = Kind::kAtMost, .bound = *rules.min_properties - 1});
  }
  if (rules.max_properties.value_or(kUnboundedCount) < kUnboundedCount) {
    add({.kind = Kind::kAtLeast, .bound = *rules.max_properties + 1});
  }
  for (const auto& [name, others] : rules.dependent_required) {
    for (const std::string_view other : others) {
      alternatives.push_back(conditions_.all(
          {conditions_.of({.kind = Kind::kPresent, .key = names_.id(name)}),
           conditions_.of({.kind = Kind::kAbsent, .key = names_.id(other)})}));
    }
  }
  return conditions_.any(std::move(alternatives));
}

// The condition that a literal is equivalent to for objects, in negation normal
// form.  By De Morgan's laws the parts of a positive literal are joined by
// all(), those of a negative one by any().
//
// REQUIRES: has_unevaluated() is false for the node.
// Recursion follows chains of in-place applicators.
ConditionId MemberConditions::of(Literal literal) {
  const auto known = known_.find(literal);
  if (known != known_.end()) return known->second;
  const NodeId id = literal.node();
  const schema::Node& node = document_.node(id);
  const bool negated = literal.negated();
  const auto possible = [&](NodeId child) {
    return (document_.node(child).types & type_bit(JsonType::kObject)) != 0;
  };
  // Conjuncts if the literal is positive, alternatives if it is negative.
  std::vector<ConditionId> parts;
  const auto same = [&](NodeId child) {
    parts.push_back(of(literal.of(child)));
  };
  // anyOf: some node of the list holds; negated: all fail.
  const auto some = [&](const std::vector<NodeId>& list) {
    std::vector<ConditionId> each;
    for (const NodeId child : list) {
      if (possible(child)) {
        each.push_back(of(literal.of(child)));
      }
    }
    parts.push_back(negated ? conditions_.all(std::move(each))
                            : conditions_.any(std::move(each)));
  };
  if (!possible(id)) {
    parts.push_back(negated ? kAlways : kImpossible);
  } else {
    if (node.scalars) some(node.enum_nodes);
    if (node.object_rules != nullptr) {
      parts.push_back(negated ? of_failing_objects(id) : of_objects(id));
      if (negated) {
        for (const auto& [name, child] : node.objects().dependent_schemas) {
          parts.push_back(conditions_.all(
              {conditions_.of({.kind = Kind::kPresent, .key = names_.id(name)}),
               of(fails(child))}));
        }
      }
    }
    for (const NodeId child : node.all_of) same(child);
    if (node.ref != kNoNode) same(node.ref);
    if (node.not_node != kNoNode) {
      parts.push_back(of({node.not_node, !negated}));
    }
    if (node.has_any_of) some(node.any_of);
    if (node.has_one_of) parts.push_back(one_of(id, negated));
    if (node.if_node != kNoNode) parts.push_back(if_then_else(node, negated));
  }
  const ConditionId made = negated ? conditions_.any(std::move(parts))
                                   : conditions_.all(std::move(parts));
  known_.emplace(literal, made);
  return made;
}

// oneOf: exactly one node holds; negated: none holds, or some two do.
//
// Spelled out, n nodes have n^2 parts.  So a long list is cut into halves: the
// one that holds is in the first and none is in the second, or the other way
// round.  Two hold if two do in a half, or some in each.  O(n log n).
//
// Of nodes that exclude each other, it is enough to know one that holds.  So
// only groups of overlapping nodes are treated like that: one holds in some
// group, or two do.
ConditionId MemberConditions::one_of(NodeId id, bool negated) {
  std::vector<ConditionId> any;
  for (const std::vector<NodeId>& group : overlapping_groups(id)) {
    any.push_back(negated ? at_least_two(group).two : exactly_one(group).one);
  }
  if (negated) {
    std::vector<ConditionId> none;
    for (const NodeId child : document_.node(id).one_of) {
      none.push_back(of(fails(child)));
    }
    any.push_back(conditions_.all(std::move(none)));
  }
  return conditions_.any(std::move(any));
}

// The options of a oneOf that objects may satisfy, in groups: those of one
// group exclude those of all others.
std::vector<std::vector<NodeId>> MemberConditions::overlapping_groups(
    NodeId id) {
  const std::vector<NodeId>& options = document_.node(id).one_of;
  const Overlaps* const overlaps = overlaps_.of(id, JsonType::kObject);
  if (overlaps == nullptr) return {options};
  std::vector<std::vector<NodeId>> groups;
  std::vector<bool> seen(options.size(), false);
  for (std::uint32_t i = 0; i < options.size(); ++i) {
    if (seen[i]) continue;
    std::vector<std::uint32_t> group = {i};
    seen[i] = true;
    for (std::size_t next = 0; next < group.size(); ++next) {
      for (const std::uint32_t other : (*overlaps)[group[next]]) {
        if (!seen[other]) group.push_back(other);
        seen[other] = true;
      }
    }
    std::ranges::sort(group);
    std::vector<NodeId>& nodes = groups.emplace_back();
    for (const std::uint32_t one : group) nodes.push_back(options[one]);
  }
  return groups;
}

MemberConditions::FewHold MemberConditions::exactly_one(
    std::span<const NodeId> nodes) {
  if (nodes.size() > kSpelledOut) {
    const FewHold a = exactly_one(nodes.first(nodes.size() / 2));
    const FewHold b = exactly_one(nodes.subspan(nodes.size() / 2));
    return {.none = conditions_.all({a.none, b.none}),
            .one = conditions_.any({conditions_.all({a.one, b.none}),
                                    conditions_.all({a.none, b.one})})};
  }
  std::vector<ConditionId> fail;
  for (const NodeId child : nodes) fail.push_back(of(fails(child)));
  std::vector<ConditionId> one;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::vector<ConditionId> all = fail;
    all[i] = of(holds(nodes[i]));
    one.push_back(conditions_.all(std::move(all)));
  }
  return {.none = conditions_.all(std::move(fail)),
          .one = conditions_.any(std::move(one))};
}

MemberConditions::FewHold MemberConditions::at_least_two(
    std::span<const NodeId> nodes) {
  if (nodes.size() > kSpelledOut) {
    const FewHold a = at_least_two(nodes.first(nodes.size() / 2));
    const FewHold b = at_least_two(nodes.subspan(nodes.size() / 2));
    return {.some = conditions_.any({a.some, b.some}),
            .two = conditions_.any(
                {a.two, b.two, conditions_.all({a.some, b.some})})};
  }
  std::vector<ConditionId> hold;
  for (const NodeId child : nodes) hold.push_back(of(holds(child)));
  std::vector<ConditionId> two;
  for (std::size_t i = 0; i < hold.size(); ++i) {
    for (std::size_t j = i + 1; j < hold.size(); ++j) {
      two.push_back(conditions_.all({hold[i], hold[j]}));
    }
  }
  return {.some = conditions_.any(std::move(hold)),
          .two = conditions_.any(std::move(two))};
}

// if, then and else: (not if or then) and (if or else); negated: (if and not
// then) or (not if and not else).
ConditionId MemberConditions::if_then_else(const schema::Node& node,
                                           bool negated) {
  const ConditionId yes = of(holds(node.if_node));
  const ConditionId no = of(fails(node.if_node));
  const auto branch = [&](NodeId child) {
    if (child == kNoNode) return negated ? kImpossible : kAlways;
    return of({child, negated});
  };
  if (negated) {
    return conditions_.any({conditions_.all({yes, branch(node.then_node)}),
                            conditions_.all({no, branch(node.else_node)})});
  }
  return conditions_.all({conditions_.any({no, branch(node.then_node)}),
                          conditions_.any({yes, branch(node.else_node)})});
}

}  // namespace parlance::schema_solver
