// A parser used otherwise than from feed to finalize to message: what its
// header promises of that.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../support/parse_record.h"

namespace parlance::parser_misuse_test {
namespace {

constexpr std::string_view kTemplate = R"({"start_anchor": "A", "fields": {
    "content": {},
    "x": {"open": "<x>", "close": "</x>", "content": "json", "repeats": true},
    "must": {"open": "<m>", "close": "</m>", "optional": false}}})";

TEST(ParserMisuse, NothingHappensAfterFinalize) {
  Format format = *Format::from_json(kTemplate);
  ResponseParser parser(format);
  parser.feed("a<x>1</x>");
  EXPECT_FALSE(parser.finalized());
  parser.finalize();
  EXPECT_TRUE(parser.finalized());
  std::string before = json::dump(parser.message().fields);
  EXPECT_TRUE(parser.feed("<x>2</x>").empty());
  EXPECT_TRUE(parser.feed("").empty());
  EXPECT_TRUE(parser.finalize().empty());
  EXPECT_EQ(json::dump(parser.message().fields), before);
  EXPECT_EQ(parser.held_bytes(), 0U);
  ASSERT_NE(parser.failure(), nullptr);
  EXPECT_EQ(parser.failure()->code, ErrorCode::kMissingRequired);
}

TEST(ParserMisuse, TextAndTokensDoNotMix) {
  Format format = *Format::from_json(kTemplate);
  std::vector<TokenEntry> entries = {{0, "a"}};
  Vocabulary vocabulary = *Vocabulary::from_table(entries);
  ResponseParser text(format);
  std::vector<TokenId> ids = {0};
  EXPECT_TRUE(text.feed_tokens(ids).empty());
  ResponseParser tokens(format, {.vocabulary = &vocabulary});
  EXPECT_TRUE(tokens.feed("a").empty());
  EXPECT_EQ(tokens.feed_tokens(ids).size(), 2U);
}

// Events alone: they are the same, and what is closed is not kept.
TEST(ParserMisuse, EventsOnly) {
  Format format = *Format::from_json(kTemplate);
  std::string text = "a<x>[1, 2]</x>b<x>?</x><m>c</m><x>3";
  for (std::size_t size : {1U, 4U, 100U}) {
    auto chunks = testing::cut_every(text, size);
    testing::ParseRecord kept = testing::record_parse(format, chunks);
    testing::ParseRecord events =
        testing::record_parse(format, chunks, {.keep_message = false});
    ASSERT_EQ(events.events.size(), kept.events.size());
    for (std::size_t i = 0; i < kept.events.size(); ++i) {
      EXPECT_EQ(events.events[i].to_string(), kept.events[i].to_string());
    }
    EXPECT_TRUE(events.message.parts.empty());
    EXPECT_EQ(events.message.complete, kept.message.complete);
    EXPECT_EQ(events.message.diagnostics.size(),
              kept.message.diagnostics.size());
    EXPECT_EQ(events.message.fields.find("x"), nullptr);
  }
  ResponseParser parser(format, {.keep_message = false});
  for (int i = 0; i < 10000; ++i) {
    parser.feed("<x>[1, 2, 3]</x>text");
    ASSERT_TRUE(parser.message().parts.empty());
    ASSERT_LE(parser.message().fields.memory_bytes(), 200U);
  }
}

TEST(ParserMisuse, InitialEventsStayUntilTheFirstFeed) {
  Format format = *Format::from_json(kTemplate);
  std::string prefix = "promptA<x>1</x>te";
  ResponseParser parser(format, {.prefix = prefix});
  prefix.assign(prefix.size(), '?');
  ASSERT_FALSE(parser.initial_events().empty());
  EXPECT_EQ(parser.initial_events()[0].field, "x");
  EXPECT_EQ(parser.prefix_bytes(), 10U);
  ResponseParser moved = std::move(parser);
  EXPECT_EQ(moved.initial_events()[1].text, "1");
  moved.feed("xt");
  EXPECT_TRUE(moved.initial_events().empty());
  moved.finalize();
  Message message = std::move(moved).take_message();
  EXPECT_EQ(json::dump(message.fields), R"({"x": [1], "content": "text"})");
}

TEST(ParserMisuse, EmptyChunksSayNothing) {
  Format format = *Format::from_json(kTemplate);
  ResponseParser parser(format);
  for (std::string_view chunk : {"", "a", "", "<", "", "x", "", ">", ""}) {
    auto events = parser.feed(chunk);
    if (chunk.empty()) {
      EXPECT_TRUE(events.empty());
    }
  }
}

// Parsers of one format know nothing of each other.
TEST(ParserMisuse, ParsersShareAFormat) {
  Format format = *Format::from_json(kTemplate);
  ResponseParser one(format);
  ResponseParser two(format);
  one.feed("<x>[1");
  two.feed("text<m>");
  one.feed("]</x>");
  two.feed("y</m>");
  one.finalize();
  two.finalize();
  EXPECT_EQ(json::dump(one.message().fields), R"({"x": [[1]]})");
  EXPECT_EQ(json::dump(two.message().fields),
            R"({"content": "text", "must": "y"})");
}

}  // namespace
}  // namespace parlance::parser_misuse_test
