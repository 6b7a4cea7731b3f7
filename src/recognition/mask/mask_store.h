#ifndef PARLANCE_SRC_MASK_MASK_STORE_H_
#define PARLANCE_SRC_MASK_MASK_STORE_H_

// The masks that the constraints of one vocabulary share.
//
// Thousands of schemas need few distinct masks: the tokens that may follow a
// string in an object, for example, are the same in nearly every schema.  The
// store holds each distinct mask once, found by its content (hash-consing), and
// all masks within a budget of bytes:
//
//   MaskHandle h = store.intern(builder.view());
//   ...
//   if (const MaskView* mask = store.pin(h)) {   // null: it was evicted
//     mask->write(row);
//     store.unpin(h);
//   }
//
// A handle is a number and does not keep its mask alive.  If the mask was
// evicted, the owner of the handle rebuilds it.  So the masks stay within the
// budget for any number of constraints.  A pinned mask is never evicted.
//
// pin() takes no lock.  Each slot has one atomic word, which holds the slot's
// generation and the number of its users.  pin() adds a user and then compares
// the generation with the handle's.  An eviction replaces a word without users
// by the next generation in one compare-and-swap, which fails if a user was
// added in the meantime.
//
// Eviction is the clock algorithm ("second chance"): a hand circles over the
// slots and evicts each mask that was not used since the hand last passed it.
// This approximates eviction of the least recently used mask, and a hit costs
// at most one store instead of a lock.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "mask/mask_builder.h"

namespace parlance::mask {

struct MaskHandle {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  // 0: none

  explicit operator bool() const { return generation != 0; }
  bool operator==(const MaskHandle&) const = default;
};

// Safe to use from many threads.
class MaskStore {
 public:
  // `bytes` counts the memory of all masks of one vocabulary, in the store and
  // outside of it: MaskWords, for example, count themselves.
  MaskStore(std::size_t word_count, std::size_t budget_bytes,
            std::shared_ptr<std::atomic<std::size_t>> bytes);
  ~MaskStore();
  MaskStore(const MaskStore&) = delete;
  MaskStore& operator=(const MaskStore&) = delete;

  // The handle of the mask with this content, which is added if it is new.
  // An empty handle if the budget has no room for it.
  MaskHandle intern(const MaskView& mask);

  // The mask, or null if it was evicted.  Each successful call needs one
  // unpin().
  const MaskView* pin(MaskHandle handle);
  void unpin(MaskHandle handle);

  // Evicts masks until the budget allows the caller to count `bytes` more, or
  // until none can be evicted.
  void make_room(std::size_t bytes);
  // Evicts every mask that is not pinned.
  void clear();

  std::size_t budget_bytes() const { return budget_bytes_; }
  std::size_t entries() const;
  std::uint64_t evictions() const;

 private:
  struct Slot;
  // Slots are allocated in blocks that never move, so that pin() can read them
  // without a lock.
  static constexpr std::size_t kBlock = 256;
  static constexpr std::size_t kMaxBlocks = 4096;
  static const std::size_t kBlockBytes;
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  Slot& slot(std::uint32_t i) const;
  static std::uint64_t hash(const MaskView& mask, bool dense,
                            std::size_t word_count);
  bool same(const Slot& slot, const MaskView& mask, bool dense) const;
  std::uint32_t new_slot();
  void link(std::uint32_t i);
  void unlink(std::uint32_t i);
  bool drop(std::uint32_t i);
  bool room_for(std::size_t bytes);
  void grow_buckets();
  std::size_t bucket_growth_bytes() const;

  const std::size_t word_count_;
  const std::size_t budget_bytes_;
  const std::shared_ptr<std::atomic<std::size_t>> bytes_;

  std::unique_ptr<std::atomic<Slot*>[]> blocks_;

  mutable base::Mutex mutex_;           // guards all members below
  std::vector<std::uint32_t> buckets_;  // by hash: the first slot of a list
  std::vector<std::uint32_t> free_;
  std::uint32_t slot_count_ = 0;
  std::uint32_t hand_ = 0;
  std::size_t entries_ = 0;
  std::uint64_t evictions_ = 0;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_MASK_STORE_H_
