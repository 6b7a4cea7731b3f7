#ifndef PARLANCE_SRC_BASE_BLOCK_VECTOR_H_
#define PARLANCE_SRC_BASE_BLOCK_VECTOR_H_

// A vector in blocks: no element is ever moved, so that there is no pause where
// it grows, and references stay valid.

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace parlance::base {

// `T` has a default.
template <class T>
class BlockVector {
 public:
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return blocks_[i / kBlock][i % kBlock]; }
  const T& operator[](std::size_t i) const {
    return blocks_[i / kBlock][i % kBlock];
  }
  T& back() { return (*this)[size_ - 1]; }

  void push_back(T value) {
    extend(size_ + 1);
    back() = std::move(value);
  }
  // Adds defaults up to `size` elements, if there are fewer.
  void extend(std::size_t size) {
    while (blocks_.size() * kBlock < size) {
      blocks_.push_back(std::make_unique<T[]>(kBlock));
    }
    if (size > size_) size_ = size;
  }

 private:
  static constexpr std::size_t kBlock = 64;

  std::vector<std::unique_ptr<T[]>> blocks_;
  std::size_t size_ = 0;
};

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_BLOCK_VECTOR_H_
