// Texts that strings of JSON must not hold as they are written.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "automata/language.h"
#include "json/writer.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "regex/pattern.h"
#include "schema_solver/excludes.h"

namespace parlance::schema_excludes_test {
namespace {

// A string between its quotes.
std::string written(std::string_view text) {
  std::string out;
  json::append_string(out, text, /*ascii=*/false);
  return out.substr(1, out.size() - 2);
}

// The pattern of a text matches the strings whose JSON holds it, and no others.
TEST(SchemaExcludes, PatternsOfTexts) {
  const std::vector<std::string> characters = {"a",
                                               "n",
                                               "u",
                                               "0",
                                               "1",
                                               "f",
                                               "<",
                                               "é",
                                               "\"",
                                               "\\",
                                               "\n",
                                               "\t",
                                               std::string(1, '\0'),
                                               "\x01",
                                               "\x1f",
                                               "\x7f",
                                               "/"};
  const std::vector<std::string> fixed = {
      "n",     "\\",     "\\\\", "\\n",   "\"",   "\\\"", "u00",     "\\u",
      "\\u00", "\\u001", "1f",   "0",     "00",   "000",  "\\u0000", "n<",
      "1<",    "<\\",    "<\\u", "\\n\\", "\\a",  "\n",   "é\\",     "\\\\n",
      "f\\u0", "\\\\\\", "nn",   "01\\u", "0001", "/",    "\x7f",    "\""};
  std::mt19937 random(7);
  const auto some = [&](std::size_t most) {
    std::string out;
    for (std::size_t n = random() % (most + 1); n > 0; --n) {
      out += characters[random() % characters.size()];
    }
    return out;
  };
  std::vector<std::string> texts = fixed;
  while (texts.size() < 300) {
    // A part of something written, so that it often occurs.
    const std::string whole = written(some(3));
    if (whole.empty()) continue;
    std::size_t begin = random() % whole.size();
    std::size_t end = begin + 1 + random() % (whole.size() - begin);
    const auto inside = [&](std::size_t i) {
      return i < whole.size() &&
             (static_cast<unsigned char>(whole[i]) & 0xC0) == 0x80;
    };
    while (inside(begin)) --begin;
    while (inside(end)) ++end;
    texts.push_back(whole.substr(begin, end - begin));
  }
  std::size_t held = 0;
  for (const std::string& text : texts) {
    const std::string pattern = schema_solver::string_pattern_of(text);
    automata::Languages languages;
    automata::LanguageId language = languages.nothing();
    if (!pattern.empty()) {
      const auto read = regex::parse_pattern(pattern);
      ASSERT_TRUE(read) << pattern << " " << read.error().to_string();
      language =
          *languages.from_hir(read->hir, automata::Languages::Mode::kSearch);
    }
    for (int i = 0; i < 200; ++i) {
      const std::string value = some(6);
      automata::StateId state = languages.start(language);
      for (const char c : value) {
        if (state == automata::kDeadState) break;
        state = languages.step(state, static_cast<std::uint8_t>(c));
      }
      const bool matches =
          state != automata::kDeadState && languages.accepting(state);
      const bool holds = written(value).find(text) != std::string::npos;
      held += holds;
      ASSERT_EQ(matches, holds) << text << "\n"
                                << pattern << "\n"
                                << written(value);
    }
  }
  EXPECT_GT(held, 1000u);
}

struct Row {
  const char* schema;
  std::vector<std::string> excludes;
  std::vector<std::string> accepted;
  std::vector<std::string> refused;
};

TEST(SchemaExcludes, Grammars) {
  const std::vector<std::string> close = {"</t>"};
  for (const Row& row : std::vector<Row>{
           {"true",
            close,
            {R"("a</t")", R"({"</t":["<","/t>"]})", R"("<\n/t>")", "12"},
            {R"("</t>")", R"([["x</t>x"]])", R"({"</t>":1})",
             R"({"a":{"b</t>":1}})"}},
           {R"({"enum": ["x</t>", "y", ["</t>"], {"</t>": 1}, [1]]})",
            close,
            {R"("y")", "[1]"},
            {R"("x</t>")", R"(["</t>"])", R"({"</t>":1})"}},
           {R"({"properties": {"</t>": {}, "a": {"pattern": "^</t>$",
                "type": "string"}, "b": {"type": "string", "maxLength": 4}}})",
            close,
            {"{}", R"({"b":"abcd"})", R"({"b":"</t"})"},
            {R"({"</t>":1})", R"({"a":"</t>"})", R"({"a)", R"({"b":"</t>"})",
             R"({"b":"abcde"})"}},
           {R"({"type": "string", "minLength": 2})",
            {"a"},
            {R"("bb")"},
            {R"("b")", R"("ab")"}},
           // Only what stands between quotes counts.
           {"true",
            {"1", "}", ":", "true"},
            {"1", R"({"a":true})"},
            {R"("1")", R"("}")", R"("a:")"}},
           // As it is written.
           {R"({"type": "string"})",
            {"\\n"},
            {R"("n")", R"("\t")"},
            {R"("\n")"}},
           {R"({"type": "string"})", {"\n"}, {R"("\n")"}, {}},
           {R"({"type": "string"})", {"\""}, {R"("a")"}, {R"("\"")"}},
           {R"({"type": "string"})",
            {"a", "b"},
            {R"("c")"},
            {R"("a")", R"("b")", R"("cab")"}},
       }) {
    JsonSchemaOptions options;
    options.excludes = row.excludes;
    const auto grammar = Grammar::from_json_schema(row.schema, options);
    ASSERT_TRUE(grammar) << row.schema << grammar.error().to_string();
    for (const std::string& text : row.accepted) {
      EXPECT_TRUE(grammar->accepts(text)) << row.schema << " " << text;
    }
    for (const std::string& text : row.refused) {
      EXPECT_FALSE(grammar->accepts(text)) << row.schema << " " << text;
    }
  }
}

// All short strings of a few bytes.
TEST(SchemaExcludes, EveryShortString) {
  const std::string_view bytes = "an<\\\"";
  std::vector<std::string> bodies = {""};
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].size() == 5) break;
    for (const char c : bytes) bodies.push_back(bodies[i] + c);
  }
  for (const char* text : {"a", "an", "n<", "\\n", "\\\\", "\\", "aa", "nan"}) {
    JsonSchemaOptions options;
    options.excludes = {text};
    const auto grammar = Grammar::from_json_schema("true", options);
    ASSERT_TRUE(grammar);
    for (const std::string& body : bodies) {
      const std::string json = "\"" + body + "\"";
      const auto value = json::parse(json);
      const bool fits = value && body.find(text) == std::string::npos;
      ASSERT_EQ(grammar->accepts(json), fits) << text << " in " << json;
      if (!value) continue;
      ASSERT_EQ(grammar->accepts("{" + json + ":1}"), fits) << text;
    }
  }
}

TEST(SchemaExcludes, NothingIsLeft) {
  JsonSchemaOptions options;
  options.excludes = {"</t>"};
  for (const char* schema :
       {R"({"const": "</t>"})", R"({"type": "object", "required": ["a</t>"]})",
        R"({"type": "array", "minItems": 1, "items": {"const": "</t>"}})"}) {
    const auto grammar = Grammar::from_json_schema(schema, options);
    ASSERT_FALSE(grammar) << schema;
    EXPECT_EQ(grammar.error().code, ErrorCode::kUnsatisfiable);
  }
}

}  // namespace
}  // namespace parlance::schema_excludes_test
