// GBNF: what texts mean, and what is refused and where.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "notation/ebnf.h"
#include "support/notation_rows.h"

namespace parlance::grammar::gbnf_test {

using rules::Rules;

using testing::ErrorRow;
using testing::expect_error;
using testing::expect_language;
using testing::LanguageRow;
namespace {

TEST(Gbnf, Languages) {
  const LanguageRow rows[] = {
      // Lines.
      {"# only\n\nroot ::= a # b\n a ::= \"x\"\r\n", {"x"}, {""}},
      {"root ::=\n  # c\n  \"a\" |\n\n  \"b\"", {"a", "b"}, {""}},
      {"root ::= (\n\"a\"\n|\n\"b\" #\n)\n{2}", {}, {}},
      {"root ::= (\n\"a\"\n|\n\"b\" #\n+\n)", {"a", "bb"}, {"aa"}},
      {"root ::= \"a\nb\" [\n]", {"a\nb\n"}, {"ab"}},
      {"root ::= 1-x\n1-x ::= \"1\"", {"1"}, {""}},
      // Empty alternatives.
      {"root ::=", {""}, {"a"}},
      {"root ::= | \"a\" | (\"b\" | )+", {"", "a", "bb"}, {"ab"}},
      {"root ::= () \"a\"", {"a"}, {""}},
      // Escapes: \x has two digits.
      {R"(root ::= [\x0Aabc]+)", {"\nabc"}, {"\xea\xaf\x8d"}},
      {R"(root ::= "\x41B\u00e9\U0001F600\"\\\[\]\-\n\r\t")",
       {"ABé😀\"\\[]-\n\r\t"},
       {""}},
      {R"(root ::= [a\-c^-] [^\]] [+--])", {"-a+", "^^,", "aa-"}, {"ba+"}},
      // Operators stand one after another.
      {"root ::= \"a\"+* \"b\"{2}{2} [c]?{0,2}",
       {"bbbb", "aabbbbcc"},
       {"bb", "bbbbbb"}},
      {"root ::= \"a\"{ 1 , 2 } \"b\"{1,}", {"aabb"}, {"a", "aaab"}},
      // Tokens have no text.
      {"root ::= <[7]> | !<[7]> \"a\" | <t> | \"b\"", {"b"}, {"a", ""}},
      {"root ::= \"<think>\" !<t>*", {"<think>"}, {""}},
  };
  notation::GbnfOptions options;
  options.tokens_spelled = [](std::string_view) {
    return std::vector<rules::Token>{3};
  };
  for (const LanguageRow& row : rows) {
    SCOPED_TRACE(row.grammar);
    Result<Rules> rules = notation::read_gbnf(row.grammar, options);
    if (row.accepted.empty()) {
      EXPECT_FALSE(rules);
      continue;
    }
    ASSERT_TRUE(rules) << rules.error().to_string();
    Result<Rules> again = notation::read_ebnf(notation::to_ebnf(*rules));
    ASSERT_TRUE(again) << again.error().to_string();
    for (const Rules* version : {&*rules, &*again}) {
      expect_language(*version, row.accepted, row.rejected);
    }
  }
}

TEST(Gbnf, Tokens) {
  notation::GbnfOptions options;
  options.tokens_spelled = [](std::string_view text) {
    EXPECT_EQ(text, "<think>");
    return std::vector<rules::Token>{3, 9};
  };
  const Result<Rules> rules =
      notation::read_gbnf("root ::= <think> !<think>* <[1000]>", options);
  ASSERT_TRUE(rules) << rules.error().to_string();
  EXPECT_EQ(notation::to_ebnf(*rules),
            "root ::= Token(3, 9) ExcludeToken(3, 9)* Token(1000)\n");
}

TEST(Gbnf, Errors) {
  constexpr ErrorCode kBad = ErrorCode::kBadSyntax;
  const ErrorRow rows[] = {
      {"root ::= \"a\"\n  | \"b\"", kBad, {15, 16}, "ends with its line"},
      {"root ::= \"a\" b ::= \"c\"", kBad, {13, 18}, "begin its line"},
      {"root ::= a_b", kBad, {10, 11}, "\"_\"; expected"},
      {"root ::= a_b", kBad, {10, 11}, "name (letters, digits and \"-\")"},
      {"a_b ::= \"a\"", kBad, {1, 2}, "name (letters, digits and \"-\")"},
      {"root[lazy] ::= \"a\"", kBad, {4, 5}, "\"::=\""},
      {"root\n::= \"a\"", kBad, {4, 5}, "the end of the line"},
      {"root ::= (\"a\"", kBad, {9, 10}, "never closed; add a \")\""},
      {"root ::= (", kBad, {9, 10}, "never closed"},
      {"root ::= \"a\")", kBad, {12, 13}, "no \"(\""},
      {"root ::= \"a\nb", kBad, {9, 13}, "never closed"},
      {"root ::= [a", kBad, {9, 11}, "never closed"},
      {"root ::= [^]", kBad, {9, 12}, "no characters"},
      {"root ::= [b-a]", kBad, {10, 13}, "backwards"},
      {"root ::= \"\\x1\"", kBad, {10, 13}, "2 hexadecimal"},
      {"root ::= \"\\U00110000\"", kBad, {10, 20}, "not a Unicode"},
      {"root ::= \"\\f\"", kBad, {10, 12}, "GBNF has"},
      {"root ::= *", kBad, {9, 10}, "nothing before it"},
      {"root ::= [a]{,2}", kBad, {13, 14}, "number"},
      {"root ::= [a]{3,2}", kBad, {12, 17}, "greater"},
      {"root ::= [a]{9999999999}", ErrorCode::kTooLarge, {13, 23}, "count"},
      {"root ::= <t>", ErrorCode::kUsage, {9, 12}, "vocabulary"},
      {"root ::= <[x]>", kBad, {11, 12}, "number"},
      {"root ::= <[1]", kBad, {12, 13}, "<[12]>"},
      {"root ::= <t", kBad, {9, 11}, "not closed"},
      {"root ::= !a", kBad, {10, 11}, "<[12]>"},
      {"root ::= a", ErrorCode::kBadReference, {9, 10}, "no rule \"a\""},
      {"a ::= \"x\"", ErrorCode::kBadReference, {0, 0}, "\"root\""},
      {"root ::= [a]\nroot ::= [b]", ErrorCode::kConflict, {13, 17}, "twice"},
      {"root ::= \"\xff\"", ErrorCode::kInvalidUtf8, {}, "UTF-8"},
  };
  for (const ErrorRow& row : rows) {
    SCOPED_TRACE(row.grammar);
    const Result<Rules> rules = notation::read_gbnf(row.grammar);
    ASSERT_FALSE(rules);
    expect_error(rules.error(), row);
  }
}

// Every prefix of a grammar is read or refused; nothing else happens.
TEST(GbnfLimits, Prefixes) {
  constexpr std::string_view kText =
      "root ::= (\"a\\x41\n\" | [^\\]a-z]{2,3}* )+ <[12]> # c\nb-1 ::= "
      "|\n!<[3]>";
  for (std::size_t n = 0; n <= kText.size(); ++n) {
    const Result<Rules> rules = notation::read_gbnf(kText.substr(0, n));
    if (rules) continue;
    const Span span = rules.error().span.value_or(Span{});
    EXPECT_LE(span.begin, span.end) << n;
    EXPECT_LE(span.end, n);
    EXPECT_FALSE(rules.error().message.empty());
  }
}

}  // namespace
}  // namespace parlance::grammar::gbnf_test
