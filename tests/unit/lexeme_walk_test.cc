// The walk over shapes against reading every token byte by byte.

#include "mask/lexeme_walk.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "json_recogniser/json_recogniser.h"
#include "parlance/json.h"
#include "parlance/vocabulary.h"
#include "recogniser/recogniser.h"
#include "schema/document.h"
#include "vocab/string_class_trie.h"

namespace parlance::mask::lexeme_walk_test {
namespace {

using json_recogniser::JsonRecogniser;
using recogniser::Configuration;

// Words, numbers, dates, pieces of UTF-8 and of escapes, long tokens,
// references.
Vocabulary vocabulary(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random() % n);
  };
  const std::vector<std::string> parts = {"a",        "b",
                                          "e",        "f",
                                          "z",        "ab",
                                          "Ab",       "CD",
                                          "X",        "0",
                                          "12",       "2024",
                                          "-",        ".",
                                          "@",        "/",
                                          " ",        "_",
                                          "\"",       "\",",
                                          "\\n",      "\\u0",
                                          "\\u",      "\\",
                                          "é",        "\xC3",
                                          "\xA9",     "中",
                                          "\xE4",     "\xB8",
                                          "\xF0\x9F", "😀",
                                          "\\\\\"",   "aaaaaaaaaaaa",
                                          "------"};
  std::vector<TokenEntry> entries;
  TokenId id = 0;
  for (int byte = 0; byte < 256; ++byte) {
    entries.push_back({.id = id++, .bytes = std::string(1, char(byte))});
  }
  for (int i = 0; i < 1500; ++i) {
    std::string bytes;
    for (std::size_t n = 1 + below(5); n > 0; --n) {
      bytes += parts[below(parts.size())];
    }
    entries.push_back({.id = id++, .bytes = bytes});
  }
  return *Vocabulary::from_table(entries);
}

constexpr const char* kSchemas[] = {
    R"({"type": "string", "pattern": "ab"})",
    R"({"type": "string", "pattern": "^[a-z]+-[0-9a-f]+$"})",
    R"({"type": "string", "pattern": "^[\\w.-]+@[a-z.]+$", "maxLength": 30})",
    R"({"type": "string", "pattern": "[0-9]{4}-[0-9]{2}", "maxLength": 40})",
    R"({"type": "string", "pattern": "(ab|b)$", "maxLength": 9})",
    R"({"type": "string", "pattern": "^(\\p{L}|[ -])*$"})",
    R"({"type": "string", "pattern": "^[^/]*é?[^/]*$", "maxLength": 26})",
    R"({"type": "string", "pattern": "^.*a.*[Zz]$"})",
    R"({"type": "string", "pattern": "^(?!ab).*e$", "minLength": 3})",
    R"({"type": "string", "pattern": "^[A-F0-9]{2,24}$"})",
    R"({"anyOf": [{"type": "string", "pattern": "^a+$"},
                  {"type": "string", "pattern": "x.$"}]})",
    R"({"type": "object", "additionalProperties": false, "patternProperties":
        {"^[a-z]+-[0-9a-f]+$": true, "ab": {"type": "null"}}})",
};

// Words of few letters: many tokens have the same byte classes, so a walk does
// not read them one by one if it knows that they are accepted.
Vocabulary many_words(std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<TokenEntry> entries;
  TokenId id = 0;
  for (int byte = 0; byte < 256; ++byte) {
    entries.push_back({.id = id++, .bytes = std::string(1, char(byte))});
  }
  for (int i = 0; i < 1500; ++i) {
    std::string bytes(i % 3 == 0 ? " " : "");
    for (std::size_t n = 2 + random() % 5; n > 0; --n) {
      bytes += static_cast<char>('a' + random() % 8);
    }
    entries.push_back({.id = id++, .bytes = bytes});
  }
  return *Vocabulary::from_table(entries);
}

constexpr const char* kForbidding[] = {
    R"({"type": "string", "not": {"pattern": "c.*d"}})",
    R"({"type": "string", "not": {"pattern": "c.*d"}, "maxLength": 30})",
    R"({"type": "string", "not": {"pattern": "a.*b.*c.*d"}})",
    R"({"type": "string", "not": {"pattern": "[ab].*[cde]|ff|h\\u2028"}})",
    R"({"type": "string", "not": {"pattern": "a.*[é-ü]"}})",
    R"({"type": "string", "not": {"pattern": "abc"}, "minLength": 9})",
    R"({"type": "string", "allOf": [{"not": {"pattern": "a.*b.*c"}},
                                    {"not": {"pattern": "f.*g"}}]})",
    R"({"type": "object", "additionalProperties": false, "patternProperties":
        {"ab.*c": true, "^(b|c|d|.*h)*$": {"type": "null"}}})",
};

// Patterns that divide the letters of many_words().
constexpr const char* kDividing[] = {
    R"({"type": "string", "pattern": "[a-c]"})",
    R"({"type": "string", "pattern": "[0-9a-c]+", "minLength": 7,
        "maxLength": 7})",
    R"({"type": "string", "pattern": "^.*[ab].?$", "maxLength": 11})",
    R"({"type": "string", "pattern": "^(ab|[c-h ])+$"})",
    R"({"type": "string", "pattern": "^ ?[a-d]*([e-h]+[a-d ]?)*$",
        "maxLength": 13})",
    R"({"type": "string", "pattern": "^([^\\s]+\\s+){0,3}[a-g]+$"})",
    R"({"type": "string", "pattern": "(a|b.)(c|d.|)[e-g]$"})",
    R"({"type": "string", "pattern": "^(?!abc|.*dd)[a-g ]*$", "minLength": 5})",
    // 2^7 states: a text of seven letters may end in any of them.
    R"({"type": "string", "pattern": "^[a-z ]*a[a-z]{6}$"})",
    R"({"type": "string", "pattern": "^[a-z ]*a[a-z]{6}$", "maxLength": 16})",
    R"({"type": "string", "allOf": [{"pattern": "[ab]"}, {"pattern": "[cd]"},
        {"pattern": "^[^h]*$"}]})",
};

class LexemeWalks : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  // Compares more than `least` masks.
  static void compare(const Vocabulary& tokens,
                      std::span<const char* const> schemas, std::size_t least);
};

void LexemeWalks::compare(const Vocabulary& tokens,
                          std::span<const char* const> schemas,
                          std::size_t least) {
  const auto tables = *vocab::TokenTables::build(tokens);
  const vocab::StringClassTrie classes(tables, tokens);
  const auto bytes = std::make_shared<std::atomic<std::size_t>>(0);
  const TokenBytes token_bytes(classes, bytes);
  LexemeWalk walk(tables, tokens, token_bytes);
  std::mt19937 random(GetParam());
  std::size_t walked = 0;
  for (const char* schema : schemas) {
    const std::unique_ptr<JsonRecogniser> machine =
        *JsonRecogniser::create(*schema::load(*json::parse(schema), {}), {});
    const std::lock_guard lock(machine->mutex);
    for (int text = 0; text < 12; ++text) {
      Configuration at = machine->step(machine->start(), '"');
      if (at.dead()) {
        at = machine->step(machine->step(machine->start(), '{'), '"');
      }
      ASSERT_FALSE(at.dead());
      std::string written;
      for (int step = 0; step < 6; ++step) {
        const recogniser::Hint hint = machine->hint(at);
        const auto* const lexeme =
            std::get_if<recogniser::LexemeHint>(&hint.place);
        const bool by_state = lexeme != nullptr && lexeme->states != nullptr;
        const std::uint32_t room =
            by_state ? lexeme->chars_left : base::kUnbounded;
        SCOPED_TRACE(std::string(schema) + " after " + written + " seed " +
                     std::to_string(GetParam()));
        LexemeMask compiler;
        compiler.bounded = room != base::kUnbounded;
        LexemeMask own;
        std::vector<std::uint32_t> words(tables.mask_words());
        std::vector<std::uint32_t> own_words(tables.mask_words());
        if (by_state) {
          walk.run(*machine, classes, lexeme->state, base::kUnbounded, words,
                   compiler);
          walk.run(*machine, classes, lexeme->state, room, own_words, own);
          for (const LongToken& one : compiler.longs) {
            if (one.need > room) words[one.id >> 5] &= ~(1U << (one.id & 31));
          }
          ++walked;
        }
        std::vector<TokenId> going_on;
        for (TokenId id = 0; id < tokens.size(); ++id) {
          Configuration to = at;
          bool stays = true;
          for (const char c : tokens.bytes(id)) {
            const Configuration next =
                machine->step(to, static_cast<std::uint8_t>(c));
            stays = !next.dead() && machine->chars_needed(to, next).has_value();
            if (!stays) break;
            to = next;
          }
          if (stays) going_on.push_back(id);
          if (!by_state) continue;
          ASSERT_EQ(own_words[id >> 5] >> (id & 31) & 1, stays)
              << "token " << tokens.bytes(id);
          if (compiler.need > room) continue;
          ASSERT_EQ(words[id >> 5] >> (id & 31) & 1, stays)
              << "token " << tokens.bytes(id) << ", of all rooms";
        }
        if (going_on.empty()) break;
        const TokenId id = going_on[random() % going_on.size()];
        written += tokens.bytes(id);
        for (const char c : tokens.bytes(id)) {
          at = machine->step(at, static_cast<std::uint8_t>(c));
        }
      }
    }
  }
  EXPECT_GT(walked, least);
}

TEST_P(LexemeWalks, AreAsReadingEveryToken) {
  compare(vocabulary(GetParam()), kSchemas, 200);
}

TEST_P(LexemeWalks, OfManyTokensWithTheSameClasses) {
  compare(many_words(GetParam()), kForbidding, 100);
  compare(many_words(GetParam()), kDividing, 150);
  compare(many_words(GetParam()), kSchemas, 100);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LexemeWalks, ::testing::Range(0U, 6U));

}  // namespace
}  // namespace parlance::mask::lexeme_walk_test
