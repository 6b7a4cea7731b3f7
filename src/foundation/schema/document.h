#ifndef PARLANCE_SRC_SCHEMA_DOCUMENT_H_
#define PARLANCE_SRC_SCHEMA_DOCUMENT_H_

// A JSON Schema as a resolved tree: what the keywords of its draft say, with
// every reference pointing at the node it means.
//
//   Result<Document> document = load(*json::parse(text));
//   if (!document) return document.error();
//   const Node& root = document->node(document->root);
//
//   {"type": "object", "required": ["a"],      0 object, required a,
//    "properties": {"a": {"$ref": "#/$defs/n"},    properties a -> 1
//                   "b": {"$ref": "#"}},           b -> 2
//    "$defs": {"n": {"enum": [1, [2]]}}}       1 ref -> 3   2 ref -> 0
//                                              3 scalars 1, enum_nodes -> 4
//                                              4 array, prefix_items -> 5 ...
//
// A node is a conjunction: a value is valid when every rule of the node that
// speaks of its type holds.  Recursion is a cycle of ids that passes through a
// property or an item; a cycle that does not is refused, so in-place chains
// (ref, all_of, not, ...) end, and are no longer than Limits::json_depth.
//
// Draft differences are gone once a document is loaded: draft-4's boolean
// exclusiveMinimum is folded, tuples are prefix_items, `dependencies` is split,
// siblings of $ref are dropped where the draft drops them, $dynamicRef and
// $recursiveRef are resolved (a node read in two dynamic scopes is two nodes).
// Keywords without a rule here are annotations, or are listed in `ignored`.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/decimal.h"
#include "base/id.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "regex/pattern.h"

namespace parlance::schema {

// ORDER: Draft
enum class Draft : std::uint8_t { k4, k6, k7, k2019, k2020 };

using NodeId = base::Id<struct Node>;
inline constexpr NodeId kNoNode{0xFFFFFFFF};

// An index into Document::patterns.
using PatternId = base::Id<struct PatternTag>;
inline constexpr PatternId kNoPattern{0xFFFFFFFF};

// One bit per type.  "integer" is kNumber with Node::integer_only.
enum TypeBits : std::uint8_t {
  kNull = 1,
  kBoolean = 2,
  kNumber = 4,
  kString = 8,
  kArray = 16,
  kObject = 32,
  kAllTypes = 63,
};

// The digits that a number of a schema may have before the point, and after it,
// when it is written without an exponent.  As many as an integer of JSON text
// may have by default (Limits::integer_digits): automata of numbers have states
// for the digits.
inline constexpr std::int64_t kMaxNumberDigits = 4300;

// Counts (of characters, items, members) beyond this are this.
inline constexpr std::uint64_t kMostCount = std::uint64_t{1} << 62;

// Rules for numbers.  Exact, see base/decimal.h.
struct NumberRules {
  std::optional<base::Decimal> minimum;
  std::optional<base::Decimal> maximum;
  std::optional<base::Decimal> exclusive_minimum;
  std::optional<base::Decimal> exclusive_maximum;
  std::optional<base::Decimal> multiple_of;  // greater than zero
};

// Rules for strings.  Lengths count Unicode code points.
struct StringRules {
  std::optional<std::uint64_t> min_length;
  std::optional<std::uint64_t> max_length;
  PatternId pattern = kNoPattern;
  PatternId format = kNoPattern;
};

// Rules for arrays.
struct ArrayRules {
  std::vector<NodeId> prefix_items;
  NodeId items = kNoNode;  // the items after the prefix; kNoNode: anything
  NodeId contains = kNoNode;
  std::uint64_t min_contains = 1;
  std::optional<std::uint64_t> max_contains;
  std::optional<std::uint64_t> min_items;
  std::optional<std::uint64_t> max_items;
  bool unique_items = false;
  // An item that satisfies `contains` counts as evaluated (2020-12).
  bool contains_evaluates = false;
  NodeId unevaluated_items = kNoNode;
};

// Rules for objects.  Names are views into the schema, which the document keeps
// alive.
struct ObjectRules {
  std::vector<std::pair<std::string_view, NodeId>> properties;  // as written
  std::vector<std::pair<PatternId, NodeId>> pattern_properties;
  NodeId additional_properties = kNoNode;
  NodeId property_names = kNoNode;
  std::vector<std::string_view> required;  // each name once
  std::optional<std::uint64_t> min_properties;
  std::optional<std::uint64_t> max_properties;
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>>
      dependent_required;
  std::vector<std::pair<std::string_view, NodeId>> dependent_schemas;
  NodeId unevaluated_properties = kNoNode;
};

// How close() closes a node for objects or arrays; see close.h.
enum class Closing : std::uint8_t {
  kNone,
  // As `additionalProperties: false` (`items: false`): the node itself declares
  // all members of the level.
  kAdditional,
  // As `unevaluatedProperties: false` (`unevaluatedItems: false`).
  kUnevaluated,
};

struct Node {
  std::uint8_t types = kAllTypes;  // the schema `false`: 0
  // Numbers must be integers.  Whether 2.0 is one, see
  // Document::integer_may_have_zero_fraction.
  bool integer_only = false;
  bool has_any_of = false;  // an empty `any_of` accepts nothing
  bool has_one_of = false;
  // A value of an enum or a part of one: `source` is that value, and no schema.
  bool literal = false;

  // enum and const: a value is equal to one of `scalars` (numbers by value, so
  // 1 is 1.0) or valid under one of `enum_nodes`, which spell out the listed
  // arrays and objects.  Engaged and empty with no enum_nodes: accepts nothing.
  std::optional<std::vector<json::Value>> scalars;
  std::vector<NodeId> enum_nodes;

  // Rules that speak of one type; null: none.  See the readers below.
  std::unique_ptr<NumberRules> number_rules;
  std::unique_ptr<StringRules> string_rules;
  std::unique_ptr<ArrayRules> array_rules;
  std::unique_ptr<ObjectRules> object_rules;

  std::vector<NodeId> all_of;
  std::vector<NodeId> any_of;
  std::vector<NodeId> one_of;
  NodeId not_node = kNoNode;
  NodeId if_node = kNoNode;
  NodeId then_node = kNoNode;  // kNoNode without an if_node
  NodeId else_node = kNoNode;
  NodeId ref = kNoNode;

  // Rules of close(); they have no negation.
  Closing object_closing = Closing::kNone;
  Closing array_closing = Closing::kNone;

  // The schema in its source, for Document::pointer().
  const json::Value* source = nullptr;

  // The rules of one type, or rules that allow everything.
  const NumberRules& numbers() const;
  const StringRules& strings() const;
  const ArrayRules& arrays() const;
  const ObjectRules& objects() const;

  // Whether every value is valid: `true`, {}, or annotations only.
  bool accepts_everything() const;
};

// A regular expression with ECMA-262's meaning.  A string matches when some
// part of it does; a format's expression is anchored at both ends.
struct SchemaPattern {
  std::shared_ptr<const regex::Pattern> pattern;  // never null
  // The name of the format it stands for, else empty.
  std::string_view format = {};

  const regex::Hir& hir() const { return pattern->hir; }
};

// Something in the schema that has no effect, and that its author may have
// meant to have one.
struct Ignored {
  enum class Why : std::uint8_t {
    kUnknownKeyword,
    kUnknownFormat,  // `keyword` is the name of the format
    kOtherDraft,     // a keyword of another draft than the schema's
    kRequiredFlag,   // draft 3's "required": true
    kUnknownDraft,   // `keyword` is the value of $schema
    kBesideRef,      // drafts before 2019-09 ignore keywords beside $ref
  };
  NodeId node = kNoNode;
  std::string_view keyword;
  Why why = Why::kUnknownKeyword;
};

// Move-only; immutable once loaded, then safe to share between threads.
struct Document {
  NodeId root = kNoNode;
  Draft draft = Draft::k2020;
  // 2.0 is an integer: from draft 6 on.
  bool integer_may_have_zero_fraction = true;
  std::vector<Node> nodes;
  std::vector<SchemaPattern> patterns;
  std::vector<Ignored> ignored;

  // The schemas that nodes point into: the root, then other documents that
  // references led to, each with its URL.
  struct Source {
    std::string url;
    json::Value value;
  };
  std::vector<std::unique_ptr<const Source>> sources;

  const Node& node(NodeId id) const { return nodes[id]; }

  // JSON Pointer of a node in the schema, "" for the root.  In a document that
  // a reference led to: its URL, '#', and the pointer.  For a node that stands
  // for a member of an enum: where that member is written.
  // Complexity: O(size of the schema); for reports only.
  std::string pointer(NodeId id) const;
  // The same for any value inside the sources.
  std::string pointer(const json::Value* value) const;
  // Of each of the values.  Complexity: O(size of the schema + n log n).
  std::vector<std::string> pointers(
      const std::vector<const json::Value*>& values) const;
};

struct LoadOptions {
  // The draft of the schema, which overrides $schema.  Default: $schema's.
  std::optional<Draft> draft = std::nullopt;
  // The draft of a schema without a known $schema.
  Draft default_draft = Draft::k2020;

  // Known formats are rules; otherwise `format` is an annotation.
  bool assert_formats = true;

  // Documents that references may lead to, by absolute URL without fragment.
  std::vector<std::pair<std::string, json::Value>> documents = {};

  // json_depth bounds the nesting of the schema and in-place chains of it.
  Limits limits = {};
  // Nodes of one document, those that spell out enum members included.
  std::size_t max_nodes = std::size_t{1} << 22;
};

// Reads `schema` and every schema that it refers to.  Parts that nothing refers
// to are not read.
//
// Errors, each with the pointer of the keyword: kWrongType (a keyword has a
// value of the wrong type), kInvalidValue (of the right type, but out of
// range), kUnknownName (a type is not known), kBadReference, kConflict (a
// schema refers to itself without going into the value), kUnsupportedVersion
// (a draft before 4), kUnsupported (a vocabulary of its own), kBadPattern,
// kUnsupportedPattern, kTooDeep, kTooLarge.
// Complexity: O(size of the reachable schemas).
Result<Document> load(const json::Value& schema,
                      const LoadOptions& options = {});

// The exact value of a number; nothing for anything else, and for NaN and the
// infinities.
std::optional<base::Decimal> to_decimal(const json::Value& value);

inline const NumberRules& Node::numbers() const {
  static const NumberRules none;
  return number_rules ? *number_rules : none;
}

inline const StringRules& Node::strings() const {
  static const StringRules none;
  return string_rules ? *string_rules : none;
}

inline const ArrayRules& Node::arrays() const {
  static const ArrayRules none;
  return array_rules ? *array_rules : none;
}

inline const ObjectRules& Node::objects() const {
  static const ObjectRules none;
  return object_rules ? *object_rules : none;
}

inline bool Node::accepts_everything() const {
  return types == kAllTypes && !integer_only && !has_any_of && !has_one_of &&
         !scalars && number_rules == nullptr && string_rules == nullptr &&
         array_rules == nullptr && object_rules == nullptr && all_of.empty() &&
         not_node == kNoNode && if_node == kNoNode && ref == kNoNode;
}

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_DOCUMENT_H_
