#ifndef PARLANCE_SRC_MASK_MASK_MEMO_H_
#define PARLANCE_SRC_MASK_MASK_MEMO_H_

// The masks of configurations, by their keys.
//
// A hash table in two halves.  When the young half is full it becomes the old
// half, and the previous old half is dropped; a key that is found in the old
// half moves to the young one.  So keys in use stay, the memory is bounded, and
// an entry takes 24 bytes and no allocation.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "mask/ablation.h"
#include "mask/mask_store.h"
#include "recogniser/configuration_hash.h"
#include "recogniser/recogniser.h"

namespace parlance::mask {

class MaskMemo {
 public:
  // Most keys of one half.
  static constexpr std::size_t kMaxKeys = 16384;

  // The handle is empty if there is no entry for `key`.
  MaskHandle find(const recogniser::Configuration& key) {
    if (is_off(Shortcut::kMemo)) return {};
    if (const Entry* entry = young_.find(key)) return entry->handle;
    if (const Entry* entry = old_.find(key)) {
      const MaskHandle handle = entry->handle;
      insert(key, handle);
      return handle;
    }
    return {};
  }
  // REQUIRES: `handle` is not empty.
  void insert(const recogniser::Configuration& key, MaskHandle handle);

  std::size_t memory_bytes() const {
    return (young_.entries.size() + old_.entries.size()) * sizeof(Entry);
  }

 private:
  struct Entry {
    recogniser::Configuration key;
    MaskHandle handle;  // empty: the entry is free
  };
  // Open addressing, at most half full.
  struct Half {
    std::vector<Entry> entries;
    std::size_t used = 0;

    const Entry* find(const recogniser::Configuration& key) const {
      if (used == 0) return nullptr;
      for (std::size_t i = hash(key);; ++i) {
        const Entry& entry = entries[i & (entries.size() - 1)];
        if (!entry.handle) return nullptr;
        if (entry.key == key) return &entry;
      }
    }
    void insert(const recogniser::Configuration& key, MaskHandle handle);
  };
  static std::size_t hash(const recogniser::Configuration& key) {
    return recogniser::ConfigurationHash()(key);
  }

  Half young_, old_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_MASK_MEMO_H_
