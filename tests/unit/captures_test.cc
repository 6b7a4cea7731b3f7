// parlance/grammar.h: texts, prefixes of texts, tokens, and errors;
// Matcher::captures().
// Recorded sessions with captures are in grammar_traces_test.cc.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "parlance/structural_tag.h"
#include "parlance/vocabulary.h"

namespace parlance::captures_test {
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

TEST(Captures, OfTextsThatAreReadInSeveralWays) {
  const struct {
    std::string_view ebnf;
    std::string_view text;
    std::string_view found;
  } rows[] = {
      // The ways part in the middle of a run.
      {"root ::= [a]{1,2} c d\nc[capture=\"c\"] ::= [a]+\nd ::= [a]*", "aaaaa",
       "c=aaa@2..5"},
      // A run that is empty is no part.
      {"root ::= [a]{0,2} c d\nc[capture=\"c\"] ::= [a]+\nd ::= [a]*", "aaaaa",
       "c=aaaaa@0..5"},
      // After `d` comes an empty part, after `c` a longer one.
      {"root ::= (d e | c) f\nc[capture=\"c\"] ::= c1\nc1 ::= c2\nc2 ::= c3\n"
       "c3 ::= c4\nc4 ::= c5\nc5 ::= \"a\"\nd[capture=\"d\"] ::= \"a\"\n"
       "e ::= \"\"\nf ::= \"b\"",
       "ab", "c=a@0..1"},
      // `r` derives itself.
      {"root ::= r\nr[capture=\"r\"] ::= [a]{0,2} (r | \"a\") e\ne ::= \"\"",
       "aaa", "r=aaa@0..3"},
      {"root ::= r\nr[capture=\"r\"] ::= [a]{1,2} (r | \"a\") e\ne ::= \"\"",
       "aaa", "r=aaa@0..3"},
      {"root ::= r\n"
       "r[capture=\"r\"] ::= [a-z]{0,2} (r | [a-b]) (\"ab\" | e)\ne ::= \"\"",
       "aaa", "r=aaa@0..3"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.ebnf);
    const Result<Grammar> grammar = Grammar::from_ebnf(row.ebnf);
    ASSERT_TRUE(grammar);
    EXPECT_EQ(shown(captures(*grammar, row.text, 1000)), row.found);
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

// A token that is read by its id and by its bytes is read in two ways, each of
// which ends a rule for itself; by its id it has no characters.
TEST(Captures, OfTokensThatAreTextAsWell) {
  const struct {
    const char* word;
    std::vector<CapturedToken> tokens;
    const char* found;
  } rows[] = {
      {R"(word[lazy, capture="w"] ::= Token(5) | "ab" "c")",
       {{5, "ab"}, {1, "c"}, {2, "!"}},
       "w=abc@0..3"},
      {R"(word[lazy, capture="w"] ::= Token(5) | "ab" "c")",
       {{5, "ab"}, {2, "!"}},
       "w=ab@0..2"},
      {R"(word[max_chars=2, capture="w"] ::= (Token(5) | [a-z])*)",
       {{5, "ab"}, {1, "c"}, {3, "d"}, {2, "!"}},
       "w=abcd@0..4"},
      {R"(word[max_chars=2, capture="w"] ::= (Token(5) | [a-z])*)",
       {{5, "ab"}, {5, "ab"}, {5, "ab"}, {2, "!"}},
       "w=ababab@0..6"},
      {"word[max_chars=9] ::= inner+\n"
       "inner[lazy, capture=\"i\"] ::= Token(5) | \"abab\"",
       {{5, "ab"}, {5, "ab"}, {2, "!"}},
       "i=abab@0..4"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.word);
    const Result<Grammar> grammar =
        Grammar::from_ebnf(std::string("root ::= word \"!\"\n") + row.word);
    ASSERT_TRUE(grammar);
    EXPECT_EQ(shown(captures(*grammar, row.tokens)), row.found);
  }
}

// Eight times the text takes eight times as long, and not 64 times: hidden
// texts are looked for where a capture is, and the occurrences of a rule that
// are open at a byte are not all asked.
TEST(Captures, OfLongTextsAreLinear) {
  struct Case {
    std::string_view ebnf;
    std::string_view unit;
  };
  for (const Case& one : {Case{"root ::= item*\nitem[capture=\"x\"] ::= inner\n"
                               "inner[stop=\";\"] ::= [a-z]*\n",
                               "a;"},
                          Case{"root[capture=\"x\"] ::= r\n"
                               "r[max_chars=100000] ::= \"(\" r \")\" | \"\"\n",
                               "("}}) {
    const Result<Grammar> grammar = Grammar::from_ebnf(one.ebnf);
    ASSERT_TRUE(grammar);
    const auto seconds = [&](std::size_t units) {
      std::string text;
      for (std::size_t i = 0; i < units; ++i) text += one.unit;
      const std::clock_t begin = std::clock();
      EXPECT_TRUE(captures(*grammar, text));
      return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    };
    const double before = std::max(seconds(1500), 0.005);
    EXPECT_LT(seconds(12'000), 30 * before) << one.ebnf;
  }
}

// Each token that is read by its id and by its bytes copies the activations
// that are open: copies count as items do.
TEST(Captures, OfTokensInsideManyLimitedRulesAreLimited) {
  const Result<Grammar> grammar = Grammar::from_ebnf(
      "root ::= r\n"
      "r[max_tokens=100000] ::= \"(\" r \")\" | (Token(0) | \"ab\")+ \")\"\n");
  ASSERT_TRUE(grammar);
  const auto read = [&](std::size_t open, std::size_t copies) {
    std::vector<CapturedToken> tokens(open, {1, "("});
    tokens.resize(open + copies, {0, "a"});
    return captures(*grammar, tokens, 100'000);
  };
  EXPECT_TRUE(read(5000, 10));
  EXPECT_TRUE(read(10, 1000));
  EXPECT_EQ(read(5000, 100).error().code, ErrorCode::kTooLarge);
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

// --- Of a matcher ------------------------------------------------------------
// Its law is in captures_law_test.cc.

// All bytes, two added tokens, and two control tokens that end a text.
const Compiler& compiler() {
  static const Compiler made = [] {
    std::vector<TokenEntry> tokens;
    tokens.reserve(260);
    for (int byte = 0; byte < 256; ++byte) {
      tokens.push_back({static_cast<TokenId>(byte),
                        std::string(1, static_cast<char>(byte))});
    }
    tokens.push_back({256, "<call>", TokenKind::kAdded});
    tokens.push_back({257, "</call>", TokenKind::kAdded});
    tokens.push_back({258, "<end>", TokenKind::kControl});
    tokens.push_back({259, "<eom>", TokenKind::kControl});
    return *Compiler::create(
        *Vocabulary::from_table(tokens, std::vector<TokenId>{258, 259}));
  }();
  return made;
}

TEST(CapturesOfMatchers, FollowStepsRollbackAndCopy) {
  const Constraint constraint = *compiler().compile(
      lark("start: (w \",\")*\nw[capture]: /[a-z]+/ n?\nn[capture]: /[0-9]+/"));
  Matcher matcher = constraint.matcher();
  EXPECT_EQ(shown(matcher.captures()), "");
  ASSERT_TRUE(matcher.accept_bytes("ab1"));
  EXPECT_EQ(shown(matcher.captures()), "n=1@2..3 w=ab1@0..3");
  ASSERT_TRUE(matcher.accept_token('2'));
  ASSERT_TRUE(matcher.accept_bytes(",cd,"));
  Matcher copy = matcher.copy();
  EXPECT_EQ(shown(matcher.captures()), "n=12@2..4 w=ab12@0..4 w=cd@5..7");
  ASSERT_TRUE(matcher.rollback());
  ASSERT_TRUE(matcher.accept_bytes(",e,"));
  EXPECT_EQ(shown(matcher.captures()), "n=12@2..4 w=ab12@0..4 w=e@5..6");
  ASSERT_TRUE(matcher.accept_token(258));
  EXPECT_EQ(shown(matcher.captures()), "n=12@2..4 w=ab12@0..4 w=e@5..6");
  EXPECT_EQ(shown(copy.captures()), "n=12@2..4 w=ab12@0..4 w=cd@5..7");
  matcher.reset();
  EXPECT_EQ(shown(matcher.captures()), "");
}

TEST(CapturesOfMatchers, ReadMarks) {
  constexpr std::string_view kTag = R"({"format": {"type": "sequence",
    "elements": [{"type": "triggered_tags", "triggers": ["<call>"], "tags": [
      {"begin": "<call>", "end": "</call>", "content": {"type": "grammar",
       "grammar": "root ::= name\nname[capture] ::= [a-z<]+"}}],
      "excludes": ["x"]}]}})";
  for (const Markers markers :
       {Markers::kToken, Markers::kEither, Markers::kText}) {
    const Result<Constraint> constraint =
        compiler().compile_structural_tag(kTag, {}, {.markers = markers});
    ASSERT_TRUE(constraint) << constraint.error().to_string();
    Matcher bytes = constraint->matcher();
    ASSERT_TRUE(bytes.accept_bytes("hi <call>bo<b</call>!"));
    EXPECT_EQ(shown(bytes.captures()), "name=bo<b@9..13");
    if (markers == Markers::kText) continue;
    Matcher tokens = constraint->matcher();
    const std::vector<TokenId> ids = {'h', 256, 'b', '<', 257, '!'};
    ASSERT_EQ(tokens.accept_tokens(ids), ids.size());
    EXPECT_EQ(shown(tokens.captures()), "name=b<@7..9");
  }
}

TEST(CapturesOfMatchers, ContainAStopTokenThatIsPartOfTheText) {
  const Result<Constraint> constraint = compiler().compile_structural_tag(
      R"({"format": {"type": "tag", "begin": "<call>", "end": "<eom>",
          "content": {"type": "grammar",
                      "grammar": "root[capture=\"it\"] ::= [a-z]+"}}})");
  ASSERT_TRUE(constraint) << constraint.error().to_string();
  Matcher matcher = constraint->matcher();
  const std::vector<TokenId> ids = {256, 'a', 'b'};
  ASSERT_EQ(matcher.accept_tokens(ids), ids.size());
  EXPECT_EQ(shown(matcher.captures()), "it=ab@6..8");
  ASSERT_FALSE(matcher.accept_token(258));
  ASSERT_TRUE(matcher.accept_token(259));
  ASSERT_TRUE(matcher.is_terminated());
  EXPECT_EQ(shown(matcher.captures()), "it=ab@6..8");
  EXPECT_EQ(shown(matcher.captures()), "it=ab@6..8");
  ASSERT_TRUE(matcher.rollback(2));
  EXPECT_EQ(shown(matcher.captures()), "it=a@6..7");
}

TEST(CapturesOfMatchers, ReadOnlyWhatIsNew) {
  const Constraint constraint =
      *compiler().compile(lark("start: x*\nx[capture]: /[a-z]/"));
  int asked = 0;
  const Interrupt counted = {[](void* count) {
                               ++*static_cast<int*>(count);
                               return false;
                             },
                             &asked};
  Matcher matcher = constraint.matcher();
  const std::size_t size = 64 * 20;
  for (std::size_t i = 1; i <= size; ++i) {
    ASSERT_TRUE(matcher.accept_token('a'));
    if (i % 5 != 0) continue;
    // Two tokens are drafts.
    ASSERT_TRUE(matcher.accept_bytes("b"));
    ASSERT_TRUE(matcher.accept_bytes("b"));
    const auto found = matcher.captures(counted);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->size(), i + 2);
    ASSERT_TRUE(matcher.rollback(2));
  }
  // One question for 64 symbols.
  EXPECT_EQ(asked, 20 + 20 * 2 / 5);
}

TEST(CapturesOfMatchers, CanBeCancelledAndContinue) {
  const Constraint constraint =
      *compiler().compile(lark("start: x*\nx[capture]: /[a-z]/"));
  Matcher matcher = constraint.matcher();
  for (int i = 0; i < 640; ++i) ASSERT_TRUE(matcher.accept_token('a'));
  int left = 6;
  const Interrupt interrupt = {
      [](void* asked) { return --*static_cast<int*>(asked) == 0; }, &left};
  EXPECT_EQ(shown(matcher.captures(interrupt)),
            "too_large: The reading was cancelled.");
  EXPECT_EQ(matcher.captures(interrupt)->size(), 640U);
  EXPECT_EQ(left, -4);
}

// The automata that read all these objects do not fit into the limit, those of
// one object do.
TEST(CapturesOfMatchers, OfSchemasWithLittleMemory) {
  LarkGrammarOptions options;
  options.limits.bytes = 20'000;
  std::string members;
  for (int i = 0; i < 60; ++i) {
    members += (i == 0 ? "\"k" : ", \"k") + std::to_string(i) +
               R"(": {"type": "string", "maxLength": 40})";
  }
  const Result<Grammar> grammar = Grammar::from_lark(
      "start: (j \";\")+\nj[capture]: %json {\"type\": \"object\", "
      "\"properties\": {" +
          members + "}, \"additionalProperties\": false}",
      options);
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  const Constraint constraint = *compiler().compile(*grammar);
  Matcher matcher = constraint.matcher();
  for (int round = 0; round < 60; ++round) {
    std::string text = "{";
    for (int i = 0; i < 12; ++i) {
      text += (i == 0 ? "\"k" : ", \"k") +
              std::to_string((i * (round + 1) * 7 + round) % 61 % 60) +
              "\": \"" +
              std::string(static_cast<std::size_t>(i + round % 20), 'x') + '"';
    }
    text += "};";
    if (!matcher.accept_bytes(text)) continue;  // a member twice
    const auto found = matcher.captures();
    ASSERT_TRUE(found) << found.error().to_string();
    ASSERT_EQ(found->size(), 1U);
    EXPECT_EQ(found->back().text + ";", text);
    ASSERT_TRUE(matcher.rollback());
  }
}

}  // namespace
}  // namespace parlance::captures_test
