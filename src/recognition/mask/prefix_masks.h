#ifndef PARLANCE_SRC_MASK_PREFIX_MASKS_H_
#define PARLANCE_SRC_MASK_PREFIX_MASKS_H_

// Sets or clears the bits of a long range of a list of ids at once.
//
// The ids of a range lie scattered over the mask, so they are set one by one,
// and a mask of text has fifty thousand.  But a long range mostly begins and
// ends where a large subtree of the trie of classes does.  For these places the
// mask of all ids before is known, and what lies between two of them is one
// minus the other:
//
//   ids()[first, last)   = a few ids + before(high) - before(low) + a few ids

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/once.h"
#include "vocab/table.h"

namespace parlance::mask {

// Safe to share between threads.  Made by make(), or on first use.
//
// Memory: a mask for every large subtree, at most kMostPlaces.
class PrefixMasks {
 public:
  // `trie` is one of token classes, which must outlive this.  `words`: of a
  // mask.  `bytes` counts the memory.
  template <class Trie>
  PrefixMasks(const Trie& trie, std::size_t words,
              std::shared_ptr<std::atomic<std::size_t>> bytes)
      : ids_(trie.ids()),
        words_(words),
        bytes_(std::move(bytes)),
        each_subtree_([&trie](const auto& visit) {
          for (const auto& node : trie.nodes()) visit(node.first, node.last);
        }) {}

  // The ids of the trie.  None occurs twice.
  std::span<const vocab::Id> ids() const { return ids_; }
  // Makes the masks, if set() or clear() has not done so.  O(masks).
  void make() const {
    made_.call([this] { build(); });
  }
  // Sets, or clears, the bits of ids()[first, last).
  void set(std::uint32_t first, std::uint32_t last,
           std::span<std::uint32_t> words) const;
  void clear(std::uint32_t first, std::uint32_t last,
             std::span<std::uint32_t> words) const;

 private:
  // As many ids are set one by one in the time that a mask is.
  static constexpr std::uint32_t kLong = 3000;
  static constexpr std::size_t kMostPlaces = 96;

  void build() const;
  // The mask of the ids before places_[n].
  const std::uint32_t* before(std::size_t n) const {
    return masks_.data() + n * words_;
  }
  template <class One, class Word>
  void change(std::uint32_t first, std::uint32_t last, std::uint32_t* words,
              One one, Word word) const;

  const std::span<const vocab::Id> ids_;
  const std::size_t words_;
  const std::shared_ptr<std::atomic<std::size_t>> bytes_;
  using Visit = std::function<void(std::uint32_t first, std::uint32_t last)>;
  const std::function<void(const Visit&)> each_subtree_;
  mutable base::Once made_;
  mutable std::vector<std::uint32_t> places_;  // ascending
  mutable std::vector<std::uint32_t> masks_;   // one after the other
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_PREFIX_MASKS_H_
