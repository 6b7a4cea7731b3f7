// Writing a mask of stretches: see decided_tokens.h.

#include "mask/decided_tokens.h"

#include <algorithm>
#include <cstddef>

namespace parlance::mask {
namespace {

void put(std::span<std::uint32_t> words, Id id) {
  words[id >> 5] |= std::uint32_t{1} << (id & 31);
}

void take(std::span<std::uint32_t> words, Id id) {
  words[id >> 5] &= ~(std::uint32_t{1} << (id & 31));
}

}  // namespace

void DecidedTokens::clear() {
  stretches_.clear();
  singles_.clear();
}

void DecidedTokens::accept(std::uint32_t first, std::uint32_t last) {
  if (first == last) return;
  if (!stretches_.empty() && stretches_.back().second == first) {
    stretches_.back().second = last;
  } else {
    stretches_.emplace_back(first, last);
  }
}

// From nothing, or from everything, whichever is nearer.
void DecidedTokens::write(std::span<const Id> ids,
                          std::span<const std::uint32_t> all,
                          std::span<std::uint32_t> words) const {
  std::size_t count = 0;
  for (const auto& [first, last] : stretches_) count += last - first;
  if (count * 2 < ids.size()) {
    std::ranges::fill(words, 0);
    for (const auto& [first, last] : stretches_) {
      for (const Id id : ids.subspan(first, last - first)) put(words, id);
    }
  } else {
    std::ranges::copy(all, words.begin());
    std::uint32_t done = 0;
    const auto take_to = [&](std::uint32_t end) {
      for (const Id id : ids.subspan(done, end - done)) take(words, id);
    };
    for (const auto& [first, last] : stretches_) {
      take_to(first);
      done = last;
    }
    take_to(static_cast<std::uint32_t>(ids.size()));
  }
  for (const Single& one : singles_) {
    one.accepted ? put(words, one.id) : take(words, one.id);
  }
}

}  // namespace parlance::mask
