#ifndef PARLANCE_SRC_MASK_BYTES_H_
#define PARLANCE_SRC_MASK_BYTES_H_

// Sets of bytes, and white space.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace parlance::mask {

constexpr std::string_view kSpaceBytes = " \t\n\r";

inline bool is_space(std::uint8_t byte) {
  return kSpaceBytes.find(static_cast<char>(byte)) != std::string_view::npos;
}

inline bool has_byte(const std::array<std::uint64_t, 4>& set,
                     std::uint8_t byte) {
  return (set[byte >> 6] >> (byte & 63) & 1) != 0;
}

// Calls `visit` with each byte of the set, ascending.
template <class Visit>
void for_bytes(const std::array<std::uint64_t, 4>& set, Visit visit) {
  for (std::size_t word = 0; word < set.size(); ++word) {
    for (std::uint64_t left = set[word]; left != 0; left &= left - 1) {
      visit(static_cast<std::uint8_t>(
          word * 64 + static_cast<std::size_t>(std::countr_zero(left))));
    }
  }
}

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_BYTES_H_
