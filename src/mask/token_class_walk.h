#ifndef PARLANCE_SRC_MASK_TOKEN_CLASS_WALK_H_
#define PARLANCE_SRC_MASK_TOKEN_CLASS_WALK_H_

// Which tokens a reader of any text can read, by their shapes.
//
// Beside cells and parting (class_walk.h) one thing makes it cheap:
//
//   loops    a place where the reader stays whatever of a subtree it reads
//            takes the subtree: in a comment, all tokens without a line feed
//
// Ways that part are read together, until they are at one place again:
//
//   a statement of C, at a-z    commonest: in a name         i d w ...
//      "if"   read again: i → in "if"  f → behind "if"       ≠ in a name
//      "in"   read again: i → in "if"  n → in a name         = all below is
//      done
//
// The same masks as by reading all tokens byte by byte, only sooner.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mask/class_walk.h"
#include "parlance/vocabulary.h"
#include "recogniser/configuration_hash.h"
#include "recogniser/recogniser.h"
#include "vocab/token_class_trie.h"
#include "vocab/token_tables.h"

namespace parlance::mask {

// Its memory is used again and again.  Not thread-safe.
class TokenClassWalk : ClassWalk<TokenClassWalk, vocab::TokenClassTrie> {
 public:
  TokenClassWalk(const vocab::TokenTables& tables,
                 const vocab::TokenClassTrie& class_trie,
                 const Vocabulary& vocabulary)
      : ClassWalk(tables),
        token_classes_(class_trie),
        vocabulary_(vocabulary) {}

  // Overwrites `words` with the tokens that can be read from `at`.
  // REQUIRES: `at` is not dead; the caller holds recogniser.mutex.
  void run(recogniser::Recogniser& recogniser, recogniser::Configuration at,
           std::span<std::uint32_t> words);

 private:
  friend ClassWalk;

  struct State {
    recogniser::Configuration config;
    // Cells after which it is still this state, and those after which not, as
    // far as known.  Of characters of several bytes: after each of them.
    vocab::ByteClassSet loops = {};
    vocab::ByteClassSet others = {};
  };

  StateId state_of(recogniser::Configuration config);
  StateId learn(StateId state, std::uint8_t byte);
  SubtreeVerdict judge(const vocab::TokenClassNode& node, StateId state);
  bool stays(StateId state, const vocab::ByteClassSet& classes);
  bool stays_in_characters(StateId state);
  bool leads_back(StateId from, unsigned due, StateId to);
  void correct_subtree(std::uint32_t root, StateId state, StateId assumed);
  void correct_token(std::uint32_t i, std::size_t depth, StateId from,
                     StateId assumed);

  const vocab::TokenClassTrie& token_classes_;
  const Vocabulary& vocabulary_;

  // While one mask is made.
  recogniser::Recogniser* recogniser_ = nullptr;
  std::vector<State> states_;
  std::unordered_map<recogniser::Configuration, StateId,
                     recogniser::ConfigurationHash>
      state_of_;
  // By depth: the states of two ways that parted.
  std::array<std::pair<StateId, StateId>, vocab::kMaxTokenBytes + 1> pairs_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_TOKEN_CLASS_WALK_H_
