// Merging of states: see simplify_network.h.
//
// A depth-first search finishes a state after its successors.  A finished state
// is replaced by the first state that has the same action and, after their own
// replacement, the same successors; a hash table finds that state.  A successor
// that is still open closes a cycle: it is pinned, that is, it represents only
// itself.

#include "cfg_recogniser/simplify_network.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/mix.h"

namespace parlance::cfg_recogniser {
namespace {

class Simplifier {
 public:
  explicit Simplifier(TransitionNetwork& network)
      : network_(network),
        states_(network.states),
        stage_(states_.size(), Stage::kNew),
        pinned_(states_.size(), false),
        one_(states_.size()),
        budget_(4 * states_.size()) {
    std::size_t size = 64;
    while (size < 2 * states_.size()) size *= 2;
    table_.assign(size, kFree);
    for (StateId id{0}; id < one_.size(); ++id) one_[id] = id;
  }

  void run() {
    pinned_[network_.accept] = true;
    for (StateId id{0}; id < states_.size(); ++id) visit(id);
    for (NetworkRule& rule : network_.rules) rule.start = one_[rule.start];
    for (automata::AhoCorasick& text : network_.free_texts) {
      for (automata::AhoCorasick::Node& node : text.nodes) {
        for (std::uint32_t& call : node.calls) call = one_[call];
      }
    }
    for (TokenTriggers& text : network_.token_texts) {
      for (auto& [token, call] : text.calls) call = one_[call];
    }
  }

 private:
  enum class Stage : std::uint8_t { kNew, kOpen, kDone };

  static bool passes(const NetworkState& state) {
    return state.action == Action::kPass || state.action == Action::kBodyEnd;
  }
  // The i-th successor of `id`; null if there are no more.
  const StateId* child(StateId id, std::size_t i) const {
    const NetworkState& state = states_[id];
    if (passes(state)) {
      return i < state.epsilon.size() ? &state.epsilon[i] : nullptr;
    }
    return i == 0 && state.action != Action::kEnd ? &state.next : nullptr;
  }

  void visit(StateId root) {
    if (stage_[root] != Stage::kNew) return;
    struct Step {
      StateId id;
      std::size_t next;
    };
    std::vector<Step> path = {{root, 0}};
    stage_[root] = Stage::kOpen;
    while (!path.empty()) {
      const StateId id = path.back().id;
      const StateId* to = child(id, path.back().next++);
      if (to == nullptr) {
        path.pop_back();
        finish(id);
        stage_[id] = Stage::kDone;
      } else if (stage_[*to] == Stage::kNew) {
        stage_[*to] = Stage::kOpen;
        path.push_back({*to, 0});
      } else if (stage_[*to] == Stage::kOpen) {
        pinned_[*to] = true;
      }
    }
  }

  // All successors are finished, or open and so pinned.  Every cycle through
  // this state has been closed by now, so pinned_[id] is final.  A pinned state
  // is not replaced, since states that are finished refer to it; later states
  // that are equal may be replaced by it.
  void finish(StateId id) {
    NetworkState& state = states_[id];
    if (passes(state)) {
      flatten(id);
      if (!pinned_[id] && state.action == Action::kPass &&
          state.epsilon.size() == 1) {
        one_[id] = state.epsilon[0];
        return;
      }
    } else if (state.action == Action::kEnd) {
      state.index = 0;  // the context alone says which rule ends
    } else {
      state.next = one_[state.next];
    }
    const StateId first = find(id);
    if (!pinned_[id]) one_[id] = first;
  }

  // Replaces epsilon transitions to passing states by the transitions of these,
  // as far as the budget of added transitions allows.
  void flatten(StateId id) {
    std::vector<StateId>& out = flat_;
    out.clear();
    for (const StateId written : states_[id].epsilon) {
      const StateId to = one_[written];
      if (to == id || !states_[to].live) continue;
      const std::vector<StateId>& further = states_[to].epsilon;
      const bool through = states_[to].action == Action::kPass &&
                           stage_[to] == Stage::kDone &&
                           to != network_.accept && further.size() <= budget_;
      if (!through) {
        out.push_back(to);
        continue;
      }
      budget_ -= further.size();
      for (const StateId far : further) {
        if (far != id) out.push_back(far);
      }
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    states_[id].epsilon.assign(out.begin(), out.end());
  }

  // The first state that is equal to this one, in the hash table, which is at
  // most half full.
  StateId find(StateId id) {
    for (std::size_t at = hash(states_[id]);; ++at) {
      StateId& entry = table_[at & (table_.size() - 1)];
      if (entry == kFree) entry = id;
      if (same(states_[entry], states_[id])) return entry;
    }
  }

  std::uint64_t hash(const NetworkState& state) const {
    auto hash = static_cast<std::uint64_t>(state.action);
    base::mix(hash, state.next);
    base::mix(hash, network_.temperature_of(state));
    base::mix(hash, std::uint64_t{state.min} << 32 | state.max);
    for (const StateId to : state.epsilon) base::mix(hash, to);
    if (state.action == Action::kBytes) {
      base::mix(hash, std::hash<std::string>()(network_.texts[state.index]));
    } else if (reads_class(state)) {
      for (const regex::CharRange& range :
           network_.classes[state.index].ranges()) {
        base::mix(hash, std::uint64_t{range.first} << 32 | range.last);
      }
    } else {
      base::mix(hash, state.index);
    }
    return hash;
  }

  bool same(const NetworkState& a, const NetworkState& b) const {
    if (network_.temperature_of(a) != network_.temperature_of(b)) return false;
    if (a.action != b.action || a.live != b.live || a.next != b.next ||
        a.min != b.min || a.max != b.max || a.epsilon != b.epsilon) {
      return false;
    }
    if (a.index == b.index) return true;
    if (a.action == Action::kBytes) {
      return network_.texts[a.index] == network_.texts[b.index];
    }
    return reads_class(a) &&
           network_.classes[a.index] == network_.classes[b.index];
  }

  static bool reads_class(const NetworkState& state) {
    return state.action == Action::kClass ||
           state.action == Action::kCountClass;
  }

  TransitionNetwork& network_;
  std::vector<NetworkState>& states_;
  std::vector<Stage> stage_;
  std::vector<bool> pinned_;  // a cycle leads to it, or it accepts
  static constexpr StateId kFree{0xFFFFFFFF};  // an entry of table_

  std::vector<StateId> one_;  // by state: its representative
  std::size_t budget_;        // transitions that may still be added
  std::vector<StateId> table_;
  std::vector<StateId> flat_;  // of flatten()
};

}  // namespace

void simplify(TransitionNetwork& network) { Simplifier(network).run(); }

}  // namespace parlance::cfg_recogniser
