#include "mask/byte_positions.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace parlance::mask {

// A counting sort by offset and byte.  The tokens lie scattered in memory, so
// their beginnings are copied in the order of ids() by the first pass.
void BytePositions::build() const {
  const auto ids = classes_.ids();
  std::array<std::uint8_t, 256> index;
  for (std::size_t byte = 0; byte < index.size(); ++byte) {
    index[byte] =
        static_cast<std::uint8_t>(index_of(static_cast<std::uint8_t>(byte)));
  }
  std::string texts;
  std::vector<std::uint8_t> sizes;
  sizes.reserve(ids.size());
  texts.reserve(8 * ids.size());
  from_.assign(kDepths * kBytes + 1, 0);
  for (const vocab::Id id : ids) {
    const std::string_view text = vocabulary_.bytes(id).substr(0, kDepths);
    texts += text;
    sizes.push_back(static_cast<std::uint8_t>(text.size()));
    std::size_t n = 1;
    for (const char c : text) {
      const std::uint8_t at = index[static_cast<std::uint8_t>(c)];
      if (at < kBytes) ++from_[n + at];
      n += kBytes;
    }
  }
  for (std::size_t n = 0; n + 1 < from_.size(); ++n) from_[n + 1] += from_[n];
  positions_.resize(from_.back());
  std::vector<std::uint32_t> next = from_;
  const char* text = texts.data();
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    for (std::size_t n = 0; n < sizes[i] * kBytes; n += kBytes) {
      const std::uint8_t at = index[static_cast<std::uint8_t>(*text++)];
      if (at < kBytes) positions_[next[n + at]++] = i;
    }
  }
  bytes_->fetch_add(
      (from_.capacity() + positions_.capacity()) * sizeof(std::uint32_t),
      std::memory_order_relaxed);
}

std::span<const std::uint32_t> BytePositions::between(
    std::uint8_t byte, std::size_t depth, std::uint32_t first,
    std::uint32_t last) const {
  built_.call([&] { build(); });
  const std::size_t n = depth * kBytes + index_of(byte);
  const auto begin = positions_.begin() + from_[n];
  const auto end = positions_.begin() + from_[n + 1];
  const auto low = std::lower_bound(begin, end, first);
  const auto high = std::lower_bound(low, end, last);
  return {low, high};
}

}  // namespace parlance::mask
