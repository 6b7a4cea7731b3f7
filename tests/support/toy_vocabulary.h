#ifndef PARLANCE_TESTS_SUPPORT_TOY_VOCABULARY_H_
#define PARLANCE_TESTS_SUPPORT_TOY_VOCABULARY_H_

// Small vocabularies with everything that is hard about large ones: tokens
// that end inside a character or an escape, tokens over several lexemes,
// tokens with the same bytes, special tokens spelled like text, gaps.

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/vocabulary.h"

namespace parlance::testing {

inline constexpr std::string_view kToyTexts[] = {
    R"({"ab": 1, "id": "xy12", "a": [true, false, null], "c": "d\u00e9"})",
    "{\n  \"id\":\"abc\",\n\t\"name\": [\"x\", \"\", {\"k\": -12}]\r\n}",
    "[[], {}, [[\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\", 100, 0]], \"a\"]",
    R"("\"\\\/\b\ud83d\ude00 \n", "i", "ida": "abz", "aba":"")",
    "true, null</end>\"",
    "   \t\n  \"ab\" :\"id\": \"id\":\"q7\"}",
};

// All single bytes, pieces of kToyTexts and `texts`, and random pieces.  Some
// ids are unused; the last one is the special token "</s>", a stop token.
inline Vocabulary toy_vocabulary(std::uint32_t seed, std::size_t pieces,
                                 const std::vector<std::string>& texts = {}) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random() % n);
  };
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) {
    tokens.emplace_back(1, static_cast<char>(byte));
  }
  std::vector<std::string> sources(std::begin(kToyTexts), std::end(kToyTexts));
  sources.insert(sources.end(), texts.begin(), texts.end());
  const std::string_view alphabet =
      "\"\"\"\\abidxyz019,:[]{} \n\xC3\xA9\xE2\x82\xF0\x9F-u";
  while (tokens.size() < 256 + pieces) {
    std::string token;
    switch (below(4)) {
      case 0:
        for (std::size_t n = 2 + below(4); n > 0; --n) {
          token += alphabet[below(alphabet.size())];
        }
        break;
      case 1:  // one token once more
        token = tokens[below(tokens.size())];
        break;
      default: {
        const std::string& source = sources[below(sources.size())];
        const std::size_t begin = below(source.size());
        token = source.substr(begin, 1 + below(9));
      }
    }
    tokens.push_back(std::move(token));
  }
  // Longer than any bound that has a mask of its own.
  for (const std::size_t size : {50u, 70u}) {
    tokens.emplace_back(size, 'x');
    tokens.push_back('"' + std::string(size, 'y'));
    tokens.emplace_back(size, ' ');
  }
  std::ranges::shuffle(tokens, random);

  std::vector<TokenEntry> entries;
  TokenId id = 0;
  const auto add = [&](std::string bytes, TokenKind kind) {
    entries.push_back({.id = id++, .bytes = std::move(bytes), .kind = kind});
  };
  for (std::string& token : tokens) {
    if (below(20) == 0) ++id;
    if (below(50) == 0) {
      add("<mark" + std::to_string(id) + ">", TokenKind::kControl);
    }
    add(std::move(token), TokenKind::kOrdinary);
  }
  add("\"", TokenKind::kControl);
  add("</s>", TokenKind::kControl);
  const std::vector<TokenId> stop_ids = {id - 1};
  return *Vocabulary::from_table(entries, stop_ids);
}

// Texts of few letters, for toy_vocabulary(): of two thousand pieces, more than
// 256 then begin with the same classes of bytes, at every depth of a few bytes.
// A walk over classes takes other ways with so many.
inline std::vector<std::string> crowded_texts() {
  std::mt19937 random(3);
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random() % n);
  };
  std::vector<std::string> texts;
  for (int i = 0; i < 80; ++i) {
    std::string text;
    while (text.size() < 24) {
      if (below(8) == 0) text += "  -0\xC3\xA9\n"[below(7)];
      text += static_cast<char>('a' + below(8));
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_TOY_VOCABULARY_H_
