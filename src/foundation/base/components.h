#ifndef PARLANCE_SRC_BASE_COMPONENTS_H_
#define PARLANCE_SRC_BASE_COMPONENTS_H_

// The strongly connected components of a graph: Tarjan's algorithm (1972), with
// an explicit stack.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace parlance::base {

// What the algorithm knows of a node.
struct ComponentVisit {
  std::uint32_t order = 0;  // 0: not visited
  std::uint32_t low = 0;    // the lowest order that is reachable
  bool open = false;        // its component is not complete
};

// The state of one or more walks over a graph; empty between two of them.
struct ComponentWalk {
  struct Step {
    std::uint32_t node;
    std::size_t edge;
  };
  std::vector<Step> path;           // from the root to the present node
  std::vector<std::uint32_t> open;  // nodes, in the order of their visits
  std::uint32_t visited = 0;        // the last order that was given
};

// Visits what can be reached from `root` and was not visited before.
//
//   ComponentVisit& visit_of(node)
//   std::optional<std::uint32_t> next_of(node, std::size_t& i)
//       the next neighbour of a node, from its i-th edge on; moves `i` beyond
//       it
//   complete(std::span<const std::uint32_t> component)
//       called after the components that `component` leads to; valid during the
//       call, and until the walk is used again
//
// REQUIRES: `root` is not visited.
// Complexity: O(nodes and edges).  No recursion.
template <class VisitOf, class NextOf, class Complete>
void visit_components(ComponentWalk& walk, std::uint32_t root, VisitOf visit_of,
                      NextOf next_of, Complete complete) {
  std::vector<ComponentWalk::Step>& path = walk.path;
  const auto enter = [&](std::uint32_t node) {
    ComponentVisit& visit = visit_of(node);
    visit.order = visit.low = ++walk.visited;
    visit.open = true;
    walk.open.push_back(node);
    path.push_back({node, 0});
  };
  enter(root);
  while (!path.empty()) {
    const std::uint32_t node = path.back().node;
    if (const std::optional<std::uint32_t> next =
            next_of(node, path.back().edge)) {
      const ComponentVisit& other = visit_of(*next);
      if (other.order == 0) {
        enter(*next);
      } else if (other.open) {
        ComponentVisit& visit = visit_of(node);
        visit.low = std::min(visit.low, other.order);
      }
      continue;
    }
    path.pop_back();
    const ComponentVisit visit = visit_of(node);
    if (!path.empty()) {
      ComponentVisit& outer = visit_of(path.back().node);
      outer.low = std::min(outer.low, visit.low);
    }
    if (visit.low != visit.order) continue;
    std::size_t first = walk.open.size();
    do {
      visit_of(walk.open[--first]).open = false;
    } while (walk.open[first] != node);
    complete(std::span<const std::uint32_t>(walk.open).subspan(first));
    walk.open.resize(first);
  }
}

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_COMPONENTS_H_
