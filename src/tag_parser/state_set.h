#ifndef PARLANCE_SRC_TAG_PARSER_STATE_SET_H_
#define PARLANCE_SRC_TAG_PARSER_STATE_SET_H_

// States of a program, and sets of them that are made and thrown away with
// every byte.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/mix.h"
#include "recogniser/recogniser.h"

namespace parlance::tag_parser {

// An instruction, and how far it is.  `inside`: it has been reached and set up,
// and `at` means what its Op says:
//
//   kLiteral         lex: bytes read
//   kText...         lex: node of the automaton, frame: inside a character,
//                    count, extra: characters and tokens left
//   kRecogniser         the configuration
//   kTokens          count: tokens left
struct State {
  std::uint32_t pc = 0;
  std::uint32_t counts = 0;  // of the repeats around it
  bool entered = false;
  recogniser::Configuration at;

  bool operator==(const State&) const = default;
};

// Empties in O(1).  Few states are compared one by one.
class StateSet {
 public:
  void clear() {
    states_.clear();
    ++round_;
  }

  // Whether the state was not in the set.
  bool insert(const State& state) {
    if (states_.size() < kFew) {
      for (const State& other : states_) {
        if (other == state) return false;
      }
      states_.push_back(state);
      if (states_.size() == kFew) index_all();
      return true;
    }
    if (!index(state, states_.size())) return false;
    states_.push_back(state);
    if (states_.size() * 2 > slots_.size()) index_all();
    return true;
  }

 private:
  static constexpr std::size_t kFew = 12;
  struct Slot {
    std::uint64_t round = 0;
    std::uint32_t state = 0;
  };

  static std::size_t hash(const State& state) {
    const auto pair = [](std::uint32_t a, std::uint32_t b) {
      return std::uint64_t{a} << 32 | b;
    };
    std::uint64_t out =
        pair(state.counts, state.pc * 2U + (state.entered ? 1 : 0));
    base::mix(out, pair(state.at.lex, state.at.frame));
    base::mix(out, pair(state.at.count, state.at.extra));
    return static_cast<std::size_t>(out);
  }

  // Takes a slot for `state`, the one with that number.
  bool index(const State& state, std::size_t number) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash(state) & mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.round != round_) {
        slot = {round_, static_cast<std::uint32_t>(number)};
        return true;
      }
      if (states_[slot.state] == state) return false;
    }
  }
  void index_all() {
    if (slots_.size() < 4 * states_.size()) {
      slots_.assign(std::bit_ceil(4 * states_.size()), {});
    }
    ++round_;
    for (std::size_t i = 0; i < states_.size(); ++i) index(states_[i], i);
  }

  std::vector<State> states_;
  std::vector<Slot> slots_;
  std::uint64_t round_ = 1;
};

using CountTable = std::unordered_map<std::uint64_t, std::uint32_t>;

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_STATE_SET_H_
