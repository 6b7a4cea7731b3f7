#ifndef PARLANCE_SRC_CFG_RECOGNISER_TRANSITION_TABLE_H_
#define PARLANCE_SRC_CFG_RECOGNISER_TRANSITION_TABLE_H_

// Transitions by state, frame and byte, in one flat hash table with linear
// probing, so that a look-up costs one cache miss.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/mix.h"
#include "recogniser/recogniser.h"

namespace parlance::cfg_recogniser {

class TransitionTable {
 public:
  struct Step {
    recogniser::Configuration to = {};
    std::uint32_t read_set = 0;  // the contexts that the transition depends on
  };

  // Null if there is no such transition.  Valid until the next insert().
  // REQUIRES: from.lex != 0.
  const Step* find(recogniser::Configuration from, std::uint8_t byte) const {
    if (entries_.empty()) return nullptr;
    for (std::size_t at = hash(from, byte);; ++at) {
      const Entry& entry = entries_[at & (entries_.size() - 1)];
      if (entry.lex == 0) return nullptr;
      if (entry.is(from, byte)) return &entry.step;
    }
  }

  // REQUIRES: find() returns null.
  void insert(recogniser::Configuration from, std::uint8_t byte, Step step) {
    if (used_ * 3 >= entries_.size() * 2) grow();
    put({from.lex, from.frame, byte, step});
    ++used_;
  }

  std::size_t memory_bytes() const { return entries_.size() * sizeof(Entry); }

 private:
  struct Entry {
    std::uint32_t lex = 0;  // 0: free
    std::uint32_t frame = 0;
    std::uint32_t byte = 0;
    Step step = {};

    bool is(recogniser::Configuration from, std::uint8_t b) const {
      return lex == from.lex && frame == from.frame && byte == b;
    }
  };

  static std::size_t hash(recogniser::Configuration from, std::uint8_t byte) {
    std::uint64_t h = std::uint64_t{from.lex} << 32 | from.frame;
    base::mix(h, byte);
    return static_cast<std::size_t>(h);
  }
  void put(const Entry& entry) {
    recogniser::Configuration from;
    from.lex = entry.lex;
    from.frame = entry.frame;
    std::size_t at = hash(from, static_cast<std::uint8_t>(entry.byte));
    while (entries_[at & (entries_.size() - 1)].lex != 0) ++at;
    entries_[at & (entries_.size() - 1)] = entry;
  }
  void grow() {
    std::vector<Entry> old(entries_.empty() ? 64 : entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.lex != 0) put(entry);
    }
  }

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_TRANSITION_TABLE_H_
