#ifndef PARLANCE_SRC_BASE_GROWING_TABLE_H_
#define PARLANCE_SRC_BASE_GROWING_TABLE_H_

// A hash table that grows without a pause.
//
// A table that doubles moves all of its entries at once: among many insertions
// of 50 ns, one takes a millisecond.  Here each insertion moves a few entries
// of the smaller table, until that is empty; before, a search looks into both.
// What was moved stays in the smaller table until all is, so that no search
// path is cut.
//
// Open addressing with linear probing, at most two thirds of the entries in
// use. Nothing is changed or erased.

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <utility>

namespace parlance::base {

// `Entry` is trivially copyable and has `bool free() const`, which is true of
// an entry of zero bytes, and `std::size_t hash() const`, whose low bits are
// well mixed.
template <class Entry>
class GrowingTable {
 public:
  // The entry of this hash for which `is` returns true; null if there is none.
  // Valid until the next insertion.
  template <class Is>
  const Entry* find(std::size_t hash, const Is& is) const {
    if (const Entry* found = now_.find(hash, is)) return found;
    return old_.size == 0 ? nullptr : old_.find(hash, is);
  }

  // REQUIRES: the entry is not free, and find() does not find it.
  void insert(const Entry& entry) {
    if (used_ * 3 >= now_.size * 2) grow();
    now_.place(entry);
    ++used_;
    move(kMovedSlots);
  }

  std::size_t memory_bytes() const {
    return (now_.size + old_.size) * sizeof(Entry);
  }

 private:
  static_assert(std::is_trivially_copyable_v<Entry> &&
                std::is_trivially_destructible_v<Entry>);
  struct Free {
    void operator()(Entry* entries) const { std::free(entries); }
  };
  struct Slots {
    std::unique_ptr<Entry[], Free> entries;
    std::size_t size = 0;  // a power of two, or 0

    template <class Is>
    const Entry* find(std::size_t hash, const Is& is) const {
      if (size == 0) return nullptr;
      for (std::size_t at = hash;; ++at) {
        const Entry& entry = entries[at & (size - 1)];
        if (entry.free()) return nullptr;
        if (is(entry)) return &entry;
      }
    }
    void place(const Entry& entry) {
      std::size_t at = entry.hash();
      while (!entries[at & (size - 1)].free()) ++at;
      entries[at & (size - 1)] = entry;
    }
  };

  static constexpr std::size_t kLeastSlots = 16;
  // From one doubling to the next there are two thirds as many insertions as
  // the smaller table has slots, so two would do; with more, fewer searches
  // look into both tables.
  static constexpr std::size_t kMovedSlots = 8;

  void grow() {
    move(old_.size);
    const std::size_t size = now_.size == 0 ? kLeastSlots : 2 * now_.size;
    // Memory that the system has cleared is not touched before it is used.
    Slots larger{std::unique_ptr<Entry[], Free>(
                     static_cast<Entry*>(std::calloc(size, sizeof(Entry)))),
                 size};
    if (larger.entries == nullptr) std::abort();  // exceptions are disabled
    old_ = std::exchange(now_, std::move(larger));
    moved_ = 0;
  }

  void move(std::size_t slots) {
    if (old_.size == 0) return;
    for (; slots > 0 && moved_ < old_.size; --slots, ++moved_) {
      if (!old_.entries[moved_].free()) now_.place(old_.entries[moved_]);
    }
    if (moved_ == old_.size) old_ = {};
  }

  Slots now_;
  Slots old_;  // of which the first moved_ slots were moved
  std::size_t moved_ = 0;
  std::size_t used_ = 0;
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_GROWING_TABLE_H_
