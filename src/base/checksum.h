#ifndef PARLANCE_SRC_BASE_CHECKSUM_H_
#define PARLANCE_SRC_BASE_CHECKSUM_H_

// Checksums of files, and hashes of texts that are stored in files.
//
// They detect damage.  They do not stop a forger: what is read is checked as
// well.

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

// The checksum of the size and all words of `bytes`.  Four sums are computed
// side by side, since each step waits for the result of the one before.
// REQUIRES: bytes.size() is a multiple of 8.
inline std::uint64_t checksum(std::string_view bytes) {
  const auto word = [&](std::size_t at) {
    std::uint64_t out;
    std::memcpy(&out, bytes.data() + at, 8);
    return out;
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

// The hash of a text, the same in every process.
inline std::uint64_t hash_text(std::string_view text) {
  std::uint64_t sum = text.size();
  for (std::size_t at = 0; at < text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at,
                text.size() - at < 8 ? text.size() - at : 8);
    sum = hash_step(sum, word);
  }
  return sum;
}

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_CHECKSUM_H_
