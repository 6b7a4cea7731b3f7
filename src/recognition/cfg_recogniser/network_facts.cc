// The network of rules, and what follows from it alone.

#include "cfg_recogniser/network_facts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cfg_recogniser/simplify_network.h"
#include "rules/temperatures.h"

namespace parlance::cfg_recogniser {
namespace {

// Rules are copied by the temperature that they inherit before the network is
// built, so that a state has one; states of different temperatures are never
// merged.  The texts that are left become tries.
TransitionNetwork network_of(const rules::Rules& rules,
                             std::span<recogniser::Recogniser* const> parts,
                             const rules::Marks* marks) {
  std::optional<rules::Rules> copies;
  const bool copied = rules::has_temperatures(rules);
  if (copied) copies = rules::inherit_temperatures(rules);
  TransitionNetwork network(copies ? *copies : rules, parts, marks);
  network.too_large = copied && !copies;
  simplify(network);
  share_prefixes(network);
  network.schemas.clear();  // each recogniser has its own
  return network;
}

std::size_t bytes_of(const TransitionNetwork& network) {
  std::size_t bytes = network.states.size() * (sizeof(NetworkState) + 32) +
                      network.rules.size() * sizeof(NetworkRule);
  for (const std::string& text : network.texts) {
    bytes += sizeof(std::string) + text.capacity();
  }
  for (const automata::AhoCorasick& text : network.free_texts) {
    bytes += text.nodes.size() * (sizeof(automata::AhoCorasick::Node) + 64);
  }
  for (const regex::CharClass& set : network.classes) {
    bytes += sizeof(set) + set.ranges().size() * sizeof(set.ranges()[0]);
  }
  return bytes;
}

}  // namespace

base::ByteSet ascii_bytes(const regex::CharClass& set) {
  base::ByteSet bytes = {};
  for (const auto& range : set.ranges()) {
    for (char32_t c = range.first; c <= range.last && c < 0x80; ++c) {
      base::add_byte(bytes, static_cast<std::uint8_t>(c));
    }
  }
  return bytes;
}

NetworkFacts::NetworkFacts(const rules::Rules& rules,
                           std::span<recogniser::Recogniser* const> parts,
                           const CfgRecogniserLimits& most,
                           std::shared_ptr<const rules::Marks> of_rules)
    : network(network_of(rules, parts, of_rules.get())),
      limits(most),
      marks(std::move(of_rules)),
      prefix(rules.prefix),
      bytes(bytes_of(network)) {
  counts_tokens =
      std::ranges::any_of(network.rules, [](const NetworkRule& rule) {
        return rule.options.max_tokens.has_value();
      });
  has_marks =
      marks != nullptr ||
      std::ranges::any_of(network.states, [](const NetworkState& state) {
        return state.action == Action::kTokens ||
               state.action == Action::kTokenText;
      });
  // "Any token but these" names none: no stop token is meant.
  traits.names_tokens =
      !rules.token_texts.empty() ||
      std::ranges::any_of(rules.token_sets, [](const rules::TokenSetExpr& set) {
        return !set.negated;
      });
  traits.has_temperatures = !network.temperatures.empty();
  find_tails();
  find_alphabet();
  find_embedding();
}

// REQUIRES: the state is live.  Then the loop ends: a cycle without a choice
// would have no way out, and so be dead.
std::string NetworkFacts::forced_from(StateId id) const {
  constexpr std::size_t kLong = 256;
  std::string text;
  for (;;) {
    const NetworkState& state = network.states[id];
    if (text.size() >= kLong) return text;
    if (state.action == Action::kBytes) {
      text += network.texts[state.index];
      text.resize(std::min(text.size(), kLong));
      id = state.next;
    } else if (state.action == Action::kPass && state.epsilon.size() == 1) {
      id = state.epsilon[0];
    } else {
      return text;
    }
  }
}

// Finds the states from which only the end of the rule follows.  A state is not
// one of them if it does anything but pass or end, or leads to such a state:
// that property is propagated backwards over the epsilon transitions.
void NetworkFacts::find_tails() {
  const std::vector<NetworkState>& states = network.states;
  tails.assign(states.size(), true);
  // The live states with an epsilon transition to a state, one after the other:
  // those of state i are from[first[i]] up to from[first[i + 1]].
  std::vector<std::uint32_t> first(states.size() + 1, 0);
  for (const NetworkState& state : states) {
    if (!state.live) continue;
    for (const StateId target : state.epsilon) ++first[target];
  }
  // A counting sort: first[i] becomes the end of the list of state i, and moves
  // to its begin while the list is filled from its end.
  std::uint32_t count = 0;
  for (std::uint32_t& here : first) here = count += here;
  std::vector<StateId> from(count);
  std::vector<StateId> left;
  for (StateId id{0}; id < states.size(); ++id) {
    const NetworkState& state = states[id];
    if (!state.live) continue;
    for (const StateId target : state.epsilon) from[--first[target]] = id;
    const bool passes =
        state.action == Action::kPass || state.action == Action::kEnd;
    // `accept` passes, but is no end of a rule: nothing is returned to.
    if (passes && id != network.accept) continue;
    tails[id] = false;
    left.push_back(id);
  }
  while (!left.empty()) {
    const StateId id = left.back();
    left.pop_back();
    for (std::uint32_t i = first[id]; i < first[id + 1]; ++i) {
      const StateId before = from[i];
      if (!tails[before]) continue;
      tails[before] = false;
      left.push_back(before);
    }
  }
}

void NetworkFacts::add_embedding(const Item& item, rules::RuleId& rule,
                                 base::ByteSet& found) const {
  const NetworkState& state = network.states[item.state];
  const NetworkState& next = network.states[state.next];
  if (next.action != Action::kCall || !next.live ||
      network.rules[next.index].scoped) {
    return;
  }
  rule = next.rule_index();
  if (state.action == Action::kBytes) {
    const std::string& text = network.texts[state.index];
    if (item.inner + 1 == text.size()) {
      const auto byte = static_cast<std::uint8_t>(text.back());
      // The last byte of a longer character is no character.
      if (byte < 0x80) base::add_byte(found, byte);
    }
  } else if (state.action == Action::kClass && item.inner == 0) {
    base::add_bytes(found, ascii_bytes(network.classes[state.index]));
  }
}

void NetworkFacts::find_alphabet() {
  traits.alphabet = {};
  for (const NetworkState& state : network.states) {
    switch (state.action) {
      case Action::kBytes:
        for (const char c : network.texts[state.index]) {
          base::add_byte(traits.alphabet, static_cast<std::uint8_t>(c));
        }
        break;
      case Action::kClass:
      case Action::kCountClass: {
        const regex::CharClass& set = network.classes[state.index];
        base::add_bytes(traits.alphabet, ascii_bytes(set));
        if (!set.ranges().empty() && set.ranges().back().last >= 0x80) {
          // Some character beyond ASCII: any byte from 0x80 on.
          traits.alphabet[2] = traits.alphabet[3] = ~std::uint64_t{0};
        }
        break;
      }
      case Action::kSubstring:
      case Action::kFreeText:
      case Action::kSchema:
        traits.alphabet = base::kAllBytes;
        break;
      // Calls read nothing themselves, and a token that is read by its id is
      // not read by its bytes.
      default:
        break;
    }
  }
}

// Only rules that read one byte and then call themselves, as the first thing
// that an alternative does: s ::= "(" s ")" | "[" s "]" | "".  What is not
// found here costs time and changes no result.
void NetworkFacts::find_embedding() {
  embedding.resize(network.rules.size());
  for (rules::RuleId rule; rule < network.rules.size(); ++rule) {
    const NetworkState& start = network.states[network.rules[rule].start];
    if (network.rules[rule].scoped || start.action != Action::kPass) continue;
    for (const StateId state : start.epsilon) {
      rules::RuleId called = rules::kNoRule;
      base::ByteSet found = {};
      if (!network.states[state].live) continue;
      add_embedding({state, kOutermost, 0, 0}, called, found);
      if (called == rule) base::add_bytes(embedding[rule], found);
    }
  }
}

}  // namespace parlance::cfg_recogniser
