// Walks over the loaded schema of a tool; see declared.h.

#include "schema/declared.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <unordered_map>

#include "json/located.h"
#include "json/writer.h"
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

const Document* ToolSchema::loaded(Loaded& slot, bool formats) const {
  slot.once.call([&] {
    Result<Document> read = load(parameters_, {.assert_formats = formats});
    if (read) slot.document.emplace(std::move(*read));
  });
  return slot.document ? &*slot.document : nullptr;
}

// Where the arguments are not valid: each step goes to a member or an item that
// is not valid by itself.
Verdict ToolSchema::judge(const json::Value& arguments) const {
  const Document* const document = loaded(annotated_, false);
  if (document == nullptr) {
    return {std::nullopt,
            "the arguments are not checked: the schema of the tool cannot be "
            "loaded"};
  }
  Validator validator(*document);
  const auto valid = [&](NodeId node, const json::Value& value) {
    return validator.valid_within({node}, value, Declared::kMaxSteps);
  };
  const std::optional<bool> all = valid(document->root, arguments);
  if (!all) {
    return {all, "the arguments are not checked: that would take too long"};
  }
  if (*all) return {all, ""};
  // Invariant of the loop below: `*value`, at `pointer` in the arguments, is
  // not valid under `at` by itself.  It ends where no member or item is to
  // blame alone, or after kMostSteps.
  constexpr int kMostSteps = 16;
  std::string pointer;
  std::string missing;
  NodeId at = document->root;
  const json::Value* value = &arguments;
  const auto enter = [&](NodeId node, const json::Value& part, auto key) {
    if (node == kNoNode || valid(node, part) != false) return false;
    pointer = json::append_pointer(std::move(pointer), key);
    at = node;
    value = &part;
    return true;
  };
  const auto into_object = [&](const ObjectRules& rules) {
    for (const std::string_view name : rules.required) {
      if (value->find(name) != nullptr) continue;
      missing = ": " + json::quoted(name) + " is missing";
      return false;
    }
    for (const auto& [name, node] : rules.properties) {
      const json::Value* const member = value->find(name);
      if (member != nullptr && enter(node, *member, name)) return true;
    }
    if (!rules.pattern_properties.empty()) return false;
    return std::ranges::any_of(value->members(), [&](const auto& member) {
      return std::ranges::find(rules.properties, member.key,
                               [](const auto& one) { return one.first; }) ==
                 rules.properties.end() &&
             enter(rules.additional_properties, member.value, member.key);
    });
  };
  const auto into_array = [&](const ArrayRules& rules) {
    for (std::size_t i = 0; i < value->size(); ++i) {
      const NodeId node =
          i < rules.prefix_items.size() ? rules.prefix_items[i] : rules.items;
      if (enter(node, value->items()[i], i)) return true;
    }
    return false;
  };
  for (int step = 0; step < kMostSteps; ++step) {
    const Node& node = document->node(at);
    if (node.ref != kNoNode && valid(node.ref, *value) == false) {
      at = node.ref;
    } else if (value->is_object()
                   ? !into_object(node.objects())
                   : !value->is_array() || !into_array(node.arrays())) {
      break;
    }
  }
  std::string why = "the arguments are not valid";
  if (!pointer.empty()) why += " at " + json::quoted(pointer);
  return {all, why + missing};
}

Declared::Declared(std::shared_ptr<const ToolSchema> tool,
                   std::vector<Conjunction> alternatives)
    : tool_(std::move(tool)), alternatives_(std::move(alternatives)) {}

Declared Declared::root(std::shared_ptr<const ToolSchema> tool) {
  const Document* document = tool == nullptr ? nullptr : tool->document();
  if (document == nullptr) return {};
  return {std::move(tool), {{document->root}}};
}

// Steps: the nodes of an alternative are visited in turn, and the nodes that
// hold in place with them are added.  Where one of several schemas holds, the
// alternative becomes several alternatives, one for each schema.
//
// Invariant: of each item of `left`, the nodes before `next` have been looked
// at, and what holds with them is in the item.
std::vector<Declared::Conjunction> Declared::in_place() const {
  struct Item {
    Conjunction nodes;
    std::size_t next = 0;
  };
  const Document& document = *tool_->document();
  std::vector<Conjunction> out;
  std::vector<Item> left;
  for (const Conjunction& one : alternatives_) left.push_back({one});
  while (!left.empty()) {
    Item item = std::move(left.back());
    left.pop_back();
    // The alternatives of the item, once a node with a choice was looked at;
    // each further choice of the same node multiplies them.
    std::vector<Item> split;
    const auto choose = [&](const std::vector<NodeId>& choices) {
      const std::size_t count =
          choices.size() * (split.empty() ? 1 : split.size());
      if (out.size() + left.size() + count > kMaxAlternatives) return;
      if (split.empty()) split.push_back(item);
      std::vector<Item> next;
      for (const Item& one : split) {
        for (const NodeId choice : choices) {
          next.push_back(one);
          if (choice != kNoNode) insert(next.back().nodes, choice);
        }
      }
      split = std::move(next);
    };
    while (split.empty() && item.next < item.nodes.size()) {
      const Node& node = document.node(item.nodes[item.next++]);
      if (node.ref != kNoNode) insert(item.nodes, node.ref);
      for (const NodeId id : node.all_of) insert(item.nodes, id);
      if (node.has_any_of) choose(node.any_of);
      if (node.has_one_of) choose(node.one_of);
      if (node.then_node != kNoNode || node.else_node != kNoNode) {
        choose({node.then_node, node.else_node});
      }
    }
    if (split.empty()) {
      out.push_back(std::move(item.nodes));
    } else {
      std::ranges::move(split, std::back_inserter(left));
    }
  }
  return out;
}

Declared Declared::member(std::string_view name) const {
  if (!known()) return {};
  const Document& document = *tool_->document();
  Validator patterns(document);
  std::vector<Conjunction> out;
  for (const Conjunction& nodes : in_place()) {
    Conjunction member;
    for (const NodeId id : nodes) {
      const ObjectRules& rules = document.node(id).objects();
      bool here = false;
      for (const auto& [key, value] : rules.properties) {
        if (key != name) continue;
        insert(member, value);
        here = true;
      }
      for (const auto& [pattern, value] : rules.pattern_properties) {
        if (!patterns.matches(pattern, name)) continue;
        insert(member, value);
        here = true;
      }
      if (!here && rules.additional_properties != kNoNode) {
        insert(member, rules.additional_properties);
      }
    }
    if (!member.empty() && std::ranges::find(out, member) == out.end()) {
      out.push_back(std::move(member));
    }
  }
  return {tool_, std::move(out)};
}

Declared Declared::item(std::size_t index) const {
  if (!known()) return {};
  std::vector<Conjunction> out;
  for (const Conjunction& nodes : in_place()) {
    Conjunction items;
    for (const NodeId id : nodes) {
      const ArrayRules& rules = tool_->document()->node(id).arrays();
      const NodeId item = index < rules.prefix_items.size()
                              ? rules.prefix_items[index]
                              : rules.items;
      if (item != kNoNode) insert(items, item);
    }
    if (!items.empty() && std::ranges::find(out, items) == out.end()) {
      out.push_back(std::move(items));
    }
  }
  return {tool_, std::move(out)};
}

// All that may apply in place is looked at, whichever alternative holds: the
// answer may be true of a name that no valid value needs.
bool Declared::may_require(std::string_view name) const {
  if (!known()) return false;
  const Document& document = *tool_->document();
  // Nodes to look at, each once; those before i have been.
  Conjunction left;
  for (const Conjunction& one : alternatives_) {
    for (const NodeId id : one) insert(left, id);
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Node& node = document.node(left[i]);
    const ObjectRules& rules = node.objects();
    if (std::ranges::find(rules.required, name) != rules.required.end()) {
      return true;
    }
    for (const auto* list : {&node.all_of, &node.any_of, &node.one_of}) {
      for (const NodeId id : *list) insert(left, id);
    }
    for (const NodeId id : {node.then_node, node.else_node, node.ref}) {
      if (id != kNoNode) insert(left, id);
    }
    for (const auto& [key, id] : rules.dependent_schemas) insert(left, id);
  }
  return false;
}

std::uint8_t Declared::types() const {
  if (alternatives_.empty()) return kAllTypes;
  std::uint8_t out = 0;
  for (const Conjunction& nodes : alternatives_) {
    std::uint8_t all = kAllTypes;
    for (const NodeId id : nodes) all &= types_of(*tool_->document(), id);
    out |= all;
  }
  return out;
}

std::optional<bool> Declared::valid(const json::Value& value) const {
  if (!known()) return std::nullopt;
  if (alternatives_.empty()) return true;
  Validator validator(*tool_->document());
  std::optional<bool> out = false;
  for (const Conjunction& nodes : alternatives_) {
    const std::optional<bool> one =
        validator.valid_within(nodes, value, kMaxSteps / alternatives_.size());
    if (one == true) return true;
    if (!one) out = std::nullopt;
  }
  return out;
}

}  // namespace parlance::schema
