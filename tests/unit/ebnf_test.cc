// EBNF: what texts mean, what is refused and where, and printing back.

#include "notation/ebnf.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "cfg_recogniser/earley.h"
#include "support/notation_rows.h"

namespace parlance::grammar::ebnf_test {

using cfg_recogniser::EarleyRecogniser;

using rules::Rules;

using testing::ErrorRow;
using testing::expect_error;
using testing::expect_language;
using testing::LanguageRow;
namespace {

TEST(Ebnf, Languages) {
  using namespace std::string_literals;
  const LanguageRow rows[] = {
      // Layout.
      {"root ::= \"a\" # a comment \"b\"\n  \"c\"", {"ac"}, {"a", "abc"}},
      {"# only\nroot ::=\n  \"a\"\n  | \"b\"\n", {"a", "b"}, {""}},
      {"\xEF\xBB\xBFroot ::= \"a\"", {"a"}, {""}},
      {"root ::= x y\r\nx ::= \"1\"\r\ny ::= \"2\"", {"12"}, {"1"}},
      {"  root ::= a-b_c.d\n\ta-b_c.d ::= \"x\"", {"x"}, {""}},
      // Escapes.
      {R"(root ::= "\"\\\/\'\?\n\r\t\b\f\a\v\0\e")",
       {"\"\\/'?\n\r\t\b\f\a\v\0\x1b"s},
       {"n"}},
      {R"(root ::= "\x41\u00e9\U0001F600")", {"Aé😀"}, {"A"}},
      {R"(root ::= "\[\]")", {"[]"}, {"\\[\\]"}},
      {R"(root ::= [\!\#\%\&\,\:\;\<\=\>\@\_\`\~]+)",
       {"!#%&,:;<=>@_`~"},
       {"\\!", "a"}},
      // Classes.
      {"root ::= [a-c_]+", {"a", "c_b"}, {"", "d"}},
      {"root ::= [^a-c]", {"d", "é", "\n"}, {"a", "", "dd"}},
      {"root ::= [^é]", {"e", "è"}, {"é"}},
      {"root ::= [^]", {"a", "\n", "😀"}, {""}},
      {R"(root ::= [\]\\\-\^a-]+)", {"]\\-^a-"}, {"["}},
      {"root ::= [a-]", {"a", "-"}, {"b"}},
      {"root ::= [] | \"a\"", {"a"}, {"", "b"}},
      {"root ::= .", {"a", "😀", "\n"}, {"", "ab", "\xff"}},
      // Operators.
      {"root ::= \"a\"? \"b\"* \"c\"+", {"c", "abbcc"}, {"ab", "aac"}},
      {"root ::= \"a\" {2} [b] { 1 , 2 }", {"aab", "aabb"}, {"ab", "aabbb"}},
      {"root ::= \"ab\"{2,}", {"abab", "ababab"}, {"ab"}},
      {"root ::= \"a\"{0} \"b\"", {"b"}, {"ab"}},
      {"root ::= (\"a\" | \"b\")* ()", {"", "abba"}, {"c"}},
      {"root ::= (\"a\"?)?", {"", "a"}, {"aa"}},
      {"root ::= (\"a\"?){3,5} \"b\"", {"b", "aaaaab"}, {"aaaaaab"}},
      {"root ::= (\"a\" | \"aa\"){3}", {"aaa", "aaaaaa"}, {"aa", "aaaaaaa"}},
      // Recursion.
      {"root ::= root \"a\" | \"b\"", {"b", "baaa"}, {"a", "ab"}},
      {"root ::= \"a\" root \"b\" | \"\"", {"", "aabb"}, {"aab", "abb"}},
      {"root ::= x\nx ::= y \"1\"\ny ::= x | \"0\"", {"01", "011"}, {"1"}},
      {"root ::= root root | \"a\" | \"\"", {"", "aaaa"}, {"b"}},
      {"root ::= x | \"a\"\nx ::= \"x\" x", {"a"}, {"x", "xx"}},
      // A hint changes nothing.
      {"root ::= \"a\" (=(\"b\" | \"c\")) | \"d\"", {"a", "d"}, {"ab"}},
      // Options.
      {"root ::= r \"!\"\nr[lazy] ::= [a-z]+", {"a!"}, {"ab!", "!"}},
      {"root ::= r \"!\"\nr[max_chars=2] ::= [^]*",
       {"!", "é!", "éé!", "!!"},
       {"ééé!"}},
      {"root ::= r [a-z]*\nr[max_chars=1] ::= \"ab\" | \"abc\" | \"x\"",
       {"ab", "abc", "xyz"},
       {"a"}},
      {"root ::= o \"!\"\no[max_chars=3] ::= \"<\" i \">\"\n"
       "i[max_chars=9] ::= [a-z]*",
       {"<>!", "<ab>!"},
       {"<abc>!"}},
      {"root ::= r \"z\"\nr[suffix=\"!\"] ::= [a-z]*", {"!z", "ab!z"}, {"z"}},
      {"root ::= r \"z\"\nr[stop=m] ::= \"a\"*\nm ::= \"b\" | \"cc\"",
       {"bz", "aaccz"},
       {"aaz"}},
      {"root[capture, temperature=0.5, max_tokens=3] ::= \"a\"", {"a"}, {""}},
      // Macros.
      {"root ::= Regex(\"a.c\", flags=\"is\")", {"A\nC"}, {"ac"}},
      {"root ::= Regex(\"a.c\", flags=\"\")", {"abc"}, {"a\nc", "ABC"}},
      {"root ::= Regex(\".*\", json_string=true)", {"aé"}, {"\"", "\\", "\n"}},
      {"root ::= Substring(\"ab\", \"c\", \"ab\")",
       {"", "ab", "c", "abc", "cab", "abcab"},
       {"a", "abab"}},
      {"root ::= \"a\" Substring() \"b\"", {"ab"}, {"", "a", "a b"}},
      {"root ::= TagDispatch((\"<a>\", r))\nr ::= \"1\"",
       {"", "x<a", "x<a>1y<a>1", "<<a>1"},
       {"<a>", "<a>2"}},
      {"root ::= TagDispatch((\"<a>\", r), loop_after_dispatch=false)\n"
       "r ::= \"1\"",
       {"x", "x<a>1"},
       {"<a>1x"}},
      {"root ::= TagDispatch((\"<a>\", r), excludes=(\"no\",)) \"!\"\n"
       "r ::= \"1\"",
       {"yes!", "n!", "<a>1!"},
       {"no!", "<a>1no!", "yes"}},
      {"root ::= TagDispatch((\"ab\", r), (\"b\", s))\nr ::= \"1\"\n"
       "s ::= \"2\"",
       {"ab1", "ab2", "b2"},
       {"b1", "ab3"}},
      {"root ::= TagDispatch((\"<f>\", s), (\"<f\", r), (\"<f\", s))\n"
       "r ::= \"1\"\ns ::= \"2\"\ndispatched ::= \"3\"",
       {"<f1", "<f2", "<f>2", "<<f1<f>2"},
       {"<f>1", "<f", "<f>", "<fx", "<f3"}},
      {"root ::= TagDispatch((\"x\", r))\nr ::= r \"a\"", {"a"}, {"x", "xa"}},
      {"root ::= \"a\" Token(1, 3-5) | ExcludeToken(2) | \"b\"", {"b"}, {"a"}},
      {"root ::= Token (\"x\")\nToken ::= \"a\"", {"ax"}, {"a"}},
  };
  for (const LanguageRow& row : rows) {
    SCOPED_TRACE(row.grammar);
    Result<Rules> rules = notation::read_ebnf(row.grammar);
    ASSERT_TRUE(rules) << rules.error().to_string();
    const std::string printed = notation::to_ebnf(*rules);
    SCOPED_TRACE(printed);
    Result<Rules> again = notation::read_ebnf(printed);
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_EQ(notation::to_ebnf(*again), printed);
    for (const Rules* version : {&*rules, &*again}) {
      expect_language(*version, row.accepted, row.rejected);
    }
  }
}

TEST(Ebnf, Errors) {
  const ErrorRow rows[] = {
      {"root ::= \"a", ErrorCode::kBadSyntax, {9, 11}, "not closed"},
      {"root ::= [a", ErrorCode::kBadSyntax, {9, 11}, "not closed"},
      {"root ::= \"\\q\"", ErrorCode::kBadSyntax, {10, 12}, "Unknown escape"},
      {"root ::= \"\\u12\"", ErrorCode::kBadSyntax, {10, 14}, "4 hexadecimal"},
      {"root ::= \"\\uD800\"",
       ErrorCode::kBadSyntax,
       {10, 16},
       "not a Unicode character"},
      {"root ::= [z-a]", ErrorCode::kBadSyntax, {10, 13}, "backwards"},
      {"root ::= a", ErrorCode::kBadReference, {9, 10}, "no rule \"a\""},
      {"a ::= \"x\"", ErrorCode::kBadReference, {0, 0}, "\"root\""},
      {"root ::= \"a\"\nroot ::= \"b\"",
       ErrorCode::kConflict,
       {13, 17},
       "defined twice"},
      {"root ::= \"a\" b ::= \"b\"",
       ErrorCode::kBadSyntax,
       {13, 18},
       "begin its line"},
      {"root = \"a\"", ErrorCode::kBadSyntax, {5, 6}, "\"::=\""},
      {"root ::= ", ErrorCode::kBadSyntax, {9, 9}, "empty"},
      {"root ::= \"a\" |", ErrorCode::kBadSyntax, {14, 14}, "empty"},
      {"root ::= ( | \"a\")", ErrorCode::kBadSyntax, {11, 12}, "empty"},
      {"root ::= (\"a\"", ErrorCode::kBadSyntax, {9, 10}, "never closed"},
      {"root ::= (", ErrorCode::kBadSyntax, {9, 10}, "never closed"},
      {"root ::= \"a\")", ErrorCode::kBadSyntax, {12, 13}, "no \"(\""},
      {"root ::= *", ErrorCode::kBadSyntax, {9, 10}, "nothing before it"},
      {"root ::= \"a\"+?", ErrorCode::kBadSyntax, {13, 14}, "in a row"},
      {"root ::= \"a\"{2,1}", ErrorCode::kBadSyntax, {12, 17}, "greater"},
      {"root ::= \"a\"{,1}", ErrorCode::kBadSyntax, {13, 14}, "number"},
      {"root ::= \"a\"{9999999999}",
       ErrorCode::kTooLarge,
       {13, 23},
       "2147483647"},
      {"root ::= 'a'", ErrorCode::kBadSyntax, {9, 10}, "expected"},
      {"root ::= \"a\" (=\"b\") \"c\"",
       ErrorCode::kBadSyntax,
       {20, 21},
       "nothing may follow"},
      {"root[size=1] ::= \"a\"",
       ErrorCode::kUnknownName,
       {5, 9},
       "no option \"size\""},
      {"root[lazy, lazy] ::= \"a\"",
       ErrorCode::kConflict,
       {11, 15},
       "given twice"},
      {"root[max_tokens=0] ::= \"a\"",
       ErrorCode::kBadSyntax,
       {16, 17},
       "from 1"},
      {"root[temperature=1e999] ::= \"a\"",
       ErrorCode::kBadSyntax,
       {5, 22},
       "finite"},
      {"root[stop=\"a\", suffix=\"b\"] ::= \"x\"",
       ErrorCode::kConflict,
       {4, 26},
       "exclude"},
      {"root[suffix=\"\"] ::= \"x\"",
       ErrorCode::kEmptyValue,
       {12, 14},
       "empty"},
      {"root ::= r\nr[lazy] ::= \"(\" r \")\" | \"x\"",
       ErrorCode::kUnsupported,
       {11, 12},
       "cannot be lazy"},
      {"root ::= r\nr[lazy] ::= s\ns ::= s \"a\" | \"a\"",
       ErrorCode::kUnsupported,
       {11, 12},
       "calls itself"},
      {"root ::= Regex(\"(\")",
       ErrorCode::kBadPattern,
       {15, 18},
       "never closed"},
      {"root ::= Regex(\"\\\\bx\")",
       ErrorCode::kUnsupportedPattern,
       {15, 21},
       "Word boundaries"},
      {"root ::= Regex(\"a\", \"b\")",
       ErrorCode::kBadSyntax,
       {9, 24},
       "one pattern"},
      {"root ::= Regex(\"a\", size=true)",
       ErrorCode::kUnknownName,
       {25, 29},
       "no argument"},
      {"root ::= Regex(\"a\", json_string=1)",
       ErrorCode::kWrongType,
       {32, 33},
       "true or false"},
      {"root ::= Substring(1)", ErrorCode::kWrongType, {19, 20}, "string"},
      {"root ::= TagDispatch((\"\", r))\nr ::= \"a\"",
       ErrorCode::kBadSyntax,
       {21, 28},
       "not empty"},
      {"root ::= TagDispatch((\"ab\", r), excludes=(\"a\"))\nr ::= \"a\"",
       ErrorCode::kConflict,
       {22, 26},
       "never be written"},
      {"root ::= TagDispatch((\"a\", r))",
       ErrorCode::kBadReference,
       {27, 28},
       "no rule \"r\""},
      {"root ::= Token()", ErrorCode::kBadSyntax, {9, 16}, "At least one"},
      {"root ::= TokenTagDispatch((1, r), excludes=(1,))\nr ::= \"a\"",
       ErrorCode::kConflict,
       {27, 28},
       "excluded"},
      {"root ::= JsonSchema(\"{\")", ErrorCode::kInvalidJson, {20, 23}, ""},
      {"root ::= \"a\" \xff", ErrorCode::kInvalidUtf8, {}, "UTF-8"},
  };
  for (const ErrorRow& row : rows) {
    SCOPED_TRACE(row.grammar);
    Result<Rules> rules = notation::read_ebnf(row.grammar);
    ASSERT_FALSE(rules);
    expect_error(rules.error(), row);
  }
}

TEST(Ebnf, AnotherRoot) {
  Result<Rules> rules =
      notation::read_ebnf("a ::= \"x\" root\nroot ::= \"y\"", "a");
  ASSERT_TRUE(rules);
  EXPECT_EQ(notation::to_ebnf(*rules),
            "root ::= \"x\" root_1\nroot_1 ::= \"y\"\n");
}

TEST(Ebnf, Printing) {
  // What is printed for what was written, by construct.
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"root ::= ((\"a\"))", "\"a\""},
      {"root ::= (\"a\" | \"b\") \"c\"", "(\"a\" | \"b\") \"c\""},
      {"root ::= \"a\" | \"b\" \"c\"", "\"a\" | \"b\" \"c\""},
      {"root ::= (\"a\" \"b\")* \"c\"?", "(\"a\" \"b\")* \"c\"?"},
      {"root ::= (\"a\"+)+", "(\"a\"+)+"},
      {"root ::= [a]{3} [b]{3,} [c]{0,3}", "[a]{3} [b]{3,} [c]{0,3}"},
      {"root ::= \"\\t\\\"\\\\\\x7f\"", "\"\\u0009\\\"\\\\\\u007F\""},
      {"root ::= [\\]\\-\\n[^]", "[\\u000A\\-\\[\\]-\\^]"},
      {"root ::= [^a]", "[\\u0000-`b-\\uD7FF\\uE000-\\U0010FFFF]"},
      {"root ::= []", "[]"},
      {"root ::= ()", "\"\""},
      {"root ::= Regex(\"\\\\d\", flags=\"i\", json_string=true)",
       "Regex(\"\\\\d\", flags=\"i\", json_string=true)"},
      {"root ::= Token(1,2-4) ExcludeToken(7)",
       "Token(1, 2-4) ExcludeToken(7)"},
      {"root ::= TokenTagDispatch((1, root), excludes=(2,3))",
       "TokenTagDispatch((1, root), loop_after_dispatch=true, "
       "excludes=(2,3,))"},
      {"root ::= TagDispatch((\"a\", root), excludes=(\"b\"))",
       "TagDispatch((\"a\", root), loop_after_dispatch=true, "
       "excludes=(\"b\"))"},
      {"root ::= JsonSchema(\"{\\\"type\\\": \\\"null\\\"}\")",
       "JsonSchema(\"{\\\"type\\\":\\\"null\\\"}\")"},
  };
  for (const auto& [written, body] : rows) {
    Result<Rules> rules = notation::read_ebnf(written);
    ASSERT_TRUE(rules) << written << rules.error().to_string();
    EXPECT_EQ(notation::to_ebnf(*rules),
              "root ::= " + std::string(body) + "\n");
  }
}

// A file as llama.cpp's users write them.
TEST(Ebnf, GbnfFile) {
  constexpr std::string_view kChess = R"(
# Specifies chess moves as a list in algebraic notation.
# Force first move to "1. ", then any 1-2 digit number after.
root    ::= (
    # it must start with the characters "1. " followed by a sequence
    # of characters that match the `move` rule, followed by a space.
    "1. " move " " move "\n"
    ([1-9] [0-9]? ". " move " " move "\n")+
)
move    ::= (pawn | nonpawn | castle) [+#]?
nonpawn ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
pawn    ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?
castle  ::= "O-O" "-O"?
)";
  Result<Rules> rules = notation::read_ebnf(kChess);
  ASSERT_TRUE(rules) << rules.error().to_string();
  EarleyRecogniser recogniser(*rules);
  EXPECT_TRUE(recogniser.accepts("1. e4 e5\n2. Nf3 Nc6\n"));
  EXPECT_TRUE(recogniser.accepts("1. e4 e5\n2. O-O-O exd8=Q+\n"));
  EXPECT_FALSE(recogniser.accepts("1. e4 e5\n2. Nf9 Nc6\n"));
}

// --- Grammars that mean harm ------------------------------------------------

std::string times(std::size_t count, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

TEST(EbnfLimits, DeepParentheses) {
  for (std::size_t depth : {1000u, 9'990u}) {
    Result<Rules> rules = notation::read_ebnf(
        "root ::= " + times(depth, "(\"x\" ") + "\"a\"" + times(depth, ")?"));
    ASSERT_TRUE(rules) << rules.error().to_string();
    EarleyRecogniser recogniser(*rules);
    EXPECT_TRUE(recogniser.accepts("xxx" + times(depth - 3, "x") + "a"));
    EXPECT_FALSE(recogniser.accepts("xxa"));
    Result<Rules> again = notation::read_ebnf(notation::to_ebnf(*rules));
    ASSERT_TRUE(again) << again.error().to_string();
  }
  Result<Rules> deeper = notation::read_ebnf("root ::= " + times(100'000, "("));
  ASSERT_FALSE(deeper);
  EXPECT_EQ(deeper.error().code, ErrorCode::kTooLarge);
}

TEST(EbnfLimits, CountsAreNotMultipliedOut) {
  Result<Rules> rules = notation::read_ebnf(
      "root ::= (([ab]{1000000000} \"-\"){0,1000000000} x{100000})?\n"
      "x ::= \"y\" | \"yy\"");
  ASSERT_TRUE(rules) << rules.error().to_string();
  EXPECT_LT(rules->exprs.size(), 20u);
  EarleyRecogniser recogniser(*rules);
  EXPECT_TRUE(recogniser.accepts(""));
  EarleyRecogniser::Place place = recogniser.start();
  EXPECT_TRUE(recogniser.feed(place, times(1000, "ab")));
  EXPECT_FALSE(recogniser.can_end(place));
  EXPECT_FALSE(recogniser.accepts(times(1000, "y")));
}

TEST(EbnfLimits, LongTexts) {
  Result<Rules> rules =
      notation::read_ebnf("root ::= (\"ab\"){2,50000} [c]{0,100000}");
  ASSERT_TRUE(rules);
  EarleyRecogniser recogniser(*rules);
  EXPECT_TRUE(recogniser.accepts(times(20'000, "ab") + times(20'000, "c")));
  EXPECT_FALSE(recogniser.accepts(times(20'000, "ab") + "b"));
}

TEST(EbnfLimits, TooManyItemsAreAnAnswer) {
  Result<Rules> rules = notation::read_ebnf("root ::= root root | \"a\"");
  ASSERT_TRUE(rules);
  EarleyRecogniser recogniser(*rules, {}, 100);
  EXPECT_FALSE(recogniser.accepts(times(200, "a")));
  EXPECT_TRUE(recogniser.overflowed());
}

TEST(EbnfLimits, RulesAndExpressions) {
  rules::RulesLimits limits;
  limits.rules = 10;
  std::string text = "root ::= \"a\"\n";
  for (int i = 0; i < 20; ++i) text += "r" + std::to_string(i) + " ::= \"a\"\n";
  Result<Rules> rules = notation::read_ebnf(text, "root", limits);
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, ErrorCode::kTooLarge);
  limits = {};
  limits.source_bytes = 10;
  rules = notation::read_ebnf(text, "root", limits);
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, ErrorCode::kTooLarge);
}

// Every prefix of a grammar is read or refused; nothing else happens.
TEST(EbnfLimits, Prefixes) {
  constexpr std::string_view kText =
      "root[max_chars=3, capture=\"a\"] ::= (\"a\\x41\" | [^\\]a-z]{2,3})+ "
      "(=\"b\") | Regex(\"[a\\\\]]\", flags=\"i\")\n"
      "r ::= TagDispatch((\"a\", root), excludes=(\"b\",)) Token(1, 2-3)";
  for (std::size_t n = 0; n <= kText.size(); ++n) {
    Result<Rules> rules = notation::read_ebnf(kText.substr(0, n));
    if (rules) continue;
    const Span span = rules.error().span.value_or(Span{});
    EXPECT_LE(span.begin, span.end) << n;
    EXPECT_LE(span.end, n);
    EXPECT_FALSE(rules.error().message.empty());
  }
}

}  // namespace
}  // namespace parlance::grammar::ebnf_test
