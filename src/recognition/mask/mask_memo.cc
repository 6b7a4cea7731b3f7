// A hash table in two halves: see mask_memo.h.

#include "mask/mask_memo.h"

namespace parlance::mask {

void MaskMemo::insert(const recogniser::Configuration& key, MaskHandle handle) {
  if (young_.used >= kMaxKeys) {
    old_ = std::move(young_);
    young_ = {};
  }
  if (young_.used * 2 >= young_.entries.size()) {
    Half larger;
    larger.entries.resize(young_.entries.empty() ? 32
                                                 : young_.entries.size() * 2);
    for (const Entry& entry : young_.entries) {
      if (entry.handle) larger.insert(entry.key, entry.handle);
    }
    young_ = std::move(larger);
  }
  young_.insert(key, handle);
}

void MaskMemo::Half::insert(const recogniser::Configuration& key,
                            MaskHandle handle) {
  for (std::size_t i = hash(key);; ++i) {
    Entry& entry = entries[i & (entries.size() - 1)];
    if (entry.handle && entry.key != key) continue;
    used += !entry.handle;
    entry = {.key = key, .handle = handle};
    return;
  }
}

}  // namespace parlance::mask
