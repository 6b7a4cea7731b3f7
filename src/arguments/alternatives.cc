// Turns each conjunction that an object or array may satisfy into a plain list
// of members or items.

#include <algorithm>
#include <limits>

#include "arguments/markup.h"
#include "arguments/schema_view.h"

namespace parlance::arguments {
namespace {

using automata::LanguageId;
using schema::Closing;
using schema::Node;
using schema::NodeId;
using schema::ObjectRules;
using schema_solver::holds;

// The limit of the number of classes into which patternProperties divide names.
constexpr std::size_t kMaxNameClasses = 64;

constexpr std::size_t kAllItems = std::numeric_limits<std::size_t>::max();

// The nodes of a conjunction without negation.
std::vector<NodeId> nodes_of(const Conjunction& all) {
  std::vector<NodeId> nodes;
  nodes.reserve(all.size());
  for (const schema_solver::Literal literal : all) {
    nodes.push_back(literal >> 1);
  }
  return nodes;
}

}  // namespace

// A schema sees what is evaluated by itself and by the schemas in place in it,
// but not what the schemas around it and beside it evaluate.
std::vector<NodeId> ArgumentSchema::nodes_inside(const Nodes& nodes,
                                                 NodeId id) const {
  // Invariant: the nodes of the conjunction that are in place in those before
  // `i` are in `inside`.
  std::vector<NodeId> inside = {id};
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const Node& node = document_.node(inside[i]);
    const auto add = [&](NodeId other) {
      if (std::binary_search(nodes.begin(), nodes.end(), other) &&
          std::ranges::find(inside, other) == inside.end()) {
        inside.push_back(other);
      }
    };
    if (node.ref != schema::kNoNode) add(node.ref);
    for (const auto* list : {&node.all_of, &node.any_of, &node.one_of}) {
      for (const NodeId other : *list) add(other);
    }
  }
  return inside;
}

bool ArgumentSchema::is_evaluated(const Nodes& nodes, NodeId id,
                                  const std::vector<NodeId>& evaluating) const {
  const std::vector<NodeId> inside = nodes_inside(nodes, id);
  return std::ranges::any_of(inside, [&](NodeId one) {
    return std::ranges::find(evaluating, one) != evaluating.end() ||
           (one != id && document_.node(one).objects().unevaluated_properties !=
                             schema::kNoNode);
  });
}

void ArgumentSchema::insert_unevaluated(const Nodes& nodes,
                                        const std::vector<NodeId>& evaluating,
                                        Conjunction& value) const {
  for (const NodeId id : nodes) {
    const NodeId rule = document_.node(id).objects().unevaluated_properties;
    if (rule != schema::kNoNode && !is_evaluated(nodes, id, evaluating)) {
      insert(value, holds(rule));
    }
  }
}

bool ArgumentSchema::closes(const Nodes& nodes,
                            const std::vector<NodeId>& evaluating) const {
  return std::ranges::any_of(nodes, [&](NodeId id) {
    switch (document_.node(id).object_closing) {
      case Closing::kAdditional:
        return std::ranges::find(evaluating, id) == evaluating.end();
      case Closing::kUnevaluated:
        return !is_evaluated(nodes, id, evaluating);
      default:
        return false;
    }
  });
}

Result<std::optional<Conjunction>> ArgumentSchema::member(
    const Nodes& nodes, std::string_view name) {
  using Optional = std::optional<Conjunction>;
  Conjunction out;
  std::vector<NodeId> evaluating;
  for (NodeId id : nodes) {
    const ObjectRules& rules = document_.node(id).objects();
    bool here = false;
    for (const auto& [key, value] : rules.properties) {
      if (key != name) continue;
      insert(out, holds(value));
      here = true;
    }
    for (const auto& [pattern_id, value] : rules.pattern_properties) {
      Result<LanguageId> language = pattern(pattern_id);
      if (!language) return std::move(language).error();
      if (!accepts(*language, name)) continue;
      insert(out, holds(value));
      here = true;
    }
    if (!here && rules.additional_properties != schema::kNoNode) {
      insert(out, holds(rules.additional_properties));
      here = true;
    }
    if (here) evaluating.push_back(id);
    if (rules.property_names != schema::kNoNode) {
      Result<LanguageId> names = strings_of(rules.property_names);
      if (!names) return std::move(names).error();
      if (!accepts(*names, name)) return Optional();
    }
  }
  if (closes(nodes, evaluating)) {
    // A key in `required` that nothing declares counts as declared.
    return evaluating.empty() ? Optional(std::move(out)) : Optional();
  }
  insert_unevaluated(nodes, evaluating, out);
  if (types(out) == 0) return Optional();
  return Optional(std::move(out));
}

// Whether some node describes the values of no undeclared name.
bool ArgumentSchema::forbids_undeclared(const Nodes& nodes) {
  return std::ranges::any_of(nodes, [&](NodeId id) {
    const ObjectRules& rules = document_.node(id).objects();
    return rules.pattern_properties.empty() &&
           rules.additional_properties != schema::kNoNode &&
           types({holds(rules.additional_properties)}) == 0;
  });
}

// The classes of the names in `names` by the patterns that they match.
//
// Each pattern splits every class into the names that match and those that do
// not.  Invariant: the classes are disjoint and not empty.
Result<std::vector<ArgumentSchema::NameClass>> ArgumentSchema::name_classes(
    const Nodes& nodes, LanguageId names) {
  std::vector<NameClass> classes = {{names, {}}};
  std::vector<schema::PatternId> split;
  for (NodeId id : nodes) {
    for (const auto& [pattern_id, value] :
         document_.node(id).objects().pattern_properties) {
      if (std::ranges::find(split, pattern_id) != split.end()) continue;
      split.push_back(pattern_id);
      Result<LanguageId> language = pattern(pattern_id);
      if (!language) return std::move(language).error();
      std::vector<NameClass> finer;
      for (const NameClass& one : classes) {
        NameClass in = one;
        in.names = languages_.all_of({one.names, *language});
        in.matched.push_back(pattern_id);
        NameClass out = one;
        out.names =
            languages_.all_of({one.names, languages_.complement(*language)});
        for (NameClass* part : {&in, &out}) {
          if (!languages_.empty(part->names)) finer.push_back(*part);
        }
      }
      classes = std::move(finer);
      if (classes.size() > kMaxNameClasses) {
        return Error{ErrorCode::kTooLarge,
                     "'patternProperties' divide names into more than 64 "
                     "classes.",
                     document_.pointer(id) + "/patternProperties"};
      }
    }
  }
  return classes;
}

// The constraints on the values of the undeclared names that match the patterns
// `matched` and no others; nothing if there are no such members.
std::optional<Conjunction> ArgumentSchema::undeclared_value(
    const Nodes& nodes, const std::vector<schema::PatternId>& matched) {
  Conjunction value;
  std::vector<NodeId> evaluating;
  for (NodeId id : nodes) {
    const ObjectRules& rules = document_.node(id).objects();
    bool here = false;
    for (const auto& [pattern_id, node] : rules.pattern_properties) {
      if (std::ranges::find(matched, pattern_id) == matched.end()) continue;
      insert(value, holds(node));
      here = true;
    }
    if (!here && rules.additional_properties != schema::kNoNode) {
      insert(value, holds(rules.additional_properties));
      here = true;
    }
    if (here) evaluating.push_back(id);
  }
  if (closes(nodes, evaluating)) return std::nullopt;
  insert_unevaluated(nodes, evaluating, value);
  if (types(value) == 0) return std::nullopt;
  return value;
}

// The undeclared members.  Names are partitioned into classes by the set of
// patterns that they match; within a class, all names have the same constraints
// on their values.
Result<std::vector<ArgumentObject::Extra>> ArgumentSchema::extras(
    const Nodes& nodes, const ArgumentObject& constraints, LanguageId names,
    bool names_constrained, const UndeclaredNames& undeclared) {
  using Extras = std::vector<ArgumentObject::Extra>;
  const bool by_patterns = std::ranges::any_of(nodes, [&](NodeId id) {
    return !document_.node(id).objects().pattern_properties.empty();
  });
  if (forbids_undeclared(nodes)) return Extras();
  // The names that no pattern matches.
  const std::optional<Conjunction> others = undeclared_value(nodes, {});
  if (!others && !by_patterns) return Extras();
  std::vector<std::string> listed;
  for (const ArgumentObject::Member& one : constraints.members) {
    listed.push_back(one.name);
  }
  // A declared property that must be absent is not an extra member either.
  for (NodeId id : nodes) {
    for (const auto& [key, value] : document_.node(id).objects().properties) {
      listed.emplace_back(key);
    }
  }
  const LanguageId writable = languages_.whole(undeclared.writable);
  const LanguageId unconstrained = languages_.whole(undeclared.unconstrained);
  if (!by_patterns && !names_constrained) {
    // One class of infinitely many names.
    ArgumentObject::Extra extra;
    extra.names = languages_.all_of({writable, unconstrained});
    extra.declared = std::move(listed);
    extra.value = *others;
    return Extras{std::move(extra)};
  }
  Result<std::vector<NameClass>> classes = name_classes(
      nodes,
      languages_.all_of({names, writable,
                         languages_.complement(languages_.literals(listed))}));
  if (!classes) return std::move(classes).error();
  Extras out;
  for (const NameClass& one : *classes) {
    ArgumentObject::Extra extra;
    extra.by_pattern = !one.matched.empty();
    std::optional<Conjunction> value =
        extra.by_pattern ? undeclared_value(nodes, one.matched) : others;
    if (!value) continue;
    extra.value = *std::move(value);
    // Names that no pattern and no propertyNames constrain are fewer.
    extra.names = extra.by_pattern || names_constrained
                      ? one.names
                      : languages_.all_of({one.names, unconstrained});
    if (!languages_.empty(extra.names)) out.push_back(std::move(extra));
  }
  return out;
}

// Nothing if no object satisfies the nodes.
Result<std::optional<ArgumentObject>> ArgumentSchema::object_constraints(
    const Nodes& nodes, const UndeclaredNames& undeclared) {
  using Optional = std::optional<ArgumentObject>;
  ArgumentObject constraints;
  std::vector<std::string_view> order;
  std::vector<std::string_view> required;
  std::vector<LanguageId> names;
  // The declared keys in the order of the schema, then the required keys that
  // nothing declares; and the bounds.
  for (NodeId id : nodes) {
    const ObjectRules& rules = document_.node(id).objects();
    for (const auto& [key, value] : rules.properties) {
      if (std::find(order.begin(), order.end(), key) == order.end()) {
        order.push_back(key);
      }
    }
    required.insert(required.end(), rules.required.begin(),
                    rules.required.end());
    constraints.min =
        std::max(constraints.min, rules.min_properties.value_or(0));
    constraints.max = std::min(constraints.max,
                               rules.max_properties.value_or(constraints.max));
    if (rules.property_names != schema::kNoNode) {
      Result<LanguageId> language = strings_of(rules.property_names);
      if (!language) return std::move(language).error();
      names.push_back(*language);
    }
  }
  for (std::string_view name : required) {
    if (std::find(order.begin(), order.end(), name) == order.end()) {
      order.push_back(name);
    }
  }
  // The constraints on the value of each key.
  for (std::string_view name : order) {
    const bool needed =
        std::find(required.begin(), required.end(), name) != required.end();
    Result<std::optional<Conjunction>> value = member(nodes, name);
    if (!value) return std::move(value).error();
    if (!*value) {
      if (needed) return Optional();
      continue;
    }
    constraints.members.push_back(
        {std::string(name), std::move(**value), needed});
  }
  const bool names_constrained = !names.empty();
  Result<std::vector<ArgumentObject::Extra>> more =
      extras(nodes, constraints, languages_.all_of(std::move(names)),
             names_constrained, undeclared);
  if (!more) return std::move(more).error();
  constraints.extras = std::move(*more);
  if (constraints.min > constraints.max) return Optional();
  return Optional(std::move(constraints));
}

Result<std::vector<ArgumentObject>> ArgumentSchema::objects(
    const Conjunction& all, const UndeclaredNames& names) {
  if (needs_solver(all, schema::kObject)) return solved_objects(all, names);
  Result<std::vector<Nodes>> options =
      alternatives(nodes_of(all), schema::kObject);
  if (!options) return std::move(options).error();
  std::vector<ArgumentObject> out;
  for (const Nodes& nodes : *options) {
    Result<std::optional<ArgumentObject>> constraints =
        object_constraints(nodes, names);
    if (!constraints) return std::move(constraints).error();
    if (*constraints) out.push_back(std::move(**constraints));
  }
  return out;
}

// The number of items that closed levels declare; kAllItems if none closes.
std::size_t ArgumentSchema::declared_items(const Nodes& nodes) const {
  std::size_t declared = kAllItems;
  for (NodeId id : nodes) {
    const Closing closing = document_.node(id).array_closing;
    if (closing == Closing::kNone) continue;
    std::size_t by_level = 0;
    for (NodeId one : closing == Closing::kAdditional
                          ? std::vector<NodeId>{id}
                          : nodes_inside(nodes, id)) {
      const schema::ArrayRules& rules = document_.node(one).arrays();
      by_level = std::max(by_level, rules.items != schema::kNoNode
                                        ? kAllItems
                                        : rules.prefix_items.size());
    }
    declared = std::min(declared, by_level);
  }
  return declared;
}

// The constraints of one alternative, of which the list may still have to end
// early.  Errors: kUnsupported for rules on the list as a whole.
Result<ArgumentArray> ArgumentSchema::item_constraints(const Nodes& nodes) {
  ArgumentArray out;
  out.rest.emplace();
  for (NodeId id : nodes) {
    const schema::ArrayRules& rules = document_.node(id).arrays();
    const std::string_view keyword = rules.contains != schema::kNoNode
                                         ? "contains"
                                     : rules.unique_items ? "uniqueItems"
                                                          : "";
    if (!keyword.empty()) {
      return unsupported(id, keyword,
                         "cannot be enforced where a list is written as "
                         "elements.");
    }
    if (out.prefix.size() < rules.prefix_items.size()) {
      out.prefix.resize(rules.prefix_items.size());
    }
    out.min = std::max(out.min, rules.min_items.value_or(0));
    out.max = std::min(out.max, rules.max_items.value_or(out.max));
  }
  for (NodeId id : nodes) {
    const schema::ArrayRules& rules = document_.node(id).arrays();
    for (std::size_t i = 0; i < out.prefix.size(); ++i) {
      if (i < rules.prefix_items.size()) {
        insert(out.prefix[i], holds(rules.prefix_items[i]));
      } else if (rules.items != schema::kNoNode) {
        insert(out.prefix[i], holds(rules.items));
      }
    }
    if (rules.items != schema::kNoNode) insert(*out.rest, holds(rules.items));
  }
  return out;
}

// Every step below may end the list earlier, and then no item follows.
Result<std::vector<ArgumentArray>> ArgumentSchema::arrays(
    const Conjunction& all) {
  if (needs_solver(all, schema::kArray)) return solved_arrays(all);
  Result<std::vector<Nodes>> options =
      alternatives(nodes_of(all), schema::kArray);
  if (!options) return std::move(options).error();
  std::vector<ArgumentArray> out;
  for (const Nodes& nodes : *options) {
    Result<ArgumentArray> made = item_constraints(nodes);
    if (!made) return std::move(made).error();
    ArgumentArray& array = *made;
    const auto end_at = [&](std::size_t size) {
      array.prefix.resize(size);
      array.rest.reset();
    };
    // After the items that closed levels declare.
    const std::size_t declared = declared_items(nodes);
    if (declared <= array.prefix.size()) end_at(declared);
    // Before the first item that no value satisfies.
    const auto impossible = std::ranges::find_if(
        array.prefix,
        [&](const Conjunction& item) { return types(item) == 0; });
    if (impossible != array.prefix.end()) {
      end_at(static_cast<std::size_t>(impossible - array.prefix.begin()));
    }
    // After the last item that maxItems allows.
    if (array.max < array.prefix.size()) {
      end_at(static_cast<std::size_t>(array.max));
    }
    if (array.rest && types(*array.rest) == 0) array.rest.reset();
    if (!array.rest) {
      array.max = std::min<std::uint64_t>(array.max, array.prefix.size());
    }
    if (array.min <= array.max) out.push_back(std::move(array));
  }
  return out;
}

LanguageId ArgumentSchema::names_of(const ArgumentObject::Extra& extra) {
  return languages_.all_of(
      {languages_.not_containing(extra.names, extra.excludes),
       languages_.complement(languages_.literals(extra.declared))});
}

bool ArgumentSchema::remove_names(ArgumentObject& constraints,
                                  const structural_tag::ElementLayout& layout,
                                  const std::vector<std::string>& texts) {
  if (texts.empty()) return true;
  const auto holds = [&](const std::string& name) {
    const std::string written = written_name(layout, name);
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) {
                         return written.find(text) != std::string::npos;
                       });
  };
  for (const ArgumentObject::Member& one : constraints.members) {
    if (one.required && holds(one.name)) return false;
  }
  std::erase_if(constraints.members, [&](const ArgumentObject::Member& one) {
    return holds(one.name);
  });
  for (ArgumentObject::Extra& one : constraints.extras) {
    one.excludes.insert(one.excludes.end(), texts.begin(), texts.end());
  }
  return true;
}

}  // namespace parlance::arguments
