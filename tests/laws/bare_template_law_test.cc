// The law of bare templates: what the grammar that is derived from a response
// template generates, the parser of this template reads without a failure and
// without a diagnostic, as calls of the given tools.
//
// Over the templates of all built-in formats, without their "parlance".

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"
#include "support/byte_vocabulary.h"
#include "support/id_walk.h"

namespace parlance {
namespace {

constexpr std::string_view kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "required": ["city"], "additionalProperties": false,
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}},
  {"type": "function", "function": {"name": "now", "parameters": {
    "type": "object", "properties": {}, "additionalProperties": false}}}])";

// Every byte, pieces of JSON, and a stop token.
Vocabulary vocabulary() {
  constexpr std::string_view kPieces[] = {"\"}",  "</",    "<|",   "|>",
                                          "\n\n", ", \"",  "\": ", "}\n",
                                          "call", "think", "[",    "é",
                                          "tool_"};
  return testing::byte_vocabulary(kPieces);
}

// The texts that begin calls, end calls, and end values in a tag.
struct Texts {
  std::vector<std::string> begins;
  std::vector<std::string> ends;
  std::vector<std::string> value_ends;
};
void collect(const json::Value& node, Texts& out) {
  for (const json::Value& item : node.items()) collect(item, out);
  for (const json::Member& member : node.members()) {
    if (!member.value.is_string()) collect(member.value, out);
    if (member.key == "string" && member.value.size() == 2) {
      out.value_ends.emplace_back(member.value.items()[1].as_string());
    }
    if (member.value.as_string().empty()) continue;
    const std::string text(member.value.as_string());
    if (member.key == "begin") out.begins.push_back(text);
    if (member.key == "close") out.value_ends.push_back(text);
    if (member.key == "end" || member.key == "value") out.ends.push_back(text);
  }
}

class BareTemplateLaw : public ::testing::TestWithParam<std::string_view> {};

TEST_P(BareTemplateLaw, WhatTheGrammarGeneratesTheParserReads) {
  const Result<Format> format =
      Format::from_json(Format::built_in(GetParam())->template_json());
  ASSERT_TRUE(format) << format.error().to_string();
  const Vocabulary words = vocabulary();
  const std::vector<TokenId> stops = {*words.special("<eos>")};
  const ToolSet tools = *ToolSet::from_json(kTools);
  std::size_t read = 0;
  std::size_t called = 0;
  for (const char* choice : {"auto", "required"}) {
    StructuralTagOptions options;
    options.tools = *json::parse(kTools);
    options.tool_choice = choice;
    const Result<StructuralTag> tag = format->structural_tag(options);
    if (!tag) GTEST_SKIP() << tag.error().to_string();
    const Result<Compiler> compiler =
        Compiler::create(words, {.stop_ids = stops});
    ASSERT_TRUE(compiler) << compiler.error().to_string();
    const Result<Constraint> constraint =
        compiler->compile_structural_tag(*tag);
    ASSERT_TRUE(constraint) << constraint.error().to_string();
    Texts texts;
    collect(tag->to_json(), texts);
    testing::WalkPhrases phrases;
    const testing::PhraseWriter writer(words);
    for (const std::string& text : texts.begins) {
      phrases.begins.push_back(writer.write(text));
    }
    for (const std::string& text : texts.ends) {
      phrases.ends.push_back(writer.write(text));
    }
    for (const std::string& text : texts.value_ends) {
      phrases.value_ends.push_back(writer.write(text));
    }
    for (const std::string_view text : {"\"", "}", "]", "\"}"}) {
      phrases.closers.push_back(writer.write(text));
    }
    testing::Walker walker(words, phrases, stops);
    for (std::uint32_t seed = 1; seed <= 12; ++seed) {
      Matcher matcher = constraint->matcher({.stop_ids = stops});
      const testing::Walk walk = walker.walk(matcher, seed, 5 + seed * 4);
      ASSERT_EQ(walk.failure, "") << "seed " << seed;
      if (walk.unfinished) continue;
      ++read;
      const std::string text = words.decode(walk.ids);
      SCOPED_TRACE(json::dump(text, {.ascii = false}));
      ResponseParser parser(*format, {.tools = &tools});
      parser.feed(text);
      parser.finalize();
      ASSERT_EQ(parser.failure(), nullptr) << parser.failure()->message;
      for (const Diagnostic& diagnostic : parser.message().diagnostics) {
        FAIL() << diagnostic.message;
      }
      const json::Value* calls = parser.message().fields.find("tool_calls");
      if (calls == nullptr) {
        ASSERT_NE(std::string_view(choice), "required");
        continue;
      }
      for (const json::Value& call : calls->items()) {
        ++called;
        const std::string_view name =
            call.find("function")->find("name")->as_string();
        ASSERT_TRUE(name == "now" || name == "get_weather") << name;
      }
    }
  }
  EXPECT_GE(read, 10u);
  EXPECT_GE(called, 3u);
}

INSTANTIATE_TEST_SUITE_P(Templates, BareTemplateLaw,
                         ::testing::ValuesIn(Format::built_in_names()),
                         [](const auto& instance) {
                           return std::string(instance.param);
                         });

}  // namespace
}  // namespace parlance
