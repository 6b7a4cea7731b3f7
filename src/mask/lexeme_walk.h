#ifndef PARLANCE_SRC_MASK_LEXEME_WALK_H_
#define PARLANCE_SRC_MASK_LEXEME_WALK_H_

// Which tokens stay inside a string with a pattern, by their shapes.
//
// Where all bytes of a cell (token_shapes.h) lead to the same state of the
// pattern, one step decides them all, and where nothing can go wrong any more,
// or everything has, a whole stretch of tokens is decided:
//
//   ^[a-z]+-[0-9a-f]+$, in "x▮    a, aa, aaa ...   one step each
//                                 A ...            dead with all that follows
//                                 -a ...           the cell is split: a-f go
//                                                  on, g-z do not
//
// At a split cell the tokens are read byte by byte.  The same masks as by
// reading all of them so, only sooner.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "grammar/recogniser.h"
#include "json/string_body.h"
#include "mask/lexeme_mask.h"
#include "parlance/vocabulary.h"
#include "vocab/token_shapes.h"
#include "vocab/token_tables.h"

namespace parlance::mask {

// Its memory is used again and again.  Not thread-safe.
class LexemeWalk {
 public:
  LexemeWalk(const vocab::TokenTables& tables, const Vocabulary& vocabulary)
      : tables_(tables), vocabulary_(vocabulary) {}

  // Overwrites `words` with the tokens that stay in the lexeme `lex` and need
  // at most `room`, and out.leaving; where out.bounded also out.need and
  // out.longs.
  // REQUIRES: lexeme_by_state() of a place of `recogniser` with this `lex`, and
  // the caller holds its mutex.
  void run(grammar::Recogniser& recogniser, const vocab::TokenShapes& shapes,
           std::uint32_t lex, std::uint32_t room,
           std::span<std::uint32_t> words, LexemeMask& out);

 private:
  static constexpr std::uint32_t kMany = grammar::BodyView::kMany;
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
  static constexpr std::uint32_t kSplit = 0xFFFFFFFE;

  // A state of the lexeme, by its number in states_.  0: dead.
  struct State {
    std::uint32_t lex = 0;
    std::uint32_t least = kUnknown;
    std::uint32_t lasting = kUnknown;
    bool lasting_known = false;
    std::array<std::uint32_t, 256> row;
    std::array<std::uint32_t, vocab::TokenShapes::kCells> cells;
    std::array<std::uint32_t, vocab::TokenShapes::kCells> commonest;
  };
  // Where a walk stands, by depth.
  struct Place {
    std::uint32_t state = 0;
    std::uint32_t chars = 0;  // that are complete
    json::BodyState body = json::BodyState::kText;
    std::uint8_t cell = 0;
  };

  // A subtree of shapes that was read with the commonest of the states that the
  // bytes of its cell lead to: the others are still to be read.
  struct Parted {
    std::uint32_t node = 0;
    std::uint32_t target = 0;  // the commonest
  };

  std::uint32_t state_of(std::uint32_t lex);
  std::uint32_t step(std::uint32_t state, std::uint8_t byte) {
    const std::uint32_t known = states_[state].row[byte];
    return known != kUnknown ? known : learn(state, byte);
  }
  std::uint32_t learn(std::uint32_t state, std::uint8_t byte);
  std::uint32_t step_cell(std::uint32_t state, std::uint8_t cell);
  std::uint32_t least(std::uint32_t state);
  std::uint32_t lasting(std::uint32_t state);
  Place next(const Place& from, std::uint8_t byte);
  bool fits(const Place& at);

  void walk_shapes();
  std::uint32_t commonest(std::uint32_t state, std::uint8_t cell);
  void split(const Parted& parted);
  std::uint32_t only_node(std::size_t depth) const;
  void walk_bytes(std::uint32_t root, bool taken);
  void try_token(const Place& from, std::uint32_t i, std::size_t depth,
                 bool taken);
  void accept(std::uint32_t first, std::uint32_t last);
  void decide_node(const vocab::TrieNode& node, bool accepted);
  void write(std::span<std::uint32_t> words) const;
  void find_leaving(std::vector<std::uint32_t>& leaving);
  void walk_escapes(LexemeMask& out);
  void find_longs(std::span<const std::uint32_t> words, LexemeMask& out);

  const vocab::TokenTables tables_;
  const Vocabulary& vocabulary_;

  // While one mask is made.
  grammar::Recogniser* recogniser_ = nullptr;
  const vocab::TokenShapes* shapes_ = nullptr;
  std::uint32_t room_ = 0;
  bool bounded_ = false;
  std::uint32_t most_ = 0;  // characters needed behind an accepted token

  std::vector<State> states_;
  std::unordered_map<std::uint32_t, std::uint32_t> state_of_;
  std::vector<Place> path_ = std::vector<Place>(vocab::kMaxTokenBytes + 1);
  std::vector<std::uint32_t> nodes_ =
      std::vector<std::uint32_t>(vocab::kMaxTokenBytes + 1);

  // Accepted: stretches of shapes_->ids(); and what then becomes of others one
  // by one, in this order.
  struct Single {
    Id id = 0;
    bool accepted = false;
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stretches_;
  std::vector<Single> singles_;
  std::vector<Parted> parted_;  // around the shape that is being read
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_LEXEME_WALK_H_
