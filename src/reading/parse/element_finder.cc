#include "parse/element_finder.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "parse/finder.h"
#include "regex/hir_properties.h"

namespace parlance::parse {
namespace {

using regex::Hir;
using regex::HirId;
using regex::HirKind;
using regex::HirNode;

// The number of the group `name`, if exactly one group has this name.
std::optional<std::uint32_t> group_of(const Hir& hir, std::string_view name) {
  std::optional<std::uint32_t> group;
  for (const regex::GroupName& known : hir.names) {
    if (known.name == name) group = known.group;
  }
  if (!group) return std::nullopt;
  const auto count = std::ranges::count_if(hir.nodes, [&](const HirNode& node) {
    return node.kind == HirKind::kCapture && node.group == *group;
  });
  return count == 1 ? group : std::nullopt;
}

// Whether the node is (.*?).
bool is_any_text(const Hir& hir, const HirNode& capture) {
  const HirNode& repeat = hir.nodes[capture.children[0]];
  if (repeat.kind != HirKind::kRepeat || repeat.greedy || repeat.possessive ||
      repeat.min != 0 || repeat.max != base::kUnbounded) {
    return false;
  }
  const HirNode& character = hir.nodes[repeat.children[0]];
  return character.kind == HirKind::kClass &&
         character.char_class == regex::CharClass::any();
}

// The pattern of some parts of the root, in order.
Hir slice(const Hir& hir, std::vector<HirId> parts) {
  Hir out = hir;
  HirNode root;
  root.kind = parts.empty() ? HirKind::kEmpty : HirKind::kConcat;
  root.children = std::move(parts);
  out.nodes.push_back(std::move(root));
  return out;
}

std::shared_ptr<const automata::Automaton> compile(
    const Hir& hir, std::vector<std::uint32_t> groups, const Limits& limits,
    const std::vector<automata::Mark>& marks) {
  if (!runs_on_automaton(hir, limits)) return nullptr;
  Limits enough = limits;
  enough.pattern_states *= 2;  // see compile_group_finder()
  auto automaton = automata::Automaton::compile(
      {{.hir = &hir, .groups = std::move(groups)}}, marks, enough);
  return automaton ? std::move(*automaton) : nullptr;
}

}  // namespace

ElementFinder compile_element_finder(const Hir& pattern, std::string_view type,
                                     const Limits& limits,
                                     const std::vector<automata::Mark>& marks) {
  const HirNode& root = pattern.root();
  const auto key = group_of(pattern, "key");
  const auto value = group_of(pattern, "value");
  if (root.kind != HirKind::kConcat || !key || !value) return {};
  const auto middle = std::ranges::find_if(root.children, [&](HirId id) {
    const HirNode& node = pattern.nodes[id];
    return node.kind == HirKind::kCapture && node.group == *value &&
           is_any_text(pattern, node);
  });
  if (middle == root.children.end()) return {};
  const Hir head = slice(pattern, {root.children.begin(), middle});
  // A head without text would match everywhere.
  if (regex::can_be_empty(head)) return {};
  std::vector<std::uint32_t> groups = {*key};
  if (!type.empty()) {
    const auto group = group_of(pattern, type);
    if (!group) return {};
    groups.push_back(*group);
  }
  // The groups must be in the head.  Children precede their parents, so a walk
  // from the last node to the first one finds what the head contains.
  std::vector<bool> inside(head.nodes.size(), false);
  inside.back() = true;
  std::size_t found = 0;
  for (std::size_t i = head.nodes.size(); i-- > 0;) {
    if (!inside[i]) continue;
    const HirNode& node = head.nodes[i];
    found += node.kind == HirKind::kCapture &&
             std::ranges::find(groups, node.group) != groups.end();
    for (const HirId child : node.children) inside[child] = true;
  }
  if (found != groups.size()) return {};
  ElementFinder out;
  out.head = compile(head, std::move(groups), limits, marks);
  out.tail = compile(slice(pattern, {middle + 1, root.children.end()}), {},
                     limits, marks);
  return out;
}

}  // namespace parlance::parse
