// Patterns of which free text contains no match: their automaton against the
// standard library's search, and "exclude_patterns" of structural tags and of
// EBNF's TagDispatch.  Laws over random tags are in laws/structural_tag_law,
// tag_readings_law and tag_marks_law.

#include "notation/exclude_patterns.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/tag_to_rules.h"
#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "structural_tag/structural_tag.h"

namespace parlance::exclude_patterns_test {
namespace {

using automata::PatternDfa;
using notation::read_exclude_patterns;

std::vector<std::string> all_texts(std::string_view letters,
                                   std::size_t longest) {
  std::vector<std::string> out = {""};
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i].size() == longest) break;
    for (const char letter : letters) out.push_back(out[i] + letter);
  }
  return out;
}

bool finds(const PatternDfa& dfa, std::string_view text) {
  return dfa.step(0, text) == PatternDfa::kFound;
}

// --- The automaton -----------------------------------------------------------

// A match is found in a text if and only if the standard library's search finds
// one; and once it is found, it stays found.
void expect_searches(const std::string& pattern,
                     const std::vector<std::string>& texts) {
  SCOPED_TRACE(pattern);
  const auto dfa = read_exclude_patterns({pattern});
  ASSERT_TRUE(dfa) << dfa.error().to_string();
  const std::regex oracle(pattern);
  for (const std::string& text : texts) {
    ASSERT_EQ(finds(**dfa, text), std::regex_search(text, oracle)) << text;
  }
}

TEST(PatternDfa, FindsWhatASearchFinds) {
  const std::vector<std::string> texts = all_texts("abc", 7);
  for (const char* pattern :
       {"a", "ab", "a+b", "(a|bb)c", "a{2,3}b", "a.c", "[^b]b[^c]", "^ab",
        "^a*b", "(?:^|b)a", "a(?=b)", "(?:a)?(?=b{2})", "(?=ab)a.c",
        "a(?=b)[ab]+c", "a(?!b)[abc]b", "(a(b|c)){2}", "ca*?b", "(a*b)+c",
        "(?=a)(?=.b).{3}"}) {
    expect_searches(pattern, texts);
  }
}

// Random patterns, with look-aheads.
TEST(PatternDfa, FindsWhatASearchFindsAtRandom) {
  std::mt19937 random(7);
  const auto pick = [&](std::size_t n) { return random() % n; };
  const auto make = [&](const auto& self, std::size_t depth) -> std::string {
    switch (pick(depth == 0 ? 3 : 8)) {
      case 0:
      case 1:
        return std::string(1, "ab"[pick(2)]);
      case 2:
        return pick(2) == 0 ? "." : "[^a]";
      case 3:
      case 4:
        return self(self, depth - 1) + self(self, depth - 1);
      case 5:
        return "(?:" + self(self, depth - 1) + "|" + self(self, depth - 1) +
               ")";
      case 6: {
        static const char* const counts[] = {"*", "+", "?", "{2}", "{1,2}"};
        return "(?:" + self(self, depth - 1) + ")" + counts[pick(5)];
      }
      default:
        return "(?=" + self(self, depth - 1) + ")";
    }
  };
  const std::vector<std::string> texts = all_texts("ab", 8);
  std::size_t compared = 0;
  for (int i = 0; i < 400; ++i) {
    const std::string pattern = make(make, 3);
    const auto dfa = read_exclude_patterns({pattern});
    if (!dfa) {
      // Look-ahead alone may match the empty text before what it requires.
      EXPECT_EQ(dfa.error().code, ErrorCode::kConflict) << pattern;
      EXPECT_TRUE(std::regex_search("", std::regex(pattern))) << pattern;
      continue;
    }
    ++compared;
    expect_searches(pattern, texts);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(compared, 250u);
}

TEST(PatternDfa, SeveralPatterns) {
  const auto dfa = read_exclude_patterns({"a+b", "^c", "é."});
  ASSERT_TRUE(dfa);
  EXPECT_TRUE(finds(**dfa, "xaab"));
  EXPECT_TRUE(finds(**dfa, "c"));
  EXPECT_FALSE(finds(**dfa, "xc"));
  EXPECT_FALSE(finds(**dfa, "xé"));
  EXPECT_TRUE(finds(**dfa, "xéé"));
  EXPECT_TRUE((*dfa)->always_finds("ab"));
  EXPECT_FALSE((*dfa)->always_finds("c"));
}

// Characters of several bytes lead back to the first state, so that readers can
// skip them, and characters of the pattern are found among them.
TEST(PatternDfa, Characters) {
  const auto dfa = read_exclude_patterns({"\\{\\s*\"name\"", "[à-ü]!"});
  ASSERT_TRUE(dfa);
  for (const char* text : {"€", "日本", "😀", "x"}) {
    EXPECT_EQ((*dfa)->step(0, std::string_view(text)), 0u) << text;
  }
  EXPECT_NE((*dfa)->step(0, std::string_view("é")), 0u);
  EXPECT_FALSE(finds(**dfa, "é?{ \"nam"));
  EXPECT_TRUE(finds(**dfa, "日é!"));
  EXPECT_TRUE(finds(**dfa, "😀{\n\t \"name\""));
  EXPECT_LT((*dfa)->size(), 16u);
}

// The opener of a family whose calls are bare JSON.
TEST(PatternDfa, LookAheadIsPartOfTheMatch) {
  const auto dfa = read_exclude_patterns(
      {R"x((?:<\|python_tag\|>)?(?=\{\s*"(?:name|type|function)"\s*:))x"});
  ASSERT_TRUE(dfa);
  EXPECT_FALSE(finds(**dfa, "<|python_tag|> {\"name\""));
  EXPECT_FALSE(finds(**dfa, "{\"names\": 1}"));
  EXPECT_TRUE(finds(**dfa, "so: {\"name\" :"));
  EXPECT_TRUE(finds(**dfa, "<|python_tag|>{  \"type\":"));
  EXPECT_LT((*dfa)->size(), 64u);
}

TEST(PatternDfa, Errors) {
  struct Row {
    const char* pattern;
    ErrorCode code;
    const char* message;
    Span span;
  };
  const Row rows[] = {
      {"a*", ErrorCode::kConflict, "matches the empty text", {0, 2}},
      {"(?=)", ErrorCode::kConflict, "matches the empty text", {0, 4}},
      {"ab$", ErrorCode::kUnsupportedPattern, "\"$\" is not supported", {2, 3}},
      {"a\\Z", ErrorCode::kUnsupportedPattern, "\"\\Z\" is not", {1, 3}},
      {"\\Aa",
       ErrorCode::kUnsupportedPattern,
       "\"^\" is the beginning",
       {0, 2}},
      {"a(?!b)", ErrorCode::kUnsupportedPattern, "can undo the match", {0, 6}},
      {"a(?<=a)", ErrorCode::kUnsupportedPattern, "Look-behind", {1, 5}},
      {"(a)\\1", ErrorCode::kUnsupportedPattern, "Back-references", {3, 5}},
      {"\\bword", ErrorCode::kUnsupportedPattern, "Word boundaries", {0, 2}},
      {"(?>a)b", ErrorCode::kUnsupportedPattern, "Atomic groups", {0, 3}},
      {"a(b", ErrorCode::kBadPattern, "", {1, 2}},
      {"a.{60}b", ErrorCode::kTooLarge, "Limits::pattern_states", {0, 7}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.pattern);
    const auto dfa = read_exclude_patterns({"x", row.pattern});
    ASSERT_FALSE(dfa);
    EXPECT_EQ(dfa.error().code, row.code);
    EXPECT_NE(dfa.error().message.find(row.message), std::string::npos)
        << dfa.error().message;
    EXPECT_EQ(dfa.error().path, "/1");
    ASSERT_TRUE(dfa.error().span);
    EXPECT_EQ(*dfa.error().span, row.span)
        << dfa.error().span->begin << " " << dfa.error().span->end;
  }
}

TEST(PatternDfa, Limits) {
  const std::vector<std::string> patterns = {"abcdefgh", "x{9}y"};
  Limits limits;
  limits.pattern_states = 1;
  while (!read_exclude_patterns(patterns, limits)) {
    const auto made = read_exclude_patterns(patterns, limits);
    ASSERT_EQ(made.error().code, ErrorCode::kTooLarge);
    ASSERT_LT(++limits.pattern_states, 1000u);
  }
  EXPECT_GT(limits.pattern_states, 15u);
  // Each pattern is within the limit, and both together are not.
  --limits.pattern_states;
  EXPECT_EQ(read_exclude_patterns(patterns, limits).error().path, "");
}

// --- Structural tags ---------------------------------------------------------

constexpr std::string_view kOpener = R"x(\\{\\s*\"name\")x";

std::string any_text(std::string_view pattern) {
  return R"({"format": {"type": "any_text", "exclude_patterns": [")" +
         std::string(pattern) + "\"]}}";
}

TEST(ExcludePatterns, AnyText) {
  const auto grammar = Grammar::from_structural_tag(any_text(kOpener));
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  EXPECT_TRUE(grammar->accepts(""));
  EXPECT_TRUE(grammar->accepts("{\"names\": 1} { \"nam"));
  EXPECT_TRUE(grammar->accepts("日本 {"));
  EXPECT_FALSE(grammar->accepts("so {\n  \"name\": 1}"));
  // The byte that completes the match is refused.
  const auto why = grammar->explain("a{\"name\"b");
  ASSERT_TRUE(why);
  EXPECT_EQ(why->offset, 7u);
}

TEST(ExcludePatterns, CanonicalForm) {
  const auto tag = StructuralTag::from_json(any_text("a+b"));
  ASSERT_TRUE(tag);
  EXPECT_EQ(json::dump(tag->to_json()),
            R"({"type": "structural_tag", "format": {"type": "any_text", )"
            R"("excludes": [], "exclude_patterns": ["a+b"], )"
            R"("max_tokens": null, "max_chars": null}})");
  const auto again = StructuralTag::from_value(tag->to_json());
  ASSERT_TRUE(again);
  EXPECT_EQ(json::dump(again->to_json()), json::dump(tag->to_json()));
  // Without a type, an object with patterns is free text.
  const auto untyped =
      StructuralTag::from_json(R"({"format": {"exclude_patterns": ["a+b"]}})");
  ASSERT_TRUE(untyped);
  EXPECT_EQ(json::dump(untyped->to_json()), json::dump(tag->to_json()));
  const auto none = StructuralTag::from_json(
      R"({"format": {"type": "any_text", "exclude_patterns": []}})");
  ASSERT_TRUE(none);
  EXPECT_EQ(json::dump(none->to_json()).find("exclude_patterns"),
            std::string::npos);
}

TEST(ExcludePatterns, Errors) {
  struct Row {
    const char* tag;
    ErrorCode code;
    const char* path;
    const char* message;
  };
  const Row rows[] = {
      {R"x({"format": {"type": "any_text", "exclude_patterns": "a"}})x",
       ErrorCode::kWrongType, "/format/exclude_patterns", "must be a list"},
      {R"x({"format": {"type": "any_text", "exclude_patterns": [""]}})x",
       ErrorCode::kEmptyValue, "/format/exclude_patterns", "empty"},
      {R"x({"format": {"type": "any_text", "exclude_patterns": ["a", "b(?!c)"]}})x",
       ErrorCode::kUnsupportedPattern, "/format/exclude_patterns/1",
       "any_text: What follows"},
      {R"x({"format": {"type": "any_text", "exclude_patterns": ["(a"]}})x",
       ErrorCode::kBadPattern, "/format/exclude_patterns/0", "any_text: "},
      {R"x({"format": {"type": "any_text", "exclude_patterns": ["a.{60}b"]}})x",
       ErrorCode::kTooLarge, "/format/exclude_patterns/0", "states"},
      {R"x({"format": {"type": "triggered_tags", "triggers": ["<a", "<b"],
           "tags": [{"begin": "<a>", "content": {"value": "x"}, "end": ""},
                    {"begin": "<b>", "content": {"value": "x"}, "end": ""}],
           "exclude_patterns": ["z", "<\\s*b"]}})x",
       ErrorCode::kConflict, "/format/triggers/1",
       "the trigger '<b' contains a match of the pattern '<\\s*b' "},
      {R"x({"format": {"type": "dispatch", "rules": [["xab", {"value": "y"}]],
           "exclude_patterns": ["a(?=b)"]}})x",
       ErrorCode::kConflict, "/format/rules/0/0", "dispatch: the trigger"},
      {R"x({"format": {"exclude_patterns": ["a"], "triggers": ["b"]}})x",
       ErrorCode::kConflict, "/format", "'exclude_patterns' is free text"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.tag);
    const auto grammar =
        Grammar::from_structural_tag(std::string_view(row.tag));
    ASSERT_FALSE(grammar);
    EXPECT_EQ(grammar.error().code, row.code);
    EXPECT_EQ(grammar.error().path.substr(0, std::string(row.path).size()),
              row.path);
    EXPECT_NE(grammar.error().message.find(row.message), std::string::npos)
        << grammar.error().message;
    const auto tag = StructuralTag::from_json(row.tag);
    if (!tag) continue;
    const auto compiled = CompiledTag::compile(*tag);
    ASSERT_FALSE(compiled);
    EXPECT_EQ(compiled.error().message, grammar.error().message);
    EXPECT_EQ(compiled.error().path, grammar.error().path);
  }
}

// The limits are those of a whole tag; equal lists share an automaton.
TEST(ExcludePatterns, Limits) {
  const auto compile = [](const std::string& first, std::size_t states) {
    const auto tag = structural_tag::load_structural_tag(
        *json::parse(R"({"format": {"elements": [
            {"type": "any_text", "exclude_patterns": [")" +
                     first + R"("]},
            {"type": "any_text", "exclude_patterns": ["a{9}b"]}]}})"));
    EXPECT_TRUE(tag);
    grammar::LowerOptions options;
    options.limits.pattern_states = states;
    const auto lowered = grammar::lower_tag(*tag, options);
    return lowered ? "" : lowered.error().path;
  };
  std::size_t states = 1;
  while (!compile("a{9}b", states).empty()) ASSERT_LT(++states, 200u);
  EXPECT_GT(states, 10u);
  EXPECT_EQ(compile("a{9}c", 2 * states), "");
  EXPECT_EQ(compile("a{9}c", 2 * states - 1),
            "/format/elements/0/exclude_patterns/0");
}

// A trigger that is found ends the free text, and after a tag the text is
// checked afresh.
TEST(ExcludePatterns, Triggers) {
  const auto tag = StructuralTag::from_json(R"x({"format": {
      "type": "triggered_tags", "triggers": ["{\"name\""],
      "tags": [{"begin": "{\"name\": \"f\"", "content": {"value": ","},
                "end": "}"}],
      "exclude_patterns": ["\\{\\s*\"name\"\\s*:", "^x"]}})x");
  ASSERT_TRUE(tag);
  const auto grammar = Grammar::from_structural_tag(*tag);
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  const auto compiled = CompiledTag::compile(*tag);
  ASSERT_TRUE(compiled);
  const std::pair<const char*, bool> rows[] = {
      {"hi {\"name\": \"f\",} ho", true},
      {"hi {\"name\": \"g\",} ho", false},
      {"hi {\"name\" : \"f\",} ho", false},
      {"hi { \"name\"", true},
      {"hi { \"name\" :", false},
      {"x", false},
      {"y x", true},
      {"{\"name\": \"f\",}x", false},
      {"{\"name\": \"f\",} x{\"name\": \"f\",}", true},
  };
  for (const auto& [text, fits] : rows) {
    EXPECT_EQ(grammar->accepts(text), fits) << text;
    const json::Value tree =
        parse_by_tag(*compiled, text, {.recover = Recover::kNo});
    EXPECT_EQ(tree.find("complete")->as_bool(), fits) << text;
  }
}

// A long text in which nothing matches is read completely.
TEST(ExcludePatterns, EndOfATag) {
  const auto tag = StructuralTag::from_json(
      R"({"format": {"type": "tag", "begin": "<", "end": ">", "content":
          {"type": "any_text", "exclude_patterns": ["a.b"]}}})");
  ASSERT_TRUE(tag);
  const auto compiled = CompiledTag::compile(*tag);
  ASSERT_TRUE(compiled);
  const auto complete = [&](const std::string& text) {
    return parse_by_tag(*compiled, text).find("complete")->as_bool();
  };
  EXPECT_TRUE(complete("<a>"));
  EXPECT_TRUE(complete("<ab>"));
  EXPECT_FALSE(complete("<axb>"));
  std::string text;
  while (text.size() < 100000) text += "ab é日 😀 a ";
  EXPECT_TRUE(complete("<" + text + ">"));
  EXPECT_FALSE(complete("<" + text + "a😀b>"));
}

TEST(ExcludePatterns, Ebnf) {
  const auto grammar = Grammar::from_ebnf(
      R"(root ::= TagDispatch(("<a>", one), exclude_patterns=("x+y", "<\\s")))"
      "\n"
      R"(one ::= "1")");
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  EXPECT_TRUE(grammar->accepts("x<a>1xx"));
  EXPECT_FALSE(grammar->accepts("x<a>1xxy"));
  EXPECT_FALSE(grammar->accepts("< a"));
  // It is printed, and reads back to the same.
  const std::string printed = grammar->to_ebnf();
  EXPECT_NE(printed.find("exclude_patterns=("), std::string::npos) << printed;
  const auto again = Grammar::from_ebnf(printed);
  ASSERT_TRUE(again) << again.error().to_string() << printed;
  EXPECT_EQ(again->to_ebnf(), printed);
  for (const std::string& text : all_texts("x<y a", 4)) {
    EXPECT_EQ(again->accepts(text), grammar->accepts(text)) << text;
  }
  const auto bad = Grammar::from_ebnf(
      R"(root ::= TagDispatch(exclude_patterns=("x", "y$")))");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::kUnsupportedPattern);
  ASSERT_TRUE(bad.error().span);
  EXPECT_EQ(*bad.error().span, (Span{44, 48}))
      << bad.error().span->begin << " " << bad.error().span->end;
  // A trigger that contains a match can never be read: a note.
  const auto unread = Grammar::from_ebnf(
      R"(root ::= TagDispatch(("<xy", one), exclude_patterns=("x+y",)))"
      "\n"
      R"(one ::= "1")");
  ASSERT_TRUE(unread);
  ASSERT_EQ(unread->report().size(), 1u);
  EXPECT_NE(unread->report()[0].message.find("match of a pattern"),
            std::string::npos);
}

// --- Tokens ------------------------------------------------------------------

Vocabulary vocabulary() {
  std::vector<TokenEntry> entries;
  for (int byte = 0; byte < 256; ++byte) {
    entries.push_back(
        {static_cast<TokenId>(byte), std::string(1, static_cast<char>(byte))});
  }
  entries.push_back({256, "<|tag|>", TokenKind::kControl});
  entries.push_back({257, "<call>", TokenKind::kAdded});
  entries.push_back({258, "{\"na"});
  entries.push_back({259, "me\""});
  entries.push_back({260, "<eos>", TokenKind::kControl});
  return *Vocabulary::from_table(entries, std::vector<TokenId>{260});
}

bool allows(const Matcher& matcher, std::string_view text, TokenId token) {
  Matcher copy = matcher.copy();
  EXPECT_TRUE(copy.accept_bytes(text)) << text;
  return copy.accept_token(token);
}

TEST(ExcludePatterns, Marks) {
  const Vocabulary words = vocabulary();
  const auto compiler = Compiler::create(words);
  ASSERT_TRUE(compiler);
  const auto tag = StructuralTag::from_json(R"x({"format": {
      "type": "triggered_tags", "triggers": ["<call>f"],
      "tags": [{"begin": "<call>f(", "content": {"value": "x"}, "end": ")"}],
      "exclude_patterns": ["(?:<\\|tag\\|>)?\\{\\s*\"name\"", "!<call>"]}})x");
  ASSERT_TRUE(tag);
  const auto constraint = compiler->compile_structural_tag(*tag, {}, {});
  ASSERT_TRUE(constraint) << constraint.error().to_string();
  const Matcher matcher = constraint->matcher();
  // A literal of a pattern is the token, which free text never contains.
  EXPECT_FALSE(allows(matcher, "", 256));
  // The match is refused, whatever tokens complete it, in any spelling.
  EXPECT_TRUE(allows(matcher, "", 258));
  EXPECT_FALSE(allows(matcher, "{\"na", 259));
  EXPECT_FALSE(allows(matcher, "{ \n\"na", 259));
  EXPECT_TRUE(allows(matcher, "\"na", 259));
  // The mark of the trigger counts as its spelling.
  EXPECT_TRUE(allows(matcher, "a", 257));
  EXPECT_FALSE(allows(matcher, "!", 257));
  EXPECT_FALSE(allows(matcher, "<|tag|>{\"name", '"'));
}

// After a mark the text must complete a trigger.  Where each way there would
// complete a match, the mark itself is refused.
TEST(ExcludePatterns, NoDeadEndAfterAMark) {
  const Vocabulary words = vocabulary();
  const auto compiler = Compiler::create(words);
  ASSERT_TRUE(compiler);
  const auto tag = StructuralTag::from_json(R"x({"format": {
      "type": "triggered_tags", "triggers": ["<call>f"],
      "tags": [{"begin": "<call>f(", "content": {"value": "x"}, "end": ")"}],
      "exclude_patterns": ["!.*f"]}})x");
  ASSERT_TRUE(tag);
  const auto constraint = compiler->compile_structural_tag(*tag, {}, {});
  ASSERT_TRUE(constraint);
  const Matcher matcher = constraint->matcher();
  EXPECT_TRUE(allows(matcher, "a", 257));
  EXPECT_FALSE(allows(matcher, "a!b", 257));
}

}  // namespace
}  // namespace parlance::exclude_patterns_test
