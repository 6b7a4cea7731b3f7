#ifndef PARLANCE_SRC_MASK_TOKEN_BYTES_H_
#define PARLANCE_SRC_MASK_TOKEN_BYTES_H_

// Which tokens contain a byte of ASCII that is no control character below
// U+0020.
//
//   const TokenBytes::Bits& with_c = token_bytes.with('c');
//   // bit i: class_trie.text(i) contains 'c'
//
// A text can match `c.*d` only if it contains both letters, so the tokens that
// have to be read are the intersection of two sets, one token in thirty.  It is
// what search engines call a filter by necessary literals (Cox, "Regular
// expression matching with a trigram index", 2012), with single bytes.

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/once.h"
#include "vocab/string_class_trie.h"

namespace parlance::mask {

// Safe to share between threads.  Made by make(), or on first use.
//
// Memory: 97 bits for each token.
class TokenBytes {
 public:
  // The token with index i in StringClassTrie::ids() is bit i % 64 of word
  // i / 64.
  using Bits = std::vector<std::uint64_t>;

  static constexpr std::uint8_t kFirst = 0x20;
  static constexpr std::uint8_t kLast = 0x7F;

  // `classes` must outlive this.  `bytes` counts the memory.
  TokenBytes(const vocab::StringClassTrie& classes,
             std::shared_ptr<std::atomic<std::size_t>> bytes)
      : classes_(classes), bytes_(std::move(bytes)) {}

  // REQUIRES: kFirst <= byte <= kLast.
  const Bits& with(std::uint8_t byte) const {
    assert(byte >= kFirst && byte <= kLast);
    make();
    return bits_[byte - kFirst];
  }

  // The tokens that end inside a character, and are not unusual but for that
  // (vocab::is_unusual()).
  const Bits& cut_off() const {
    make();
    return cut_off_;
  }

  // Makes the sets, if with() has not done so.  O(bytes of all tokens).
  void make() const {
    built_.call([&] { build(); });
  }

 private:
  void build() const;

  const vocab::StringClassTrie& classes_;
  const std::shared_ptr<std::atomic<std::size_t>> bytes_;
  mutable base::Once built_;
  mutable std::array<Bits, kLast - kFirst + 1> bits_;
  mutable Bits cut_off_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_TOKEN_BYTES_H_
