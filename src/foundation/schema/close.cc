// One node of a document may be the level of one value and a part of the level
// of another, and only a level is closed.  So the work is a walk over pairs of
// a node and a role, and each pair that the root reaches becomes a new node.
//
//   "properties": {"a": {"$ref": "#/$defs/n"}},     n as a level: closed
//   "allOf": [{"$ref": "#/$defs/n"}]                n as a part: left open, its
//                                                   members count for the root

#include "schema/close.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace parlance::schema {
namespace {

// What a node is for the value that it applies to.
enum class Role : std::uint8_t {
  kOpen,   // a condition, or a part of one: as written
  kPart,   // applies in place in a level
  kLevel,  // the schema of a value
};
constexpr std::size_t kRoles = 3;

// What a node says of members and items, as bits.
enum : std::uint8_t {
  kMembers = 1,       // declares some
  kOtherMembers = 2,  // says what others are
  kItems = 4,
  kOtherItems = 8,
};

template <class T>
std::unique_ptr<T> copy(const std::unique_ptr<T>& rules) {
  return rules == nullptr ? nullptr : std::make_unique<T>(*rules);
}

Node copy(const Node& node) {
  Node out;
  out.types = node.types;
  out.integer_only = node.integer_only;
  out.has_any_of = node.has_any_of;
  out.has_one_of = node.has_one_of;
  out.literal = node.literal;
  out.scalars = node.scalars;
  out.enum_nodes = node.enum_nodes;
  out.number_rules = copy(node.number_rules);
  out.string_rules = copy(node.string_rules);
  out.array_rules = copy(node.array_rules);
  out.object_rules = copy(node.object_rules);
  out.all_of = node.all_of;
  out.any_of = node.any_of;
  out.one_of = node.one_of;
  out.not_node = node.not_node;
  out.if_node = node.if_node;
  out.then_node = node.then_node;
  out.else_node = node.else_node;
  out.ref = node.ref;
  out.source = node.source;
  return out;
}

// What a node itself says of members and items.
std::uint8_t own_rules(const Node& node, bool names_declare) {
  const ObjectRules& members = node.objects();
  const ArrayRules& items = node.arrays();
  const bool listed = names_declare && !node.literal &&
                      (node.source->find("properties") != nullptr ||
                       node.source->find("patternProperties") != nullptr);
  std::uint8_t out = 0;
  if (listed || !members.properties.empty() ||
      !members.pattern_properties.empty()) {
    out |= kMembers;
  }
  if (members.additional_properties != kNoNode ||
      members.unevaluated_properties != kNoNode) {
    out |= kOtherMembers;
  }
  if (!items.prefix_items.empty() || items.items != kNoNode) out |= kItems;
  if (items.items != kNoNode || items.unevaluated_items != kNoNode) {
    out |= kOtherItems;
  }
  return out;
}

// Whether a level is the level that its reference leads to: nothing else in the
// node speaks of members or items.
bool is_reference(const Node& node) {
  return node.ref != kNoNode && node.array_rules == nullptr &&
         node.object_rules == nullptr && node.all_of.empty() &&
         node.any_of.empty() && node.one_of.empty() &&
         node.if_node == kNoNode &&
         node.source->find("properties") == nullptr &&
         node.source->find("patternProperties") == nullptr;
}

// Whether a level is one of the levels in its anyOf: nothing else in the node
// declares members or items.  Not so with oneOf: what does not fit the other
// alternatives depends on how they are closed, and closings have no negation.
bool is_choice(const Node& node) {
  return !node.any_of.empty() && node.one_of.empty() && node.all_of.empty() &&
         node.ref == kNoNode && node.if_node == kNoNode &&
         node.objects().dependent_schemas.empty() &&
         own_rules(node, /*names_declare=*/true) == 0;
}

bool forwards(const Node& node) {
  return is_reference(node) || is_choice(node);
}

// Calls `see` for each node that applies in place in the node if some condition
// holds.
template <class See>
void for_each_part(const Node& node, const See& see) {
  for (const auto* list : {&node.all_of, &node.any_of, &node.one_of}) {
    for (const NodeId id : *list) see(id);
  }
  for (const NodeId id : {node.then_node, node.else_node, node.ref}) {
    if (id != kNoNode) see(id);
  }
  for (const auto& [name, id] : node.objects().dependent_schemas) see(id);
}

// Calls `see(child, role)` for each child of the node, which has `role`; the
// child is an lvalue of N's constness.
//
// A member or an item is another value, and so a level.  What applies in place
// is a part, but for a node that only forwards (a reference, a choice): its
// target takes over the role.  Inside a condition everything stays as written.
template <class N, class See>
void for_each_child(N& node, Role role, const See& see) {
  const bool open = role == Role::kOpen;
  const Role part = open ? Role::kOpen : Role::kPart;
  const Role level = open ? Role::kOpen : Role::kLevel;
  const auto one = [&](auto& child, Role as) {
    if (child != kNoNode) see(child, as);
  };
  for (auto& child : node.enum_nodes) one(child, Role::kOpen);
  for (auto& child : node.all_of) one(child, part);
  const Role choice = is_choice(node) ? role : part;
  for (auto& child : node.any_of) one(child, choice);
  for (auto& child : node.one_of) one(child, part);
  one(node.not_node, Role::kOpen);
  one(node.if_node, Role::kOpen);
  one(node.then_node, part);
  one(node.else_node, part);
  one(node.ref, is_reference(node) ? role : part);
  if (node.array_rules != nullptr) {
    auto& rules = *node.array_rules;
    for (auto& child : rules.prefix_items) one(child, level);
    one(rules.items, level);
    one(rules.contains, Role::kOpen);
    one(rules.unevaluated_items, level);
  }
  if (node.object_rules != nullptr) {
    auto& rules = *node.object_rules;
    for (auto& [name, child] : rules.properties) one(child, level);
    for (auto& [pattern, child] : rules.pattern_properties) one(child, level);
    one(rules.additional_properties, level);
    one(rules.property_names, Role::kOpen);
    for (auto& [name, child] : rules.dependent_schemas) one(child, part);
    one(rules.unevaluated_properties, level);
  }
}

class Closer {
 public:
  Closer(Document& document, bool names_declare)
      : document_(document),
        names_declare_(names_declare),
        in_place_(document.nodes.size()),
        leaf_(document.nodes.size()),
        made_(document.nodes.size()) {
    for (NodeId id; id < leaf_.size(); ++id) {
      const Node& node = document_.node(id);
      bool leaf = node.literal || own(node) == 0;
      if (!node.literal) {
        for_each_child(node, Role::kLevel, [&](NodeId, Role) { leaf = false; });
      }
      leaf_[id] = leaf;
    }
  }

  void run();

 private:
  void find_roles();
  Role role_of(NodeId id, Role wanted) const;
  std::uint8_t own(const Node& node) const;
  std::uint8_t in_place(NodeId id);
  std::uint8_t others(const Node& node);
  void close(Node& made, const Node& node);
  void declare_required(Node& made, const Node& node);

  Document& document_;
  const bool names_declare_;
  // What a node and the nodes in place in it say; nothing: not computed yet.
  std::vector<std::optional<std::uint8_t>> in_place_;
  std::vector<bool> leaf_;  // of each node: literal, or without children
  // The new node of each old one in each role.
  std::vector<std::array<NodeId, kRoles>> made_;
  // Accepts everything: the schema of members that only `required` names.
  NodeId anything_ = kNoNode;
  std::size_t declaring_left_ = 1'000'000;
};

// A node that says nothing of levels is the same in each role.
Role Closer::role_of(NodeId id, Role wanted) const {
  return leaf_[id] ? Role::kOpen : wanted;
}

std::uint8_t Closer::own(const Node& node) const {
  return own_rules(node, names_declare_);
}

// What the nodes in place in the node say, without the node itself.
std::uint8_t Closer::others(const Node& node) {
  std::uint8_t out = 0;
  const auto add = [&](NodeId id) { out |= in_place(id); };
  for_each_part(node, add);
  if (node.if_node != kNoNode) add(node.if_node);
  return out;
}

// load() refuses a schema that applies in place in itself and bounds the depth
// of those that do not, and thus this recursion.
std::uint8_t Closer::in_place(NodeId id) {
  if (!in_place_[id]) {
    const Node& node = document_.node(id);
    in_place_[id] = static_cast<std::uint8_t>(own(node) | others(node));
  }
  return *in_place_[id];
}

// Closes `made`, the copy of the level `node`.
void Closer::close(Node& made, const Node& node) {
  const std::uint8_t mine = own(node);
  const std::uint8_t inside = others(node);
  // Nothing to close: the node says what other members are, or neither it nor
  // a part declares any.  If parts declare some, or say what others are, the
  // parts count as evaluated, which `additional` does not see.
  const auto closing = [&](std::uint8_t lists, std::uint8_t others) {
    if ((mine & others) != 0 || ((mine | inside) & lists) == 0) {
      return Closing::kNone;
    }
    return (inside & (lists | others)) != 0 ? Closing::kUnevaluated
                                            : Closing::kAdditional;
  };
  made.object_closing = closing(kMembers, kOtherMembers);
  made.array_closing = closing(kItems, kOtherItems);
  if (names_declare_ && made.object_closing != Closing::kNone) {
    declare_required(made, node);
  }
}

// Declares, in the copy of a closed level, the keys that a node in place
// requires and none declares.  Levels share such nodes, so the work is limited;
// beyond the limit none is declared.
void Closer::declare_required(Node& made, const Node& node) {
  // 1. What the node and its parts require and declare.
  std::vector<std::string_view> required;
  std::vector<std::string_view> declared;
  std::vector<const Node*> left = {&node};
  std::unordered_set<const Node*> seen;
  while (!left.empty()) {
    const Node& one = *left.back();
    left.pop_back();
    if (!seen.insert(&one).second) continue;
    const ObjectRules& rules = one.objects();
    const std::size_t work =
        1 + rules.required.size() + rules.properties.size();
    if (work > declaring_left_) return;
    declaring_left_ -= work;
    required.insert(required.end(), rules.required.begin(),
                    rules.required.end());
    for (const auto& [name, id] : rules.properties) declared.push_back(name);
    for_each_part(one, [&](NodeId id) { left.push_back(&document_.node(id)); });
  }
  // 2. What is required and not declared.  `declared` stays sorted and grows by
  //    it, so that a name is added once.
  std::ranges::sort(declared);
  for (const std::string_view name : required) {
    if (std::ranges::binary_search(declared, name)) continue;
    declared.insert(std::ranges::upper_bound(declared, name), name);
    if (made.object_rules == nullptr) {
      made.object_rules = std::make_unique<ObjectRules>();
    }
    made.object_rules->properties.emplace_back(name, anything_);
  }
}

// Marks, in made_, the roles of each node that the root reaches, and of what is
// ignored anywhere, which is reported.
void Closer::find_roles() {
  for (auto& ids : made_) ids.fill(kNoNode);
  std::vector<std::pair<NodeId, Role>> left;
  const auto reach = [&](NodeId id, Role wanted) {
    const Role role = role_of(id, wanted);
    NodeId& made = made_[id][static_cast<std::size_t>(role)];
    if (made != kNoNode) return;
    made = NodeId{0};  // reached
    left.emplace_back(id, role);
  };
  const auto reach_all = [&] {
    while (!left.empty()) {
      const auto [id, role] = left.back();
      left.pop_back();
      for_each_child(document_.node(id), role, reach);
    }
  };
  const auto is_reached = [&](NodeId id) {
    return std::ranges::any_of(made_[id],
                               [](NodeId made) { return made != kNoNode; });
  };
  reach(document_.root, Role::kLevel);
  reach_all();
  for (const Ignored& ignored : document_.ignored) {
    if (!is_reached(ignored.node)) reach(ignored.node, Role::kOpen);
  }
  reach_all();
}

// Step 1 finds the roles of each node.  Step 2 numbers the pairs in the order
// of the old nodes, so that reports keep their order.  Step 3 makes the new
// nodes.
void Closer::run() {
  find_roles();
  NodeId count;
  for (auto& ids : made_) {
    for (NodeId& id : ids) {
      if (id == kNoNode) continue;
      id = count;
      ++count;
    }
  }
  anything_ = count;
  std::vector<Node> nodes;
  nodes.reserve(count + 1);
  const auto find = [&](NodeId id, Role wanted) {
    return made_[id][static_cast<std::size_t>(role_of(id, wanted))];
  };
  for (NodeId old; old < made_.size(); ++old) {
    for (std::size_t i = 0; i < kRoles; ++i) {
      if (made_[old][i] == kNoNode) continue;
      const auto role = static_cast<Role>(i);
      const Node& node = document_.node(old);
      Node& made = nodes.emplace_back(copy(node));
      for_each_child(made, role,
                     [&](NodeId& child, Role as) { child = find(child, as); });
      if (role == Role::kLevel && !forwards(node)) close(made, node);
    }
  }
  for (Ignored& ignored : document_.ignored) {
    ignored.node = *std::ranges::find_if(
        made_[ignored.node], [](NodeId made) { return made != kNoNode; });
  }
  if (names_declare_) {
    nodes.emplace_back().source = document_.node(document_.root).source;
  }
  document_.root = find(document_.root, Role::kLevel);
  document_.nodes = std::move(nodes);
}

}  // namespace

void close(Document& document, bool names_declare) {
  Closer(document, names_declare).run();
}

}  // namespace parlance::schema
