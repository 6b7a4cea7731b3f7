// Matcher::temperature(): of the innermost open rule that has one, the largest
// of several ways to read a text.  tests/laws/rules_law_test.cc compares the
// temperatures of random rules with those that Earley's algorithm finds.

#include "rules/temperatures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "notation/ebnf.h"
#include "parlance/constraint.h"
#include "parlance/grammar.h"

namespace parlance::temperatures_test {
namespace {

const std::vector<std::string> kTexts = {"a", "b", "x",  "z",  "1",   "}",
                                         "{", " ", "xx", "az", "</s>"};
constexpr TokenId kStop = 10;

class Temperatures : public ::testing::Test {
 protected:
  Temperatures() {
    std::vector<TokenEntry> entries;
    for (std::size_t i = 0; i < kTexts.size(); ++i) {
      entries.push_back(
          {static_cast<TokenId>(i), kTexts[i],
           i == kStop ? TokenKind::kControl : TokenKind::kOrdinary});
    }
    const std::vector<TokenId> stops = {kStop};
    compiler_ = *Compiler::create(*Vocabulary::from_table(entries, stops));
  }

  Matcher of(std::string_view ebnf, std::optional<double> given = {}) {
    const Result<Constraint> made = compiler_->compile_ebnf(ebnf);
    EXPECT_TRUE(made) << made.error().to_string();
    MatcherOptions options;
    options.default_temperature = given;
    return made->matcher(options);
  }

  // The temperatures before the text and after each of its bytes; -1: none.
  std::vector<double> along(std::string_view ebnf, std::string_view text,
                            std::optional<double> given = {}) {
    Matcher matcher = of(ebnf, given);
    std::vector<double> out = {matcher.temperature().value_or(-1)};
    for (const char& c : text) {
      EXPECT_TRUE(matcher.accept_bytes({&c, 1})) << ebnf << ": " << text;
      out.push_back(matcher.temperature().value_or(-1));
    }
    return out;
  }

  std::optional<Compiler> compiler_;
};

using Values = std::vector<double>;

TEST_F(Temperatures, OfTheInnermostOpenRule) {
  EXPECT_EQ(along("root ::= \"a\"", "a"), Values({-1, -1}));
  EXPECT_EQ(along("root ::= \"a\"", "a", 0.25), Values({0.25, 0.25}));
  EXPECT_EQ(along("root ::= \"a\" v \"z\"\nv[temperature=0.6] ::= \"x\"+",
                  "axxz", 0.1),
            Values({0.1, 0.6, 0.6, 0.6, 0.1}));
  // The rule that v calls is read at the temperature of v, and elsewhere not.
  EXPECT_EQ(
      along("root ::= i v i\nv[temperature=0.6] ::= i i\ni ::= \"x\"", "xxxx"),
      Values({-1, 0.6, 0.6, -1, -1}));
  // An inner rule with a temperature, 0 included, and its caller after it.
  EXPECT_EQ(along("root[temperature=0.5] ::= v \"b\"\n"
                  "v[temperature=0] ::= \"a\" w\nw ::= \"x\"",
                  "axb"),
            Values({0, 0, 0.5, -1}));
  // Where a call is the end of its rule, the rule is open all the same.
  EXPECT_EQ(along("root ::= v \"z\"\nv[temperature=2] ::= \"a\" i\n"
                  "i ::= \"x\" i | \"b\"",
                  "axxbz"),
            Values({2, 2, 2, 2, -1, -1}));
}

TEST_F(Temperatures, OfLarkWithoutTheIgnoredTextAfterIt) {
  const auto in_ebnf = [](std::string_view rules) {
    Result<Grammar> grammar = Grammar::from_lark(
        "%import common.WS\n%ignore WS\n" + std::string(rules));
    EXPECT_TRUE(grammar) << rules;
    return grammar ? grammar->to_ebnf() : std::string();
  };
  EXPECT_EQ(along(in_ebnf("start: v \"z\"\nv[temperature=0.5]: \"x\""), "x z"),
            Values({0.5, -1, -1, -1}));
  // Between its items the rule is open.
  EXPECT_EQ(along(in_ebnf("start: v \"z\"\nv[temperature=0.5]: \"x\" \"y\""),
                  "x y z"),
            Values({0.5, 0.5, 0.5, -1, -1, -1}));
}

TEST_F(Temperatures, TheLargestOfSeveralWays) {
  constexpr const char* kTwo =
      "root ::= left | right\nleft[temperature=0.2] ::= \"a\"+\n"
      "right[temperature=0.9] ::= \"a\" \"b\"";
  EXPECT_EQ(along(kTwo, "aa", 0.1), Values({0.9, 0.9, 0.2}));
  EXPECT_EQ(along(kTwo, "ab", 5), Values({0.9, 0.9, 5}));
  // A rule that can read nothing more is not open.
  EXPECT_EQ(along("root ::= v \"z\"\nv[temperature=1] ::= \"a\"{1,2}", "aaz"),
            Values({1, 1, -1, -1}));
  EXPECT_EQ(along("root ::= v \"z\"\nv[temperature=1] ::= "
                  "Substring(\"a\", \"b\")",
                  "abz"),
            Values({1, 1, -1, -1}));
  // Left recursion, and a grammar with a cycle.
  EXPECT_EQ(along("root ::= e \"z\"\ne ::= e \"b\" t | t\n"
                  "t[temperature=0.5] ::= \"a\" t | \"x\"",
                  "axbxz"),
            Values({0.5, 0.5, -1, 0.5, -1, -1}));
}

TEST_F(Temperatures, OfSchemasBudgetsAndFreeText) {
  EXPECT_EQ(along("root ::= \"a\" v \"z\"\nv[temperature=0.5] ::= "
                  "JsonSchema(\"{\\\"type\\\": \\\"integer\\\"}\")",
                  "a1z"),
            Values({-1, 0.5, 0.5, -1}));
  EXPECT_EQ(along("root ::= \"a\" v \"z\"\nv[temperature=0.5] ::= "
                  "JsonSchema(\"{\\\"const\\\": {}}\")",
                  "a{}z"),
            Values({-1, 0.5, 0.5, -1, -1}));
  EXPECT_EQ(along("root[temperature=0.5] ::= "
                  "JsonSchema(\"{\\\"const\\\": 1}\")",
                  "1"),
            Values({0.5, -1}));
  EXPECT_EQ(along("root ::= v [a-z]*\nv[temperature=1, max_chars=2] ::= w*\n"
                  "w[temperature=3] ::= \"x\"",
                  "xxx"),
            Values({3, 3, -1, -1}));
  EXPECT_EQ(along("root ::= v \"z\"\nv[temperature=1, lazy] ::= [a-z]+ \"b\"",
                  "aabz"),
            Values({1, 1, 1, -1, -1}));
  EXPECT_EQ(along("root[temperature=1] ::= TagDispatch((\"<\", r))\n"
                  "r[temperature=2] ::= \"ab\"",
                  "x<abx"),
            Values({1, 1, 2, 2, 1, 1}));
}

TEST_F(Temperatures, RollBackCopiesAndTheEnd) {
  Matcher matcher =
      of("root ::= \"a\" v \"z\"\nv[temperature=0.6] ::= \"x\"+", 0.1);
  EXPECT_EQ(matcher.accept_tokens(std::vector<TokenId>{0, 8, 3}), 3U);
  EXPECT_EQ(matcher.temperature(), 0.1);
  EXPECT_TRUE(matcher.accept_token(kStop));
  EXPECT_EQ(matcher.temperature(), 0.1);
  EXPECT_TRUE(matcher.rollback(2));
  EXPECT_EQ(matcher.temperature(), 0.6);
  Matcher other = matcher.copy();
  EXPECT_TRUE(matcher.rollback(2));
  EXPECT_EQ(matcher.temperature(), 0.1);
  EXPECT_EQ(other.temperature(), 0.6);
  other.reset();
  EXPECT_EQ(other.temperature(), 0.1);
}

TEST_F(Temperatures, OfEachNodeOfADraftTree) {
  constexpr const char* kRules =
      "root ::= \"a\" v \"z\"\nv[temperature=0.5] ::= \"x\"+";
  // Node 1: "a", then "xx" (2) and "b" (3), which does not fit; "z" (4).
  const std::vector<std::int64_t> child = {1, 2, 4, -1, -1};
  const std::vector<std::int64_t> sibling = {-1, -1, 3, -1, -1};
  const std::vector<std::int64_t> tokens = {0, 0, 8, 1, 3};
  std::vector<std::int32_t> rows(5);
  std::vector<float> found(5, 7);
  const TreeOptions with = {.temperatures = found};
  Matcher matcher = of(kRules, 0.25);
  ASSERT_TRUE(matcher.fill_tree(child, sibling, tokens, rows, with));
  EXPECT_TRUE(std::isnan(found[3]));
  found[3] = -1;
  EXPECT_EQ(found, std::vector<float>({0.25F, 0.5F, 0.5F, -1, 0.25F}));
  EXPECT_EQ(matcher.temperature(), 0.25);

  std::vector<std::int32_t> plain(5);
  ASSERT_TRUE(matcher.fill_tree(child, sibling, tokens, plain));
  EXPECT_EQ(rows, plain);
  ASSERT_TRUE(of(kRules).fill_tree(child, sibling, tokens, rows, with));
  EXPECT_TRUE(std::isnan(found[0]) && std::isnan(found[4]));
  const TreeOptions few = {.temperatures = std::span(found).first(4)};
  EXPECT_EQ(matcher.fill_tree(child, sibling, tokens, rows, few), 0U);
}

TEST(InheritTemperatures, CopiesARuleForEachTemperature) {
  const Result<rules::Rules> read = notation::read_ebnf(
      "root ::= v w i\nv[temperature=1] ::= i\nw[temperature=1] ::= i v\n"
      "i ::= \"a\" | \"b\" i");
  ASSERT_TRUE(read);
  EXPECT_TRUE(rules::has_temperatures(*read));
  const std::optional<rules::Rules> copies = rules::inherit_temperatures(*read);
  ASSERT_TRUE(copies);
  // root, v, w, and i twice.
  EXPECT_EQ(copies->rules.size(), 5U);
  EXPECT_TRUE(rules::has_temperatures(*copies));
  EXPECT_EQ(copies->texts, read->texts);
  EXPECT_FALSE(rules::inherit_temperatures(*read, {.rules = 4}));
}

}  // namespace
}  // namespace parlance::temperatures_test
