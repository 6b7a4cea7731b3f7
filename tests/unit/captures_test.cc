// parlance/captures.h: texts, prefixes of texts, tokens, and errors.
// Recorded sessions with captures are in grammar_traces_test.cc.

#include "parlance/captures.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace parlance {
namespace {

// "name=text@begin..end ..." or the error.
std::string shown(const Result<std::vector<RuleCapture>>& found) {
  if (!found) return found.error().to_string();
  std::string out;
  for (const RuleCapture& one : *found) {
    out += (out.empty() ? "" : " ") + one.name + "=" + one.text + "@" +
           std::to_string(one.bytes.begin) + ".." +
           std::to_string(one.bytes.end);
  }
  return out;
}

Grammar lark(std::string_view source) {
  const Result<Grammar> made = Grammar::from_lark(source);
  EXPECT_TRUE(made) << made.error().to_string();
  return *made;
}

TEST(Captures, LazyRulesOfAnyTextMayEndWithoutTheirMarker) {
  const Grammar grammar = lark(
      "start: head\nhead[lazy, capture]: TEXT \"<end>\"\nTEXT: /(\\n|.)*/");
  EXPECT_TRUE(grammar.accepts("plain"));
  EXPECT_TRUE(grammar.accepts(""));
  EXPECT_TRUE(grammar.accepts("a<end>"));
  EXPECT_FALSE(grammar.accepts("<end>x"));
  EXPECT_EQ(shown(captures(grammar, "plain")), "head=plain@0..5");
  EXPECT_EQ(shown(captures(grammar, "a<end>")), "head=a<end>@0..6");
  // Only where any text may come, and a text ends it.
  const Grammar letters =
      lark("start: head\nhead[lazy]: TEXT \"<end>\"\nTEXT: /[a-z]*/");
  EXPECT_FALSE(letters.accepts("plain"));
  EXPECT_TRUE(letters.accepts("plain<end>"));
}

TEST(Captures, OfTriggersSurvivePrinting) {
  for (const char* options :
       {"stop=\"<t>\", stop_capture=\"m\"", "stop=\"<t>\"", "suffix=\"<t>\"",
        "suffix=\"<t>\", stop_capture=\"m\""}) {
    const Grammar grammar = lark(
        "start: body\nbody[capture]: tool* tail\ntail: TEXT\nhead[" +
        std::string(options) + "]: TEXT\ntool: head \"x\"\nTEXT: /(\\n|.)*/");
    const std::string printed = grammar.to_ebnf();
    const Result<Grammar> again = Grammar::from_ebnf(printed);
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_EQ(again->to_ebnf(), printed);
    EXPECT_EQ(shown(captures(*again, "a<t>xb")),
              shown(captures(grammar, "a<t>xb")))
        << options;
  }
  EXPECT_FALSE(Grammar::from_ebnf(
      "root ::= TagDispatch((\"<t>\", r, stop, \"m\"))\nr ::= \"x\"\n"));
  EXPECT_FALSE(Grammar::from_ebnf(
      "root ::= TagDispatch((\"<t>\", r, stop, stop))\nr ::= \"x\"\n"));
}

TEST(Captures, OfTexts) {
  const struct {
    std::string_view grammar;
    std::string_view text;
    std::string_view found;
  } rows[] = {
      {"start: \"é\" v*\nv[capture]: /[0-9]/ | \"(\" v \")\"", "é1(2)",
       "v=1@2..3 v=2@4..5 v=(2)@3..6"},
      {"start: \"a\"", "a", ""},
      {"start: e\ne[capture]: e \"+\" /[0-9]/ | /[0-9]/", "1+2",
       "e=1@0..1 e=1+2@0..3"},
      // Of several ways the one with the longer part where they first differ.
      {"start: r rest\nr[capture]: /[a-z]+/\nrest: /[a-z]*/", "abc",
       "r=abc@0..3"},
      {"start: r rest\nr[capture, lazy]: /[a-z]+/\nrest[capture]: /[a-z]*/",
       "abc", "r=a@0..1 rest=bc@1..3"},
      {"start: r s\nr[capture]: /a*/\ns[capture]: /a*b?/", "aaab",
       "r=aaa@0..3 s=b@3..4"},
      {"start: x y | y x\nx[capture]: /a/ | /ab/\ny[capture]: /bc/ | /c/",
       "abc", "x=ab@0..2 y=c@2..3"},
      {"start: r+\nr[capture]: /a/ | /aa/", "aaa", "r=aa@0..2 r=a@2..3"},
      {"start: (r | s)*\nr[capture]: /[a-z]+/\ns[capture]: /[a-z]/", "abc",
       "r=abc@0..3"},
      {"start: e\ne[capture]: e \"+\" e | /[0-9]/", "1+2+3",
       "e=1@0..1 e=2@2..3 e=1+2@0..3 e=3@4..5 e=1+2+3@0..5"},
      // A beginning: what has ended, as far as it may go on.
      {"start: \"a\" v \"b\"\nv[capture]: /[0-9]+/", "", ""},
      {"start: \"a\" v \"b\"\nv[capture]: /[0-9]+/", "a", ""},
      {"start: \"a\" v \"b\"\nv[capture]: /[0-9]+/", "a12", "v=12@1..3"},
      {"start: x y\nx[capture]: \"1\" z\nz[capture]: \"2\"\ny: \"3\"", "12",
       "z=2@1..2 x=12@0..2"},
      // A branch that came to nothing captures nothing.
      {"start: a | c\na[capture]: b \"q\"\nb[capture]: \"x\"\n"
       "c[capture]: \"xy\"",
       "xy", "c=xy@0..2"},
      {"start[capture=\"all\"]: r \"z\"\nr[capture, stop=\"!\"]: /[a-y]*/",
       "xy!z", "r=xy@0..2 all=xyz@0..4"},
      {"start[capture=\"all\"]: r \"z\"\n"
       "r[capture, suffix=/!+/, stop_capture=\"mark\"]: /[a-y]*/",
       "x!z", "mark=!@1..2 r=x@0..1 all=x!z@0..3"},
      {"start: (j \";\")+\nj[capture]: %json {\"type\": \"integer\"}", "12;3;",
       "j=12@0..2 j=3@3..4"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.grammar);
    EXPECT_EQ(shown(captures(lark(row.grammar), row.text)), row.found);
  }
}

TEST(Captures, OfTokens) {
  const Result<Grammar> grammar = Grammar::from_ebnf(
      "root ::= call\n"
      "call[capture=\"call\"] ::= Token(7) name Token(8)\n"
      "name[max_tokens=2, capture=\"name\"] ::= [a-z]+\n");
  ASSERT_TRUE(grammar);
  const std::vector<CapturedToken> tokens = {
      {7, "<call>", true}, {1, "ab"}, {2, "c"}, {8, "</call>", true}};
  EXPECT_EQ(shown(captures(*grammar, tokens)),
            "name=abc@6..9 call=<call>abc</call>@0..16");
  EXPECT_EQ(shown(captures(*grammar, std::span(tokens).first(3))),
            "name=abc@6..9");
  // The same characters are not the token.
  EXPECT_EQ(captures(*grammar, "<call>").error().span, (Span{0, 1}));
  const std::vector<CapturedToken> plain = {{7, "<call>", true},
                                            {8, "<", true}};
  EXPECT_EQ(shown(captures(*grammar, plain)),
            "invalid_content (bytes 6..7): The text does not fit the grammar "
            "from here on.");
}

TEST(Captures, CanBeCancelled) {
  const Grammar grammar = lark("start: x*\nx[capture]: /[a-z]/");
  const std::string text(10000, 'a');
  int left = 3;
  const Interrupt interrupt = {
      [](void* asked) { return --*static_cast<int*>(asked) == 0; }, &left};
  const auto found = captures(grammar, text, kMaxCaptureItems, interrupt);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(found.error().message, "The reading was cancelled.");
  EXPECT_EQ(left, 0);
}

TEST(Captures, Limits) {
  const Grammar grammar = lark("start: x*\nx[capture]: /[a-z]/");
  const std::string text(1000, 'a');
  const auto found = captures(grammar, text);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 1000u);
  EXPECT_EQ(captures(grammar, text, 500).error().code, ErrorCode::kTooLarge);
  const Result<Grammar> schema = Grammar::from_json_schema("true");
  EXPECT_EQ(shown(captures(*schema, "1")), "");
}

}  // namespace
}  // namespace parlance
