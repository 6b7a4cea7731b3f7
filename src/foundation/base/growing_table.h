#ifndef PARLANCE_SRC_BASE_GROWING_TABLE_H_
#define PARLANCE_SRC_BASE_GROWING_TABLE_H_

// A hash table that grows without a pause.
//
// A table that doubles moves all of its entries at once: among many insertions
// of 50 ns, one takes a millisecond.  Here each insertion moves a few entries
// of the smaller table, until that is empty.
//
// New memory has a price, too: to clear it, and to touch a page for the first
// time, costs more than an insertion.  So a hash is a place from the first to
// the last, scaled to the size of the table, and entries are moved in that
// order.  The larger table is cleared just before it is used, from the
// beginning to the end:
//
//   smaller   [ moved . . . . . | not moved . . . . . . . . ]
//   larger    [ cleared . . . . . . . . | not touched yet . . . . . . . . . ]
//
// An entry whose place in the smaller table is not moved yet is put there, and
// searched there only; any other is put into the larger one.  What was moved
// stays in the smaller table until all is, so that no search path is cut.
//
// Open addressing with linear probing, at most four fifths of the entries in
// use.  Nothing is changed or erased.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace parlance::base {

// `Entry` is trivially copyable and has `bool free() const`, which is true of
// an entry of zero bytes, and `std::uint32_t hash() const`, whose high bits are
// well mixed.
template <class Entry>
class GrowingTable {
 public:
  // The entry of this hash for which `is` returns true; null if there is none.
  // Valid until the next insertion.
  template <class Is>
  const Entry* find(std::uint32_t hash, const Is& is) const {
    if (old_.size == 0) return now_.find(hash, is);
    if (old_.place(hash) < moved_) {
      if (const Entry* found = now_.find(hash, is)) return found;
    }
    // An entry whose place has been passed may stand after it, not moved yet.
    return old_.find(hash, is);
  }

  // REQUIRES: the entry is not free, and find() does not find it.
  void insert(const Entry& entry) {
    if (used_ * 3 >= now_.size * 2) grow();
    ++used_;
    const bool is_old = old_.size != 0 && old_.place(entry.hash()) >= moved_;
    (is_old ? old_ : now_).add(entry);
    move(kMovedSlots);
  }

  std::size_t memory_bytes() const {
    return (now_.size + old_.size) * sizeof(Entry);
  }

 private:
  static_assert(std::is_trivially_copyable_v<Entry>);
  struct Free {
    void operator()(Entry* entries) const { ::operator delete(entries); }
  };
  struct Slots {
    std::unique_ptr<Entry[], Free> entries;
    std::size_t size = 0;     // a power of two, or 0
    std::size_t cleared = 0;  // the slots from here on are free

    std::size_t place(std::uint32_t hash) const {
      return static_cast<std::size_t>(std::uint64_t{hash} * size >> 32);
    }
    bool free(std::size_t slot) const {
      return slot >= cleared || entries[slot].free();
    }
    template <class Is>
    const Entry* find(std::uint32_t hash, const Is& is) const {
      if (size == 0) return nullptr;
      for (std::size_t slot = place(hash); !free(slot);
           slot = (slot + 1) & (size - 1)) {
        if (is(entries[slot])) return &entries[slot];
      }
      return nullptr;
    }
    void add(const Entry& entry) {
      std::size_t slot = place(entry.hash());
      while (!free(slot)) slot = (slot + 1) & (size - 1);
      if (slot >= cleared) clear(slot + 1);
      entries[slot] = entry;
    }
    void clear(std::size_t end) {
      end = std::min((end / kBlock + 1) * kBlock, size);
      std::memset(static_cast<void*>(entries.get() + cleared), 0,
                  (end - cleared) * sizeof(Entry));
      cleared = end;
    }
  };

  static constexpr std::size_t kLeastSlots = 16;
  static constexpr std::size_t kBlock = 512;  // slots that are cleared together
  // From one doubling to the next there are two thirds as many insertions as
  // the smaller table has slots, so two would do.  With eight, that table is at
  // most four fifths full, and few searches look into both.
  static constexpr std::size_t kMovedSlots = 8;

  void grow() {
    move(old_.size);
    const std::size_t size = now_.size == 0 ? kLeastSlots : 2 * now_.size;
    Slots larger{std::unique_ptr<Entry[], Free>(
                     static_cast<Entry*>(::operator new(size * sizeof(Entry)))),
                 size};
    old_ = std::exchange(now_, std::move(larger));
    moved_ = 0;
  }

  // Entries for which there was no slot up to the last are in the first ones.
  // Their places are moved last, and so are they.
  void move(std::size_t slots) {
    if (old_.size == 0) return;
    for (; slots > 0 && moved_ < old_.size; --slots, ++moved_) {
      if (!wraps(moved_)) move_slot(moved_);
    }
    if (moved_ < old_.size) return;
    for (std::size_t slot = 0; slot < old_.size && !old_.free(slot); ++slot) {
      if (wraps(slot)) move_slot(slot);
    }
    now_.clear(now_.size);
    old_ = {};
  }
  bool wraps(std::size_t slot) const {
    return !old_.free(slot) && old_.place(old_.entries[slot].hash()) > slot;
  }
  void move_slot(std::size_t slot) {
    if (!old_.free(slot)) now_.add(old_.entries[slot]);
  }

  Slots now_;
  Slots old_;  // of which the first moved_ slots were moved
  std::size_t moved_ = 0;
  std::size_t used_ = 0;
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_GROWING_TABLE_H_
