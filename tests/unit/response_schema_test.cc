// Response schemas: the recorded cases, the places of errors, and what lint
// says.

#include "parlance/response_schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "support/conformance.h"
#include "support/vectors.h"

namespace parlance::response_schema_test {
namespace {

using json::Value;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(c));
  return out;
}

// The words of the recorded cases for the kinds of errors.
std::string category(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidContent:
      return "parse_error";
    case ErrorCode::kContentType:
      return "type_error";
    case ErrorCode::kBadPattern:
      return "regex_error";
    case ErrorCode::kTransform:
      return "transform_error";
    case ErrorCode::kTooDeep:
      return "recursion_error";
    default:
      return std::string(to_string(code));
  }
}

// Reads `spec`, which must load.
ResponseSchema load(std::string_view spec) {
  Result<ResponseSchema> schema = ResponseSchema::from_json(spec);
  EXPECT_TRUE(schema) << spec << ": " << schema.error().to_string();
  return *schema;
}

Error load_error(std::string_view spec) {
  Result<ResponseSchema> schema = ResponseSchema::from_json(spec);
  EXPECT_FALSE(schema) << spec;
  return schema ? Error{} : schema.error();
}

Error parse_error(std::string_view spec, std::string_view text) {
  Result<Value> value = load(spec).parse(text);
  EXPECT_FALSE(value) << spec;
  return value ? Error{} : value.error();
}

std::string parse(std::string_view spec, std::string_view text) {
  Result<Value> value = load(spec).parse(text);
  if (!value) return value.error().to_string();
  return json::dump(*value, {.ascii = false});
}

void check_case(const Value& spec, const Value& recorded) {
  SCOPED_TRACE(recorded.find("id")->as_string());
  const Value input = testing::decode(*recorded.find("input"));
  ASSERT_TRUE(input.is_string() || input.is_null());
  Result<ResponseSchema> schema = ResponseSchema::from_json(json::dump(spec));
  ASSERT_TRUE(schema) << schema.error().to_string();
  Result<Value> value =
      input.is_null()
          ? schema->parse_nothing()
          : schema->parse(input.as_string(), {.allow_surrogates = true});
  if (const Value* expected = recorded.find("expected_error")) {
    ASSERT_FALSE(value) << json::dump(*value);
    EXPECT_EQ(category(value.error().code),
              expected->find("category")->as_string())
        << value.error().to_string();
    if (const Value* words = expected->find("contains")) {
      for (const Value& word : words->items()) {
        EXPECT_NE(lower(value.error().message).find(lower(word.as_string())),
                  std::string::npos)
            << value.error().message;
      }
    }
    return;
  }
  ASSERT_TRUE(value) << value.error().to_string();
  const Value expected = testing::decode(*recorded.find("expected"));
  EXPECT_EQ(*value, expected)
      << json::dump(*value) << "\nexpected " << json::dump(expected);
}

TEST(ResponseSchema, RecordedCases) {
  const Value schemas = testing::vectors("response_schema/schemas.json");
  std::size_t count = 0;
  for (const std::string& file : testing::vector_files("response_schema")) {
    if (file == "schemas") continue;
    const Value cases = testing::vectors("response_schema/" + file + ".json");
    for (const Value& recorded : cases.items()) {
      const Value& schema = *recorded.find("schema");
      check_case(schema.is_string()
                     ? *schemas.find(schema.as_string())->find("schema")
                     : schema,
                 recorded);
      ++count;
    }
  }
  EXPECT_GT(count, 140u);
}

// By the template that the schema converts to.
std::string by_template(const Format& format, std::string_view text) {
  ResponseParser parser(format);
  parser.feed(text);
  parser.finalize();
  if (parser.failure() != nullptr) return parser.failure()->to_string();
  return json::dump(Value(parser.message().fields));
}

// With keys in order, however deep: the two make objects in their own orders.
Value sorted(const Value& value) {
  if (value.is_array()) {
    json::Array items;
    for (const Value& item : value.items()) items.push_back(sorted(item));
    return items;
  }
  if (!value.is_object()) return value;
  std::map<std::string, Value> members;
  for (const auto& [key, member] : value.members()) {
    members[key] = sorted(member);
  }
  json::Object out;
  for (auto& [key, member] : members) out.set(key, member);
  return out;
}

TEST(ResponseSchema, PublishedSchemasConvert) {
  const Value schemas = testing::vectors("response_schema/schemas.json");
  const Value cases = testing::vectors("response_schema/upstream-models.json");
  for (const std::string name : {"cohere", "ernie", "gpt_oss", "smollm",
                                 "qwen3", "smollm_doc", "gemma4", "required"}) {
    SCOPED_TRACE(name);
    const ResponseSchema schema =
        load(json::dump(*schemas.find(name)->find("schema")));
    const Result<std::string> made = schema.to_template();
    ASSERT_TRUE(made) << made.error().to_string();
    const Result<Format> format = Format::from_json(*made);
    ASSERT_TRUE(format);
    for (const Value& recorded : cases.items()) {
      if (recorded.find("schema")->as_string() != name ||
          recorded.find("expected") == nullptr) {
        continue;
      }
      const std::string_view text = recorded.find("input")->as_string();
      const Result<Value> message = json::parse(by_template(*format, text));
      ASSERT_TRUE(message) << by_template(*format, text);
      EXPECT_EQ(sorted(*message), sorted(*recorded.find("expected")));
    }
  }
}

TEST(ResponseSchema, WhatDoesNotConvertSaysWhy) {
  struct Case {
    std::string_view spec;
    std::string_view path;
    std::string_view says;
  };
  const Case kCases[] = {
      {R"j({"type": "string"})j", "/type", "an object"},
      {R"j({"type": "object", "properties": {"a": {}}})j", "/properties/a",
       "the whole text"},
      {R"j({"type": "object", "x-regex-substitutions": [["a", "b"]]})j",
       "/x-regex-substitutions", "rewrite"},
      {R"j({"type": "object", "properties": {"a": {"x-regex": "<(\\d)>"}}})j",
       "/properties/a/x-regex", "asks something"},
      {R"j({"type": "object", "properties": {"a": {"x-regex": "<(.*?)>",
           "x-parser": "json", "x-parser-args": {"transform": "keys(@)"}}}})j",
       "/properties/a/x-parser-args", "this JMESPath says more"},
      {R"j({"type": "object", "properties": {"a": {"x-regex": "<(.*?)>",
           "type": "object", "x-parser": "json",
           "properties": {"n": {"type": "number"}}}}})j",
       "/properties/a/properties/n/type", "converted"},
      {R"j({"type": "object", "properties": {"a": {"x-regex":
           "<a>(.*?)</a><b>(.*?)</b>"}}})j",
       "/properties/a/x-regex", "several groups"},
      {R"j({"type": "object", "properties": {"a": {"x-regex":
           "<(?:x)(y)?>(.*?)</a>"}}})j",
       "/properties/a/x-regex", "several groups"},
      {R"j({"type": "object", "properties": {"a": {"x-regex":
           "<a>(.*)</a>"}}})j",
       "/properties/a/x-regex", "the last closing"},
      {R"j({"type": "object", "properties": {"a": {"x-regex":
           "(?i)<a>(.*?)</a>"}}})j",
       "/properties/a/x-regex", "without flags"},
      {R"j({"type": "object", "properties": {"a": {"x-regex-iterator":
           "(?si)<a>(.*?)</a>", "type": "array"}}})j",
       "/properties/a/x-regex-iterator", "without flags"},
      {R"j({"type": "object", "properties": {"a": {"x-regex":
           "<a>(.+)(?:</a>|$)"}}})j",
       "/properties/a/x-regex", "the last closing"},
      {R"j({"type": "object", "properties": {"a": {"x-regex": "<a>(.*?)"}}})j",
       "/properties/a/x-regex", "as little as"},
      {R"j({"type": "object", "properties": {"a": {"x-regex":
           "(?:<a>)?(.*?)$"}}})j",
       "/properties/a/x-regex", "may be empty"},
      {R"j({"type": "object", "properties": {"a": {"x-regex":
           "<a>(.*?)(?:</a>)?"}}})j",
       "/properties/a/x-regex", "may be empty"},
      {R"j({"type": "object", "properties": {
           "thinking": {"x-regex": "<think>(.*?)</think>"},
           "content": {"x-regex": "</think>(.*?)$"}}})j",
       "/properties/content/x-regex", "closes \"thinking\""},
      {R"j({"type": "object", "properties": {
           "a": {"x-regex": "<a>(.*?)</a>"},
           "b": {"x-regex": "</a>\\s*<b>(.*?)$"}}})j",
       "/properties/b/x-regex", "closes \"a\""},
      {R"j({"type": "object", "properties": {
           "a": {"x-regex": "<a><b>(.*?)</a>"},
           "b": {"x-regex": "<b>(.*?)$"}}})j",
       "/properties/b/x-regex", "opens or closes \"a\""},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.spec);
    const Result<std::string> made = load(c.spec).to_template();
    ASSERT_FALSE(made) << *made;
    EXPECT_EQ(made.error().code, ErrorCode::kNotConvertible);
    EXPECT_EQ(made.error().path, c.path);
    EXPECT_NE(made.error().message.find(c.says), std::string::npos)
        << made.error().message;
  }
}

// Schemas of random patterns: one that converts, and its template, read the
// same in texts in which no region comes twice or begins inside another.
TEST(ResponseSchema, WhatConvertsMeansTheSame) {
  const std::string_view openings[] = {"<a>",       "<b>",      "\\[c",
                                       "<d>\\n?",   "(?:<e>)?", "</a>",
                                       "<(?:f|g)>", "(<)h>"};
  const std::string_view bodies[] = {".*?", ".*?", ".*?", ".*", ".+?", "[^<]*"};
  const std::string_view closings[] = {"</a>",       "</b>",       "\\]",
                                       "(?:</d>|$)", "$",          "",
                                       "(?:</e>)?",  "</b>(.*?)!", "<a>"};
  std::mt19937 random(17);
  const auto one_of = [&](const auto& list) {
    return std::string(list[random() % std::size(list)]);
  };
  // A text that a delimiter matches.
  const auto written = [](std::string pattern) {
    const std::pair<std::string_view, std::string_view> rows[] = {
        {"\\[c", "[c"},         {"<d>\\n?", "<d>"}, {"(?:<e>)?", "<e>"},
        {"<(?:f|g)>", "<f>"},   {"(<)h>", "<h>"},   {"\\]", "]"},
        {"(?:</d>|$)", "</d>"}, {"$", ""},          {"(?:</e>)?", "</e>"},
        {"</b>(.*?)!", "</b>!"}};
    for (const auto& [from, to] : rows) {
      if (pattern == from) return std::string(to);
    }
    return pattern;
  };
  int converted = 0;
  for (int round = 0; round < 3000; ++round) {
    json::Object properties;
    std::vector<std::string> regions;
    const std::size_t count = 1 + random() % 3;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string open = one_of(openings);
      const std::string body = one_of(bodies);
      const std::string close = one_of(closings);
      properties.set(
          std::string(1, static_cast<char>('p' + i)),
          Value(json::Object{{"type", "string"},
                             {"x-regex", open + "(" + body + ")" + close}}));
      const std::string_view inside[] = {"x", "y\n", "xy ", "x<", "/"};
      regions.push_back(written(open) + one_of(inside) + written(close));
    }
    const std::string spec = json::dump(Value(json::Object{
        {"type", "object"}, {"properties", std::move(properties)}}));
    const ResponseSchema schema = load(spec);
    const Result<std::string> made = schema.to_template();
    if (!made) continue;
    ++converted;
    const Result<Format> format = Format::from_json(*made);
    ASSERT_TRUE(format) << spec;
    // A region without a closing is the last one.
    std::ranges::shuffle(regions, random);
    for (const bool alone : {true, false}) {
      std::string text = "t";
      for (const std::string& region : regions) {
        text += region;
        if (alone) break;
        text += " ";
      }
      const Result<Value> by_schema = schema.parse(text);
      if (!by_schema) continue;
      const auto nested = [&](const Value& value) {
        return std::ranges::any_of(value.members(), [&](const auto& member) {
          const std::string_view found = member.value.as_string();
          return found.find('<') + 1 < found.size() ||
                 found.find('[') != std::string_view::npos;
        });
      };
      // A region that takes what opens another one.
      if (nested(*by_schema)) continue;
      const Result<Value> by_template_ =
          json::parse(by_template(*format, text));
      ASSERT_TRUE(by_template_) << spec << " " << text;
      EXPECT_EQ(json::dump(sorted(*by_template_)),
                json::dump(sorted(*by_schema)))
          << spec << " " << text;
    }
  }
  EXPECT_GT(converted, 300);
}

TEST(ResponseSchema, IsToldFromATemplate) {
  EXPECT_TRUE(ResponseSchema::is_schema(*json::parse("{}")));
  EXPECT_TRUE(
      ResponseSchema::is_schema(*json::parse(R"j({"type": "object"})j")));
  EXPECT_FALSE(ResponseSchema::is_schema(*json::parse(R"j({"version": 1})j")));
  EXPECT_FALSE(ResponseSchema::is_schema(*json::parse(R"j({"fields": {}})j")));
  EXPECT_FALSE(ResponseSchema::is_schema(*json::parse("[]")));
}

TEST(ResponseSchema, RefusesWhatAlwaysFails) {
  struct Case {
    std::string_view spec;
    std::string_view path;
    std::string_view found;  // the bytes of the span
    std::string_view says;
  };
  const Case kCases[] = {
      {"[]", "", "[]", "must be an object, got"},
      {R"j({"x-regex": 5})j", "/x-regex", "5", "'x-regex' must be a string"},
      {R"j({"type": "object", "properties": {"a/b": true}})j",
       "/properties/a~1b", "true", "a node must be an object"},
      {R"j({"type": "object", "properties": []})j", "/properties", "[]",
       "'properties' must be an object"},
      {R"j({"type": "array", "items": [1]})j", "/items", "[1]",
       "a node must be an object"},
      {R"j({"type": "array", "prefixItems": 1})j", "/prefixItems", "1",
       "a list of nodes"},
      {R"j({"type": "object", "required": ["a", 1]})j", "/required/1", "1",
       "a list of strings"},
      {R"j({"x-regex-substitutions": [["a"]]})j", "/x-regex-substitutions/0",
       R"j(["a"])j", "pairs"},
      {R"j({"x-regex-substitutions": [["a", 1]]})j",
       "/x-regex-substitutions/0/1", "1", "pairs"},
      {R"j({"x-parser": "json", "x-parser-args": null})j", "/x-parser-args",
       "null", "an object"},
      {R"j({"x-parser": "json", "x-parser-args": {"transform": 1}})j",
       "/x-parser-args/transform", "1", "JMESPath"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.spec);
    const Error error = load_error(c.spec);
    EXPECT_EQ(error.code, ErrorCode::kWrongType);
    EXPECT_EQ(error.path, c.path);
    ASSERT_TRUE(error.span);
    EXPECT_EQ(c.spec.substr(error.span->begin, error.span->size()), c.found);
    EXPECT_NE(error.message.find(c.says), std::string::npos) << error.message;
  }
}

TEST(ResponseSchema, NothingUnderAConstIsLookedAt) {
  EXPECT_EQ(parse(R"j({"const": 1, "x-regex": 5, "type": ["a"]})j", "x"), "1");
}

TEST(ResponseSchema, NoTextGivesTheConstOrNull) {
  const auto nothing = [](std::string_view spec) {
    return json::dump(load(spec).parse_nothing());
  };
  EXPECT_EQ(nothing(R"j({"type": "string"})j"), "null");
  EXPECT_EQ(nothing(R"j({"const": {"a": [1]}, "type": "string"})j"),
            R"({"a": [1]})");
  EXPECT_EQ(nothing(R"j({"type": "integer", "x-regex": "("})j"), "null");
}

TEST(ResponseSchema, ErrorsNameTheNodeAndTheText) {
  const std::string_view spec = R"j({"type": "object", "properties":
      {"a": {"type": "integer", "x-regex": "a=(\\w+)"
}
}
})j";
  const Error error = parse_error(spec, "a=x");
  EXPECT_EQ(error.code, ErrorCode::kInvalidContent);
  EXPECT_EQ(error.path, "/properties/a");
  EXPECT_NE(error.message.find("\"x\""), std::string::npos) << error.message;
}

TEST(ResponseSchema, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(parse("{}", "a\xFFz\xE2\x82"), "\"a\xEF\xBF\xBDz\xEF\xBF\xBD\"");
  EXPECT_EQ(*load("{}").parse("\xED\xA0\x80", {.allow_surrogates = true}),
            Value("\xED\xA0\x80"));
}

TEST(ResponseSchema, GemmaCallsKeepOddTexts) {
  const std::string_view spec = R"j({"x-parser": "gemma4-tool-call",
      "x-parser-args": {"allow_non_json": true}})j";
  // A mark of the writer's own is taken for one of the rewriting's.
  const Result<Value> odd =
      load(spec).parse(std::string_view("\0"
                                        "0\0{a:<|\"|>x<|\"|>",
                                        17));
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->as_string(), "\"x\"{\"a\":\"x\"");
  EXPECT_EQ(parse(spec, "{a:<|\"|>\x01<|\"|>}"), R"j({"a": "\u0001"})j");
}

TEST(ResponseSchema, NothingRunsAwayOnBacktracking) {
  const std::string text(200, 'a');
  const Error error =
      parse_error(R"j({"x-regex": "((?:a+)+)(?<=a)b"})j", text + "!");
  EXPECT_EQ(error.code, ErrorCode::kTooLarge);
  EXPECT_NE(error.message.find("match_steps"), std::string::npos);
}

TEST(ResponseSchema, SubstitutionsDoNotGrowWithoutEnd) {
  std::string spec = R"j({"x-regex-substitutions": [)j";
  for (int i = 0; i < 60; ++i) {
    spec += std::string(i > 0 ? "," : "") + R"j(["a", "aa"])j";
  }
  EXPECT_EQ(parse_error(spec + "]}", "a").code, ErrorCode::kTooLarge);
}

// Values that stay as they are are shared, and still the result is limited: it
// is the one who writes it that writes each of them.
TEST(ResponseSchema, ResultsDoNotGrowWithoutEnd) {
  const auto spec = [](int times) {
    std::string list = "@";
    for (int i = 1; i < times; ++i) list += ",@";
    return R"j({"x-parser": "json", "x-parser-args": {"transform": "[)j" +
           list + R"j(]"}, "type": "array", "items": {"type": "string"}})j";
  };
  const std::string text = '"' + std::string(1 << 20, 'a') + '"';
  const Result<Value> most = load(spec(1024)).parse(text);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->size(), 1024U);
  EXPECT_EQ(parse_error(spec(1025), text).code, ErrorCode::kTooLarge);
}

// What a node gives on is what it got, or differs from it in what was read.
TEST(ResponseSchema, MembersAreReadInTheOrderOfTheSchema) {
  const std::string_view spec = R"j({"x-parser": "json", "type": "object",
      "properties": {"a": {"type": "string"}, "b": {"default": 2},
                     "c": {"type": "number"}}})j";
  EXPECT_EQ(parse(spec, R"j({"a":"x","b":1,"c":1.5,"d":[]})j"),
            R"j({"a": "x", "b": 1, "c": 1.5, "d": []})j");
  EXPECT_EQ(parse(spec, R"j({"a":"x","b":1,"c":1})j"),
            R"j({"a": "x", "b": 1, "c": 1.0})j");
  EXPECT_EQ(parse(spec, R"j({"c":1.5,"b":1,"a":"x"})j"),
            R"j({"a": "x", "b": 1, "c": 1.5})j");
  EXPECT_EQ(parse(spec, R"j({"a":"x"})j"), R"j({"a": "x", "b": 2})j");
  EXPECT_EQ(parse(spec, R"j({"d":0,"a":"x","b":1,"c":1.5})j"),
            R"j({"a": "x", "b": 1, "c": 1.5, "d": 0})j");
}

TEST(ResponseSchema, NestingHasALimit) {
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += R"j({"type": "array", "items": )j";
  deep += "{}" + std::string(300, '}');
  EXPECT_EQ(load_error(deep).code, ErrorCode::kTooDeep);
}

TEST(ResponseSchema, Replacements) {
  struct Case {
    std::string_view replacement;  // as in JSON
    std::string_view result;       // as JSON, or how the message begins
  };
  const Case kCases[] = {
      {R"j(<\\1>)j", R"j("<b>")j"},
      {R"j(\\g<n>\\g<1>\\g<0>)j", R"j("bbab")j"},
      {R"j(\\101\\0\\08)j", R"j("A\u0000\u00008")j"},
      {R"j(\\n\\\\\\-)j", R"j("\n\\\\-")j"},
      {R"j($1)j", R"j("$1")j"},
      {R"j(\\400)j", "an octal escape beyond"},
      {R"j(\\2)j", "a reference to group 2, and the pattern has 1"},
      {R"j(\\99)j", "a reference to group 99"},
      {R"j(\\g<m>)j", "a reference to the group 'm'"},
      {R"j(\\g1)j", "\\g without a name"},
      {R"j(\\g<1)j", "\\g without a name"},
      {R"j(\\q)j", "an unknown escape \\q"},
      {R"j(\\)j", "a backslash at its end"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.replacement);
    const std::string spec = R"j({"x-regex-substitutions": [["a(?P<n>.)", ")j" +
                             std::string(c.replacement) + "\"]]}";
    const std::string result = parse(spec, "ab");
    if (c.result.front() == '"') {
      EXPECT_EQ(result, c.result);
    } else {
      EXPECT_EQ(result.substr(0, 40),
                "bad_pattern at /x-regex-substitutions/0/");
      EXPECT_NE(result.find(c.result), std::string::npos) << result;
    }
  }
}

TEST(ResponseSchema, Lint) {
  struct Case {
    std::string_view spec;
    std::string_view path;
    std::string_view says;
  };
  const Case kCases[] = {
      {R"j({"x-regex": "("})j", "/x-regex", "fails"},
      {R"j({"x-regex": "a"})j", "/x-regex", "has no group"},
      {R"j({"x-regex": "(a)(b)"})j", "/x-regex", "2 groups without names"},
      {R"j({"x-regex": "(?P<n>a)(b)"})j", "/x-regex", "ignored"},
      {R"j({"x-regex": "(?<=a)(b)"})j", "/x-regex", "backtracking"},
      {R"j({"type": "string", "x-regex": "(?P<n>a)"})j", "/x-regex",
       "make an object"},
      {R"j({"x-regex-iterator": "(a)"})j", "/x-regex-iterator", "\"array\""},
      {R"j({"type": "array", "x-regex": "(?P<n>a)", "x-regex-iterator": "(b)",
           "items": {}})j",
       "/x-regex-iterator", "in which no pattern can be searched"},
      {R"j({"x-regex-key-value": "(?P<key>a)(?P<value>b)"})j",
       "/x-regex-key-value", "\"object\""},
      {R"j({"type": "object", "x-regex-key-value": "(?P<key>a)"})j",
       "/x-regex-key-value", "'value'"},
      {R"j({"type": "object",
           "x-regex-key-value": "(?P<key>a)(?P<value>b)(?P<more>c)"})j",
       "/x-regex-key-value", "nothing reads the group 'more'"},
      {R"j({"type": "object",
           "x-regex-key-value": "(?P<key>a)(?P<value>b)(c)"})j",
       "/x-regex-key-value", "nothing reads groups without names"},
      {R"j({"x-regx": "(a)"})j", "/x-regx", "did you mean 'x-regex'?"},
      {R"j({"propertes": {}})j", "/propertes", "did you mean 'properties'?"},
      {R"j({"x-parser": "json", "x-parser-args": {"allow": true}})j",
       "/x-parser-args/allow", "does nothing"},
      {R"j({"x-regex-substitutions": [["a", "\\1"]]})j",
       "/x-regex-substitutions/0/1", "group 1"},
      {R"j({"x-regex-substitutions": null})j", "/x-regex-substitutions",
       "null"},
      {R"j({"x-parser": "yaml"})j", "/x-parser", "no parser called \"yaml\""},
      {R"j({"x-parser-args": {}})j", "/x-parser-args", "without x-parser"},
      {R"j({"x-parser": "json", "x-parser-args": {"transform": "["}})j",
       "/x-parser-args/transform", "fails"},
      {R"j({"type": "array", "x-regex-iterator": "(a)", "x-parser": "json",
           "items": {}})j",
       "/x-parser", "Put the parser into a child"},
      {R"j({"type": ["string"]})j", "/type", "unknown here"},
      {R"j({"type": "array"})j", "", "without items"},
      {R"j({"type": "array", "items": {}})j", "", "to make a list"},
      {R"j({"type": "object"})j", "", "always fails"},
      {R"j({"type": "object", "properties": {"a": {"default": 1}}})j",
       "/properties/a/default", "no effect"},
      {R"j({"type": "object", "properties": {}, "additionalProperties": {}})j",
       "/additionalProperties", "no effect"},
      {R"j({"type": "object", "x-regex": "(?P<a>.)", "properties": {"b": {}}})j",
       "/properties/b", "nothing ever comes"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.spec);
    std::string all;
    bool found = false;
    for (const Lint& lint : load(c.spec).lint()) {
      all += lint.path + ": " + lint.message + "\n";
      found = found || (lint.path == c.path &&
                        lint.message.find(c.says) != std::string::npos);
    }
    EXPECT_TRUE(found) << all;
  }
}

}  // namespace
}  // namespace parlance::response_schema_test
