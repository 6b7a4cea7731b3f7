#ifndef PARLANCE_SRC_BASE_LIST_STORE_H_
#define PARLANCE_SRC_BASE_LIST_STORE_H_

// Many short lists in a few blocks of memory.
//
// A list takes the memory of its elements, and no allocation of its own.  No
// list is ever moved or freed: neither is there a pause where the store grows,
// nor does a span become invalid.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace parlance::base {

// `T` has a default.
template <class T>
class ListStore {
 public:
  // A copy of `list`, valid as long as the store.
  std::span<const T> add(std::span<const T> list) {
    T* const begin = room_for(list.size());
    std::ranges::copy(list, begin);
    return {begin, list.size()};
  }

 private:
  // Blocks grow with the store, from kLeastBlock to kMostBlock elements.  A
  // list with more than a quarter of the elements of the next block gets a
  // block of its own.
  static constexpr std::size_t kLeastBlock = 32;
  static constexpr std::size_t kMostBlock = 1024;

  T* room_for(std::size_t size) {
    if (size > left_) {
      const std::size_t next = std::clamp(elements_, kLeastBlock, kMostBlock);
      const bool own = size > next / 4;
      blocks_.push_back(std::make_unique<T[]>(own ? size : next));
      elements_ += own ? size : next;
      if (own) return blocks_.back().get();
      free_ = blocks_.back().get();
      left_ = next;
    }
    left_ -= size;
    return std::exchange(free_, free_ + size);
  }

  std::vector<std::unique_ptr<T[]>> blocks_;
  std::size_t elements_ = 0;  // of all blocks
  T* free_ = nullptr;         // in the last block that is shared
  std::size_t left_ = 0;      // elements from there
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_LIST_STORE_H_
