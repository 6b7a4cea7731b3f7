#include "mask/draft_tree.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace parlance::mask {

namespace {

Error usage(std::string message) {
  return Error{.code = ErrorCode::kUsage, .message = std::move(message)};
}

std::string node_named(std::size_t node) {
  return "node " + std::to_string(node) + " of the draft tree";
}

}  // namespace

// Follows the links from the root, on a stack.  Each node is reached once, so
// there is no cycle and no node with two predecessors.
std::optional<Error> check_draft_tree(
    std::span<const std::int64_t> first_child,
    std::span<const std::int64_t> next_sibling,
    std::span<const std::int64_t> tokens) {
  const std::size_t count = tokens.size();
  if (first_child.size() != count || next_sibling.size() != count) {
    return usage(
        "A draft tree has a first child, a next sibling and a token "
        "for each node; there are " +
        std::to_string(first_child.size()) + " children, " +
        std::to_string(next_sibling.size()) + " siblings and " +
        std::to_string(count) + " tokens.");
  }
  if (count == 0) return usage("A draft tree has at least one node, its root.");
  if (next_sibling[0] != -1) {
    return usage("The root of the draft tree has a sibling.");
  }
  std::vector<bool> reached(count);
  std::vector<std::size_t> left = {0};
  reached[0] = true;
  while (!left.empty()) {
    const std::size_t node = left.back();
    left.pop_back();
    for (const std::int64_t link : {first_child[node], next_sibling[node]}) {
      if (link == -1) continue;
      if (link < 0 || static_cast<std::uint64_t>(link) >= count) {
        return usage("In a draft tree of " + std::to_string(count) +
                     " nodes, node " + std::to_string(node) + " refers to " +
                     std::to_string(link) + ".");
      }
      const auto next = static_cast<std::size_t>(link);
      if (reached[next]) return usage(node_named(next) + " is reached twice.");
      reached[next] = true;
      left.push_back(next);
    }
  }
  const auto lost = std::ranges::find(reached, false);
  if (lost == reached.end()) return std::nullopt;
  return usage(node_named(static_cast<std::size_t>(lost - reached.begin())) +
               " is not reached from the root.");
}

}  // namespace parlance::mask
