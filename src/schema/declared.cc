// Walks over the loaded schema of a tool; see declared.h.

#include "schema/declared.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "schema/validate.h"

namespace parlance::schema {
namespace {

void insert(std::vector<NodeId>& nodes, NodeId id) {
  if (std::ranges::find(nodes, id) == nodes.end()) nodes.push_back(id);
}

// The types of the values that a node lists.
std::uint8_t listed_types(const Document& document, const Node& node) {
  std::uint8_t out = 0;
  for (const json::Value& value : *node.scalars) out |= type_bit(value);
  for (const NodeId id : node.enum_nodes) out |= document.node(id).types;
  return out;
}

// The types that one node and those in place with it allow.
//
// In-place chains of a document end, but may share nodes, so the types of each
// node are computed once: a node is taken off the stack when those that it
// needs are known.
std::uint8_t types_of(const Document& document, NodeId root) {
  std::unordered_map<NodeId, std::uint8_t> known;
  std::vector<NodeId> stack = {root};
  while (!stack.empty()) {
    const NodeId id = stack.back();
    const Node& node = document.node(id);
    const std::size_t depth = stack.size();
    const auto of = [&](NodeId other) -> std::uint8_t {
      if (const auto found = known.find(other); found != known.end()) {
        return found->second;
      }
      stack.push_back(other);
      return kAllTypes;
    };
    const auto any = [&](const std::vector<NodeId>& branches) {
      std::uint8_t out = 0;
      for (const NodeId branch : branches) out |= of(branch);
      return out;
    };
    std::uint8_t types = node.types;
    if (node.scalars) types &= listed_types(document, node);
    if (node.ref != kNoNode) types &= of(node.ref);
    for (const NodeId other : node.all_of) types &= of(other);
    if (node.has_any_of) types &= any(node.any_of);
    if (node.has_one_of) types &= any(node.one_of);
    if (stack.size() > depth) continue;
    known.emplace(id, types);
    stack.pop_back();
  }
  return known.at(root);
}

}  // namespace

const Document* ToolSchema::document() const {
  std::call_once(once_, [&] {
    Result<Document> loaded = load(parameters_);
    if (loaded) document_.emplace(std::move(*loaded));
  });
  return document_ ? &*document_ : nullptr;
}

Declared::Declared(std::shared_ptr<const ToolSchema> tool,
                   std::vector<NodeId> nodes)
    : tool_(std::move(tool)), nodes_(std::move(nodes)) {}

Declared Declared::root(std::shared_ptr<const ToolSchema> tool) {
  const Document* document = tool == nullptr ? nullptr : tool->document();
  if (document == nullptr) return {};
  return {std::move(tool), {document->root}};
}

std::vector<NodeId> Declared::in_place() const {
  std::vector<NodeId> out = nodes_;
  // Invariant: the nodes in place with those before `i` are in `out`.
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Node& node = tool_->document()->node(out[i]);
    if (node.ref != kNoNode) insert(out, node.ref);
    for (const NodeId id : node.all_of) insert(out, id);
  }
  return out;
}

Declared Declared::member(std::string_view name) const {
  if (!known()) return {};
  const Document& document = *tool_->document();
  Validator patterns(document);
  std::vector<NodeId> out;
  for (const NodeId id : in_place()) {
    const ObjectRules& rules = document.node(id).objects();
    bool here = false;
    for (const auto& [key, value] : rules.properties) {
      if (key != name) continue;
      insert(out, value);
      here = true;
    }
    for (const auto& [pattern, value] : rules.pattern_properties) {
      if (!patterns.matches(pattern, name)) continue;
      insert(out, value);
      here = true;
    }
    if (!here && rules.additional_properties != kNoNode) {
      insert(out, rules.additional_properties);
    }
  }
  return {tool_, std::move(out)};
}

Declared Declared::item(std::size_t index) const {
  if (!known()) return {};
  std::vector<NodeId> out;
  for (const NodeId id : in_place()) {
    const ArrayRules& rules = tool_->document()->node(id).arrays();
    const NodeId item = index < rules.prefix_items.size()
                            ? rules.prefix_items[index]
                            : rules.items;
    if (item != kNoNode) insert(out, item);
  }
  return {tool_, std::move(out)};
}

std::uint8_t Declared::types() const {
  std::uint8_t out = kAllTypes;
  for (const NodeId id : nodes_) out &= types_of(*tool_->document(), id);
  return out;
}

std::optional<bool> Declared::valid(const json::Value& value) const {
  if (!known()) return std::nullopt;
  Validator validator(*tool_->document());
  return validator.valid_within(nodes_, value, kMaxSteps);
}

}  // namespace parlance::schema
