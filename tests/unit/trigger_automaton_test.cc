// Words of bytes and marks in free text, against a search at every place.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "automata/aho_corasick.h"

namespace parlance::grammar::trigger_automaton_test {

using automata::AhoCorasick;
using automata::WordSymbol;
namespace {

using Word = std::vector<WordSymbol>;

std::string shown(const Word& word) {
  std::string out;
  for (const WordSymbol symbol : word) {
    if (automata::is_mark(symbol)) {
      out += "<" + std::to_string(symbol - automata::kFirstMarkSymbol) + ">";
    } else {
      out += static_cast<char>(symbol);
    }
  }
  return out;
}

// The longest suffix of `text` that begins one of `words`.
Word longest_begun(const std::vector<Word>& words, const Word& text) {
  for (std::size_t from = 0; from < text.size(); ++from) {
    const Word suffix(text.begin() + static_cast<std::ptrdiff_t>(from),
                      text.end());
    for (const Word& word : words) {
      if (suffix.size() <= word.size() &&
          std::equal(suffix.begin(), suffix.end(), word.begin())) {
        return suffix;
      }
    }
  }
  return {};
}

std::optional<std::size_t> first_mark(const Word& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (automata::is_mark(text[i])) return i;
  }
  return std::nullopt;
}

TEST(AhoCorasick, MarksBeginAndContinueWordsOnly) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random() % n);
  };
  const WordSymbol symbols[] = {'a', 'b', automata::mark_symbol(0),
                                automata::mark_symbol(1)};
  std::size_t refused = 0;
  std::size_t committed = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<Word> words(1 + below(3));
    for (Word& word : words) {
      for (std::size_t n = 1 + below(3); n > 0; --n) {
        word.push_back(symbols[below(4)]);
      }
    }
    AhoCorasick automaton;
    for (const Word& word : words) automaton.insert(word);
    automaton.link();
    Word text;
    std::uint32_t node = 0;
    for (int step = 0; step < 12; ++step) {
      const WordSymbol symbol = symbols[below(4)];
      Word next = text;
      next.push_back(symbol);
      const Word begun = longest_begun(words, next);
      // Every mark since free text began must stand in the word that began.
      const std::optional<std::size_t> mark = first_mark(next);
      const bool fits = !mark || begun.size() >= next.size() - *mark;
      const std::uint32_t to = automaton.step(node, symbol);
      ASSERT_EQ(to != AhoCorasick::kRefused, fits)
          << shown(text) << " then " << shown({symbol}) << ", round " << round;
      if (!fits) {
        ++refused;
        continue;
      }
      ASSERT_EQ(automaton.nodes[to].depth, begun.size());
      ASSERT_EQ(automaton.may_end(to), !mark.has_value());
      committed += mark.has_value();
      node = to;
      text = next;
    }
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(committed, 1000u);
}

}  // namespace
}  // namespace parlance::grammar::trigger_automaton_test
