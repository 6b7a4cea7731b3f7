#ifndef PARLANCE_SRC_CFG_RECOGNISER_TRANSITION_TABLE_H_
#define PARLANCE_SRC_CFG_RECOGNISER_TRANSITION_TABLE_H_

// Transitions by state, frame and byte.  They are stored one after the other,
// and hashed_ids.h finds them: a table of the transitions themselves would be
// four times as large, and new memory is what most of a transition costs.

#include <cstddef>
#include <cstdint>

#include "base/block_vector.h"
#include "base/hashed_ids.h"
#include "base/mix.h"
#include "recogniser/recogniser.h"

namespace parlance::cfg_recogniser {

class TransitionTable {
 public:
  struct Step {
    recogniser::Configuration to = {};
    std::uint32_t read_set = 0;  // the contexts that the transition depends on
  };

  // Null if there is no such transition.  Valid as long as the table.
  const Step* find(recogniser::Configuration from, std::uint8_t byte) const {
    const auto known = ids_.find(hash(from, byte), [&](std::uint32_t id) {
      const Entry& entry = entries_[id];
      return entry.lex == from.lex && entry.frame == from.frame &&
             entry.byte == byte;
    });
    return known ? &entries_[*known].step : nullptr;
  }

  // REQUIRES: find() returns null.
  void insert(recogniser::Configuration from, std::uint8_t byte, Step step) {
    ids_.add(hash(from, byte), static_cast<std::uint32_t>(entries_.size()));
    entries_.push_back({from.lex, from.frame, byte, step});
  }

  std::size_t memory_bytes() const {
    return entries_.size() * sizeof(Entry) + ids_.memory_bytes();
  }

 private:
  struct Entry {
    std::uint32_t lex = 0;
    std::uint32_t frame = 0;
    std::uint32_t byte = 0;
    Step step = {};
  };

  static std::uint64_t hash(recogniser::Configuration from, std::uint8_t byte) {
    std::uint64_t h = std::uint64_t{from.lex} << 32 | from.frame;
    base::mix(h, byte);
    return h;
  }

  base::BlockVector<Entry> entries_;
  base::HashedIds<std::uint32_t> ids_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_TRANSITION_TABLE_H_
