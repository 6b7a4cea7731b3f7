#ifndef PARLANCE_SRC_MASK_BYTE_POSITIONS_H_
#define PARLANCE_SRC_MASK_BYTE_POSITIONS_H_

// Which tokens have a letter or a digit at an offset.
//
//   for (std::uint32_t i : positions.between('f', 2, node.first, node.last))
//     ...  // the third byte of token ids()[i] is 'f'
//
// A walk over token classes (class_walk.h) corrects the tokens with a certain
// byte of a class.  Most tokens of a subtree do not have it: of the tokens with
// a letter at an offset, one in fifty has "f" there.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/once.h"
#include "parlance/vocabulary.h"
#include "vocab/token_class_trie.h"

namespace parlance::mask {

// Safe to share between threads.  Built on first use.
//
// Memory: four bytes for each letter and digit of the vocabulary's tokens, up
// to kDepths of a token.
class BytePositions {
 public:
  // Both must outlive this.  `bytes` counts the memory.
  BytePositions(const Vocabulary& vocabulary,
                const vocab::TokenClassTrie& classes,
                std::shared_ptr<std::atomic<std::size_t>> bytes)
      : vocabulary_(vocabulary), classes_(classes), bytes_(std::move(bytes)) {}

  // Whether the tokens with this byte at this offset are known.
  static bool known(std::uint8_t byte, std::size_t depth) {
    return depth < kDepths && index_of(byte) < kBytes;
  }

  // The indices i, first <= i < last, of the tokens ids()[i] that have `byte`
  // at offset `depth`, in ascending order.  REQUIRES: known(byte, depth).
  std::span<const std::uint32_t> between(std::uint8_t byte, std::size_t depth,
                                         std::uint32_t first,
                                         std::uint32_t last) const;

 private:
  static constexpr std::size_t kDepths = 32;
  static constexpr std::size_t kBytes = 62;

  static constexpr std::size_t index_of(std::uint8_t byte) {
    if (byte >= 'a' && byte <= 'z') return byte - std::size_t{'a'};
    if (byte >= 'A' && byte <= 'Z') return byte - std::size_t{'A'} + 26;
    if (byte >= '0' && byte <= '9') return byte - std::size_t{'0'} + 52;
    return kBytes;
  }
  void build() const;

  const Vocabulary& vocabulary_;
  const vocab::TokenClassTrie& classes_;
  const std::shared_ptr<std::atomic<std::size_t>> bytes_;
  mutable base::Once built_;
  // Those of a byte and an offset are positions_[from_[n]] up to
  // positions_[from_[n + 1]], n = offset * kBytes + index_of(byte).
  mutable std::vector<std::uint32_t> from_;
  mutable std::vector<std::uint32_t> positions_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_BYTE_POSITIONS_H_
