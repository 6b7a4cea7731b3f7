#ifndef PARLANCE_SRC_MASK_MASK_STORE_H_
#define PARLANCE_SRC_MASK_MASK_STORE_H_

// The masks that the constraints of one vocabulary share.
//
// Over thousands of schemas only a few masks are new: what may follow a string
// in an object is the same nearly everywhere.  The store keeps each mask once,
// found by its content, and within a budget of bytes:
//
//   MaskHandle h = store.intern(builder.view());
//   ...
//   if (const MaskView* mask = store.pin(h)) {   // still there?
//     mask->write(row);
//     store.unpin(h);
//   }
//
// A handle is a number and keeps nothing alive; whoever has one may find that
// its mask is gone, and makes it again.  So the budget holds whatever the
// number of constraints, and a mask that is pinned is never dropped.
//
// pin() takes no lock.  A slot has one word, its generation and the number of
// its users.  To pin is to add a user and look whether the generation is still
// the handle's; to drop a mask is to raise the generation of a word that has
// no users, which fails if one came in between.
//
// Who goes first: a hand goes around the slots and drops what was not used
// since it last came by ("second chance"), an approximation of the least
// recently used that costs a hit one store instead of a lock.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

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
  // `bytes` counts what the masks of one vocabulary hold, also outside of the
  // store: bases are counted where they are made.
  MaskStore(std::size_t word_count, std::size_t budget_bytes,
            std::shared_ptr<std::atomic<std::size_t>> bytes);
  ~MaskStore();
  MaskStore(const MaskStore&) = delete;
  MaskStore& operator=(const MaskStore&) = delete;

  // The handle of a mask with this content; none if there is no room for it.
  MaskHandle intern(const MaskView& mask);

  // The mask, or null if it was dropped.  What is not null must be unpinned.
  const MaskView* pin(MaskHandle handle);
  void unpin(MaskHandle handle);

  // Drops masks until others may add `bytes` to the count within the budget.
  void make_room(std::size_t bytes);
  // Drops everything that is not pinned.
  void clear();

  std::size_t budget_bytes() const { return budget_bytes_; }
  std::size_t entries() const;
  std::uint64_t evictions() const;

 private:
  struct Slot;
  // Slots stand in blocks that never move, so that pin() needs no lock.
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

  mutable std::mutex mutex_;            // all below
  std::vector<std::uint32_t> buckets_;  // by hash: first slot of a list
  std::vector<std::uint32_t> free_;
  std::uint32_t slot_count_ = 0;
  std::uint32_t hand_ = 0;
  std::size_t entries_ = 0;
  std::uint64_t evictions_ = 0;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_MASK_STORE_H_
