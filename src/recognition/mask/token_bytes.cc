#include "mask/token_bytes.h"

#include <algorithm>
#include <string_view>

#include "base/utf8.h"

namespace parlance::mask {

// Collects the words of 64 tokens before it writes them, because the sets lie
// far apart in memory.
void TokenBytes::build() const {
  const std::size_t count = classes_.ids().size();
  const std::size_t words = (count + 63) / 64;
  for (Bits& bits : bits_) bits.assign(words, 0);
  for (std::size_t word = 0; word < words; ++word) {
    std::array<std::uint64_t, kLast - kFirst + 1> block{};
    const std::size_t end = std::min(count, (word + 1) * 64);
    for (std::size_t i = word * 64; i < end; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << (i % 64);
      for (const char c : classes_.text(i)) {
        const unsigned at = static_cast<std::uint8_t>(c) - unsigned{kFirst};
        if (at < block.size()) block[at] |= bit;
      }
    }
    for (std::size_t at = 0; at < block.size(); ++at) {
      bits_[at][word] = block[at];
    }
  }
  cut_off_.assign(words, 0);
  for (const std::uint32_t i : classes_.unusual()) {
    const std::string_view text = classes_.text(i);
    const std::size_t begun = base::begun_character(text);
    if (begun != 0 && !vocab::is_unusual(text.substr(0, text.size() - begun))) {
      cut_off_[i / 64] |= std::uint64_t{1} << (i % 64);
    }
  }
  bytes_->fetch_add((bits_.size() + 1) * words * sizeof(std::uint64_t),
                    std::memory_order_relaxed);
}

}  // namespace parlance::mask
