// Collecting ranges and writing them as a mask: see decided_tokens.h.

#include "mask/decided_tokens.h"

#include <algorithm>
#include <cstddef>

#include "mask/ablation.h"

namespace parlance::mask {
namespace {

void set_bit(std::span<std::uint32_t> words, Id id) {
  words[id >> 5] |= std::uint32_t{1} << (id & 31);
}

void clear_bit(std::span<std::uint32_t> words, Id id) {
  words[id >> 5] &= ~(std::uint32_t{1} << (id & 31));
}

}  // namespace

void DecidedTokens::clear() {
  ranges_.clear();
  singles_.clear();
}

// Starts from the empty mask and sets the ranges, or from the full mask and
// clears the gaps between the ranges, whichever changes fewer bits.  The ranges
// ascend and are disjoint, so `done` is the end of the ids that are decided.
// The decisions on single tokens come last and override the ranges.
void DecidedTokens::write(const PrefixMasks& prefixes,
                          std::span<const std::uint32_t> all,
                          std::span<std::uint32_t> words) const {
  const std::size_t size = prefixes.ids().size();
  std::size_t count = 0;
  for (const auto& [first, last] : ranges_) count += last - first;
  if (count * 2 < size || is_off(Shortcut::kDecidedTokens)) {
    std::ranges::fill(words, 0);
    for (const auto& [first, last] : ranges_) prefixes.set(first, last, words);
  } else {
    std::ranges::copy(all, words.begin());
    std::uint32_t done = 0;
    for (const auto& [first, last] : ranges_) {
      prefixes.clear(done, first, words);
      done = last;
    }
    prefixes.clear(done, static_cast<std::uint32_t>(size), words);
  }
  for (const Single& one : singles_) {
    one.accepted ? set_bit(words, one.id) : clear_bit(words, one.id);
  }
}

}  // namespace parlance::mask
