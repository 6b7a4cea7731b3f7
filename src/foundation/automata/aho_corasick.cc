// Words in free text; see aho_corasick.h.

#include "automata/aho_corasick.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace parlance::automata {

std::uint32_t AhoCorasick::insert_one(std::uint32_t at, WordSymbol symbol) {
  const auto [place, added] = nodes[at].next.try_emplace(
      symbol, static_cast<std::uint32_t>(nodes.size()));
  const std::uint32_t child = place->second;
  if (added) {
    const Node& parent = nodes[at];
    Node node;
    node.depth = parent.depth + 1;
    if (parent.committed != 0) {
      node.committed = parent.committed + 1;
    } else if (is_mark(symbol)) {
      node.committed = 1;
    }
    nodes.push_back(std::move(node));
  }
  return child;
}

std::uint32_t AhoCorasick::insert(std::string_view word) {
  std::uint32_t at = 0;
  for (const char c : word) at = insert_one(at, static_cast<std::uint8_t>(c));
  return at;
}

std::uint32_t AhoCorasick::insert(std::span<const WordSymbol> word) {
  std::uint32_t at = 0;
  for (const WordSymbol symbol : word) at = insert_one(at, symbol);
  return at;
}

// Breadth-first.  Invariant: every node that has been in the queue has its
// failure link, and what it takes over from its suffixes.
void AhoCorasick::link() {
  std::deque<std::uint32_t> queue{0};
  while (!queue.empty()) {
    const std::uint32_t at = queue.front();
    queue.pop_front();
    for (const auto& [symbol, child] : nodes[at].next) {
      Node& node = nodes[child];
      if (at != 0) node.fail = follow(nodes[at].fail, symbol);
      const Node& suffix = nodes[node.fail];
      node.excluded = node.excluded || suffix.excluded;
      if (suffix.depth >= node.committed) {
        node.calls.insert(node.calls.end(), suffix.calls.begin(),
                          suffix.calls.end());
      }
      queue.push_back(child);
    }
  }
}

std::uint32_t AhoCorasick::follow(std::uint32_t node, WordSymbol symbol) const {
  for (;;) {
    const auto found = nodes[node].next.find(symbol);
    if (found != nodes[node].next.end()) return found->second;
    if (node == 0) return 0;
    node = nodes[node].fail;
  }
}

// A suffix has all marks of the text that is committed if it is longer than
// Node::committed: the first mark, everything after it, and the new symbol.
std::uint32_t AhoCorasick::step_words(std::uint32_t node,
                                      WordSymbol symbol) const {
  const std::uint32_t to = follow(node, symbol);
  if (is_mark(symbol) && to == 0) return kRefused;
  const std::uint32_t committed = nodes[node].committed;
  if (committed != 0 && nodes[to].depth <= committed) return kRefused;
  return to;
}

std::uint32_t AhoCorasick::step_patterns(std::uint32_t state,
                                         WordSymbol symbol) const {
  if (!is_mark(symbol)) {
    return patterns->step(state, static_cast<std::uint8_t>(symbol));
  }
  return patterns->step(state, mark_spellings[symbol - kFirstMarkSymbol]);
}

std::uint32_t AhoCorasick::step_both(std::uint32_t state,
                                     WordSymbol symbol) const {
  const std::uint32_t node = step_words(node_of(state), symbol);
  if (node == kRefused) return kRefused;
  const std::uint32_t search = step_patterns(pattern_state_of(state), symbol);
  if (search == PatternDfa::kFound) return kRefused;
  const std::uint32_t to =
      node + search * static_cast<std::uint32_t>(nodes.size());
  return !dead_.empty() && dead_[to] ? kRefused : to;
}

void AhoCorasick::find_dead_ends(
    const std::function<bool(std::uint32_t)>& live_call) {
  if (std::ranges::none_of(
          nodes, [](const Node& node) { return node.committed != 0; })) {
    return;
  }
  exclude_dead_ends(live_call);
  if (patterns != nullptr) find_dead_states(live_call);
}

// live[i]: a word can be completed from node `i`, or it is committed to none.
// The loop computes the least fixed point of its conditions.
void AhoCorasick::exclude_dead_ends(
    const std::function<bool(std::uint32_t)>& live_call) {
  std::vector<bool> live(nodes.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = nodes.size(); i-- > 0;) {
      const Node& node = nodes[i];
      if (live[i] || node.excluded) continue;
      live[i] = node.committed == 0 ||
                (nodes[node.fail].depth >= node.committed && live[node.fail]) ||
                std::ranges::any_of(node.calls, live_call) ||
                std::ranges::any_of(node.next, [&](const auto& way) {
                  return live[way.second];
                });
      changed = changed || live[i];
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].excluded = !live[i];
}

// live[node + size * search]: a word can be completed from there.  The loop
// computes the least fixed point of its conditions.  Nodes are visited in
// reverse, because children come after their parents.
void AhoCorasick::find_dead_states(
    const std::function<bool(std::uint32_t)>& live_call) {
  const auto committed = [](const Node& node) { return node.committed != 0; };
  const std::size_t size = nodes.size();
  std::vector<bool> live(size * patterns->size(), false);
  const auto can_complete = [&](const Node& node, std::uint32_t search) {
    if (std::ranges::any_of(node.calls, live_call)) return true;
    if (nodes[node.fail].depth >= node.committed &&
        live[node.fail + size * search]) {
      return true;
    }
    return std::ranges::any_of(node.next, [&](const auto& way) {
      const std::uint32_t to = step_patterns(search, way.first);
      return to != PatternDfa::kFound && live[way.second + size * to];
    });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = size; i-- > 0;) {
      if (!committed(nodes[i]) || nodes[i].excluded) continue;
      for (std::uint32_t search = 0; search < patterns->size(); ++search) {
        if (live[i + size * search] || !can_complete(nodes[i], search)) {
          continue;
        }
        live[i + size * search] = true;
        changed = true;
      }
    }
  }
  dead_.resize(live.size());
  for (std::size_t state = 0; state < live.size(); ++state) {
    dead_[state] = !live[state] && committed(nodes[state % size]);
  }
}

std::vector<std::uint32_t> AhoCorasick::words_that_begin(
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

std::optional<std::uint32_t> AhoCorasick::first_in(
    std::string_view text) const {
  std::uint32_t at = 0;
  for (const char c : text) {
    at = step(at, static_cast<std::uint8_t>(c));
    if (!nodes[at].calls.empty()) return nodes[at].calls.front();
  }
  return std::nullopt;
}

AhoCorasick word_trie(const std::vector<std::string>& words) {
  AhoCorasick out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out.nodes[out.insert(words[i])].calls.push_back(
        static_cast<std::uint32_t>(i));
  }
  return out;
}

AhoCorasick word_automaton(const std::vector<std::string>& words) {
  AhoCorasick out = word_trie(words);
  out.link();
  return out;
}

}  // namespace parlance::automata
