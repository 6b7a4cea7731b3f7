#ifndef PARLANCE_SRC_MASK_SHAPE_WALK_H_
#define PARLANCE_SRC_MASK_SHAPE_WALK_H_

// Which tokens a reader of any text can read, by their shapes.
//
// Three things make it cheap (byte_shapes.h has the cells):
//
//   cells    where all bytes of a cell lead to the same place one step decides
//            them all: a-z in the middle of a name
//   loops    a place where the reader stays whatever of a subtree it reads
//            takes the subtree: in a comment, all tokens without a line feed
//   parting  where a few bytes of a cell lead elsewhere (the "w" of "while"
//            among names) the subtree is read as if they did not, and then they
//            are read again, byte by byte, until both ways are at one place
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

#include "grammar/recogniser.h"
#include "parlance/vocabulary.h"
#include "vocab/byte_shapes.h"
#include "vocab/token_tables.h"

namespace parlance::mask {

// Its memory is used again and again.  Not thread-safe.
class ShapeWalk {
 public:
  ShapeWalk(const vocab::TokenTables& tables, const vocab::ByteShapes& shapes,
            const Vocabulary& vocabulary)
      : tables_(tables), shapes_(shapes), vocabulary_(vocabulary) {}

  // Overwrites `words` with the tokens that can be read from `at`.
  // REQUIRES: `at` is not dead; the caller holds recogniser.mutex.
  void run(grammar::Recogniser& recogniser, grammar::Config at,
           std::span<std::uint32_t> words);

 private:
  using StateId = std::uint32_t;  // 0: dead
  using Id = vocab::Id;
  static constexpr StateId kUnknown = 0xFFFFFFFF;
  static constexpr StateId kSplit = 0xFFFFFFFE;
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  struct State {
    grammar::Config config;
    std::array<StateId, 256> row;
    std::array<StateId, vocab::ByteShapes::kCells> cells;
    std::array<StateId, vocab::ByteShapes::kCells> commonest;
    // Cells after which it is still this state, and those after which not, as
    // far as known.  Of characters of several bytes: after each of them.
    vocab::CellSet loops = {};
    vocab::CellSet others = {};
  };
  // A subtree that was read as if all bytes of its cell led to `target`.
  struct Parted {
    std::uint32_t node = 0;
    StateId target = 0;
  };
  struct ConfigHash {
    std::size_t operator()(const grammar::Config& config) const;
  };

  StateId state_of(grammar::Config config);
  StateId step(StateId state, std::uint8_t byte) {
    const StateId known = states_[state].row[byte];
    return known != kUnknown ? known : learn(state, byte);
  }
  StateId learn(StateId state, std::uint8_t byte);
  StateId step_cell(StateId state, std::uint8_t cell);
  StateId commonest(StateId state, std::uint8_t cell);
  bool stays(StateId state, const vocab::CellSet& cells);
  bool stays_in_characters(StateId state);
  bool leads_back(StateId from, unsigned due, StateId to);

  void split(const Parted& parted);
  std::uint32_t only_node(std::size_t depth) const;
  void read_again(std::uint32_t root, StateId state, StateId taken);
  void accept(std::uint32_t first, std::uint32_t last);
  void correct(Id id, bool accepted) { singles_.push_back({id, accepted}); }
  void write(std::span<std::uint32_t> words) const;

  const vocab::TokenTables tables_;
  const vocab::ByteShapes& shapes_;
  const Vocabulary& vocabulary_;

  // While one mask is made.
  grammar::Recogniser* recogniser_ = nullptr;
  std::vector<State> states_;
  std::unordered_map<grammar::Config, StateId, ConfigHash> state_of_;

  // By depth: the state there and the cell that led there.
  struct Place {
    StateId state = 0;
    std::uint8_t cell = 0;
  };
  std::array<Place, vocab::kMaxTokenBytes + 1> path_;
  std::array<std::pair<StateId, StateId>, vocab::kMaxTokenBytes + 1> pairs_;

  // Accepted: stretches of shapes_.ids(); and what then becomes of others one
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

#endif  // PARLANCE_SRC_MASK_SHAPE_WALK_H_
