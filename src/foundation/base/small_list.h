#ifndef PARLANCE_SRC_BASE_SMALL_LIST_H_
#define PARLANCE_SRC_BASE_SMALL_LIST_H_

// A list that allocates no memory as long as it is short.

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace parlance::base {

// The first `N` elements lie in the list itself; a longer list lies in memory
// of its own, which clear() keeps.  `T` has a default.  Adding an element makes
// pointers and iterators invalid.
template <class T, std::size_t N>
class SmallList {
 public:
  std::size_t size() const { return more_.empty() ? size_ : more_.size(); }
  bool empty() const { return size() == 0; }
  const T* data() const { return more_.empty() ? few_.data() : more_.data(); }
  T* data() { return more_.empty() ? few_.data() : more_.data(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  T* begin() { return data(); }
  T* end() { return data() + size(); }
  // REQUIRES: i < size().
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& operator[](std::size_t i) { return data()[i]; }

  void push_back(T value) {
    if (more_.empty()) {
      if (size_ < N) {
        few_[size_++] = std::move(value);
        return;
      }
      more_.assign(few_.begin(), few_.end());
    }
    more_.push_back(std::move(value));
  }
  template <class... Parts>
  void emplace_back(Parts&&... parts) {
    push_back(T(std::forward<Parts>(parts)...));
  }
  bool operator==(const SmallList& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }
  void clear() {
    size_ = 0;
    more_.clear();
  }

 private:
  std::size_t size_ = 0;  // of few_
  std::array<T, N> few_ = {};
  std::vector<T> more_;  // all of a longer list, else empty
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_SMALL_LIST_H_
