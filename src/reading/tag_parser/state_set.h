#ifndef PARLANCE_SRC_TAG_PARSER_STATE_SET_H_
#define PARLANCE_SRC_TAG_PARSER_STATE_SET_H_

// The states of a TagProgram, and sets of states that are built and emptied
// with every byte.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/id.h"
#include "base/mix.h"
#include "recogniser/recogniser.h"
#include "tag_parser/program.h"

namespace parlance::tag_parser {

// The counts of the repeats that enclose an instruction, as a stack whose
// entries are shared between threads: the innermost count with the least that
// its repeat needs, and the entry of the enclosing counts.
struct Count;
using CountsId = base::Id<Count>;
inline constexpr CountsId kNoCounts{0};  // no repeat encloses the instruction
struct Count {
  CountsId outer;
  std::uint32_t count = 0;
  std::uint32_t min = 0;
  bool operator==(const Count&) const = default;
};
struct CountHash {
  std::size_t operator()(const Count& one) const {
    std::uint64_t out = std::uint64_t{one.outer} << 32 | one.count;
    base::mix(out, one.min);
    return static_cast<std::size_t>(out);
  }
};

// An instruction and how far the thread has read in it.
struct State {
  Pc pc;
  CountsId counts;
  // The thread has arrived at an instruction that reads, and the accessors
  // below are set.  Otherwise `packed` is zero.
  bool entered = false;
  recogniser::Configuration packed;

  bool operator==(const State&) const = default;

  // kLiteral: bytes of the literal that have been read.
  std::uint32_t literal_offset() const { return packed.lex; }
  std::uint32_t& literal_offset() { return packed.lex; }

  // kText, kTextToTrigger: a node of the automaton of the free text, the state
  // of a UTF-8 character (char_step.h; 0 between two characters), and how many
  // characters the text may still have.
  std::uint32_t text_node() const { return packed.lex; }
  std::uint32_t& text_node() { return packed.lex; }
  bool in_character() const { return packed.frame != 0; }
  std::uint32_t& character() { return packed.frame; }
  std::uint32_t chars_left() const { return packed.count; }
  std::uint32_t& chars_left() { return packed.count; }

  // kText, kTextToTrigger, kTokens: how many tokens it may still have.
  std::uint32_t tokens_left() const { return packed.extra; }
  std::uint32_t& tokens_left() { return packed.extra; }

  // kRecogniser.
  const recogniser::Configuration& configuration() const { return packed; }
  recogniser::Configuration& configuration() { return packed; }

  // While a closure is computed only: PikeVm::Work::empty_loop.
  void set_empty_loop(std::uint32_t depth) { packed.lex = depth; }
};

// A set that empties in O(1): slots of the hash table belong to a round, and
// clear() begins the next one.  A set of few states has no hash table; its
// states are compared one by one.
class StateSet {
 public:
  void clear() {
    states_.clear();
    instructions_ = 0;
    ++round_;
  }

  // Returns whether the state was not in the set.
  bool insert(const State& state) {
    if (states_.size() < kMaxLinear) {
      const std::uint64_t bit = std::uint64_t{1} << (state.pc % 64U);
      if ((instructions_ & bit) != 0) {
        for (const State& other : states_) {
          if (other == state) return false;
        }
      }
      instructions_ |= bit;
      states_.push_back(state);
      if (states_.size() == kMaxLinear) rehash();
      return true;
    }
    if (!claim_slot(state, states_.size())) return false;
    states_.push_back(state);
    if (states_.size() * 2 > slots_.size()) rehash();
    return true;
  }

 private:
  static constexpr std::size_t kMaxLinear = 12;
  struct Slot {
    std::uint64_t round = 0;  // empty unless it is the current round
    std::uint32_t state = 0;  // index in states_
  };

  static std::size_t hash(const State& state) {
    const auto pair = [](std::uint32_t a, std::uint32_t b) {
      return std::uint64_t{a} << 32 | b;
    };
    std::uint64_t out =
        pair(state.counts, state.pc * 2U + (state.entered ? 1 : 0));
    base::mix(out, pair(state.packed.lex, state.packed.frame));
    base::mix(out, pair(state.packed.count, state.packed.extra));
    return static_cast<std::size_t>(out);
  }

  // Takes a slot for `state`, which is or will be states_[index].  Returns
  // false if an equal state has a slot.
  bool claim_slot(const State& state, std::size_t index) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash(state) & mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.round != round_) {
        slot = {round_, static_cast<std::uint32_t>(index)};
        return true;
      }
      if (states_[slot.state] == state) return false;
    }
  }
  void rehash() {
    if (slots_.size() < 4 * states_.size()) {
      slots_.assign(std::bit_ceil(4 * states_.size()), {});
    }
    ++round_;
    for (std::size_t i = 0; i < states_.size(); ++i) claim_slot(states_[i], i);
  }

  std::vector<State> states_;
  // While there is no hash table: a bit for each instruction of a state, by its
  // number modulo 64.
  std::uint64_t instructions_ = 0;
  std::vector<Slot> slots_;
  std::uint64_t round_ = 1;
};

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_STATE_SET_H_
