#ifndef PARLANCE_SRC_MASK_TOKEN_CLASS_WALK_H_
#define PARLANCE_SRC_MASK_TOKEN_CLASS_WALK_H_

// Which tokens can be read from a configuration of any text, by token classes.
//
// Beside byte classes and deferred splits (class_walk.h), four ideas make it
// cheap:
//
//   base        a state that is another one with a few literals more, as the
//               letters of a keyword are a name: bytes that are not theirs lead
//               where they lead from that
//   self-loop   a state that every byte class below a node leads back to
//   accepts
//               the whole subtree: in a comment, all tokens without a line feed
//   leaf        a node without children is decided by the bytes that can be
//               read before it: the step to it is not computed
//   repeat      a state that contains an unbounded repeat of all byte classes
//   accepts     below a node, whatever else it contains: in .*a.{50}, all
//               tokens without a line feed, though each `a` makes a new state
//
// Where bytes of a class lead to different states and few tokens leave such a
// repeat, these few are read by themselves: of the tokens of letters in
// palindromes none, of those in 5,000 names with numbers only those with a
// digit.  Tokens with a byte that no text has are not read.
//
// A deferred split is corrected by reading the real and the assumed path
// together, until they meet in one state:
//
//   a statement of C, at a-z    most common: in a name       i d w ...
//      "if"   corrected: i → in "if"  f → after "if"         ≠ in a name
//      "in"   corrected: i → in "if"  n → in a name          = done
//
// The mask is the same as by reading all tokens byte by byte.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/byte_set.h"
#include "base/reusable_set.h"
#include "mask/ablation.h"
#include "mask/class_walk.h"
#include "parlance/vocabulary.h"
#include "recogniser/configuration_hash.h"
#include "recogniser/recogniser.h"
#include "vocab/token_class_trie.h"
#include "vocab/token_tables.h"

namespace parlance::mask {

// Reuses its memory.  Not thread-safe.
class TokenClassWalk
    : ClassWalk<TokenClassWalk, vocab::TokenClassTrie, std::uint16_t> {
 public:
  TokenClassWalk(const vocab::TokenTables& tables,
                 const vocab::TokenClassTrie& class_trie,
                 const Vocabulary& vocabulary)
      : ClassWalk(tables), token_classes_(class_trie), vocabulary_(vocabulary) {
    for (std::uint8_t c = 0; c < vocab::TokenClassTrie::kClassCount; ++c) {
      for (const std::uint8_t byte : class_trie.bytes(c)) {
        base::add_byte(bytes_of_class_[c], byte);
      }
    }
  }

  // Overwrites `words` with the tokens that can be read from `at`.  Returns
  // false, with `words` as they were, if classes do not save work: of the first
  // letters of 20,000 words, hardly two lead to the same state.
  // REQUIRES: `at` is not dead, and the caller holds recogniser.mutex.
  [[nodiscard]] bool run(recogniser::Recogniser& recogniser,
                         recogniser::Configuration at,
                         std::span<std::uint32_t> words);

 private:
  friend ClassWalk;

  struct State {
    recogniser::Configuration config;
    // Where all bytes but `others` lead as from here; 0: not known.
    StateId base = 0;
    const base::ByteSet* others = nullptr;
    // For each byte, one that leads to the same state; null: not known, or
    // there is a base.
    const std::array<std::uint8_t, 256>* same = nullptr;
    // The bytes that can be read; null: not known.
    const base::ByteSet* readable = nullptr;
    // Byte classes that lead back to this state, and those that do not, as far
    // as known.  The classes of multi-byte characters are in one of the sets
    // together: the former if every such character leads back.
    vocab::ByteClassSet loops = {};
    vocab::ByteClassSet no_loops = {};
    // Byte classes of which every valid text can be read from here.
    bool repeatable_known = false;
    vocab::ByteClassSet repeatable = {};
  };

  // The state of a mask_key().
  struct KnownState {
    recogniser::Configuration key;
    StateId state = 0;
    bool operator==(const KnownState& other) const { return key == other.key; }
  };
  struct KnownStateHash {
    std::size_t operator()(const KnownState& known) const {
      return recogniser::ConfigurationHash()(known.key);
    }
  };

  const vocab::ByteClassSet& classes_of(const base::ByteSet& bytes);
  StateId state_of(recogniser::Configuration config);
  StateId learn(StateId state, std::uint8_t byte);
  bool is_uniform(StateId state, std::uint8_t byte_class) const;
  StateId base_for(StateId state, std::uint8_t byte_class) const;
  // Whether every token from the edge to `node` on can be read from `from`.
  bool accepts_below(const vocab::TokenClassNode& node, StateId from) {
    if (from == 0 || node.byte_class >= vocab::TokenClassTrie::kLead2) {
      return false;
    }
    const vocab::ByteClassSet& set = repeatable(from);
    return set.has(node.byte_class) && node.below.without(set).empty();
  }
  bool decide_below(std::uint32_t i, StateId from) {
    return !is_off(Shortcut::kFewLeavers) && from != 0 &&
           !dead_classes_.empty() && decide_few_leavers(i, from);
  }
  bool decide_few_leavers(std::uint32_t i, StateId from);
  bool decide_leaf(const vocab::TokenClassNode& node, StateId from);
  // Whether `byte` can be read from `state`.  Where that is known without it,
  // the step is not learnt.
  bool accepts(StateId state, std::uint8_t byte) {
    const base::ByteSet* const readable = states_[state].readable;
    return readable != nullptr ? base::has_byte(*readable, byte)
                               : step(state, byte) != 0;
  }
  bool gives_up(const vocab::TokenClassNode& node, StateId from);
  bool find_leavers(std::uint32_t root, const vocab::ByteClassSet& stay);
  void find_dead_classes();
  const vocab::ByteClassSet& repeatable(StateId state) {
    return states_[state].repeatable_known ? states_[state].repeatable
                                           : find_repeatable(state);
  }
  const vocab::ByteClassSet& find_repeatable(StateId state);
  SubtreeVerdict judge(const vocab::TokenClassNode& node, StateId state) {
    const bool all = node.below.without(repeatable(state)).empty() ||
                     stays(state, node.below);
    return all ? SubtreeVerdict::kAccept : SubtreeVerdict::kDescend;
  }
  bool stays(StateId state, const vocab::ByteClassSet& classes) {
    return !classes.meets(states_[state].no_loops) &&
           find_loops(state, classes);
  }
  bool find_loops(StateId state, const vocab::ByteClassSet& classes);
  bool stays_in_characters(StateId state);
  bool leads_back(StateId from, unsigned due, StateId to);
  void correct_subtree(std::uint32_t root, StateId state, StateId assumed);
  void correct_token(std::uint32_t i, std::size_t depth, StateId from,
                     StateId assumed);

  static constexpr std::size_t kMostStates = 1000;
  static_assert(kMostStates + 2 < kCommonKnown);

  const vocab::TokenClassTrie& token_classes_;
  const Vocabulary& vocabulary_;
  std::array<base::ByteSet, vocab::TokenClassTrie::kClassCount>
      bytes_of_class_{};

  // While one mask is made.
  bool too_many_ = false;
  vocab::ByteClassSet dead_classes_ = {};  // no text has one of their bytes
  // What find_leavers() found: accepted ranges of tokens, and the others.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> staying_, leaving_;
  recogniser::Recogniser* recogniser_ = nullptr;
  std::vector<State> states_;
  // By mask_key(), of one walk.
  base::ReusableSet<KnownState, KnownStateHash> known_states_;
  // The classes of which all bytes are in a set, for the last few sets.
  std::vector<std::pair<base::ByteSet, vocab::ByteClassSet>> classes_of_;
  // By depth: the real and the assumed state, while a subtree is corrected.
  std::array<std::pair<StateId, StateId>, vocab::kMaxTokenBytes + 1> pairs_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_TOKEN_CLASS_WALK_H_
