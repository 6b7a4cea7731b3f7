// Arguments with the tokens that a vocabulary has for their markup: a marker is
// its token, a raw value holds every other added token by its bytes, and a JSON
// string holds all of them.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"

namespace parlance::argument_marks_test {
namespace {

Vocabulary make_vocabulary() {
  std::vector<TokenEntry> entries;
  TokenId id = 0;
  for (int byte = 0; byte < 256; ++byte) {
    entries.push_back({.id = id++,
                       .bytes = std::string(1, static_cast<char>(byte)),
                       .kind = TokenKind::kOrdinary});
  }
  for (const char* text :
       {"<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>",
        "</arg_value>", "<m>", "]<]minimax[>[", "<|\"|>"}) {
    entries.push_back({.id = id++, .bytes = text, .kind = TokenKind::kAdded});
  }
  entries.push_back({.id = id, .bytes = "<eos>", .kind = TokenKind::kControl});
  const std::vector<TokenId> stops = {id};
  return *Vocabulary::from_table(entries, stops);
}

// Added tokens wherever they are spelled, except in `spelled`, bytes elsewhere.
std::vector<TokenId> ids_of(const Vocabulary& vocabulary, std::string_view text,
                            std::string_view spelled = "") {
  std::vector<TokenId> out;
  while (!text.empty()) {
    std::size_t size = 1;
    TokenId id = static_cast<unsigned char>(text[0]);
    for (TokenId added = 256; added < vocabulary.size() - 1; ++added) {
      const std::string_view spelling = vocabulary.spelling(added);
      if (spelling == spelled || !text.starts_with(spelling)) continue;
      id = added;
      size = spelling.size();
    }
    out.push_back(id);
    text.remove_prefix(size);
  }
  return out;
}

struct Row {
  const char* text;
  const char* spelled;  // this token is written with ordinary ones
  bool fits;
};

void check(std::string_view format, const std::vector<Row>& rows) {
  const Vocabulary vocabulary = make_vocabulary();
  const Result<Compiler> compiler = Compiler::create(vocabulary);
  ASSERT_TRUE(compiler);
  const auto tag =
      StructuralTag::from_json(R"({"format": )" + std::string(format) + "}");
  ASSERT_TRUE(tag) << tag.error().to_string();
  const auto grammar = Grammar::from_structural_tag(*tag);
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  const auto constraint = compiler->compile(*grammar);
  ASSERT_TRUE(constraint) << constraint.error().to_string();
  CompiledTagOptions options;
  options.vocabulary = &vocabulary;
  const auto program = CompiledTag::compile(*tag, options);
  ASSERT_TRUE(program) << program.error().to_string();
  for (const Row& row : rows) {
    const std::vector<TokenId> ids = ids_of(vocabulary, row.text, row.spelled);
    Matcher matcher = constraint->matcher();
    const bool fits =
        matcher.accept_tokens(ids) == ids.size() && matcher.can_end();
    EXPECT_EQ(fits, row.fits) << row.text << " without " << row.spelled;
    StreamOptions reading;
    reading.vocabulary = &vocabulary;
    TagParser parser(*program, reading);
    parser.feed_tokens(ids);
    parser.finalize();
    EXPECT_EQ(parser.complete(), row.fits)
        << row.text << " without " << row.spelled;
  }
}

TEST(ArgumentMarks, RawValues) {
  check(R"({"begin": "<tool_call>f", "end": "</tool_call>", "content": {
      "type": "json_schema", "style": "glm_xml", "json_schema": {
        "properties": {"s": {"type": "string"},
                       "p": {"type": "string", "pattern": "^x.*y$"},
                       "o": {"type": "object"}}}}})",
        {
            {"<tool_call>f<arg_key>s</arg_key><arg_value>a</arg_value>"
             "</tool_call>",
             "", true},
            {"<tool_call>f<arg_key>s</arg_key><arg_value>a<m>b<tool_call>"
             "<arg_key></arg_key><arg_value></arg_value></tool_call>",
             "", true},
            {"<tool_call>f<arg_key>p</arg_key><arg_value>x<m><tool_call>y"
             "</arg_value></tool_call>",
             "", true},
            {"<tool_call>f<arg_key>o</arg_key><arg_value>"
             "{\"a\": \"</arg_value></tool_call>\"}</arg_value></tool_call>",
             "", true},
            // Neither token nor spelling of what ends a value or a call.
            {"<tool_call>f<arg_key>s</arg_key><arg_value></tool_call>"
             "</arg_value></tool_call>",
             "", false},
            {"<tool_call>f<arg_key>s</arg_key><arg_value>a</arg_value>"
             "</tool_call>",
             "</arg_value>", false},
            {"<tool_call>f<arg_key>s</arg_key><arg_value>a</arg_value>"
             "</tool_call>",
             "<arg_key>", false},
            {"<tool_call>f<arg_key>p</arg_key><arg_value>x</tool_call>y"
             "</arg_value></tool_call>",
             "", false},
        });
}

TEST(ArgumentMarks, Elements) {
  check(R"({"begin": "<tool_call>f", "end": "</tool_call>", "content": {
      "type": "json_schema", "style": "elements", "elements": {
        "open": "<arg_key>", "middle": "</arg_key>\n<arg_value>",
        "close": "</arg_value>\n", "ends": ["</tool_call>"]}, "json_schema": {
        "properties": {"s": {"type": "string"}, "o": {"type": "object"}}}}})",
        {
            {"<tool_call>f<arg_key>s</arg_key>\n<arg_value>a<m></arg_value>\n"
             "</tool_call>",
             "", true},
            {"<tool_call>f<arg_key>o</arg_key>\n<arg_value>"
             "{\"a\": \"</arg_value></tool_call>\"}</arg_value>\n</tool_call>",
             "", true},
            {"<tool_call>f<arg_key>s</arg_key>\n<arg_value></tool_call>"
             "</arg_value>\n</tool_call>",
             "", false},
            {"<tool_call>f<arg_key>s</arg_key>\n<arg_value>a</arg_value>\n"
             "</tool_call>",
             "</arg_value>", false},
        });
}

TEST(ArgumentMarks, Delimited) {
  check(R"({"begin": "<tool_call>f", "end": "</tool_call>", "content": {
      "type": "json_schema", "style": "delimited", "delimited": {
        "string": ["<|\"|>", "<|\"|>"]}, "json_schema": {
        "properties": {"s": {"type": "string"}, "a b": true}}}})",
        {
            {"<tool_call>f{s:<|\"|>a<m>\"</tool_call><|\"|>}</tool_call>", "",
             true},
            {"<tool_call>f{<|\"|>a b<|\"|>:[<|\"|><|\"|>,{x:1}]}</tool_call>",
             "", true},
            {"<tool_call>f{s:<|\"|>a<|\"|>}</tool_call>", "<|\"|>", false},
            {"<tool_call>f{s:<|\"|><|\"|><|\"|>}</tool_call>", "", false},
        });
}

// A string of Python holds every added token, as a string of JSON does.
TEST(ArgumentMarks, Python) {
  check(R"({"begin": "<tool_call>f(", "end": ")</tool_call>", "content": {
      "type": "json_schema", "style": "python", "json_schema": {
        "properties": {"s": {"type": "string"},
                       "p": {"type": "string", "pattern": "^<"}}}}})",
        {
            {"<tool_call>f(s=\"a<m></tool_call>\", p=\"</tool_call><m>\")"
             "</tool_call>",
             "", true},
            {"<tool_call>f()</tool_call>", "", true},
            {"<tool_call>f()</tool_call>", "</tool_call>", false},
        });
}

TEST(ArgumentMarks, MinimaxM3) {
  check(R"({"begin": "<tool_call>", "end": "</tool_call>", "content": {
      "type": "json_schema", "style": "minimax_m3_xml", "json_schema": {
        "properties": {"l": {"type": "array", "items": {"type": "string"}}}}}})",
        {
            {"<tool_call>]<]minimax[>[<l>]<]minimax[>[<item>a<m>"
             "]<]minimax[>[</item>]<]minimax[>[</l></tool_call>",
             "", true},
            {"<tool_call>]<]minimax[>[<l>]<]minimax[>[<item>a"
             "]<]minimax[>[</item>]<]minimax[>[</l></tool_call>",
             "]<]minimax[>[", false},
        });
}

TEST(ArgumentMarks, ANameThatSpellsAMarkIsRefused) {
  const Vocabulary vocabulary = make_vocabulary();
  const Result<Compiler> compiler = Compiler::create(vocabulary);
  ASSERT_TRUE(compiler);
  const auto tag = StructuralTag::from_json(R"({"format": {
      "type": "json_schema", "style": "glm_xml", "json_schema": {
        "properties": {"x<arg_value>": {}}}}})");
  const auto grammar = Grammar::from_structural_tag(*tag);
  ASSERT_TRUE(grammar);
  const auto constraint = compiler->compile(*grammar);
  ASSERT_FALSE(constraint);
  EXPECT_EQ(constraint.error().code, ErrorCode::kConflict);
  EXPECT_EQ(constraint.error().path, "/format/json_schema");
}

}  // namespace
}  // namespace parlance::argument_marks_test
