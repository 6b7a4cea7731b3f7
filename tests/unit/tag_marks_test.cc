// Markers that are tokens: what a TagParser reads of token ids, one fact each.
// Laws over many responses are in laws/tag_marks_law_test.cc.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/json.h"
#include "parlance/tag_parser.h"
#include "support/tag_record.h"

namespace parlance::tag_marks_test {
namespace {

using testing::brief;

// Every byte, some words, and:
constexpr std::pair<std::string_view, TokenKind> kSpecial[] = {
    {"<tool_call>", TokenKind::kAdded},   {"</tool_call>", TokenKind::kAdded},
    {"<think>", TokenKind::kAdded},       {"</think>", TokenKind::kAdded},
    {"<other>", TokenKind::kAdded},       {"<|channel|>", TokenKind::kControl},
    {"<|message|>", TokenKind::kControl}, {"<|call|>", TokenKind::kControl},
    {"<|im_end|>", TokenKind::kControl},  {"<|eot|>", TokenKind::kControl},
    {"</tool_call>", TokenKind::kAdded},
};
constexpr TokenId kFirstSpecial = 400;

Vocabulary make_vocabulary() {
  std::vector<TokenEntry> entries;
  for (int byte = 0; byte < 256; ++byte) {
    entries.push_back(
        {static_cast<TokenId>(byte), std::string(1, static_cast<char>(byte))});
  }
  TokenId id = 256;
  for (const char* word : {"tool", "_call", ">\n", "</", "call>{", " com",
                           "mentary", "\"}", "}</", "<t"}) {
    entries.push_back({id++, word});
  }
  id = kFirstSpecial;
  for (const auto& [spelling, kind] : kSpecial) {
    entries.push_back({id++, std::string(spelling), kind});
  }
  entries.push_back({id++, "<strip>", TokenKind::kAdded, "", true, true});
  std::vector<TokenId> stops = {kFirstSpecial + 7, kFirstSpecial + 8};
  return *Vocabulary::from_table(entries, stops);
}

const Vocabulary& vocabulary() {
  static const Vocabulary made = make_vocabulary();
  return made;
}

// The ids of a text in which [[<think>]] is that token.  Ordinary tokens are
// as long as they can be; [[:400]] is a token by its id.
std::vector<TokenId> ids_of(std::string_view text) {
  std::vector<TokenId> ids;
  while (!text.empty()) {
    if (text.starts_with("[[")) {
      const std::size_t end = text.find("]]");
      const std::string_view name = text.substr(2, end - 2);
      if (name.starts_with(":")) {
        ids.push_back(
            static_cast<TokenId>(std::stoul(std::string(name.substr(1)))));
      } else {
        ids.push_back(*vocabulary().special(name));
      }
      text.remove_prefix(end + 2);
      continue;
    }
    TokenId best = static_cast<std::uint8_t>(text.front());
    for (TokenId id = 256; id < kFirstSpecial; ++id) {
      const std::string_view bytes = vocabulary().bytes(id);
      if (!bytes.empty() && text.starts_with(bytes) &&
          bytes.size() > vocabulary().bytes(best).size()) {
        best = id;
      }
    }
    ids.push_back(best);
    text.remove_prefix(vocabulary().bytes(best).size());
  }
  return ids;
}

CompiledTag program_of(std::string_view format,
                       Markers markers = Markers::kToken) {
  const Result<StructuralTag> tag =
      StructuralTag::from_json(R"({"format": )" + std::string(format) + "}");
  EXPECT_TRUE(tag) << tag.error().to_string();
  const Result<CompiledTag> program = CompiledTag::compile(
      *tag, {.vocabulary = &vocabulary(), .markers = markers});
  EXPECT_TRUE(program) << program.error().to_string();
  return *program;
}

// The tree as one line, what is left, and the diagnostics.
std::string read_by(const CompiledTag& program, std::string_view text,
                    StreamOptions options = {}) {
  options.vocabulary = &vocabulary();
  const std::vector<TokenId> ids = ids_of(text);
  const testing::TagRecord whole =
      testing::record_tag_parse(program, ids, ids.size() + 1, options);
  for (const std::size_t step : {1, 2}) {
    const testing::TagRecord cut =
        testing::record_tag_parse(program, ids, step, options);
    EXPECT_EQ(json::dump(cut.tree), json::dump(whole.tree)) << text;
    EXPECT_EQ(cut.events, whole.events) << text;
  }
  const json::Value& tree = whole.tree;
  std::string out = brief(*tree.find("format"));
  const std::string_view rest = tree.find("rest")->as_string();
  if (!rest.empty()) out += " rest " + json::dump(json::Value(rest));
  for (const json::Value& one : tree.find("diagnostics")->items()) {
    out += "; " + std::string(one.find("message")->as_string());
  }
  EXPECT_EQ(tree.find("complete")->as_bool(),
            tree.find("diagnostics")->size() == 0);
  return out;
}

struct Row {
  std::string_view format;
  std::string_view text;
  std::string_view tree;
};

void check(std::span<const Row> rows, Markers markers = Markers::kToken,
           const StreamOptions& options = {}) {
  for (const Row& row : rows) {
    EXPECT_EQ(read_by(program_of(row.format, markers), row.text, options),
              row.tree)
        << row.format << "\n"
        << row.text;
  }
}

// Qwen3's calls.
constexpr std::string_view kCalls =
    R"({"type": "triggered_tags", "triggers": ["<tool_call>"], "tags": [
        {"begin": "<tool_call>\n{\"name\": \"f\", \"arguments\": ",
         "content": {"json_schema": {"type": "object",
             "additionalProperties": true}},
         "end": "}\n</tool_call>"}]})";

TEST(TagMarks, MarkersAreTheirTokens) {
  const Row rows[] = {
      // const_string, begin, end, separator.
      {R"({"value": "a<think>b"})", "a[[<think>]]b", R"("a<think>b")"},
      {R"({"value": "a<think>b"})", "a<think>b",
       R"("a"... rest "<think>b"; the text does not fit; expected "<think>")"},
      {R"({"value": "<think>"})", "<think>",
       R"(""... rest "<think>"; the text does not fit; expected "<think>")"},
      {R"({"begin": "<think>\n", "content": {"type": "any_text"},
           "end": "\n</think>"})",
       "[[<think>]]\nab\n[[</think>]]",
       R"(tag("<think>\n" "ab" "\n</think>"))"},
      {R"({"begin": "<think>", "content": {"type": "any_text"},
           "end": ["</think>", "</tool_call>"]})",
       "[[<think>]]ab[[</tool_call>]]",
       R"(tag("<think>" "ab" "</tool_call>"))"},
      {R"({"type": "tags_with_separator", "separator": "<other>", "tags": [
           {"begin": "a", "content": {"value": "b"}, "end": "c"}]})",
       "abc[[<other>]]abc", R"([0:tag("a" "b" "c") 0:tag("a" "b" "c")])"},
      // Two ids of one spelling are one mark.
      {R"({"value": "</tool_call>"})", "[[:410]]", R"("</tool_call>")"},
      {R"({"value": "</tool_call>"})", "[[:401]]", R"("</tool_call>")"},
      // Triggers and the rest of what they begin.
      {kCalls,
       "Hm. [[<tool_call>]]\n{\"name\": \"f\", \"arguments\": {}}\n"
       "[[</tool_call>]] ok",
       R"(["Hm. " 0:tag("<tool_call>\n{\"name\": \"f\", \"arguments\": " {} )"
       R"("}\n</tool_call>") " ok"])"},
      {kCalls, "a[[<tool_call>]]b",
       R"(["a" 0:tag("<tool_call>" - null)...]... rest "b"; )"
       R"(the text does not fit; expected "\n{\"name\": \"f\", )"
       R"(\"arguments\": ")"},
      // After a call that does not fit reading resumes: with its end, its
      // trigger, or the text.
      {kCalls,
       "a[[<tool_call>]]b\n[[</tool_call>]]c[[<tool_call>]]\n{\"name\": \"f\", "
       "\"arguments\": {}}\n[[</tool_call>]]",
       R"(["a" 0:tag("<tool_call>" - null)... "c" )"
       R"(0:tag("<tool_call>\n{\"name\": \"f\", \"arguments\": " {} )"
       R"("}\n</tool_call>")] rest "b\n</tool_call>"; )"
       R"(the text does not fit; expected "\n{\"name\": \"f\", )"
       R"(\"arguments\": ")"},
      // A stretch that is no token is text.
      {R"({"value": "<|none|>"})", "<|none|>", R"("<|none|>")"},
      {R"({"type": "triggered_tags", "triggers": ["<f="], "tags": [
           {"begin": "<f=g>", "content": {"value": "x"}, "end": "</f>"}]})",
       "a<f=g>x</f>b", R"(["a" 0:tag("<f=g>" "x" "</f>") "b"])"},
      // dispatch.
      {R"({"type": "dispatch", "rules": [["<think>", {"value": "x"}]]})",
       "a[[<think>]]xb", R"(["a" 0:"<think>""x" "b"])"},
  };
  check(rows);
}

TEST(TagMarks, FreeTextIsWatchedOverBytesAndMarks) {
  constexpr std::string_view channels =
      R"({"type": "triggered_tags", "triggers": [
            "<|channel|>analysis", "<|channel|>commentary to=", "<|call|>"],
          "tags": [
           {"begin": "<|channel|>analysis<|message|>",
            "content": {"value": "x"}, "end": "</think>"},
           {"begin": "<|channel|>commentary to=f<|message|>",
            "content": {"value": "y"}, "end": ""},
           {"begin": "<|call|>", "content": {"value": "z"}, "end": ""}]})";
  const Row rows[] = {
      {channels, "ab[[<|channel|>]]analysis[[<|message|>]]x[[</think>]]c",
       R"(["ab" 0:tag("<|channel|>analysis<|message|>" "x" "</think>") "c"])"},
      // A mark that begins a trigger commits to it.
      {channels, "ab[[<|channel|>]]xy",
       R"(["ab<|channel|>"]... rest "xy"; the text does not fit; )"
       R"(expected "analysis" or "commentary to=")"},
      {channels, "ab[[<|channel|>]]",
       R"(["ab<|channel|>"]...; the response ends too early; )"
       R"(expected "analysis" or "commentary to=")"},
      {channels, "ab[[<|channel|>]]com[[<|channel|>]]",
       R"(["ab<|channel|>com"]... rest "<|channel|>"; the text does not fit; )"
       R"(expected "mentary to=")"},
      // A control token that is no mark here, and one that is.
      {channels, "ab[[<|eot|>]]c",
       R"(["ab"] rest "<|eot|>c"; the text does not fit; )"
       R"(expected text or the end)"},
      {channels, "ab[[<|message|>]]c",
       R"(["ab"] rest "<|message|>c"; the text does not fit; )"
       R"(expected text or the end)"},
      // An added token that no marker has is its bytes.
      {channels, "ab[[<other>]]c[[<tool_call>]]",
       R"(["ab<other>c<tool_call>"])"},
      // The spelling of a marker is no text.
      {channels, "ab<|call|>z",
       R"(["ab<|call|"] rest ">z"; the text does not fit; expected text or )"
       R"(the end, and here the marker "<|call|>" is written as its token, )"
       R"(not spelled)"},
      {channels, "ab<|call|", R"(["ab<|call|"])"},
      {channels, "<|channel|>analysi", R"(["<|channel|>analysi"])"},
      {R"({"begin": "<think>", "content": {"type": "any_text"},
           "end": "</think>"})",
       "[[<think>]]a</think>b",
       R"(tag("<think>" "a</think" null)... rest ">b"; the text does not )"
       R"(fit; expected "</think>" or text, and here the marker "</think>" )"
       R"(is written as its token, not spelled)"},
      // A mark of another marker of the tag.
      {R"({"elements": [{"value": "<think>"}, {"type": "any_text"}]})",
       "[[<think>]]a[[<think>]]",
       R"(["<think>" "a"] rest "<think>"; the text does not fit; )"
       R"(expected the end or text)"},
      // Excludes.
      {R"({"type": "any_text", "excludes": ["<think>"]})", "a[[<think>]]",
       R"("a" rest "<think>"; the text does not fit; expected the end or )"
       R"(text)"},
      {R"({"type": "any_text", "excludes": ["<think>"]})", "a<think>",
       R"("a<think" rest ">"; the text does not fit; expected the end or )"
       R"(text, and here the marker "<think>" is written as its token, not )"
       R"(spelled)"},
      {R"({"type": "any_text", "excludes": ["<think>x"]})", "a[[<think>]]y",
       R"("a" rest "<think>y"; the text does not fit; expected the end or )"
       R"(text)"},
      // A trigger that begins with text.
      {R"({"type": "triggered_tags", "triggers": ["\n<think>"], "tags": [
           {"begin": "\n<think>", "content": {"value": "x"}, "end": ""}]})",
       "a\n\n[[<think>]]x", R"(["a\n" 0:tag("\n<think>" "x" "")])"},
      {R"({"type": "triggered_tags", "triggers": ["\n<think>"], "tags": [
           {"begin": "\n<think>", "content": {"value": "x"}, "end": ""}]})",
       "a[[<think>]]x",
       R"(["a"] rest "<think>x"; the text does not fit; expected text or the )"
       R"(end)"},
      // A trigger that is a part of a mark's spelling.
      {R"({"type": "triggered_tags", "triggers": ["<tool"], "tags": [
           {"begin": "<tool_call>", "content": {"value": "x"}, "end": ""}]})",
       "a<tool_call>x", R"(["a" 0:tag("<tool_call>" "x" "")])"},
      // One mark begins triggers that begin each other.
      {R"({"type": "dispatch", "rules": [["<think>", {"value": "x"}],
           ["<think>ab", {"value": "y"}]]})",
       "[[<think>]]x[[<think>]]aby", R"([0:"<think>""x" 1:"<think>ab""y"])"},
  };
  check(rows);
}

TEST(TagMarks, ValuesAndPatternsReadBytes) {
  const Row rows[] = {
      {kCalls,
       "[[<tool_call>]]\n{\"name\": \"f\", \"arguments\": "
       "{\"a\": \"[[<tool_call>]][[<other>]]\"}}\n[[</tool_call>]]",
       R"([0:tag("<tool_call>\n{\"name\": \"f\", \"arguments\": " )"
       R"({"a": "<tool_call><other>"} "}\n</tool_call>")])"},
      {kCalls,
       "[[<tool_call>]]\n{\"name\": \"f\", \"arguments\": "
       "{\"a\": \"</tool_call>\"}}\n[[</tool_call>]]",
       R"([0:tag("<tool_call>\n{\"name\": \"f\", \"arguments\": " )"
       R"({"a": "</tool_call>"} "}\n</tool_call>")])"},
      // Not a control token.
      {R"({"json_schema": {"type": "string"}})", "\"a[[<|eot|>]]\"",
       R"(null... rest "<|eot|>\""; the text does not fit; expected more of )"
       R"(a string, its closing quote)"},
      {R"({"type": "regex", "pattern": "a<think>b"})", "a[[<think>]]b",
       R"("a<think>b")"},
      {R"({"type": "regex", "pattern": "a<think>b"})", "a<think>b",
       R"("a<think>b")"},
      {R"({"type": "grammar", "grammar": "root ::= \"<think>\" \"<|eot|>\""})",
       "<think><|eot|>", R"("<think><|eot|>")"},
      {R"({"type": "grammar", "grammar": "root ::= \"<think>\" \"<|eot|>\""})",
       "[[<think>]][[<|eot|>]]",
       R"("<think>"... rest "<|eot|>"; the text does not fit; expected )"
       R"("<|eot|>")"},
  };
  check(rows);
}

// Raw values end at a marker, so the tag's marks are kept out of them.
TEST(TagMarks, ValuesOfParameterStyles) {
  constexpr std::string_view call =
      R"({"begin": "<tool_call>", "content": {"type": "json_schema",
          "style": "qwen_xml", "json_schema": {"type": "object",
            "properties": {"s": {"type": "string"}, "o": {"type": "object",
              "additionalProperties": {"type": "string"}}}}},
          "end": "</tool_call>"})";
  const Row rows[] = {
      {call,
       "[[<tool_call>]]<parameter=s>a[[<other>]]</parameter>"
       "[[</tool_call>]]",
       R"(tag("<tool_call>" {"s": "a<other>"} "</tool_call>"))"},
      {call,
       "[[<tool_call>]]<parameter=o>{\"k\": \"[[<tool_call>]]\"}"
       "</parameter>[[</tool_call>]]",
       R"(tag("<tool_call>" {"o": {"k": "<tool_call>"}} "</tool_call>"))"},
      // Only its own closer ends the value.
      {call,
       "[[<tool_call>]]<parameter=s>a[[</tool_call>]]</parameter>"
       "[[</tool_call>]]",
       R"(tag("<tool_call>" {"s": "a</tool_call>"} "</tool_call>"))"},
      {call, "[[<tool_call>]]<parameter=s>a[[<|eot|>]]",
       R"(tag("<tool_call>" null... null)... rest "<|eot|>"; the text does )"
       R"(not fit; expected "</parameter>", text)"},
  };
  check(rows);
}

TEST(TagMarks, WhiteSpaceThatATokenTakesAlong) {
  const Row rows[] = {
      {R"({"value": "a \n<strip> b"})", "a \n[[<strip>]] b",
       R"("a \n<strip> b")"},
      {R"({"value": "a \n<strip> b"})", "a[[<strip>]]b", R"("a<strip>b")"},
      {R"({"value": "a \n<strip> b"})", "a [[<strip>]]b",
       R"("a "... rest "<strip>b"; the text does not fit; expected "\n")"},
      {R"({"type": "triggered_tags", "triggers": ["<strip>"], "tags": [
           {"begin": "<strip>\n{", "content": {"value": "x"}, "end": "}"}]})",
       "a[[<strip>]]{x}b", R"(["a" 0:tag("<strip>{" "x" "}") "b"])"},
  };
  check(rows);
}

TEST(TagMarks, Errors) {
  const Result<StructuralTag> tag = StructuralTag::from_json(
      R"({"format": {"begin": "<f>", "end": "</f>", "tool": "a<|eot|>",
          "content": {"json_schema": {"type": "object"}}}})");
  ASSERT_TRUE(tag);
  EXPECT_TRUE(CompiledTag::compile(*tag));
  const auto program =
      CompiledTag::compile(*tag, {.vocabulary = &vocabulary()});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, ErrorCode::kConflict);
  EXPECT_EQ(program.error().path, "/format/tool");
  EXPECT_TRUE(CompiledTag::compile(
      *tag, {.vocabulary = &vocabulary(), .markers = Markers::kText}));
}

TEST(TagMarks, FormatsOfTokens) {
  const Row rows[] = {
      {R"({"type": "token", "token": "<|eot|>"})", "[[<|eot|>]]", ""},
      {R"({"elements": [{"type": "any_tokens"}, {"value": "<think>"}]})",
       "a[[<|eot|>]][[<other>]][[<think>]]",
       R"(["a<|eot|><other>" "<think>"])"},
      // The tag names it here, so it does not end the response.
      {R"({"elements": [{"type": "token", "token": "<|im_end|>"},
           {"value": "a"}]})",
       "[[<|im_end|>]]a", R"(["a"])"},
  };
  check(rows);
}

TEST(TagMarks, StopTokens) {
  constexpr std::string_view text = R"({"type": "any_text"})";
  const Row rows[] = {
      {text, "ab[[<|im_end|>]]", R"("ab")"},
      {text, "ab[[<|im_end|>]]c",
       R"("ab" rest "c"; nothing may follow the token that ended the )"
       R"(response)"},
      {text, "ab[[<|im_end|>]][[<|im_end|>]]",
       R"("ab" rest "<|im_end|>"; nothing may follow the token that ended )"
       R"(the response)"},
      {text, "[[<|im_end|>]]", R"("")"},
      {R"({"type": "any_tokens"})", "ab[[<|im_end|>]]", R"("ab")"},
      {R"({"type": "exclude_token", "exclude_tokens": []})", "[[<|im_end|>]]",
       R"(...; the response ends too early; expected another token)"},
      // Where the text may not end.
      {R"({"value": "abc"})", "ab[[<|im_end|>]]",
       R"("ab"...; the response ends too early; expected "c")"},
      {R"({"value": "abc"})", "ax[[<|im_end|>]]",
       R"("a"... rest "x"; the text does not fit; expected "bc")"},
      // A marker of the tag.
      {R"({"elements": [{"type": "any_text"}, {"value": "<|im_end|>"}]})",
       "ab[[<|im_end|>]]", R"(["ab" "<|im_end|>"])"},
      {R"({"elements": [{"type": "any_text"}, {"value": "<|call|>"}]})",
       "ab[[<|call|>]][[<|im_end|>]]", R"(["ab" "<|call|>"])"},
      // <|eot|> is a control token like any other.
      {text, "ab[[<|eot|>]]",
       R"("ab" rest "<|eot|>"; the text does not fit; expected the end or )"
       R"(text)"},
  };
  check(rows);
  const std::vector<TokenId> eot = {kFirstSpecial + 9};
  const Row given[] = {
      {text, "ab[[<|eot|>]]", R"("ab")"},
      {text, "ab[[<|im_end|>]]",
       R"("ab" rest "<|im_end|>"; the text does not fit; expected the end )"
       R"(or text)"},
  };
  check(given, Markers::kToken, {.stop_ids = eot});
  const Row none[] = {
      {text, "ab[[<|im_end|>]]",
       R"("ab" rest "<|im_end|>"; the text does not fit; expected the end )"
       R"(or text)"},
  };
  check(none, Markers::kToken, {.stop_ids = std::span<const TokenId>()});
}

// How many of the ids a matcher accepts; that the parser reads them as well,
// and whether both say that they are complete.
std::string fits_both(std::string_view format, std::string_view text) {
  const StructuralTag tag =
      *StructuralTag::from_json(R"({"format": )" + std::string(format) + "}");
  const Compiler compiler = *Compiler::create(vocabulary());
  const Result<Constraint> constraint = compiler.compile_structural_tag(tag);
  if (!constraint) return std::string(constraint.error().message);
  const std::vector<TokenId> ids = ids_of(text);
  Matcher matcher = constraint->matcher();
  const std::size_t fits = matcher.accept_tokens(ids);
  const bool complete = matcher.can_end() || matcher.is_terminated();
  const CompiledTag program = program_of(format);
  TagParser parser(program,
                   {.vocabulary = &vocabulary(), .recover = Recover::kNo});
  for (const TokenId id : ids) parser.feed_tokens(std::span(&id, 1));
  parser.finalize();
  EXPECT_EQ(parser.complete(), complete && fits == ids.size()) << format << "\n"
                                                               << text;
  EXPECT_EQ(parser.tree().find("rest")->as_string().empty(), fits == ids.size())
      << format << "\n"
      << text;
  return std::to_string(fits) + " of " + std::to_string(ids.size()) +
         (complete ? ", complete" : "");
}

// What an exclude or an end forbids is forbidden in every spelling.
TEST(TagMarks, ExcludesThatEndInAMark) {
  const auto triggered = [](std::string_view excludes) {
    return R"({"type": "triggered_tags", "triggers": ["<tool_call>"],
      "tags": [{"begin": "<tool_call>", "content": {"type": "any_text"},
                "end": "</tool_call>"}], "excludes": )" +
           std::string(excludes) + "}";
  };
  constexpr std::string_view kText = "e[[<tool_call>]]x[[</tool_call>]]";
  EXPECT_EQ(fits_both(triggered("[]"), kText), "4 of 4, complete");
  EXPECT_EQ(fits_both(triggered(R"(["e<tool_call>"])"), kText),
            "1 of 4, complete");
  // It ends inside the mark.
  EXPECT_EQ(fits_both(triggered(R"(["e<"])"), kText), "1 of 4, complete");
  EXPECT_EQ(fits_both(triggered(R"(["f<", "e<o"])"), kText),
            "4 of 4, complete");
  EXPECT_EQ(fits_both(triggered(R"(["e<tool_call>"])"),
                      "ee[[<tool_call>]]x[[</tool_call>]]"),
            "2 of 5, complete");
  EXPECT_EQ(fits_both(R"({"type": "dispatch", "excludes": ["e<tool_"],
      "rules": [["<tool_call>", {"value": "x"}]]})",
                      "e[[<tool_call>]]x"),
            "1 of 3, complete");
  // The end of the enclosing tag is excluded, so this is the end.
  constexpr std::string_view kEnclosed = R"({"begin": "b", "end":
      "\n</tool_call>", "content": {"type": "triggered_tags",
      "triggers": ["</tool_call>y"], "tags": [
      {"begin": "</tool_call>y", "content": {"value": "z"}, "end": "."}]}})";
  EXPECT_EQ(fits_both(kEnclosed, "b[[</tool_call>]]yz.\n[[</tool_call>]]"),
            "7 of 7, complete");
  EXPECT_EQ(fits_both(kEnclosed, "b\n[[</tool_call>]]yz."), "3 of 6, complete");
}

// Free tokens have whole characters, and end wherever they may.
TEST(TagMarks, CharactersInSeveralTokens) {
  // 240 159 152 128 are the bytes of U+1F600.
  constexpr std::string_view kSmile = "[[:240]][[:159]][[:152]][[:128]]";
  constexpr std::string_view kTriggered =
      R"({"type": "token_triggered_tags", "trigger_tokens": ["<think>"],
          "tags": [{"begin": {"type": "token", "token": "<think>"},
                    "content": {"value": "x"},
                    "end": {"type": "token", "token": "</think>"}}]})";
  constexpr std::string_view kDispatch =
      R"({"type": "token_dispatch", "rules": [["<think>", {"value": "x"}]]})";
  for (const std::string_view inner : {kTriggered, kDispatch}) {
    for (const std::string_view outer :
         {R"({"type": "star", "content": )", R"({"type": "plus", "content": )",
          R"({"type": "repeat", "min": 0, "max": 3, "content": )"}) {
      const std::string format = std::string(outer) + std::string(inner) + "}";
      SCOPED_TRACE(format);
      for (const std::string_view after : {"", "[[<think>]]x"}) {
        const std::string text = std::string(kSmile) + "a" + std::string(after);
        const std::vector<TokenId> ids = ids_of(text);
        std::string content;
        for (const std::size_t step : {1, 2, 3, 8}) {
          const testing::TagRecord read = testing::record_tag_parse(
              program_of(format), ids, step, {.vocabulary = &vocabulary()});
          EXPECT_EQ(read.fields.find("content")->as_string().substr(0, 5),
                    "\U0001F600a")
              << step;
        }
      }
    }
  }
  EXPECT_EQ(fits_both(R"({"type": "any_tokens"})", "a[[:240]][[:159]]"),
            "3 of 3, complete");
  EXPECT_EQ(fits_both(R"({"type": "exclude_token"})", "[[:240]]"),
            "1 of 1, complete");
  // What two open parses agree on has the byte that a trigger is.
  constexpr std::string_view kAgreed =
      R"({"begin": "b", "end": "c", "content": {
          "type": "token_triggered_tags", "trigger_tokens": [240], "tags": [
          {"begin": {"type": "token", "token": 240},
           "content": {"type": "any_text"},
           "end": {"type": "token", "token": "<think>"}},
          {"begin": {"type": "token", "token": 240},
           "content": {"type": "exclude_token"},
           "end": {"type": "token", "token": "</think>"}}]}})";
  for (const std::size_t step : {1, 3}) {
    const testing::TagRecord read =
        testing::record_tag_parse(program_of(kAgreed), ids_of("b[[:240]]x"),
                                  step, {.vocabulary = &vocabulary()});
    EXPECT_EQ(json::dump(*read.tree.find("message")->find("tags")),
              R"([{"begin": "b", "content": "\ufffdx", "end": null}])")
        << step;
  }
  // Free text of bytes does not end there: the character goes to the rest.
  EXPECT_EQ(read_by(program_of(R"({"type": "any_text"})"), "a[[:240]][[:159]]"),
            R"("a" rest "\ufffd"; the text does not fit; expected the end or )"
            "text");
}

TEST(TagMarks, StopTokensThatAreTriggers) {
  // <|call|> and <|im_end|> end a response.
  EXPECT_EQ(fits_both(R"({"type": "token_triggered_tags",
      "trigger_tokens": ["<|call|>"], "tags": [
      {"begin": {"type": "token", "token": "<|call|>"},
       "content": {"value": "x"}, "end": "y"}]})",
                      ""),
            "The token 407 ends a text, and the grammar has it as a trigger "
            "where something must follow, so it could never come there. Name "
            "another token, or compile with stop_ids that do not have it.");
  EXPECT_EQ(fits_both(R"({"type": "token_dispatch", "rules": [
      ["<|call|>", {"value": "x"}]]})",
                      "")
                .substr(0, 26),
            "The token 407 ends a text,");
  EXPECT_EQ(fits_both(R"({"type": "dispatch", "rules": [
      ["a<|call|>", {"value": "x"}]]})",
                      "")
                .substr(0, 26),
            "The token 407 ends a text,");
  EXPECT_EQ(fits_both(R"({"elements": [
      {"begin": "b", "content": {"type": "any_tokens"},
       "end": {"type": "token", "token": "<|call|>"}}, {"value": "x"}]})",
                      "")
                .substr(0, 26),
            "The token 407 ends a text,");
  // The text may end with it.
  EXPECT_EQ(fits_both(R"({"begin": "b", "content": {"type": "any_tokens"},
       "end": {"type": "token", "token": "<|call|>"}})",
                      "bx[[<|call|>]]"),
            "3 of 3, complete");
  // For a matcher or a parser with stop tokens of its own, it ends the text
  // where the text may end without it.
  constexpr std::string_view kDispatch =
      R"({"type": "token_dispatch", "rules": [["<think>", {"value": "x"}]]})";
  const std::vector<TokenId> think = {*vocabulary().special("<think>")};
  EXPECT_EQ(read_by(program_of(kDispatch), "a[[<think>]]", {.stop_ids = think}),
            R"(["a"])");
}

// Where some token must come, a stop token is none unless it is named.
TEST(TagMarks, AnyTokenButSomeIsNoStopToken) {
  const StructuralTag tag = *StructuralTag::from_json(
      R"({"format": {"elements": [{"type": "exclude_token"},
            {"type": "token_dispatch", "rules": [
              ["<think>", {"value": "x"}]]}]}})");
  const Compiler compiler = *Compiler::create(vocabulary());
  Matcher matcher = compiler.compile_structural_tag(tag)->matcher();
  EXPECT_FALSE(matcher.accept_token(*vocabulary().special("<|im_end|>")));
  EXPECT_TRUE(matcher.accept_token('a'));
  EXPECT_TRUE(matcher.accept_token(*vocabulary().special("<|im_end|>")));
  EXPECT_EQ(fits_both(R"({"type": "or", "elements": [
                {"type": "exclude_token"},
                {"type": "token", "token": "<|im_end|>"}]})",
                      "[[<|im_end|>]]"),
            "1 of 1, complete");
}

// Of the marks that a text spells, the longest that may come is read.
TEST(TagMarks, SpelledMarksThatBeginWithEachOther) {
  std::vector<TokenEntry> entries;
  for (const char* text : {"<", "t", ">", "a"}) {
    entries.push_back({static_cast<TokenId>(entries.size()), text});
  }
  entries.push_back({4, "<t>", TokenKind::kAdded});
  entries.push_back({5, "<t", TokenKind::kAdded});
  const Vocabulary small =
      *Vocabulary::from_table(entries, std::vector<TokenId>{});
  const StructuralTag tag = *StructuralTag::from_json(
      R"({"format": {"begin": "<t", "content": {"value": ">a"},
                     "end": "<t>"}})");
  const Result<Constraint> constraint =
      Compiler::create(small)->compile_structural_tag(tag);
  ASSERT_TRUE(constraint) << constraint.error().message;
  Matcher matcher = constraint->matcher();
  EXPECT_EQ(matcher.forced_bytes(), "<t>a<t>");
  EXPECT_TRUE(matcher.accept_bytes("<t>a<t>"));
  EXPECT_TRUE(matcher.can_end());
  StreamOptions options;
  options.vocabulary = &small;
  options.prefix = "<t>a<t>";
  TagParser parser(*CompiledTag::compile(tag, {.vocabulary = &small}), options);
  parser.finalize();
  EXPECT_TRUE(parser.complete());
}

TEST(TagMarks, EitherReadsTheSpellingToo) {
  constexpr std::string_view channels =
      R"({"type": "triggered_tags", "triggers": ["<|channel|>a<|message|>"],
          "tags": [{"begin": "<|channel|>a<|message|>",
            "content": {"type": "any_text"}, "end": "<|call|>"}]})";
  const Row rows[] = {
      {R"({"value": "a<think>b"})", "a<think>b", R"("a<think>b")"},
      {R"({"value": "a<think>b"})", "a[[<think>]]b", R"("a<think>b")"},
      {channels, "x[[<|channel|>]]a[[<|message|>]]y[[<|call|>]]z",
       R"(["x" 0:tag("<|channel|>a<|message|>" "y" "<|call|>") "z"])"},
      {channels, "x<|channel|>a[[<|message|>]]y<|call|>z",
       R"(["x" 0:tag("<|channel|>a<|message|>" "y" "<|call|>") "z"])"},
      {channels, "x[[<|channel|>]]a<|message|>y[[<|call|>]]",
       R"(["x" 0:tag("<|channel|>a<|message|>" "y" "<|call|>")])"},
      {channels, "x<|channel|>b", R"(["x<|channel|>b"])"},
  };
  check(rows, Markers::kEither);
}

TEST(TagMarks, TextReadsAddedTokensAsBytes) {
  const Row rows[] = {
      {R"({"value": "a<think>b"})", "a<think>b", R"("a<think>b")"},
      {R"({"value": "a<think>b"})", "a[[<think>]]b", R"("a<think>b")"},
      {R"({"value": "a<|eot|>"})", "a<|eot|>", R"("a<|eot|>")"},
      {R"({"value": "a<|eot|>"})", "a[[<|eot|>]]",
       R"("a"... rest "<|eot|>"; the text does not fit; expected "<|eot|>")"},
  };
  check(rows, Markers::kText);
}

// A program for a vocabulary reads texts as any other.
TEST(TagMarks, TextsSpellMarkers) {
  const json::Value tree = parse_by_tag(
      program_of(R"({"begin": "<think>", "content": {"type": "any_text"},
                     "end": "</think>"})"),
      "<think>a</think>");
  EXPECT_EQ(brief(*tree.find("format")), R"(tag("<think>" "a" "</think>"))");
}

TEST(TagMarks, Prefixes) {
  constexpr std::string_view think =
      R"({"begin": "<think>", "content": {"type": "any_text"},
          "end": "</think>"})";
  StreamOptions options;
  // Spelled marks are tokens where they may come.
  options.prefix = "<think>";
  EXPECT_EQ(read_by(program_of(think), "a[[</think>]]", options),
            R"(tag("<think>" "a" "</think>"))");
  options.prefix = "<think>a <tool_call>";
  EXPECT_EQ(read_by(program_of(think), "[[</think>]]", options),
            R"(tag("<think>" "a <tool_call>" "</think>"))");
  options.prefix = "\"<think>";
  EXPECT_EQ(read_by(program_of(R"({"elements": [{"json_schema": true},
                                   {"value": "<think>"}]})"),
                    "\"[[<think>]]", options),
            R"(["<think>" "<think>"])");
  // Of ids only those.
  const std::vector<TokenId> spelled = {'<', 't', 'h'};
  const std::vector<TokenId> mark = {kFirstSpecial + 2};
  options.prefix = "";
  options.prefix_ids = mark;
  EXPECT_EQ(read_by(program_of(think), "a[[</think>]]", options),
            R"(tag("<think>" "a" "</think>"))");
  options.prefix_ids = spelled;
  EXPECT_EQ(read_by(program_of(think), "ink>", options),
            R"(tag("" - null)... rest "<think>"; the text does not fit; )"
            R"(expected "<think>")");
}

// What a long prefix of ids wrote stays where its events point to.
TEST(TagMarks, EventsOfAPrefixAreItsText) {
  const std::vector<TokenId> ids(5000, 'x');
  StreamOptions options;
  options.vocabulary = &vocabulary();
  options.prefix_ids = ids;
  for (const std::string_view tag :
       {R"({"value": "y"})", R"({"type": "any_text"})"}) {
    const TagParser parser(program_of(tag), options);
    std::string text;
    for (const Event& event : parser.initial_events()) text += event.text;
    EXPECT_EQ(text, std::string(ids.size(), 'x')) << tag;
  }
}

// Events of a response know its tokens, the one that ends it included.
TEST(TagMarks, EventsCountTokens) {
  const CompiledTag program = program_of(kCalls);
  TagParser parser(program, {.vocabulary = &vocabulary()});
  const std::vector<TokenId> ids = ids_of(
      "ab[[<tool_call>]]\n{\"name\": \"f\", \"arguments\": {}}\n"
      "[[</tool_call>]][[<|im_end|>]]");
  const std::span<const Event> events = parser.feed_tokens(ids);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.front().tokens.begin, 0u);
  EXPECT_TRUE(parser.finalize().empty());
  EXPECT_TRUE(parser.complete());
  EXPECT_EQ(parser.held_bytes(), 0u);
}

}  // namespace
}  // namespace parlance::tag_marks_test
