// JMESPath: what expressions find, what is wrong with others, and where.

#include "parlance/jmespath.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "support/conformance.h"
#include "support/json_host.h"

namespace parlance::jmespath_test {
namespace {

json::Value value_of(std::string_view text) {
  Result<json::Value> value = json::parse(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? *std::move(value) : json::Value();
}

// The answer as compact JSON, or "code begin..end".
std::string search(std::string_view expression, std::string_view value,
                   const Limits& limits = {}) {
  const auto describe = [](const Error& error) {
    EXPECT_FALSE(error.message.empty());
    std::string out(to_string(error.code));
    if (error.span) {
      out += " " + std::to_string(error.span->begin) + ".." +
             std::to_string(error.span->end);
    }
    return out;
  };
  const Result<Jmespath> compiled = Jmespath::compile(expression, limits);
  if (!compiled) return describe(compiled.error());
  const json::Value given = value_of(value);
  const Result<json::Value> found = compiled->search(given);
  long leaked = 0;
  const Result<json::Value> hosted =
      testing::search_host(*compiled, given, &leaked);
  EXPECT_EQ(leaked, 0);
  EXPECT_EQ(hosted.has_value(), found.has_value());
  if (!found) {
    if (!hosted) {
      EXPECT_EQ(describe(hosted.error()), describe(found.error()));
    }
    return describe(found.error());
  }
  if (hosted) {
    EXPECT_EQ(*hosted, *found) << json::dump(*hosted);
  }
  return json::dump(*found, {.ascii = false, .compact = true});
}

struct Row {
  const char* expression;
  const char* value;
  const char* answer;
};

TEST(Jmespath, Finds) {
  const Row rows[] = {
      // Names, indices, chains.
      {"a", R"({"a":1})", "1"},
      {"a.b.c", R"({"a":{"b":{"c":[2]}}})", "[2]"},
      {"a", "[1]", "null"},
      {R"("x y"."é")", R"({"x y":{"é":3}})", "3"},
      {R"("\u00e9")", R"({"é":3})", "3"},
      {"[1]", "[1,2,3]", "2"},
      {"[-1]", "[1,2,3]", "3"},
      {"[3]", "[1,2,3]", "null"},
      {"[-99999999999999999999]", "[1]", "null"},
      {"@", "7", "7"},
      // Slices.
      {"[1:]", "[1,2,3]", "[2,3]"},
      {"[::-1]", "[1,2,3]", "[3,2,1]"},
      {"[-2:99:2]", "[1,2,3]", "[2]"},
      {"[::-99999999999999999999]", "[1,2,3]", "[3]"},
      {"[:1]", R"("abc")", "null"},
      // Projections drop nulls and end at a pipe.
      {"[*].a", R"([{"a":1},{"b":2},{"a":3}])", "[1,3]"},
      {"[*].a | [0]", R"([{"a":[1]},{"a":[2]}])", "[1]"},
      {"[*].a[0]", R"([{"a":[1]},{"a":[2]}])", "[1,2]"},
      {"*.a", R"({"z":{"a":1},"y":{"a":2},"x":3})", "[1,2]"},
      {"[]", "[1,[2,[3]],4]", "[1,2,[3],4]"},
      {"a[].b[]", R"({"a":[{"b":[1,2]},{"b":[3]}]})", "[1,2,3]"},
      {"[?a>`1`].a", R"([{"a":1},{"a":2}])", "[2]"},
      {"a[*]", R"({"a":{"b":1}})", "null"},
      {"a.*", R"({"a":[1]})", "null"},
      // Multi-selects keep order; on null they are null.
      {"{z: a, a: b}", R"({"a":1,"b":2})", R"({"z":1,"a":2})"},
      {"[b, a, c]", R"({"a":1,"b":2})", "[2,1,null]"},
      {"c.[a]", R"({"a":1})", "null"},
      {"c.{a: a}", R"({"a":1})", "null"},
      // Logic: "", [], {}, null and false are false, 0 is true.
      {"a || b", R"({"a":[],"b":1})", "1"},
      {"a && b", R"({"a":0,"b":1})", "1"},
      {"a || b || c", R"({"a":"","b":{}})", "null"},
      {"!a", R"({"a":0})", "false"},
      {"!a", R"({})", "true"},
      {"{x: a}.x || b", R"({"a":5})", "5"},
      {"(a || b).c", R"({"b":{"c":1}})", "1"},
      // Comparisons.
      {"@ == `1.0`", "1", "true"},
      {"@ == `true`", "1", "false"},
      {"@ == `[true]`", "[1]", "true"},
      {"@ == `{\"b\":1,\"a\":2}`", R"({"a":2,"b":1})", "true"},
      {"[0] < [1]", "[9007199254740993,9007199254740992.0]", "false"},
      {"[0] > [1]", "[100000000000000000001,1e20]", "true"},
      {"[0] < [1]", R"(["a","b"])", "true"},
      {"[0] < [1]", R"(["a",1])", "null"},
      {"[0] < [1]", "[true,2]", "null"},
      // Literals.
      {"`[1, \"\\`\"]`", "0", "[1,\"`\"]"},
      {"`foo`", "0", R"("foo")"},
      {"`[1`", "0", R"("[1")"},
      {"'a\\'b\\n'", "0", R"("a'b\\n")"},
      // Functions.
      {"abs(@)", "-9223372036854775808", "9223372036854775808"},
      {"avg(@)", "[9223372036854775807,9223372036854775807]",
       "9.223372036854776e+18"},
      {"avg(@)", "[]", "null"},
      {"ceil(@)", "1e20", "100000000000000000000"},
      {"floor(@)", "-0.5", "-1"},
      {"contains(@, `2`)", "[1,2]", "true"},
      {"contains(@, 'é')", R"("née")", "true"},
      {"join(', ', @)", R"(["a","b"])", R"("a, b")"},
      {"keys(@)", R"({"z":1,"a":2})", R"(["z","a"])"},
      {"values(@)", R"({"z":1,"a":2})", "[1,2]"},
      {"length(@)", R"("é😀")", "2"},
      {"map(&a, @)", R"([{"a":1},{}])", "[1,null]"},
      {"max_by(@, &a).b", R"([{"a":1,"b":1},{"a":2,"b":2},{"a":2,"b":3}])",
       "2"},
      {"merge(@, `{\"a\":9,\"c\":1}`)", R"({"a":1,"b":2})",
       R"({"a":9,"b":2,"c":1})"},
      {"not_null(a, b, c)", R"({"b":false})", "false"},
      {"reverse(@)", R"("né😀")", R"("😀én")"},
      {"sort(@)", "[3,1.5,100000000000000000000,-1]",
       "[-1,1.5,3,100000000000000000000]"},
      {"sort(@)", R"(["b","é","a"])", R"(["a","b","é"])"},
      {"sort_by(@, &a)[].b", R"([{"a":1,"b":1},{"a":0,"b":2},{"a":1,"b":3}])",
       "[2,1,3]"},
      {"sum(@)", "[9223372036854775807,1]", "9223372036854775808"},
      {"sum(@)", "[-9223372036854775808,-1,0.0]", "-9.223372036854776e+18"},
      {"sum(@)", "[100000000000000000000,-99999999999999999999]", "1"},
      {"to_array(@)", "1", "[1]"},
      {"to_number(@)", R"(" 1_0 ")", "10"},
      {"to_number(@)", R"("1e3")", "1000.0"},
      {"to_number(@)", R"("x")", "null"},
      {"to_string(@)", R"({"a":[1,"é"]})", R"("{\"a\":[1,\"\\u00e9\"]}")"},
      {"type(@)", "1.5", R"("number")"},
      // A function that is not reached does not matter.
      {"a[?nothing(@)]", "{}", "null"},
      // Liberties of the package.
      {"merge(a b,)", R"({"a":{"x":1},"b":{"y":2}})", R"({"x":1,"y":2})"},
      {"{a: a b: b}", R"({"a":1})", R"({"a":1,"b":null})"},
      {"[0][0:2].a", R"([[{"a":1},{"a":2}]])", "null"},
      {"[0:1 2]", "[1,2,3]", "[1,2]"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(search(row.expression, row.value), row.answer)
        << row.expression << " of " << row.value;
  }
}

TEST(Jmespath, SaysWhatIsWrong) {
  const Row rows[] = {
      {"", "0", "bad_expression 0..0"},
      {"  ", "0", "bad_expression 2..2"},
      {"a.", "0", "bad_expression 2..2"},
      {"a.1", "0", "bad_expression 2..3"},
      {"a b", "0", "bad_expression 2..3"},
      {"a = b", "0", "bad_expression 2..3"},
      {"é", "0", "bad_expression 0..2"},
      {"a[", "0", "bad_expression 2..2"},
      {"a[b]", "0", "bad_expression 2..3"},
      {"'a", "0", "bad_expression 0..2"},
      {"-", "0", "bad_expression 0..1"},
      {"[0:1:2:3]", "0", "bad_expression 6..7"},
      {"\"\\x\"", "0", "bad_expression 0..4"},
      {"\"f\"(@)", "0", "bad_expression 0..3"},
      {"@(a)", "0", "bad_expression 0..2"},
      {"&a", "0", "bad_expression 0..2"},
      {"[&a]", "0", "bad_expression 1..3"},
      {"\xff", "0", "invalid_utf8"},
      {"a || nothing(@)", "0", "unknown_function 5..15"},
      {"abs()", "0", "invalid_arity 0..5"},
      {"abs(@, @)", "0", "invalid_arity 0..9"},
      {"not_null()", "0", "invalid_arity 0..10"},
      {"abs('1')", "0", "invalid_type 0..8"},
      {"abs(&a)", "0", "invalid_type 0..7"},
      {"map(@, @)", "[]", "invalid_type 0..9"},
      {"sort(@)", "[1,\"a\"]", "invalid_type 0..7"},
      {"sum(@)", "[true]", "invalid_type 0..6"},
      {"sort_by(@, &a)", R"([{"a":1},{"a":"b"}])", "invalid_type 0..14"},
      {"contains('1', `1`)", "0", "invalid_type 0..18"},
      {"merge(@, `1`)", "{}", "invalid_type 0..13"},
      {"[::0]", "[]", "invalid_value 0..5"},
      {"ceil(@)", "NaN", "invalid_value 0..7"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(search(row.expression, row.value), row.answer)
        << row.expression << " of " << row.value;
  }
}

std::string repeat(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(Jmespath, KeepsLimits) {
  const std::string nested = repeat("(", 20) + "a" + repeat(")", 20);
  EXPECT_EQ(search(nested, "{}", {.pattern_depth = 21}), "null");
  EXPECT_EQ(search(nested, "{}", {.pattern_depth = 20}), "too_deep 20..21");
  EXPECT_EQ(search("a" + repeat("[]", 200), "{}").substr(0, 8), "too_deep");
  EXPECT_EQ(search("@" + repeat(" == @", 300), "{}").substr(0, 8), "too_deep");
  // Each step makes the result deeper.
  EXPECT_EQ(search("@" + repeat("|[@]", 300), "{}").substr(0, 8), "too_deep");
  // Long is not deep.
  EXPECT_EQ(search("a" + repeat(".a", 2000), "{}"), "null");
  EXPECT_EQ(search("a" + repeat(" || a", 2000), "{}"), "null");
  EXPECT_EQ(search("a.b", "{}", {.pattern_states = 2}), "too_large 0..3");
  EXPECT_EQ(search("aaa", "{}", {.source_bytes = 2}), "too_large");
  EXPECT_EQ(search("join(@,['abcde','abcde'])", R"("--------------------")",
                   {.source_bytes = 25}),
            "too_large 0..25");
  // A small input that would fill the memory.
  EXPECT_EQ(search("@" + repeat("|[@,@]", 40), "{}").substr(0, 9), "too_large");
}

TEST(Jmespath, DeepValuesNeedNoStack) {
  json::Value deep;
  for (int i = 0; i < 200000; ++i) deep = json::Value(json::Array{deep});
  json::Value same;
  for (int i = 0; i < 200000; ++i) same = json::Value(json::Array{same});
  const json::Value both(json::Array{deep, same});
  for (const char* text :
       {"[0] == [1]", "contains(@, [0])", "length(to_string(@)) > `400000`"}) {
    const Result<json::Value> found = Jmespath::compile(text)->search(both);
    ASSERT_TRUE(found.has_value()) << text;
    EXPECT_TRUE(found->as_bool()) << text;
  }
}

// Every case of the compliance suite, which lies outside the repository.
TEST(Jmespath, Compliance) {
  const auto folder = testing::suite_outside("jmespath-tests");
  if (!folder) {
    GTEST_SKIP()
        << "jmespath-tests has no licence and is not beside the repository";
  }
  const auto name_of = [](std::string_view error) -> std::string {
    if (error == "syntax") return "bad_expression";
    std::string out(error);
    for (char& c : out) c = c == '-' ? '_' : c;
    return out;
  };
  int cases = 0;
  for (const auto& file : std::filesystem::directory_iterator(*folder)) {
    if (file.path().extension() != ".json") continue;
    const json::Value suites = testing::read_json(file.path());
    for (const json::Value& suite : suites.items()) {
      const std::string given = json::dump(*suite.find("given"));
      for (const json::Value& test : suite.find("cases")->items()) {
        const std::string text(test.find("expression")->as_string());
        const std::string answer = search(text, given);
        ++cases;
        if (const json::Value* error = test.find("error")) {
          EXPECT_EQ(answer.substr(0, answer.find(' ')),
                    name_of(error->as_string()))
              << text;
        } else if (const json::Value* result = test.find("result")) {
          // Keys in any order: compared by the language's own ==.
          const json::Value pair(json::Array{value_of(answer), *result});
          EXPECT_TRUE(Jmespath::compile("[0] == [1]")->search(pair)->as_bool())
              << text << " gave " << answer;
        } else {
          EXPECT_TRUE(json::parse(answer).has_value()) << text;
        }
      }
    }
  }
  EXPECT_GT(cases, 900);
}

}  // namespace
}  // namespace parlance::jmespath_test
