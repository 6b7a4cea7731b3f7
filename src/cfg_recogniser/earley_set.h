#ifndef PARLANCE_SRC_CFG_RECOGNISER_EARLEY_SET_H_
#define PARLANCE_SRC_CFG_RECOGNISER_EARLEY_SET_H_

// What the slow recogniser knows of one place in a text, for its own sources.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cfg_recogniser/earley.h"

namespace parlance::cfg_recogniser {

// The best way in which an item came to be; kept while recording.
struct EarleyRecogniser::Back {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::uint32_t column = kNone;  // of the item before it in its rule
  std::uint32_t item = kNone;
  std::uint32_t ended = kNone;  // in between a rule was read: its end, here
  bool entered = false;         // the item before it calls this one's rule
};

struct EarleyRecogniser::Kernel {
  std::vector<Item> items;
  std::vector<Back> backs;
};

struct EarleyRecogniser::StateSet {
  Kernel kernel;  // as they were read, before anything followed
  std::vector<Item> items;
  // Indices of items by the rule, and its activation, that they wait for.
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> waiting;
  std::uint64_t chars = 0;   // characters begun so far
  std::uint64_t tokens = 0;  // tokens read so far
  std::uint32_t position = 0;
  std::size_t before = 0;  // items of earlier places
  bool can_end = false;

  // While recording: all items, those too that went when their activation had
  // to end; how they came to be; and which of them `items` are.
  std::vector<Item> all = {};
  std::vector<Back> backs = {};
  std::vector<std::uint32_t> kept = {};  // empty: all of them

  std::uint32_t number(std::uint32_t item) const {
    return kept.empty() ? item : kept[item];
  }
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_EARLEY_SET_H_
