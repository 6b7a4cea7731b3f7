#ifndef PARLANCE_SRC_BASE_BYTE_SET_H_
#define PARLANCE_SRC_BASE_BYTE_SET_H_

// Sets of bytes, one bit for each, and the white space of JSON.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace parlance::base {

// Byte b is bit b % 64 of word b / 64.
using ByteSet = std::array<std::uint64_t, 4>;

inline constexpr ByteSet kAllBytes = {~std::uint64_t{0}, ~std::uint64_t{0},
                                      ~std::uint64_t{0}, ~std::uint64_t{0}};

inline bool has_byte(const ByteSet& set, std::uint8_t byte) {
  return (set[byte >> 6] >> (byte & 63) & 1) != 0;
}

constexpr void add_byte(ByteSet& set, std::uint8_t byte) {
  set[byte >> 6] |= std::uint64_t{1} << (byte & 63);
}

inline void add_bytes(ByteSet& set, const ByteSet& others) {
  for (std::size_t i = 0; i < set.size(); ++i) set[i] |= others[i];
}

inline int count_bytes(const ByteSet& set) {
  int count = 0;
  for (const std::uint64_t word : set) count += std::popcount(word);
  return count;
}

// The least byte of the set that is not below `from`; 256 if there is none.
inline std::size_t next_byte(const ByteSet& set, std::size_t from) {
  for (std::size_t word = from / 64; word < set.size(); ++word) {
    const std::uint64_t left =
        word == from / 64 ? set[word] >> (from % 64) << (from % 64) : set[word];
    if (left != 0) {
      return word * 64 + static_cast<std::size_t>(std::countr_zero(left));
    }
  }
  return 256;
}

// Calls `visit` with each byte of the set, in ascending order.
template <class Visit>
void for_bytes(const ByteSet& set, Visit visit) {
  for (std::size_t word = 0; word < set.size(); ++word) {
    for (std::uint64_t left = set[word]; left != 0; left &= left - 1) {
      visit(static_cast<std::uint8_t>(
          word * 64 + static_cast<std::size_t>(std::countr_zero(left))));
    }
  }
}

// RFC 8259, section 2.
inline constexpr std::string_view kJsonWhitespace = " \t\n\r";

inline bool is_json_whitespace(std::uint8_t byte) {
  return kJsonWhitespace.find(static_cast<char>(byte)) !=
         std::string_view::npos;
}

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_BYTE_SET_H_
