// Words in free text; see trigger_automaton.h.

#include "grammar/trigger_automaton.h"

#include <deque>

namespace parlance::grammar {

std::uint32_t TriggerAutomaton::insert(std::string_view word) {
  std::uint32_t at = 0;
  for (const char c : word) {
    const auto [place, added] = nodes[at].next.try_emplace(
        static_cast<std::uint8_t>(c), static_cast<std::uint32_t>(nodes.size()));
    at = place->second;
    if (added) nodes.emplace_back();
  }
  return at;
}

void TriggerAutomaton::link() {
  std::deque<std::uint32_t> queue{0};
  while (!queue.empty()) {
    const std::uint32_t at = queue.front();
    queue.pop_front();
    for (const auto& [byte, child] : nodes[at].next) {
      Node& node = nodes[child];
      if (at != 0) node.fail = step(nodes[at].fail, byte);
      const Node& suffix = nodes[node.fail];
      node.excluded = node.excluded || suffix.excluded;
      node.calls.insert(node.calls.end(), suffix.calls.begin(),
                        suffix.calls.end());
      queue.push_back(child);
    }
  }
}

std::uint32_t TriggerAutomaton::step(std::uint32_t node,
                                     std::uint8_t byte) const {
  for (;;) {
    const auto found = nodes[node].next.find(byte);
    if (found != nodes[node].next.end()) return found->second;
    if (node == 0) return 0;
    node = nodes[node].fail;
  }
}

}  // namespace parlance::grammar
