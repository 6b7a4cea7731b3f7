#ifndef PARLANCE_SRC_BASE_CHECKSUM_H_
#define PARLANCE_SRC_BASE_CHECKSUM_H_

// Checksums of files, and hashes of texts that are stored in files.
//
// They detect damage.  They do not stop a forger: what is read is checked as
// well.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace parlance::base {

// One step of a hash.  The step is a bijection in `value` for a fixed `sum`,
// and in `sum` for a fixed `value`, so a change of one word always changes the
// final sum.
constexpr std::uint64_t hash_step(std::uint64_t sum, std::uint64_t value) {
  sum = (sum ^ value) * 0x9FB21C651E98DF25;
  return sum ^ sum >> 29;
}

// The `n` bytes at `bytes` as a number, the first byte the lowest, on every
// machine: what is stored must read back on any.  REQUIRES: n <= 8.
inline std::uint64_t little_endian_word(const char* bytes, std::size_t n = 8) {
  std::uint64_t out = 0;
  std::memcpy(&out, bytes, n);
  if constexpr (std::endian::native == std::endian::big) {
    std::uint64_t swapped = 0;
    for (int i = 0; i < 8; ++i, out >>= 8) swapped = swapped << 8 | (out & 255);
    return swapped;
  }
  return out;
}

// The checksum of the size and all words of `bytes`.  Four sums are computed
// side by side, since each step waits for the result of the one before.
// REQUIRES: bytes.size() is a multiple of 8.
inline std::uint64_t checksum(std::string_view bytes) {
  const auto word = [&](std::size_t at) {
    return little_endian_word(bytes.data() + at);
  };
  std::uint64_t sums[4] = {bytes.size(), 1, 2, 3};
  std::size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32) {
    for (std::size_t i = 0; i < 4; ++i) {
      sums[i] = hash_step(sums[i], word(at + 8 * i));
    }
  }
  for (; at < bytes.size(); at += 8) sums[0] = hash_step(sums[0], word(at));
  return hash_step(hash_step(hash_step(sums[0], sums[1]), sums[2]), sums[3]);
}

// The hash of a text, the same in every process and on every machine.
inline std::uint64_t hash_text(std::string_view text) {
  std::uint64_t sum = text.size();
  for (std::size_t at = 0; at < text.size(); at += 8) {
    const std::size_t n = text.size() - at < 8 ? text.size() - at : 8;
    sum = hash_step(sum, little_endian_word(text.data() + at, n));
  }
  return sum;
}

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_CHECKSUM_H_
