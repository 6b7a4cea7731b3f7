// Ranges that are set by masks, against setting one id after the other.

#include "mask/prefix_masks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "parlance/vocabulary.h"
#include "vocab/token_class_trie.h"
#include "vocab/token_tables.h"

namespace parlance::mask::prefix_masks_test {
namespace {

// 20,000 tokens in an order that is not that of the trie: three subtrees of
// words, of which one is large inside another, and short ones.
Vocabulary words_of_three_kinds() {
  std::vector<TokenEntry> entries;
  std::mt19937 random(1);
  const auto letters = [&](char first) {
    std::string text;
    for (int i = 0; i < 4; ++i) {
      text += static_cast<char>(first + static_cast<char>(random() % 26));
    }
    return text;
  };
  for (int i = 0; i < 20'000; ++i) {
    std::string text = letters(i % 3 == 0 ? 'A' : 'a');
    if (i % 3 == 1) text = " " + text;
    if (i % 100 == 99) text = std::to_string(i);
    entries.push_back({.id = static_cast<TokenId>(i),
                       .bytes = std::move(text),
                       .kind = TokenKind::kOrdinary});
  }
  return *Vocabulary::from_table(entries, {});
}

TEST(PrefixMasks, RangesAsOneByOne) {
  const Vocabulary vocabulary = words_of_three_kinds();
  const vocab::TokenTables tables = *vocab::TokenTables::build(vocabulary);
  const vocab::TokenClassTrie classes(tables);
  const auto memory = std::make_shared<std::atomic<std::size_t>>(0);
  const PrefixMasks prefixes(classes, tables.mask_words(), memory);
  const auto size = static_cast<std::uint32_t>(prefixes.ids().size());
  ASSERT_EQ(size, 20'000U);
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint32_t> words(tables.mask_words());
    for (std::uint32_t& word : words) word = random();
    std::vector<std::uint32_t> expected = words;
    std::uint32_t first = random() % (size + 1);
    std::uint32_t last = random() % (size + 1);
    if (first > last) std::swap(first, last);
    // Those of a subtree, too.
    if (round % 3 == 0) {
      const auto nodes = classes.nodes();
      const auto& node =
          nodes[random() % std::min<std::size_t>(nodes.size(), 60)];
      first = node.first;
      last = node.last;
    }
    const bool sets = round % 2 == 0;
    for (std::uint32_t i = first; i < last; ++i) {
      const vocab::Id id = prefixes.ids()[i];
      const std::uint32_t bit = std::uint32_t{1} << (id & 31);
      if (sets) {
        expected[id >> 5] |= bit;
      } else {
        expected[id >> 5] &= ~bit;
      }
    }
    if (sets) {
      prefixes.set(first, last, words);
    } else {
      prefixes.clear(first, last, words);
    }
    ASSERT_EQ(words, expected) << first << " to " << last;
  }
  EXPECT_GT(memory->load(), 0U);
}

}  // namespace
}  // namespace parlance::mask::prefix_masks_test
