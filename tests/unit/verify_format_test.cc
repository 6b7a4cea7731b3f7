#include "parlance/verify_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "parlance/vocabulary.h"
#include "support/byte_vocabulary.h"

namespace parlance::verify_format_test {
namespace {

std::string show(const FormatFinding& finding) {
  return finding.error.to_string() + "\n" + finding.text + "\n" +
         json::dump(finding.meant) + "\n" + json::dump(finding.read);
}

// The files that come with the library are read as any user's file, too: what
// they write is read back, and nothing of it is left out.
TEST(VerifyFormat, FindsNothingInTheBuiltInFormats) {
  for (const std::string_view name : Format::built_in_names()) {
    SCOPED_TRACE(name);
    const Result<Format> format = Format::built_in(name);
    const Result<Format> file = Format::from_json(format->to_json());
    ASSERT_TRUE(file) << file.error().to_string();
    for (const FormatFinding& finding : verify_format(*file)) {
      ADD_FAILURE() << show(finding);
    }
    StructuralTagOptions options;
    options.tools = *json::parse(R"([{"type": "function", "function": {
        "name": "f", "parameters": {"type": "object", "properties": {
          "a": {"type": "string"}, "b": {"type": "object"}},
          "additionalProperties": false}}}])");
    const Result<StructuralTag> tag = format->structural_tag(options);
    const Result<StructuralTag> other = file->structural_tag(options);
    ASSERT_EQ(tag.has_value(), other.has_value());
    if (!tag) continue;
    EXPECT_EQ(json::dump(tag->to_json()), json::dump(other->to_json()));
  }
}

// A file whose calls have arguments as <KEY>VALUE</>.
std::string elements(std::string_view value, std::string_view parser) {
  return R"({"name": "mine", "response_template": {
      "start_anchor": "<|assistant|>", "fields": {
        "tool_calls": {"open_pattern": "<call:(?P<name>[a-z_]+)>",
          "close": "</call>", "repeats": true, "content": "xml-inline",
          "content_args": {"value_parser": )" +
         std::string(parser) + R"(,
            "tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</>"},
          "transform": {"type": "function", "function":
            {"name": "{name}", "arguments": "{content}"}}},
        "content": {"repeats": true, "join": ""}}},
      "parlance": {"write": {"order": ["content?", "tool_calls*"],
        "content": {"parts": [{"text": true}]},
        "tool_calls": {"parts": ["<call:", {"name": "raw"}, ">",
          {"arguments": {"each": ["<", {"key": "raw"}, ">", {"value": ")" +
         std::string(value) + R"("}, "</>"]}}, "</call>"]}}}})";
}

TEST(VerifyFormat, PointsIntoTheFile) {
  EXPECT_TRUE(
      verify_format(*Format::from_json(elements("raw", "null"))).empty());
  const std::vector<FormatFinding> found =
      verify_format(*Format::from_json(elements("raw", R"({"name": "int"})")));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].error.code, ErrorCode::kConflict);
  EXPECT_EQ(found[0].error.path,
            "/parlance/write/tool_calls/parts/3/arguments");
  EXPECT_NE(found[0].error.message.find("is not an integer"),
            std::string::npos);
}

// The pointers of given tools are theirs.
TEST(VerifyFormat, TakesTheToolsOfARequest) {
  VerifyFormatOptions options;
  options.tools = *json::parse(R"([{"type": "function", "function": {
      "name": "a:b", "parameters": {"type": "object"}}}])");
  const std::vector<FormatFinding> found =
      verify_format(*Format::from_json(elements("raw", "null")), options);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].error.path, "/tools");
}

// What is wrong beside the calls: random responses show it, and a short one is
// told.
TEST(VerifyFormat, WalksFindWhatCallsDoNotShow) {
  const std::string good = elements("raw", "null");
  const Result<Format> format = Format::from_json(good);
  for (const FormatFinding& finding :
       verify_format(*format, {.walks = 300, .seed = 5})) {
    ADD_FAILURE() << show(finding);
  }
  // A line feed before a call, which the template reads as text.
  std::string feed = good;
  const auto replace = [&](std::string_view from, std::string_view to) {
    feed.replace(feed.find(from), from.size(), to);
  };
  replace(R"("join": "")", R"("join": "", "content_args": {"strip": false})");
  replace(R"("tool_calls": {"parts")",
          R"("tool_calls": {"before": ["\n"], "parts")");
  const Result<Format> broken = Format::from_json(feed);
  ASSERT_TRUE(broken) << broken.error().to_string();
  EXPECT_TRUE(verify_format(*broken).empty());
  const std::vector<FormatFinding> found =
      verify_format(*broken, {.walks = 200});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].error.message.find("is not rendered"), std::string::npos)
      << show(found[0]);
  EXPECT_LE(found[0].text.size(), 40u) << found[0].text;
}

// A file whose calls have an argument a line, with JSON in a second notation.
std::string lines(std::string_view value, std::string_view parser) {
  return R"({"name": "mine", "response_template": {
      "start_anchor": "<|assistant|>", "fields": {
        "tool_calls": {"open_pattern": "<call>(?P<name>\\w+)\\n",
          "close": "</call>", "repeats": true, "content": "kv-lines",
          "content_args": {"value_parser": {"name": ")" +
         std::string(parser) + R"j("}},
          "transform": {"type": "function", "function":
            {"name": "{name}", "arguments": "{content}"}}},
        "json_calls": {"open_pattern": "<call>(?=\\s*\\{)",
          "close": "</call>", "repeats": true, "content": "json",
          "transform": {"type": "function", "function":
            {"name": "{content.name}", "arguments": "{content.arguments}"}}},
        "content": {"repeats": true, "join": ""}}},
      "parlance": {
        "read": {"json_calls": {"as": "tool_calls", "ends": "value"}},
        "write": {"order": ["content?", "tool_calls*"],
        "content": {"parts": [{"text": true}]},
        "tool_calls": {"parts": ["<call>", {"name": "raw"}, "\n",
          {"arguments": {"each": [{"key": "raw"}, ": ", {"value": ")j" +
         std::string(value) + R"("}, "\n"]}}, "</call>"]}}}})";
}

// JSON on one line, strings that are trimmed by the line and by the pattern,
// and calls in two notations: the grammar writes what comes back.
TEST(VerifyFormat, ValuesOnOneLineAndTrimmedOnes) {
  std::string spaced = elements("raw", "null");
  const std::string_view value = "(?P<value>.*?)";
  spaced.replace(spaced.find(value), value.size(),
                 "\\\\s*(?P<value>.*?)\\\\s*");
  VerifyFormatOptions options{.walks = 200, .seed = 3};
  options.tools = *json::parse(R"([{"type": "function", "function": {
      "name": "f", "parameters": {"type": "object", "required": ["s"],
        "additionalProperties": true, "properties": {"s": {"type": "string"}, "n": {"type": "integer"},
          "o": {"type": "object", "properties": {"a": {"type": "string"}}},
          "l": {"type": "array", "items": {"type": "string"}}}}}}])");
  StructuralTagOptions request;
  request.tools = options.tools;
  for (const std::string& source :
       {lines("json", "json"), lines("raw", "text"), spaced}) {
    SCOPED_TRACE(source);
    const Result<Format> format = Format::from_json(source);
    ASSERT_TRUE(format) << format.error().to_string();
    for (const FormatFinding& finding : verify_format(*format, options)) {
      ADD_FAILURE() << show(finding);
    }
    const Result<Grammar> grammar = format->grammar(request);
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    const bool by_line = source != spaced;
    const auto call = [&](std::string_view s, std::string_view o) {
      const std::string first(s), second(o);
      return by_line ? "<call>f\ns: " + first + "\no: " + second + "\n</call>"
                     : "<call:f><s>" + first + "</><o>" + second + "</></call>";
    };
    const bool json = source.find(R"("value": "json")") != source.npos;
    const std::string_view s = json ? R"(" x ")" : "x y";
    EXPECT_TRUE(grammar->accepts(call(s, R"({"a": "b"})")));
    EXPECT_EQ(grammar->accepts(call(s, "{\"a\":\n\"b\"}")), !by_line);
    // Arguments that are not declared, too.
    const std::string named = call(s, json ? R"("b")" : "b");
    for (const char first : {'a', 'b', 'g', 'x'}) {
      std::string other = named;
      const std::string_view key = by_line ? "\no:" : "<o>";
      other.replace(other.find(key) + 1, 1, std::string{first, 'y'});
      EXPECT_TRUE(grammar->accepts(other)) << other;
    }
    if (!json) {
      EXPECT_FALSE(grammar->accepts(call(" x", "{}")));
      EXPECT_FALSE(grammar->accepts(call("x ", "{}")));
    }
    EXPECT_FALSE(grammar->accepts("<call>{\"name\": \"f\"}</call>"));
  }
}

// Masks in the tokens of a vocabulary, in which texts of the format are marks.
TEST(VerifyFormat, WalksInTokens) {
  const std::pair<std::string, TokenKind> marks[] = {
      {"</call>", TokenKind::kAdded}, {"</>", TokenKind::kAdded}};
  const Vocabulary words =
      testing::byte_vocabulary(std::vector<std::string_view>{"ab"}, marks);
  for (const FormatFinding& finding :
       verify_format(*Format::from_json(elements("raw", "null")),
                     {.vocabulary = &words, .walks = 100})) {
    ADD_FAILURE() << show(finding);
  }
}

TEST(VerifyFormat, ReadsTokens) {
  const std::pair<std::string, TokenKind> marks[] = {
      {"</call>", TokenKind::kAdded}, {"</>", TokenKind::kAdded}};
  const Vocabulary words =
      testing::byte_vocabulary(std::vector<std::string_view>{"ab"}, marks);
  for (const FormatFinding& finding :
       verify_format(*Format::from_json(elements("raw", "null")),
                     {.vocabulary = &words})) {
    ADD_FAILURE() << show(finding);
  }
}

}  // namespace
}  // namespace parlance::verify_format_test
