// Undeclared names beside declared ones, which are left out of their language
// by a trie.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"

namespace parlance::language_rules_test {
namespace {

Grammar grammar_of(const std::vector<std::string>& declared,
                   const json::Array& excludes) {
  json::Object properties;
  for (const std::string& name : declared) {
    properties.set(name, json::Object{{"type", "boolean"}});
  }
  const auto tag = StructuralTag::from_value(json::Object{
      {"format",
       json::Object{
           {"type", "json_schema"},
           {"style", "delimited"},
           {"delimited", json::Object{{"string", json::Array{"<|", "|>"}},
                                      {"keys", "bare"}}},
           {"json_schema", json::Object{{"type", "object"},
                                        {"properties", std::move(properties)},
                                        {"additionalProperties",
                                         json::Object{{"type", "integer"}}}}},
           {"excludes", excludes}}}});
  EXPECT_TRUE(tag) << tag.error().to_string();
  const auto grammar = Grammar::from_structural_tag(*tag);
  EXPECT_TRUE(grammar) << grammar.error().to_string();
  return *grammar;
}

TEST(LanguageRules, NamesThatAreNotDeclared) {
  // Deeper than the levels of choices in one expression, with a common
  // beginning, one a prefix of another, and one that is written in quotes.
  const std::string deep =
      "abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz";
  const std::vector<std::string> declared = {
      deep, deep.substr(0, 20), deep.substr(0, 5) + "xyz", "é", "a b"};
  const Grammar grammar = grammar_of(declared, {});
  const auto check = [&](const std::string& name) {
    const bool known =
        std::find(declared.begin(), declared.end(), name) != declared.end();
    const bool bare = std::none_of(name.begin(), name.end(),
                                   [](char c) { return c == ' ' || c == '+'; });
    const std::string key = bare ? name : "<|" + name + "|>";
    EXPECT_EQ(grammar.accepts("{" + key + ":1}"), !known) << name;
    EXPECT_EQ(grammar.accepts("{" + key + ":true}"), known) << name;
  };
  for (std::size_t size = 1; size <= deep.size(); ++size) {
    const std::string name = deep.substr(0, size);
    check(name);
    check(name + "z");
    check(name + "é");
    check(name + "+");
  }
  for (const std::string& name : declared) check(name);
  for (const char* name : {"a", "a b", "a b ", "a ", " b", "a+b", "è", "éé"}) {
    check(name);
  }
  // A bare name is never written in quotes.
  EXPECT_FALSE(grammar.accepts("{<|a|>:1}"));
}

TEST(LanguageRules, NamesWithoutExcludedTexts) {
  const Grammar grammar = grammar_of({"ab", "a+a"}, {"aba", "+b", "<x"});
  const auto accepts = [&](const std::string& name, bool bare) {
    return grammar.accepts("{" + (bare ? name : "<|" + name + "|>") + ":1}");
  };
  EXPECT_FALSE(accepts("ab", true));
  EXPECT_TRUE(accepts("abb", true));
  EXPECT_FALSE(accepts("aba", true));
  EXPECT_FALSE(accepts("xababx", true));
  EXPECT_FALSE(accepts("a+a", false));
  EXPECT_TRUE(accepts("a+", false));
  EXPECT_FALSE(accepts("a+b", false));
  EXPECT_TRUE(accepts("a+ab", false));
  EXPECT_FALSE(accepts("+aba", false));
  EXPECT_TRUE(accepts("<y", false));
  EXPECT_FALSE(accepts("<x", false));
  EXPECT_FALSE(accepts("<<x", false));
  EXPECT_FALSE(accepts("a|>b", false));
}

}  // namespace
}  // namespace parlance::language_rules_test
