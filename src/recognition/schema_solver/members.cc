// Conditions of schema nodes: what a literal requires of the members of an
// object, and what remains of it after a member.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/work.h"
#include "schema/validate.h"
#include "schema_solver/exclusive.h"
#include "schema_solver/solver.h"

namespace parlance::schema_solver {

using schema::kNoNode;

namespace {

using Kind = Condition::Kind;

constexpr std::uint8_t bit_of(JsonType type) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(type));
}

// The only value of a node, if that is a scalar and all that the node says;
// else null.
const json::Value* scalar_constant(const schema::Node& node) {
  if (!node.scalars || node.scalars->size() != 1) return nullptr;
  const json::Value& value = node.scalars->front();
  const bool says_no_more =
      (node.types & schema::type_bit(value)) != 0 && node.enum_nodes.empty() &&
      !node.integer_only && node.number_rules == nullptr &&
      node.string_rules == nullptr && node.all_of.empty() && !node.has_any_of &&
      !node.has_one_of && node.not_node == kNoNode && node.if_node == kNoNode &&
      node.ref == kNoNode;
  return says_no_more ? &value : nullptr;
}

// What remains of a condition about a value that is `value`: that decides at
// once whether it is another constant.  Of a hundred conditions `if t is "a1"`,
// each would ask a hundred conjunctions otherwise.
ConditionId after_value(Conditions& conditions,
                        const schema::Document& document,
                        const json::Value& value, ConditionId id) {
  return conditions.after_tests(id, [&](Literal test) -> std::optional<bool> {
    const json::Value* const other = scalar_constant(document.node(test >> 1));
    if (other == nullptr) return std::nullopt;
    return schema::equal_values(*other, value) == ((test & 1) == 0);
  });
}

// The same for a value that satisfies `literal`, where that says that it is a
// certain one.
ConditionId after_constant(Conditions& conditions,
                           const schema::Document& document, Literal literal,
                           ConditionId id) {
  if ((literal & 1) != 0) return id;
  const json::Value* const value = scalar_constant(document.node(literal >> 1));
  return value == nullptr ? id : after_value(conditions, document, *value, id);
}

// Alternatives, each once.
class Alternatives {
 public:
  void add(const MemberAlternative& alternative) {
    const std::uint64_t key = std::uint64_t{alternative.conjunction} << 32 |
                              alternative.condition.value();
    if (known_.insert(key).second) list_.push_back(alternative);
  }
  std::vector<MemberAlternative> take() { return std::move(list_); }

 private:
  std::vector<MemberAlternative> list_;
  std::unordered_set<std::uint64_t> known_;
};

}  // namespace

// Whether the node is known to hold for every value of the type.  Recursion
// follows chains of in-place applicators, whose length the document bounds; a
// node is not known to hold because it refers to itself.
bool SchemaSolver::accepts_all(NodeId id, JsonType type) {
  const std::uint64_t query =
      std::uint64_t{id} << 8 | static_cast<std::uint64_t>(type);
  return accepts_all_.ask(query, [&] { return finds_all(id, type); });
}

bool SchemaSolver::finds_all(NodeId id, JsonType type) {
  const schema::Node& node = document_.node(id);
  const auto nothing = [&](NodeId child) {
    return child == kNoNode || accepts_all(child, type);
  };
  const auto of_any = [&](const std::vector<NodeId>& list) {
    return std::any_of(list.begin(), list.end(), nothing);
  };
  bool found = (node.types & bit_of(type)) != 0 && !node.scalars &&
               !node.has_one_of && node.not_node == kNoNode &&
               nothing(node.ref) &&
               std::all_of(node.all_of.begin(), node.all_of.end(), nothing) &&
               (!node.has_any_of || of_any(node.any_of)) &&
               (node.if_node == kNoNode ||
                (nothing(node.then_node) && nothing(node.else_node)));
  switch (type) {
    case JsonType::kNumber:
      found = found && !node.integer_only && node.number_rules == nullptr;
      break;
    case JsonType::kString:
      found = found && node.string_rules == nullptr;
      break;
    case JsonType::kArray:
      found = found && node.array_rules == nullptr &&
              node.array_closing == schema::Closing::kNone;
      break;
    case JsonType::kObject:
      found = found && node.object_rules == nullptr &&
              node.object_closing == schema::Closing::kNone;
      break;
    default:
      break;
  }
  return found;
}

// Whether every value that does not satisfy the node satisfies its negation as
// this solver expands it.  Most formats, multiples, and rules of arrays and
// objects are negated only in part.
bool SchemaSolver::has_exact_negation(NodeId id) {
  return has_exact_negation_.ask(id, [&] { return finds_exact_negation(id); });
}

bool SchemaSolver::finds_exact_negation(NodeId id) {
  const schema::Node& node = document_.node(id);
  const auto has = [&](NodeId child) {
    return child == kNoNode || has_exact_negation(child);
  };
  const auto all = [&](const std::vector<NodeId>& list) {
    return std::all_of(list.begin(), list.end(), has);
  };
  return node.array_rules == nullptr && node.object_rules == nullptr &&
         node.enum_nodes.empty() && !node.has_one_of &&
         (node.string_rules == nullptr ||
          node.string_rules->format == schema::kNoPattern ||
          string_sets_.of_rule(node.string_rules->format).exact()) &&
         (node.number_rules == nullptr || !node.number_rules->multiple_of) &&
         all(node.all_of) && all(node.any_of) && has(node.not_node) &&
         has(node.if_node) && has(node.then_node) && has(node.else_node) &&
         has(node.ref);
}

// The nodes that apply to the same value as `from` (in-place applicators), each
// once, in the order of the schema.
std::vector<NodeId> SchemaSolver::in_place_nodes(NodeId from) const {
  std::vector<NodeId> found;
  std::vector<NodeId> pending = {from};
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    if (id == kNoNode ||
        std::find(found.begin(), found.end(), id) != found.end()) {
      continue;
    }
    found.push_back(id);
    const schema::Node& node = document_.node(id);
    std::vector<NodeId> next = node.all_of;
    for (const auto* list : {&node.any_of, &node.one_of, &node.enum_nodes}) {
      next.insert(next.end(), list->begin(), list->end());
    }
    next.insert(next.end(), {node.ref, node.not_node, node.if_node,
                             node.then_node, node.else_node});
    for (const auto& [name, child] : node.objects().dependent_schemas) {
      next.push_back(child);
    }
    pending.insert(pending.end(), next.rbegin(), next.rend());
  }
  return found;
}

// Adds a clause for each dependency: "absent, or what it requires holds".
void SchemaSolver::add_dependencies(const schema::ObjectRules& rules,
                                    std::vector<ConditionId>& parts) {
  const auto if_there = [&](std::string_view name, ConditionId then) {
    parts.push_back(conditions_.any(
        {conditions_.of({.kind = Kind::kAbsent, .key = key(name)}), then}));
  };
  for (const auto& [name, others] : rules.dependent_required) {
    std::vector<ConditionId> all;
    for (const std::string_view other : others) {
      all.push_back(
          conditions_.of({.kind = Kind::kPresent, .key = key(other)}));
    }
    if_there(name, conditions_.all(std::move(all)));
  }
  for (const auto& [name, child] : rules.dependent_schemas) {
    if_there(name, condition_of(holds(child)));
  }
}

// The condition that the node's rules for objects hold: one part for each rule.
// A property is a clause, "absent, or the value satisfies ...".
ConditionId SchemaSolver::object_condition(NodeId id) {
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
    parts.push_back(conditions_.of({.kind = Kind::kPresent, .key = key(name)}));
  }
  for (const auto& [name, child] : rules.properties) {
    if (document_.node(child).accepts_everything()) continue;
    const KeyId at = key(name);
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
    every({KeyGroup::Kind::kNotName, holds(rules.property_names)}, kNever);
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

// The negation of object_condition(), without dependentSchemas and
// Node::object_closing: one alternative for each rule that may fail.
ConditionId SchemaSolver::negated_object_condition(NodeId id) {
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
    add({.kind = Kind::kAbsent, .key = key(name)});
  }
  for (const auto& [name, child] : rules.properties) {
    const schema::Node& node = document_.node(child);
    if (node.accepts_everything()) continue;
    if (node.types == 0) {
      add({.kind = Kind::kPresent, .key = key(name)});
    } else {
      add({.kind = Kind::kValue, .key = key(name), .literal = fails(child)});
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
         .keys = {KeyGroup::Kind::kName, fails(rules.property_names)}});
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
          {conditions_.of({.kind = Kind::kPresent, .key = key(name)}),
           conditions_.of({.kind = Kind::kAbsent, .key = key(other)})}));
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
ConditionId SchemaSolver::condition_of(Literal literal) {
  const auto known = condition_of_.find(literal);
  if (known != condition_of_.end()) return known->second;
  const NodeId id = literal >> 1;
  const schema::Node& node = document_.node(id);
  const bool negated = (literal & 1) != 0;
  const auto possible = [&](NodeId child) {
    return (document_.node(child).types & bit_of(JsonType::kObject)) != 0;
  };
  // Conjuncts if the literal is positive, alternatives if it is negative.
  std::vector<ConditionId> parts;
  const auto same = [&](NodeId child) {
    parts.push_back(condition_of(child << 1 | (literal & 1)));
  };
  // anyOf: some node of the list holds; negated: all fail.
  const auto some = [&](const std::vector<NodeId>& list) {
    std::vector<ConditionId> each;
    for (const NodeId child : list) {
      if (possible(child)) {
        each.push_back(condition_of(child << 1 | (literal & 1)));
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
      parts.push_back(negated ? negated_object_condition(id)
                              : object_condition(id));
      if (negated) {
        for (const auto& [name, child] : node.objects().dependent_schemas) {
          parts.push_back(conditions_.all(
              {conditions_.of({.kind = Kind::kPresent, .key = key(name)}),
               condition_of(fails(child))}));
        }
      }
    }
    for (const NodeId child : node.all_of) same(child);
    if (node.ref != kNoNode) same(node.ref);
    if (node.not_node != kNoNode) {
      parts.push_back(condition_of(node.not_node << 1 | (negated ? 0 : 1)));
    }
    if (node.has_any_of) some(node.any_of);
    if (node.has_one_of) parts.push_back(one_of(id, negated));
    if (node.if_node != kNoNode) parts.push_back(if_then_else(node, negated));
  }
  const ConditionId made = negated ? conditions_.any(std::move(parts))
                                   : conditions_.all(std::move(parts));
  condition_of_.emplace(literal, made);
  return made;
}

// oneOf: exactly one node holds; negated: none holds, or some two do.
//
// Spelled out, n nodes have n^2 parts.  So a long list is cut into halves: the
// one that holds is in the first and none is in the second, or the other way
// round.  Two hold if two do in a half, or some in each.  O(n log n).
//
// Of nodes that exclude each other, one that holds says enough.  So only groups
// of overlapping nodes are treated like that: one holds in some group, or two
// do.
ConditionId SchemaSolver::one_of(NodeId id, bool negated) {
  std::vector<ConditionId> any;
  for (const std::vector<NodeId>& group : overlapping_groups(id)) {
    any.push_back(negated ? at_least_two(group).two : exactly_one(group).one);
  }
  if (negated) {
    std::vector<ConditionId> none;
    for (const NodeId child : document_.node(id).one_of) {
      none.push_back(condition_of(fails(child)));
    }
    any.push_back(conditions_.all(std::move(none)));
  }
  return conditions_.any(std::move(any));
}

// The options of a oneOf that objects may satisfy, in groups: those of one
// group exclude those of all others.
std::vector<std::vector<NodeId>> SchemaSolver::overlapping_groups(NodeId id) {
  const std::vector<NodeId>& options = document_.node(id).one_of;
  const Overlaps* const overlaps = this->overlaps(id, JsonType::kObject);
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

const SchemaSolver::Overlaps* SchemaSolver::overlaps(NodeId node,
                                                     JsonType type) {
  // All pairs of as many options as may be followed side by side, and those of
  // many options that overlap with few.
  const std::size_t side = options_.limits.alternatives;
  const std::vector<NodeId>& options = document_.node(node).one_of;
  const std::size_t most = side * side + 16 * options.size();
  const auto [it, is_new] = overlaps_.try_emplace(
      std::uint64_t{node} << 8 | static_cast<std::uint64_t>(type));
  if (is_new) {
    it->second =
        schema_solver::overlaps(document_, options, bit_of(type), most);
  }
  return it->second ? &*it->second : nullptr;
}

SchemaSolver::FewHold SchemaSolver::exactly_one(std::span<const NodeId> nodes) {
  if (nodes.size() > kSpelledOut) {
    const FewHold a = exactly_one(nodes.first(nodes.size() / 2));
    const FewHold b = exactly_one(nodes.subspan(nodes.size() / 2));
    return {.none = conditions_.all({a.none, b.none}),
            .one = conditions_.any({conditions_.all({a.one, b.none}),
                                    conditions_.all({a.none, b.one})})};
  }
  std::vector<ConditionId> fail;
  for (const NodeId child : nodes) fail.push_back(condition_of(fails(child)));
  std::vector<ConditionId> one;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::vector<ConditionId> all = fail;
    all[i] = condition_of(holds(nodes[i]));
    one.push_back(conditions_.all(std::move(all)));
  }
  return {.none = conditions_.all(std::move(fail)),
          .one = conditions_.any(std::move(one))};
}

SchemaSolver::FewHold SchemaSolver::at_least_two(
    std::span<const NodeId> nodes) {
  if (nodes.size() > kSpelledOut) {
    const FewHold a = at_least_two(nodes.first(nodes.size() / 2));
    const FewHold b = at_least_two(nodes.subspan(nodes.size() / 2));
    return {.some = conditions_.any({a.some, b.some}),
            .two = conditions_.any(
                {a.two, b.two, conditions_.all({a.some, b.some})})};
  }
  std::vector<ConditionId> hold;
  for (const NodeId child : nodes) hold.push_back(condition_of(holds(child)));
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
ConditionId SchemaSolver::if_then_else(const schema::Node& node, bool negated) {
  const ConditionId yes = condition_of(holds(node.if_node));
  const ConditionId no = condition_of(fails(node.if_node));
  const auto of = [&](NodeId child) {
    if (child == kNoNode) return negated ? kImpossible : kAlways;
    return condition_of(child << 1 | (negated ? 1 : 0));
  };
  if (negated) {
    return conditions_.any({conditions_.all({yes, of(node.then_node)}),
                            conditions_.all({no, of(node.else_node)})});
  }
  return conditions_.all({conditions_.any({no, of(node.then_node)}),
                          conditions_.any({yes, of(node.else_node)})});
}

bool SchemaSolver::is_in(const KeyGroup& keys, const KeyClass& key_class) {
  switch (keys.kind) {
    case KeyGroup::Kind::kPattern:
      return matches(string_sets_.of_pattern(keys.id), key_class);
    case KeyGroup::Kind::kExtra:
      return !knows(keys.id, key_class);
    case KeyGroup::Kind::kName:
      return matches(string_language({keys.id}).under, key_class);
    case KeyGroup::Kind::kNotName:
      return !matches(string_language({keys.id}).under, key_class);
  }
  return false;
}

ConditionId SchemaSolver::without_keys(ConditionId condition, KeySet names) {
  if (condition <= kImpossible || names == kNoKeys) return condition;
  return conditions_.without_keys(
      condition, [&](KeyId key) { return key_sets_.contains(names, key); });
}

// A Shannon expansion of the condition after the member.  Each atom that
// depends on the member's value has become a test of a literal.  An alternative
// is split by its first test, into values that satisfy the literal and values
// that need not, until no test is left.
//
// Invariant: `pending` and `done` together cover every value of the member with
// which the object can still satisfy the condition.
std::vector<MemberAlternative> SchemaSolver::member_alternatives(
    DisjunctId object, ConditionId condition, const KeyClass& key_class,
    std::uint64_t count) {
  const ConjunctionId conjunction = member_conjunction(object, key_class);
  if (!satisfiable(conjunction)) return {};
  if (condition == kAlways) return {{conjunction, kAlways}};
  const auto given = [&](Literal literal, ConditionId id) {
    return after_constant(conditions_, document_, literal, id);
  };
  Alternatives done;
  std::vector<MemberAlternative> pending = split_by_constants(
      {conjunction, conditions_.after_member(condition, key_class.key, count,
                                             [&](const KeyGroup& keys) {
                                               return is_in(keys, key_class);
                                             })});
  while (!pending.empty()) {
    const MemberAlternative alternative = pending.back();
    pending.pop_back();
    if (!base::spend_work()) break;
    if (alternative.condition == kImpossible) continue;
    const Literal test = conditions_.first_test(alternative.condition);
    if (test == kNoLiteral) {
      done.add(alternative);
      continue;
    }
    const ConditionId without =
        conditions_.after_test(alternative.condition, test, false);
    const ConjunctionId both = with(alternative.conjunction, test);
    if (!satisfiable(both)) {
      pending.push_back({alternative.conjunction, without});
      continue;
    }
    const ConditionId if_so =
        conditions_.after_test(alternative.condition, test, true);
    // No split if every value satisfies the test, or it makes no difference.
    if (if_so == without ||
        is_empty(with(alternative.conjunction, negation(test)))) {
      pending.push_back({alternative.conjunction, if_so});
      continue;
    }
    // Formulas are monotone in their atoms, so a test may be assumed to fail
    // for any value.  With an exact negation the alternatives are disjoint.
    if (without != kImpossible) {
      const bool exact = has_exact_negation(test >> 1);
      const ConjunctionId other =
          exact ? with(alternative.conjunction, negation(test))
                : alternative.conjunction;
      if (satisfiable(other)) {
        pending.push_back(
            {other, exact ? given(negation(test), without) : without});
      }
    }
    pending.push_back({both, given(test, if_so)});
  }
  return done.take();
}

// Splits by the constants in the tests of a condition: one alternative for each
// constant that the value may be, and one for all other values.
//
// A condition about a constant is a list of parts, of which each is about few
// constants.  What remains of a part if the value is none of its constants is
// found once, so an alternative costs as many steps as it has parts left, and
// n conditions `if t is "a1"` cost O(n).
std::vector<MemberAlternative> SchemaSolver::split_by_constants(
    const MemberAlternative& of) {
  constexpr std::size_t kFew = 8;  // these are split one by one
  const Kind kind = conditions_[of.condition].kind;
  const bool all = kind == Kind::kAll;
  if (!all && kind != Kind::kAny) return {of};
  const std::vector<ConditionId> parts = conditions_[of.condition].parts;
  struct Constant {
    Literal literal = 0;
    const json::Value* value = nullptr;
    std::vector<std::size_t> parts = {};  // sorted
  };
  std::vector<Constant> constants;
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    conditions_.for_each_atom(parts[i], [&](const Condition& atom) {
      if (atom.kind != Kind::kTest) return;
      const NodeId node = atom.literal >> 1;
      const json::Value* const value = scalar_constant(document_.node(node));
      if (value == nullptr) return;
      const auto [it, is_new] =
          index.try_emplace(scalar_key(*value), constants.size());
      if (is_new) constants.push_back({.literal = holds(node), .value = value});
      std::vector<std::size_t>& about = constants[it->second].parts;
      if (about.empty() || about.back() != i) about.push_back(i);
    });
  }
  if (constants.size() <= kFew) return {of};
  const auto join = [&](std::vector<ConditionId> list) {
    return all ? conditions_.all(std::move(list))
               : conditions_.any(std::move(list));
  };
  // What remains of each part if the value is none of the constants.
  std::vector<ConditionId> otherwise;
  std::vector<std::size_t> left;  // the parts of which something remains
  for (std::size_t i = 0; i < parts.size(); ++i) {
    otherwise.push_back(conditions_.after_tests(
        parts[i], [&](Literal test) -> std::optional<bool> {
          const NodeId node = test >> 1;
          if (scalar_constant(document_.node(node)) == nullptr) {
            return std::nullopt;
          }
          return (test & 1) != 0;
        }));
    if (otherwise.back() != (all ? kAlways : kImpossible)) left.push_back(i);
  }
  std::vector<MemberAlternative> out;
  std::vector<Literal> others = conjunctions_[of.conjunction];
  for (const Constant& constant : constants) {
    others.push_back(negation(constant.literal));
    const ConjunctionId both = with(of.conjunction, constant.literal);
    if (!base::spend_work(1 + left.size() / 4) || !satisfiable(both)) continue;
    std::vector<ConditionId> list;
    for (const std::size_t i : left) {
      if (!std::ranges::binary_search(constant.parts, i)) {
        list.push_back(otherwise[i]);
      }
    }
    for (const std::size_t i : constant.parts) {
      list.push_back(
          after_value(conditions_, document_, *constant.value, parts[i]));
    }
    out.push_back({both, join(std::move(list))});
  }
  const ConjunctionId none = conjunction(std::move(others));
  const ConditionId rest = join(std::move(otherwise));
  if (rest != kImpossible && satisfiable(none)) out.push_back({none, rest});
  std::ranges::reverse(out);
  return out;
}

}  // namespace parlance::schema_solver
