// A hash table of masks with clock eviction: see mask_store.h.
//
// The mutex guards the table: buckets, lists, the free slots and the contents
// of a slot.  pin() and unpin() hold no mutex and access only the pointers to
// the blocks, a slot's word and its `used` flag.  A reader that has pinned a
// slot may read its view, because the slot is filled before its generation is
// returned in a handle, and emptied only after its generation was replaced.

#include "mask/mask_store.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace parlance::mask {

struct MaskStore::Slot {
  // generation << 32 | users.  An empty slot has the generation of its next
  // mask, which is in no handle yet.
  std::atomic<std::uint64_t> word{std::uint64_t{1} << 32};
  std::atomic<bool> used{false};  // since the hand last passed
  bool filled = false;            // guarded by the mutex, as all members below
  bool dense = false;
  std::uint32_t next = kNone;  // in the list of its bucket
  std::uint64_t hash = 0;
  std::size_t bytes = 0;  // of `ids`, as counted in the store's bytes_
  Base base;
  std::unique_ptr<Id[]> ids;
  MaskView view;  // of base and ids

  std::uint32_t generation() const {
    return static_cast<std::uint32_t>(word.load(std::memory_order_relaxed) >>
                                      32);
  }
};

// The bytes of a block of slots, and of the entries that its slots can have in
// free_.
const std::size_t MaskStore::kBlockBytes =
    kBlock * (sizeof(Slot) + sizeof(std::uint32_t));

namespace {

constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * kOdd;
  return hash ^ hash >> 29;
}

// Computes four independent sums and combines them at the end: in a single sum,
// each multiplication would wait for the one before it.
std::uint64_t mix(std::uint64_t hash, std::span<const std::uint32_t> values) {
  std::uint64_t sums[4] = {hash, 1, 2, 3};
  std::size_t i = 0;
  for (; i + 8 <= values.size(); i += 8) {
    for (std::size_t lane = 0; lane < 4; ++lane) {
      const std::uint64_t low = values[i + 2 * lane];
      const std::uint64_t high = values[i + 2 * lane + 1];
      sums[lane] = mix(sums[lane], high << 32 | low);
    }
  }
  for (; i < values.size(); ++i) sums[0] = mix(sums[0], values[i]);
  for (std::size_t lane = 1; lane < 4; ++lane) {
    sums[0] = mix(sums[0], sums[lane]);
  }
  return sums[0];
}

}  // namespace

MaskStore::MaskStore(std::size_t word_count, std::size_t budget_bytes,
                     std::shared_ptr<std::atomic<std::size_t>> bytes)
    : word_count_(word_count),
      budget_bytes_(budget_bytes),
      bytes_(std::move(bytes)),
      blocks_(std::make_unique<std::atomic<Slot*>[]>(kMaxBlocks)) {}

MaskStore::~MaskStore() {
  clear();
  for (std::size_t i = 0; i < kMaxBlocks; ++i) {
    delete[] blocks_[i].load(std::memory_order_relaxed);
  }
}

MaskStore::Slot& MaskStore::slot(std::uint32_t i) const {
  return blocks_[i / kBlock].load(std::memory_order_acquire)[i % kBlock];
}

std::uint64_t MaskStore::hash(const MaskView& mask, bool dense,
                              std::size_t word_count) {
  if (dense) return mix(0, {mask.base->words, word_count});
  const std::uint64_t base = std::bit_cast<std::uintptr_t>(mask.base->words);
  return mix(mix(mix(base, mask.set.size()), mask.set), mask.cleared);
}

bool MaskStore::same(const Slot& slot, const MaskView& mask, bool dense) const {
  if (slot.dense != dense) return false;
  if (dense) {
    return std::memcmp(slot.base.words, mask.base->words,
                       word_count_ * sizeof(std::uint32_t)) == 0;
  }
  return slot.base.words == mask.base->words &&
         std::ranges::equal(slot.view.set, mask.set) &&
         std::ranges::equal(slot.view.cleared, mask.cleared);
}

// Step 1 looks for an equal mask.  Step 2 makes room in the budget, and then
// allocates all that is needed.  Step 3 copies the mask into an empty slot.
// Step 4 publishes the slot: it becomes reachable from its bucket, and its
// generation is returned.
MaskHandle MaskStore::intern(const MaskView& mask) {
  const bool dense = mask.own_words;
  const std::uint64_t key = hash(mask, dense, word_count_);
  const std::size_t ids = mask.set.size() + mask.cleared.size();
  const std::size_t bytes = ids * sizeof(Id);

  const std::lock_guard lock(mutex_);
  // 1. An equal mask.
  if (!buckets_.empty()) {
    for (std::uint32_t i = buckets_[key & (buckets_.size() - 1)]; i != kNone;
         i = slot(i).next) {
      Slot& found = slot(i);
      if (found.hash == key && same(found, mask, dense)) {
        found.used.store(true, std::memory_order_relaxed);
        return {.slot = i, .generation = found.generation()};
      }
    }
  }
  // 2. Room for the mask, for a block of slots and for more buckets.  A sparse
  // mask shares its base, so only its ids count.
  std::size_t needed = bytes + (dense ? MaskWords::bytes(word_count_) : 0);
  if (free_.empty() && slot_count_ % kBlock == 0) needed += kBlockBytes;
  if (entries_ >= buckets_.size()) needed += bucket_growth_bytes();
  if (!room_for(needed)) return {};
  if (entries_ >= buckets_.size()) grow_buckets();
  // A dense mask gets words of its own, because its base is the builder's.
  Base base = *mask.base;
  if (dense) {
    auto words = std::make_shared<MaskWords>(word_count_, bytes_);
    std::memcpy(words->data(), mask.base->words,
                word_count_ * sizeof(std::uint32_t));
    base = {.words = words->data(), .owner = words};
  }
  std::unique_ptr<Id[]> lists;
  if (ids != 0) lists = std::make_unique<Id[]>(ids);
  const std::uint32_t i = new_slot();
  if (i == kNone) return {};

  // 3. No handle has this generation of the slot, so no reader sees it change.
  Slot& made = slot(i);
  made.base = std::move(base);
  made.ids = std::move(lists);
  std::ranges::copy(mask.set, made.ids.get());
  std::ranges::copy(mask.cleared, made.ids.get() + mask.set.size());
  made.view = {
      .base = &made.base,
      .set = {made.ids.get(), mask.set.size()},
      .cleared = {made.ids.get() + mask.set.size(), mask.cleared.size()}};
  made.dense = dense;
  made.hash = key;
  made.bytes = bytes;
  made.filled = true;
  // 4. The flag starts as false: a mask that is never used again is evicted
  // when the hand first reaches it.
  made.used.store(false, std::memory_order_relaxed);
  bytes_->fetch_add(bytes, std::memory_order_relaxed);
  link(i);
  ++entries_;
  return {.slot = i, .generation = made.generation()};
}

// The user is added before the generation is compared, so that the mask cannot
// be evicted in between.  If the slot has another generation by now, the extra
// user is removed; meanwhile it can only make an eviction fail.
const MaskView* MaskStore::pin(MaskHandle handle) {
  if (!handle) return nullptr;
  Slot& s = slot(handle.slot);
  const std::uint64_t before = s.word.fetch_add(1, std::memory_order_acquire);
  if (before >> 32 != handle.generation) {
    unpin(handle);
    return nullptr;
  }
  if (!s.used.load(std::memory_order_relaxed)) {
    s.used.store(true, std::memory_order_relaxed);
  }
  return &s.view;
}

void MaskStore::unpin(MaskHandle handle) {
  slot(handle.slot).word.fetch_sub(1, std::memory_order_release);
}

// Empties slot `i` unless it is pinned.  REQUIRES: the slot is filled, and the
// caller holds the mutex.
bool MaskStore::drop(std::uint32_t i) {
  Slot& s = slot(i);
  std::uint64_t word = s.word.load(std::memory_order_relaxed);
  const std::uint64_t generation = word >> 32;
  // From here on no handle can pin the slot, unless a user comes first.  A slot
  // whose generations are used up is never filled again (see free_ below).
  const std::uint64_t next = generation + 1;
  word = generation << 32;
  if (!s.word.compare_exchange_strong(word, next << 32,
                                      std::memory_order_acq_rel)) {
    return false;
  }
  unlink(i);
  bytes_->fetch_sub(s.bytes, std::memory_order_relaxed);
  s.filled = false;
  s.view = {};
  s.ids = nullptr;
  s.base = {};
  if (next < kNone) free_.push_back(i);
  --entries_;
  return true;
}

// Evicts masks until the budget allows `bytes` more.  Returns false if that is
// not possible.  REQUIRES: the caller holds the mutex.
bool MaskStore::room_for(std::size_t bytes) {
  if (bytes > budget_bytes_) return false;
  const auto fits = [&] {
    return bytes_->load(std::memory_order_relaxed) + bytes <= budget_bytes_;
  };
  // Two rounds at most: the first round may do no more than reset the `used`
  // flags, and the second then evicts every mask that is not pinned.
  for (std::size_t left = std::size_t{2} * slot_count_; !fits(); --left) {
    if (left == 0 || entries_ == 0) return false;
    hand_ = hand_ + 1 < slot_count_ ? hand_ + 1 : 0;
    Slot& s = slot(hand_);
    if (!s.filled || s.used.exchange(false, std::memory_order_relaxed)) {
      continue;
    }
    if (drop(hand_)) ++evictions_;
  }
  return true;
}

void MaskStore::make_room(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  room_for(bytes);
}

void MaskStore::clear() {
  const std::lock_guard lock(mutex_);
  for (std::uint32_t i = 0; i < slot_count_; ++i) {
    if (slot(i).filled) drop(i);
  }
}

std::size_t MaskStore::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

std::uint64_t MaskStore::evictions() const {
  const std::lock_guard lock(mutex_);
  return evictions_;
}

std::uint32_t MaskStore::new_slot() {
  if (!free_.empty()) {
    const std::uint32_t i = free_.back();
    free_.pop_back();
    return i;
  }
  if (slot_count_ == kBlock * kMaxBlocks) return kNone;
  if (slot_count_ % kBlock == 0) {
    free_.reserve(slot_count_ + kBlock);
    blocks_[slot_count_ / kBlock].store(new Slot[kBlock],
                                        std::memory_order_release);
    bytes_->fetch_add(kBlockBytes, std::memory_order_relaxed);
  }
  return slot_count_++;
}

void MaskStore::link(std::uint32_t i) {
  Slot& s = slot(i);
  std::uint32_t& first = buckets_[s.hash & (buckets_.size() - 1)];
  s.next = first;
  first = i;
}

void MaskStore::unlink(std::uint32_t i) {
  std::uint32_t* at = &buckets_[slot(i).hash & (buckets_.size() - 1)];
  while (*at != i) at = &slot(*at).next;
  *at = slot(i).next;
}

std::size_t MaskStore::bucket_growth_bytes() const {
  return std::max<std::size_t>(64, buckets_.size()) * sizeof(std::uint32_t);
}

void MaskStore::grow_buckets() {
  const std::size_t more = bucket_growth_bytes();
  buckets_.assign(buckets_.size() + more / sizeof(std::uint32_t), kNone);
  bytes_->fetch_add(more, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < slot_count_; ++i) {
    if (slot(i).filled) link(i);
  }
}

}  // namespace parlance::mask
