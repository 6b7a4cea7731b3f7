// The rules of a node, one function for each kind of rule.

#include "schema/validate.h"

#include <algorithm>

namespace parlance::schema {
namespace {

using json::Kind;
using json::Value;

bool is_number(const Value& value) {
  return value.kind() == Kind::kInt || value.kind() == Kind::kBigInt ||
         value.kind() == Kind::kFloat;
}

// Code points of UTF-8.
std::uint64_t length_of(std::string_view text) {
  return static_cast<std::uint64_t>(std::count_if(
      text.begin(), text.end(),
      [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool within(std::uint64_t n, std::optional<std::uint64_t> min,
            std::optional<std::uint64_t> max) {
  return (!min || n >= *min) && (!max || n <= *max);
}

bool all_distinct(const json::Array& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (equal_values(items[i], items[j])) return false;
    }
  }
  return true;
}

}  // namespace

std::uint8_t type_bit(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return kNull;
    case Kind::kBool:
      return kBoolean;
    case Kind::kInt:
    case Kind::kBigInt:
    case Kind::kFloat:
      return kNumber;
    case Kind::kString:
      return kString;
    case Kind::kArray:
      return kArray;
    case Kind::kObject:
      return kObject;
  }
  return 0;
}

bool equal_values(const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) {
    // What is beyond the range of a double is read as an infinity.
    const auto x = to_decimal(a);
    const auto y = to_decimal(b);
    return x || y ? x == y : a == b;
  }
  if (a.kind() != b.kind()) return false;
  if (a.is_array()) {
    return std::equal(a.items().begin(), a.items().end(), b.items().begin(),
                      b.items().end(), equal_values);
  }
  if (a.is_object()) {
    return a.size() == b.size() &&
           std::all_of(a.members().begin(), a.members().end(),
                       [&](const json::Member& member) {
                         const Value* other = b.find(member.key);
                         return other != nullptr &&
                                equal_values(member.value, *other);
                       });
  }
  return a == b;
}

Validator::Validator(const Document& document)
    : document_(document), patterns_(document.patterns.size()) {}

bool Validator::valid(NodeId node, const Value& value) {
  Seen seen(value.size());
  return check(node, value, seen);
}

std::optional<bool> Validator::valid_within(const std::vector<NodeId>& nodes,
                                            const Value& value,
                                            std::size_t max_steps) {
  steps_left_ = max_steps;
  exhausted_ = false;
  const bool out = std::ranges::all_of(
      nodes, [&](NodeId node) { return valid(node, value); });
  if (exhausted_) return std::nullopt;
  return out;
}

bool Validator::spend(std::size_t steps) {
  exhausted_ = exhausted_ || steps > steps_left_;
  if (!exhausted_) steps_left_ -= steps;
  return !exhausted_;
}

// Invariant: `seen` has the members evaluated by the schemas that have been
// checked in place and hold; `mine` the same within this node.  The unevaluated
// rules come last, since they apply to the members that every other rule,
// those in place included, has left unmarked.
bool Validator::check(NodeId id, const Value& value, Seen& seen) {
  if (!spend(1)) return false;
  const Node& node = document_.node(id);
  // A schema that fails evaluates nothing, so its marks are collected apart.
  Seen mine(value.size());
  if (!check_here(node, value)) return false;
  if (value.is_array() && !check_array(node.arrays(), value.items(), mine)) {
    return false;
  }
  if (value.is_object() &&
      !check_object(node.objects(), value.members(), mine)) {
    return false;
  }
  if (!check_in_place(node, value, mine)) return false;
  if (!check_unevaluated(node, value, mine)) return false;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (mine[i]) seen[i] = true;
  }
  return true;
}

// The rules of types, enumerations, numbers and strings.
bool Validator::check_here(const Node& node, const Value& value) {
  if ((node.types & type_bit(value)) == 0) return false;
  if (node.scalars) {
    const bool listed =
        std::any_of(node.scalars->begin(), node.scalars->end(),
                    [&](const Value& v) { return equal_values(v, value); }) ||
        std::any_of(node.enum_nodes.begin(), node.enum_nodes.end(),
                    [&](NodeId id) { return valid(id, value); });
    if (!listed) return false;
  }
  if (is_number(value)) return check_number(node, value);
  if (value.is_string()) return check_string(node.strings(), value.as_string());
  return true;
}

bool Validator::check_number(const Node& node, const Value& value) const {
  if (!node.integer_only && node.number_rules == nullptr) return true;
  const std::optional<base::Decimal> number = to_decimal(value);
  const NumberRules& rules = node.numbers();
  if (!number) return !node.integer_only && node.number_rules == nullptr;
  if (node.integer_only &&
      (!number->is_integer() || (value.kind() == Kind::kFloat &&
                                 !document_.integer_may_have_zero_fraction))) {
    return false;
  }
  return (!rules.minimum || *number >= *rules.minimum) &&
         (!rules.maximum || *number <= *rules.maximum) &&
         (!rules.exclusive_minimum || *number > *rules.exclusive_minimum) &&
         (!rules.exclusive_maximum || *number < *rules.exclusive_maximum) &&
         (!rules.multiple_of || is_multiple(*number, *rules.multiple_of));
}

bool Validator::check_string(const StringRules& rules, std::string_view text) {
  const bool counts = rules.min_length || rules.max_length;
  return (!counts ||
          within(length_of(text), rules.min_length, rules.max_length)) &&
         (rules.pattern == kNoPattern || matches(rules.pattern, text)) &&
         (rules.format == kNoPattern || matches(rules.format, text));
}

bool Validator::check_array(const ArrayRules& rules, const json::Array& items,
                            Seen& seen) {
  if (!within(items.size(), rules.min_items, rules.max_items)) return false;
  if (rules.unique_items &&
      (!spend(items.size() * items.size() / 2) || !all_distinct(items))) {
    return false;
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const NodeId id =
        i < rules.prefix_items.size() ? rules.prefix_items[i] : rules.items;
    if (id == kNoNode) continue;
    if (!valid(id, items[i])) return false;
    seen[i] = true;
  }
  if (rules.contains == kNoNode) return true;
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!valid(rules.contains, items[i])) continue;
    ++found;
    if (rules.contains_evaluates) seen[i] = true;
  }
  return within(found, rules.min_contains, rules.max_contains);
}

// First what the keys alone decide, then each member.  A member is evaluated by
// `properties`, by `patternProperties`, or, if neither applies, by
// `additionalProperties`.  Invariant: of the members before the ith, `seen` has
// those that were evaluated.
bool Validator::check_object(const ObjectRules& rules,
                             const json::Object& members, Seen& seen) {
  if (!within(members.size(), rules.min_properties, rules.max_properties)) {
    return false;
  }
  const auto has = [&](std::string_view name) {
    return members.find(name) != nullptr;
  };
  if (!std::all_of(rules.required.begin(), rules.required.end(), has)) {
    return false;
  }
  for (const auto& [name, needed] : rules.dependent_required) {
    if (has(name) && !std::all_of(needed.begin(), needed.end(), has)) {
      return false;
    }
  }
  std::size_t i = 0;
  for (const auto& [key, value] : members) {
    if (rules.property_names != kNoNode &&
        !valid(rules.property_names, Value(key))) {
      return false;
    }
    bool declared = false;
    for (const auto& [name, id] : rules.properties) {
      if (name != key) continue;
      declared = true;
      if (!valid(id, value)) return false;
    }
    for (const auto& [pattern, id] : rules.pattern_properties) {
      if (!matches(pattern, key)) continue;
      declared = true;
      if (!valid(id, value)) return false;
    }
    if (!declared && rules.additional_properties != kNoNode) {
      declared = true;
      if (!valid(rules.additional_properties, value)) return false;
    }
    if (declared) seen[i] = true;
    ++i;
  }
  return true;
}

bool Validator::check_in_place(const Node& node, const Value& value,
                               Seen& seen) {
  if (node.ref != kNoNode && !check(node.ref, value, seen)) return false;
  for (NodeId id : node.all_of) {
    if (!check(id, value, seen)) return false;
  }
  // Every branch is checked, since each that holds marks members as evaluated.
  const auto holding = [&](const std::vector<NodeId>& branches) {
    return std::count_if(branches.begin(), branches.end(),
                         [&](NodeId id) { return check(id, value, seen); });
  };
  if (node.has_any_of && holding(node.any_of) == 0) return false;
  if (node.has_one_of && holding(node.one_of) != 1) return false;
  if (node.not_node != kNoNode && valid(node.not_node, value)) return false;
  if (node.if_node != kNoNode) {
    const NodeId branch =
        check(node.if_node, value, seen) ? node.then_node : node.else_node;
    if (branch != kNoNode && !check(branch, value, seen)) return false;
  }
  for (const auto& [name, id] : node.objects().dependent_schemas) {
    if (value.find(name) != nullptr && !check(id, value, seen)) return false;
  }
  return true;
}

bool Validator::check_unevaluated(const Node& node, const Value& value,
                                  Seen& seen) {
  const NodeId id = value.is_array()    ? node.arrays().unevaluated_items
                    : value.is_object() ? node.objects().unevaluated_properties
                                        : kNoNode;
  if (id == kNoNode) return true;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i]) continue;
    const Value& part =
        value.is_array()
            ? value.items()[i]
            : (value.members().begin() + static_cast<std::ptrdiff_t>(i))->value;
    if (!valid(id, part)) return false;
    seen[i] = true;
  }
  return true;
}

bool Validator::matches(PatternId id, std::string_view text) {
  std::optional<regex::Pcre2>& pattern = patterns_[id];
  if (!pattern) {
    Result<regex::Pcre2> compiled =
        regex::Pcre2::compile(*document_.patterns[id].pattern);
    if (!compiled) return false;
    pattern.emplace(std::move(*compiled));
  }
  regex::Pcre2::Scratch scratch(*pattern);
  return pattern->search(text, 0, {}, scratch, nullptr).status ==
         regex::Pcre2::Status::kMatch;
}

bool validate(const Document& document, NodeId node, const Value& value) {
  return Validator(document).valid(node, value);
}

}  // namespace parlance::schema
