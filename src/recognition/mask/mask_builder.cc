// Masks as a base and differences: see mask_builder.h.

#include "mask/mask_builder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace parlance::mask {

MaskWords::MaskWords(std::size_t count,
                     std::shared_ptr<std::atomic<std::size_t>> bytes)
    : count_(count),
      words_(std::make_unique<std::uint32_t[]>(count)),
      bytes_(std::move(bytes)) {
  bytes_->fetch_add(MaskWords::bytes(count_), std::memory_order_relaxed);
}

MaskWords::~MaskWords() {
  bytes_->fetch_sub(MaskWords::bytes(count_), std::memory_order_relaxed);
}

std::size_t MaskWords::bytes(std::size_t count) {
  return sizeof(MaskWords) + count * sizeof(std::uint32_t);
}

void MaskView::write(std::span<std::uint32_t> row) const {
  if (row.empty()) return;
  if (base->words == nullptr) {
    std::memset(row.data(), 0, row.size_bytes());
  } else {
    std::memcpy(row.data(), base->words, row.size_bytes());
  }
  // An id in both lists was cleared first and set afterwards.
  for (const Id id : cleared) row[id >> 5] &= ~(std::uint32_t{1} << (id & 31));
  for (const Id id : set) row[id >> 5] |= std::uint32_t{1} << (id & 31);
}

void MaskBuilder::start(Base base, std::span<const Id> set,
                        std::span<const Id> cleared) {
  base_ = std::move(base);
  set_.assign(set.begin(), set.end());
  cleared_.assign(cleared.begin(), cleared.end());
  dense_ = false;
  if (set_.size() + cleared_.size() > kMaxDifferences) become_dense();
}

namespace {

bool has_bit(const std::uint32_t* words, Id id) {
  return words != nullptr && (words[id >> 5] >> (id & 31) & 1) != 0;
}

// Does not leave the loop early, so that the compiler can vectorise it.
bool contains(const std::vector<Id>& ids, Id id) {
  bool found = false;
  for (const Id one : ids) found |= one == id;
  return found;
}

}  // namespace

bool MaskBuilder::has(Id id) const {
  if (dense_) return has_bit(words_.data(), id);
  if (has_bit(base_.words, id) && !contains(cleared_, id)) return true;
  return contains(set_, id);
}

void MaskBuilder::clear(Id id) {
  if (dense_) {
    words_[id >> 5] &= ~(std::uint32_t{1} << (id & 31));
    return;
  }
  const auto in_set = std::ranges::find(set_, id);
  if (in_set != set_.end()) {
    set_.erase(in_set);
    return;
  }
  cleared_.push_back(id);
  if (set_.size() + cleared_.size() > kMaxDifferences) become_dense();
}

void MaskBuilder::become_dense() {
  words_.resize(word_count_);
  view().write(words_);
  dense_ = true;
  own_.words = words_.data();
  base_ = {};
  set_.clear();
  cleared_.clear();
}

namespace {

// Calls use(i, bits) for each word in which two masks differ, with the bits in
// which it does, until `use` returns false; then the result is false.  `b` is
// null for the empty mask.
//
// Most blocks of words are equal, and that takes the compiler a few vector
// instructions to see.
template <class Use>
bool each_difference(const std::uint32_t* a, const std::uint32_t* b,
                     std::size_t words, const Use& use) {
  constexpr std::size_t kBlock = 64;
  const auto differ = [&](std::size_t i) {
    return b == nullptr ? a[i] : a[i] ^ b[i];
  };
  for (std::size_t begin = 0; begin < words; begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, words);
    std::uint32_t any = 0;
    if (b == nullptr) {
      for (std::size_t i = begin; i < end; ++i) any |= a[i];
    } else {
      for (std::size_t i = begin; i < end; ++i) any |= a[i] ^ b[i];
    }
    if (any == 0) continue;
    for (std::size_t i = begin; i < end; ++i) {
      if (differ(i) != 0 && !use(i, differ(i))) return false;
    }
  }
  return true;
}

}  // namespace

// The differences from a base are collected until there are too many.
void MaskBuilder::compact(std::span<const Base> bases) {
  if (!dense_) return;
  for (const Base& base : bases) {
    const bool similar = each_difference(
        words_.data(), base.words, word_count_,
        [&](std::size_t i, std::uint32_t bits) {
          for (; bits != 0; bits &= bits - 1) {
            const auto bit = static_cast<Id>(std::countr_zero(bits));
            const Id id = static_cast<Id>(i) * 32 + bit;
            (words_[i] >> bit & 1 ? set_ : cleared_).push_back(id);
          }
          return set_.size() + cleared_.size() <= kMaxDifferences;
        });
    if (similar) {
      base_ = base;
      dense_ = false;
      return;
    }
    set_.clear();
    cleared_.clear();
  }
}

MaskView MaskBuilder::view() const {
  return {.base = dense_ ? &own_ : &base_,
          .set = set_,
          .cleared = cleared_,
          .own_words = dense_};
}

void MaskBuilder::keep(
    KeptMask& to,
    const std::shared_ptr<std::atomic<std::size_t>>& bytes) const {
  to.set = set_;
  to.cleared = cleared_;
  if (!dense_) {
    to.base = base_;
    return;
  }
  auto words = std::make_shared<MaskWords>(word_count_, bytes);
  std::ranges::copy(words_, words->data());
  to.base = {.words = words->data(), .owner = words};
  to.base_bytes = MaskWords::bytes(word_count_);
}

}  // namespace parlance::mask
