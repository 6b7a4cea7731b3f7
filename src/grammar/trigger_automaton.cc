// Words in free text; see trigger_automaton.h.

#include "grammar/trigger_automaton.h"

#include <deque>
#include <string>
#include <vector>

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

std::vector<std::uint32_t> TriggerAutomaton::words_that_begin(
    std::string_view text) const {
  std::vector<std::uint32_t> out;
  std::uint32_t at = 0;
  for (const char c : text) {
    const auto found = nodes[at].next.find(static_cast<std::uint8_t>(c));
    if (found == nodes[at].next.end()) break;
    at = found->second;
    out.insert(out.end(), nodes[at].calls.begin(), nodes[at].calls.end());
  }
  return out;
}

std::optional<std::uint32_t> TriggerAutomaton::first_in(
    std::string_view text) const {
  std::uint32_t at = 0;
  for (const char c : text) {
    at = step(at, static_cast<std::uint8_t>(c));
    if (!nodes[at].calls.empty()) return nodes[at].calls.front();
  }
  return std::nullopt;
}

TriggerAutomaton word_trie(const std::vector<std::string>& words) {
  TriggerAutomaton out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out.nodes[out.insert(words[i])].calls.push_back(
        static_cast<std::uint32_t>(i));
  }
  return out;
}

TriggerAutomaton word_automaton(const std::vector<std::string>& words) {
  TriggerAutomaton out = word_trie(words);
  out.link();
  return out;
}

}  // namespace parlance::grammar
