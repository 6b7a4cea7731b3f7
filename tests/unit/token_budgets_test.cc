// Budgets of tokens: each id counts one, however many bytes it has, and bytes
// that are no ids count none.  Matcher, mask and tag parser agree.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"

namespace parlance::token_budgets_test {
namespace {

const std::vector<std::string> kTexts = {
    "a", "aaa", "<", "/t>", "</t>", "a</t>", "</t><t>", "<t>", "<e>"};
constexpr TokenId kStop = 8;

Vocabulary vocabulary_of_texts() {
  std::vector<TokenEntry> entries;
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    entries.push_back(
        {static_cast<TokenId>(i), kTexts[i],
         i == kStop ? TokenKind::kControl : TokenKind::kOrdinary});
  }
  const std::vector<TokenId> stops = {kStop};
  return *Vocabulary::from_table(entries, stops);
}

struct Both {
  StructuralTag tag;
  Constraint constraint;
  CompiledTag program;
};

Both compile(const Compiler& compiler, std::string_view format) {
  const Result<StructuralTag> tag =
      StructuralTag::from_json(R"({"format": )" + std::string(format) + "}");
  EXPECT_TRUE(tag) << format;
  const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
  EXPECT_TRUE(grammar) << grammar.error().to_string();
  return {*tag, *compiler.compile(*grammar), *CompiledTag::compile(*tag)};
}

struct Row {
  const char* format;
  std::vector<TokenId> ids;
  bool fits;
};

TEST(TokenBudgets, EachIdCountsOne) {
  const Vocabulary vocabulary = vocabulary_of_texts();
  const Result<Compiler> compiler = Compiler::create(vocabulary);
  ASSERT_TRUE(compiler);
  constexpr const char* kTag = R"({"begin": "<t>", "end": "</t>", "content":
      {"type": "any_text", "max_tokens": 2}})";
  constexpr const char* kTags = R"({"type": "plus", "content": {"begin": "<t>",
      "end": "</t>", "content": {"type": "any_text", "max_tokens": 1}}})";
  constexpr const char* kRule = R"({"begin": "<t>", "end": "</t>", "content":
      {"type": "grammar", "grammar":
       "root ::= text\ntext[max_tokens=2] ::= \"a\"*"}})";
  for (const Row& row : std::vector<Row>{
           {kTag, {7, 0, 0, 4}, true},
           {kTag, {7, 1, 1, 4}, true},
           {kTag, {7, 1, 0, 0, 4}, false},
           {kTag, {7, 0, 5}, true},
           // What begins the end may still be text: it counts until it is not.
           {kTag, {7, 0, 2, 3}, true},
           {kTag, {7, 0, 0, 2, 3}, true},
           {kTag, {7, 4}, true},
           {kTags, {7, 1, 4, 7, 1, 4}, true},
           {kTags, {7, 1, 0, 4}, false},
           {kTags, {7, 1, 6, 1, 4}, true},
           {kRule, {7, 1, 1, 4}, true},
           {kRule, {7, 0, 0, 0, 4}, false},
       }) {
    SCOPED_TRACE(std::string(row.format) + ::testing::PrintToString(row.ids));
    const Both both = compile(*compiler, row.format);
    Matcher matcher = both.constraint.matcher();
    const bool fits =
        matcher.accept_tokens(row.ids) == row.ids.size() && matcher.can_end();
    EXPECT_EQ(fits, row.fits);
    StreamOptions reading;
    reading.vocabulary = &vocabulary;
    TagParser parser(both.program, reading);
    parser.feed_tokens(row.ids);
    parser.finalize();
    EXPECT_EQ(parser.complete(), row.fits);
    // The same as bytes.
    std::string text;
    for (const TokenId id : row.ids) text += kTexts[id];
    Matcher bytes = both.constraint.matcher();
    EXPECT_TRUE(bytes.accept_bytes(text) && bytes.can_end());
    TagParser by_bytes(both.program);
    by_bytes.feed(text);
    by_bytes.finalize();
    EXPECT_TRUE(by_bytes.complete());
  }
}

// Every short list of ids: what the mask says, what the matcher takes and what
// the parser reads.
TEST(TokenBudgets, EveryShortList) {
  const Vocabulary vocabulary = vocabulary_of_texts();
  const Result<Compiler> compiler = Compiler::create(vocabulary);
  ASSERT_TRUE(compiler);
  for (const char* format :
       {R"({"type": "star", "content": {"begin": "<t>", "end": "</t>",
            "content": {"type": "any_text", "max_tokens": 1}}})",
        R"({"type": "sequence", "elements": [
            {"type": "any_text", "max_tokens": 1}, {"value": "</t>"},
            {"type": "any_text", "max_tokens": 2, "max_chars": 4}]})",
        R"({"type": "grammar", "grammar":
            "root ::= (text \"</t>\")*\ntext[max_tokens=2] ::= [a<]*"})"}) {
    SCOPED_TRACE(format);
    const Both both = compile(*compiler, format);
    std::vector<std::vector<TokenId>> lists = {{}};
    std::size_t complete = 0;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const std::vector<TokenId> ids = lists[i];
      Matcher matcher = both.constraint.matcher();
      ASSERT_EQ(matcher.accept_tokens(ids), ids.size());
      StreamOptions reading;
      reading.vocabulary = &vocabulary;
      TagParser parser(both.program, reading);
      parser.feed_tokens(ids);
      parser.finalize();
      ASSERT_EQ(parser.complete(), matcher.can_end())
          << ::testing::PrintToString(ids);
      complete += matcher.can_end();
      std::vector<std::int32_t> row(both.constraint.mask_words());
      matcher.fill_bitmask(row);
      for (TokenId id = 0; id < kStop; ++id) {
        const bool set =
            (static_cast<std::uint32_t>(row[id / 32]) >> (id % 32) & 1) != 0;
        ASSERT_EQ(set, matcher.copy().accept_token(id))
            << ::testing::PrintToString(ids) << " + " << kTexts[id];
        if (!set || ids.size() == 5) continue;
        lists.push_back(ids);
        lists.back().push_back(id);
      }
    }
    EXPECT_GT(complete, 20u);
  }
}

}  // namespace
}  // namespace parlance::token_budgets_test
