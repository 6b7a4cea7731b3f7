// With a vocabulary: ids instead of text.
//
//   a delimiter that spells a special token matches that token, not its letters
//   how the ids are grouped changes nothing
//   the tokens of the events cover what was fed

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "../support/parse_record.h"

namespace parlance::tokens_test {
namespace {

using testing::ParseRecord;

constexpr std::string_view kTemplate = R"({"start_anchor": "A", "fields": {
    "content": {"repeats": true, "join": "|", "content_args": {"strip": false}},
    "thinking": {"open": "<think>", "close": "</think>",
                 "content_args": {"strip": false}},
    "x": {"open": "<x>", "close_pattern": "\\s*</x>"}}})";

// ORDER: entries()
enum : TokenId {
  kThink = 0,
  kEndThink = 1,
  kA = 2,
  kLess = 3,
  kThinkLetters = 4,
  kGreater = 5,
  kEmoji0 = 6,  // and the next three: the bytes of one character
  kOpenX = 10,
  kCloseX = 11,
  kSpaces = 12,
  kUnknown = 13,  // inside the table, without a token
  kOther = 14,    // a special token that no delimiter spells
};

Vocabulary vocabulary() {
  std::vector<TokenEntry> entries = {
      {kThink, "<think>", TokenKind::kControl},
      {kEndThink, "</think>", TokenKind::kControl},
      {kA, "a"},
      {kLess, "<"},
      {kThinkLetters, "think"},
      {kGreater, ">"},
      {kEmoji0, "\xF0"},
      {kEmoji0 + 1, "\x9F"},
      {kEmoji0 + 2, "\x98"},
      {kEmoji0 + 3, "\x80"},
      {kOpenX, "<x>"},
      {kCloseX, " </x>"},
      {kSpaces, "  "},
      {kOther, "<|end|>", TokenKind::kControl},
  };
  return *Vocabulary::from_table(entries);
}

ParseRecord record_tokens(const std::vector<std::vector<TokenId>>& groups,
                          std::string_view prefix = {}) {
  static const Vocabulary* kVocabulary = new Vocabulary(vocabulary());
  return testing::record_tokens(*Format::from_json(kTemplate), groups,
                                {.prefix = prefix, .vocabulary = kVocabulary});
}

std::string fields(const ParseRecord& record) {
  return json::dump(record.message.fields);
}

TEST(Tokens, ASpecialTokenIsNotItsSpelling) {
  EXPECT_EQ(fields(record_tokens({{kThink, kA, kEndThink, kA}})),
            R"({"thinking": "a", "content": "a"})");
  // The letters < think > are text.
  EXPECT_EQ(fields(record_tokens({{kLess, kThinkLetters, kGreater, kA}})),
            R"({"content": "<think>a"})");
  EXPECT_EQ(fields(record_tokens(
                {{kThink, kLess, kThinkLetters, kGreater, kEndThink}})),
            R"({"thinking": "<think>"})");
  // A delimiter that no special token spells is met as text.
  EXPECT_EQ(fields(record_tokens({{kOpenX, kA, kCloseX, kA}})),
            R"({"x": "a", "content": "a"})");
}

TEST(Tokens, OtherSpecialTokensAreText) {
  EXPECT_EQ(fields(record_tokens({{kA, kOther, kA}})),
            R"({"content": "a<|end|>a"})");
}

// In the prompt a spelling counts: whoever wrote the prompt put it there.
TEST(Tokens, PrefixSpellsTokens) {
  EXPECT_EQ(fields(record_tokens({{kA, kEndThink}}, "xA<think>")),
            R"({"thinking": "a"})");
}

TEST(Tokens, ACharacterInSeveralTokens) {
  ParseRecord record = record_tokens(
      {{kA, kEmoji0}, {kEmoji0 + 1, kEmoji0 + 2}, {kEmoji0 + 3, kThink}});
  EXPECT_EQ(record.message.fields.find("content")->as_string(),
            "a\xF0\x9F\x98\x80");
  // Not finished: replaced where the mark stands.
  EXPECT_EQ(record_tokens({{kEmoji0, kEmoji0 + 1, kThink, kA}})
                .message.fields.find("content")
                ->as_string(),
            "\uFFFD");
}

TEST(Tokens, UnknownIds) {
  for (TokenId id : {TokenId{kUnknown}, TokenId{4000000000U}}) {
    ParseRecord record = record_tokens({{kA, id, kA}});
    EXPECT_EQ(record.message.fields.find("content")->as_string(), "a\uFFFDa");
    ASSERT_EQ(record.message.diagnostics.size(), 1U);
    EXPECT_EQ(record.message.diagnostics[0].code, ErrorCode::kBadVocabulary);
  }
}

TEST(Tokens, GroupingChangesNothing) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::vector<TokenId> ids;
    for (unsigned n = random() % 30; n > 0; --n) ids.push_back(random() % 16);
    ParseRecord whole = record_tokens({ids});
    std::vector<std::vector<TokenId>> single;
    std::vector<std::vector<TokenId>> groups(1);
    for (TokenId id : ids) {
      single.push_back({id});
      if (random() % 3 == 0) groups.emplace_back();
      groups.back().push_back(id);
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + whole.to_string());
    ASSERT_EQ(record_tokens(single).to_string(), whole.to_string());
    ASSERT_EQ(record_tokens(groups).to_string(), whole.to_string());
    // Account, in bytes and in tokens.
    std::string stream;
    Vocabulary table = vocabulary();
    std::vector<std::size_t> ends;
    for (TokenId id : ids) {
      stream += table.kind(id) == TokenKind::kUnused
                    ? std::string("\uFFFD")
                    : std::string(table.bytes(id));
      ends.push_back(stream.size());
    }
    ASSERT_EQ(testing::account(whole, stream, false), "");
    for (const testing::EventRecord& event : whole.events) {
      ASSERT_LE(event.tokens.end, ids.size());
      if (event.bytes.size() == 0) continue;
      // The first token that holds a byte of it, and the last.
      std::size_t first = 0;
      while (ends[first] <= event.bytes.begin) ++first;
      std::size_t last = first;
      while (ends[last] < event.bytes.end) ++last;
      ASSERT_EQ(event.tokens, (Span{first, last + 1})) << event.to_string();
    }
  }
}

}  // namespace
}  // namespace parlance::tokens_test
