#ifndef PARLANCE_SRC_RESPONSE_SCHEMA_DESCRIPTION_H_
#define PARLANCE_SRC_RESPONSE_SCHEMA_DESCRIPTION_H_

// A loaded response schema: a tree of nodes in one array.
//
//   {"type": "object",                 node 0, children 1 and 2
//    "properties": {
//      "role": {"const": "assistant"}, node 1
//      "tool_calls": {
//        "x-regex-iterator": "...",    node 2, child 3
//        "items": {...}}}}             node 3
//
// The loader refuses a schema that fails for every text.  A fault that upstream
// finds only when a text reaches it is recorded in the node: such a text fails,
// and lint() reports the fault in advance.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/id.h"
#include "format/description.h"
#include "parlance/error.h"
#include "parlance/jmespath.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "regex/pattern.h"

namespace parlance::response_schema {

// The deepest nesting of nodes.  Functions may recurse over the tree.
inline constexpr std::size_t kMaxDepth = 200;
// The most nodes of one response schema.
inline constexpr std::size_t kMaxNodes = 100000;

// Indexes Description::nodes.
using NodeId = base::Id<struct Node>;

// A pattern of Python's `re` with DOTALL.
struct NodePattern {
  std::string source;
  regex::Pattern pattern = {};
  std::optional<Error> fault = std::nullopt;  // kBadPattern

  // Whether an extract consists of named groups; otherwise it is text.
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
  kAny,  // also if "type" is missing or null
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
  std::optional<json::Value> constant = std::nullopt;  // nothing else is set
  std::optional<json::Value> fallback = std::nullopt;  // "default"

  // Keys that are neither read nor keywords of JSON Schema.
  std::vector<std::string> unknown_keys = {};

  // Whether the node has one of the regex keys, even with the value null.
  bool wants_text = false;
  bool null_substitutions = false;  // upstream fails to iterate over null
  std::vector<Substitution> substitutions = {};
  std::optional<NodePattern> regex = std::nullopt;
  std::optional<NodePattern> iterator = std::nullopt;
  std::optional<NodePattern> key_value = std::nullopt;

  NodeParser parser = NodeParser::kNone;
  bool parser_args = false;               // whether it has "x-parser-args"
  std::vector<std::string> unknown_args;  // members of it that nothing reads
  bool allow_non_json = false;
  std::optional<Jmespath> transform = std::nullopt;
  std::optional<Error> transform_fault = std::nullopt;  // kTransform

  ValueType type = ValueType::kAny;
  // As the JSON of "type" and "x-parser" has them, for messages.
  std::string type_text = {};
  std::string parser_text = {};

  bool has_properties = false;
  std::vector<std::pair<std::string, NodeId>> properties = {};
  json::Object property_index = {};  // by name: index in `properties`
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

// The keys of a node that are read: "x-regex", "x-parser", "type", ...
std::span<const std::string_view> keys_that_read();

// "array", "any", ...
std::string_view to_string(ValueType type);

std::vector<Lint> lint(const Description& schema);

// Converts to the response template that means the same.  Error:
// kNotConvertible.
Result<json::Value> to_template(const Description& schema,
                                std::string_view start_anchor);

}  // namespace parlance::response_schema

#endif  // PARLANCE_SRC_RESPONSE_SCHEMA_DESCRIPTION_H_
