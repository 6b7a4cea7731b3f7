// parlance/grammar.h: the language of the grammar of a JSON Schema, by
// keyword, layout, option and limit.  Its error messages are in
// grammar_error_messages_test.cc; that accepted means valid is a law, see
// laws/grammar_law_test.cc.

#include "parlance/grammar.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"

namespace parlance::grammar_test {
namespace {

JsonSchemaOptions compact() {
  JsonSchemaOptions options;
  options.layout.max_white_space = 0;
  return options;
}

// --- Keywords. --------------------------------------------------------------

struct Row {
  std::string_view schema;
  std::vector<std::string_view> accepted;
  std::vector<std::string_view> rejected;
};

void check(const std::vector<Row>& rows, const JsonSchemaOptions& options) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.schema);
    const Result<Grammar> grammar =
        Grammar::from_json_schema(row.schema, options);
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    for (const std::string_view text : row.accepted) {
      const std::optional<Rejection> why = grammar->explain(text);
      EXPECT_TRUE(grammar->accepts(text))
          << text << " at " << why->offset << ": " << why->expected;
      EXPECT_FALSE(why) << text;
    }
    for (const std::string_view text : row.rejected) {
      EXPECT_FALSE(grammar->accepts(text)) << text;
      EXPECT_TRUE(grammar->explain(text)) << text;
    }
  }
}

TEST(Grammar, Scalars) {
  check(
      {
          {"true",
           {"1", "null", "[]", "{}", R"("a")", "-0.5e-7"},
           {"", " 1", "1 ", "01", "+1", ".5", "1.", "nul", "tru", "[1,]", "{,}",
            R"({"a"})", "1 2", R"("a)", "'a'", "NaN"}},
          {R"({"type": "null"})", {"null"}, {"0", "false", R"("")", "[]"}},
          {R"({"type": "boolean"})", {"true", "false"}, {"null", "0", "True"}},
          {R"({"type": ["null", "integer"]})",
           {"null", "-3"},
           {"2.5", "2.0", "true"}},
          {R"({"type": "number"})",
           {"0", "-0", "1.5", "1e5", "2E-3"},
           {"-", "1e", "1e+", R"("1")"}},
          {R"({"enum": [1, "a", null, [1, {"b": 2}], {"c": [], "d": 0}]})",
           {"1", R"("a")", "null", R"([1,{"b":2}])", R"({"d":0,"c":[]})"},
           {"2", R"("b")", "[1]", R"({"c":[]})", R"([{"b":2},1])", "true"}},
          {R"({"const": "é\"\n"})",
           {R"("é\"\n")"},
           {R"("e\"\n")", R"("é\"\n ")"}},
          {R"({"const": 0.1})", {"0.1"}, {"0.11", "0.01", "1"}},
      },
      compact());
}

TEST(Grammar, Numbers) {
  check(
      {
          {R"({"type": "integer"})",
           {"0", "-7", "12345678901234567890"},
           {"1.5", "0.1", "1.0", "-0", "1e2"}},
          {R"({"type": "integer", "minimum": -3, "maximum": 12})",
           {"-3", "0", "9", "12"},
           {"-4", "13", "100", "-10"}},
          {R"({"type": "number", "exclusiveMinimum": 0,
               "exclusiveMaximum": 0.5})",
           {"0.1", "0.4999999999999999999999"},
           {"0", "0.5", "-0.1", "1"}},
          {R"({"type": "integer", "multipleOf": 7})",
           {"0", "-7", "700"},
           {"1", "20", "701", "21.0"}},
          {R"({"type": "number", "multipleOf": 0.01})",
           {"0.07", "19.99", "3"},
           {"0.075", "0.001"}},
          {R"({"type": "integer", "allOf": [{"multipleOf": 4},
               {"multipleOf": 6}], "minimum": 1, "maximum": 30})",
           {"12", "24"},
           {"4", "6", "18", "36", "0"}},
          {R"({"type": "integer", "maximum": 9007199254740993})",
           {"9007199254740993"},
           {"9007199254740994"}},
      },
      compact());
}

TEST(Grammar, Strings) {
  check(
      {
          {R"({"type": "string", "minLength": 2, "maxLength": 3})",
           {R"("ab")", R"("éé€")", R"("😀😀")", R"("\ud83d\ude00\n")"},
           {R"("a")", R"("😀")", R"("abcd")", R"("\ud83d\ude00")"}},
          {R"({"type": "string", "maxLength": 1000000000})",
           {R"("")", R"("a")"},
           {}},
          {R"({"type": "string", "minLength": 1000000000})",
           {},
           {R"("")", R"("a")"}},
          {R"({"type": "string", "pattern": "^a+$"})",
           {R"("a")", R"("aaa")"},
           {R"("")", R"("ab")"}},
          {R"({"type": "string", "pattern": "b"})",
           {R"("abc")", R"("b")"},
           {R"("ac")"}},
          {R"({"type": "string", "pattern": "^(?!ab)\\w+$", "maxLength": 3})",
           {R"("aa")", R"("ba")"},
           {R"("ab")", R"("abc")", R"("baaa")"}},
          {R"({"type": "string", "pattern": "^[^\"\\\\]$"})",
           {R"("a")", R"("\n")"},
           {R"("\"")", R"("\\")"}},
          {R"({"type": "string", "pattern": "\\d{2}", "not": {"pattern": "00"}})",
           {R"("a12")", R"("010")"},
           {R"("1a2")", R"("100")"}},
          {R"({"type": "string", "format": "date"})",
           {R"("2024-02-29")"},
           {R"("2023-02-29")", R"("2024-1-1")", R"("")"}},
          {R"({"type": "string", "format": "date-time"})",
           {R"("2024-01-01T00:00:00Z")", R"("2024-01-01T00:00:00.5+02:00")"},
           {R"("2024-01-01")", R"("2024-01-01T24:00:00Z")"}},
          {R"({"type": "string", "format": "ipv4"})",
           {R"("127.0.0.1")"},
           {R"("256.0.0.1")", R"("1.2.3")"}},
          {R"({"type": "string", "format": "uuid"})",
           {R"("123e4567-e89b-12d3-a456-426614174000")"},
           {R"("123e4567")"}},
          {R"({"type": "string", "format": "email"})",
           {R"("a@b.example")"},
           {R"("a.b.example")"}},
          {R"({"type": "string", "format": "strange"})", {R"("anything")"}, {}},
      },
      compact());
}

TEST(Grammar, Objects) {
  check(
      {
          {R"({"type": "object", "required": ["a", "b"],
               "properties": {"a": {"type": "integer"}}})",
           {R"({"a":1,"b":2})", R"({"b":[],"a":1})", R"({"c":0,"b":0,"a":0})"},
           {"{}", R"({"a":1})", R"({"a":"x","b":1})",
            R"({"a":1,"b":2,"a":3})"}},
          {R"({"type": "object", "additionalProperties": false,
               "properties": {"a": true, "b\"": {}}})",
           {"{}", R"({"a":1})", R"({"b\"":1,"a":2})"},
           {R"({"c":1})", R"({"":1})", R"({"aa":1})"}},
          {R"({"type": "object", "additionalProperties": {"type": "null"},
               "properties": {"a": {"type": "boolean"}}})",
           {R"({"a":true,"b":null})"},
           {R"({"a":null})", R"({"b":true})"}},
          {R"({"type": "object", "patternProperties":
               {"^x": {"type": "integer"}, "y$": {"minimum": 5}},
               "additionalProperties": false})",
           {R"({"xa":1,"xy":5,"ay":"s"})"},
           {R"({"xy":4})", R"({"xa":"s"})", R"({"a":1})"}},
          {R"({"type": "object", "propertyNames": {"maxLength": 2}})",
           {"{}", R"({"ab":1})", R"({"éé":1})"},
           {R"({"abc":1})"}},
          {R"({"type": "object", "propertyNames": {"enum": ["a", "b", "c"]},
               "minProperties": 2})",
           {R"({"c":1,"a":2})"},
           {R"({"a":1})", R"({"a":1,"d":2})"}},
          {R"({"type": "object", "minProperties": 1, "maxProperties": 2})",
           {R"({"a":1})", R"({"a":1,"b":2})"},
           {"{}", R"({"a":1,"b":2,"c":3})"}},
          {R"({"type": "object", "minProperties": 2})",
           {R"({"a":1,"b":2})"},
           {R"({"a":1})", R"({"a":1,"a":2})"}},
          {R"({"type": "object", "dependentRequired": {"a": ["b"]}})",
           {"{}", R"({"b":1})", R"({"a":1,"b":2})", R"({"b":1,"a":2})"},
           {R"({"a":1})"}},
          {R"({"type": "object", "dependentSchemas":
               {"a": {"properties": {"b": {"type": "null"}}}}})",
           {R"({"b":1})", R"({"a":1})", R"({"a":1,"b":null})"},
           {R"({"a":1,"b":1})", R"({"b":1,"a":1})"}},
          {R"({"$schema": "http://json-schema.org/draft-07/schema#",
               "type": "object", "dependencies": {"a": ["b"],
               "c": {"required": ["d"]}}})",
           {"{}", R"({"a":1,"b":1})", R"({"c":1,"d":1})"},
           {R"({"a":1})", R"({"c":1})"}},
          {R"({"type": "object", "allOf": [{"properties": {"a": true}}],
               "properties": {"b": true}, "unevaluatedProperties": false})",
           {"{}", R"({"a":1,"b":1})"},
           {R"({"c":1})"}},
      },
      compact());
}

TEST(Grammar, Arrays) {
  check(
      {
          {R"({"type": "array", "items": {"type": "integer"}})",
           {"[]", "[1]", "[1,2,3]"},
           {"[null]", "[1,[]]"}},
          {R"({"type": "array", "prefixItems": [{"type": "string"},
               {"type": "null"}], "items": false})",
           {"[]", R"(["a"])", R"(["a",null])"},
           {"[1]", R"(["a",1])", R"(["a",null,1])"}},
          {R"({"type": "array", "minItems": 2, "maxItems": 3})",
           {"[1,2]", "[[],{},0]"},
           {"[]", "[1]", "[1,2,3,4]"}},
          {R"({"type": "array", "minItems": 1000000000})", {}, {"[]", "[1]"}},
          {R"({"type": "array", "contains": {"type": "integer"}})",
           {"[1]", "[null,1]", "[1,2]"},
           {"[]", "[null]"}},
          {R"({"type": "array", "contains": {"type": "integer"},
               "minContains": 2, "maxContains": 3})",
           {"[1,2]", "[1,null,2,3]"},
           {"[1]", "[1,2,3,4]", "[null]"}},
          {R"({"type": "array", "allOf": [{"contains": {"type": "number"}},
               {"contains": {"type": "integer"}}], "maxItems": 1})",
           {"[1]"},
           {"[]", "[1.5]", "[1,2]"}},
          {R"({"type": "array", "minItems": 3, "allOf": [{"contains":
               {"type": "integer"}, "minContains": 2}, {"contains":
               {"minimum": 5, "type": "number"}, "maxContains": 1}]})",
           {"[7,1,2]", "[1,null,6]"},
           {"[1,2,3]", "[5,6,1]", "[1,7,8]"}},
          {R"({"anyOf": [{"type": "array", "minItems": 3}, {"type": "array",
               "uniqueItems": true, "items": {"type": "string"}}]})",
           {R"(["a"])", R"(["a","a","a"])"},
           {R"(["a","a"])"}},
          {R"({"type": "array", "contains": {"const": 1}, "minContains": 0})",
           {"[]", "[2]", "[1]"},
           {}},
          {R"({"type": "array", "uniqueItems": true,
               "items": {"type": ["integer", "string"]}})",
           {"[]", R"([1,"1",2])", "[10,1,100]"},
           {"[1,1]", "[1,1.0]", R"(["a","\u0061"])", "[100,10,100]"}},
          {R"({"type": "array", "uniqueItems": true,
               "items": {"type": "boolean"}, "minItems": 2})",
           {"[true,false]", "[false,true]"},
           {"[true]", "[true,true]"}},
          {R"({"type": "array", "prefixItems": [true],
               "unevaluatedItems": {"type": "null"}})",
           {"[1]", "[1,null]"},
           {"[1,2]"}},
          {R"({"type": "array", "contains": {"type": "null"},
               "unevaluatedItems": {"type": "integer"}})",
           {"[null]", "[1,null,2,null]"},
           {"[]", "[1]", "[null,true]"}},
          {R"({"type": "array", "unevaluatedItems": false, "anyOf": [
               {"contains": {"const": 1}}, {"contains": {"const": 2}},
               {"prefixItems": [{"const": 3}]}]})",
           {"[]", "[1]", "[2,2]", "[1,2,1]", "[3]", "[3,2]"},
           {"[4]", "[1,3]", "[2,4]", "[3,3]"}},
          {R"({"type": "array", "contains": {"type": "null"},
               "minContains": 0, "maxContains": 1,
               "unevaluatedItems": false})",
           {"[]", "[null]"},
           {"[1]", "[null,null]"}},
          {R"({"$schema": "http://json-schema.org/draft-07/schema#",
               "type": "array", "items": [{"type": "null"}],
               "additionalItems": {"type": "boolean"}})",
           {"[]", "[null,true]"},
           {"[true]", "[null,null]"}},
      },
      compact());
}

TEST(Grammar, Logic) {
  check(
      {
          {R"({"allOf": [{"type": "integer"}, {"minimum": 3},
               {"not": {"const": 5}}]})",
           {"3", "4", "50"},
           {"2", "5", R"("a")"}},
          {R"({"anyOf": [{"type": "object", "properties": {"k": {"const": "a"},
               "v": {"type": "integer"}}, "required": ["k"]},
               {"type": "object", "properties": {"k": {"const": "b"},
               "v": {"type": "string"}}, "required": ["k"]}]})",
           {R"({"k":"a","v":1})", R"({"v":"x","k":"b"})"},
           {R"({"k":"a","v":"x"})", R"({"v":1,"k":"b"})", R"({"v":1})"}},
          {R"({"oneOf": [{"type": "integer"}, {"minimum": 2}]})",
           {"1", "2.5", R"("a")"},
           {"3", "1.5"}},
          {R"({"oneOf": [{"required": ["a"]}, {"required": ["b"]}],
               "type": "object"})",
           {R"({"a":1})", R"({"b":1,"c":2})"},
           {"{}", R"({"a":1,"b":1})"}},
          {R"({"not": {"type": ["object", "array"]}})",
           {"1", R"("")"},
           {"{}", "[]"}},
          {R"({"type": "object", "not": {"required": ["a"]}})",
           {"{}", R"({"b":1})"},
           {R"({"a":1})"}},
          {R"({"type": "object",
               "not": {"patternProperties": {"^(a|b)$": {"type": "null"}}}})",
           {R"({"a":1})", R"({"a":null,"b":1})"},
           {"{}", R"({"a":null})"}},
          {R"({"type": "array", "not": {"items": {"type": "null"}}})",
           {"[1]", "[null,1]"},
           {"[]", "[null]"}},
          {R"({"if": {"properties": {"k": {"const": 1}}, "required": ["k"]},
               "then": {"required": ["a"]}, "else": {"required": ["b"]},
               "type": "object"})",
           {R"({"k":1,"a":0})", R"({"b":0})", R"({"a":0,"k":1})"},
           {R"({"k":1,"b":0})", R"({"k":2,"a":0})", "{}"}},
          {R"({"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object",
               "additionalProperties": false, "properties": {"l":
               {"$ref": "#/$defs/tree"}, "r": {"$ref": "#/$defs/tree"}}}}})",
           {"{}", R"({"l":{"r":{}},"r":{}})"},
           {"1", R"({"l":1})"}},
          {R"({"$ref": "#a", "$defs": {"x": {"$anchor": "a",
               "type": "null"}}})",
           {"null"},
           {"1"}},
      },
      compact());
}

// --- Layouts. ---------------------------------------------------------------

TEST(Grammar, Layouts) {
  constexpr std::string_view kSchema = R"({"type": ["object", "array"]})";
  JsonSchemaOptions options;
  check({{kSchema,
          {"{}", "{ }", R"({"a" : 1 ,"b":[ ]})", "[\n\t1,\r\n 2 ]",
           "[" + std::string(64, ' ') + "]"},
          {" {}", "{} ", "[" + std::string(65, ' ') + "]", "[\v]"}}},
        options);
}

TEST(Grammar, ExactLayouts) {
  constexpr std::string_view kSchema = R"({"type": ["object", "array"]})";
  JsonSchemaOptions options;
  options.layout.exact = true;
  check({{kSchema,
          {"{}", "[]", R"({"a": 1, "b": [2, []]})"},
          {"{ }", R"({"a":1})", R"({"a": 1,"b": 2})", "[1 ]", "[1,  2]"}}},
        options);
  options.layout.item_separator = ",";
  options.layout.key_separator = " :";
  check({{kSchema, {R"({"a" :1,"b" :[2,3]})"}, {R"({"a":1})", "[1, 2]"}}},
        options);
  options.layout = {.exact = true, .indent = 2};
  check({{kSchema,
          {"{}", "[]", "[\n  1,\n  {\n    \"a\": []\n  }\n]"},
          {"[1]", "[\n 1\n]", "[\n  1, \n  2\n]", "[\n]", "[\n  1]"}}},
        options);
  options.layout = {.exact = true, .indent = 0};
  check({{kSchema, {"[\n1,\n2\n]"}, {"[1]", "[1, 2]"}}}, options);
  options.layout = {.exact = true, .indent = 1, .item_separator = ", "};
  check({{kSchema, {"[\n 1, \n 2\n]"}, {"[\n 1,\n 2\n]"}}}, options);
  // What may not come is not begun.
  options.layout = {.exact = true, .indent = 1};
  check({{R"({"type": "array", "maxItems": 1})",
          {"[]", "[\n 1\n]"},
          {"[\n 1,\n 2\n]"}},
         {R"({"type": "object", "minProperties": 1, "maxProperties": 1})",
          {"{\n \"a\": 1\n}"},
          {"{}"}}},
        options);

  for (const auto& [item, key] :
       {std::pair("", ": "), std::pair(" ,", ": "), std::pair(",", " "),
        std::pair(",x", ": "), std::pair(",", "x:"), std::pair(",", "::")}) {
    options.layout = {
        .exact = true, .item_separator = item, .key_separator = key};
    const Result<Grammar> bad = Grammar::from_json_schema(kSchema, options);
    ASSERT_FALSE(bad) << item << key;
    EXPECT_EQ(bad.error().code, ErrorCode::kInvalidValue);
  }
}

TEST(Grammar, WhatNeedsMoreLevelsIsNotBegunNearTheGreatestDepth) {
  constexpr std::string_view kPairs = R"({"anyOf": [{"type": "null"},
      {"type": "array", "minItems": 1,
       "items": {"type": "array", "minItems": 1, "items": {"$ref": "#"}}}]})";
  JsonSchemaOptions options;
  options.limits.depth = 5;
  check({{kPairs,
          {"null", "[[null]]", "[[[[null]]]]", "[[null,[[null]]],[null]]"},
          {"[[[[[[null]]]]]]", "[[[[["}}},
        options);
  const Result<Grammar> grammar = Grammar::from_json_schema(kPairs, options);
  EXPECT_EQ(grammar->explain("[[[[[")->offset, 4u);
  options.limits.depth = 300;
  const Result<Grammar> far = Grammar::from_json_schema(kPairs, options);
  EXPECT_EQ(far->explain(std::string(301, '['))->offset, 300u);
  options.limits.depth = 301;
  const Result<Grammar> odd = Grammar::from_json_schema(kPairs, options);
  EXPECT_EQ(odd->explain(std::string(301, '['))->offset, 300u);
  options.limits.depth = 1;
  const Result<Grammar> none = Grammar::from_json_schema(
      R"({"type": "array", "minItems": 1, "items": {"type": "array"}})",
      options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kTooLarge);
}

TEST(Grammar, UnlimitedWhiteSpace) {
  JsonSchemaOptions options;
  options.layout.max_white_space = JsonLayout::kUnlimited;
  const std::string wide = "[" + std::string(100000, ' ') + "1\n]";
  check({{R"({"type": "array"})", {wide}, {" []"}}}, options);
}

// --- Spelling. ---------------------------------------------------------------

// Spellings of texts that the schema fixes: the one of json.dumps, and others,
// which are accepted only where any may come.
struct Spelled {
  std::string_view schema;
  std::vector<std::string_view> canonical;
  std::vector<std::string_view> others;
};

void check_spelling(const std::vector<Spelled>& rows) {
  JsonSchemaOptions any = compact();
  any.spelling = JsonSpelling::kAny;
  std::vector<Row> one;
  std::vector<Row> all;
  for (const Spelled& row : rows) {
    one.push_back({row.schema, row.canonical, row.others});
    all.push_back({row.schema, row.canonical, {}});
    all.back().accepted.insert(all.back().accepted.end(), row.others.begin(),
                               row.others.end());
  }
  check(one, compact());
  check(all, any);
}

TEST(Grammar, StringsThatAreFixedHaveOneSpelling) {
  check_spelling({
      {R"({"const": "a/é\"\\\b\f\n\r\t\u0000\u001f\u007f😀"})",
       {"\"a/é\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\x7f😀\""},
       {"\"\\u0061/é\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\x7f😀\"",
        "\"a\\/é\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\x7f😀\"",
        "\"a/\\u00e9\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\x7f😀\"",
        "\"a/é\\u0022\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\x7f😀\"",
        "\"a/é\\\"\\\\\\u0008\\f\\n\\r\\t\\u0000\\u001f\x7f😀\"",
        "\"a/é\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001F\x7f😀\"",
        "\"a/é\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\\u007f😀\"",
        "\"a/é\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\\ud83d\\ude00\""}},
      {R"({"enum": ["celsius", "kelvin", 3]})",
       {R"("celsius")", R"("kelvin")", "3"},
       {R"("c\u0065\u006c\u0073\u0069us")", R"("\u006belvin")"}},
      {R"({"type": "string", "pattern": "^a"})",
       {R"("a")", R"("a\n/é")"},
       {R"("\u0061")", R"("a\u000a")", R"("a\/")", R"("a\u00e9")"}},
      // Few texts are left to a pattern: one with a character to escape.
      {R"({"type": "string", "pattern": "^[\"\\n\\u0001]x$"})",
       {R"("\"x")", R"("\nx")", R"("\u0001x")"},
       {R"("\u0022x")", R"("\u000ax")", R"("\"\u0078")"}},
      {R"({"type": "string", "format": "date"})",
       {R"("2024-02-03")"},
       {R"("2024-02-0\u0033")"}},
      {R"({"type": "string", "not": {"const": "a"}})",
       {R"("b")", R"("")"},
       {R"("\u0062")"}},
      // Only lengths are constrained, or nothing at all.
      {R"({"type": "string", "minLength": 1, "maxLength": 2})",
       {R"("b")", R"("\u0062\/")"},
       {}},
      {R"({"type": "string", "pattern": ""})", {R"("\u0062\/")"}, {}},
      {R"({"anyOf": [{"type": "string"}, {"const": "a"}]})",
       {R"("a")", R"("\u0061")"},
       {}},
      // The alternative that says nothing lets all spellings of what fits it
      // through.
      {R"({"anyOf": [{"type": "string", "maxLength": 2}, {"const": "abc"}]})",
       {R"("abc")", R"("\u0061b")"},
       {R"("\u0061bc")"}},
      {R"({"type": "array", "items": {"type": "string"}, "uniqueItems": true})",
       {R"(["a","b"])", R"(["\u0061","b"])"},
       {}},
      {R"({"type": "array", "items": {"enum": ["a", "b"]},
          "uniqueItems": true})",
       {R"(["a","b"])"},
       {R"(["\u0061","b"])"}},
  });
}

TEST(Grammar, NumbersThatAreFixedAreSpelledAsInTheSchema) {
  check_spelling({
      {R"({"const": 1})", {"1"}, {"1.0", "1.00"}},
      {R"({"const": 1.0})", {"1.0"}, {"1", "1.00"}},
      {R"({"const": -0.0})", {"0.0"}, {"0", "0.00"}},
      {R"({"const": -12.50})", {"-12.5"}, {"-12.50"}},
      {R"({"const": 1e2})", {"100.0"}, {"100"}},
      {R"({"const": 1E22})", {"1e+22"}, {"1e22", "1E+22", "1.0e22"}},
      {R"({"const": 0.00001})", {"1e-05"}, {"1e-5", "0.00001", "1.0E-05"}},
      {R"({"const": 12345678901234567890})",
       {"12345678901234567890"},
       {"12345678901234567890.0"}},
      {R"({"enum": [0.0, 0.5, 1.0, 10, 100]})",
       {"0.0", "0.5", "1.0", "10", "100"},
       {"0", "0.50", "1", "10.0"}},
      // Where the schema has two spellings both may come.
      {R"({"allOf": [{"const": 1}, {"enum": [1.0, 2]}]})",
       {"1", "1.0"},
       {"1.00"}},
      {R"({"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": true})",
       {"[1,2]", "[2]"},
       {"[1.0]", "[1,2.0]"}},
      // Bounds fix no text.
      {R"({"type": "number", "minimum": 1, "maximum": 1})",
       {"1", "1.0", "1.00"},
       {}},
      {R"({"type": "number", "not": {"const": 1}})", {"2", "2.0"}, {}},
  });
  // An integer of draft 4 has no fraction, whatever the schema says.
  JsonSchemaOptions options = compact();
  options.draft = SchemaDraft::k4;
  check({{R"({"type": "integer", "enum": [1.0, 1e18]})",
          {"1", "1000000000000000000"},
          {"1.0", "1e+18"}}},
        options);
}

TEST(Grammar, NamesThatAreFixedHaveOneSpelling) {
  check_spelling({
      {R"({"properties": {"city": true}})",
       {R"({"city":1})", R"({"c\u0069tz":1})", R"({"\u0063it":1})"},
       {R"({"c\u0069ty":1})", R"({"\u0063ity":1})", R"({"cit\u0079":1})"}},
      // The value of a name decides, so no spelling brings a declared name in
      // as another one.
      {R"({"properties": {"city": {"type": "null"}},
          "additionalProperties": {"type": "integer"}})",
       {R"({"city":null})", R"({"\u0063":1})"},
       {R"({"c\u0069ty":null})"}},
      {R"({"properties": {"a\"/\n\u0001é": true}, "required":
          ["a\"/\n\u0001é"], "additionalProperties": false})",
       {R"({"a\"/\n\u0001é":1})"},
       {R"({"a\u0022/\n\u0001é":1})", R"({"a\"\/\n\u0001é":1})",
        R"({"a\"/\u000a\u0001é":1})", R"({"a\"/\n\u0001\u00e9":1})"}},
      {R"({"required": ["city"]})",
       {R"({"city":1})", R"({"city":1,"\u0061":2})"},
       {R"({"c\u0069ty":1})"}},
      {R"({"patternProperties": {"^x": {"type": "null"}}})",
       {R"({"xa":null})", R"({"b":1})"},
       {R"({"x\u0061":null})", R"({"\u0078a":null})", R"({"\u0062":1})"}},
      {R"({"propertyNames": {"pattern": "^[a-z\\n]*$"}})",
       {R"({"a\n":null})"},
       {R"({"\u0061":null})", R"({"a\u000a":1})"}},
      {R"({"propertyNames": {"enum": ["a", "b"]}, "minProperties": 2})",
       {R"({"a":null,"b":1})"},
       {R"({"\u0061":null,"b":1})"}},
      // Of objects that a schema lists the names and the values are fixed.
      {R"({"const": {"kind": "x", "n": [1, {"é": null}]}})",
       {R"({"kind":"x","n":[1,{"é":null}]})",
        R"({"n":[1,{"é":null}],"kind":"x"})"},
       {R"({"k\u0069nd":"x","n":[1,{"é":null}]})",
        R"({"kind":"\u0078","n":[1,{"é":null}]})",
        R"({"kind":"x","n":[1,{"\u00e9":null}]})",
        R"({"kind":"x","n":[1.0,{"é":null}]})"}},
      {R"({"type": "object", "minProperties": 2, "maxProperties": 2})",
       {R"({"a":1,"b":2})", R"({"\u0061":1,"b":2})"},
       {}},
  });
  // Never: a declared name in another spelling as an additional property.
  const std::string_view smuggled =
      R"({"properties": {"city": {"type": "null"}, "": {"type": "null"}},
          "additionalProperties": {"type": "integer"}})";
  const std::vector<std::string_view> texts = {
      R"({"city":1})", R"({"c\u0069ty":1})", R"({"\u0063it\u0079":1})",
      R"({"":1})"};
  JsonSchemaOptions any = compact();
  any.spelling = JsonSpelling::kAny;
  check({{smuggled, {}, texts}}, any);
  check({{smuggled, {}, texts}}, compact());
}

// --- Options. ---------------------------------------------------------------

TEST(Grammar, KeyOrder) {
  JsonSchemaOptions options = compact();
  options.key_order = KeyOrder::kSchema;
  check({{R"({"type": "object", "required": ["b"], "properties":
              {"a": true, "b": true, "c": true}})",
          {R"({"b":1})", R"({"a":1,"b":1,"c":1})", R"({"b":1,"c":1,"x":1})"},
          {R"({"b":1,"a":1})", R"({"a":1,"c":1})", R"({"c":1,"b":1})",
           R"({"b":1,"x":1,"c":1})", R"({"x":1,"b":1})"}},
         // What one alternative may pass another needs.
         {R"({"type": "object", "anyOf": [
              {"required": ["c"],
               "properties": {"c": true, "a": {"type": "string"}}},
              {"properties": {"c": true, "a": {"type": "integer"}}}]})",
          {R"({"c":1,"a":"x"})", R"({"c":1,"a":1})", R"({"a":1})", "{}"},
          {R"({"a":"x"})"}},
         {R"({"type": "object", "dependentRequired": {"a": ["c"]},
              "properties": {"c": true, "b": true, "a": true}})",
          {R"({"c":1,"a":1})", R"({"b":1})"},
          {R"({"a":1})", R"({"b":1,"a":1})"}},
         // What was left out asks for nothing, and is not there.
         {R"({"type": "object", "dependentRequired": {"a": ["c"]},
              "properties": {"a": true, "b": true, "c": true}})",
          {R"({"b":1})", R"({"a":1,"b":1,"c":1})", R"({"a":1,"c":1})"},
          {R"({"a":1,"b":1})", R"({"c":1,"a":1})"}},
         {R"({"type": "object", "properties": {"a": true, "b": true},
              "not": {"required": ["a"],
                      "properties": {"b": {"type": "string"}}}})",
          {R"({"b":"x"})", R"({"a":1,"b":1})"},
          {R"({"a":1,"b":"x"})", R"({"a":1})", R"({"b":1,"a":1})"}},
         {R"({"type": "object", "properties": {"a": true, "b": true},
              "if": {"required": ["a"], "properties": {"a": {"const": 1}}},
              "then": {"required": ["b"]}, "else": {"required": ["c"]}})",
          {R"({"b":1,"c":1})", R"({"a":1,"b":1})", R"({"a":2,"b":1,"c":1})"},
          {R"({"b":1})", R"({"a":1,"c":1})", R"({"c":1,"b":1})"}},
         // Enough members, one of which asks for others.
         {R"({"type": "object", "properties": {"a": true, "b": true},
              "dependentRequired": {"a": ["b"]}, "minProperties": 2,
              "additionalProperties": false})",
          {R"({"a":1,"b":1})"},
          {R"({"b":1})", R"({"b":1,"a":1})"}}},
        options);
}

TEST(Grammar, Closed) {
  JsonSchemaOptions options = compact();
  options.closed = true;
  check({{R"({"type": "object", "properties": {"a": true}})",
          {"{}", R"({"a":1})"},
          {R"({"b":1})"}},
         {R"({"type": "object"})", {R"({"b":1})"}, {}},
         {R"({"type": "object", "properties": {"a": true},
              "additionalProperties": {"type": "null"}})",
          {R"({"b":null})"},
          {R"({"b":1})"}},
         {R"({"type": "array", "prefixItems": [true]})",
          {"[]", "[1]"},
          {"[1,2]"}},
         {R"({"type": "array"})", {"[1,2]"}, {}}},
        options);
}

// Members that schemas in place declare are declared.
TEST(Grammar, ClosedInPlace) {
  JsonSchemaOptions options = compact();
  options.closed = true;
  check({{R"({"type": "object", "properties": {"a": true},
              "allOf": [{"properties": {"b": true}}]})",
          {"{}", R"({"a":1})", R"({"b":1})", R"({"a":1,"b":1})"},
          {R"({"c":1})"}},
         {R"({"type": "object", "properties": {"a": true},
              "anyOf": [{"properties": {"b": true}, "required": ["b"]},
                        {"properties": {"c": true}, "required": ["c"]}]})",
          {R"({"b":1})", R"({"a":1,"c":1})", R"({"b":1,"c":1})"},
          {R"({"a":1})", R"({"b":1,"d":1})"}},
         {R"({"type": "object", "properties": {"a": true}, "$ref": "#/$defs/r",
              "$defs": {"r": {"properties": {"b": true}}}})",
          {R"({"a":1,"b":1})"},
          {R"({"c":1})"}},
         // A reference alone, and a schema that is a level and part of one.
         {R"({"$ref": "#/$defs/r",
              "$defs": {"r": {"type": "object", "properties": {"b": true}}}})",
          {R"({"b":1})"},
          {R"({"c":1})"}},
         {R"({"type": "object", "allOf": [{"$ref": "#/$defs/r"}],
              "properties": {"a": {"$ref": "#/$defs/r"}},
              "$defs": {"r": {"type": "object", "properties": {"b": true}}}})",
          {R"({"a":{"b":1},"b":1})"},
          {R"({"a":{"a":1}})", R"({"c":1})"}},
         // A part that says what others are; a condition stays as written.
         {R"({"type": "object", "properties": {"a": true},
              "allOf": [{"additionalProperties": {"type": "null"}}]})",
          {R"({"a":null,"b":null})"},
          {R"({"b":1})"}},
         {R"({"type": "object", "properties": {"a": true, "b": true},
              "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
              "then": {"required": ["b"]}})",
          {R"({"a":1,"b":1})", R"({"a":2})"},
          {R"({"a":1})", R"({"a":2,"c":1})"}},
         {R"({"type": "array", "prefixItems": [true],
              "allOf": [{"prefixItems": [true, true]}]})",
          {"[1]", "[1,2]"},
          {"[1,2,3]"}}},
        options);
}

TEST(Grammar, Lenient) {
  JsonSchemaOptions options = compact();
  options.lenient = true;
  check({{R"({"type": "string", "pattern": "(a)\\1", "minLength": 1})",
          {R"("b")"},
          {R"("")"}},
         {R"({"type": "array", "uniqueItems": true})",
          {"[[],{}]"},
          {"{}", "[[],[]]"}}},
        options);
}

TEST(Grammar, Drafts) {
  JsonSchemaOptions options = compact();
  options.draft = SchemaDraft::k4;
  check({{R"({"type": "integer", "maximum": 3, "exclusiveMaximum": true})",
          {"2"},
          {"3", "2.0"}}},
        options);
  options.draft = SchemaDraft::k7;
  check({{R"({"type": "array", "items": [{"type": "null"}]})",
          {"[null,1]"},
          {"[1]"}},
         {R"({"$ref": "#/definitions/a", "minimum": 3,
              "definitions": {"a": {"type": "integer"}}})",
          {"1"},
          {"null"}}},
        options);
  options.draft = SchemaDraft::k2019;
  check({{R"({"$ref": "#/$defs/a", "minimum": 3,
              "$defs": {"a": {"type": "integer"}}})",
          {"3"},
          {"1", "null"}}},
        options);
}

TEST(Grammar, Documents) {
  JsonSchemaOptions options = compact();
  options.documents.emplace("http://example.com/a",
                            *json::parse(R"({"type": "null"})"));
  check({{R"({"$ref": "http://example.com/a"})", {"null"}, {"1"}}}, options);
}

TEST(Grammar, FormatsCanBeIgnored) {
  JsonSchemaOptions options = compact();
  options.assert_formats = false;
  check({{R"({"type": "string", "format": "date"})", {R"("a")"}, {"1"}}},
        options);
}

// --- Limits and large schemas. ----------------------------------------------

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (; times > 0; --times) out += text;
  return out;
}

TEST(Grammar, DepthOfTheText) {
  JsonSchemaOptions options = compact();
  options.limits.depth = 3;
  check({{"true",
          {"[[[]]]", R"({"a":{"b":{}}})", "[[1,[]]]"},
          {"[[[[]]]]", R"([{"a":[{}]}])"}}},
        options);
  // Deeper than any limit: an answer, not a crash.
  const Result<Grammar> grammar = Grammar::from_json_schema("true", compact());
  ASSERT_TRUE(grammar);
  EXPECT_TRUE(grammar->accepts(repeated("[", 1000) + repeated("]", 1000)));
  const std::optional<Rejection> why = grammar->explain(repeated("[", 10000));
  ASSERT_TRUE(why);
  EXPECT_EQ(why->offset, 1000u);
}

TEST(Grammar, DepthOfTheSchema) {
  for (const auto& [open, close] :
       {std::pair(R"({"not":)", "}"), std::pair(R"({"items":)", "}"),
        std::pair(R"({"properties":{"a":)", "}}"),
        std::pair(R"({"allOf":[)", "]}")}) {
    const std::string schema =
        repeated(open, 10000) + "true" + repeated(close, 10000);
    const Result<Grammar> grammar = Grammar::from_json_schema(schema);
    ASSERT_FALSE(grammar) << open;
    EXPECT_TRUE(grammar.error().code == ErrorCode::kTooDeep ||
                grammar.error().code == ErrorCode::kTooLarge)
        << grammar.error().to_string();
  }
}

TEST(Grammar, CanBeCancelled) {
  JsonSchemaOptions options;
  int calls = 0;
  options.limits.cancelled_argument = &calls;
  options.limits.cancelled = [](void* argument) {
    ++*static_cast<int*>(argument);
    return true;
  };
  std::string properties;
  for (int i = 0; i < 5000; ++i) {
    properties += (i > 0 ? ",\"p" : "\"p") + std::to_string(i) + "\":{}";
  }
  const Result<Grammar> grammar = Grammar::from_json_schema(
      R"({"properties":{)" + properties + "}}", options);
  ASSERT_FALSE(grammar);
  EXPECT_EQ(grammar.error().code, ErrorCode::kTooLarge);
  EXPECT_NE(grammar.error().message.find("cancelled"), std::string::npos);
  EXPECT_GT(calls, 0);
}

// Reports after a compile do not poll the interrupt.
TEST(Grammar, ReportsWithoutAskingWhetherToGoOn) {
  JsonSchemaOptions options;
  int calls = 0;
  options.limits.cancelled_argument = &calls;
  options.limits.cancelled = [](void* argument) {
    ++*static_cast<int*>(argument);
    return false;
  };
  const Result<Grammar> grammar = Grammar::from_json_schema(
      R"({"items": {"properties": {"a": {"format": "date"}}}})", options);
  ASSERT_TRUE(grammar);
  const int before = calls;
  grammar->report();
  grammar->accepts(R"([{"a": "2024-02-29"}])");
  EXPECT_EQ(calls, before);
}

// A grammar is joined to others long after its own compile, and whom that one
// asked may be gone.
TEST(Grammar, AsksWhoeverJoinsItWhetherToGoOn) {
  struct Asked {
    int calls = 0;
    bool give_up = false;
  };
  const auto limits = [](Asked& asked) {
    GrammarLimits out;
    out.cancelled_argument = &asked;
    out.cancelled = [](void* argument) {
      ++static_cast<Asked*>(argument)->calls;
      return static_cast<Asked*>(argument)->give_up;
    };
    return out;
  };
  Asked first;
  const Grammar part =
      *Grammar::from_json_schema("true", {.limits = limits(first)});
  EXPECT_GT(first.calls, 0);
  first = {};
  Asked second;
  EXPECT_TRUE(Grammar::union_of({part, part}, limits(second)));
  EXPECT_GT(second.calls, 0);
  second.give_up = true;
  const Result<Grammar> none = Grammar::concat({part}, limits(second));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kTooLarge);
  LarkGrammarOptions options;
  options.grammars.emplace("part", part);
  EXPECT_TRUE(Grammar::from_lark("start: @part", options));
  EXPECT_EQ(first.calls, 0);
}

TEST(Grammar, FormatsSayWhatTheyLeaveOut) {
  check({{R"({"type":"string","format":"regex"})",
          {R"("/a")", R"("[[&~]")", R"("a/b{2}")", R"("^(?:a|b)*$")"},
          {R"("a{")", R"("(")", R"("*")"}}},
        compact());
  const auto notes = [](std::string_view name) {
    const Result<Grammar> grammar = Grammar::from_json_schema(
        R"({"properties":{"a":{"type":"string","format":")" +
        std::string(name) + R"("}}})");
    EXPECT_TRUE(grammar);
    return grammar ? grammar->report() : std::vector<GrammarNote>();
  };
  for (const char* exact :
       {"date", "duration", "ipv4", "ipv6", "uuid", "json-pointer"}) {
    EXPECT_TRUE(notes(exact).empty()) << exact;
  }
  for (const char* narrow :
       {"time", "date-time", "email", "idn-email", "hostname", "idn-hostname",
        "uri", "uri-reference", "iri", "iri-reference", "uri-template",
        "relative-json-pointer", "regex"}) {
    const std::vector<GrammarNote> found = notes(narrow);
    ASSERT_EQ(found.size(), 1u) << narrow;
    EXPECT_EQ(found[0].kind, GrammarNote::Kind::kNarrowed);
    EXPECT_EQ(found[0].keyword, "format");
    EXPECT_EQ(found[0].path, "/properties/a");
    EXPECT_NE(found[0].message.find("leaves out"), std::string::npos);
  }
}

// Alternatives of the items of an array are split.  Of too many the first are
// kept, and report() says so.
TEST(Grammar, TooManyAlternatives) {
  std::string schema = R"({"type":"array","allOf":[)";
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    schema += (i > 0 ? "," : "") +
              std::string(R"({"anyOf":[{"contains":{"const":"a)") + n +
              R"("}},{"contains":{"const":"b)" + n + R"("}}]})";
  }
  schema += "]}";
  JsonSchemaOptions options = compact();
  options.limits.alternatives = 4;
  const Result<Grammar> grammar = Grammar::from_json_schema(schema, options);
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  ASSERT_EQ(grammar->report().size(), 1u);
  EXPECT_EQ(grammar->report()[0].kind, GrammarNote::Kind::kNarrowed);
  std::string text = "[";
  for (int i = 0; i < 3; ++i) {
    text += (i > 0 ? ",\"a" : "\"a") + std::to_string(i) + "\"";
  }
  EXPECT_TRUE(grammar->accepts(text + "]"));
}

// Alternatives that the text decides one by one are not multiplied out.
TEST(Grammar, ManyUnionsOfOneObject) {
  // "t" says which of the blocks holds; without it, all of them.
  const auto blocks = [](int count, const std::string& more) {
    std::string list;
    for (int i = 0; i < count; ++i) {
      const std::string n = std::to_string(i);
      list += (i > 0 ? "," : "") +
              std::string(R"({"if":{"properties":{"t":{"const":"a)") + n +
              R"("}}},"then":{"anyOf":[{"properties":{"g":{"type":"string"}}},
                  {"properties":{"h)" +
              n + R"(":{"type":"integer"}}},
                  {"properties":{"k":{"type":"array"}}}]}})";
    }
    return R"({"type":"object",)" + more + R"("allOf":[)" + list + "]}";
  };
  const std::vector<std::string_view> accepted = {
      R"({"t":"a0","g":"x","h0":"x","k":1})",
      R"({"t":"a0","g":1,"h0":1,"k":1})",
      R"({"g":1,"h0":"x","k":1,"t":"a1"})",
      R"({"k":1,"h0":"x","h1":"x","h2":"x","g":1,"t":"zz"})",
      R"({"h3":"x","h9":"x","h7":"x","g":1,"k":1,"t":"a8"})",
      R"({"k":1,"t":"a7","g":null})",
      R"({"t":5})"};
  const std::vector<std::string_view> rejected = {
      R"({"t":"a0","g":1,"h0":"x","k":1})",
      R"({"g":1,"h0":"x","k":1,"t":"a0"})",
      R"({"h3":"x","h9":"x","h7":"x","g":1,"k":1,"t":"a7"})",
      R"({"h3":"x","g":1,"k":1})"};
  for (const KeyOrder order : {KeyOrder::kAny, KeyOrder::kSchema}) {
    JsonSchemaOptions options = compact();
    options.key_order = order;
    for (const int count : {10, 30, 100}) {
      for (const char* more : {"", R"("required":["t"],)"}) {
        const std::string schema = blocks(count, more);
        const Result<Grammar> grammar =
            Grammar::from_json_schema(schema, options);
        ASSERT_TRUE(grammar) << grammar.error().to_string();
        EXPECT_TRUE(grammar->report().empty());
        EXPECT_EQ(grammar->accepts("{}"), *more == '\0');
      }
    }
  }
  for (const int count : {10, 30}) {
    check({{blocks(count, ""), accepted, rejected},
           {blocks(count, R"("required":["t"],)"), accepted, rejected}},
          compact());
  }
  // Of each pair one, of many pairs.
  std::string pairs;
  std::string all = "{";
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i);
    pairs += (i > 0 ? "," : "") + std::string(R"({"anyOf":[{"required":["a)") +
             n + R"("]},{"required":["b)" + n + R"("]}]})";
    all += (i > 0 ? ",\"" : "\"") + std::string(i % 3 == 0 ? "a" : "b") + n +
           "\":0";
  }
  const std::string less = all.substr(0, all.rfind(',')) + "}";
  all += "}";
  check({{R"({"type":"object","allOf":[)" + pairs + "]}", {all}, {less}}},
        compact());
}

// Members that fill up a least number may require others.
TEST(Grammar, DependenciesBesideCounts) {
  check(
      {
          {R"({"type":"object","properties":{"a":{}},
               "additionalProperties":false,"minProperties":1,
               "dependentRequired":{"b":[]}})",
           {R"({"a":1})"},
           {"{}", R"({"b":1})"}},
          {R"({"type":"object","minProperties":2,
               "propertyNames":{"enum":["c","a","b"]},
               "dependentSchemas":{"d":{"required":["a","d"]}},
               "allOf":[{"type":"object","minProperties":3}]})",
           {R"({"a":1,"b":2,"c":3})"},
           {R"({"a":1,"b":2})", R"({"a":1,"b":2,"d":3})"}},
          // "a" and "b" come together or not at all, "c" cannot come.
          {R"({"type":"object","propertyNames":{"enum":["a","b","c","e"]},
               "dependentRequired":{"a":["b"],"b":["a"],"c":["d"]},
               "minProperties":2,"maxProperties":2})",
           {R"({"a":1,"b":2})"},
           {R"({"e":1})", R"({"e":1,"a":1})", R"({"c":1,"e":1})"}},
      },
      compact());
  // Groups of two and of four never make five.
  EXPECT_EQ(Grammar::from_json_schema(
                R"({"type":"object","propertyNames":{"enum":["a","b","c","d",
                    "e","f"]},"dependentRequired":{"a":["b"],"b":["a"],
                    "c":["d","e","f"],"d":["c"],"e":["c"],"f":["c"]},
                    "minProperties":5,"maxProperties":5})")
                .error()
                .code,
            ErrorCode::kUnsatisfiable);
}

// One member may break several rules.
TEST(Grammar, OneMemberDoesForSeveralDenials) {
  check({{R"({"type":"object","maxProperties":1,
              "not":{"anyOf":[{"propertyNames":{"maxLength":1}},
                              {"const":{}}]}})",
          {R"({"abc":null})"},
          {"{}", R"({"a":null})", R"({"abc":1,"d":2})"}}},
        compact());
}

// Of many conditions on one string some text is found at once, though there are
// 2^n sets of those that it has fulfilled.
TEST(Grammar, ManyPatternsOfOneString) {
  const auto all = [](std::string_view letters, std::string_view before,
                      std::string_view after) {
    std::string list;
    for (const char c : letters) {
      list += (list.empty() ? "" : ",") + std::string(R"({"pattern":")") +
              std::string(before) + c + std::string(after) + R"("})";
    }
    return R"({"type":"string","allOf":[)" + list + "]}";
  };
  const std::string contains = all("abcdefghijkl", "", "");
  const std::string apart = all("abcdefghijkl", "", ".*z");
  const std::string ahead =
      R"({"type":"string","pattern":"^(?=.*a)(?=.*b)(?=.*c)(?=.*d)(?=.*e))"
      R"x((?=.*f)(?=.*g)(?=.*h)(?=.*i)(?=.*j)(?=.*k)(?=.*l)(?=.*m)"})x";
  const std::string within =
      R"({"type":"object","properties":{"s":)" + contains + "}}";
  const std::string branch = R"({"anyOf":[{"type":"null"},)" + contains + "]}";
  check(
      {
          {contains,
           {R"("abcdefghijkl")", R"("lkjihgfedcba")"},
           {R"("abcdefghijk")"}},
          {apart, {R"("abcdefghijklz")"}, {R"("abcdefghijkzl")"}},
          {ahead, {R"("abcdefghijklm")"}, {R"("abcdefghijkl")"}},
          {within, {R"({"s":"abcdefghijkl"})"}, {R"({"s":"abcdefghijk"})"}},
          {branch, {R"("abcdefghijkl")", "null"}, {R"("")"}},
      },
      compact());
  // With a greatest length the shortest text is not looked for to the end.
  const std::string bounded =
      R"({"type":"string","maxLength":40,"allOf":[)" + contains + "]}";
  check({{bounded,
          {R"("abcdefghijkl")"},
          {R"("abcdefghijk")",
           R"("abcdefghijklabcdefghijklabcdefghijklabcdefghijkl")"}}},
        compact());
}

TEST(Grammar, ManyTools) {
  std::string schema = R"({"type":"array","items":{"anyOf":[)";
  for (int i = 0; i < 128; ++i) {
    const std::string n = std::to_string(i);
    schema += (i > 0 ? "," : "") +
              std::string(R"({"type":"object","required":["name","arguments"],
                  "additionalProperties":false,"properties":{"name":{"const":"t)") +
              n + R"("},"arguments":{"type":"object","required":["p)" + n +
              R"("],"properties":{"p)" + n + R"(":{"type":"integer"}}}}})";
  }
  schema += "]}}";
  check({{schema,
          {R"([{"name":"t7","arguments":{"p7":1}}])",
           R"([{"arguments":{"p127":1},"name":"t127"},
               {"name":"t0","arguments":{"p0":1,"x":2}}])"},
          {R"([{"name":"t7","arguments":{"p8":1}}])",
           R"([{"arguments":{"p8":1},"name":"t7"}])"}}},
        {});
}

TEST(Grammar, NestedOneOf) {
  // Twelve levels, six branches each, distinguished by one member.
  std::string schema = R"({"type":"integer"})";
  for (int level = 0; level < 12; ++level) {
    std::string next = R"({"oneOf":[)";
    for (int i = 0; i < 6; ++i) {
      next += (i > 0 ? "," : "") +
              std::string(R"({"type":"object","required":["k","v"],
                  "properties":{"k":{"const":)") +
              std::to_string(i) + R"(},"v":)" +
              (i == 0 ? schema : std::string("true")) + "}}";
    }
    schema = next + "]}";
  }
  std::string text = "1";
  for (int level = 0; level < 12; ++level) text = R"({"k":0,"v":)" + text + "}";
  std::string wrong = text;
  wrong[wrong.find('1')] = 'n';
  check({{schema, {text, R"({"v":1,"k":5})"}, {wrong, R"({"v":1,"k":0})"}}},
        compact());
}

// Exactly one of many members, and the negation, by counting.
TEST(Grammar, OneOfManyMembers) {
  constexpr int kOptions = 40;
  std::string one_of;
  for (int i = 0; i < kOptions; ++i) {
    const std::string name = "\"k" + std::to_string(i) + '"';
    one_of += (i > 0 ? "," : "") + (R"({"required":[)" + name) +
              R"(],"properties":{)" + name + R"(:{"minimum":)" +
              std::to_string(i % 7) + "}}}";
  }
  one_of = R"({"type":"object","oneOf":[)" + one_of + "]}";
  const std::string none_or_two = R"({"type":"object","not":)" + one_of + "}";
  const auto grammar = Grammar::from_json_schema(one_of, compact());
  const auto negated = Grammar::from_json_schema(none_or_two, compact());
  ASSERT_TRUE(grammar && negated);
  std::mt19937 random(7);
  int valid = 0;
  for (int round = 0; round < 800; ++round) {
    // An option holds if its member is there with a number that is no less.
    std::set<int> keys;
    for (unsigned n = random() % 5; n > 0; --n) {
      keys.insert(static_cast<int>(random() % (kOptions + 3)));
    }
    std::string text;
    int holding = 0;
    for (const int key : keys) {
      const int value = static_cast<int>(random() % 8);
      if (key < kOptions && value >= key % 7) ++holding;
      text += (text.empty() ? "\"k" : ",\"k") + std::to_string(key) +
              "\":" + std::to_string(value);
    }
    text = '{' + text + '}';
    EXPECT_EQ(grammar->accepts(text), holding == 1) << text;
    EXPECT_EQ(negated->accepts(text), holding != 1) << text;
    valid += holding == 1 ? 1 : 0;
  }
  EXPECT_GT(valid, 150);
}

TEST(Grammar, HugeEnum) {
  std::string schema = R"({"enum":[)";
  for (int i = 0; i < 20000; ++i) {
    schema += (i > 0 ? ",\"w" : "\"w") + std::to_string(i * 7919) + "x\"";
  }
  schema += "]}";
  check({{schema,
          {R"("w0x")", R"("w7919x")", R"("w158372081x")"},
          {R"("w1x")", R"("w79")", R"("x")"}}},
        compact());
}

TEST(Grammar, ManyPatterns) {
  // More than are distinguished in every combination, with names that match
  // two.
  std::string schema =
      R"({"type":"object","additionalProperties":false,"patternProperties":{)";
  for (int i = 0; i < 40; ++i) {
    schema += (i > 0 ? ",\"^p" : "\"^p") + std::to_string(i) +
              R"(_":{"type":"integer","minimum":)" + std::to_string(i) + "}";
  }
  schema += R"(,"_$":{"maximum":100}}})";
  check({{schema,
          {R"({"p3_x":3,"p39_x":39})", R"({"_":"a"})"},
          {R"({"p3_x":2})", R"({"q":1})", R"({"p3_":200})"}}},
        compact());
}

TEST(Grammar, InOrderAMemberMayHaveToBeLackedThatIsPassed) {
  JsonSchemaOptions options = compact();
  options.key_order = KeyOrder::kSchema;
  check({{R"({"type":"object","not":{"dependentRequired":{"b":["ab"]}},)"
          R"("properties":{"a":true,"ab":true}})",
          {R"({"b":1})", R"({"a":1,"b":1})", R"({"c":1,"b":1})"},
          {"{}", R"({"a":1})", R"({"ab":1,"b":1})", R"({"b":1,"a":1})"}}},
        options);
}

}  // namespace
}  // namespace parlance::grammar_test
