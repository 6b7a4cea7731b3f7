// The law of bare templates: what the grammar that is derived from a response
// template generates, the parser of this template reads without a failure and
// without a diagnostic, as calls of the given tools.  Of random tools, the
// arguments that it reads are valid, and those that the parser of the tag
// reads.
//
// Over the templates of all built-in formats, without their "parlance".

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"
#include "schema/validate.h"
#include "support/byte_vocabulary.h"
#include "support/family_laws.h"
#include "support/small_schemas.h"
#include "verification/long_numbers.h"
#include "verification/walker.h"

namespace parlance::bare_template_law_test {
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

class BareTemplateLaw : public ::testing::TestWithParam<std::string> {};

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
    verification::Walker walker(
        words,
        verification::phrases_of(*tag, verification::PhraseWriter(words)),
        stops);
    for (std::uint32_t seed = 1; seed <= 12; ++seed) {
      Matcher matcher = constraint->matcher({.stop_ids = stops});
      const verification::Walk walk = walker.walk(matcher, seed, 5 + seed * 4);
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

// Draws tools whose arguments are typed in every way that a schema has.
class TypedTools {
 public:
  explicit TypedTools(std::uint32_t seed) : random_(seed), schemas_(seed) {}

  // The parameters of a tool.
  json::Value parameters() {
    json::Object properties;
    json::Array required;
    json::Value defs = json::Object{{"i", json::Object{{"type", "integer"}}}};
    for (const std::string_view name : {"a", "b", "c"}) {
      if (below(3) == 0) continue;
      properties.set(std::string(name), argument(defs));
      if (below(4) == 0) required.emplace_back(name);
    }
    json::Object out = {{"type", "object"},
                        {"properties", std::move(properties)},
                        {"required", std::move(required)}};
    if (below(3) == 0) {
      out.set("additionalProperties",
              below(2) == 0 ? json::Value(true) : argument(defs));
    } else if (below(5) == 0) {
      out.set("patternProperties", json::Object{{"^x", argument(defs)}});
    }
    if (below(5) == 0) {
      out.set("allOf", json::Array{json::Object{
                           {"properties", json::Object{{"a", some(defs)}}}}});
    }
    if (below(5) == 0) {
      out.set("$schema", "http://json-schema.org/draft-07/schema#");
    }
    if (below(5) == 0) out.set("$id", "#");
    out.set("$defs", std::move(defs));
    return out;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }

  json::Value typed() {
    constexpr std::string_view kTypes[] = {
        "integer", "number", "boolean", "null", "object", "array", "string"};
    json::Array types;
    for (std::size_t n = 1 + below(3); n > 0; --n) {
      types.emplace_back(kTypes[below(std::size(kTypes))]);
    }
    if (types.size() > 1 && below(2) == 0) {
      json::Array choices;
      for (const json::Value& type : types) {
        choices.push_back(json::Object{{"type", type}});
      }
      return json::Object{
          {below(2) == 0 ? "anyOf" : "oneOf", std::move(choices)}};
    }
    if (types.size() == 1) return json::Object{{"type", types[0]}};
    return json::Object{{"type", std::move(types)}};
  }

  json::Value some(json::Value& defs) {
    testing::SmallSchemas::Kinds kinds;
    kinds.unevaluated = false;
    json::Value out = schemas_.schema(kinds);
    if (!out.is_object()) return out;
    if (const json::Value* own = out.find("$defs")) {
      for (const json::Member& member : own->members()) {
        defs.mutable_members().set(member.key, member.value);
      }
      out.mutable_members().erase("$defs");
    }
    return out;
  }

  json::Value argument(json::Value& defs) {
    switch (below(7)) {
      case 0: {
        json::Array listed;
        for (std::size_t n = 1 + below(4); n > 0; --n) {
          listed.push_back(schemas_.value(1));
        }
        return json::Object{{"enum", std::move(listed)}};
      }
      case 1:
        return json::Object{{"const", schemas_.scalar()}};
      case 2:
        return json::Object{{"$ref", "#/$defs/i"}};
      case 3:
        return some(defs);
      case 4: {
        json::Value out = typed();
        out.mutable_members().set(
            "enum", json::Array{schemas_.scalar(), schemas_.scalar(), "1", 1});
        return out;
      }
      default:
        return typed();
    }
  }

  std::mt19937 random_;
  testing::SmallSchemas schemas_;
};

// The arguments of each call of a message.
std::vector<json::Value> arguments_of(const Message& message) {
  std::vector<json::Value> out;
  const json::Value* calls = message.fields.find("tool_calls");
  if (calls == nullptr) return out;
  for (const json::Value& call : calls->items()) {
    out.push_back(*call.find("function")->find("arguments"));
  }
  return out;
}

// One drawn tool: walks under the grammar, and what the parsers read.  False if
// the tool is refused.
bool check_drawn_tool(const Format& format, const Vocabulary& words,
                      const Compiler& compiler, std::uint32_t seed,
                      std::size_t& called) {
  const std::vector<TokenId> stops = {*words.special("<eos>")};
  const json::Value parameters = TypedTools(seed).parameters();
  const json::Value list = json::Array{json::Object{
      {"type", "function"},
      {"function", json::Object{{"name", "f"}, {"parameters", parameters}}}}};
  StructuralTagOptions options;
  options.tools = list;
  options.tool_choice = "required";
  options.parallel_tool_calls = false;
  const Result<StructuralTag> tag = format.structural_tag(options);
  if (!tag) {
    EXPECT_TRUE(tag.error().path.starts_with("/tools/0"))
        << tag.error().to_string();
    return false;
  }
  const Result<Constraint> constraint = compiler.compile_structural_tag(*tag);
  if (!constraint) return false;
  const Result<CompiledTag> compiled = CompiledTag::compile(*tag);
  if (!compiled) {
    ADD_FAILURE() << compiled.error().to_string();
    return false;
  }
  const Result<schema::Document> document = schema::load(parameters);
  if (!document) {
    ADD_FAILURE() << document.error().to_string();
    return false;
  }
  schema::Validator validator(*document);
  const ToolSet tools = ToolSet::from_value(list);
  verification::Walker walker(
      words, verification::phrases_of(*tag, verification::PhraseWriter(words)),
      stops);
  for (std::uint32_t turn = 0; turn < 4; ++turn) {
    Matcher matcher = constraint->matcher({.stop_ids = stops});
    const verification::Walk walk =
        walker.walk(matcher, seed + turn, 10 + 15 * turn);
    EXPECT_EQ(walk.failure, "");
    if (walk.unfinished) continue;
    const std::string text = words.decode(walk.ids);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + json::dump(parameters) +
                 " " + json::dump(text, {.ascii = false}));
    ResponseParser parser(format, {.tools = &tools});
    parser.feed(text);
    parser.finalize();
    if (parser.failure() != nullptr) {
      ADD_FAILURE() << parser.failure()->message;
      continue;
    }
    const std::vector<json::Value> got = arguments_of(parser.message());
    TagParser tag_parser(*compiled);
    tag_parser.feed(text);
    tag_parser.finalize();
    const std::vector<json::Value> expected =
        arguments_of(tag_parser.message());
    EXPECT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size() && i < expected.size(); ++i) {
      ++called;
      EXPECT_TRUE(schema::equal_values(got[i], expected[i]))
          << json::dump(got[i]) << " and " << json::dump(expected[i]);
      // Of more digits than a double has, the value is the nearest double.
      if (verification::has_long_number(text)) continue;
      EXPECT_TRUE(validator.valid(got[i])) << json::dump(got[i]);
    }
  }
  return true;
}

void check_drawn_tools(std::string_view name, std::uint32_t count) {
  const Result<Format> format =
      Format::from_json(Format::built_in(name)->template_json());
  ASSERT_TRUE(format) << format.error().to_string();
  StructuralTagOptions plain;
  plain.tools = *json::parse(kTools);
  plain.tool_choice = "required";
  if (!format->structural_tag(plain)) GTEST_SKIP();
  const Vocabulary words = vocabulary();
  const std::vector<TokenId> stops = {*words.special("<eos>")};
  const Result<Compiler> compiler =
      Compiler::create(words, {.stop_ids = stops});
  ASSERT_TRUE(compiler) << compiler.error().to_string();
  std::size_t made = 0;
  std::size_t called = 0;
  for (std::uint32_t seed = 1; seed <= count; ++seed) {
    made += check_drawn_tool(*format, words, *compiler, seed * 7919, called);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(made, count / 3);
  EXPECT_GE(called, count / 2);
}

TEST_P(BareTemplateLaw, ArgumentsOfDrawnToolsAreReadAsTheyAreValid) {
  check_drawn_tools(GetParam(), 25);
}

TEST_P(BareTemplateLaw, ArgumentsOfManyDrawnToolsLongRun) {
  check_drawn_tools(GetParam(), 2000);
}

INSTANTIATE_TEST_SUITE_P(
    Templates, BareTemplateLaw,
    ::testing::ValuesIn(testing::tried(testing::families())),
    [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace parlance::bare_template_law_test
