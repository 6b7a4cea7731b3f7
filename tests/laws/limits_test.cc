// Every limit of parlance/limits.h, and that of openers in a format file, just
// met and just passed: what happens then
// is defined, reported, and the same however the response is cut.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../support/parse_record.h"

namespace parlance::limits_test {
namespace {

using testing::ParseRecord;
using testing::record_parse;

FormatOptions with(const std::function<void(Limits&)>& change) {
  FormatOptions options;
  change(options.limits);
  return options;
}

Format load(std::string_view text, const FormatOptions& options) {
  Result<Format> format = Format::from_json(text, options);
  EXPECT_TRUE(format.has_value()) << format.error().to_string();
  return *format;
}

ErrorCode refusal(std::string_view text, const FormatOptions& options) {
  Result<Format> format = Format::from_json(text, options);
  EXPECT_FALSE(format.has_value());
  return format ? ErrorCode::kUsage : format.error().code;
}

// The record of `text`, which must be the same for all kinds of pieces.
ParseRecord record_in_pieces(const Format& format, const std::string& text,
                             const StreamOptions& options = {}) {
  ParseRecord whole = record_parse(format, {text}, options);
  EXPECT_EQ(testing::account(whole, text), "") << whole.to_string();
  EXPECT_EQ(testing::fields_alone(whole, text, options), "");
  std::mt19937 random(1);
  for (std::size_t most : {1U, 3U, 30U, 500U}) {
    ParseRecord other = record_parse(
        format, testing::cut_at_random(text, random, most), options);
    EXPECT_EQ(other.to_string(), whole.to_string()) << most;
  }
  return whole;
}

constexpr std::string_view kJson = R"({"start_anchor": "A", "fields": {
    "x": {"open": "<x>", "close": "</x>", "content": "json",
          "repeats": true}}})";

std::string nested(std::size_t depth) {
  return "<x>" + std::string(depth, '[') + std::string(depth, ']') + "</x>";
}

TEST(Limits, JsonDepth) {
  Format format = load(kJson, with([](Limits& l) { l.json_depth = 7; }));
  ParseRecord met = record_in_pieces(format, nested(7));
  EXPECT_FALSE(met.failure.has_value());
  EXPECT_TRUE(met.message.diagnostics.empty());
  ParseRecord passed = record_in_pieces(format, nested(8) + "<x>1</x>");
  ASSERT_TRUE(passed.failure.has_value());
  EXPECT_EQ(passed.failure->code, ErrorCode::kTooDeep);
  EXPECT_EQ(json::dump(passed.message.fields), R"({"x": [1]})");
}

TEST(Limits, IntegerDigits) {
  Format format = load(kJson, with([](Limits& l) { l.integer_digits = 5; }));
  ParseRecord met = record_in_pieces(format, "<x>12345</x>");
  EXPECT_EQ(json::dump(met.message.fields), R"({"x": [12345]})");
  ParseRecord passed = record_in_pieces(format, "<x>123456</x><x>2</x>");
  ASSERT_TRUE(passed.failure.has_value());
  EXPECT_EQ(passed.failure->code, ErrorCode::kInvalidContent);
  EXPECT_EQ(json::dump(passed.message.fields), R"({"x": [2]})");
}

TEST(Limits, Diagnostics) {
  Format format = load(kJson, with([](Limits& l) { l.diagnostics = 2; }));
  std::string text;
  for (int i = 0; i < 5; ++i) text += "<x>?</x>";
  ParseRecord record =
      record_in_pieces(format, text, {.recover = Recover::kYes});
  EXPECT_EQ(record.message.diagnostics.size(), 2U);
  std::size_t malformed = 0;
  for (const auto& event : record.events) {
    malformed += event.kind == EventKind::kRegionMalformed ? 1 : 0;
    EXPECT_EQ(event.diagnostic.empty(),
              event.kind != EventKind::kRegionMalformed);
  }
  EXPECT_EQ(malformed, 5U);
}

// Held text becomes text at the same byte however it came, nothing is lost, and
// delimiters after it are found again.
TEST(Limits, HeldBytes) {
  for (std::string_view open : {"<h>[^<]*<m>", "(?:<h>)(?=([^<]*))\\\\1<m>"}) {
    std::string text = R"({"start_anchor": "A", "fields": {
        "content": {"repeats": true, "join": "|"},
        "x": {"open_pattern": ")" +
                       std::string(open) + R"(", "close": "</x>",
              "repeats": true}}})";
    Format format = load(text, with([](Limits& l) { l.held_bytes = 64; }));
    ParseRecord met =
        record_in_pieces(format, "<h>" + std::string(20, 'a') + "<m>in</x>");
    EXPECT_TRUE(met.message.diagnostics.empty());
    EXPECT_EQ(json::dump(met.message.fields), R"({"x": ["in"]})");

    std::string longer = "<h>" + std::string(200, 'a') + "<m>in</x><h><m>2</x>";
    ParseRecord passed = record_in_pieces(format, longer);
    ASSERT_FALSE(passed.message.diagnostics.empty());
    EXPECT_EQ(passed.message.diagnostics[0].code, ErrorCode::kTooLarge);
    EXPECT_EQ(json::dump(*passed.message.fields.find("x")), R"(["2"])");
    EXPECT_LE(record_parse(format, testing::cut_every(longer, 1)).most_held,
              64U);
  }
}

TEST(Limits, HeldBytesInsideACharacter) {
  Format format = load(R"({"start_anchor": "A", "fields": {
      "content": {}, "x": {"open_pattern": "<h>[^<]*<m>"}}})",
                       with([](Limits& l) { l.held_bytes = 9; }));
  std::string text = "a<h>";
  for (int i = 0; i < 30; ++i) text += "\xF0\x9F\x98\x80é";
  ParseRecord record = record_in_pieces(format, text);
  EXPECT_EQ(record.message.fields.find("content")->as_string(), text);
}

TEST(Limits, MatchSteps) {
  Format format = load(R"({"start_anchor": "A", "fields": {
      "content": {},
      "x": {"open_pattern": "((a+)+)b\\1"}}})",
                       with([](Limits& l) { l.match_steps = 1000; }));
  std::string text = std::string(40, 'a') + "c";
  ParseRecord record = record_parse(format, {text});
  ASSERT_FALSE(record.message.diagnostics.empty());
  EXPECT_EQ(record.message.diagnostics[0].code, ErrorCode::kTooLarge);
  EXPECT_EQ(record.message.fields.find("content")->as_string(), text);
  ParseRecord bytes = record_parse(format, testing::cut_every(text, 1));
  EXPECT_EQ(json::dump(bytes.message.fields),
            json::dump(record.message.fields));
}

constexpr std::string_view kPattern = R"x({"start_anchor": "A", "fields": {
    "x": {"open_pattern": "((((a{20}))))", "close": "b"}}})x";

TEST(Limits, PatternDepth) {
  load(kPattern, with([](Limits& l) { l.pattern_depth = 4; }));
  EXPECT_EQ(refusal(kPattern, with([](Limits& l) { l.pattern_depth = 3; })),
            ErrorCode::kTooLarge);
}

// A pattern with more states than allowed is refused or runs on the engine that
// needs none; what it matches stays the same.
TEST(Limits, PatternStates) {
  std::string text = "-" + std::string(20, 'a') + "inb-";
  std::string expected = record_parse(load(kPattern, {}), {text}).to_string();
  for (std::size_t states : {1U, 10U, 20U, 30U, 100U}) {
    Result<Format> format = Format::from_json(
        kPattern, with([&](Limits& l) { l.pattern_states = states; }));
    if (!format) {
      EXPECT_EQ(format.error().code, ErrorCode::kTooLarge) << states;
      EXPECT_NE(format.error().path, "");
      continue;
    }
    EXPECT_EQ(record_parse(*format, {text}).to_string(), expected) << states;
  }
}

// A pattern that backtracks goes over a long text once per tag, and gives up
// with a diagnostic where each tag would be a walk to the end of the text.
TEST(Limits, BacktrackingTagPattern) {
  Format format = load(
      R"({"start_anchor": "A", "fields": {"x": {"open": "[", "close": "]",
          "content": "xml-inline", "content_args": {"merge_duplicates": true,
          "tag_pattern": "<(?P<key>\\w)>(?P<value>.*?)</(?P=key)>"}}}})",
      {});
  std::string good;
  std::string bad = "<x>";
  for (int i = 0; i < 40000; ++i) {
    good += "<k>a</k>";
    bad += "ab<k>";
  }
  Message message = parse_response(format, "[" + good + "]");
  EXPECT_TRUE(message.diagnostics.empty());
  EXPECT_EQ(message.fields.find("x")->find("k")->size(), 40000U);
  StreamOptions options;
  options.recover = Recover::kYes;
  message = parse_response(format, "[" + bad + "]", options);
  ASSERT_EQ(message.diagnostics.size(), 1U);
  EXPECT_NE(message.diagnostics[0].message.find("match_steps"),
            std::string::npos);
  EXPECT_TRUE(message.parts[0].malformed);
}

// Without memory for its tables the automaton still gives the same answers.
TEST(Limits, AutomatonBytes) {
  for (std::string_view name : Format::built_in_names()) {
    std::string text = "<think>a</think> b <tool_call>{}</tool_call><|im_end|>";
    Format large = *Format::built_in(name);
    Format small = *Format::built_in(
        name, with([](Limits& l) { l.automaton_bytes = 100; }));
    EXPECT_EQ(record_in_pieces(small, text).to_string(),
              record_parse(large, {text}).to_string())
        << name;
  }
}

// A format file of `count` fields whose openers have `size` bytes, with the 1
// between two literals.
std::string many_fields(std::size_t count, std::size_t size) {
  json::Object fields;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = std::to_string(100'000 + i);
    std::string open = "<" + name + ">";
    open.resize(size - 1, '.');
    fields.set("f" + name, json::Object{{"open", open}, {"close", "</>"}});
  }
  return json::dump(json::Object{
      {"name", "many"},
      {"response_template", json::Object{{"start_anchor", "<|a|>"},
                                         {"fields", std::move(fields)}}}});
}

TEST(Limits, Openers) {
  // Few fields with long openers, and many with short ones.
  for (const auto& [count, size] :
       {std::pair<std::size_t, std::size_t>{10, 20'000}, {447, 10}}) {
    const Format format = load(many_fields(count, size), {});
    ResponseParser parser(format);
    parser.feed("<100003>");
    const Result<Format> passed =
        Format::from_json(many_fields(count + 1, size));
    ASSERT_FALSE(passed.has_value());
    EXPECT_EQ(passed.error().code, ErrorCode::kTooLarge);
    EXPECT_EQ(passed.error().path, "/response_template/fields");
  }
  // A bare template has no interruption.
  const json::Value source = *json::parse(many_fields(4000, 10));
  const Format bare = load(json::dump(*source.find("response_template")), {});
  ResponseParser(bare).feed("<100003>.</>");
}

TEST(Limits, SourceBytes) {
  std::size_t size = kJson.size();
  load(kJson, with([&](Limits& l) { l.source_bytes = size; }));
  EXPECT_EQ(refusal(kJson, with([&](Limits& l) { l.source_bytes = size - 1; })),
            ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace parlance::limits_test
