// Lark: what texts mean, what is refused and where.

#include "notation/lark.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cfg_recogniser/earley.h"
#include "notation/ebnf.h"

namespace parlance::grammar::lark_test {

using cfg_recogniser::EarleyRecogniser;

using rules::Rules;
namespace {

struct LanguageRow {
  std::string_view grammar;
  std::vector<std::string> accepted;
  std::vector<std::string> rejected;
};

constexpr std::string_view kText = "TEXT: /(\\n|.)*/\n";

std::string with_text(std::string_view grammar) {
  return std::string(kText) + std::string(grammar);
}

TEST(Lark, Languages) {
  const std::string calls = with_text(
      "start: (add | say)* TEXT\n"
      "add: add_head /[0-9]+/ \"</add>\"\n"
      "add_head[lazy]: TEXT \"<add>\"\n"
      "say: say_head \"hi\"\n"
      "say_head[stop=\"<say>\"]: TEXT\n");
  const std::string optional = with_text("start: r\nr[suffix=\"<e>\"]: TEXT");
  const std::string with_stop =
      with_text("start: r \"!\"\nr[stop=\"<e>\"]: TEXT");
  // A trigger that begins another.
  const std::string nested = with_text(
      "start: (a | b)* TEXT\n"
      "a: a_head \"1\"\n"
      "a_head[lazy]: TEXT \"<f\"\n"
      "b: b_head \"2\"\n"
      "b_head[lazy]: TEXT \"<f>\"\n");
  const LanguageRow rows[] = {
      {nested, {"x<f1", "x<f>2y<f1z", "<"}, {"x<fz", "<f>1", "<f"}},
      // Layout.
      {"start: \"a\" // b\n  | \"c\" # d\n\n  // e\n  | \"f\"\n",
       {"a", "c", "f"},
       {"", "ac"}},
      {"start: (\"a\"\n  \"b\"\n)", {"ab"}, {"a"}},
      {"?start: !x -> y\n", {}, {}},
      {"?start: x -> y\n!x: \"a\" | -> none", {"a", ""}, {"b"}},
      // Items and operators.
      {"start: \"a\\u00e9\\n\"", {"aé\n"}, {"a"}},
      {"start: \"Go-1\"i", {"gO-1"}, {"go_1"}},
      {"start: \"a\"..\"c\"+", {"abc"}, {"", "d"}},
      {"start: \"a\"~2 \"b\"~1..2 \"c\"{,1}", {"aab", "aabbc"}, {"ab"}},
      {"start: [\"a\" \"b\"] \"c\"?", {"", "ab", "abc"}, {"a"}},
      {"start: /a.\\/[\\/]/s", {"a\n//"}, {"a//"}},
      {"start: A B\nA: \"a\" | B \"x\"\nB: /b+/", {"ab", "bbxbb"}, {"a"}},
      {"start: %regex {\"substring_chars\": \"abc\"}", {"", "bc"}, {"ac"}},
      // Ignored text.
      {"%ignore \" \"\nstart: \"a\" B\nB: \"b\" \"c\"",
       {"abc", "a bc  "},
       {" abc", "ab c"}},
      {"%ignore /\\s/\n%grammar_options {\"allow_initial_skip\": true}\n"
       "start: \"a\"+",
       {" a a", "aa\n"},
       {" "}},
      {"%ignore \" \"\nstart: \"<\" r \">\"\nr[lazy]: \"a\" \"b\"",
       {"<ab>", "< ab >"},
       {"<a b>"}},
      {"start: \"a\" %lark { %ignore \"-\"\n start: \"b\" \"c\" } \"d\"",
       {"abcd", "ab--c-d"},
       {"a-bcd", "abc d"}},
      // Lazy rules and markers.
      {"start: r /[a-z]*/\nr[lazy]: /[a-z]+;?/", {"ab", "a"}, {"a;"}},
      {"start: r \"z\"\nr[suffix=/x+/]: /[a-z]*/", {"axz"}, {"axxz"}},
      {"start: r \"z\"\nr[stop=END]: \"a\"*\nEND: \"b\"|\"c\"",
       {"bz", "aacz"},
       {"z"}},
      {optional, {"", "x", "x<e>", "<e"}, {"x<e>y"}},
      {with_stop, {"x!", "x<e>!", "!!"}, {"x<e>y!", "x"}},
      // Free text with triggers.
      {calls,
       {"", "x", "x<add>1</add>y<say>hi", "<add", "<say>hi<add>2</add>"},
       {"<add>", "x<add>a</add>", "<say>", "<say>x"}},
      // Imports.
      {"%import common.INT -> N\n%import common (WORD, WS)\n%ignore WS\n"
       "start: (N | WORD)+",
       {"a 1", "12b"},
       {"-1"}},
  };
  for (const LanguageRow& row : rows) {
    SCOPED_TRACE(row.grammar);
    Result<Rules> rules = notation::read_lark(row.grammar);
    if (row.accepted.empty()) {
      EXPECT_FALSE(rules);
      continue;
    }
    ASSERT_TRUE(rules) << rules.error().to_string();
    const std::string printed = notation::to_ebnf(*rules);
    SCOPED_TRACE(printed);
    Result<Rules> again = notation::read_ebnf(printed);
    ASSERT_TRUE(again) << again.error().to_string();
    for (const Rules* version : {&*rules, &*again}) {
      EarleyRecogniser recogniser(*version);
      for (const std::string& text : row.accepted) {
        EXPECT_TRUE(recogniser.accepts(text)) << text;
      }
      for (const std::string& text : row.rejected) {
        EXPECT_FALSE(recogniser.accepts(text)) << text;
      }
    }
  }
}

TEST(Lark, CommonTerminals) {
  struct Row {
    std::string_view name;
    std::vector<std::string> accepted;
    std::vector<std::string> rejected;
  };
  const Row rows[] = {
      {"SIGNED_INT", {"1", "-12", "+3"}, {"", "-", "1.0"}},
      {"SIGNED_FLOAT", {"-1.5", "+.5e3", "1e3"}, {"1", "e3"}},
      {"LCASE_LETTER", {"a"}, {"A", "aa"}},
      {"LETTER", {"a", "Z"}, {"1", "ab"}},
      {"WORD", {"a", "Zb"}, {"", "a1"}},
      {"CNAME", {"_", "a1_"}, {"1a", ""}},
      {"CR", {"\r"}, {"\n"}},
      {"LF", {"\n"}, {"\r"}},
      {"SH_COMMENT", {"#", "# a"}, {"", "#\n"}},
      {"SQL_COMMENT", {"--", "-- a"}, {"-", "--\n"}},
      {"C_COMMENT", {"/***/", "/*/*/"}, {"/*/", "/**/ */"}},
      {"ESCAPED_STRING", {R"("\\")", R"("\"")"}, {R"("\")", "\"\n\""}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const std::string name(row.name);
    Result<Rules> rules =
        notation::read_lark("%import common." + name + "\nstart: " + name);
    ASSERT_TRUE(rules) << rules.error().to_string();
    EarleyRecogniser recogniser(*rules);
    for (const std::string& text : row.accepted) {
      EXPECT_TRUE(recogniser.accepts(text)) << text;
    }
    for (const std::string& text : row.rejected) {
      EXPECT_FALSE(recogniser.accepts(text)) << text;
    }
  }
}

struct ErrorRow {
  std::string_view grammar;
  ErrorCode code;
  Span span;
  std::string_view message;  // a part of it
};

TEST(Lark, Errors) {
  constexpr ErrorCode kBad = ErrorCode::kBadSyntax;
  constexpr ErrorCode kNo = ErrorCode::kUnsupported;
  const ErrorRow rows[] = {
      {"x: \"a\"", ErrorCode::kBadReference, {6, 6}, "\"start\""},
      {"start: y", ErrorCode::kBadReference, {7, 8}, "\"y\" is not defined"},
      {"start \"a\"", kBad, {6, 7}, "\":\""},
      {"start: \"a\"\nstart: \"b\"",
       ErrorCode::kConflict,
       {11, 16},
       "defined twice"},
      {"start: \"a", kBad, {7, 9}, "not closed"},
      {"start: \"\\x\"", kBad, {7, 11}, "JSON"},
      {"start: \"é\"i", kBad, {7, 12}, "ASCII"},
      {"start: \"a\"..\"bc\"", kBad, {7, 16}, "one character"},
      {"start: \"b\"..\"a\"", kBad, {7, 15}, "backwards"},
      {"start: /a", kBad, {7, 9}, "not closed"},
      {"start: /a/m", ErrorCode::kUnsupportedPattern, {8, 9}, "flag \"m\""},
      {"start: /ab(?=c)/",
       ErrorCode::kUnsupportedPattern,
       {10, 13},
       "Look-ahead"},
      {"start: (\"a\"", kBad, {7, 8}, "never closed"},
      {"start: (\"a\"]", kBad, {11, 12}, "no group"},
      {"start: *", kBad, {7, 8}, "nothing before"},
      {"start: \"a\"*?", kBad, {11, 12}, "in a row"},
      {"start: \"a\"{2,1}", kBad, {10, 15}, "greater"},
      {"start: \"a\" ->", kBad, {13, 13}, "alias"},
      {"start: x{y}\nx: \"a\"", kNo, {7, 9}, "Templates"},
      {"start.1: \"a\"", kNo, {0, 6}, "Priorities"},
      {"start: A\nA: A", kBad, {9, 10}, "uses itself"},
      {"start: A\nA: b\nb: \"x\"", kBad, {12, 13}, "cannot hold a rule"},
      {"start: A\nA: %json {}", kBad, {12, 13}, "cannot hold %json"},
      {"start: %json {\"a\": }", ErrorCode::kInvalidJson, {19, 20}, ""},
      {"start: %json []", kBad, {13, 14}, "object"},
      {"start: %regex {\"a\": 1}", kNo, {13, 22}, "substring_chunks"},
      {"start: %other", ErrorCode::kUnknownName, {7, 13}, "no item"},
      {"%declare A\nstart: \"a\"", kNo, {0, 8}, "%import"},
      {"%import common.NO\nstart: \"a\"",
       ErrorCode::kUnknownName,
       {15, 17},
       "no \"NO\""},
      {"%grammar_options {\"a\": true}\nstart: \"a\"",
       ErrorCode::kUnknownName,
       {16, 28},
       "\"a\""},
      {"start: @x", ErrorCode::kBadReference, {7, 9}, "\"@x\""},
      {"start: <[1-2-3]>", kBad, {12, 13}, "listed"},
      {"start: <[3-1]>", kBad, {11, 12}, "backwards"},
      {"start: <[*]>", ErrorCode::kUsage, {7, 12}, "vocabulary"},
      {"start: <|x|>", ErrorCode::kUsage, {7, 12}, "vocabulary"},
      {"start[size=1]: \"a\"", ErrorCode::kUnknownName, {6, 11}, "no option"},
      {"start[stop=\"a\", stop=\"b\"]: /x/",
       ErrorCode::kConflict,
       {16, 20},
       "twice"},
      {"start[stop=\"a\", suffix=\"b\"]: /x/",
       ErrorCode::kConflict,
       {5, 27},
       "exclude"},
      {"start[stop_capture=\"a\"]: /x/", kBad, {5, 23}, "there is none"},
      {"start[capture=\"a b\"]: /x/", kBad, {14, 19}, "no spaces"},
      {"start[stop=\"\"]: /x/", ErrorCode::kEmptyValue, {11, 13}, "empty"},
      {"start: r\nr[stop=\"a\"]: s\ns: \"b\"", kNo, {22, 23}, "no rules"},
      {"start: r\nr[lazy]: \"a\" r | \"b\"", kNo, {9, 10}, "cannot be lazy"},
      {"A[lazy]: /a/\nstart: A", kNo, {1, 2}, "no options"},
  };
  for (const ErrorRow& row : rows) {
    SCOPED_TRACE(row.grammar);
    Result<Rules> rules = notation::read_lark(row.grammar);
    ASSERT_FALSE(rules);
    const Error& error = rules.error();
    EXPECT_EQ(to_string(error.code), to_string(row.code)) << error.message;
    const Span span = error.span.value_or(Span{});
    EXPECT_EQ(span, row.span) << span.begin << ".." << span.end;
    EXPECT_NE(error.message.find(row.message), std::string::npos)
        << error.message;
  }
}

TEST(Lark, TriggersCannotBeMixed) {
  notation::LarkOptions options;
  options.tokens_spelled = [](std::string_view) {
    return std::vector<rules::Token>{7};
  };
  Result<Rules> rules = notation::read_lark(
      with_text("start: (a | b)* TEXT\na: h \"x\"\nh[lazy]: TEXT \"<a>\"\n"
                "b: TEXT <|b|> \"x\""),
      options);
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, ErrorCode::kConflict);
}

// The texts of up to `most` pieces.
std::vector<std::string> texts_of(const std::vector<std::string>& pieces,
                                  int most) {
  std::vector<std::string> texts = {""};
  for (std::size_t begin = 0; most-- > 0;) {
    const std::size_t end = texts.size();
    for (std::size_t i = begin; i < end; ++i) {
      for (const std::string& piece : pieces) texts.push_back(texts[i] + piece);
    }
    begin = end;
  }
  return texts;
}

// Options that do not say where a rule ends, and budgets that no text uses up,
// do not change the language of free text with triggers.
TEST(Lark, OptionsDoNotChangeTheLanguage) {
  // A grammar, where each "@" is the place of options in brackets and each "&"
  // that of options after another one; without them it is free text.
  const std::string_view grammars[] = {
      "start@: (call)* tail\ncall: head N\nhead[suffix=\"<c>\"&]: TEXT\n"
      "N: /[0-9]/\ntail@: TEXT",
      "start@: (call | note)* tail\ncall: head N\nhead[stop=\"<c>\"&]: TEXT\n"
      "note: open \"!\"\nopen[lazy&]: TEXT \"<n>\"\nN: /[0-9]/\n"
      "tail@: rest\nrest@: TEXT",
      "start@: (call)* TEXT\ncall: outer N\nouter@: head\n"
      "head[lazy&]: /(\\n|.)*<c>/\nN: /[0-9]/",
      "%ignore \" \"\nstart@: (call)* tail\ncall: head N\n"
      "head[lazy&]: TEXT \"<c>\"\nN: /[0-9]/\ntail@: TEXT",
  };
  const std::string_view options[] = {"",
                                      "capture=\"k\"",
                                      "temperature=0.5",
                                      "max_tokens=99",
                                      "max_chars=99",
                                      "capture=\"k\",temperature=1.5"};
  const std::vector<std::string> texts =
      texts_of({"<c>", "<n>", "1", "!", "<", " "}, 3);
  std::mt19937 random(5);
  for (const std::string_view grammar : grammars) {
    std::vector<bool> plain;
    for (int round = 0; round < 40; ++round) {
      std::string written;
      for (const char c : grammar) {
        if (c != '@' && c != '&') {
          written += c;
          continue;
        }
        const std::string chosen(
            options[round == 0 ? 0 : random() % std::size(options)]);
        if (chosen.empty()) continue;
        written += c == '@' ? '[' + chosen + ']' : ',' + chosen;
      }
      SCOPED_TRACE(written);
      Result<Rules> rules = notation::read_lark(with_text(written));
      ASSERT_TRUE(rules) << rules.error().to_string();
      EarleyRecogniser recogniser(*rules);
      std::vector<bool> accepted;
      accepted.reserve(texts.size());
      for (const std::string& text : texts) {
        accepted.push_back(recogniser.accepts(text));
      }
      if (round == 0) plain = accepted;
      ASSERT_EQ(accepted, plain);
    }
    // Some texts fit and some do not.
    EXPECT_EQ(std::ranges::count(plain, true) * 20 > std::ssize(plain), true);
    EXPECT_EQ(std::ranges::count(plain, false) * 20 > std::ssize(plain), true);
  }
}

// Whatever it is, an option of a rule that begins with a trigger is refused.
TEST(Lark, RulesWithTriggersTakeNoOptions) {
  for (const std::string_view ignored : {"", "%ignore \" \"\n"}) {
    for (const std::string_view option :
         {"capture", "temperature=1", "max_tokens=9", "max_chars=9", "lazy"}) {
      const Result<Rules> rules = notation::read_lark(with_text(
          std::string(ignored) + "start: (call)* TEXT\ncall[" +
          std::string(option) + "]: head N\nhead[lazy]: TEXT \"<c>\"\nN: /1/"));
      ASSERT_FALSE(rules) << ignored << option;
      EXPECT_EQ(rules.error().code, ErrorCode::kUnsupported);
      EXPECT_NE(rules.error().message.find("takes no options"),
                std::string::npos)
          << rules.error().message;
    }
  }
}

TEST(Lark, TriggersThatOverlapTakeNoOptions) {
  const std::string grammar = with_text(
      "start: (a | b)* TEXT\na: h \"x\"\nh[suffix=\"ab\"]: TEXT\n"
      "b: k \"y\"\nk[suffix=\"bc\"");
  EXPECT_TRUE(notation::read_lark(grammar + "]: TEXT"));
  const Result<Rules> rules = notation::read_lark(grammar + ", capture]: TEXT");
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(rules.error().message.find("overlap"), std::string::npos);
}

// The order of statements means nothing.
TEST(Lark, OrderOfStatements) {
  const std::vector<std::vector<std::string>> grammars = {
      {"start: num \"x\" num", "%import common.INT -> num", "%ignore \" \""},
      {"start: (call)* tail", "call: head num", "head[lazy]: TEXT \"<c>\"",
       "tail: TEXT", "TEXT: /(\\n|.)*/", "%import common.DIGIT -> num"},
      {"start: r+", "r[lazy]: num \"x\"", "%import common.INT -> num",
       "%ignore WS", "%import common.WS",
       "%grammar_options "
       "{\"allow_initial_skip\": true}"},
      {"start: A | b", "A: B \"x\"", "B: \"1\"", "b: %lark { start: \"<\" }",
       "%ignore \" \""},
  };
  const std::vector<std::string> texts =
      texts_of({"<c>", "1", "x", " ", "<"}, 5);
  std::mt19937 random(3);
  for (std::vector<std::string> statements : grammars) {
    std::vector<bool> first;
    for (int round = 0; round < 12; ++round) {
      std::string grammar;
      for (const std::string& one : statements) grammar += one + '\n';
      SCOPED_TRACE(grammar);
      Result<Rules> rules = notation::read_lark(grammar);
      ASSERT_TRUE(rules) << rules.error().to_string();
      EarleyRecogniser recogniser(*rules);
      std::vector<bool> accepted;
      accepted.reserve(texts.size());
      for (const std::string& text : texts) {
        accepted.push_back(recogniser.accepts(text));
      }
      if (round == 0) first = accepted;
      ASSERT_EQ(accepted, first);
      std::ranges::shuffle(statements, random);
    }
    EXPECT_NE(std::ranges::count(first, true), 0);
  }
}

TEST(Lark, NamedGrammars) {
  notation::LarkOptions options;
  options.sources["pair"] = "start: @item \":\" @item";
  options.sources["item"] = "start: /[a-z]/";
  Result<Rules> rules =
      notation::read_lark("start: \"<\" @pair \">\" @item", options);
  ASSERT_TRUE(rules) << rules.error().to_string();
  EarleyRecogniser recogniser(*rules);
  EXPECT_TRUE(recogniser.accepts("<a:b>c"));
  EXPECT_FALSE(recogniser.accepts("<a:b>"));

  options.sources["item"] = "start: @pair";
  rules = notation::read_lark("start: @pair", options);
  ASSERT_FALSE(rules);
  EXPECT_NE(rules.error().message.find("@pair -> @item -> @pair"),
            std::string::npos)
      << rules.error().message;
}

// --- Grammars that mean harm ------------------------------------------------

TEST(LarkLimits, DeepGroups) {
  const std::string open(9'000, '(');
  const std::string close(9'000, ')');
  Result<Rules> rules = notation::read_lark("start: " + open + "\"a\"" + close);
  ASSERT_TRUE(rules) << rules.error().to_string();
  EXPECT_TRUE(EarleyRecogniser(*rules).accepts("a"));
  rules = notation::read_lark("start: " + open + open);
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, ErrorCode::kTooLarge);
}

TEST(LarkLimits, GrammarsInsideGrammars) {
  std::string text = "\"a\"";
  for (int i = 0; i < 200; ++i) text = "%lark { start: " + text + " }";
  Result<Rules> rules = notation::read_lark("start: " + text);
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, ErrorCode::kTooLarge);
}

TEST(LarkLimits, Prefixes) {
  constexpr std::string_view kGrammar =
      "%import common (WS, INT)\n%ignore WS\n"
      "start[capture, max_chars=9]: (a | \"b\"i)* [\"c\"..\"d\"] -> x\n"
      "a[suffix=/x\\/y/is]: INT{1,2}~3 | %json {\"a\": [\"}\"]} <[1-2,^]>\n"
      "b: %lark { start: \"q\" } %regex {\"substring_chars\": \"ab\"}";
  for (std::size_t n = 0; n <= kGrammar.size(); ++n) {
    Result<Rules> rules = notation::read_lark(kGrammar.substr(0, n));
    if (rules) continue;
    const Span span = rules.error().span.value_or(Span{});
    EXPECT_LE(span.begin, span.end) << n;
    EXPECT_LE(span.end, n);
    EXPECT_FALSE(rules.error().message.empty());
  }
}

}  // namespace
}  // namespace parlance::grammar::lark_test
