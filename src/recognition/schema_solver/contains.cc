#include "schema_solver/contains.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace parlance::schema_solver {
namespace {

using schema::kNoNode;
using schema::Node;
using schema::NodeId;

// A set of this size has 63 non-empty subsets.
constexpr std::size_t kMostSeen = 6;

// The `contains` of all nodes that apply to the same value as `from`; with
// `only_evaluating`, those after which an item counts as evaluated.
std::vector<NodeId> seen_from(const schema::Document& document, NodeId from,
                              bool only_evaluating) {
  std::vector<NodeId> out;
  std::vector<NodeId> done;
  std::vector<NodeId> left = {from};
  while (!left.empty()) {
    const NodeId id = left.back();
    left.pop_back();
    if (id == kNoNode ||
        std::find(done.begin(), done.end(), id) != done.end()) {
      continue;
    }
    done.push_back(id);
    const Node& node = document.node(id);
    const schema::ArrayRules& rules = node.arrays();
    if (rules.contains != kNoNode &&
        (rules.contains_evaluates || !only_evaluating)) {
      out.push_back(rules.contains);
    }
    if (!only_evaluating && node.not_node != kNoNode &&
        document.node(node.not_node).array_rules != nullptr) {
      out.push_back(node.not_node);
    }
    for (const auto* list : {&node.all_of, &node.any_of, &node.one_of}) {
      left.insert(left.end(), list->begin(), list->end());
    }
    left.insert(left.end(),
                {node.if_node, node.then_node, node.else_node, node.ref});
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

std::size_t rules_at_once(std::size_t rules) {
  constexpr std::uint64_t kChoices = 128;
  std::uint64_t choices = 1 + rules;
  std::uint64_t sets = rules;  // of `size` rules
  std::size_t size = 1;
  for (; size < rules; ++size) {
    sets = sets * (rules - size) / (size + 1);
    choices += sets;
    if (choices > kChoices) break;
  }
  return size;
}

std::size_t contains_in_scope(const schema::Document& document, NodeId node) {
  return seen_from(document, node, false).size();
}

ItemChoices::ItemChoices(schema::Document& document) {
  const std::size_t written = document.nodes.size();
  for (NodeId id; id < written; ++id) {
    const NodeId rule = document.node(id).arrays().unevaluated_items;
    if (rule == kNoNode) continue;
    const std::vector<NodeId> seen = seen_from(document, id, true);
    if (seen.size() > kMostSeen) {
      narrowed_.push_back(id);
      continue;
    }
    for (std::uint32_t part = 1; part < 1U << seen.size(); ++part) {
      std::vector<NodeId> key = {rule};
      for (std::size_t i = 0; i < seen.size(); ++i) {
        if ((part >> i & 1) != 0) key.push_back(seen[i]);
      }
      const auto made = static_cast<NodeId>(document.nodes.size());
      if (!choices_.try_emplace(key, made).second) continue;
      Node node;
      node.has_any_of = true;
      node.any_of = std::move(key);
      node.source = document.node(rule).source;
      document.nodes.push_back(std::move(node));
    }
  }
}

NodeId ItemChoices::choice(NodeId rule,
                           const std::vector<NodeId>& contains) const {
  if (contains.empty()) return rule;
  std::vector<NodeId> key = {rule};
  key.insert(key.end(), contains.begin(), contains.end());
  const auto found = choices_.find(key);
  return found == choices_.end() ? rule : found->second;
}

}  // namespace parlance::schema_solver
