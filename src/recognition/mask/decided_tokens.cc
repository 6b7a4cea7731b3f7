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
void DecidedTokens::write(std::span<const Id> ids,
                          std::span<const std::uint32_t> all,
                          std::span<std::uint32_t> words) const {
  std::size_t count = 0;
  for (const auto& [first, last] : ranges_) count += last - first;
  if (count * 2 < ids.size() || is_off(Shortcut::kDecidedTokens)) {
    std::ranges::fill(words, 0);
    for (const auto& [first, last] : ranges_) {
      for (const Id id : ids.subspan(first, last - first)) set_bit(words, id);
    }
  } else {
    std::ranges::copy(all, words.begin());
    std::size_t done = 0;
    const auto clear_up_to = [&](std::size_t end) {
      for (; done < end; ++done) clear_bit(words, ids[done]);
    };
    for (const auto& [first, last] : ranges_) {
      clear_up_to(first);
      done = last;
    }
    clear_up_to(ids.size());
  }
  for (const Single& one : singles_) {
    one.accepted ? set_bit(words, one.id) : clear_bit(words, one.id);
  }
}

}  // namespace parlance::mask
