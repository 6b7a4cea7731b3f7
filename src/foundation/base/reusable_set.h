#ifndef PARLANCE_SRC_BASE_REUSABLE_SET_H_
#define PARLANCE_SRC_BASE_REUSABLE_SET_H_

// A set that is filled and emptied many times.  clear() releases no memory and
// takes O(1): it increments a round number, and an entry of an earlier round
// counts as free.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace parlance::base {

// `Hash` returns an integer whose low bits are well mixed: the table size is a
// power of two, and collisions are resolved by linear probing.
template <class Value, class Hash>
class ReusableSet {
 public:
  // Returns true if `value` was not in the set.
  bool insert(const Value& value) { return find_or_insert(value).second; }
  // The element that equals `value`, and whether it is new.  Valid until the
  // next insertion.
  std::pair<Value*, bool> find_or_insert(const Value& value) {
    if (size_ * 2 >= entries_.size()) grow();
    Entry* entry = find(value);
    if (entry->round == round_) return {&entry->value, false};
    *entry = {value, round_};
    ++size_;
    return {&entry->value, true};
  }
  bool has(const Value& value) {
    return size_ != 0 && find(value)->round == round_;
  }
  std::size_t size() const { return size_; }
  void clear() {
    size_ = 0;
    if (++round_ != 0) return;
    for (Entry& entry : entries_) entry.round = 0;
    round_ = 1;
  }

 private:
  struct Entry {
    Value value = {};
    std::uint32_t round = 0;
  };
  Entry* find(const Value& value) {
    for (std::size_t at = Hash()(value);; ++at) {
      Entry& entry = entries_[at & (entries_.size() - 1)];
      if (entry.round != round_ || entry.value == value) return &entry;
    }
  }
  void grow() {
    std::vector<Entry> old(entries_.empty() ? 64 : entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.round == round_) *find(entry.value) = entry;
    }
  }

  std::vector<Entry> entries_;
  std::size_t size_ = 0;
  std::uint32_t round_ = 1;
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_REUSABLE_SET_H_
