// The positions of bytes against a search through all tokens.

#include "mask/byte_positions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/vocabulary.h"
#include "vocab/token_class_trie.h"
#include "vocab/token_tables.h"

namespace parlance::mask::byte_positions_test {
namespace {

TEST(BytePositions, ThoseOfASearch) {
  std::vector<TokenEntry> entries;
  for (std::string text :
       {"a", "b", "ab", "ba", "fun", "Fun", " fun", "f1", "1f", "1", "<f>",
        "functools", "ff", "fff", "é", "éf", "zf"}) {
    entries.push_back({.id = static_cast<TokenId>(entries.size()),
                       .bytes = std::move(text),
                       .kind = TokenKind::kOrdinary});
  }
  entries.push_back({.id = static_cast<TokenId>(entries.size()),
                     .bytes = std::string(40, 'f'),
                     .kind = TokenKind::kOrdinary});
  const Vocabulary vocabulary = *Vocabulary::from_table(entries, {});
  const vocab::TokenTables tables = *vocab::TokenTables::build(vocabulary);
  const vocab::TokenClassTrie classes(tables);
  const auto memory = std::make_shared<std::atomic<std::size_t>>(0);
  const BytePositions positions(vocabulary, classes, memory);
  EXPECT_EQ(memory->load(), 0U);
  const auto count = static_cast<std::uint32_t>(classes.ids().size());
  for (const char byte : std::string_view("abfFn1z")) {
    for (std::size_t depth = 0; depth < 32; ++depth) {
      const auto wanted = static_cast<std::uint8_t>(byte);
      ASSERT_TRUE(BytePositions::known(wanted, depth));
      for (const std::uint32_t first : {0U, 3U}) {
        std::vector<std::uint32_t> expected;
        for (std::uint32_t i = first; i + 1 < count; ++i) {
          const std::string_view text = vocabulary.bytes(classes.ids()[i]);
          if (depth < text.size() && text[depth] == byte) expected.push_back(i);
        }
        EXPECT_TRUE(std::ranges::equal(
            positions.between(wanted, depth, first, count - 1), expected))
            << byte << " at " << depth;
      }
    }
  }
  EXPECT_GT(memory->load(), 0U);
  EXPECT_FALSE(BytePositions::known('<', 0));
  EXPECT_FALSE(BytePositions::known('a', 32));
}

}  // namespace
}  // namespace parlance::mask::byte_positions_test
