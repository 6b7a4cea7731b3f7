#ifndef PARLANCE_SRC_CFG_RECOGNISER_CONFIGURATION_TABLE_H_
#define PARLANCE_SRC_CFG_RECOGNISER_CONFIGURATION_TABLE_H_

// Configurations by state and frame.  They are stored one after the other, and
// hashed_ids.h finds them: a table of the configurations themselves would be
// four times as large, and new memory is what an insertion costs.

#include <cstddef>
#include <cstdint>

#include "base/block_vector.h"
#include "base/hashed_ids.h"
#include "base/mix.h"
#include "recogniser/recogniser.h"

namespace parlance::cfg_recogniser {

class ConfigurationTable {
 public:
  // Null if there is none.  Valid as long as the table.
  const recogniser::Configuration* find(std::uint32_t lex,
                                        std::uint32_t frame) const {
    const auto known = ids_.find(hash(lex, frame), [&](std::uint32_t id) {
      return entries_[id].lex == lex && entries_[id].frame == frame;
    });
    return known ? &entries_[*known].to : nullptr;
  }

  // REQUIRES: find() returns null.
  void insert(std::uint32_t lex, std::uint32_t frame,
              recogniser::Configuration to) {
    ids_.add(hash(lex, frame), static_cast<std::uint32_t>(entries_.size()));
    entries_.push_back({lex, frame, to});
  }

  std::size_t memory_bytes() const {
    return entries_.size() * sizeof(Entry) + ids_.memory_bytes();
  }

 private:
  struct Entry {
    std::uint32_t lex = 0;
    std::uint32_t frame = 0;
    recogniser::Configuration to = {};
  };

  static std::uint64_t hash(std::uint32_t lex, std::uint32_t frame) {
    std::uint64_t hash = lex;
    base::mix(hash, frame);
    return hash;
  }

  base::BlockVector<Entry> entries_;
  base::HashedIds<std::uint32_t> ids_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_CONFIGURATION_TABLE_H_
