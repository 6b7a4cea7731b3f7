// Regular expressions as grammars: what they match, what is refused and where,
// and random ones against brute force.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "cfg_recogniser/earley.h"
#include "notation/ebnf.h"
#include "notation/regex_rules.h"
#include "support/notation_rows.h"
#include "support/small_languages.h"

namespace parlance::grammar::grammar_regex_test {

using cfg_recogniser::EarleyRecogniser;

using notation::RegexOptions;

using rules::ExprId;
using rules::ExprKind;
using rules::Rules;

using testing::ErrorRow;
using testing::expect_error;
using testing::expect_language;
namespace {

struct LanguageRow {
  std::string_view pattern;
  std::vector<std::string> accepted;
  std::vector<std::string> rejected;
  RegexOptions options = {};
};

TEST(GrammarRegex, Languages) {
  using namespace std::string_literals;
  const RegexOptions folded = {true, "i", false, false};
  const RegexOptions none = {true, "", false, false};
  const RegexOptions in_json = {false, "", true, false};
  const RegexOptions embedded = {false, "", false, true};
  const LanguageRow rows[] = {
      {"", {""}, {"a"}},
      {"a||b", {"", "a", "b"}, {"ab"}},
      {"^a$|^b", {"a", "b"}, {"ab"}},
      {"x^y$z", {"xyz"}, {"x"}},
      {".", {"a", "\n", "😀"}, {"", "ab", "\xed\xa0\x80", "\xc0\x80"}},
      {"a{2}b{1,}c{0,1}", {"aab", "aabbc"}, {"ab", "aabcc"}},
      {"a*?b+?c??d{1,2}?", {"bd", "aabbcdd"}, {"ad"}},
      {R"(\d\D\w\W)", {"1a_-", "0é9é"}, {"éaa-"}},
      {R"(\s+)", {" \t\n\r\v\f\xc2\xa0"}, {"\xe2\x80\xa8", "\xef\xbb\xbf"}},
      {R"([\s-a]+)", {" -a"}, {"b"}},
      {R"([^\S]+)", {" \t"}, {"a"}},
      {R"([\S]+)", {"aé"}, {" ", "\xc2\xa0"}},
      {R"([\w-]+)", {"a-b"}, {"+"}},
      {R"([a\-z\]\\]+)", {"a-z]\\"}, {"b"}},
      {R"([[:]+[[a]+[&&]+[+--b])", {"[:a[&b", "[[&-"}, {"b]"}},
      {R"(\x41\u0042\u{43}\U00000044\cA\0\a\e)",
       {"ABCD\x01\0\a\x1b"s},
       {"ABCD"}},
      {R"(\h\-\"\/\é[\A])", {"h-\"/éA"}, {""}},
      {R"(\Aa\Z|\Ab\z)", {"a", "b"}, {"AaZ"}},
      {R"(\p{L}\P{Lu}\pN[\p{Greek}-]+)", {"éa1α-", "Éb²-"}, {"1a1α", "aA1α"}},
      {"(?i)aé", {"Aé", "aé"}, {"aÉ"}},
      {"a(?i:b)c", {"abc", "aBc"}, {"Abc", "abC"}},
      {"a(?-s:.)(?s:.)", {"ab\n"}, {"a\nb"}},
      {"(?s).(?-s).", {"\na"}, {"a\n"}},
      {"(?x) a b # [c\n d", {"abd"}, {"a b"}},
      // \s after "#" is not in a comment: the flag is that of a group.
      {R"((?x:a (b) )#\s)", {"ab# "}, {"ab", "ab#\xe2\x80\xa8"}},
      {R"(((?x)a b|c )#\s)", {"ab# ", "c#\t"}, {"c #\t", "c"}},
      {R"((?x)a b(?-x:#\s)(?i-x)#\s)", {"ab# # "}, {"a b# # ", "ab# "}},
      {"(?x)(?<n>a (b) # )\n ) c", {"abc"}, {"ab"}},
      {"(?m)^a$", {"a"}, {"\na"}},
      {"(?<n>a)(?:b)(c)", {"abc"}, {"ac"}},
      {"[a-c]É", {"AÉ", "cÉ"}, {"aé"}, folded},
      {"[^b]", {"a", "k", "\xe2\x84\xaa"}, {"b", "B"}, folded},
      {".", {"a", "\r", "\xe2\x80\xa8"}, {"\n"}, none},
      {".|\\\\|\"|\\n", {"a", "é"}, {"\\", "\"", "\n", "\x1f"}, in_json},
      {"(?i)a(?P<x>b)", {"AB", "ab"}, {"a"}, embedded},
      {"(a?){2,300}b", {"b", "aab"}, {"a"}},
      {"(x+x+)+y", {"xxy", "xxxxxxxxxxy"}, {"xy", "xxxxxxxxxx"}},
      {"((a{2,3}){2,3}){2,3}", {"aaaaaaaa", "aaaaaaaaaaa"}, {"aaaaaaa"}},
  };
  for (const LanguageRow& row : rows) {
    SCOPED_TRACE(row.pattern);
    Result<Rules> rules = notation::regex_rules(row.pattern, row.options);
    ASSERT_TRUE(rules) << rules.error().to_string();
    Result<Rules> again = notation::read_ebnf(notation::to_ebnf(*rules));
    ASSERT_TRUE(again) << notation::to_ebnf(*rules)
                       << again.error().to_string();
    for (const Rules* version : {&*rules, &*again}) {
      expect_language(*version, row.accepted, row.rejected);
    }
  }
}

TEST(GrammarRegex, Errors) {
  constexpr ErrorCode kBad = ErrorCode::kBadPattern;
  constexpr ErrorCode kNo = ErrorCode::kUnsupportedPattern;
  const ErrorRow rows[] = {
      {"a(?=b)", kNo, {1, 4}, "Look-ahead"},
      {"a(?!b)", kNo, {1, 4}, "Look-ahead"},
      {"(?<=a)b", kNo, {0, 4}, "Look-behind"},
      {"(?<!a)b", kNo, {0, 4}, "Look-behind"},
      {"(a)\\1", kNo, {3, 5}, "Back-references"},
      {"(?<n>a)\\k<n>", kNo, {7, 9}, "Back-references"},
      {"\\bfoo", kNo, {0, 2}, "Word boundaries"},
      {"foo\\B", kNo, {3, 5}, "Word boundaries"},
      {"\\p{Lx}", kBad, {0, 6}, "no property"},
      {"\\p{L", kBad, {0, 3}, "\"}\""},
      {"\\p", kBad, {0, 2}, "braces"},
      {"(?a)a", kNo, {0, 3}, "flags"},
      {"(?i", kNo, {0, 3}, "flags"},
      {"x[[:alpha:]]", kNo, {2, 11}, "[A-Za-z]"},
      {"[^[:^digit:]]", kNo, {2, 12}, "[^0-9]"},
      {"[[:none:]]", kNo, {1, 9}, "list the characters"},
      {"[a-z&&[^b]]", kNo, {0, 6}, "set operation"},
      {"(?>a)", kNo, {0, 3}, "Atomic"},
      {"(?#a)", kNo, {0, 3}, "Comments"},
      {"(?P<n>a)", kNo, {0, 3}, "(?<name>"},
      {"(?<1>a)", kBad, {0, 3}, "group name"},
      {"a{,3}", kBad, {1, 3}, "{0,"},
      {"a{3,2}", kBad, {1, 6}, "least"},
      {"a**", kBad, {2, 3}, ""},
      {"a??\?", kBad, {3, 4}, ""},
      {"*a", kBad, {0, 1}, ""},
      {"(a", kBad, {0, 1}, "never closed"},
      {"a)", kBad, {1, 2}, ""},
      {"é[]", kBad, {2, 4}, "empty class"},
      {"[a", kBad, {0, 1}, "never closed"},
      {"\\s[b-a]", kBad, {3, 6}, "backwards"},
      {"a\\", kBad, {1, 2}, "ends after"},
      {"\\x4", kBad, {0, 3}, "2 hexadecimal"},
      {"\\u12", kBad, {0, 4}, "4 hexadecimal"},
      {"\\U00110000", kBad, {0, 10}, "10FFFF"},
      {"\xff", ErrorCode::kInvalidUtf8, {0, 1}, "UTF-8"},
  };
  for (const ErrorRow& row : rows) {
    SCOPED_TRACE(row.grammar);
    Result<Rules> rules = notation::regex_rules(row.grammar);
    ASSERT_FALSE(rules);
    expect_error(rules.error(), row);
  }
}

TEST(GrammarRegex, Limits) {
  const std::string deep(10'000, '(');
  Result<Rules> rules = notation::regex_rules(deep);
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, ErrorCode::kTooLarge);

  rules = notation::regex_rules("((a{1000000000}){1000000000}){1000000000}");
  ASSERT_TRUE(rules) << rules.error().to_string();
  EarleyRecogniser recogniser(*rules);
  EXPECT_FALSE(recogniser.accepts("aaaa"));
  EarleyRecogniser::Place place = recogniser.start();
  EXPECT_TRUE(recogniser.feed(place, "aaaa"));

  rules = notation::regex_rules("a{99999999999}");
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, ErrorCode::kTooLarge);
}

// An expression without rules as a pattern.
std::string pattern_of(const Rules& rules, ExprId id) {
  const rules::Expr& expr = rules.exprs[id];
  std::string out;
  switch (expr.kind) {
    case ExprKind::kBytes:
      return rules.texts[expr.index];
    case ExprKind::kClass:
      return "[ab]";
    case ExprKind::kSequence:
      for (ExprId child : expr.children) out += pattern_of(rules, child);
      return "(" + out + ")";
    case ExprKind::kChoice:
      for (ExprId child : expr.children) {
        out += (out.empty() ? "(" : "|") + pattern_of(rules, child);
      }
      return out.empty() ? "[^\\s\\S]" : out + ")";
    case ExprKind::kRepeat:
      out = "(?:" + pattern_of(rules, expr.children[0]) + "){" +
            std::to_string(expr.min) + ",";
      if (expr.max != rules::kUnbounded) out += std::to_string(expr.max);
      return out + "}";
    default:
      return "()";
  }
}

// One character is what UTF-8 says, whatever bytes are tried.
TEST(GrammarRegex, IllFormedText) {
  const Result<Rules> rules = notation::regex_rules("[^a]");
  ASSERT_TRUE(rules);
  EarleyRecogniser recogniser(*rules);
  for (unsigned lead = 0x80; lead < 0x100; ++lead) {
    for (unsigned second = 0x70; second < 0xD0; ++second) {
      for (const std::string_view rest : {"", "\xA4", "\xA4\xA4"}) {
        std::string text = {static_cast<char>(lead), static_cast<char>(second)};
        text += rest;
        const bool one = base::count_code_points(text) == 1;
        ASSERT_EQ(recogniser.accepts(text), one && base::is_utf8(text))
            << lead << " " << second << " " << rest.size();
      }
    }
  }
}

TEST(GrammarRegex, RandomPatterns) {
  constexpr std::size_t kLongest = 5;
  for (std::uint32_t seed = 1; seed <= 1000; ++seed) {
    testing::RandomRules random(seed);
    Rules source = random.make(1);
    source.rules[0].options = {};
    const std::string pattern = pattern_of(source, source.rules[0].body);
    SCOPED_TRACE(std::to_string(seed) + ": " + pattern);
    Result<Rules> rules = notation::regex_rules(pattern);
    ASSERT_TRUE(rules) << rules.error().to_string();
    EarleyRecogniser recogniser(*rules);
    testing::Texts found;
    for (const std::string& text : testing::all_texts(kLongest)) {
      if (recogniser.accepts(text)) found.insert(text);
    }
    ASSERT_EQ(found, testing::brute_force(source, kLongest));
  }
}

}  // namespace
}  // namespace parlance::grammar::grammar_regex_test
