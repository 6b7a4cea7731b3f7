#ifndef PARLANCE_SRC_RESPONSE_SCHEMA_DESCRIPTION_H_
#define PARLANCE_SRC_RESPONSE_SCHEMA_DESCRIPTION_H_

// A response schema as it was understood: a tree of nodes in one array.
//
//   {"type": "object",                 node 0, children 1 and 2
//    "properties": {
//      "role": {"const": "assistant"}, node 1
//      "tool_calls": {
//        "x-regex-iterator": "...",    node 2, child 3
//        "items": {...}}}}             node 3
//
// What fails whatever the text is refused by the loader.  What upstream finds
// out only when a text comes there is kept as a fault beside the thing that is
// faulty: it fails there and then, and lint names it before.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "format/description.h"
#include "parlance/error.h"
#include "parlance/jmespath.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "regex/pattern.h"

namespace parlance::response_schema {

// Nesting of nodes.  Walks over the tree may recurse.
inline constexpr std::size_t kMaxDepth = 200;
// Nodes of one response schema.
inline constexpr std::size_t kMaxNodes = 100000;

using NodeId = std::uint32_t;

// A pattern of Python's `re` with DOTALL.
struct NodePattern {
  std::string source;
  regex::Pattern pattern = {};
  std::optional<Error> fault = std::nullopt;  // kBadPattern

  // The group that an extract is: text alone, or named groups.
  bool has_names() const { return !pattern.hir.names.empty(); }
};

// Text, or a reference to a group by number.
using ReplacementPart = std::variant<std::string, std::uint32_t>;

struct Substitution {
  NodePattern pattern;
  std::vector<ReplacementPart> replacement = {};
  std::optional<Error> fault = std::nullopt;  // kBadPattern: the replacement
};

// ORDER: ValueType, names in description.cc
enum class ValueType : std::uint8_t {
  kAny,  // also without "type", or with null
  kObject,
  kArray,
  kString,
  kInteger,
  kNumber,
  kBoolean,
  kUnknown,
};

enum class NodeParser : std::uint8_t { kNone, kJson, kGemma4, kUnknown };

struct Node {
  std::string pointer;
  std::optional<json::Value> constant = std::nullopt;  // the rest is unset
  std::optional<json::Value> fallback = std::nullopt;  // "default"

  // One of the regex keys stands here, be its value null.
  bool wants_text = false;
  bool null_substitutions = false;  // which upstream fails to go over
  std::vector<Substitution> substitutions = {};
  std::optional<NodePattern> regex = std::nullopt;
  std::optional<NodePattern> iterator = std::nullopt;
  std::optional<NodePattern> key_value = std::nullopt;

  NodeParser parser = NodeParser::kNone;
  bool parser_args = false;               // "x-parser-args" stands here
  std::vector<std::string> unknown_args;  // its members that nothing reads
  bool allow_non_json = false;
  std::optional<Jmespath> transform = std::nullopt;
  std::optional<Error> transform_fault = std::nullopt;  // kTransform

  ValueType type = ValueType::kAny;
  // As the JSON of "type" and "x-parser" has them, for messages.
  std::string type_text = {};
  std::string parser_text = {};

  bool has_properties = false;
  std::vector<std::pair<std::string, NodeId>> properties = {};
  json::Object property_index = {};  // by name: its place in `properties`
  bool drops_additional = false;     // "additionalProperties": false
  std::optional<NodeId> additional = std::nullopt;
  std::vector<std::string> required = {};
  std::optional<NodeId> items = std::nullopt;
  bool has_prefix_items = false;
  std::vector<NodeId> prefix_items = {};
};

struct Description {
  std::vector<Node> nodes;  // the first is the root
};

// Reads a response schema.  Errors have a pointer and no span yet
// (place_error()).
Result<Description> load(const json::Value& spec, const Limits& limits);

// Reads the replacement of Python's re.sub().  Error: kBadPattern, its span in
// bytes of `text`.
Result<std::vector<ReplacementPart>> parse_replacement(std::string_view text,
                                                       const regex::Hir& hir);

// "array", "any", ...
std::string_view to_string(ValueType type);

std::vector<Lint> lint(const Description& schema);

// The response template that means the same; kNotConvertible.
Result<json::Value> to_template(const Description& schema,
                                std::string_view start_anchor);

}  // namespace parlance::response_schema

#endif  // PARLANCE_SRC_RESPONSE_SCHEMA_DESCRIPTION_H_
