// Reading by a structural tag: trees, events and messages of texts, one fact
// each.  Laws over many texts are in laws/tag_parser_law_test.cc.

#include "parlance/tag_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/json.h"
#include "support/byte_vocabulary.h"
#include "support/tag_record.h"

namespace parlance::tag_parser_test {
namespace {

using testing::brief;
using testing::record_tag_parse;
using testing::TagRecord;

CompiledTag program_of(std::string_view format,
                       const CompiledTagOptions& options = {}) {
  const Result<StructuralTag> tag =
      StructuralTag::from_json(R"({"format": )" + std::string(format) + "}");
  EXPECT_TRUE(tag) << tag.error().to_string();
  const Result<CompiledTag> program = CompiledTag::compile(*tag, options);
  EXPECT_TRUE(program) << program.error().to_string();
  return *program;
}

std::string read(std::string_view format, std::string_view text) {
  const json::Value tree = parse_by_tag(program_of(format), text);
  std::string out = brief(*tree.find("format"));
  const std::string_view rest = tree.find("rest")->as_string();
  if (!rest.empty()) out += " rest " + json::dump(json::Value(rest));
  EXPECT_EQ(tree.find("complete")->as_bool(),
            tree.find("diagnostics")->size() == 0);
  return out;
}

constexpr std::string_view kNumber =
    R"({"type": "json_schema", "json_schema": {"type": "integer"}})";

TEST(TagParser, Formats) {
  struct Row {
    std::string_view format;
    std::string_view text;
    std::string_view tree;
  };
  const Row rows[] = {
      {R"({"value": "ab"})", "ab", R"("ab")"},
      {R"({"value": "ab"})", "a", R"("a"...)"},
      {R"({"value": "ab"})", "ac", R"("a"... rest "c")"},
      {R"({"value": "ab"})", "abc", R"("ab" rest "c")"},
      {R"({"type": "any_text"})", "a b", R"("a b")"},
      {R"({"type": "any_text", "max_chars": 2})", "äöü",
       R"("\u00e4\u00f6" rest "\u00fc")"},
      {R"({"type": "regex", "pattern": "a+"})", "aab", R"("aa" rest "b")"},
      {R"({"type": "grammar", "grammar": "root ::= \"a\" root | \"b\""})",
       "aab", R"("aab")"},
      {R"({"json_schema": {"type": "object"}})", R"({"a": [1, 2]})",
       R"({"a": [1, 2]})"},
      {R"({"elements": [{"type": "any_text"}, {"value": "|"},
           {"type": "any_text"}]})",
       "a|b|c", R"(["a" "|" "b|c"])"},
      {R"({"type": "or", "elements": [{"value": "ab"}, {"value": "a"}]})", "a",
       R"(1:or("a"))"},
      {R"({"type": "or", "elements": [{"type": "regex", "pattern": "a*"},
           {"value": "a"}]})",
       "a", R"(0:or("a"))"},
      {R"({"type": "optional", "content": {"value": "a"}})", "", "optional(-)"},
      {R"({"type": "optional", "content": {"value": "a"}})", "a",
       R"(optional("a"))"},
      {R"({"type": "star", "content": {"type": "optional",
           "content": {"value": "a"}}})",
       "aa", R"([optional("a") optional("a")])"},
      {R"({"type": "plus", "content": {"type": "optional",
           "content": {"value": "a"}}})",
       "", "[]"},
      {R"({"type": "repeat", "min": 2, "max": 3, "content": {"value": "a"}})",
       "aaaa", R"(["a" "a" "a"] rest "a")"},
      {R"({"type": "repeat", "min": 2, "max": 3, "content": {"value": "a"}})",
       "a", R"(["a" ""...]...)"},
      {R"({"begin": "<t>", "content": {"type": "any_text"}, "end": "</t>"})",
       "<t>x</t>", R"(tag("<t>" "x" "</t>"))"},
      {R"({"begin": "<t>", "content": {"type": "any_text"}, "end": "</t>"})",
       "<t>x</", R"(tag("<t>" "x</" null)...)"},
      {R"({"begin": "<t>", "content": {"type": "any_text"}, "end": "</t>"})",
       "<t", R"(tag("<t" - null)...)"},
      {R"({"begin": "<t>", "content": {"type": "any_text"},
           "end": ["</t>", "</u>"]})",
       "<t>x</u>", R"(tag("<t>" "x" "</u>"))"},
      {R"({"type": "tags_with_separator", "separator": ",", "tags": [
           {"begin": "a", "content": {"value": ""}, "end": ""},
           {"begin": "b", "content": {"value": ""}, "end": ""}]})",
       "a,b,a", R"([0:tag("a" "" "") 1:tag("b" "" "") 0:tag("a" "" "")])"},
      {R"({"type": "dispatch", "rules": [["<a", {"value": "1"}],
           ["<ab", {"value": "2"}]]})",
       "x<a1y<ab2", R"(["x" 0:"<a""1" "y" 1:"<ab""2"])"},
      {R"({"type": "dispatch", "rules": [["ab", {"value": "1"}],
           ["b", {"value": "1"}]]})",
       "xab1", R"(["x" 0:"ab""1"])"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.format);
    EXPECT_EQ(read(row.format, row.text), row.tree) << row.text;
  }
}

constexpr std::string_view kCalls = R"({
  "type": "sequence", "elements": [
    {"begin": "<think>", "content": {"type": "any_text"}, "end": "</think>",
     "type": "tag", "field": "reasoning"},
    {"type": "triggered_tags", "triggers": ["<call"], "field": "content",
     "tags": [
       {"begin": "<call:get>", "end": "</call>", "tool": "get",
        "content": {"type": "json_schema", "json_schema": {"type": "object"}}},
       {"begin": "<call:set>", "end": "</call>", "tool": "set",
        "content": {"type": "json_schema", "json_schema": {"type": "object"}}}
     ]}]})";

TEST(TagParser, Message) {
  const CompiledTag program = program_of(kCalls);
  const TagRecord record = record_tag_parse(
      program, R"(<think>hm</think>Hi <call:set>{"a": 1}</call> you)");
  EXPECT_TRUE(record.complete);
  EXPECT_EQ(json::dump(record.fields),
            R"({"role": "assistant", "reasoning": "hm", "content": "Hi  you", )"
            R"("tool_calls": [{"type": "function", "function": )"
            R"({"name": "set", "arguments": {"a": 1}}}]})");
  EXPECT_EQ(
      record.events,
      (std::vector<std::string>{
          "region_open reasoning 0..7", R"(text "hm" 7..9)",
          R"(region_close reasoning 9..17 "hm")", "region_open content 17..17",
          R"(text "Hi " 17..20)", R"(region_close content 20..20 "Hi ")",
          "region_open tool_calls 20..30 name=set",
          R"(text "{\"a\": 1}" 30..38)",
          R"(region_close tool_calls 38..45 {"type": "function", )"
          R"("function": {"name": "set", "arguments": {"a": 1}}})",
          "region_open content 45..45", R"(text " you" 45..49)",
          R"(region_close content 49..49 " you")"}));
}

TEST(TagParser, MessageOfABrokenCall) {
  const CompiledTag program = program_of(kCalls);
  const TagRecord cut =
      record_tag_parse(program, R"(<think></think><call:get>{"a": )");
  EXPECT_FALSE(cut.complete);
  EXPECT_EQ(json::dump(cut.fields), R"({"role": "assistant"})");
  ASSERT_EQ(cut.events.size(), 5u);
  EXPECT_TRUE(cut.events[4].starts_with(
      "region_malformed tool_calls 31..31 cut the response ends too early; "
      "expected "))
      << cut.events[4];
  const TagRecord broken =
      record_tag_parse(program, R"(<think></think><call:get>{"a" 1}</call>x)");
  EXPECT_EQ(json::dump(broken.fields),
            R"({"role": "assistant", )"
            R"("content": "x", "rest": "1}</call>"})");
  const TagRecord strict =
      record_tag_parse(program, R"(<think></think><call:get>{"a" 1}</call>x)",
                       {}, {.recover = Recover::kNo});
  EXPECT_EQ(json::dump(strict.fields), R"({"role": "assistant", )"
                                       R"("rest": "1}</call>x"})");
}

// Calls of tools that are not listed, and calls that break off, beside others.
TEST(TagParser, GoesOnBehindWhatDoesNotFit) {
  const CompiledTag program = program_of(kCalls);
  const std::string get = R"(<call:get>{"a": 1}</call>)";
  const std::string call =
      R"({"type": "function", "function": {"name": "get", "arguments": {"a": 1}}})";
  const auto calls = [&](int count) {
    std::string out = R"("tool_calls": [)";
    for (int i = 0; i < count; ++i) out += (i > 0 ? ", " : "") + call;
    return out + "]";
  };
  const auto read = [&](const std::string& text) {
    const TagRecord whole = record_tag_parse(program, "<think></think>" + text);
    const TagRecord cut =
        record_tag_parse(program, "<think></think>" + text,
                         testing::all_cuts("<think></think>" + text));
    EXPECT_EQ(whole.events, cut.events);
    EXPECT_EQ(json::dump(whole.tree), json::dump(cut.tree));
    EXPECT_FALSE(whole.complete);
    return json::dump(whole.fields);
  };
  const std::string head = R"({"role": "assistant", )";
  EXPECT_EQ(read(get + "<call:other>{\"b\": 2}</call>" + get),
            head + calls(2) + R"(, "rest": "other>{\"b\": 2}</call>"})");
  // Without its end, the next begin ends it; without one, the text.
  EXPECT_EQ(read("<call:other>{" + get),
            head + calls(1) + R"(, "rest": "other>{"})");
  EXPECT_EQ(read(get + "<call:other>{"),
            head + calls(1) + R"(, "rest": "other>{"})");
  // Two of them, with text between and after them.
  EXPECT_EQ(read("a<call:x></call>b<call:y></call>c"),
            head + R"("content": "abc", "rest": "x></call>y></call>"})");
  // Broken arguments.
  EXPECT_EQ(read("<call:get>{\"a\": nil}</call>" + get),
            head + calls(1) + R"(, "rest": "il}</call>"})");
  // An end inside a string counts as one: what follows is text.
  EXPECT_EQ(read("<call:other>{\"b\": \"</call>\"}</call>" + get),
            head + R"("content": "\"}</call>", )" + calls(1) +
                R"(, "rest": "other>{\"b\": \"</call>"})");
}

// The calls of the text, and the rest; the same at every cut.
std::string names_and_rest(std::string_view format, const std::string& text) {
  const CompiledTag program = program_of(format);
  const TagRecord whole = record_tag_parse(program, text);
  const TagRecord cut =
      record_tag_parse(program, text, testing::all_cuts(text));
  EXPECT_EQ(whole.events, cut.events);
  EXPECT_EQ(json::dump(whole.tree), json::dump(cut.tree));
  EXPECT_FALSE(whole.complete);
  std::string out;
  const json::Value* calls = whole.fields.find("tool_calls");
  if (calls != nullptr) {
    for (const json::Value& call : calls->items()) {
      out += call.find("function")->find("name")->as_string();
      out += ' ';
    }
  }
  const json::Value* rest = whole.fields.find("rest");
  if (rest != nullptr) out += rest->as_string();
  return out;
}

std::string call_tag(std::string_view name) {
  return R"({"type": "tag", "begin": "<c:)" + std::string(name) +
         R"(>", "content": {"type": "json_schema", )"
         R"("json_schema": {"type": "object"}}, "end": "}</c>", "tool": ")" +
         std::string(name) + R"("})";
}

TEST(TagParser, GoesOnBehindATagOfAListThatDoesNotFit) {
  const std::string list =
      R"({"type": "tags_with_separator", "separator": ";", "tags": [)" +
      call_tag("f") + ", " + call_tag("g") + "]}";
  const std::string f = "<c:f>{}}</c>";
  const std::string g = "<c:g>{}}</c>";
  EXPECT_EQ(names_and_rest(list, "<c:x>{}}</c>;" + f), "f x>{}}</c>");
  EXPECT_EQ(names_and_rest(list, f + ";<c:x>{}}</c>;" + g), "f g x>{}}</c>");
  EXPECT_EQ(names_and_rest(list, f + ";<c:x>{}}</c>"), "f x>{}}</c>");
  EXPECT_EQ(names_and_rest(list, f + ";<c:x>"), "f x>");
  // Without its end, the next begin ends it.
  EXPECT_EQ(names_and_rest(list, "<c:x>{};" + f + ";" + g), "f g x>{};");
}

TEST(TagParser, GoesOnBehindAMessageThatDoesNotFit) {
  const std::string messages =
      R"({"type": "star", "content": {"type": "sequence", "elements": [
        {"type": "or", "elements": [)" +
      call_tag("f") + ", " + call_tag("g") +
      R"(]}, {"type": "const_string", "value": "|"}]}})";
  const std::string f = "<c:f>{}}</c>|";
  const std::string g = "<c:g>{}}</c>|";
  EXPECT_EQ(names_and_rest(messages, "<c:x>{}}</c>|" + f), "f x>{}}</c>");
  EXPECT_EQ(names_and_rest(messages, f + "<c:x>{}}</c>|" + g), "f g x>{}}</c>");
  EXPECT_EQ(names_and_rest(messages, "<c:x>{}|" + f + g), "f g x>{}|");
}

TEST(TagParser, PlainTags) {
  const std::string format =
      R"({"type": "triggered_tags", "triggers": ["<"], "tags": [
        {"begin": "<a>", "content": )" +
      std::string(kNumber) + R"(, "end": "</a>"},
        {"begin": "<b>", "content": {"type": "any_text"}, "end": "</b>"}]})";
  const TagRecord record =
      record_tag_parse(program_of(format), "x<a>12</a><b>y</b>z");
  EXPECT_EQ(json::dump(record.fields),
            R"({"role": "assistant", "content": "xz", "tags": [)"
            R"({"begin": "<a>", "content": 12, "end": "</a>"}, )"
            R"({"begin": "<b>", "content": "y", "end": "</b>"}]})");
}

TEST(TagParser, SaysWhatWasExpected) {
  const json::Value tree = parse_by_tag(program_of(kCalls), "<think>a</thing>");
  const json::Value& why = tree.find("diagnostics")->items()[0];
  EXPECT_EQ(json::dump(why),
            R"({"code": "invalid_content", "message": "the response ends too )"
            R"(early; expected \"</think>\" or text", "field": null, )"
            R"("span": [16, 16]})");
  const json::Value other = parse_by_tag(program_of(kCalls), "<thonk>");
  EXPECT_EQ(other.find("diagnostics")->items()[0].find("message")->as_string(),
            R"(the text does not fit; expected "ink>")");
}

TEST(TagParser, HoldsWhatMayBecomeATrigger) {
  TagParser parser(program_of(kCalls));
  parser.feed("<think>a</thi");
  EXPECT_EQ(parser.held(), "</thi");
  EXPECT_EQ(parser.held_bytes(), 5u);
  parser.feed("nk>b<cal");
  EXPECT_EQ(parser.held(), "<cal");
  EXPECT_TRUE(parser.complete());
  parser.feed("l:");
  EXPECT_EQ(parser.held(), "<call:");
  EXPECT_FALSE(parser.complete());
}

Vocabulary small_vocabulary() {
  std::vector<TokenEntry> entries;
  const std::vector<std::string> texts = {"a",    "b",  "<t>",
                                          "</t>", "ab", "\xC3"};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    entries.push_back(
        {static_cast<TokenId>(i), texts[i],
         texts[i][0] == '<' ? TokenKind::kControl : TokenKind::kOrdinary});
  }
  return *Vocabulary::from_table(entries);
}

TEST(TagParser, Tokens) {
  const Vocabulary vocabulary = small_vocabulary();
  CompiledTagOptions options;
  options.vocabulary = &vocabulary;
  const CompiledTag program = program_of(
      R"({"begin": {"type": "token", "token": "<t>"},
          "content": {"type": "any_tokens"},
          "end": {"type": "token", "token": "</t>"}})",
      options);
  StreamOptions reading;
  reading.vocabulary = &vocabulary;
  TagParser parser(program, reading);
  const std::vector<TokenId> ids = {2, 0, 4, 3};
  testing::EventLog log;
  log.add(parser.feed_tokens(ids));
  log.add(parser.finalize());
  EXPECT_TRUE(parser.complete());
  const json::Value tree = parser.tree();
  const json::Value& tag = *tree.find("format");
  EXPECT_EQ(brief(tag), R"(tag("<t>" "aab" "</t>"))");
  EXPECT_EQ(json::dump(*tag.find("content")->find("tokens")), "[0, 4]");
  // The same text in other tokens does not fit.
  TagParser spelled(program, reading);
  spelled.feed_tokens(std::vector<TokenId>{0});
  spelled.finalize();
  EXPECT_EQ(spelled.tree().find("rest")->as_string(), "a");
}

TEST(TagParser, HoldsWhatAnUnknownTokenReadsAs) {
  const Vocabulary vocabulary = small_vocabulary();
  StreamOptions reading;
  reading.vocabulary = &vocabulary;
  TagParser parser(program_of(R"({"type": "or", "elements": [
      {"value": "\uFFFDa"}, {"value": "\uFFFDb"}]})"),
                   reading);
  parser.feed_tokens(std::vector<TokenId>{99});
  EXPECT_EQ(parser.held(), "\uFFFD");
  parser.feed_tokens(std::vector<TokenId>{1});
  parser.finalize();
  EXPECT_EQ(parser.held(), "");
  EXPECT_TRUE(parser.complete());
}

// However it was cut, what comes before the character is not held.
TEST(TagParser, HoldsACharacterThatIsNotWhole) {
  TagParser parser(program_of(kCalls));
  parser.feed("<think>a\xC3");
  EXPECT_EQ(parser.held(), "\xC3");
  const Vocabulary vocabulary = small_vocabulary();
  CompiledTagOptions options;
  options.vocabulary = &vocabulary;
  StreamOptions reading;
  reading.vocabulary = &vocabulary;
  TagParser by_ids(program_of(R"({"type": "any_text"})", options), reading);
  by_ids.feed_tokens(std::vector<TokenId>{0, 1, 5});
  EXPECT_EQ(by_ids.held(), "\xC3");
}

TEST(TagParser, PrefixIsRead) {
  const Vocabulary vocabulary = small_vocabulary();
  CompiledTagOptions options;
  options.vocabulary = &vocabulary;
  const CompiledTag program = program_of(
      R"({"begin": {"type": "token", "token": "<t>"},
          "content": {"type": "any_text", "max_tokens": 2},
          "end": {"type": "token", "token": "</t>"}})",
      options);
  StreamOptions reading;
  reading.vocabulary = &vocabulary;
  reading.prefix = "<t>";
  TagParser parser(program, reading);
  EXPECT_EQ(parser.initial_events().size(), 1u);
  EXPECT_EQ(parser.prefix_bytes(), 3u);
  const std::vector<TokenId> ids = {0, 4, 0};
  parser.feed_tokens(ids);
  parser.finalize();
  EXPECT_EQ(brief(*parser.tree().find("format")),
            R"(tag("<t>" "aab" null)...)");
  EXPECT_EQ(parser.tree().find("rest")->as_string(), "a");
}

TEST(TagParser, LimitOfReadings) {
  const TagRecord record = record_tag_parse(
      program_of(R"({"type": "repeat", "min": 9, "max": 60, "content":
        {"type": "or", "elements": [{"value": "a"}, {"value": "aa"}]}})",
                 {.max_parses = 8}),
      std::string(40, 'a'));
  EXPECT_FALSE(record.complete);
  EXPECT_FALSE(record.tree.find("rest")->as_string().empty());
  EXPECT_EQ(
      record.tree.find("diagnostics")->items()[0].find("code")->as_string(),
      "too_large");
}

// A counter that may begin anywhere does not make a parse for every beginning,
// neither here nor in masks: whatever others may still have, the one with most
// left has as well.
TEST(TagParser, CountersDoNotMultiplyParses) {
  constexpr std::size_t kCount = 1500;
  const std::string count = std::to_string(kCount);
  const std::string text =
      R"({"type": "any_text", "max_chars": )" + count + "}";
  const std::string free = R"({"type": "any_text"})";
  const std::string pairs = R"({"type": "repeat", "min": 0, "max": )" + count +
                            R"(, "content": {"type": "any_text",
                                 "max_chars": 2}})";
  struct Row {
    std::string format;
    std::size_t longest;  // 0: any
  };
  const Row rows[] = {
      {R"({"elements": [)" + text + ", " + text + "]}", 2 * kCount},
      {R"({"elements": [)" + text + R"(, {"type": "optional", "content":
          {"value": "b"}}, )" +
           text + "]}",
       2 * kCount},
      {R"({"elements": [)" + free + ", " + text + "]}", 0},
      {R"({"elements": [)" + text + ", " + free + "]}", 0},
      {R"({"type": "star", "content": )" + text + "}", 0},
      {pairs, 2 * kCount},
      {R"({"elements": [)" + text + ", " + pairs + "]}", 3 * kCount},
  };
  const Vocabulary vocabulary =
      testing::byte_vocabulary(std::vector<std::string>());
  const Compiler compiler = *Compiler::create(vocabulary);
  GrammarLimits limits;
  limits.work = 3000;
  const CompiledTagOptions few = {.max_parses = 500};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.format);
    const StructuralTag tag =
        *StructuralTag::from_json(R"({"format": )" + row.format + "}");
    const Result<Constraint> constraint =
        compiler.compile_structural_tag(tag, limits);
    ASSERT_TRUE(constraint) << constraint.error().to_string();
    const std::size_t size = row.longest == 0 ? 3 * kCount : row.longest;
    Matcher matcher = constraint->matcher();
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_TRUE(matcher.accept_token('a')) << i;
    }
    EXPECT_TRUE(matcher.can_end());
    EXPECT_EQ(matcher.accept_token('a'), row.longest == 0);
    const CompiledTag program = program_of(row.format, few);
    EXPECT_TRUE(record_tag_parse(program, std::string(size, 'a')).complete);
    EXPECT_EQ(record_tag_parse(program, std::string(size + 1, 'a')).complete,
              row.longest == 0);
  }
}

TEST(TagParser, Errors) {
  const auto compile = [](std::string_view text) {
    return CompiledTag::compile(*StructuralTag::from_json(text));
  };
  const auto never = compile(
      R"({"format": {"json_schema": {"type": "integer", "minimum": 2,
                                     "maximum": 1}}})");
  ASSERT_FALSE(never);
  EXPECT_EQ(never.error().code, ErrorCode::kUnsatisfiable);
  const auto token =
      compile(R"({"format": {"type": "token", "token": "<t>"}})");
  ASSERT_FALSE(token);
  EXPECT_EQ(token.error().code, ErrorCode::kUsage);
  EXPECT_EQ(token.error().path, "/format/token");
}

}  // namespace
}  // namespace parlance::tag_parser_test
