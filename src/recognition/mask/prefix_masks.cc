#include "mask/prefix_masks.h"

#include <algorithm>

#include "mask/ablation.h"

namespace parlance::mask {

using vocab::Id;

void PrefixMasks::build() const {
  std::vector<std::uint32_t>& places = places_;
  // Of a large vocabulary, only larger subtrees count.
  for (std::uint32_t least = kLong;; least += least / 2) {
    places.clear();
    each_subtree_([&](std::uint32_t first, std::uint32_t last) {
      if (last - first >= least) places.insert(places.end(), {first, last});
    });
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    if (places.size() <= kMostPlaces) break;
  }
  masks_.assign(places.size() * words_, 0);
  std::uint32_t done = 0;
  for (std::size_t n = 0; n < places.size(); ++n) {
    std::uint32_t* const mask = masks_.data() + n * words_;
    if (n > 0) std::copy_n(mask - words_, words_, mask);
    for (const Id id : ids_.subspan(done, places[n] - done)) {
      mask[id >> 5] |= std::uint32_t{1} << (id & 31);
    }
    done = places[n];
  }
  bytes_->fetch_add(masks_.capacity() * sizeof(std::uint32_t),
                    std::memory_order_relaxed);
}

// `one` changes the bit of an id; `word` a word by the bits of two masks, of
// which the second contains the first.
template <class One, class Word>
void PrefixMasks::change(std::uint32_t first, std::uint32_t last,
                         std::uint32_t* words, One one, Word word) const {
  const auto each = [&](std::uint32_t from, std::uint32_t to) {
    for (const Id id : ids_.subspan(from, to - from)) one(words, id);
  };
  if (is_off(Shortcut::kPrefixMasks)) return each(first, last);
  if (last - first < kLong) return each(first, last);
  make();
  const auto low = std::ranges::lower_bound(places_, first);
  auto high = std::upper_bound(low, places_.end(), last);
  if (high == low || *--high - *low < kLong) return each(first, last);
  each(first, *low);
  const std::uint32_t* const from =
      before(static_cast<std::size_t>(low - places_.begin()));
  const std::uint32_t* const to =
      before(static_cast<std::size_t>(high - places_.begin()));
  const std::size_t count = words_;  // the loop is vectorised
  for (std::size_t i = 0; i < count; ++i) {
    words[i] = word(words[i], from[i], to[i]);
  }
  each(*high, last);
}

void PrefixMasks::set(std::uint32_t first, std::uint32_t last,
                      std::span<std::uint32_t> words) const {
  change(
      first, last, words.data(),
      [](std::uint32_t* mask, Id id) {
        mask[id >> 5] |= std::uint32_t{1} << (id & 31);
      },
      [](std::uint32_t word, std::uint32_t from, std::uint32_t to) {
        return word | (to & ~from);
      });
}

void PrefixMasks::clear(std::uint32_t first, std::uint32_t last,
                        std::span<std::uint32_t> words) const {
  change(
      first, last, words.data(),
      [](std::uint32_t* mask, Id id) {
        mask[id >> 5] &= ~(std::uint32_t{1} << (id & 31));
      },
      [](std::uint32_t word, std::uint32_t from, std::uint32_t to) {
        return word & (from | ~to);
      });
}

}  // namespace parlance::mask
