#ifndef PARLANCE_SRC_CFG_RECOGNISER_EARLEY_SET_H_
#define PARLANCE_SRC_CFG_RECOGNISER_EARLEY_SET_H_

// Earley's state set, private to the sources of EarleyRecogniser.

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cfg_recogniser/earley.h"

namespace parlance::cfg_recogniser {

// A back pointer: the last step of the preferred derivation of an item.  Stored
// while recording.
struct EarleyRecogniser::Back {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::uint32_t column = kNone;  // the set of the item before it in its rule
  std::uint32_t item = kNone;
  std::uint32_t ended = kNone;  // the end item of the rule called in between
  bool entered = false;         // the item before it calls the item's rule
};

struct EarleyRecogniser::Kernel {
  std::vector<Item> items;
  std::vector<Back> backs;
};

struct EarleyRecogniser::StateSet {
  Kernel kernel;  // the items just read, before the closure
  std::vector<Item> items;
  // Indices of the items that call a rule, by that rule and its activation.
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> waiting;
  std::uint64_t chars = 0;   // characters begun so far
  std::uint64_t tokens = 0;  // tokens read so far
  std::uint32_t position = 0;
  // Items up to here, those included that were dropped, and copies of
  // activations.
  std::size_t made = 0;
  bool can_end = false;
  bool overflowed = false;  // here or before
  std::size_t steps = 0;    // of EarleyRecogniser::steps_ up to here

  // While recording: all items, including those that were dropped when their
  // activation had to end; their back pointers; and the index in `all` of each
  // of `items`.
  std::vector<Item> all = {};
  std::vector<Back> backs = {};
  std::vector<std::uint32_t> kept = {};  // empty: all of them

  // Where the captures of a derivation are found: by item of `all`, the first
  // item that adds some, of those that the back pointers lead to from here, the
  // item itself included.  Found when it is asked for.  Second: where the rule
  // of the item is still open, so that callers are followed as well.
  struct Next {
    std::uint32_t column = kUnknown;
    std::uint32_t item = 0;

    static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
    static constexpr std::uint32_t kNone = 0xFFFFFFFE;
    static constexpr std::uint32_t kSought = 0xFFFFFFFD;  // at the moment
  };
  mutable std::vector<std::array<Next, 2>> next = {};

  std::uint32_t number(std::uint32_t item) const {
    return kept.empty() ? item : kept[item];
  }
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_EARLEY_SET_H_
