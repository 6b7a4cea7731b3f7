// The work list, references, dynamic scopes, and the check that chains of
// in-place applicators end.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <span>

#include "base/components.h"
#include "schema/loader.h"

namespace parlance::schema {

using json::Value;

Loader::Loader(const LoadOptions& options, Scopes scopes)
    : options_(options), scopes_(scopes), resources_(document_, options) {}

// Invariant: every node of the document has been read or is on the work list.
// nullopt: the schema needs dynamic scopes, which this loader does not track.
std::optional<Result<Document>> Loader::run(const Value& schema) {
  if (std::optional<Error> error = resources_.start(schema)) {
    return Result<Document>(std::move(*error));
  }
  document_.nodes.reserve(16);
  document_.root = node_at(*resources_.root_of(Resources::kRoot).value,
                           Resources::kRoot, kNoScope, 0);
  while (!work_.empty() && !error_) {
    const Work next = work_.back();
    work_.pop_back();
    if (!read(next)) break;
    if (needs_scopes_ && scopes_ == Scopes::kNone) return std::nullopt;
  }
  if (!error_ && has_references_) check_chains(/*merged=*/false);
  if (error_) return Result<Document>(std::move(*error_));
  return Result<Document>(std::move(document_));
}

bool Loader::fail(const Value& where, ErrorCode code, std::string message) {
  if (!error_) {
    error_ = Error{.code = code,
                   .message = std::move(message),
                   .path = document_.pointer(&where)};
  }
  return false;
}

bool Loader::wrong_type(const Value& where, Keyword keyword,
                        std::string_view expected) {
  return fail(where, ErrorCode::kWrongType,
              "\"" + std::string(info(keyword).name) + "\" must be " +
                  std::string(expected) + ", found " +
                  std::string(json::to_string(where.kind())) + ".");
}

NodeId Loader::new_node(const Value& source) {
  if (document_.nodes.size() >= options_.max_nodes) {
    fail(source, ErrorCode::kTooLarge,
         "The schema has more than " + std::to_string(options_.max_nodes) +
             " parts (max_nodes).");
    return kNoNode;
  }
  document_.nodes.emplace_back().source = &source;
  return static_cast<NodeId>(document_.nodes.size() - 1);
}

// The slot of (value, scope): open addressing with linear probing, at most half
// full.
Loader::Slot& Loader::slot_of(const Value* value, ScopeId scope) {
  const auto home = [](const Slot& slot) {
    const auto address = reinterpret_cast<std::uintptr_t>(slot.value);
    return ((address >> 4) * 0x9E3779B97F4A7C15u >> 20) + slot.scope * 7;
  };
  if ((used_slots_ + 1) * 2 > slots_.size()) {
    std::vector<Slot> old(std::max<std::size_t>(64, slots_.size() * 2));
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value == nullptr) continue;
      std::size_t i = home(slot) & (slots_.size() - 1);
      while (slots_[i].value != nullptr) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = slot;
    }
  }
  const Slot wanted = {.value = value, .scope = scope};
  std::size_t i = home(wanted) & (slots_.size() - 1);
  while (slots_[i].value != nullptr &&
         (slots_[i].value != value || slots_[i].scope != scope)) {
    i = (i + 1) & (slots_.size() - 1);
  }
  if (slots_[i].value == nullptr) {
    slots_[i] = wanted;
    ++used_slots_;
  }
  return slots_[i];
}

// The node of the schema `value`; a new node is added to the work list.
NodeId Loader::node_at(const Value& value, ResourceId resource, ScopeId scope,
                       std::uint32_t depth) {
  Slot& slot = slot_of(&value, scope);
  if (slot.node != kNoNode) return slot.node;
  slot.node = new_node(value);
  work_.push_back({.value = &value,
                   .node = slot.node,
                   .resource = resource,
                   .scope = scope,
                   .depth = depth});
  return slot.node;
}

NodeId Loader::child(const Value& value) {
  return node_at(value, now_.resource, now_.scope, now_.depth + 1);
}

// A node that accepts exactly `value`.
NodeId Loader::literal(const Value& value) {
  const NodeId id = new_node(value);
  if (id != kNoNode) document_.nodes[id].literal = true;
  work_.push_back(
      {.value = &value, .node = id, .depth = now_.depth + 1, .literal = true});
  return id;
}

// A node that accepts nothing.  The schema has no value for it, so reports
// point at `where`.
NodeId Loader::false_node(const Value& where) {
  if (false_node_ == kNoNode) {
    false_node_ = new_node(where);
    if (false_node_ != kNoNode) document_.nodes[false_node_].types = 0;
  }
  return false_node_;
}

bool Loader::read(const Work& work) {
  now_ = work;
  if (error_) return false;
  if (now_.depth > options_.limits.json_depth) {
    return fail(*now_.value, ErrorCode::kTooDeep,
                "The schema is nested deeper than " +
                    std::to_string(options_.limits.json_depth) +
                    " levels (json_depth).");
  }
  const Value& value = *now_.value;
  if (now_.literal) return read_literal(now_.node, value);
  if (value.kind() == json::Kind::kBool) {
    if (!value.as_bool()) node().types = 0;
    return true;
  }
  if (!value.is_object()) {
    return fail(value, ErrorCode::kWrongType,
                "A schema is an object, true or false; found " +
                    std::string(json::to_string(value.kind())) + ".");
  }
  now_.resource = resources_.enter(value, now_.resource);
  now_.scope = enter_scope(now_.scope, now_.resource);
  draft_ = resources_.draft(now_.resource);
  collect(value, draft_);
  return references() && rules();
}

// Indexes the members of a schema by keyword, in `members_`.
void Loader::collect(const Value& schema, Draft draft) {
  members_.present = 0;
  for (const json::Member& member : schema.members()) {
    const Keyword keyword = find_keyword(member.key);
    if (keyword == Keyword::kAnnotation) continue;
    if (keyword == Keyword::kUnknown) {
      document_.ignored.push_back(
          {now_.node, member.key, Ignored::Why::kUnknownKeyword});
    } else if (!in_draft(keyword, draft)) {
      document_.ignored.push_back(
          {now_.node, member.key, Ignored::Why::kOtherDraft});
    } else {
      const auto i = static_cast<std::size_t>(keyword);
      members_.at[i] = &member.value;
      members_.present |= std::uint64_t{1} << i;
    }
  }
}

// The node of a member of an enum, or of a part of one.  {"a": 1} becomes an
// object whose only member, `a`, is required and must be 1; [1, 2] becomes an
// array of exactly two items, 1 and 2.
bool Loader::read_literal(NodeId id, const Value& value) {
  if (value.is_object()) {
    auto rules = std::make_unique<ObjectRules>();
    for (const json::Member& member : value.members()) {
      rules->required.emplace_back(member.key);
      rules->properties.emplace_back(member.key, literal(member.value));
    }
    rules->additional_properties = false_node(value);
    document_.nodes[id].types = kObject;
    document_.nodes[id].object_rules = std::move(rules);
  } else if (value.is_array()) {
    auto rules = std::make_unique<ArrayRules>();
    for (const Value& item : value.items()) {
      rules->prefix_items.push_back(literal(item));
    }
    rules->items = false_node(value);
    rules->min_items = rules->max_items = value.size();
    document_.nodes[id].types = kArray;
    document_.nodes[id].array_rules = std::move(rules);
  } else {
    document_.nodes[id].scalars.emplace();
    allow(document_.nodes[id], id, value);
  }
  return !error_;
}

bool Loader::references() {
  const Value* ref = members_.find(Keyword::kRef);
  const Value* dynamic = members_.find(Keyword::kDynamicRef);
  const Value* recursive = members_.find(Keyword::kRecursiveRef);
  NodeId target = kNoNode;
  if (ref != nullptr) {
    if (!ref->is_string()) return wrong_type(*ref, Keyword::kRef, "a string");
    if (!follow(*ref, target)) return false;
    node().ref = target;
    if (draft_ <= Draft::k7) drop_beside_ref();
  }
  if (dynamic != nullptr) {
    if (!dynamic->is_string()) {
      return wrong_type(*dynamic, Keyword::kDynamicRef, "a string");
    }
    if (!follow_dynamic(*dynamic, target)) return false;
    node().all_of.push_back(target);
  }
  if (recursive != nullptr) {
    if (recursive->as_string() != "#") {
      return fail(*recursive, ErrorCode::kInvalidValue,
                  "\"$recursiveRef\" must be \"#\".");
    }
    if (!follow_recursive(*recursive, target)) return false;
    node().all_of.push_back(target);
  }
  return true;
}

// Drafts before 2019-09 ignore every keyword beside $ref.
void Loader::drop_beside_ref() {
  for (std::uint64_t left = members_.present; left != 0; left &= left - 1) {
    const auto keyword = static_cast<Keyword>(std::countr_zero(left));
    if (keyword < Keyword::kType) continue;  // identifiers and definitions
    document_.ignored.push_back(
        {now_.node, info(keyword).name, Ignored::Why::kBesideRef});
  }
  members_.present = 0;
}

bool Loader::follow(const Value& where, NodeId& out) {
  Result<Resources::Target> target = resources_.resolve(now_.resource, where);
  if (!target) {
    error_ = std::move(target).error();
    return false;
  }
  has_references_ = true;
  out = node_at(*target->value, target->resource,
                enter_scope(now_.scope, target->resource), 0);
  return out != kNoNode;
}

bool Loader::follow_dynamic(const Value& where, NodeId& out) {
  Result<Resources::Target> target = resources_.resolve(now_.resource, where);
  if (!target) {
    error_ = std::move(target).error();
    return false;
  }
  // $dynamicRef uses the dynamic scope only if the reference leads to a
  // $dynamicAnchor; otherwise it is a $ref (2020-12, 8.2.3.2).
  if (target->dynamic_name.empty()) return follow(where, out);
  has_references_ = needs_scopes_ = true;
  ResourceId resource = target->resource;
  const Value* value = target->value;
  if (const Value* outer = in_scope(target->dynamic_name)) {
    value = outer;
    resource = resource_of_anchor_[outer];
  }
  out = node_at(*value, resource, enter_scope(now_.scope, resource), 0);
  return out != kNoNode;
}

bool Loader::follow_recursive(const Value& where, NodeId& out) {
  const Resources::Target root = resources_.root_of(now_.resource);
  const Value* flag = root.value->find("$recursiveAnchor");
  if (flag == nullptr || !flag->as_bool()) return follow(where, out);
  has_references_ = needs_scopes_ = true;
  ResourceId resource = now_.resource;
  const Value* value = root.value;
  if (const Value* outer = in_scope({})) {
    value = outer;
    resource = resource_of_anchor_[outer];
  }
  out = node_at(*value, resource, enter_scope(now_.scope, resource), 0);
  return out != kNoNode;
}

// The dynamic scope after entering `resource` from `scope`.  The outermost
// anchor of a name wins, so names that are in `scope` retain their values.
ScopeId Loader::enter_scope(ScopeId scope, ResourceId resource) {
  if (scopes_ == Scopes::kNone) return kNoScope;
  const std::vector<Resources::Anchor>& anchors =
      resources_.dynamic_anchors(resource);
  if (anchors.empty()) return scope;
  Scope entered = scope_list_[scope];
  for (const Resources::Anchor& anchor : anchors) {
    const auto same = [&](const auto& known) {
      return known.first == anchor.name;
    };
    if (std::none_of(entered.begin(), entered.end(), same)) {
      entered.emplace_back(anchor.name, anchor.value);
      resource_of_anchor_[anchor.value] = resource;
    }
  }
  std::sort(entered.begin(), entered.end());
  if (entered.size() == scope_list_[scope].size()) return scope;
  const auto [known, is_new] =
      scope_ids_.try_emplace(entered, ScopeId(scope_list_.size()));
  if (is_new) scope_list_.push_back(std::move(entered));
  return known->second;
}

const Value* Loader::in_scope(std::string_view name) const {
  for (const auto& [known, value] : scope_list_[now_.scope]) {
    if (known == name) return value;
  }
  return nullptr;
}

namespace {

// The alternatives of a node that is only a union of other nodes: an anyOf, a
// oneOf, a reference, or an allOf of one schema.  Null for any other node.
const std::vector<NodeId>* only_union(const Node& node,
                                      std::vector<NodeId>& one) {
  if (node.types != kAllTypes || node.integer_only || node.scalars ||
      !node.enum_nodes.empty() || node.number_rules || node.string_rules ||
      node.array_rules || node.object_rules || node.not_node != kNoNode ||
      node.if_node != kNoNode) {
    return nullptr;
  }
  const bool refers = node.ref != kNoNode;
  if (int{refers} + int{node.has_any_of} + int{node.has_one_of} +
          int{!node.all_of.empty()} !=
      1) {
    return nullptr;
  }
  if (node.has_any_of) return &node.any_of;
  if (node.has_one_of) return &node.one_of;
  if (!refers) return node.all_of.size() == 1 ? &node.all_of : nullptr;
  one.assign(1, node.ref);
  return &one;
}

}  // namespace

// Unions that are alternatives of one another have the same values: those of
// the alternatives that lead out of the cycle.
//
//   V: anyOf [string, W]     W: anyOf [integer, V]     both: string, integer
//
// One of them becomes the anyOf of these alternatives, the others refer to it.
// This holds for a oneOf with one alternative that leads out; with more, no
// reading is obvious, and check_chains() refuses the cycle, as it refuses a
// cycle that has no way out.
//
// The cycles are components of the graph of the nodes that are only unions.
void Loader::merge_unions() {
  std::vector<base::ComponentVisit> visits(document_.nodes.size());
  base::ComponentWalk walk;
  std::vector<NodeId> one;
  for (NodeId start; start < visits.size(); ++start) {
    if (visits[start].order != 0) continue;
    base::visit_components(
        walk, start,
        [&](std::uint32_t id) -> base::ComponentVisit& { return visits[id]; },
        [&](std::uint32_t id, std::size_t& i) -> std::optional<std::uint32_t> {
          const std::vector<NodeId>* to = only_union(document_.nodes[id], one);
          if (to == nullptr || i == to->size()) return std::nullopt;
          return (*to)[i++];
        },
        [&](std::span<const std::uint32_t> members) {
          merge_union({members.begin(), members.end()});
        });
  }
}

// Gives each member of a cycle of unions its values.
void Loader::merge_union(std::vector<NodeId> members) {
  std::sort(members.begin(), members.end());
  std::vector<NodeId> one;
  std::vector<NodeId> out;
  bool cyclic = false;
  for (const NodeId member : members) {
    const Node& node = document_.nodes[member];
    const std::vector<NodeId>* to = only_union(node, one);
    if (to == nullptr) return;
    const std::size_t before = out.size();
    for (const NodeId next : *to) {
      if (std::binary_search(members.begin(), members.end(), next)) {
        cyclic = true;
      } else {
        out.push_back(next);
      }
    }
    if (node.has_one_of && out.size() > before + 1) return;
  }
  if (!cyclic || out.empty()) return;
  // One has the alternatives, and the others refer to it.
  for (const NodeId member : members) {
    Node& node = document_.nodes[member];
    const bool first = member == members.front();
    node.ref = first ? kNoNode : members.front();
    node.all_of.clear();
    node.one_of.clear();
    node.has_one_of = false;
    node.any_of.clear();
    node.has_any_of = first;
  }
  document_.nodes[members.front()].any_of = std::move(out);
}

namespace {

// Calls visit(id) with the nodes that apply to the same value because of `n`.
template <class Visit>
void each_in_place(const Node& n, Visit&& visit) {
  for (NodeId id : {n.ref, n.not_node, n.if_node, n.then_node, n.else_node}) {
    if (id != kNoNode) visit(id);
  }
  for (const auto* ids : {&n.all_of, &n.any_of, &n.one_of}) {
    for (NodeId id : *ids) visit(id);
  }
  for (const auto& [name, id] : n.objects().dependent_schemas) visit(id);
}

}  // namespace

bool Loader::fail_loop(const Value& where, NodeId loop) {
  const std::string pointer = document_.pointer(loop);
  return fail(where, ErrorCode::kConflict,
              "The schema refers to itself without going into the value: it "
              "needs " +
                  (pointer.empty() ? "the root" : pointer) +
                  " again for the same value. Recursion must pass through a "
                  "property or an item.");
}

// Checks that every chain of in-place applicators ends: {"$ref": "#"}
// constrains nothing, and following it would not terminate.
//
// A depth-first search with an explicit stack.  `height` of a node is kUnseen
// before its first visit, kOpen while the node is on the path of the search,
// and afterwards the length of the longest chain from it.  An edge to an open
// node closes a cycle.  A node is visited twice: first its unseen successors
// are pushed, then, when it is on top again, all of them have a height and its
// own is one more than the largest.
bool Loader::check_chains(bool merged) {
  constexpr std::uint32_t kUnseen = 0;
  constexpr std::uint32_t kOpen = 0xFFFFFFFF;
  const std::vector<Node>& nodes = document_.nodes;
  std::vector<std::uint32_t> height(nodes.size(), kUnseen);
  std::vector<NodeId> stack;
  for (NodeId start; start < nodes.size(); ++start) {
    if (height[start] != kUnseen) continue;
    stack.push_back(start);
    while (!stack.empty()) {
      const NodeId id = stack.back();
      if (height[id] != kUnseen && height[id] != kOpen) {
        stack.pop_back();
        continue;
      }
      const bool again = height[id] == kOpen;
      height[id] = kOpen;
      std::uint32_t longest = 0;
      NodeId loop = kNoNode;
      each_in_place(nodes[id], [&](NodeId next) {
        if (height[next] == kUnseen) {
          stack.push_back(next);
        } else if (height[next] == kOpen) {
          loop = next;
        } else {
          longest = std::max(longest, height[next]);
        }
      });
      if (loop != kNoNode && !merged) {
        merge_unions();
        return check_chains(/*merged=*/true);
      }
      if (loop != kNoNode) return fail_loop(*nodes[id].source, loop);
      if (again || stack.back() == id) {
        height[id] = longest + 1;
        stack.pop_back();
        if (height[id] > options_.limits.json_depth) {
          return fail(*nodes[id].source, ErrorCode::kTooDeep,
                      "More than " +
                          std::to_string(options_.limits.json_depth) +
                          " schemas refer to one another in one place "
                          "(json_depth).");
        }
      }
    }
  }
  return true;
}

Result<Document> load(const Value& schema, const LoadOptions& options) {
  std::optional<Result<Document>> result =
      Loader(options, Scopes::kNone).run(schema);
  if (!result) result = Loader(options, Scopes::kTracked).run(schema);
  return std::move(*result);
}

}  // namespace parlance::schema
