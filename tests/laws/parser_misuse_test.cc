// A parser used otherwise than from feed to finalize to message: what its
// header promises of that.  And both parsers in one script, as
// parlance/stream.h has it.

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../support/byte_vocabulary.h"
#include "../support/parse_record.h"
#include "parlance/stream.h"
#include "parlance/tag_parser.h"

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

// A format and a tag that read the same texts alike.
struct ByFormat {
  using Parser = ResponseParser;
  static constexpr std::string_view kPrompt = "A";
  static Parser parser(const StreamOptions& options) {
    static const Format format =
        *Format::from_json(R"({"start_anchor": "A", "fields": {
        "content": {}, "reasoning": {"open": "<t>", "close": "</t>"}}})");
    return ResponseParser(format, options);
  }
};
struct ByTag {
  using Parser = TagParser;
  static constexpr std::string_view kPrompt = "";
  static Parser parser(const StreamOptions& options) {
    static const CompiledTag tag = *CompiledTag::compile(
        *StructuralTag::from_json(R"({"format": {"elements": [
            {"begin": "<t>", "content": {"type": "any_text"}, "end": "</t>",
             "field": "reasoning"}, {"type": "any_text"}]}})"));
    return TagParser(tag, options);
  }
};

std::string shown(std::span<const Event> events) {
  std::string out;
  for (const Event& event : events) {
    out += std::string(to_string(event.kind)) + ' ' + std::string(event.field) +
           " [" + std::to_string(event.bytes.begin) + ", " +
           std::to_string(event.bytes.end) + ")";
    if (event.tokens.end > 0) {
      out += " tokens [" + std::to_string(event.tokens.begin) + ", " +
             std::to_string(event.tokens.end) + ")";
    }
    if (!event.text.empty()) out += " " + std::string(event.text);
    if (event.value != nullptr) out += " " + json::dump(*event.value);
    out += '\n';
  }
  return out;
}

std::string code_of(const Error* error) {
  return error == nullptr ? "none" : std::string(to_string(error->code));
}

// What both parsers do between their rounds; returns all that was seen.
template <StreamParser Parser>
std::string follow(Parser parser, bool by_ids) {
  std::string out;
  const auto feed = [&](std::string_view text) {
    std::vector<TokenId> ids;
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
    const std::span<const Event> events =
        by_ids ? parser.feed_tokens(ids) : parser.feed(text);
    out += shown(events) + "held " + std::string(parser.held()) + ' ' +
           std::to_string(parser.held_bytes()) + ", misuse " +
           code_of(parser.misuse()) + '\n';
  };
  EXPECT_EQ(parser.reads_tokens(), by_ids);
  EXPECT_EQ(parser.prefix_bytes(), 4u);
  out += shown(parser.initial_events());
  Parser moved = std::move(parser);
  parser = std::move(moved);
  EXPECT_EQ(parser.initial_events().size(), 2u);
  // Text and tokens do not mix; that ends nothing.
  const TokenId id = 'x';
  EXPECT_TRUE(
      (by_ids ? parser.feed("x") : parser.feed_tokens({&id, 1})).empty());
  EXPECT_EQ(code_of(parser.misuse()), "usage");
  EXPECT_TRUE(parser.initial_events().empty());
  EXPECT_FALSE(parser.finalized());
  for (const std::string_view text : {"", "m.</", "t", "", ">", "Hi", ""}) {
    feed(text);
  }
  EXPECT_FALSE(parser.message().complete);
  out += shown(parser.finalize());
  EXPECT_TRUE(parser.finalized());
  EXPECT_TRUE(parser.finalize().empty());
  EXPECT_EQ(parser.misuse(), nullptr);
  EXPECT_EQ(parser.held_bytes(), 0u);
  feed("x");
  const Message message = std::move(parser).take_message();
  EXPECT_TRUE(message.complete);
  EXPECT_EQ(message.parts.size(), 2u);
  for (const char* field : {"reasoning", "content"}) {
    out += json::dump(*message.fields.find(field)) + '\n';
  }
  return out;
}

template <class By>
void run_script() {
  static_assert(StreamParser<typename By::Parser>);
  constexpr std::string_view kSeen =
      "region_open reasoning [0, 3)\n"
      "region_chunk reasoning [3, 4) H\n"
      "held  0, misuse none\n"
      "region_chunk reasoning [4, 6)T0 m.\n"
      "held </ 2, misuse none\n"
      "held </t 3, misuse none\n"
      "held </t 3, misuse none\n"
      "region_close reasoning [6, 10)T1 \"Hm.\"\n"
      "held  0, misuse none\n"
      "region_open content [10, 10)T2\n"
      "region_chunk content [10, 12)T3 Hi\n"
      "held  0, misuse none\n"
      "held  0, misuse none\n"
      "region_close content [12, 12)T4 \"Hi\"\n"
      "held  0, misuse finalized\n"
      "\"Hm.\"\n\"Hi\"\n";
  const auto expected = [&](std::vector<std::string_view> tokens) {
    std::string out(kSeen);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::string mark = "T" + std::to_string(i);
      out.replace(out.find(mark), mark.size(), tokens[i]);
    }
    return out;
  };
  const std::vector<std::string_view> of_ids = {
      " tokens [0, 2)", " tokens [2, 6)", " tokens [6, 6)", " tokens [6, 8)",
      " tokens [8, 8)"};
  const std::string prefix = std::string(By::kPrompt) + "<t>H";
  EXPECT_EQ(follow(By::parser({.prefix = prefix}), false),
            expected({"", "", "", "", ""}));
  const Vocabulary vocabulary =
      testing::byte_vocabulary(std::vector<std::string>());
  EXPECT_EQ(
      follow(By::parser({.prefix = prefix, .vocabulary = &vocabulary}), true),
      expected(of_ids));
  const std::vector<TokenId> ids(prefix.begin(), prefix.end());
  EXPECT_EQ(
      follow(By::parser({.prefix_ids = ids, .vocabulary = &vocabulary}), true),
      expected(of_ids));
}

TEST(BothParsers, FollowOneScript) {
  run_script<ByFormat>();
  run_script<ByTag>();
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
