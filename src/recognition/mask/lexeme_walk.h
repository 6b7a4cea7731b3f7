#ifndef PARLANCE_SRC_MASK_LEXEME_WALK_H_
#define PARLANCE_SRC_MASK_LEXEME_WALK_H_

// Which tokens stay inside a string with a pattern, by token classes.
//
// Beside byte classes and deferred splits (class_walk.h), whole subtrees are
// decided where no token below can leave the pattern, or none can return to it:
//
//   ^[a-z]+-[0-9a-f]+$, in "x▮    a, aa, aaa ...   one step each
//                                 A ...            dead, with all that follow
//                                 -a ...           the class splits: a-f
//                                                  continue, g-z do not
//
// A lexeme that forbids texts such as `c.*d` is left by few bytes, one after
// another.  Then no class is walked: only the tokens that contain all the bytes
// of some way out are read (token_bytes.h).
//
// The mask is the same as by reading all tokens byte by byte.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "json/string_body.h"
#include "mask/class_walk.h"
#include "mask/lexeme_mask.h"
#include "mask/token_bytes.h"
#include "parlance/vocabulary.h"
#include "recogniser/hint.h"
#include "vocab/string_class_trie.h"
#include "vocab/token_tables.h"

namespace parlance::mask {

// Reuses its memory.  Not thread-safe.
class LexemeWalk
    : ClassWalk<LexemeWalk, vocab::StringClassTrie, std::uint32_t> {
 public:
  LexemeWalk(const vocab::TokenTables& tables, const Vocabulary& vocabulary,
             const TokenBytes& token_bytes)
      : ClassWalk(tables), vocabulary_(vocabulary), token_bytes_(token_bytes) {}

  // Overwrites `words` with the tokens that stay in the lexeme `lex` and need
  // at most `room` characters, and fills out.leaving.  If out.bounded, also
  // fills out.need and out.longs.  REQUIRES: `lex` is a LexemeHint::state, and
  // the caller holds the lock of its recogniser.
  void run(recogniser::LexemeStates& lexemes,
           const vocab::StringClassTrie& class_trie, std::uint32_t lex,
           std::uint32_t room, std::span<std::uint32_t> words, LexemeMask& out);

  // Clears the tokens of `words` that end inside a character and with which no
  // text stays in the lexeme `lex`.  Other tokens need not be read, nor, if the
  // lexeme is `open` (LexemeMask::open_beyond_ascii), those whose character is
  // the only unusual one.
  void clear_partial(recogniser::LexemeStates& lexemes,
                     const vocab::StringClassTrie& class_trie,
                     std::uint32_t lex, bool open,
                     std::span<std::uint32_t> words);

 private:
  friend ClassWalk;

  // A state of the lexeme, and what is known of it.
  struct State {
    std::uint32_t lex = 0;
    std::uint32_t least = kUnknown;  // not asked yet
    bool facts_known = false;
    recogniser::LexemeStates::Facts facts = {};
  };
  // The state of the walk at one depth of its path.
  struct PathState {
    StateId state = 0;
    std::uint32_t chars = 0;  // complete characters of the token
    json::BodyState body = json::BodyState::kText;
  };

  // A state that all plain characters lead back to, but for the few bytes of
  // `edges`.
  struct Exits {
    StateId state = 0;
    std::vector<std::pair<std::uint8_t, StateId>> edges = {};
  };

  static constexpr std::uint8_t kMostExits = 8;

  StateId state_of(std::uint32_t lex);
  void forget_states();
  StateId learn(StateId state, std::uint8_t byte);
  std::uint32_t least(StateId state);
  const recogniser::LexemeStates::Facts& facts(StateId state);
  PathState next(const PathState& from, std::uint8_t byte);
  bool fits(const PathState& at);

  SubtreeVerdict judge(const vocab::StringClassNode& node, StateId state);
  bool all_plain(const vocab::StringClassNode& node) const;
  void enter_split(std::size_t depth);
  void correct_subtree(std::uint32_t root, StateId state, StateId assumed);
  std::size_t accepted_length(std::size_t depth, StateId from,
                              std::span<const std::uint8_t> bytes);
  void correct_token(std::uint32_t i, std::size_t depth, StateId from,
                     StateId assumed);
  void walk_unusual();
  void read_unusual(const TokenBytes::Bits* doomed = nullptr);
  bool find_exits(StateId first);
  std::size_t place_of(StateId state) const;
  void find_doomed();
  void read_by_exits();
  bool walk_by_bytes(LexemeMask& out);
  void find_leaving(std::vector<std::uint32_t>& leaving);
  void walk_escapes(LexemeMask& out);
  void find_longs(std::span<const std::uint32_t> words, LexemeMask& out);

  const Vocabulary& vocabulary_;
  const TokenBytes& token_bytes_;

  // The arguments of run().
  recogniser::LexemeStates* lexemes_ = nullptr;
  std::uint32_t room_ = 0;
  bool bounded_ = false;
  // A bound, if bounded_: no accepted token of at most kLong characters needs
  // more characters after its own.  The longer ones are in out.longs, each with
  // what it needs, so out.need is kLong + most_ whatever the bound is.  A
  // subtree is accepted without a look at its tokens only where the facts of a
  // state bound what they need: Facts::lasting, or nothing, within
  // Facts::without_end characters.
  std::uint32_t most_ = 0;

  std::vector<State> states_;
  // The states by `lex`: open addressing, at most half full, a power of two.
  std::vector<StateId> state_of_;  // 0: free
  // For walk_by_bytes().  exits_: the states, in the order in which they were
  // met.  doomed_[i]: at least the tokens that exits_[i] cannot read.  Then the
  // tokens that no state can read, and those that have to be read byte by byte.
  std::vector<Exits> exits_;
  std::array<TokenBytes::Bits, kMostExits> doomed_;
  TokenBytes::Bits sure_;
  std::vector<std::uint32_t> reads_;
  std::vector<PathState> path_states_ =
      std::vector<PathState>(vocab::kMaxTokenBytes + 1);
  std::vector<std::uint32_t> nodes_ =
      std::vector<std::uint32_t>(vocab::kMaxTokenBytes + 1);
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_LEXEME_WALK_H_
