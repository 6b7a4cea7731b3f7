// Positive literals: the rules of the node are added to the branch, its
// applicators require further literals or split the branch.

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "schema_solver/expander.h"
#include "schema_solver/node_checks.h"

namespace parlance::schema_solver {

using automata::NumberSpec;

using schema::kNoNode;

// Assumes that the node holds.  Step 1 adds what it says of one value to the
// branch; step 2 requires the literals that hold with it; step 3 collects what
// it says as a choice.  False if that contradicts the branch, or if the branch
// was replaced by its splits.
bool SchemaSolver::Expander::assume_positive(Branch& branch, NodeId id,
                                             std::uint32_t entry) {
  const Node& node = document().node(id);
  if ((node.types & type_bit(type_)) == 0) return false;
  std::vector<Choice> enumerated;
  if (node.scalars && !assume_enum(branch, node, &enumerated)) return false;
  if (!assume_rules(branch, id, node)) return false;
  for (auto it = node.all_of.rbegin(); it != node.all_of.rend(); ++it) {
    require(branch, holds(*it), entry);
  }
  if (node.ref != kNoNode) require(branch, holds(node.ref), entry);
  if (node.not_node != kNoNode) require(branch, fails(node.not_node), entry);

  // Each disjunction of the node is a list of choices; split() combines them.
  std::vector<std::vector<Choice>> splits;
  if (!enumerated.empty()) splits.push_back(std::move(enumerated));
  if (node.has_any_of) splits.push_back(any_of(id, node));
  if (node.has_one_of && type_ == JsonType::kObject && chooses_members(node)) {
    splits.push_back(
        {{.edit = Choice::Edit::kCondition,
          .condition = solver_.member_conditions_.one_of(id, false),
          .nodes = node.one_of}});
  } else if (node.has_one_of) {
    splits.push_back(one_of(id));
  }
  if (node.if_node != kNoNode) {
    splits.push_back(conditional(node));
    // As a condition: (not if or then) and (if or else).  This conjunction is
    // resolved clause by clause; "(if and then) or (not if and else)" is not.
    if (joins_ && type_ == JsonType::kObject && splits.back().size() > 1) {
      splits.back() = {
          {.edit = Choice::Edit::kCondition,
           .condition = solver_.member_conditions_.if_then_else(node, false),
           .nodes = solver_.in_place_nodes(id)}};
    }
  }
  if (type_ == JsonType::kObject) {
    for (const auto& [name, child] : node.objects().dependent_schemas) {
      if (!add_dependent(branch, name, child)) {
        splits.push_back(dependent(name, child));
      }
    }
  }
  splits.erase(std::remove_if(splits.begin(), splits.end(),
                              [](const auto& split) {
                                return split.size() == 1 &&
                                       split[0].literals.empty() &&
                                       split[0].edit == Choice::Edit::kNone;
                              }),
               splits.end());
  return split(branch, splits, entry);
}

// Replaces `branch` by the product of the splits: one branch for each
// combination of one choice of each split, in lexicographic order.  True if
// `branch` continues unsplit.  Invariant of the product: `made` has the
// combinations for the splits so far.
bool SchemaSolver::Expander::split(Branch& branch,
                                   std::vector<std::vector<Choice>>& splits,
                                   std::uint32_t entry) {
  for (std::size_t i = 0; i < splits.size(); ++i) {
    if (splits[i].empty()) return false;
  }
  if (splits.empty()) return true;
  if (joins_) {
    for (auto& choices : splits) {
      if (!choose(branch, choices, entry)) return false;
    }
    return true;
  }
  if (splits.size() == 1) return choose(branch, splits[0], entry);
  std::vector<Branch> made;
  made.push_back(std::move(branch));
  for (const auto& choices : splits) {
    std::vector<Branch> next;
    for (const Branch& base : made) {
      for (const Choice& choice : choices) {
        Branch other = base;
        if (apply(other, choice, entry)) next.push_back(std::move(other));
        if (next.size() > 4 * limit_) break;
      }
      if (next.size() > 4 * limit_) break;
    }
    if (next.size() > 4 * limit_) {
      truncated_ = true;
      if (joinable_) return false;  // run() ends
    }
    made = std::move(next);
  }
  for (auto it = made.rbegin(); it != made.rend(); ++it) {
    stack_.push_back(std::move(*it));
  }
  return false;
}

bool SchemaSolver::Expander::assume_enum(Branch& branch, const Node& node,
                                         std::vector<Choice>* choices) {
  switch (type_) {
    case JsonType::kNull:
    case JsonType::kBoolean: {
      auto& constants = std::get<Constants>(branch.disjunct);
      constants &= constants_in(*node.scalars);
      return constants != 0;
    }
    case JsonType::kNumber: {
      NumberSpec spec;
      spec.allowed.emplace();
      const bool one_text =
          solver_.options_.spelling == JsonSpelling::kCanonical;
      for (const json::Value& value : *node.scalars) {
        if (!is_number(value)) continue;
        spec.allowed->push_back(decimal(value));
        if (one_text) spec.texts.push_back(json::dump(value));
      }
      if (spec.allowed->empty()) return false;
      add_number(std::get<NumberSpec>(branch.disjunct), spec);
      return true;
    }
    case JsonType::kString: {
      const automata::LanguageId texts =
          solver_.string_sets_.of_enum(*node.scalars);
      if (solver_.languages_.empty(texts)) return false;
      std::get<Strings>(branch.disjunct)
          .languages.push_back(solver_.languages_.exact(texts));
      return true;
    }
    default:
      for (const NodeId child : node.enum_nodes) {
        if (possible(child)) choices->push_back({.literals = {holds(child)}});
      }
      return !choices->empty();
  }
}

Constants SchemaSolver::Expander::constants_in(
    const std::vector<json::Value>& values) const {
  Constants found = 0;
  for (const json::Value& value : values) {
    if (type_ == JsonType::kNull && value.is_null()) found |= kNullValue;
    if (type_ == JsonType::kBoolean && value.kind() == json::Kind::kBool) {
      found |= value.as_bool() ? kTrueValue : kFalseValue;
    }
  }
  return found;
}

NumberSpec SchemaSolver::Expander::number_spec(const Node& node) {
  NumberSpec spec;
  spec.integer = node.integer_only;
  const schema::NumberRules& rules = node.numbers();
  if (rules.minimum) add_minimum(spec, *rules.minimum, false);
  if (rules.exclusive_minimum) {
    add_minimum(spec, *rules.exclusive_minimum, true);
  }
  if (rules.maximum) add_maximum(spec, *rules.maximum, false);
  if (rules.exclusive_maximum) {
    add_maximum(spec, *rules.exclusive_maximum, true);
  }
  if (rules.multiple_of) spec.multiple_of.push_back(*rules.multiple_of);
  return spec;
}

bool SchemaSolver::Expander::assume_rules(Branch& branch, NodeId id,
                                          const Node& node) {
  switch (type_) {
    case JsonType::kNull:
    case JsonType::kBoolean:
      return true;
    case JsonType::kNumber:
      if (node.integer_only || node.number_rules != nullptr) {
        add_number(std::get<NumberSpec>(branch.disjunct), number_spec(node));
      }
      return true;
    case JsonType::kString: {
      if (node.string_rules == nullptr) return true;
      const schema::StringRules& rules = *node.string_rules;
      auto& strings = std::get<Strings>(branch.disjunct);
      for (const schema::PatternId pattern : {rules.pattern, rules.format}) {
        if (pattern != schema::kNoPattern) {
          strings.languages.push_back(solver_.string_sets_.of_rule(pattern));
        }
      }
      if (rules.format != schema::kNoPattern &&
          !strings.languages.back().exact()) {
        strings.inexact.push_back({LeftOutBy::kUnsupported, id, "format",
                                   format_note(document(), rules.format)});
      }
      return bound(branch, rules.min_length.value_or(0),
                   rules.max_length.value_or(kUnboundedCount));
    }
    case JsonType::kArray:
      return node.array_rules == nullptr ||
             assume_array(branch, id, *node.array_rules);
    case JsonType::kObject:
      return node.object_rules == nullptr ||
             assume_object(branch, id, *node.object_rules);
  }
  return true;
}

bool SchemaSolver::Expander::assume_array(Branch& branch, NodeId id,
                                          const schema::ArrayRules& rules) {
  auto& array = std::get<ArrayConstraints>(branch.disjunct);
  if (!rules.prefix_items.empty() || rules.items != kNoNode) {
    Literal rest = rules.items == kNoNode ? kNoLiteral : holds(rules.items);
    if (document().node(id).array_closing == schema::Closing::kAdditional) {
      rest = kNever;
    }
    array.items.push_back({id, rest});
  }
  if (rules.contains != kNoNode &&
      (rules.min_contains > 0 || rules.max_contains)) {
    if (rules.min_contains > rules.max_contains.value_or(kUnboundedCount)) {
      return false;
    }
    array.counts.push_back({holds(rules.contains), rules.min_contains,
                            rules.max_contains.value_or(kUnboundedCount)});
  }
  array.unique = array.unique || rules.unique_items;
  return bound(branch, rules.min_items.value_or(0),
               rules.max_items.value_or(kUnboundedCount));
}

// Adds the rules of a node for objects to the branch: for members, for keys,
// for which keys must be there, and for their number.  Establishes that no
// required key is forbidden, and that each required key which the node requires
// or declares may have a value, as far as the literals so far tell.
bool SchemaSolver::Expander::assume_object(Branch& branch, NodeId id,
                                           const schema::ObjectRules& rules) {
  auto& object = std::get<ObjectConstraints>(branch.disjunct);
  const bool lists =
      !rules.properties.empty() || !rules.pattern_properties.empty();
  const bool closed =
      document().node(id).object_closing == schema::Closing::kAdditional;
  if (lists || closed || rules.additional_properties != kNoNode) {
    Literal extra = rules.additional_properties == kNoNode
                        ? kNoLiteral
                        : holds(rules.additional_properties);
    if (closed) extra = kNever;
    object.members.push_back({id, extra});
  }
  const std::size_t required_before = object.required.size();
  if (rules.property_names != kNoNode) {
    object.key_rules.push_back(holds(rules.property_names));
  }
  for (const std::string_view name : rules.required) {
    object.required.push_back(solver_.names_.id(name));
  }
  for (const auto& [name, others] : rules.dependent_required) {
    std::vector<KeyId> keys;
    for (const std::string_view other : others) {
      keys.push_back(solver_.names_.id(other));
    }
    object.dependent.emplace_back(solver_.names_.id(name), std::move(keys));
  }
  for (const KeyId key : object.forbidden) {
    if (std::find(object.required.begin(), object.required.end(), key) !=
        object.required.end()) {
      return false;
    }
  }
  // Many branches differ in a constant for the same member ("kind" is a, "kind"
  // is b); to close them here keeps their number small.
  if (object.members.size() > 1) {
    const auto never = [&](KeyId key) {
      return solver_.satisfiability().proves_empty(
          solver_.conjunction(key_literals(object, key)));
    };
    for (std::size_t i = 0; i < object.required.size(); ++i) {
      if ((i >= required_before ||
           solver_.names_.declared(id, object.required[i]) != kNoNode) &&
          never(object.required[i])) {
        return false;
      }
    }
  }
  return bound(branch, rules.min_properties.value_or(0),
               rules.max_properties.value_or(kUnboundedCount));
}

// The literals that the branch requires of the value of a member so far,
// without patternProperties.
std::vector<Literal> SchemaSolver::Expander::key_literals(
    const ObjectConstraints& object, KeyId key) {
  std::vector<Literal> literals;
  for (const MemberRules& rules : object.members) {
    const NodeId child = solver_.names_.declared(rules.node, key);
    if (child != kNoNode) {
      literals.push_back(holds(child));
    } else if (rules.extra != kNoLiteral && document()
                                                .node(rules.node)
                                                .objects()
                                                .pattern_properties.empty()) {
      literals.push_back(rules.extra);
    }
  }
  for (const auto& [at, literal] : object.at) {
    if (at == key) literals.push_back(literal);
  }
  return literals;
}

std::vector<SchemaSolver::Expander::Choice> SchemaSolver::Expander::any_of(
    NodeId id, const Node& node) {
  std::vector<NodeId> options;
  std::unordered_set<NodeId> seen;
  for (NodeId child : node.any_of) {
    if (!possible(child)) continue;
    if (!tracks_evaluated_) child = solver_.unwrapped(holds(child)).node();
    if (solver_.facts_.accepts_all(child, type_) && !tracks_evaluated_) {
      return {Choice{}};
    }
    if (seen.insert(child).second) options.push_back(child);
  }
  std::vector<Choice> choices;
  // Several options evaluate more keys together than each does alone, so each
  // non-empty set of options is a choice of its own.
  constexpr std::size_t kMaxSets = 6;
  if (tracks_evaluated_ && options.size() <= kMaxSets) {
    for (std::uint32_t bits = 1; bits < (1U << options.size()); ++bits) {
      Choice choice;
      for (std::size_t i = 0; i < options.size(); ++i) {
        if ((bits >> i & 1) != 0) choice.literals.push_back(holds(options[i]));
      }
      choices.push_back(std::move(choice));
    }
    return choices;
  }
  if (tracks_evaluated_) {
    leave_out(LeftOutBy::kLimit, id, "anyOf",
              "beside unevaluated members or items, no more than one of more "
              "than 6 alternatives evaluates them");
  }
  for (const NodeId child : options) {
    choices.push_back({.literals = {holds(child)}});
  }
  return choices;
}

// Each option is a choice, with the failure of those that may hold with it.
std::vector<SchemaSolver::Expander::Choice> SchemaSolver::Expander::one_of(
    NodeId id) {
  const Node& node = document().node(id);
  const Overlaps* const overlaps = solver_.overlaps_.of(id, type_);
  if (overlaps == nullptr && type_ == JsonType::kObject && !tracks_evaluated_) {
    return {{.edit = Choice::Edit::kCondition,
             .condition = solver_.member_conditions_.one_of(id, false),
             .nodes = node.one_of}};
  }
  if (overlaps == nullptr) {
    leave_out(LeftOutBy::kLimit, id, "oneOf", kTooManyOverlaps);
    return {};
  }
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < node.one_of.size(); ++i) {
    if (!possible(node.one_of[i])) continue;
    Choice choice;
    choice.literals.push_back(holds(node.one_of[i]));
    for (const std::uint32_t j : (*overlaps)[i]) {
      choice.literals.push_back(fails(node.one_of[j]));
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

std::vector<SchemaSolver::Expander::Choice> SchemaSolver::Expander::conditional(
    const Node& node) const {
  const auto nothing = [&](NodeId child) {
    return child == kNoNode || solver_.facts_.accepts_all(child, type_);
  };
  // If no unevaluated rule depends on it, a trivial part needs no choice.
  if (!tracks_evaluated_ && nothing(node.then_node) &&
      nothing(node.else_node)) {
    return {Choice{}};
  }
  if (!tracks_evaluated_ && nothing(node.if_node)) {
    return node.then_node == kNoNode
               ? std::vector<Choice>{Choice{}}
               : std::vector<Choice>{
                     Choice{.literals = {holds(node.then_node)}}};
  }
  std::vector<Choice> choices(2);
  choices[0].literals.push_back(holds(node.if_node));
  if (node.then_node != kNoNode) {
    choices[0].literals.push_back(holds(node.then_node));
  }
  choices[1].literals.push_back(fails(node.if_node));
  if (node.else_node != kNoNode) {
    choices[1].literals.push_back(holds(node.else_node));
  }
  return choices;
}

// Whether a node says nothing about objects but with `properties` and
// `required`.
bool SchemaSolver::Expander::has_only_members(const Node& node) {
  const schema::ObjectRules& rules = node.objects();
  return !node.scalars && !node.has_any_of && !node.has_one_of &&
         node.all_of.empty() && node.ref == kNoNode &&
         node.not_node == kNoNode && node.if_node == kNoNode &&
         rules.pattern_properties.empty() &&
         rules.additional_properties == kNoNode &&
         rules.property_names == kNoNode && !rules.min_properties &&
         !rules.max_properties && rules.dependent_required.empty() &&
         rules.dependent_schemas.empty() &&
         rules.unevaluated_properties == kNoNode;
}

// Whether oneOf has many options that differ by the keys that they require, and
// in no key that two of them declare: "one of these members".  Split, each of
// the n alternatives would have n conditions; as a condition of the object it
// is short, and each member that is read decides an option.
bool SchemaSolver::Expander::chooses_members(const Node& node) const {
  constexpr std::size_t kMany = 16;
  if (tracks_evaluated_ || node.one_of.size() <= kMany) return false;
  std::unordered_set<std::string_view> declared;
  return std::ranges::all_of(node.one_of, [&](NodeId child) {
    const Node& option = document().node(child);
    if (!possible(child) || !has_only_members(option)) return false;
    return std::ranges::all_of(option.objects().properties,
                               [&](const auto& member) {
                                 return declared.insert(member.first).second;
                               });
  });
}

// Adds "if `name` is present, the node `id` holds" to the condition of the
// object, as a clause (absent(name) or absent(member) or member satisfies
// child) for each property, and as a dependency for required keys.  False, and
// nothing added, if the node has rules other than `properties` and `required`.
bool SchemaSolver::Expander::add_dependent(Branch& branch,
                                           std::string_view name, NodeId id) {
  const Node& node = document().node(id);
  const schema::ObjectRules& rules = node.objects();
  if (!possible(id) || tracks_evaluated_ || !has_only_members(node)) {
    return false;
  }
  Conditions& conditions = solver_.conditions_;
  const KeyId key = solver_.names_.id(name);
  std::vector<KeyId> required;
  for (const std::string_view other : rules.required) {
    required.push_back(solver_.names_.id(other));
  }
  if (!required.empty()) {
    std::get<ObjectConstraints>(branch.disjunct)
        .dependent.emplace_back(key, required);
  }
  const auto absent = [&](KeyId one) {
    return conditions.of({.kind = Condition::Kind::kAbsent, .key = one});
  };
  std::vector<ConditionId> parts;
  for (const auto& [member, child] : rules.properties) {
    if (document().node(child).accepts_everything()) continue;
    const KeyId other = solver_.names_.id(member);
    parts.push_back(
        conditions.any({absent(key), absent(other),
                        conditions.of({.kind = Condition::Kind::kValue,
                                       .key = other,
                                       .literal = holds(child)})}));
  }
  add_condition(branch, conditions.all(std::move(parts)), {});
  return true;
}

// A conjunction grows clause by clause.  As many clauses as it has parts are
// joined to it at once, so that n clauses cost O(n log n) and not O(n^2).
void SchemaSolver::Expander::add_condition(Branch& branch,
                                           ConditionId condition,
                                           const std::vector<NodeId>& nodes) {
  auto& object = std::get<ObjectConstraints>(branch.disjunct);
  branch.clauses.push_back(condition);
  const Condition& so_far = solver_.conditions_[object.condition];
  const bool is_long = so_far.kind == Condition::Kind::kAll &&
                       so_far.parts.size() > branch.clauses.size();
  if (condition == kImpossible || !is_long) join_clauses(branch);
  for (const NodeId node : nodes) {
    if (std::find(object.condition_nodes.begin(), object.condition_nodes.end(),
                  node) == object.condition_nodes.end()) {
      object.condition_nodes.push_back(node);
    }
  }
}

// False if no object satisfies the condition.
bool SchemaSolver::Expander::join_clauses(Branch& branch) {
  auto* object = std::get_if<ObjectConstraints>(&branch.disjunct);
  if (object == nullptr) return true;
  if (!branch.clauses.empty()) {
    branch.clauses.push_back(object->condition);
    object->condition =
        solver_.conditions_.all(std::exchange(branch.clauses, {}));
  }
  return object->condition != kImpossible;
}

// Joins the choices to one disjunction: for strings, the union of their
// languages; for objects, a condition "any of (all literals and the edit)".
// False if no choice is satisfiable.
bool SchemaSolver::Expander::join(Branch& branch,
                                  const std::vector<Choice>& choices) {
  if (type_ == JsonType::kString) {
    auto& strings = std::get<Strings>(branch.disjunct);
    std::vector<automata::LanguageBounds> any;
    any.reserve(choices.size());
    for (const Choice& choice : choices) {
      any.push_back(language_of(choice));
      strings.add_negated(choice.inexact);
    }
    strings.languages.push_back(solver_.languages_.any_of(any));
    return true;
  }
  std::vector<ConditionId> any;
  any.reserve(choices.size());
  std::vector<NodeId> nodes;
  for (const Choice& choice : choices) {
    any.push_back(condition_of(choice, nodes));
  }
  const ConditionId made = solver_.conditions_.any(std::move(any));
  add_condition(branch, made, nodes);
  return made != kImpossible;
}

// The strings that satisfy the literals and the edit of a choice.
automata::LanguageBounds SchemaSolver::Expander::language_of(
    const Choice& choice) {
  automata::Languages& languages = solver_.languages_;
  std::vector<automata::LanguageBounds> all;
  if (!choice.literals.empty()) {
    all.push_back(solver_.string_language(choice.literals));
  }
  if (choice.edit == Choice::Edit::kLanguage) all.push_back(choice.language);
  if (choice.edit == Choice::Edit::kBounds) {
    all.push_back(
        languages.exact(languages.length_between(choice.min, choice.max)));
  }
  return all.empty() ? languages.exact(languages.everything())
                     : languages.all_of(all);
}

// The literals and the edit of a choice about an object, as a condition.  Adds
// the nodes that it comes from.
ConditionId SchemaSolver::Expander::condition_of(const Choice& choice,
                                                 std::vector<NodeId>& nodes) {
  std::vector<ConditionId> all;
  for (const Literal literal : choice.literals) {
    if (literal == kNever) {
      all.push_back(kImpossible);
      continue;
    }
    all.push_back(solver_.member_conditions_.of(literal));
    for (const NodeId node : solver_.in_place_nodes(literal.node())) {
      nodes.push_back(node);
      // A condition cannot express an unevaluated rule.
      if (document().node(node).objects().unevaluated_properties != kNoNode) {
        leave_out(LeftOutBy::kUnsupported, node, "unevaluatedProperties",
                  "objects are left out that depend on this rule and on more "
                  "alternatives than are followed one by one");
      }
    }
  }
  const auto add = [&](const Condition& atom) {
    all.push_back(solver_.conditions_.of(atom));
  };
  using Edit = Choice::Edit;
  using Atom = Condition::Kind;
  switch (choice.edit) {
    case Edit::kRequire:
      add({.kind = Atom::kPresent, .key = choice.at_key});
      break;
    case Edit::kForbid:
      add({.kind = Atom::kAbsent, .key = choice.at_key});
      break;
    case Edit::kRequireValue:
      add({.kind = Atom::kValue, .key = choice.at_key, .literal = choice.at});
      break;
    case Edit::kBounds:
      if (choice.min > 0) add({.kind = Atom::kAtLeast, .bound = choice.min});
      if (choice.max != kUnboundedCount) {
        add({.kind = Atom::kAtMost, .bound = choice.max});
      }
      break;
    case Edit::kCondition:
      all.push_back(choice.condition);
      nodes.insert(nodes.end(), choice.nodes.begin(), choice.nodes.end());
      break;
    default:
      break;
  }
  return solver_.conditions_.all(std::move(all));
}

std::vector<SchemaSolver::Expander::Choice> SchemaSolver::Expander::dependent(
    std::string_view name, NodeId child) {
  const KeyId key = solver_.names_.id(name);
  return {Choice{.literals = {holds(child)},
                 .at_key = key,
                 .edit = Choice::Edit::kRequire},
          Choice{.at_key = key, .edit = Choice::Edit::kForbid}};
}

}  // namespace parlance::schema_solver
