// The meaning of each keyword, and the values that it may have.
//
// Keywords that only mean something together (a bound and its flag, items and
// their successors, contains and its counts, if and its branches) are read
// together by the first of them.

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_set>

#include "schema/loader.h"

namespace parlance::schema {
namespace {

using json::Kind;
using json::Value;

bool is_number(const Value& value) {
  return value.kind() == Kind::kInt || value.kind() == Kind::kBigInt ||
         value.kind() == Kind::kFloat;
}

template <class T>
T& made(std::unique_ptr<T>& rules) {
  if (rules == nullptr) rules = std::make_unique<T>();
  return *rules;
}

struct TypeName {
  std::string_view name;
  std::uint8_t bits;
};
constexpr TypeName kTypeNames[] = {
    {"string", kString}, {"object", kObject},   {"array", kArray},
    {"number", kNumber}, {"boolean", kBoolean}, {"null", kNull},
};

}  // namespace

NumberRules& Loader::numbers() { return made(node().number_rules); }
StringRules& Loader::strings() { return made(node().string_rules); }
ArrayRules& Loader::arrays() { return made(node().array_rules); }
ObjectRules& Loader::objects() { return made(node().object_rules); }

bool Loader::rules() {
  for (std::uint64_t left = members_.present; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    if (!rule(static_cast<Keyword>(i), *members_.at[i])) return false;
  }
  return !error_;
}

// Adds the rule of one keyword to the current node.  Keywords are visited in
// the order of the enumeration; those that the first of a group has read do
// nothing here.
bool Loader::rule(Keyword keyword, const Value& value) {
  switch (keyword) {
    case Keyword::kSchema:
      return draft_name(value);
    case Keyword::kType:
      return types(value);
    case Keyword::kEnum:
      return enumeration(value);
    case Keyword::kConst:
      return constant(value);
    case Keyword::kMultipleOf:
      return number(keyword, value);
    case Keyword::kMaximum:
      return bound(Keyword::kMaximum, Keyword::kExclusiveMaximum);
    case Keyword::kMinimum:
      return bound(Keyword::kMinimum, Keyword::kExclusiveMinimum);
    case Keyword::kExclusiveMaximum:
    case Keyword::kExclusiveMinimum:
      // A flag was read with its bound, and has no effect without one.
      return value.kind() == Kind::kBool || number(keyword, value);
    case Keyword::kMaxLength:
      return count(keyword, value, strings().max_length);
    case Keyword::kMinLength:
      return count(keyword, value, strings().min_length);
    case Keyword::kPattern:
      if (!value.is_string()) return wrong_type(value, keyword, "a string");
      return pattern(value, value.as_string(), strings().pattern);
    case Keyword::kFormat:
      return format(value);
    case Keyword::kPrefixItems:
      return list(keyword, value, arrays().prefix_items);
    case Keyword::kItems:
      return items();
    case Keyword::kContains:
      return contains();
    case Keyword::kMaxItems:
      return count(keyword, value, arrays().max_items);
    case Keyword::kMinItems:
      return count(keyword, value, arrays().min_items);
    case Keyword::kUniqueItems:
      return unique_items(value);
    case Keyword::kUnevaluatedItems:
      return schema(keyword, value, arrays().unevaluated_items);
    case Keyword::kProperties:
      return properties(value);
    case Keyword::kPatternProperties:
      return pattern_properties(value);
    case Keyword::kAdditionalProperties:
      return schema(keyword, value, objects().additional_properties);
    case Keyword::kPropertyNames:
      return schema(keyword, value, objects().property_names);
    case Keyword::kRequired:
      return required(value);
    case Keyword::kMaxProperties:
      return count(keyword, value, objects().max_properties);
    case Keyword::kMinProperties:
      return count(keyword, value, objects().min_properties);
    case Keyword::kDependencies:
    case Keyword::kDependentRequired:
    case Keyword::kDependentSchemas:
      return dependencies(keyword, value);
    case Keyword::kUnevaluatedProperties:
      return schema(keyword, value, objects().unevaluated_properties);
    case Keyword::kAllOf:
      return in_place(keyword, value, &Node::all_of);
    case Keyword::kAnyOf:
      node().has_any_of = true;
      return in_place(keyword, value, &Node::any_of);
    case Keyword::kOneOf:
      node().has_one_of = true;
      return in_place(keyword, value, &Node::one_of);
    case Keyword::kNot:
      return in_place(keyword, value, &Node::not_node);
    case Keyword::kIf:
      return condition(value);
    default:
      return true;
  }
}

// An unknown draft leaves the draft as it is, and is reported for the root.
bool Loader::draft_name(const Value& value) {
  if (now_.node == document_.root && !options_.draft && value.is_string() &&
      !names_known_draft(value.as_string())) {
    document_.ignored.push_back(
        {now_.node, value.as_string(), Ignored::Why::kUnknownDraft});
  }
  return true;
}

bool Loader::unique_items(const Value& value) {
  if (value.kind() != Kind::kBool) {
    return wrong_type(value, Keyword::kUniqueItems, "true or false");
  }
  if (value.as_bool()) arrays().unique_items = true;
  return true;
}

// Schemas that apply to the same value.  Adding them moves the nodes, so the
// current node is looked up after it.
bool Loader::in_place(Keyword keyword, const Value& value, NodeId Node::*out) {
  NodeId id = kNoNode;
  if (!schema(keyword, value, id)) return false;
  node().*out = id;
  return true;
}

// The list may have references already, which are an allOf.
bool Loader::in_place(Keyword keyword, const Value& value,
                      std::vector<NodeId> Node::*out) {
  std::vector<NodeId> branches;
  if (!list(keyword, value, branches)) return false;
  std::vector<NodeId>& all = node().*out;
  all.insert(all.end(), branches.begin(), branches.end());
  return true;
}

// `if` with its branches, which have no effect without it.
bool Loader::condition(const Value& value) {
  if (!in_place(Keyword::kIf, value, &Node::if_node)) return false;
  const Value* then = members_.find(Keyword::kThen);
  if (then != nullptr && !in_place(Keyword::kThen, *then, &Node::then_node)) {
    return false;
  }
  const Value* otherwise = members_.find(Keyword::kElse);
  return otherwise == nullptr ||
         in_place(Keyword::kElse, *otherwise, &Node::else_node);
}

bool Loader::schema(Keyword keyword, const Value& value, NodeId& out) {
  if (!value.is_object() && value.kind() != Kind::kBool) {
    return wrong_type(value, keyword, "a schema: an object, true or false");
  }
  out = child(value);
  return out != kNoNode;
}

bool Loader::list(Keyword keyword, const Value& value,
                  std::vector<NodeId>& out) {
  if (!value.is_array()) return wrong_type(value, keyword, "a list of schemas");
  out.reserve(value.size());
  for (const Value& item : value.items()) {
    NodeId id = kNoNode;
    if (!schema(keyword, item, id)) return false;
    out.push_back(id);
  }
  return true;
}

bool Loader::types(const Value& value) {
  std::uint8_t bits = 0;
  bool integer = false;
  const auto add = [&](const Value& name) {
    if (!name.is_string()) {
      return wrong_type(name, Keyword::kType, "a name or a list of names");
    }
    if (name.as_string() == "integer") {
      integer = true;
      return true;
    }
    for (const TypeName& row : kTypeNames) {
      if (name.as_string() == row.name) {
        bits |= row.bits;
        return true;
      }
    }
    return fail(name, ErrorCode::kUnknownName,
                "There is no type \"" + std::string(name.as_string()) +
                    "\"; the types are null, boolean, integer, number, "
                    "string, array and object.");
  };
  if (value.is_array()) {
    if (value.size() == 0) {
      return fail(value, ErrorCode::kInvalidValue,
                  "\"type\" must name at least one type.");
    }
    for (const Value& name : value.items()) {
      if (!add(name)) return false;
    }
  } else if (!add(value)) {
    return false;
  }
  node().integer_only = integer && (bits & kNumber) == 0;
  node().types = integer ? bits | kNumber : bits;
  return true;
}

// Adds `value` to the values that an enumeration allows.
void Loader::allow(Node& where, NodeId id, const Value& value) {
  if (value.is_array() || value.is_object()) {
    const NodeId made_node = literal(value);  // moves the nodes
    document_.nodes[id].enum_nodes.push_back(made_node);
    return;
  }
  // NaN and the infinities, which are not JSON, are equal to nothing.
  if (value.kind() == Kind::kFloat && value.as_string().empty() &&
      !std::isfinite(value.as_float())) {
    return;
  }
  if (is_number(value) && !decimal_of(value)) return;
  where.scalars->push_back(value);
}

bool Loader::enumeration(const Value& value) {
  if (!value.is_array()) {
    return wrong_type(value, Keyword::kEnum, "a list of values");
  }
  node().scalars.emplace().reserve(value.size());
  for (const Value& item : value.items()) allow(node(), now_.node, item);
  return !error_;
}

bool Loader::constant(const Value& value) {
  // Beside an enum both must hold.
  if (members_.find(Keyword::kEnum) != nullptr) {
    const NodeId id = literal(value);
    node().all_of.push_back(id);
  } else {
    node().scalars.emplace();
    allow(node(), now_.node, value);
  }
  return !error_;
}

// The number `value`; an error if it has more than kMaxNumberDigits.
std::optional<base::Decimal> Loader::decimal_of(const Value& value) {
  std::optional<base::Decimal> decimal = to_decimal(value);
  if (decimal && decimal->magnitude() <= kMaxNumberDigits &&
      -decimal->exponent <= kMaxNumberDigits) {
    return decimal;
  }
  if (!decimal && value.kind() == Kind::kFloat && value.as_string().empty()) {
    fail(value, ErrorCode::kInvalidValue,
         "NaN and the infinities are no bounds.");
    return std::nullopt;
  }
  fail(value, ErrorCode::kTooLarge,
       "This number has more than " + std::to_string(kMaxNumberDigits) +
           " digits before or after the point when it is written without an "
           "exponent.");
  return std::nullopt;
}

bool Loader::number(Keyword keyword, const Value& value) {
  if (!is_number(value)) return wrong_type(value, keyword, "a number");
  std::optional<base::Decimal> decimal = decimal_of(value);
  if (!decimal) return false;
  NumberRules& rules = numbers();
  switch (keyword) {
    case Keyword::kMinimum:
      rules.minimum = std::move(decimal);
      return true;
    case Keyword::kMaximum:
      rules.maximum = std::move(decimal);
      return true;
    case Keyword::kExclusiveMinimum:
      rules.exclusive_minimum = std::move(decimal);
      return true;
    case Keyword::kExclusiveMaximum:
      rules.exclusive_maximum = std::move(decimal);
      return true;
    default:
      if (decimal->negative || decimal->is_zero()) {
        return fail(value, ErrorCode::kInvalidValue,
                    "\"multipleOf\" must be greater than zero.");
      }
      rules.multiple_of = std::move(decimal);
      return true;
  }
}

bool Loader::bound(Keyword plain, Keyword exclusive) {
  const Value* flag = members_.find(exclusive);
  const bool strict = flag != nullptr && flag->as_bool();
  // Draft 4 writes "minimum": 1, "exclusiveMinimum": true.
  const Value& value = *members_.find(plain);
  if (!is_number(value)) return wrong_type(value, plain, "a number");
  return number(strict ? exclusive : plain, value);
}

// Counts beyond kMostCount are kMostCount: no text has that many characters,
// items or members, and sums of counts do not overflow.
bool Loader::count(Keyword keyword, const Value& value, std::uint64_t& out) {
  const auto negative = [&] {
    return fail(
        value, ErrorCode::kInvalidValue,
        "\"" + std::string(info(keyword).name) + "\" must not be negative.");
  };
  const std::optional<base::Decimal> number = to_decimal(value);
  if (!number || !number->is_integer()) {
    return wrong_type(value, keyword, "a whole number");
  }
  if (number->negative) return negative();
  static constexpr std::int64_t kDigits = 18;  // of kMostCount, less one
  out = kMostCount;
  if (number->magnitude() <= kDigits) {
    out = 0;
    for (const char c : number->digits) {
      out = out * 10 + static_cast<std::uint64_t>(c - '0');
    }
    for (std::int64_t i = 0; i < number->exponent; ++i) out *= 10;
  }
  return true;
}

// A maximum that no text can exceed is dropped.
bool Loader::count(Keyword keyword, const Value& value,
                   std::optional<std::uint64_t>& out) {
  if (!count(keyword, value, out.emplace())) return false;
  const bool maximum = info(keyword).name.starts_with("max");
  if (maximum && *out == kMostCount) out.reset();
  return true;
}

bool Loader::pattern(const Value& where, std::string_view text,
                     PatternId& out) {
  const auto [known, is_new] = pattern_ids_.try_emplace(
      text, static_cast<PatternId>(document_.patterns.size()));
  if (is_new) {
    Result<regex::Pattern> read = regex::parse_pattern(
        text, {.flavor = regex::Flavor::kEcma, .limits = options_.limits});
    if (!read) {
      error_ = std::move(read).error();
      error_->path = document_.pointer(&where);
      return false;
    }
    document_.patterns.push_back(
        {.pattern = std::make_shared<const regex::Pattern>(std::move(*read))});
  }
  out = known->second;
  return true;
}

bool Loader::format(const Value& value) {
  if (!value.is_string()) {
    return wrong_type(value, Keyword::kFormat, "a string");
  }
  if (!options_.assert_formats) return true;
  const std::optional<FormatId> id = find_format(value.as_string());
  if (!id) {
    document_.ignored.push_back(
        {now_.node, value.as_string(), Ignored::Why::kUnknownFormat});
    return true;
  }
  const auto [known, is_new] = format_ids_.try_emplace(
      *id, static_cast<PatternId>(document_.patterns.size()));
  if (is_new) {
    document_.patterns.push_back(
        {.pattern = format_pattern(*id), .format = format_name(*id)});
  }
  strings().format = known->second;
  return true;
}

// `items` is a schema for every item after the prefix, or, in older drafts, a
// list that is the prefix itself, with additionalItems for the rest.
bool Loader::items() {
  const Value& value = *members_.find(Keyword::kItems);
  NodeId id = kNoNode;
  if (!value.is_array()) {
    if (!schema(Keyword::kItems, value, id)) return false;
    arrays().items = id;
    return true;
  }
  if (members_.find(Keyword::kPrefixItems) != nullptr) {
    return wrong_type(value, Keyword::kItems,
                      "a schema where \"prefixItems\" is given");
  }
  if (!list(Keyword::kItems, value, arrays().prefix_items)) return false;
  const Value* rest = members_.find(Keyword::kAdditionalItems);
  if (rest == nullptr) return true;
  if (!schema(Keyword::kAdditionalItems, *rest, id)) return false;
  arrays().items = id;
  return true;
}

bool Loader::contains() {
  NodeId id = kNoNode;
  if (!schema(Keyword::kContains, *members_.find(Keyword::kContains), id)) {
    return false;
  }
  ArrayRules& rules = arrays();
  rules.contains = id;
  rules.contains_evaluates = draft_ == Draft::k2020;
  if (const Value* min = members_.find(Keyword::kMinContains)) {
    if (!count(Keyword::kMinContains, *min, rules.min_contains)) return false;
  }
  if (const Value* max = members_.find(Keyword::kMaxContains)) {
    return count(Keyword::kMaxContains, *max, rules.max_contains);
  }
  return true;
}

bool Loader::properties(const Value& value) {
  if (!value.is_object()) {
    return wrong_type(value, Keyword::kProperties, "an object of schemas");
  }
  ObjectRules& rules = objects();
  rules.properties.reserve(value.size());
  for (const json::Member& member : value.members()) {
    NodeId id = kNoNode;
    if (!schema(Keyword::kProperties, member.value, id)) return false;
    rules.properties.emplace_back(member.key, id);
  }
  return true;
}

bool Loader::pattern_properties(const Value& value) {
  if (!value.is_object()) {
    return wrong_type(value, Keyword::kPatternProperties,
                      "an object of schemas");
  }
  ObjectRules& rules = objects();
  for (const json::Member& member : value.members()) {
    PatternId key = kNoPattern;
    NodeId id = kNoNode;
    if (!pattern(member.value, member.key, key) ||
        !schema(Keyword::kPatternProperties, member.value, id)) {
      return false;
    }
    rules.pattern_properties.emplace_back(key, id);
  }
  return true;
}

bool Loader::required(const Value& value) {
  if (value.kind() == Kind::kBool) {
    document_.ignored.push_back(
        {now_.node, "required", Ignored::Why::kRequiredFlag});
    return true;
  }
  return names(Keyword::kRequired, value, objects().required);
}

// A list of names, each once.
bool Loader::names(Keyword keyword, const Value& value,
                   std::vector<std::string_view>& out) {
  if (!value.is_array()) return wrong_type(value, keyword, "a list of names");
  constexpr std::size_t kScanned = 16;
  std::unordered_set<std::string_view> seen;
  const bool many = value.size() > kScanned;
  out.reserve(value.size());
  for (const Value& item : value.items()) {
    if (!item.is_string()) return wrong_type(item, keyword, "a list of names");
    const std::string_view name = item.as_string();
    const bool is_new =
        many ? seen.insert(name).second
             : std::find(out.begin(), out.end(), name) == out.end();
    if (is_new) out.push_back(name);
  }
  return true;
}

bool Loader::dependencies(Keyword keyword, const Value& value) {
  if (!value.is_object()) return wrong_type(value, keyword, "an object");
  ObjectRules& rules = objects();
  for (const json::Member& member : value.members()) {
    const bool lists =
        keyword == Keyword::kDependentRequired ||
        (keyword == Keyword::kDependencies && !member.value.is_object() &&
         member.value.kind() != Kind::kBool);
    if (lists) {
      rules.dependent_required.emplace_back(member.key,
                                            std::vector<std::string_view>());
      auto& needed = rules.dependent_required.back().second;
      if (!names(keyword, member.value, needed)) return false;
    } else {
      NodeId id = kNoNode;
      if (!schema(keyword, member.value, id)) return false;
      rules.dependent_schemas.emplace_back(member.key, id);
    }
  }
  return true;
}

}  // namespace parlance::schema
