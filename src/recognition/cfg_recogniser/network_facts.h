#ifndef PARLANCE_SRC_CFG_RECOGNISER_NETWORK_FACTS_H_
#define PARLANCE_SRC_CFG_RECOGNISER_NETWORK_FACTS_H_

// A transition network, and what follows from it alone.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/byte_set.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/transition_network.h"
#include "recogniser/recogniser.h"
#include "rules/marks.h"
#include "rules/rules.h"

namespace parlance::cfg_recogniser {

// How deep activations of lazy or limited rules may be nested.
inline constexpr std::size_t kMaxActivations = 256;

struct CfgRecogniserLimits {
  // A limit for the tables, and the same again for the network.
  std::size_t bytes = std::size_t{256} << 20;
  // The items of one configuration, before redundant ones are dropped, outside
  // of questions (base/work.h).
  std::size_t items = 100'000;
  // How deep activations of lazy or limited rules may be nested.
  std::size_t depth = kMaxActivations;
};

// Immutable, and shared by the recognisers that are fresh() of each other and
// by all of their tables.
class NetworkFacts {
 public:
  // `parts[i]` recognises the texts of rules.schemas[i]; they are asked now,
  // and not kept.
  NetworkFacts(const rules::Rules& rules,
               std::span<recogniser::Recogniser* const> parts,
               const CfgRecogniserLimits& limits,
               std::shared_ptr<const rules::Marks> marks);
  NetworkFacts(const NetworkFacts&) = delete;
  NetworkFacts& operator=(const NetworkFacts&) = delete;

  const NetworkState& state_of(const Item& item) const {
    return network.states[item.state];
  }
  // The rule that a state with Action::kCall or kCount calls.
  const NetworkRule& called_by(const NetworkState& state) const {
    return network.rules[state.index];
  }
  // The next byte of an item of a literal.
  std::uint8_t next_byte(const Item& item) const {
    return static_cast<std::uint8_t>(
        network.texts[state_of(item).index][item.inner]);
  }
  // If the next byte completes what `item` reads, and a call of a plain rule
  // follows, adds such bytes to `found` and notes the rule.
  void add_embedding(const Item& item, rules::RuleId& rule,
                     base::ByteSet& found) const;
  // The literal text that follows a state inside its own rule, cut off at the
  // length of the longest token.
  std::string forced_from(StateId state) const;

  const TransitionNetwork network;
  const CfgRecogniserLimits limits;
  const std::shared_ptr<const rules::Marks> marks;  // null: none
  const std::string prefix;                         // rules::Rules::prefix
  // What holds of the language, whatever its parts.
  recogniser::Recogniser::Traits traits;
  bool counts_tokens = false;  // some rule has a budget of tokens
  bool has_marks = false;      // some state reads tokens by their ids
  std::vector<bool> tails;     // by state: only the end of its rule follows
  // By rule: the bytes after which the rule may call itself, before it reads
  // anything else.
  std::vector<base::ByteSet> embedding;
  std::size_t bytes = 0;  // of the network

 private:
  void find_tails();
  void find_alphabet();
  void find_embedding();
};

// The ASCII characters of a class.
base::ByteSet ascii_bytes(const regex::CharClass& set);

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_NETWORK_FACTS_H_
