// Tries of texts: see simplify_network.h.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cfg_recogniser/simplify_network.h"

namespace parlance::cfg_recogniser {
namespace {

class PrefixSharing {
 public:
  explicit PrefixSharing(TransitionNetwork& network)
      : network_(network), states_(network.states) {}

  void run() {
    const std::size_t count = states_.size();
    for (StateId id{0}; id < count; ++id) share(id);
  }

 private:
  // A text of the state that is being changed, or what is left of it.
  struct Text {
    std::string_view text;
    StateId next = {};
  };
  // The texts [first, last) of the sorted list, without their first `depth`
  // bytes, are still to be read from the state `from`.
  struct Range {
    StateId from = {};
    std::size_t first = 0, last = 0, depth = 0;
  };

  // Replaces the texts after the state by a trie, for each temperature.  States
  // with the same texts share it.
  void share(StateId id) {
    if (states_[id].epsilon.size() < kMany) return;
    std::map<std::uint32_t, std::vector<StateId>> texts;  // by temperature
    for (const StateId to : states_[id].epsilon) {
      const NetworkState& state = states_[to];
      if (state.action == Action::kBytes && state.live) {
        texts[network_.temperature_of(state)].push_back(to);
      }
    }
    for (auto& of_temperature : texts) {
      std::vector<StateId>& list = of_temperature.second;
      if (list.size() < kMany) continue;
      std::ranges::sort(list);
      std::erase_if(states_[id].epsilon, [&](StateId to) {
        return std::ranges::binary_search(list, to);
      });
      auto known = tries_.find(list);
      if (known == tries_.end()) {
        std::vector<StateId> trie = make(list);
        known = tries_.emplace(std::move(list), std::move(trie)).first;
      }
      states_[id].epsilon.insert(states_[id].epsilon.end(),
                                 known->second.begin(), known->second.end());
    }
  }

  // The states that read the first bytes of the texts of `list`.
  //
  // Invariant: `left` has the ranges that are not built; the texts of a range
  // agree in their first `depth` bytes, and `from` passes.
  std::vector<StateId> make(const std::vector<StateId>& list) {
    // Copies: texts are added below.
    std::vector<std::string> owned;
    owned.reserve(list.size());
    std::vector<Text> texts;
    texts.reserve(list.size());
    for (const StateId id : list) {
      owned.push_back(network_.texts[states_[id].index]);
      texts.push_back({owned.back(), states_[id].next});
    }
    std::ranges::sort(texts, {}, &Text::text);
    const rules::RuleId rule = states_[list.front()].rule;
    const StateId root = add({.live = true, .rule = rule});
    std::vector<Range> left = {{root, 0, texts.size(), 0}};
    while (!left.empty()) {
      const Range range = left.back();
      left.pop_back();
      std::size_t at = range.first;
      for (; at < range.last && texts[at].text.size() == range.depth; ++at) {
        states_[range.from].epsilon.push_back(texts[at].next);
      }
      while (at < range.last) {
        // The texts [at, end) agree in one more byte, and then in as many as
        // the first and the last of them do.
        const std::string_view low = texts[at].text;
        std::size_t end = at + 1;
        while (end < range.last &&
               texts[end].text[range.depth] == low[range.depth]) {
          ++end;
        }
        const std::string_view high = texts[end - 1].text;
        const std::size_t depth = static_cast<std::size_t>(
            std::ranges::mismatch(low, high).in1 - low.begin());
        const bool single = end == at + 1;
        const StateId to =
            single ? texts[at].next : add({.live = true, .rule = rule});
        network_.texts.emplace_back(
            low.substr(range.depth, depth - range.depth));
        const StateId reads =
            add({.action = Action::kBytes,
                 .live = true,
                 .index = static_cast<std::uint32_t>(network_.texts.size() - 1),
                 .next = to,
                 .rule = rule});
        states_[range.from].epsilon.push_back(reads);
        if (!single) left.push_back({to, at, end, depth});
        at = end;
      }
    }
    return std::exchange(states_[root].epsilon, {});
  }

  StateId add(NetworkState state) {
    states_.push_back(std::move(state));
    return static_cast<StateId>(states_.size() - 1);
  }

  // Fewer alternatives are read one by one, and messages list them whole.
  static constexpr std::size_t kMany = 64;

  TransitionNetwork& network_;
  std::vector<NetworkState>& states_;
  std::map<std::vector<StateId>, std::vector<StateId>> tries_;
};

}  // namespace

void share_prefixes(TransitionNetwork& network) {
  PrefixSharing(network).run();
}

}  // namespace parlance::cfg_recogniser
