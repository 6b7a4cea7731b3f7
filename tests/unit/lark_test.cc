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
#include "support/notation_rows.h"

namespace parlance::grammar::lark_test {

using cfg_recogniser::EarleyRecogniser;

using rules::Rules;

using testing::ErrorRow;
using testing::expect_error;
using testing::expect_language;
using testing::LanguageRow;
namespace {

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
      // Strings as Lark has them, where JSON has none.
      {R"(start: "\x41\U00000042\d\'")", {"AB\\d\\'"}, {"ABd'"}},
      // Patterns.
      {"start: /a(?s:.)[[]/", {"a\n["}, {"a["}},
      {"start: /a # b\n  c/x \"d\"", {"acd"}, {"a cd"}},
      {"start: /\\p{Lu}(?i:x)/", {"ÉX", "Ax"}, {"ax"}},
      // Layout.
      {"!?start.2: A \\\n  \"b\"\nA.-10: \"a\"", {"ab"}, {"a"}},
      {"start:\n  | \"a\"\n  | \"b\"", {"", "a", "b"}, {"ab"}},
      // Terminals with "&" and "~".
      {"start: L\nL: /[a-z\\n]*/ & ~/(?s:.*)\\n\\n(?s:.*)/",
       {"", "a\nb\n", "\na"},
       {"a\n\nb", "A"}},
      {"start: A\nA: ~\"a\" & /[ab]*/", {"", "b", "aa", "ab"}, {"a", "c"}},
      {"start: A\nA: \"<\" ~/[^a]*/+ \">\"", {"<a>", "<aba>"}, {"<b>", "<>"}},
      {"start: A\nA: \"x\" \"y\" & /[a-z]+/ | \"1\"", {"xy", "1"}, {"x"}},
      {"start: A \"!\"\nA: ~(B | ~~C)\nB: \"b\" & /./\nC: /c*/",
       {"a!", "bb!", "cb!"},
       {"b!", "!", "cc!"}},
      {"start: A\nA: /.{2}/ & ~(\"é\" /./) & ~/.😀/",
       {"ab", "aé"},
       {"éa", "a😀", "a"}},
      {"start: A B | B \"d\"\nA: /a/ & /b/\nB: \"c\"", {"cd"}, {"c", "ac"}},
      {"start: A \"c\" | B\nA: /a/ & ~/.*/\nB: \"\" & /b*/ | ~~\"d\"",
       {"", "d"},
       {"c", "b"}},
      // Ignored text follows a lazy rule, not its items; what it uses has it.
      {"%ignore \" \"\nstart: r \"!\"\nr[lazy]: \"a\" t{\"b\"}\nt{x}: x \"c\"",
       {"ab c!", "abc  !"},
       {"a bc!"}},
      // Templates.
      {"start: list{INT, \",\"} | list{\"x\", SEP}\n"
       "list{item, sep}: item (sep item)*\nINT: /[0-9]+/\nSEP: \";\"",
       {"1,22", "x;x", "x"},
       {"1;2", "x,x", ""}},
      {"start: nest{\"a\"}\nnest{x}: x | \"(\" nest{x} \")\"",
       {"a", "((a))"},
       {"(a", "()"}},
      {"start: pair{pair{a, a}, B}\npair{x, y}: \"<\" x y \">\"\n"
       "a: \"a\"\nB: \"b\"",
       {"<<aa>b>"},
       {"<ab>"}},
      {"%ignore \" \"\nstart: two{\"a\"}\ntwo{x}: x x\n",
       {"aa", "a a "},
       {" aa"}},
      {"start: r{/[ab]/}{2}\nr{x}: x~2", {"abab"}, {"ab"}},
      // Declared terminals have no text.
      {"%declare A _B\nstart: \"a\" (A | _B)? | A \"c\"", {"a"}, {"c"}},
      {"%llguidance {\"no_forcing\": true}\n"
       "%llguidance {\"skip_repetition\": \"once\"}\n%ignore \" \"\n"
       "start: \"a\" \"b\"",
       {"ab", "a b "},
       {"a  b"}},
      {"start: %regex {\"substring_words\": \"an apple, (red)\"}",
       {"", "apple, (red", " apple", ", ("},
       {"app", "apple ", " ,"}},
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
      expect_language(*version, row.accepted, row.rejected);
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
    expect_language(*rules, row.accepted, row.rejected);
  }
}

TEST(Lark, Errors) {
  constexpr ErrorCode kBad = ErrorCode::kBadSyntax;
  constexpr ErrorCode kNo = ErrorCode::kUnsupported;
  const ErrorRow rows[] = {
      {"x: \"a\"", ErrorCode::kBadReference, {6, 6}, "\"start\""},
      {"start: y", ErrorCode::kBadReference, {7, 8}, "no rule \"y\""},
      {"start \"a\"", kBad, {6, 7}, "\":\""},
      {"start: \"a\"\nstart: \"b\"",
       ErrorCode::kConflict,
       {11, 16},
       "defined twice"},
      {"start: \"a", kBad, {7, 9}, "not closed"},
      {"start: \"\\x\"", kBad, {8, 10}, "2 hexadecimal"},
      {"start: \"\\ud800\"", kBad, {7, 15}, "half of a surrogate"},
      {"start: \"\\u12\"", kBad, {7, 13}, "JSON"},
      {"start: \"é\"i", kBad, {7, 12}, "ASCII"},
      {"start: \"a\"..\"bc\"", kBad, {7, 16}, "one character"},
      {"start: \"b\"..\"a\"", kBad, {7, 15}, "backwards"},
      {"start: /a", kBad, {7, 9}, "not closed"},
      {"start: /a/l", ErrorCode::kUnsupportedPattern, {8, 9}, "flag \"l\""},
      {"start: /ab(?=c)/",
       ErrorCode::kUnsupportedPattern,
       {10, 13},
       "Look-ahead"},
      {"start: (\"a\"", kBad, {7, 8}, "never closed"},
      {"start: (\"a\"]", kBad, {11, 12}, "no \"[\""},
      {"start: *", kBad, {7, 8}, "nothing before"},
      {"start: \"a\"*?", kBad, {11, 12}, "in a row"},
      {"start: \"a\"{2,1}", kBad, {10, 15}, "greater"},
      {"start: \"a\" ->", kBad, {13, 13}, "alias"},
      {"start: x{x}\nx: \"a\"", ErrorCode::kBadReference, {7, 8}, "template"},
      {"start: A\nA: A", kBad, {9, 10}, "uses itself"},
      {"start: A\nA: b\nb: \"x\"", kBad, {12, 13}, "cannot hold a rule"},
      {"start: A\nA: %json {}", kBad, {12, 13}, "cannot hold %json"},
      {"start: %json {\"a\": }", ErrorCode::kInvalidJson, {19, 20}, ""},
      {"start: %json []", kBad, {13, 14}, "object"},
      {"start: %regex {\"a\": 1}", kNo, {13, 22}, "substring_chunks"},
      {"start: %other", ErrorCode::kUnknownName, {7, 13}, "no item"},
      {"%extend A\nstart: \"a\"", kNo, {0, 7}, "%import"},
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
      {"start[size=1]: \"a\"", ErrorCode::kUnknownName, {6, 10}, "no option"},
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
      // Operands that are missing.
      {"start: A\nA: \"x\" ~", kBad, {16, 17}, "followed by an item"},
      {"start: A\nA: ~ | \"b\"", kBad, {12, 13}, "followed by an item"},
      {"start: A\nA: (\"x\" ~)", kBad, {17, 18}, "followed by an item"},
      {"start: A\nA: \"x\" ~* \"y\"", kBad, {16, 17}, "followed by an item"},
      {"start: A\nA: \"x\" ~~2", kBad, {16, 17}, "followed by an item"},
      {"start: A\nA: ~ -> y", kBad, {12, 13}, "followed by an item"},
      {"start: A\nA: ~ & \"b\"", kBad, {12, 13}, "followed by an item"},
      {"start: A\nA: & \"b\"", kBad, {12, 13}, "between two texts"},
      {"start: A\nA: \"b\" &", kBad, {16, 17}, "between two texts"},
      {"start: A\nA: \"b\" & | \"c\"", kBad, {16, 17}, "between two texts"},
      {"start: A\nA: \"b\" && \"c\"", kBad, {17, 18}, "between two texts"},
      {"start: t{\"b\",\"c\"}\nt{a,a}: a",
       ErrorCode::kConflict,
       {22, 23},
       "parameter \"a\" twice"},
      {"%ignore\nstart: \"a\"", ErrorCode::kEmptyValue, {0, 7}, "ignored"},
      {"%ignore \"\"\nstart: \"a\"",
       ErrorCode::kEmptyValue,
       {0, 10},
       "ignored"},
      // An operand without texts, or one with too many states to find any?
      {"start: T | \"x\"\nT: \"a\"~25000 & /a*/",
       ErrorCode::kTooLarge,
       {17, 34},
       "too many states"},
  };
  for (const ErrorRow& row : rows) {
    SCOPED_TRACE(row.grammar);
    Result<Rules> rules = notation::read_lark(row.grammar);
    ASSERT_FALSE(rules);
    expect_error(rules.error(), row);
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

TEST(Lark, AnotherStart) {
  notation::LarkOptions options;
  options.start_rule = "value";
  Result<Rules> rules =
      notation::read_lark("value: A | \"[\" value \"]\"\nA: \"a\"", options);
  ASSERT_TRUE(rules) << rules.error().to_string();
  EXPECT_TRUE(EarleyRecogniser(*rules).accepts("[[a]]"));
  rules = notation::read_lark("start: \"a\"", options);
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, ErrorCode::kBadReference);
  EXPECT_NE(rules.error().message.find("\"value\""), std::string::npos);
}

// What is imported from a source brings what it uses, under names of its own;
// the ignored text is that of the grammar that imports.
TEST(Lark, ImportedSources) {
  notation::LarkOptions options;
  options.sources["words"] =
      "%import common.WS\n%ignore WS\n%import .more.list\n"
      "_pair: WORD \":\" WORD\nWORD: LETTER+\nLETTER: /[a-z]/\n"
      "pairs: list{_pair}\nlist2{x}: x x";
  options.sources["more"] = "list: \"-\"";
  Result<Rules> rules = notation::read_lark(
      "%ignore \" \"\n%import .words (WORD, _pair)\n%import words._pair -> p\n"
      "start: WORD | _pair \"!\" | p p\nLETTER: \"1\"",
      options);
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, ErrorCode::kBadReference);
  EXPECT_NE(rules.error().message.find("no template \"words.list\""),
            std::string::npos)
      << rules.error().message;
  options.sources["words"] += "\nlist{x}: x";
  rules = notation::read_lark(
      "%ignore \" \"\n%import .words (WORD, _pair)\n%import words._pair -> p\n"
      "%import words.pairs\nstart: WORD | _pair \"!\" | p p | pairs\n"
      "LETTER: \"1\"",
      options);
  ASSERT_FALSE(rules);  // "list" is imported and defined
  options.sources["words"].erase(
      options.sources["words"].find("%import .more"),
      std::string_view("%import .more.list\n").size());
  rules = notation::read_lark(
      "%ignore \" \"\n%import .words (WORD, _pair)\n%import words._pair -> p\n"
      "%import words.pairs\nstart: WORD | _pair \"!\" | p p | pairs\n"
      "LETTER: \"1\"",
      options);
  ASSERT_TRUE(rules) << rules.error().to_string();
  expect_language(*rules, {"ab", "a : b !", "a:b c:d", "a:b"},
                  {"1", "a\n:b !", "a b", "a:b!!"});
}

// How text is ignored is for the grammar that imports, in which a "%lark" has
// ignored text of its own.
TEST(Lark, IgnoredTextOfSources) {
  notation::LarkOptions options;
  options.sources["m"] =
      "%llguidance {\"allow_initial_skip\": true, \"skip_repetition\": "
      "\"once\"}\n"
      "x: %lark { start: \"a\" \"b\"\n%ignore \" \"\n}\n"
      "t{y}: y %lark { start: \"c\"\n%ignore \" \"\n}";
  options.sources["u"] =
      "%import m.x\nu: t{x}\nt{y}: y %lark {start: \"c\" "
      "\"d\"\n%ignore \"_\"\n}";
  const LanguageRow rows[] = {
      {"%import m.x\nstart: x \"!\"", {"a b!", "ab  !"}, {" ab!", "a-b!"}},
      {"%import u.u\nstart: u \"!\"", {"a bc_d!"}, {"a_bcd!", "abc d!"}},
      {"%import m.x\n%ignore \"-\"\nstart: x \"!\"",
       {"a b!--"},
       {"-ab!", "a-b!"}},
  };
  for (const LanguageRow& row : rows) {
    SCOPED_TRACE(row.grammar);
    const Result<Rules> rules = notation::read_lark(row.grammar, options);
    ASSERT_TRUE(rules) << rules.error().to_string();
    expect_language(*rules, row.accepted, row.rejected);
  }
}

TEST(Lark, DeclaredNames) {
  std::vector<std::string> declared;
  ASSERT_TRUE(
      notation::read_lark("%declare A B\nstart: A | \"a\"", {}, &declared));
  EXPECT_EQ(declared, (std::vector<std::string>{"A", "B"}));
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

// Each source is read twice by the one before it.
TEST(LarkLimits, SourcesInsideSources) {
  notation::LarkOptions options;
  for (int i = 0; i < 20; ++i) {
    const std::string next = "m" + std::to_string(i + 1);
    const std::string inside =
        "%lark {\n%import " + next + ".y\nstart: \"a\"\n}";
    options.sources["m" + std::to_string(i)] = "x: " + inside + " " + inside +
                                               "\ny: \"b\" //" +
                                               std::string(1'000, ' ');
  }
  options.sources["m20"] = "y: \"b\"";
  const Result<Rules> rules =
      notation::read_lark("%import m0.y\nstart: y", options);
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, ErrorCode::kTooLarge);
  EXPECT_NE(rules.error().message.find("16777216 bytes"), std::string::npos)
      << rules.error().message;
}

TEST(LarkLimits, Templates) {
  for (const std::string_view grammar : {
           "start: f{\"a\"}\nf{x}: x f{g{x}}\ng{x}: x x",
           "start: f{\"a\"}\nf{x}: f{g{x,\"1\"}} f{g{x,\"2\"}} f{g{x,\"3\"}}\n"
           "g{x, y}: x y",
       }) {
    const Result<Rules> rules = notation::read_lark(grammar);
    ASSERT_FALSE(rules);
    EXPECT_EQ(rules.error().code, ErrorCode::kTooLarge);
  }
  std::string deep = "start: ";
  for (int i = 0; i < 10'000; ++i) deep += "f{";
  EXPECT_FALSE(notation::read_lark(deep));
}

TEST(LarkLimits, Operators) {
  std::string deep = "start: A\nA: ";
  std::string named = "start: T0\n";
  for (int i = 0; i < 5'000; ++i) {
    deep += "~(";
    named += "T" + std::to_string(i) + ": ~T" + std::to_string(i + 1) + "\n";
  }
  deep += "\"a\"" + std::string(5'000, ')');
  named += "T5000: \"a\"";
  for (const std::string& grammar : {deep, named}) {
    const Result<Rules> rules = notation::read_lark(grammar);
    ASSERT_TRUE(rules) << rules.error().to_string();
    EarleyRecogniser recogniser(*rules);
    EXPECT_TRUE(recogniser.accepts("a"));
    EXPECT_FALSE(recogniser.accepts("b"));
  }
  const Result<Rules> large =
      notation::read_lark("start: A\nA: ~/(.*a.{40}b.*)/ & /.*c.{30}d.*/");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::kTooLarge);
  // 2^20 optional parts, which are not conditions.
  std::string doubled = "start: A\nA: ~T20\nT0: \"a\"?";
  for (int i = 1; i <= 20; ++i) {
    const std::string before = " T" + std::to_string(i - 1);
    doubled += "\nT" + std::to_string(i) + ":" + before + before;
  }
  const Result<Rules> parts = notation::read_lark(doubled);
  ASSERT_FALSE(parts);
  EXPECT_EQ(parts.error().code, ErrorCode::kTooLarge);
  EXPECT_NE(parts.error().message.find("written out"), std::string::npos)
      << parts.error().message;
}

TEST(Lark, ErrorsOfConstructs) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"start: \"a\" & \"b\"", "only terminals"},
      {"start: ~\"a\"", "Only terminals"},
      {"start: A\nA: B \"x\" & /x/\nB: ~\"a\"", "operand as a whole"},
      {"start: A\nA: ~\"a\"+ & /[ab]*/", "operand as a whole"},
      {"start: f\nf: \"a\"\nf{x}: x", "defined twice"},
      {"start: f\nf{x}: x\nf: \"a\"", "defined twice"},
      {"start: A\nA: ~%regex {\"substring_chars\": \"ab\"}", "%regex"},
      {"start: A\nA: ~B\nB: ~A", "uses itself"},
      {"start: f{\"a\"}", "no template \"f\""},
      {"start: f{\"a\"}\nf{x, y}: x", "2 parameters"},
      {"start: f{}\nf{x}: x", "belongs here"},
      {"start: f{\"a\"}\nf{x}[lazy]: x", "takes no options"},
      {"start: f{\"a\"}\nf{x}: x\nf{y}: y", "defined twice"},
      {"start: p::0\np::_: \"a\"", "with a number"},
      {"start: y\n!!y: \"a\"", "begins with its name"},
      {"start: y\n??y: \"a\"", "begins with its name"},
      {"%import nope.X\nstart: X", "no library \"nope\""},
      {"%import X\nstart: X", "write %import"},
      {"%override start: \"a\"", "not supported"},
      {"%llguidance {\"allow_invalid_utf8\": true}\nstart: \"a\"", "UTF-8"},
      {"%llguidance {\"skip_repetition\": 1}\nstart: \"a\"", "once"},
      {"%declare \"a\"\nstart: \"a\"", "followed by names"},
      {"start: /(?<!a)b/", "Look-behind"},
      {"start: /a(?!b)/", "Look-ahead"},
      {"start: /a\nb/", "not closed on its line"},
      {"start: /a/l", "flag"},
      {"start: \"\\xg1\"", "hexadecimal"},
  };
  for (const auto& [grammar, message] : rows) {
    SCOPED_TRACE(grammar);
    const Result<Rules> rules = notation::read_lark(grammar);
    ASSERT_FALSE(rules);
    EXPECT_NE(rules.error().message.find(message), std::string::npos)
        << rules.error().message;
    EXPECT_LE(rules.error().span.value_or(Span{}).end, grammar.size());
  }
}

TEST(LarkLimits, Prefixes) {
  constexpr std::string_view kGrammar =
      "%import common (WS, INT)\n%ignore WS\n"
      "start[capture, max_chars=9]: (a | \"b\"i)* [\"c\"..\"d\"] -> x\n"
      "a[suffix=/x\\/y/is]: INT{1,2}~3 | %json {\"a\": [\"}\"]} <[1-2,^]>\n"
      "b: %lark { start: \"q\" } %regex {\"substring_chars\": \"ab\"}\n"
      "%declare X\nt{x, y}.2: x~2 (y | t{x, \"\\x41\"})\n"
      "c: t{a, /b/x}\nD: ~/a/ & (\"b\" | ~E)+\nE: \"e\"";
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
