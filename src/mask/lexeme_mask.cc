// The cache of lexeme masks: see lexeme_mask.h.

#include "mask/lexeme_mask.h"

#include <algorithm>
#include <utility>

namespace parlance::mask {

std::size_t LexemeMask::bytes() const {
  return sizeof(LexemeMask) + (set.size() + cleared.size()) * sizeof(Id) +
         leaving.size() * sizeof(std::uint32_t) +
         longs.size() * sizeof(LongToken);
}

std::shared_ptr<const LexemeMask> LexemeMaskCache::find(
    std::uint64_t fingerprint) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(fingerprint);
  if (found == entries_.end()) return nullptr;
  found->second.used = ++clock_;
  return found->second.mask;
}

void LexemeMaskCache::add(std::uint64_t fingerprint,
                          std::shared_ptr<const LexemeMask> mask,
                          std::size_t base_bytes) {
  // A node of the map: the entry, its key, and two pointers.
  constexpr std::size_t kNode =
      sizeof(Entry) + sizeof(fingerprint) + 2 * sizeof(void*);
  const std::size_t own = mask->bytes() + kNode;
  const std::size_t total = own + base_bytes;
  const std::lock_guard lock(mutex_);
  if (total > budget_bytes_ || entries_.contains(fingerprint)) return;
  while (held_bytes_ + total > budget_bytes_) drop_oldest();
  held_bytes_ += total;
  bytes_->fetch_add(own, std::memory_order_relaxed);
  entries_.emplace(fingerprint, Entry{.mask = std::move(mask),
                                      .own_bytes = own,
                                      .total_bytes = total,
                                      .used = ++clock_});
}

void LexemeMaskCache::clear() {
  const std::lock_guard lock(mutex_);
  for (const auto& [fingerprint, entry] : entries_) {
    bytes_->fetch_sub(entry.own_bytes, std::memory_order_relaxed);
  }
  entries_.clear();
  held_bytes_ = 0;
}

// A linear search: making the mask that needs the room took far longer.
void LexemeMaskCache::drop_oldest() {
  const auto oldest = std::ranges::min_element(
      entries_, {}, [](const auto& entry) { return entry.second.used; });
  held_bytes_ -= oldest->second.total_bytes;
  bytes_->fetch_sub(oldest->second.own_bytes, std::memory_order_relaxed);
  entries_.erase(oldest);
}

}  // namespace parlance::mask
