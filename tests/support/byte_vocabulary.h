#ifndef PARLANCE_TESTS_SUPPORT_BYTE_VOCABULARY_H_
#define PARLANCE_TESTS_SUPPORT_BYTE_VOCABULARY_H_

// Small made-up vocabularies with a token for every byte.

#include <cstddef>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/vocabulary.h"

namespace parlance::testing {

// Pieces of 2 to 7 bytes of each text, drawn with a fixed seed.
inline std::set<std::string> pieces_of(std::span<const std::string_view> texts,
                                       int pieces_per_text) {
  std::set<std::string> out;
  std::mt19937 random(7);
  for (const std::string_view text : texts) {
    for (int i = 0; i < pieces_per_text; ++i) {
      out.emplace(text.substr(random() % text.size(), 2 + random() % 6));
    }
  }
  return out;
}

// The ids 0 to 255 are the bytes; then the pieces of more than one byte, the
// control token "<eos>", and `marks`.
template <class Pieces>
Vocabulary byte_vocabulary(
    const Pieces& pieces,
    std::span<const std::pair<std::string, TokenKind>> marks = {}) {
  std::vector<TokenEntry> entries;
  const auto add = [&](std::string_view bytes, TokenKind kind) {
    entries.push_back({.id = static_cast<TokenId>(entries.size()),
                       .bytes = std::string(bytes),
                       .kind = kind});
  };
  for (int byte = 0; byte < 256; ++byte) {
    const char one = static_cast<char>(byte);
    add({&one, 1}, TokenKind::kOrdinary);
  }
  for (const std::string_view piece : pieces) {
    if (piece.size() > 1) add(piece, TokenKind::kOrdinary);
  }
  add("<eos>", TokenKind::kControl);
  for (const auto& [mark, kind] : marks) add(mark, kind);
  return *Vocabulary::from_table(entries, std::span<const TokenId>());
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_BYTE_VOCABULARY_H_
