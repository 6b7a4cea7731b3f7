// Negative literals: by De Morgan's law a node fails if one of its rules fails,
// so each negated rule is a choice.  The negated rules for objects form one
// clause of the object's condition, unless there is only one.

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "schema_solver/expander.h"

namespace parlance::schema_solver {

using automata::NumberSpec;

using schema::kNoNode;

bool SchemaSolver::Expander::assume_negative(Branch& branch, NodeId id,
                                             std::uint32_t entry) {
  const Node& node = document().node(id);
  if ((node.types & type_bit(type_)) == 0) return true;
  std::vector<Choice> choices;
  if (type_ == JsonType::kObject) {
    std::vector<NodeId> negated;
    std::unordered_set<NodeId> seen;
    if (!negate_objects(id, negated, choices, seen)) return true;
    if (contradicts_objects(std::get<ObjectConstraints>(branch.disjunct),
                            negated)) {
      return true;
    }
    add_negated_clause(std::move(negated), choices);
    return choose(branch, choices, entry);
  }
  if (!negate_logic(id, choices)) return true;
  negate_rules(id, node, choices);
  std::unordered_set<Literal> seen;
  const auto add = [&](NodeId child) {
    const Literal literal = solver_.unwrapped(fails(child));
    if (seen.insert(literal).second) choices.push_back(negated(literal.node()));
  };
  for (const NodeId child : node.all_of) add(child);
  if (node.ref != kNoNode) add(node.ref);
  if (choices.size() > 1 && contradicts(branch, id)) return true;
  return choose(branch, choices, entry);
}

// Collects how the node may fail for objects.  Nodes with rules for objects,
// among the node and its conjuncts (allOf, $ref), are appended to `negated`;
// every other way to fail is appended to `choices`, those of a node once
// (`seen`).  False if the node fails
// for every object.  Recursion follows chains of in-place applicators, whose
// length the document bounds.
bool SchemaSolver::Expander::negate_objects(NodeId id,
                                            std::vector<NodeId>& negated,
                                            std::vector<Choice>& choices,
                                            std::unordered_set<NodeId>& seen) {
  if (!seen.insert(id).second) return true;
  const Node& node = document().node(id);
  if ((node.types & type_bit(type_)) == 0) return false;
  if (!negate_logic(id, choices)) return false;
  for (const auto& [name, child] : node.objects().dependent_schemas) {
    choices.push_back({.literals = {fails(child)},
                       .at_key = solver_.names_.id(name),
                       .edit = Choice::Edit::kRequire});
  }
  if (node.objects().unevaluated_properties != kNoNode) {
    leave_out(LeftOutBy::kUnsupported, id, "unevaluatedProperties",
              kNegatedLeftOut);
  }
  if (node.object_rules != nullptr) negated.push_back(id);
  for (const NodeId child : node.all_of) {
    if (!negate_objects(child, negated, choices, seen)) return false;
  }
  return node.ref == kNoNode ||
         negate_objects(node.ref, negated, choices, seen);
}

// Adds the choice "some rule of one of the nodes fails".  A clause with a
// single atom becomes a plain edit of the disjunct.
void SchemaSolver::Expander::add_negated_clause(std::vector<NodeId> negated,
                                                std::vector<Choice>& choices) {
  std::vector<ConditionId> alternatives;
  alternatives.reserve(negated.size());
  for (const NodeId node : negated) {
    alternatives.push_back(solver_.member_conditions_.of_failing_objects(node));
  }
  const ConditionId any = solver_.conditions_.any(std::move(alternatives));
  if (any == kImpossible) return;
  const Condition& alternative = solver_.conditions_[any];
  using Edit = Choice::Edit;
  switch (alternative.kind) {
    case Condition::Kind::kAbsent:
      choices.push_back({.at_key = alternative.key, .edit = Edit::kForbid});
      break;
    case Condition::Kind::kPresent:
      choices.push_back({.at_key = alternative.key, .edit = Edit::kRequire});
      break;
    case Condition::Kind::kValue:
      choices.push_back({.at_key = alternative.key,
                         .at = alternative.literal,
                         .edit = Edit::kRequireValue});
      break;
    case Condition::Kind::kAtMost:
      choices.push_back({.edit = Edit::kBounds, .max = alternative.bound});
      break;
    case Condition::Kind::kAtLeast:
      choices.push_back({.edit = Edit::kBounds, .min = alternative.bound});
      break;
    default:
      choices.push_back({.edit = Edit::kCondition,
                         .condition = any,
                         .nodes = std::move(negated)});
  }
}

// Whether no object of this disjunct satisfies the rules of `negated`, so that
// the negative literal adds nothing.  Sufficient, not necessary: some key that
// the disjunct or the nodes require is forbidden, or its value would have to
// satisfy a conjunction that is proved empty.
bool SchemaSolver::Expander::contradicts_objects(
    const ObjectConstraints& object, const std::vector<NodeId>& negated) {
  const auto has = [](const std::vector<KeyId>& list, KeyId key) {
    return std::find(list.begin(), list.end(), key) != list.end();
  };
  std::vector<KeyId> required = object.required;
  for (const NodeId node : negated) {
    for (const std::string_view name :
         document().node(node).objects().required) {
      const KeyId key = solver_.names_.id(name);
      if (has(object.forbidden, key)) return true;
      required.push_back(key);
    }
  }
  for (const KeyId key : required) {
    std::vector<Literal> literals;
    for (const NodeId node : negated) {
      const NodeId child = solver_.names_.declared(node, key);
      const schema::ObjectRules& rules = document().node(node).objects();
      if (child != kNoNode) {
        literals.push_back(holds(child));
      } else if (rules.additional_properties != kNoNode &&
                 rules.pattern_properties.empty()) {
        literals.push_back(holds(rules.additional_properties));
      }
    }
    const bool constrained = !literals.empty();
    const std::vector<Literal> own = key_literals(object, key);
    literals.insert(literals.end(), own.begin(), own.end());
    const bool never =
        std::any_of(literals.begin(), literals.end(), [&](Literal literal) {
          return literal == kNever ||
                 (!literal.negated() &&
                  document().node(literal.node()).types == 0);
        });
    if (never) return true;
    if (!constrained || own.empty()) continue;
    if (solver_.satisfiability().proves_empty(
            solver_.conjunction(std::move(literals)))) {
      return true;
    }
  }
  return false;
}

// Appends a choice for each enumeration or applicator that may fail.  False if
// one of them fails for every value of the type: then the node fails, and the
// negative literal adds nothing.
bool SchemaSolver::Expander::negate_logic(NodeId id,
                                          std::vector<Choice>& choices) {
  const Node& node = document().node(id);
  if (node.scalars && !negate_enum(node, choices)) return false;
  if (node.not_node != kNoNode) {
    choices.push_back({.literals = {holds(node.not_node)}});
  }
  if (node.has_any_of) {
    Choice all;
    for (const NodeId child : node.any_of) {
      if (possible(child)) all.literals.push_back(fails(child));
    }
    if (all.literals.empty()) return false;
    choices.push_back(std::move(all));
  }
  if (node.has_one_of && !negate_one_of(id, choices)) return false;
  if (node.if_node != kNoNode) {
    if (node.then_node != kNoNode) {
      choices.push_back(
          {.literals = {holds(node.if_node), fails(node.then_node)}});
    }
    if (node.else_node != kNoNode) {
      choices.push_back(
          {.literals = {fails(node.if_node), fails(node.else_node)}});
    }
  }
  return true;
}

// Whether no value of `branch` satisfies `id`: an expansion of the branch with
// holds(id) in place of fails(id) finds no disjunct.
bool SchemaSolver::Expander::contradicts(const Branch& branch, NodeId id) {
  Branch both = branch;
  both.negative.clear();
  both.positive.clear();
  both.assumed.pop_back();  // that it fails
  require(both, holds(id));
  Expander expander(solver_, type_, 16, tracks_evaluated_);
  expander.run(std::move(both));
  if (!expander.complete()) return false;
  return std::all_of(
      expander.finished().begin(), expander.finished().end(),
      [&](Branch& disjunct) { return impossible(disjunct.disjunct); });
}

bool SchemaSolver::Expander::impossible(Disjunct& disjunct) {
  if (auto* spec = std::get_if<NumberSpec>(&disjunct)) {
    const automata::NumberLanguages::Id id = solver_.add_numbers(*spec);
    return solver_.numbers_.exact(id) && solver_.numbers_.empty(id);
  }
  if (auto* strings = std::get_if<Strings>(&disjunct)) {
    return strings->min > strings->max ||
           solver_.languages_.proves_empty(
               solver_.string_sets_.all_of(strings->languages).over);
  }
  return false;  // objects: see excludes()
}

// Appends a choice for the values that are not in the enumeration.  False if
// it has no value of the type: then the node fails for all of them.  No choice
// is appended if the enumeration has all values of the type.
bool SchemaSolver::Expander::negate_enum(const Node& node,
                                         std::vector<Choice>& choices) {
  switch (type_) {
    case JsonType::kNull:
    case JsonType::kBoolean: {
      const Constants all =
          type_ == JsonType::kNull ? kNullValue : kFalseValue | kTrueValue;
      const Constants rest = all & ~constants_in(*node.scalars);
      if (rest == all) return false;
      if (rest != 0) {
        choices.push_back(
            {.edit = Choice::Edit::kConstants, .constants = rest});
      }
      return true;
    }
    case JsonType::kNumber: {
      Choice choice{.edit = Choice::Edit::kNumber};
      for (const json::Value& value : *node.scalars) {
        if (is_number(value)) choice.number.excluded.push_back(decimal(value));
      }
      if (choice.number.excluded.empty()) return false;
      choices.push_back(std::move(choice));
      return true;
    }
    case JsonType::kString: {
      const automata::LanguageId texts =
          solver_.string_sets_.of_enum(*node.scalars);
      if (solver_.languages_.empty(texts)) return false;
      add_language(choices, solver_.languages_.exact(texts));
      return true;
    }
    default: {
      Choice all;
      for (const NodeId child : node.enum_nodes) {
        if (possible(child)) all.literals.push_back(fails(child));
      }
      if (all.literals.empty()) return false;
      choices.push_back(std::move(all));
      return true;
    }
  }
}

// The strings that are not in `language`.
void SchemaSolver::Expander::add_language(std::vector<Choice>& choices,
                                          automata::LanguageBounds language) {
  choices.push_back({.edit = Choice::Edit::kLanguage,
                     .language = solver_.string_sets_.complement(language)});
}

// The strings that certainly do not have the format.
void SchemaSolver::Expander::negate_format(NodeId id, schema::PatternId format,
                                           std::vector<Choice>& choices) {
  add_language(choices, solver_.string_sets_.of_rule(format));
  if (choices.back().language.exact()) return;
  choices.back().inexact = {
      LeftOutBy::kUnsupported, id, "format",
      "where it must not hold, only strings are allowed that certainly do not "
      "have the format"};
}

void SchemaSolver::Expander::add_bounds(std::vector<Choice>& choices,
                                        std::optional<std::uint64_t> min,
                                        std::optional<std::uint64_t> max) {
  if (min && *min > 0) {
    choices.push_back({.edit = Choice::Edit::kBounds, .max = *min - 1});
  }
  if (max && *max < kUnboundedCount) {
    choices.push_back({.edit = Choice::Edit::kBounds, .min = *max + 1});
  }
}

void SchemaSolver::Expander::negate_rules(NodeId id, const Node& node,
                                          std::vector<Choice>& choices) {
  switch (type_) {
    case JsonType::kNull:
    case JsonType::kBoolean:
      return;
    case JsonType::kNumber:
      return negate_number(node, choices);
    case JsonType::kString: {
      const schema::StringRules& rules = node.strings();
      if (rules.pattern != schema::kNoPattern) {
        add_language(choices, solver_.string_sets_.of_rule(rules.pattern));
        if (solver_.string_sets_.is_ignored(rules.pattern)) {
          choices.back() = {};
        }
      }
      if (rules.format != schema::kNoPattern) {
        negate_format(id, rules.format, choices);
      }
      return add_bounds(choices, rules.min_length, rules.max_length);
    }
    case JsonType::kArray:
      return negate_array(id, node.arrays(), choices);
    case JsonType::kObject:
      return;  // see deny_objects()
  }
}

void SchemaSolver::Expander::negate_number(const Node& node,
                                           std::vector<Choice>& choices) {
  const auto add = [&](auto edit) {
    Choice choice{.edit = Choice::Edit::kNumber};
    edit(choice.number);
    choices.push_back(std::move(choice));
  };
  const schema::NumberRules& rules = node.numbers();
  if (node.integer_only) {
    // For draft 4, how the number is written makes it an integer.
    add([&](NumberSpec& spec) {
      (document().integer_may_have_zero_fraction ? spec.not_integer
                                                 : spec.marked) = true;
    });
  }
  if (rules.minimum) {
    add([&](NumberSpec& spec) { add_maximum(spec, *rules.minimum, true); });
  }
  if (rules.exclusive_minimum) {
    add([&](NumberSpec& spec) {
      add_maximum(spec, *rules.exclusive_minimum, false);
    });
  }
  if (rules.maximum) {
    add([&](NumberSpec& spec) { add_minimum(spec, *rules.maximum, true); });
  }
  if (rules.exclusive_maximum) {
    add([&](NumberSpec& spec) {
      add_minimum(spec, *rules.exclusive_maximum, false);
    });
  }
  if (rules.multiple_of) {
    add([&](NumberSpec& spec) {
      spec.not_multiple_of.push_back(*rules.multiple_of);
    });
  }
}

void SchemaSolver::Expander::negate_array(NodeId id,
                                          const schema::ArrayRules& rules,
                                          std::vector<Choice>& choices) {
  for (std::size_t i = 0; i < rules.prefix_items.size(); ++i) {
    choices.push_back({.at_index = i,
                       .at = fails(rules.prefix_items[i]),
                       .edit = Choice::Edit::kItem});
  }
  if (rules.items != kNoNode) {
    choices.push_back({.at_index = rules.prefix_items.size(),
                       .at = fails(rules.items),
                       .edit = Choice::Edit::kItemWitness});
  }
  if (rules.contains != kNoNode) {
    const Literal literal = holds(rules.contains);
    if (rules.min_contains > 0) {
      choices.push_back({.edit = Choice::Edit::kCount,
                         .count = {literal, 0, rules.min_contains - 1}});
    }
    if (rules.max_contains) {
      choices.push_back(
          {.edit = Choice::Edit::kCount,
           .count = {literal, *rules.max_contains + 1, kUnboundedCount}});
    }
  }
  // Arrays with two equal items, or with an unevaluated item that fails its
  // rule, are not generated.
  if (rules.unique_items) {
    leave_out(LeftOutBy::kUnsupported, id, "uniqueItems", kNegatedLeftOut);
  }
  if (rules.unevaluated_items != kNoNode) {
    leave_out(LeftOutBy::kUnsupported, id, "unevaluatedItems", kNegatedLeftOut);
  }
  add_bounds(choices, rules.min_items, rules.max_items);
}

// Appends the choices for oneOf to fail: no option holds, or some two do.
// False if no option allows the type: then oneOf fails for every value.
bool SchemaSolver::Expander::negate_one_of(NodeId id,
                                           std::vector<Choice>& choices) {
  const std::vector<NodeId>& options = document().node(id).one_of;
  Choice none;
  for (const NodeId child : options) {
    if (possible(child)) none.literals.push_back(fails(child));
  }
  if (none.literals.empty()) return false;
  choices.push_back(std::move(none));
  const Overlaps* const overlaps = solver_.overlaps_.of(id, type_);
  if (overlaps == nullptr && type_ == JsonType::kObject && !tracks_evaluated_) {
    choices.back() = {.edit = Choice::Edit::kCondition,
                      .condition = solver_.member_conditions_.one_of(id, true),
                      .nodes = options};
    return true;
  }
  if (overlaps == nullptr) {
    leave_out(LeftOutBy::kLimit, id, "oneOf", kTooManyOverlaps);
    return true;
  }
  for (std::uint32_t i = 0; i < options.size(); ++i) {
    for (const std::uint32_t j : (*overlaps)[i]) {
      if (i < j) {
        choices.push_back({.literals = {holds(options[i]), holds(options[j])}});
      }
    }
  }
  return true;
}

}  // namespace parlance::schema_solver
