// The cache of lexeme masks: see lexeme_mask.h.

#include "mask/lexeme_mask.h"

#include <utility>

#include "base/unwinding.h"
#include "mask/ablation.h"

namespace parlance::mask {

std::size_t LexemeMask::bytes() const {
  return sizeof(LexemeMask) + list_bytes() +
         leaving.size() * sizeof(std::uint32_t) +
         longs.size() * sizeof(LongToken);
}

std::shared_ptr<const LexemeMask> LexemeMaskCache::find(
    const base::Fingerprint& fingerprint) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(fingerprint);
  if (found == entries_.end() || is_off(Shortcut::kLexemeCache)) return nullptr;
  uses_.splice(uses_.begin(), uses_, found->second);
  return found->second->second.mask;
}

void LexemeMaskCache::add(const base::Fingerprint& fingerprint,
                          std::shared_ptr<const LexemeMask> mask) {
  // A node of the list and one of the map: the entry, two keys, five pointers.
  constexpr std::size_t kNode =
      sizeof(Entry) + 2 * sizeof(fingerprint) + 5 * sizeof(void*);
  const std::size_t own = mask->bytes() + kNode;
  const std::size_t total = own + mask->base_bytes;
  const std::lock_guard lock(mutex_);
  if (total > budget_bytes_ || entries_.contains(fingerprint)) return;
  while (held_bytes_ + total > budget_bytes_) drop_oldest();
  uses_.emplace_front(
      fingerprint,
      Entry{.mask = std::move(mask), .own_bytes = own, .total_bytes = total});
  const base::OnUnwinding undo([&] { uses_.pop_front(); });
  entries_.emplace(fingerprint, uses_.begin());
  held_bytes_ += total;
  bytes_->fetch_add(own, std::memory_order_relaxed);
}

void LexemeMaskCache::clear() {
  const std::lock_guard lock(mutex_);
  for (const auto& [fingerprint, entry] : uses_) {
    bytes_->fetch_sub(entry.own_bytes, std::memory_order_relaxed);
  }
  entries_.clear();
  uses_.clear();
  held_bytes_ = 0;
}

void LexemeMaskCache::drop_oldest() {
  const auto& [fingerprint, oldest] = uses_.back();
  held_bytes_ -= oldest.total_bytes;
  bytes_->fetch_sub(oldest.own_bytes, std::memory_order_relaxed);
  entries_.erase(fingerprint);
  uses_.pop_back();
}

}  // namespace parlance::mask
