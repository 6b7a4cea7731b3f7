#include "mask/byte_positions.h"

#include <algorithm>
#include <string_view>

namespace parlance::mask {

// A counting sort by offset and byte.
void BytePositions::build() const {
  const auto ids = classes_.ids();
  const auto each = [&](const auto& take) {
    for (std::uint32_t i = 0; i < ids.size(); ++i) {
      const std::string_view text =
          vocabulary_.bytes(ids[i]).substr(0, kDepths);
      for (std::size_t depth = 0; depth < text.size(); ++depth) {
        const std::size_t index =
            index_of(static_cast<std::uint8_t>(text[depth]));
        if (index < kBytes) take(i, depth * kBytes + index);
      }
    }
  };
  from_.assign(kDepths * kBytes + 1, 0);
  each([&](std::uint32_t, std::size_t n) { ++from_[n + 1]; });
  for (std::size_t n = 0; n + 1 < from_.size(); ++n) from_[n + 1] += from_[n];
  positions_.resize(from_.back());
  std::vector<std::uint32_t> next = from_;
  each([&](std::uint32_t i, std::size_t n) { positions_[next[n]++] = i; });
  bytes_->fetch_add(
      (from_.capacity() + positions_.capacity()) * sizeof(std::uint32_t),
      std::memory_order_relaxed);
}

std::span<const std::uint32_t> BytePositions::between(
    std::uint8_t byte, std::size_t depth, std::uint32_t first,
    std::uint32_t last) const {
  std::call_once(built_, [&] { build(); });
  const std::size_t n = depth * kBytes + index_of(byte);
  const auto begin = positions_.begin() + from_[n];
  const auto end = positions_.begin() + from_[n + 1];
  const auto low = std::lower_bound(begin, end, first);
  const auto high = std::lower_bound(low, end, last);
  return {low, high};
}

}  // namespace parlance::mask
