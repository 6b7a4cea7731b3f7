#ifndef PARLANCE_SRC_CFG_RECOGNISER_TRANSITION_TABLE_H_
#define PARLANCE_SRC_CFG_RECOGNISER_TRANSITION_TABLE_H_

// Transitions by two numbers, of which a frame is one.  They are stored one
// after the other,
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
  const Step* find(std::uint32_t from, std::uint32_t frame) const {
    const auto known = ids_.find(hash(from, frame), [&](std::uint32_t id) {
      return entries_[id].from == from && entries_[id].frame == frame;
    });
    return known ? &entries_[*known].step : nullptr;
  }

  // REQUIRES: find() returns null.
  void insert(std::uint32_t from, std::uint32_t frame, Step step) {
    ids_.add(hash(from, frame), static_cast<std::uint32_t>(entries_.size()));
    entries_.push_back({from, frame, step});
  }

  std::size_t memory_bytes() const {
    return entries_.size() * sizeof(Entry) + ids_.memory_bytes();
  }

 private:
  struct Entry {
    std::uint32_t from = 0;
    std::uint32_t frame = 0;
    Step step = {};
  };

  static std::uint64_t hash(std::uint32_t from, std::uint32_t frame) {
    std::uint64_t hash = from;
    base::mix(hash, frame);
    return hash;
  }

  base::BlockVector<Entry> entries_;
  base::HashedIds<std::uint32_t> ids_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_TRANSITION_TABLE_H_
