#ifndef PARLANCE_SRC_VOCAB_SPECIAL_SPELLINGS_H_
#define PARLANCE_SRC_VOCAB_SPECIAL_SPELLINGS_H_

// Special tokens that are spelled in a text, such as a prompt.

#include <array>
#include <bitset>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "parlance/vocabulary.h"

namespace parlance::vocab {

class SpecialSpellings {
 public:
  // Looks for `ids`, special tokens of `vocabulary`, ascending.
  SpecialSpellings(const Vocabulary& vocabulary, std::span<const TokenId> ids);

  struct Found {
    std::size_t at = 0;
    TokenId id = 0;
  };
  // The leftmost occurrence at or after `from`.  Of several that begin there,
  // the longest; of several ids with that spelling, the lowest. Complexity:
  // O(text.size() * (lengths of spellings with a common first byte)) look-ups.
  std::optional<Found> find(std::string_view text, std::size_t from) const;
  // The longest of at most `longest` bytes that `text` begins with.
  std::optional<TokenId> at(std::string_view text, std::size_t longest) const;

 private:
  const Vocabulary vocabulary_;
  const std::vector<TokenId> ids_;
  // Whether a spelling begins with the byte: most bytes of a text begin none.
  std::array<bool, 256> begins_ = {};
  // Of the spellings, by their first byte, falling.
  std::array<std::vector<std::size_t>, 256> lengths_;
  // By the first byte: the second bytes of the spellings, or all bytes if a
  // spelling has one byte.
  std::array<std::bitset<256>, 256> seconds_;
};

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_SPECIAL_SPELLINGS_H_
