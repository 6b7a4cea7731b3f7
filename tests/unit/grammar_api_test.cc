// The functions that read grammars as text: the positions of their errors, the
// options of embedded schemas, and that a printed grammar is read as the same.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/grammar.h"
#include "rules/schema_options.h"

namespace parlance::grammar_api_test {
namespace {

using FromText = Result<Grammar> (*)(std::string_view);

Result<Grammar> ebnf(std::string_view text) { return Grammar::from_ebnf(text); }
Result<Grammar> lark(std::string_view text) { return Grammar::from_lark(text); }
Result<Grammar> regex(std::string_view text) {
  return Grammar::from_regex(text);
}
Result<Grammar> tag(std::string_view text) {
  return Grammar::from_structural_tag(text);
}
Result<Grammar> schema(std::string_view text) {
  return Grammar::from_json_schema(text);
}

// However a text is cut, it is read as by accepts() and explain().
TEST(GrammarReader, PiecesAreTheText) {
  const struct {
    Result<Grammar> grammar;
    std::vector<std::string_view> texts;
  } rows[] = {
      {ebnf("root ::= \"a\" root \"b\" | \"\""),
       {"", "ab", "aabb", "aab", "aba", "x"}},
      {regex("(?:é|[x-z]{2,3})+"), {"é", "xyz", "éx", "x\xC3", "éé", "aé"}},
      {schema(R"({"type": "array", "items": {"type": "integer"}})"),
       {"[1, 2]", "[1,", "[1.5]", "[]", "[] "}},
  };
  for (const auto& [grammar, texts] : rows) {
    ASSERT_TRUE(grammar);
    for (const std::string_view text : texts) {
      const std::optional<Rejection> rejection = grammar->explain(text);
      for (std::size_t size = 1; size <= text.size() + 1; ++size) {
        GrammarReader reader(*grammar);
        for (std::size_t at = 0; at < text.size(); at += size) {
          reader.feed(text.substr(at, size));
        }
        EXPECT_EQ(reader.can_end(), grammar->accepts(text)) << text;
        EXPECT_EQ(reader.can_end(), !rejection) << text;
        if (!rejection) continue;
        EXPECT_EQ(reader.offset(), rejection->offset) << text;
        EXPECT_EQ(reader.expected(), rejection->expected) << text;
      }
    }
  }
}

TEST(GrammarApi, ErrorsPointAtTheText) {
  const struct {
    FromText from_text;
    std::string_view text;
    ErrorCode code;
    std::string_view path;
    std::string_view meant;  // the bytes that the error is about
    std::string_view place;
  } rows[] = {
      {ebnf, "root ::= a\na ::= \"é\" c\n", ErrorCode::kBadReference, "", "c",
       "line 2, column 11"},
      {ebnf, "root ::= \"a\"\n  | JsonSchema(\"{\\\"type\\\":3}\")",
       ErrorCode::kWrongType, "/type", "\"{\\\"type\\\":3}\"",
       "line 2, column 16"},
      {ebnf,
       "root ::= JsonSchema(\"true\",\n  options=\"{\\\"indent\\\":-1}\")",
       ErrorCode::kInvalidValue, "", "\"{\\\"indent\\\":-1}\"",
       "line 2, column 11"},
      {lark, "start: x\nx: \"é\" /(/", ErrorCode::kBadPattern, "", "(",
       "line 2, column 9"},
      {lark, "start: a\na: %json {\n  \"type\": 3}", ErrorCode::kWrongType,
       "/type", "{\n  \"type\": 3}", "line 2, column 10"},
      {lark, "start: %lark {\n start: b\n}", ErrorCode::kBadReference, "", "b",
       "line 2, column 9"},
      {regex, "a\né(", ErrorCode::kBadPattern, "", "(", "line 2, column 2"},
      {schema, "{\n  \"type\":\n    3}", ErrorCode::kWrongType, "/type", "3",
       "line 3, column 5"},
      {schema, "{\"pattern\": \"\\u00e9(\"}", ErrorCode::kBadPattern,
       "/pattern", "(", "line 1, column 20"},
      {tag,
       "{\"format\": {\"type\": \"json_schema\",\n \"json_schema\": "
       "{\"items\": "
       "{\"type\": 3}}}}",
       ErrorCode::kWrongType, "/format/json_schema/items/type", "3",
       "line 2, column 36"},
      {tag, "{\"format\": {\"type\": \"regex\",\n \"pattern\": \"\\u00e9(\"}}",
       ErrorCode::kBadPattern, "/format/pattern", "(", "line 2, column 20"},
      {tag,
       "{\"format\": {\"type\": \"grammar\", \"grammar\": \"root ::= a\\na ::= "
       "c\"}}",
       ErrorCode::kBadReference, "/format/grammar", "c", "line 1, column 62"},
      {tag,
       "{\"format\": {\"type\": \"json_schema\", \"style\": \"qwen_xml\",\n"
       "\"json_schema\": {\"properties\": {\"a\": {\"type\": \"array\", "
       "\"items\": {\"pattern\": \"(a)\\\\1\"}}}}}}",
       ErrorCode::kUnsupportedPattern, "/format/json_schema",
       "{\"properties\": {\"a\": {\"type\": \"array\", "
       "\"items\": {\"pattern\": \"(a)\\\\1\"}}}}",
       "line 2, column 16"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    const Result<Grammar> made = row.from_text(row.text);
    ASSERT_FALSE(made);
    const Error& error = made.error();
    EXPECT_EQ(error.code, row.code) << error.to_string();
    EXPECT_EQ(error.path, row.path);
    ASSERT_TRUE(error.span.has_value());
    EXPECT_EQ(row.text.substr(error.span->begin, error.span->size()),
              row.meant);
    EXPECT_EQ(to_string(line_column(row.text, error.span->begin)), row.place);
  }
}

TEST(GrammarApi, ErrorsInEmbeddedTextsHaveLines) {
  const Result<StructuralTag> read = StructuralTag::from_json(
      R"({"format": {"type": "grammar", "grammar": "root ::= a\na ::= c"}})");
  ASSERT_TRUE(read);
  const Result<Grammar> made = Grammar::from_structural_tag(*read);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().span, std::nullopt);
  EXPECT_EQ(made.error().message.substr(0, 25), "grammar, line 2, column 7");

  LarkGrammarOptions options;
  options.sources["part"] = "start: a\na: b";
  const Result<Grammar> named = Grammar::from_lark("start: @part", options);
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().message.substr(0, 28),
            "In \"@part\", line 2, column 4");
  EXPECT_EQ(named.error().span, (Span{7, 12}));
}

TEST(GrammarApi, OptionsOfSchemasInsideGrammars) {
  const struct {
    std::string_view options;
    std::vector<std::string_view> right;
    std::vector<std::string_view> wrong;
  } rows[] = {
      {"{}", {R"({"b": [1 ,2],"a":1})"}, {"{} "}},
      {R"({"max_whitespace_cnt": 0})", {R"({"a":1})"}, {R"({"a": 1})"}},
      {R"({"max_whitespace_cnt": 1})", {R"({"a": 1})"}, {R"({"a":  1})"}},
      {R"({"any_whitespace": false})", {R"({"a": [1, 2]})"}, {R"({"a":1})"}},
      {R"({"separators": [",", ":"]})",
       {R"({"a":[1,2]})"},
       {R"({"a": 1})", "[1, 2]"}},
      {R"({"indent": 1})", {"{\n \"a\": 1\n}"}, {R"({"a": 1})"}},
      {R"({"indent": 1, "separators": [", ", ":"]})",
       {"[\n 1, \n 2\n]"},
       {"[\n 1,\n 2\n]"}},
      {R"({"any_order": false})", {R"({"a":1,"b":1})"}, {R"({"b":1,"a":1})"}},
      {R"({"spelling": "canonical"})", {R"({"a":1})"}, {R"({"\u0061":1})"}},
      {R"({"spelling": "any"})", {R"({"a":1})", R"({"\u0061":1})"}, {}},
      {R"({"strict_mode": true})", {R"({"a":1})"}, {R"({"c":1})"}},
      {R"({"draft": "4"})", {R"({"d":0})"}, {}},
      {R"({"assert_formats": false})", {R"({"e":"no"})"}, {}},
      {R"({"excludes": ["xy"]})", {R"({"a":1})"}, {R"({"xy":1})"}},
      {R"({"documents": {"http://x/y": {"type": "null"}}})", {"{}"}, {}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.options);
    const Result<json::Value> given = json::parse(row.options);
    const Result<JsonSchemaOptions> read = rules::read_schema_options(*given);
    ASSERT_TRUE(read) << read.error().to_string();
    const json::Value written = rules::write_schema_options(*read);
    const Result<JsonSchemaOptions> again = rules::read_schema_options(written);
    ASSERT_TRUE(again);
    EXPECT_EQ(rules::write_schema_options(*again), written);
    const std::string text =
        "root ::= JsonSchema(" +
        json::dump(json::Value(R"({"properties": {"a": {}, "b": {},
          "e": {"format": "date"}}, "type": ["object", "array"]})")) +
        ", options=" + json::dump(json::Value(row.options)) + ")";
    const Result<Grammar> made = Grammar::from_ebnf(text);
    ASSERT_TRUE(made) << made.error().to_string();
    const Result<Grammar> printed = Grammar::from_ebnf(made->to_ebnf());
    ASSERT_TRUE(printed) << printed.error().to_string();
    EXPECT_EQ(printed->to_ebnf(), made->to_ebnf());
    for (std::string_view right : row.right) {
      EXPECT_TRUE(made->accepts(right)) << right;
      EXPECT_TRUE(printed->accepts(right)) << right;
    }
    for (std::string_view wrong : row.wrong) {
      EXPECT_FALSE(made->accepts(wrong)) << wrong;
      EXPECT_FALSE(printed->accepts(wrong)) << wrong;
    }
  }
}

TEST(GrammarApi, OptionsThatAreRefused) {
  const struct {
    std::string_view options;
    ErrorCode code;
    std::string_view path;
  } rows[] = {
      {"[]", ErrorCode::kWrongType, ""},
      {R"({"indents": 2})", ErrorCode::kUnknownKey, "/indents"},
      {R"({"indent": -1})", ErrorCode::kInvalidValue, "/indent"},
      {R"({"indent": "\t"})", ErrorCode::kWrongType, "/indent"},
      {R"({"excludes": [""]})", ErrorCode::kWrongType, "/excludes"},
      {R"({"excludes": "x"})", ErrorCode::kWrongType, "/excludes"},
      {R"({"max_whitespace_cnt": -1})", ErrorCode::kInvalidValue,
       "/max_whitespace_cnt"},
      {R"({"max_whitespace_cnt": 1, "indent": 1})", ErrorCode::kConflict,
       "/max_whitespace_cnt"},
      {R"({"any_whitespace": true, "indent": 1})", ErrorCode::kConflict,
       "/indent"},
      {R"({"any_whitespace": true, "separators": [",", ":"]})",
       ErrorCode::kConflict, "/separators"},
      {R"({"any_whitespace": null})", ErrorCode::kWrongType, "/any_whitespace"},
      {R"({"separators": [","]})", ErrorCode::kWrongType, "/separators"},
      {R"({"strict_mode": 1})", ErrorCode::kWrongType, "/strict_mode"},
      {R"({"draft": "3"})", ErrorCode::kUnknownName, "/draft"},
      {R"({"documents": []})", ErrorCode::kWrongType, "/documents"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.options);
    const Result<JsonSchemaOptions> read =
        rules::read_schema_options(*json::parse(row.options));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, row.code);
    EXPECT_EQ(read.error().path, row.path);
  }
}

// The options of a schema that became a part of something else stay with it.
TEST(GrammarApi, PrintedGrammarsKeepTheirSchemas) {
  JsonSchemaOptions options;
  options.layout = {.exact = true, .indent = 2};
  options.closed = true;
  const Result<Grammar> inner =
      Grammar::from_json_schema(R"({"properties": {"a": {}}})", options);
  ASSERT_TRUE(inner);
  LarkGrammarOptions lark_options;
  lark_options.grammars.emplace("inner", *inner);
  const Result<Grammar> outer =
      Grammar::from_lark("start: \"<\" @inner \">\"", lark_options);
  ASSERT_TRUE(outer) << outer.error().to_string();
  const Result<Grammar> tagged = Grammar::from_structural_tag(R"({"format":
      {"type": "tag", "begin": "<", "content": {"type": "json_schema",
       "json_schema": {"properties": {"a": {}}}}, "end": ">"}})");
  ASSERT_TRUE(tagged);
  const Result<Grammar> either = Grammar::union_of({*outer, *tagged});
  ASSERT_TRUE(either);
  for (const Grammar& grammar : {*outer, *either}) {
    const Result<Grammar> again = Grammar::from_ebnf(grammar.to_ebnf());
    ASSERT_TRUE(again) << grammar.to_ebnf();
    EXPECT_TRUE(again->accepts("<{\n  \"a\": 1\n}>"));
    EXPECT_FALSE(again->accepts("<{\n  \"b\": 1\n}>"));
  }
  EXPECT_FALSE(outer->accepts("<{\"a\":1}>"));
  EXPECT_TRUE(either->accepts("<{\"a\":1}>"));
}

// Whatever is compiled asks whether to go on.
TEST(GrammarApi, EveryCompileCanBeCancelled) {
  GrammarLimits limits;
  limits.cancelled = [](void*) { return true; };
  EbnfOptions ebnf;
  ebnf.limits = limits;
  LarkGrammarOptions lark;
  lark.limits = limits;
  StructuralTagGrammarOptions tag;
  tag.limits = limits;
  const Grammar part = *Grammar::from_regex("a");
  const Result<Grammar> all[] = {
      Grammar::from_ebnf("root ::= \"a\"", ebnf),
      Grammar::from_lark("start: \"a\"", lark),
      Grammar::from_regex("a", limits),
      Grammar::from_structural_tag(R"({"format": {"value": "a"}})", tag),
      Grammar::union_of({part, part}, limits),
      Grammar::concat({part, part}, limits),
  };
  for (const Result<Grammar>& one : all) {
    ASSERT_FALSE(one);
    EXPECT_EQ(one.error().code, ErrorCode::kTooLarge);
    EXPECT_EQ(one.error().message, "The compile was cancelled.");
  }
}

}  // namespace
}  // namespace parlance::grammar_api_test
