// From a format and a request to a structural tag.  The families are written
// out here, so that these tests do not depend on the built-in files.
//
// Each accepted text is read by the format and by the tag; both read the same
// message.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/grammar_cache.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"

namespace parlance::inversion_test {
namespace {

// The family `name` with its template and the given members of "parlance".
Format family(std::string_view name, std::string_view parlance) {
  json::Value file = *json::parse(Format::built_in_source(name));
  Result<json::Value> members = json::parse(parlance);
  EXPECT_TRUE(members.has_value()) << members.error().to_string();
  file.mutable_members().set("parlance", *members);
  Result<Format> format = Format::from_json(json::dump(file));
  EXPECT_TRUE(format.has_value()) << format.error().to_string();
  return *format;
}

Format qwen3() {
  return family("qwen3", R"({
    "turn_end": ["<|im_end|>", "<|endoftext|>"],
    "read": {
      "thinking": {"layout": {"first": ["\n"], "last": ["\n"],
                              "after": ["\n\n"]}, "strip": false},
      "tool_calls": {"ends": "value", "layout": {"before": ["\n"]}}},
    "write": {
      "order": ["thinking?", "content?", "tool_calls*"],
      "thinking": {"parts": ["<think>\n", {"text": true}, "\n</think>\n\n"],
                   "off": ["<think>\n\n</think>\n\n"]},
      "content": {"parts": [{"text": true}]},
      "tool_calls": {"before": ["\n"], "between": ["\n"],
        "parts": ["<tool_call>\n{\"name\": ", {"name": "json"},
                  ", \"arguments\": ", {"arguments": "json"},
                  "}\n</tool_call>"]}}})");
}

Format deepseek_v3_1() {
  return family("deepseek_v3_1", R"({
    "turn_end": ["<｜end▁of▁sentence｜>"],
    "write": {
      "order": ["thinking?", "content?", "tool_calls*"],
      "thinking": {"parts": ["<think>", {"text": true}, "</think>"],
                   "off": ["</think>"]},
      "content": {"parts": [{"text": true}]},
      "tool_calls": {
        "section": [["<｜tool▁calls▁begin｜>"], ["<｜tool▁calls▁end｜>"]],
        "parts": ["<｜tool▁call▁begin｜>", {"name": "raw"}, "<｜tool▁sep｜>",
                  {"arguments": "json"}, "<｜tool▁call▁end｜>"]}}})");
}

Format kimi_k2() {
  return family("kimi_k2", R"({
    "turn_end": ["<|im_end|>"],
    "write": {
      "order": ["thinking?", "content?", "tool_calls*"],
      "thinking": {"parts": ["<think>", {"text": true}, "</think>"]},
      "content": {"parts": [{"text": true}]},
      "tool_calls": {
        "section": [["<|tool_calls_section_begin|>"],
                    ["<|tool_calls_section_end|>"]],
        "parts": ["<|tool_call_begin|>functions.", {"name": "raw"}, ":",
                  {"index": 0}, "<|tool_call_argument_begin|>",
                  {"arguments": "json"}, "<|tool_call_end|>"]}}})");
}

Format gpt_oss() {
  return family("gpt_oss", R"({
    "turn_end": ["<|return|>", "<|call|>"],
    "read": {"tool_calls": {"ends": "value"}},
    "write": {
      "order": [{"messages": ["thinking", "content", "tool_calls"],
                 "between": ["<|start|>assistant"],
                 "last": ["content", "tool_calls"]}],
      "thinking": {"parts": ["<|channel|>analysis<|message|>", {"text": true},
                             "<|end|>"]},
      "content": [
        {"parts": ["<|channel|>final<|message|>", {"text": true},
                   {"any": [["<|return|>"], ["<|end|>"]]}]},
        {"parts": ["<|channel|>final <|constrain|>json<|message|>",
                   {"text": true}, "<|return|>"], "when": "response_format"},
        {"parts": ["<|channel|>commentary<|message|>", {"text": true},
                   "<|end|>"]}],
      "tool_calls": [
        {"parts": [" to=functions.", {"name": "raw"},
                   "<|channel|>commentary json<|message|>",
                   {"arguments": "json"}, "<|call|>"]},
        {"parts": ["<|channel|>commentary to=functions.", {"name": "raw"},
                   {"optional": [" "]}, "<|constrain|>json<|message|>",
                   {"arguments": "json"}, "<|call|>"]}]}})");
}

constexpr std::string_view kTools = R"([
  {"type": "function", "function": {"name": "add", "parameters": {
    "type": "object", "required": ["x"], "additionalProperties": false,
    "properties": {"x": {"type": "integer"}, "note": {"type": "string"}}}}},
  {"type": "function", "function": {"name": "now"}}])";

StructuralTagOptions with_tools() {
  StructuralTagOptions options;
  options.tools = *json::parse(kTools);
  return options;
}

// The fields of `message`, with the text of reasoning and content as they are,
// and without empty texts, which one of the readers may leave out.
json::Value comparable(const Message& message) {
  json::Object out;
  for (const json::Member& member : message.fields.members()) {
    if (member.value.is_string() && member.value.as_string().empty()) continue;
    out.set(member.key, member.value);
  }
  json::Object sorted;
  for (const char* key : {"thinking", "content"}) {
    if (const json::Value* value = out.find(key)) sorted.set(key, *value);
  }
  if (const json::Value* calls = out.find("tool_calls")) {
    json::Array without_ids;
    for (json::Value call : calls->items()) {
      call.mutable_members().erase("id");
      without_ids.push_back(call);
    }
    sorted.set("tool_calls", without_ids);
  }
  return sorted;
}

class Request {
 public:
  Request(const Format& format, const StructuralTagOptions& options)
      : format_(format), prefix_(options.prefix), tag_(make(format, options)) {
    Result<Grammar> grammar = Grammar::from_structural_tag(tag_);
    EXPECT_TRUE(grammar.has_value()) << grammar.error().to_string() << "\n"
                                     << json::dump(tag_.to_json());
    if (grammar) grammar_ = *grammar;
    Result<CompiledTag> compiled = CompiledTag::compile(tag_);
    EXPECT_TRUE(compiled.has_value()) << compiled.error().to_string();
    if (compiled) compiled_ = *compiled;
    tools_ = ToolSet::from_value(options.tools);
  }

  bool accepts(std::string_view text) const { return grammar_->accepts(text); }
  json::Value value() const { return tag_.to_json(); }
  std::vector<GrammarNote> report() const { return tag_.report(); }

  // Accepted, and read by both readers as `expected`, written as JSON.
  void reads(std::string_view text, std::string_view expected) const {
    SCOPED_TRACE(std::string(text));
    tag_reads(text, expected);
    const Message read =
        parse_response(format_, text, {.prefix = prefix_, .tools = &tools_});
    EXPECT_EQ(json::dump(comparable(read), {.ascii = false}), expected);
    for (const Diagnostic& diagnostic : read.diagnostics) {
      ADD_FAILURE() << diagnostic.message;
    }
  }

  // Accepted, and read by the tag as `expected`.
  void tag_reads(std::string_view text, std::string_view expected) const {
    SCOPED_TRACE(std::string(text));
    if (const auto no = grammar_->explain(text)) {
      ADD_FAILURE() << "byte " << no->offset << ", expected " << no->expected
                    << "\n"
                    << json::dump(tag_.to_json());
      return;
    }
    if (!prefix_.empty()) return;
    TagParser parser(*compiled_);
    parser.feed(text);
    parser.finalize();
    EXPECT_EQ(json::dump(comparable(parser.message()), {.ascii = false}),
              expected);
    for (const Diagnostic& diagnostic : parser.message().diagnostics) {
      ADD_FAILURE() << diagnostic.message;
    }
  }

  void rejects(std::string_view text) const {
    EXPECT_FALSE(accepts(text)) << text << "\n" << json::dump(tag_.to_json());
  }

  std::string tag() const {
    return json::dump(*tag_.to_json().find("format"), {.ascii = false});
  }

 private:
  static StructuralTag make(const Format& format,
                            const StructuralTagOptions& options) {
    Result<StructuralTag> tag = format.structural_tag(options);
    EXPECT_TRUE(tag.has_value()) << tag.error().to_string();
    if (tag) return *tag;
    return *StructuralTag::from_json(
        R"({"format": {"type": "const_string", "value": ""}})");
  }

  Format format_;
  std::string prefix_;
  StructuralTag tag_;
  std::optional<Grammar> grammar_;
  std::optional<CompiledTag> compiled_;
  ToolSet tools_;
};

TEST(Inversion, TextReasoningAndCalls) {
  const Request request(qwen3(), with_tools());
  request.reads("Hi.", R"({"content": "Hi."})");
  request.reads("Hi.<|im_end|>", R"({"content": "Hi."})");
  request.reads("<think>\nHm.\n</think>\n\nHi.",
                R"({"thinking": "Hm.", "content": "Hi."})");
  request.reads(
      "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"x\": "
      "1}}\n</tool_call>",
      R"({"tool_calls": [{"type": "function", "function": {"name": "add", "arguments": {"x": 1}}}]})");
  request.reads(
      "<think>\n\nHm.\n\n</think>\n\n\nSee:\n\n<tool_call>\n{\"name\": "
      "\"add\", \"arguments\": {\"x\": 1, \"note\": "
      "\"</tool_call>\"}}\n</tool_call>\n<tool_call>\n{\"name\": \"now\", "
      "\"arguments\": {}}\n</tool_call><|im_end|>",
      R"({"thinking": "\nHm.\n", "content": "\nSee:\n", "tool_calls": [{"type": "function", "function": {"name": "add", "arguments": {"x": 1, "note": "</tool_call>"}}}, {"type": "function", "function": {"name": "now", "arguments": {}}}]})");
  request.rejects("a <tool_call> b");
  request.rejects("a <think> b");
  request.rejects("a <|im_end|> b");
  request.rejects("<think>\nHm.");
  request.rejects(
      "<tool_call>\n{\"name\": \"sub\", \"arguments\": {}}\n</tool_call>");
  request.rejects(
      "<tool_call>\n{\"name\": \"add\", \"arguments\": {}}\n</tool_call>");
}

TEST(Inversion, ToolChoice) {
  const std::string add =
      "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"x\": 1}}\n"
      "</tool_call>";
  const std::string now =
      "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>";
  StructuralTagOptions options = with_tools();
  options.tool_choice = "none";
  const Request none(qwen3(), options);
  EXPECT_TRUE(none.accepts("Hi."));
  none.rejects(add);

  options.tool_choice = "required";
  const Request required(qwen3(), options);
  required.rejects("Hi.");
  required.rejects("");
  EXPECT_TRUE(required.accepts(add));
  EXPECT_TRUE(required.accepts(add + "\n" + now));
  EXPECT_TRUE(required.accepts("<think>\n.\n</think>\n\n" + now));

  options.parallel_tool_calls = false;
  const Request one(qwen3(), options);
  EXPECT_TRUE(one.accepts(add));
  one.rejects(add + "\n" + now);
  options.parallel_tool_calls = true;

  options.tool_choice =
      *json::parse(R"({"type": "function", "function": {"name": "now"}})");
  const Request named(qwen3(), options);
  EXPECT_TRUE(named.accepts(now));
  named.rejects(add);
  named.rejects(now + "\n" + now);
  named.rejects("Hi.");

  options.tool_choice = *json::parse(R"({"type": "allowed_tools",
    "allowed_tools": {"mode": "auto", "tools": [
      {"type": "function", "function": {"name": "now"}}]}})");
  const Request allowed(qwen3(), options);
  EXPECT_TRUE(allowed.accepts("Hi."));
  EXPECT_TRUE(allowed.accepts(now));
  allowed.rejects(add);
}

TEST(Inversion, Reasoning) {
  StructuralTagOptions options;
  options.reasoning = ReasoningMode::kRequired;
  const Request required(qwen3(), options);
  required.rejects("Hi.");
  EXPECT_TRUE(required.accepts("<think>\n\n</think>\n\nHi."));
  options.reasoning = ReasoningMode::kNone;
  const Request off(qwen3(), options);
  off.rejects("<think>\nHm.\n</think>\n\nHi.");
  off.reads("<think>\n\n</think>\n\nHi.", R"({"content": "Hi."})");
  off.reads("Hi.", R"({"content": "Hi."})");
  options.reasoning = ReasoningMode::kAllowed;
  options.max_reasoning_tokens = 7;
  EXPECT_NE(Request(qwen3(), options).tag().find("\"max_tokens\": 7"),
            std::string::npos);
  // Who may reason may write that there is no reasoning.
  const Request allowed(deepseek_v3_1(), options);
  EXPECT_TRUE(allowed.accepts("</think>Hi."));
  EXPECT_TRUE(allowed.accepts("<think>Hm.</think>Hi."));
  allowed.rejects("<think>Hm.</think></think>Hi.");
  options.reasoning = ReasoningMode::kRequired;
  Request(deepseek_v3_1(), options).rejects("</think>Hi.");
}

TEST(Inversion, ThePrefixIsWhatThePromptHasWritten) {
  StructuralTagOptions options = with_tools();
  options.prefix =
      "<|im_start|>user\n<think>\n<|im_end|>\n<|im_start|>assistant\n<think>\n";
  const Request thinking(qwen3(), options);
  thinking.reads("Hm.\n</think>\n\nHi.",
                 R"({"thinking": "Hm.", "content": "Hi."})");
  thinking.rejects("Hi.");
  options.prefix = "<|im_start|>assistant\n<think>\n\n</think>\n\n";
  const Request answer(qwen3(), options);
  answer.reads("Hi.", R"({"content": "Hi."})");
  answer.rejects("<think>\nHm.\n</think>\n\nHi.");
  options.prefix = "<|im_start|>assistant\nSure, ";
  Request(qwen3(), options).reads("no.", R"({"content": "Sure, no."})");
  options.prefix = "<|im_start|>assistant\n<tool_call>\n{\"name\": \"a";
  const Request call(qwen3(), options);
  call.rejects("now\", \"arguments\": {}}\n</tool_call>");
  EXPECT_TRUE(call.accepts("dd\", \"arguments\": {\"x\": 1}}\n</tool_call>"));
  // Inside the beginning of an excluded text.
  options.prefix = "<|im_start|>assistant\na <tool_c";
  Request(qwen3(), options).rejects("all> b");
  // Text that the format's parser reads as content.
  options.prefix = "<|im_start|>assistant\na <tool_call> b";
  EXPECT_TRUE(Request(qwen3(), options).accepts(" c"));
  options.tool_choice = "none";
  options.prefix = "<|im_start|>assistant\n<tool_call>\n{\"name\": \"add\"";
  const Result<StructuralTag> none = qwen3().structural_tag(options);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::kConflict);
  EXPECT_EQ(none.error().path, "/prefix");
  EXPECT_EQ(none.error().message,
            "prefix: the prompt has begun a call of 'add' at byte 0 of what it "
            "has written of the response, but the request allows no call.");
}

// A prompt that ends in the middle of a call: the tag has the rest.
TEST(Inversion, ThePromptMayEndInsideArguments) {
  StructuralTagOptions options = with_tools();
  const std::string anchor = "<|im_start|>assistant\n";
  const std::string call =
      "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"x\": 12, \"note\": "
      "\"\\u00e9 \xC3\xA9 \\\"\"}}\n</tool_call>";
  const std::string text = "<think>\nHm.\n</think>\n\n" + call + "\n" + call;
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    SCOPED_TRACE(text.substr(0, cut));
    options.prefix = anchor + text.substr(0, cut);
    const Request request(qwen3(), options);
    EXPECT_TRUE(request.accepts(text.substr(cut)));
    request.rejects(text.substr(cut) + "}");
    EXPECT_EQ(StructuralTag::from_value(request.value())->to_json(),
              request.value());
  }
  options.prefix = anchor + R"(<tool_call>
{"name": "add", "arguments": {"x": 1)";
  const Request number(qwen3(), options);
  EXPECT_TRUE(number.accepts("2}}\n</tool_call>"));
  number.rejects(".5}}\n</tool_call>");
  number.rejects(", \"other\": 1}}\n</tool_call>");
}

struct SpellingRow {
  const char* what;
  std::string written;
  std::vector<std::string> accepted;
  std::vector<std::string> refused;
  const char* note = "";
};

// What is written need not be what the tag would have.
TEST(Inversion, ThePromptMayHaveWrittenAnotherSpelling) {
  const std::string end = "\n</tool_call>";
  const std::vector<SpellingRow> rows = {
      {"JSON without white space",
       R"(<tool_call>{"name":"add","arguments":{"x":)",
       {"12}}" + end, "1}}" + end +
                          "\n<tool_call>\n{\"name\": \"now\", "
                          "\"arguments\": {}}" +
                          end},
       {"\"a\"}}" + end}},
      {"the arguments before the name",
       R"(<tool_call>{"arguments": {"x": 1}, "na)",
       {"me\": \"add\"}" + end},
       {"me\": \"sub\"}" + end}},
      {"arguments that are not valid",
       R"(<tool_call>
{"name": "add", "arguments": {"x": "one")",
       {"}}" + end, ", \"y\": [1]}}" + end},
       {"}" + end},
       "not valid under a schema"},
      {"an unknown tool",
       R"(<tool_call>
{"name": "sub", "arguments": {"x": 1)",
       {"}}" + end},
       {"]" + end},
       "not valid under a schema"},
      {"an earlier call of an unknown tool",
       R"(<tool_call>
{"name": "sub", "arguments": {}}
</tool_call>
<tool_call>
{"name": "add", "arguments": {"x": )",
       {"1}}" + end},
       {"\"a\"}}" + end}},
      {"reasoning that ends otherwise",
       "<think>Hm.</think> So",
       {".", ".<tool_call>\n{\"name\": \"now\", \"arguments\": {}}" + end},
       {"</think>"}},
  };
  for (const SpellingRow& row : rows) {
    SCOPED_TRACE(row.what);
    StructuralTagOptions options = with_tools();
    options.prefix = "<|im_start|>assistant\n" + row.written;
    const Request request(qwen3(), options);
    for (const std::string& text : row.accepted) {
      EXPECT_TRUE(request.accepts(text)) << text;
    }
    for (const std::string& text : row.refused) {
      EXPECT_FALSE(request.accepts(text)) << text;
    }
    std::string note;
    for (const GrammarNote& one : request.report()) {
      if (one.path == "/prefix") note += one.message;
    }
    EXPECT_EQ(note.empty(), *row.note == '\0') << note;
    EXPECT_NE(note.find(row.note), std::string::npos) << note;
  }
}

// A request that asks for calls, or for one, continues what it permits.
TEST(Inversion, ThePromptMayHaveWrittenTextOrCallsOfAnyRequest) {
  const std::string anchor = "<|im_start|>assistant\n";
  const std::string add =
      "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"x\": 1}}\n"
      "</tool_call>";
  const std::string now =
      "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>";
  struct Row {
    const char* what;
    json::Value choice;
    bool parallel;
    std::string written;
    std::vector<std::string> accepted;
    std::vector<std::string> refused;
    const char* error = "";
  };
  const json::Value named =
      *json::parse(R"({"type": "function", "function": {"name": "add"}})");
  const json::Value required = "required";
  const std::vector<Row> rows = {
      {"text before a call that must come",
       required,
       true,
       "Hi.",
       {" Yes.\n" + add, "\n" + add + "\n" + now},
       {"", " Yes.", "<|im_end|>"}},
      {"text before the named call",
       named,
       true,
       "Hi.",
       {"\n" + add},
       {"", "\n" + now, "\n" + add + "\n" + now}},
      {"text before an open call",
       named,
       true,
       "Hi.\n<tool_call>\n{\"name\": \"add\", \"arguments\": {\"x\": ",
       {"1}}\n</tool_call>"},
       {"\"a\"}}\n</tool_call>", "1", "1}}\n</tool_call>\n" + add}},
      {"half an opener after text",
       required,
       true,
       "Hi.\n<tool_",
       {"call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>"},
       {"", "call>"}},
      {"the calls that must come",
       required,
       true,
       add + "Hi.",
       {"", " Yes.", "\n" + now},
       {"\n<tool_call>\n{}\n</tool_call>"}},
      {"the one call", "auto", false, add, {"", "<|im_end|>"}, {"\n" + now}},
      {"text after the one call",
       "auto",
       false,
       add + "Hi.",
       {"", " Yes."},
       {"\n" + now}},
      {"text after the named call",
       named,
       true,
       add + "Hi.",
       {"", " Yes."},
       {"\n" + add}},
      {"the second call",
       "auto",
       false,
       add + "\n" + now.substr(0, 30),
       {},
       {},
       "prefix: the prompt has begun a second call of 'now' at byte 64 of what "
       "it has written of the response, but parallel_tool_calls is false."},
      {"another call",
       named,
       true,
       "Hi.\n" + now.substr(0, 30),
       {},
       {},
       "prefix: the prompt has begun a call of 'now' at byte 4 of what it has "
       "written of the response, but tool_choice asks for a call of 'add'."},
      {"no call",
       required,
       true,
       "Hi.<|im_end|>",
       {},
       {},
       "prefix: the prompt has ended the turn, but tool_choice asks for a "
       "call."},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    StructuralTagOptions options = with_tools();
    options.tool_choice = row.choice;
    options.parallel_tool_calls = row.parallel;
    options.prefix = anchor + row.written;
    if (*row.error != '\0') {
      const Result<StructuralTag> tag = qwen3().structural_tag(options);
      ASSERT_FALSE(tag);
      EXPECT_EQ(tag.error().code, ErrorCode::kConflict);
      EXPECT_EQ(tag.error().path, "/prefix");
      EXPECT_EQ(tag.error().message, row.error);
      continue;
    }
    const Request request(qwen3(), options);
    for (const std::string& text : row.accepted) {
      EXPECT_TRUE(request.accepts(text)) << text;
    }
    for (const std::string& text : row.refused) {
      EXPECT_FALSE(request.accepts(text)) << text;
    }
  }
}

TEST(Inversion, DocumentOrCalls) {
  StructuralTagOptions options = with_tools();
  options.response_format = *json::parse(R"({"type": "json_schema",
    "json_schema": {"schema": {"type": "object", "required": ["a"],
      "properties": {"a": {"type": "string"}}}}})");
  const Request request(qwen3(), options);
  request.reads(R"({"a": "b"})", R"({"content": "{\"a\": \"b\"}"})");
  request.reads("<think>\nHm.\n</think>\n\n{\"a\": \"b\"}",
                R"({"thinking": "Hm.", "content": "{\"a\": \"b\"}"})");
  EXPECT_TRUE(request.accepts(
      "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>"));
  request.rejects("Hi.");
  request.rejects(R"({"a": "<tool_call>"})");
  options.tools = nullptr;
  const Request document(qwen3(), options);
  EXPECT_TRUE(document.accepts(R"({"a": "b"})"));
  document.rejects(
      "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>");
}

TEST(Inversion, Sections) {
  const Request deepseek(deepseek_v3_1(), with_tools());
  deepseek.reads(
      "<think>Hm.</think>So.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>now"
      "<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁call▁begin｜>now<"
      "｜tool▁sep｜>{"
      "}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
      R"({"thinking": "Hm.", "content": "So.", "tool_calls": [{"type": "function", "function": {"name": "now", "arguments": {}}}, {"type": "function", "function": {"name": "now", "arguments": {}}}]})");
  deepseek.rejects("a<｜tool▁calls▁begin｜>");
  // The region ends at its first close delimiter, so strings do not have it.
  deepseek.rejects(
      "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{\"x\": 1, "
      "\"note\": "
      "\"<｜tool▁call▁end｜>\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>");

  const Request kimi(kimi_k2(), with_tools());
  kimi.reads(
      "So.<|tool_calls_section_begin|><|tool_call_begin|>functions.add:7"
      "<|tool_call_argument_begin|>{\"x\": 1}<|tool_call_end|>"
      "<|tool_calls_section_end|><|im_end|>",
      R"({"content": "So.", "tool_calls": [{"type": "function", "function": {"name": "add", "arguments": {"x": 1}}}]})");
}

TEST(Inversion, Messages) {
  const std::string thought = "<|channel|>analysis<|message|>Hm.<|end|>";
  const std::string start = "<|start|>assistant";
  const std::string preamble = "<|channel|>commentary<|message|>So.<|end|>";
  const std::string final = "<|channel|>final<|message|>Hi.<|return|>";
  const std::string now =
      " to=functions.now<|channel|>commentary json<|message|>{}<|call|>";
  const std::string constrained =
      "<|channel|>commentary to=functions.now "
      "<|constrain|>json<|message|>{}<|call|>";
  const Request request(gpt_oss(), with_tools());
  request.reads(thought + start + final,
                R"({"thinking": "Hm.", "content": "Hi."})");
  request.reads(
      thought + start + preamble + start + now,
      R"({"thinking": "Hm.", "content": "So.", "tool_calls": [{"type": "function", "function": {"name": "now", "arguments": {}}}]})");
  request.reads(
      constrained + start + now,
      R"({"tool_calls": [{"type": "function", "function": {"name": "now", "arguments": {}}}, {"type": "function", "function": {"name": "now", "arguments": {}}}]})");
  request.rejects(final + start + now);
  request.rejects(thought);

  StructuralTagOptions options = with_tools();
  options.tool_choice = "required";
  const Request required(gpt_oss(), options);
  required.rejects(final);
  EXPECT_TRUE(required.accepts(thought + start + preamble + start + now));

  options.tool_choice =
      *json::parse(R"({"type": "function", "function": {"name": "now"}})");
  const Request named(gpt_oss(), options);
  EXPECT_TRUE(named.accepts(thought + start + now));
  named.rejects(preamble + start + now);
  named.rejects(now + start + now);

  options = {};
  options.response_format = *json::parse(R"({"type": "json_object"})");
  options.reasoning = ReasoningMode::kRequired;
  options.prefix = "<|start|>assistant<|channel|>";
  const Request document(gpt_oss(), options);
  EXPECT_TRUE(document.accepts(
      "analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final "
      "<|constrain|>json<|message|>{}<|return|>"));
  document.rejects("final<|message|>{}<|return|>");
}

TEST(Inversion, OnlyTheLastMessageEndsTheResponse) {
  const Request muse(*Format::built_in("muse_glimmer"), with_tools());
  const std::string now =
      " to=now<|message|><atem:function_calls>\n<atem:invoke name=\"now\">\n"
      "</atem:invoke>\n</atem:function_calls>";
  const std::string start = "<|start|>assistant";
  EXPECT_TRUE(muse.accepts(now + "<|eom|>" + start + now + "<|eot|>"));
  muse.rejects(now + "<|eot|>" + start + now + "<|eot|>");
  muse.rejects(now + "<|eom|>");
  const std::string so = " to=user<|message|>So.";
  EXPECT_TRUE(muse.accepts(so + "<|eom|>" + start + now + "<|eot|>"));
  EXPECT_TRUE(muse.accepts(so + "<|eot|>"));
  muse.rejects(so + "<|eom|>");
}

TEST(Inversion, ASectionOfCallsIsTheLastMessage) {
  const Request solar(*Format::built_in("solar_open"), with_tools());
  const std::string now =
      "<|tool_call:begin|>1<|tool_call:name|>now<|tool_call:args|>{}"
      "<|tool_call:end|>";
  const std::string start = "<|begin|>assistant";
  const std::string calls = "<|tool_calls|>" + now + now + "<|calls|>";
  solar.reads(
      "<|content|>So.<|end|>" + start + calls,
      R"({"content": "So.", "tool_calls": [{"type": "function", "function": {"name": "now", "arguments": {}}}, {"type": "function", "function": {"name": "now", "arguments": {}}}]})");
  solar.rejects(calls + start + calls);
  solar.rejects("<|content|>So.<|flush|>" + start + calls);
}

TEST(Inversion, ReasoningThatIsOffEndsWhereThePromptHasBegunIt) {
  StructuralTagOptions options = with_tools();
  options.reasoning = ReasoningMode::kNone;
  const Format gemma = *Format::built_in("gemma4");
  const std::string thought = "<|channel>thought\n";
  Request none(gemma, options);
  EXPECT_TRUE(none.accepts("So."));
  none.rejects(thought + "<channel|>So.");
  options.prefix = "<|turn>model\n" + thought + "<channel|>";
  EXPECT_TRUE(Request(gemma, options).accepts("So."));
  options.prefix = "<|turn>model\n" + thought;
  EXPECT_TRUE(Request(gemma, options).accepts("<channel|>So."));
  Request(gemma, options).rejects("Hm.<channel|>So.");
}

// A message of reasoning that the template does not repeat comes once.
TEST(Inversion, ReasoningRepeatsWhereTheTemplateRepeatsIt) {
  std::string file(Format::built_in_source("solar_open"));
  const std::string repeated = R"("repeats": true,
        "join": "\n")";
  for (const bool repeats : {true, false}) {
    if (!repeats) {
      const std::size_t at = file.find(repeated);
      ASSERT_NE(at, std::string::npos);
      file.replace(at, repeated.size(), R"("repeats": false)");
    }
    const Result<Format> format = Format::from_json(file);
    ASSERT_TRUE(format) << format.error().to_string();
    const Request request(*format, with_tools());
    const std::string thought = "<|think|>Hm.<|end|><|begin|>assistant";
    const std::string answer = "<|content|>So.<|flush|>";
    EXPECT_TRUE(request.accepts(answer));
    EXPECT_TRUE(request.accepts(thought + answer));
    EXPECT_EQ(request.accepts(thought + thought + answer), repeats);
  }
}

// The opener of a call is too short to be excluded from text as a text.
TEST(Inversion, CallsWithoutMarkers) {
  const Format llama = family("llama3_json", R"({
    "turn_end": ["<|eot_id|>", "<|eom_id|>"],
    "read": {"tool_calls": {"ends": "value"}},
    "write": {
      "order": ["content?", "tool_calls*"],
      "content": {"parts": [{"text": true}]},
      "tool_calls": {"between": ["; "],
        "parts": ["{\"name\": ", {"name": "json"}, ", \"parameters\": ",
                  {"arguments": "json"}, "}"]}}})");
  const Request request(llama, with_tools());
  request.reads(
      "{\"name\": \"now\", \"parameters\": {}}<|eot_id|>",
      R"({"tool_calls": [{"type": "function", "function": {"name": "now", "arguments": {}}}]})");
  request.reads("A {\"title\": 1} and \"name\": x.",
                R"({"content": "A {\"title\": 1} and \"name\": x."})");
  request.rejects("A {\"name\": 1}");
  request.rejects("A { \"type\" : 1}");
  StructuralTagOptions options = with_tools();
  options.tool_choice = "none";
  Request(llama, options).rejects("{\"name\": \"now\", \"parameters\": {}}");
  options.response_format = *json::parse(R"({"type": "json_object"})");
  const Result<StructuralTag> tag = llama.structural_tag(options);
  ASSERT_FALSE(tag.has_value());
  EXPECT_EQ(tag.error().path, "/response_format");
}

TEST(Inversion, Errors) {
  const auto error = [](const Format& format,
                        const StructuralTagOptions& options) {
    const Result<StructuralTag> tag = format.structural_tag(options);
    EXPECT_FALSE(tag.has_value());
    return tag ? Error{} : tag.error();
  };
  // The name ends before ":".
  StructuralTagOptions options;
  options.tools =
      *json::parse(R"([{"type": "function", "function": {"name": "a:b"}}])");
  Error got = error(kimi_k2(), options);
  EXPECT_EQ(got.code, ErrorCode::kConflict);
  EXPECT_EQ(got.path, "/tools");
  EXPECT_NE(got.message.find("'a:b'"), std::string::npos) << got.message;
  EXPECT_NE(got.message.find("'tool_calls'"), std::string::npos) << got.message;
  options.tools = *json::parse(R"([{"type": "web_search"}])");
  options.tool_choice = "required";
  got = error(kimi_k2(), options);
  EXPECT_EQ(got.path, "/tool_choice");
  options = {};
  options.response_format = *json::parse(R"({"type": "json_schema"})");
  got = error(qwen3(), options);
  EXPECT_EQ(got.code, ErrorCode::kMissingKey);
  EXPECT_EQ(got.path, "/response_format");
}

// A bare template with a field of calls and implicit content.
Result<Format> bare(std::string_view calls) {
  return Format::from_json(
      R"({"version": 1, "start_anchor": "<go>", "fields": {"calls": )" +
      std::string(calls) +
      R"(, "content": {"content": "text", "close": ["<end>"]}}})");
}

// A family with raw values.
StructuralTagOptions with_enum(std::string_view values, bool required) {
  StructuralTagOptions options;
  options.tools = *json::parse(
      R"([{"type": "function", "function": {"name": "f", "parameters": {
        "type": "object", "required": [)" +
      std::string(required ? "\"mark\"" : "") +
      R"(], "properties": {"mark": {"enum": )" + std::string(values) +
      "}}}}}]");
  return options;
}

TEST(Inversion, WhatIsLeftOutIsReported) {
  const Format format = *Format::built_in("qwen3_coder");
  const Result<Grammar> grammar =
      format.grammar(with_enum(R"(["a", "</parameter>"])", true));
  ASSERT_TRUE(grammar) << grammar.error().to_string();
  const auto has = [&](std::string_view path, std::string_view text) {
    return std::any_of(grammar->report().begin(), grammar->report().end(),
                       [&](const GrammarNote& note) {
                         return note.kind == GrammarNote::Kind::kNarrowed &&
                                note.path == path &&
                                note.message.find(text) != std::string::npos;
                       });
  };
  EXPECT_TRUE(has("/response_template/fields/tool_calls", "</parameter>"));
  EXPECT_TRUE(has("/tools/0/function/parameters/properties/mark",
                  "argument 'mark', some cannot be written"));

  EXPECT_TRUE(format.structural_tag(with_enum(R"(["</parameter>"])", false)));
  const Result<StructuralTag> none =
      format.structural_tag(with_enum(R"(["</parameter>"])", true));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kConflict);
  EXPECT_EQ(none.error().path, "/tools/0/function/parameters/properties/mark");
  EXPECT_NE(none.error().message.find("tool 'f'"), std::string::npos)
      << none.error().message;

  // The same notes without a compile.
  const Result<StructuralTag> tag =
      format.structural_tag(with_enum(R"(["a", "</parameter>"])", true));
  ASSERT_TRUE(tag);
  const std::vector<GrammarNote> notes = tag->report();
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_EQ(notes[0].keyword, "content");
  EXPECT_EQ(notes[1].keyword, "content");
  EXPECT_EQ(notes[2].keyword, "enum");
  ASSERT_GE(grammar->report().size(), notes.size());

  // JSON has escapes, so that nothing is left out.
  StructuralTagOptions all = with_enum(R"(["</tool_call>"])", true);
  const Result<Grammar> json = Format::built_in("qwen3")->grammar(all);
  ASSERT_TRUE(json) << json.error().to_string();
  EXPECT_TRUE(json->report().empty());
}

// A tool named "f" with this schema of its arguments.
StructuralTagOptions with_schema(std::string_view schema) {
  StructuralTagOptions options;
  options.tools = *json::parse(
      R"([{"type": "function", "function": {"name": "g"}}, )"
      R"({"type": "function", "function": {"name": "f", "parameters": )" +
      std::string(schema) + "}}]");
  return options;
}

// Errors and notes about schemas lead into the request, in each style of
// arguments, from the grammar and from the parser of the tag.
TEST(Inversion, ErrorsInSchemasLeadIntoTheRequest) {
  struct Row {
    const char* property;
    const char* below;  // the place below the property
  };
  const Row rows[] = {
      {R"({"type": "string", "pattern": "a("})", "/pattern"},
      {R"({"$ref": "#/nowhere"})", "/$ref"},
      {R"({"type": "array", "items": {"type": "strnig"}})", "/items/type"},
  };
  for (const char* family : {"qwen3", "qwen3_coder", "gpt_oss", "functiongemma",
                             "minimax_m2", "pythonic_llama4"}) {
    const Result<Format> format = Format::built_in(family);
    ASSERT_TRUE(format) << family;
    for (const Row& row : rows) {
      SCOPED_TRACE(std::string(family) + row.property);
      const std::string schema =
          R"({"type": "object", "properties": {"a/b": )" +
          std::string(row.property) + "}}";
      const StructuralTagOptions options = with_schema(schema);
      const Result<StructuralTag> tag = format->structural_tag(options);
      ASSERT_TRUE(tag) << tag.error().to_string();
      const std::string path = "/tools/1/function/parameters/properties/a~1b" +
                               std::string(row.below);
      const auto check = [&](const Error& error) {
        EXPECT_EQ(error.path, path) << error.message;
        EXPECT_TRUE(error.message.starts_with("tools: the tool 'f': "))
            << error.message;
        EXPECT_EQ(error.message.find("json_schema"), std::string::npos);
      };
      const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
      ASSERT_FALSE(grammar);
      check(grammar.error());
      const Result<CompiledTag> compiled = CompiledTag::compile(*tag);
      ASSERT_FALSE(compiled);
      check(compiled.error());
    }
  }
  // A document, each way a request may write it.
  const Format format = *Format::built_in("qwen3");
  const std::string bad = R"({"type": "object", "minProperties": -1})";
  for (const auto& [request, path] :
       {std::pair(bad, "/response_format/minProperties"),
        std::pair(R"({"type": "json_schema", "schema": )" + bad + "}",
                  "/response_format/schema/minProperties"),
        std::pair(R"({"type": "json_schema", "json_schema": {"schema": )" +
                      bad + "}}",
                  "/response_format/json_schema/schema/minProperties")}) {
    StructuralTagOptions options = with_schema("{}");
    options.response_format = *json::parse(request);
    const Result<Grammar> grammar = format.grammar(options);
    ASSERT_FALSE(grammar);
    EXPECT_EQ(grammar.error().path, path);
    EXPECT_TRUE(grammar.error().message.starts_with("response_format: "))
        << grammar.error().message;
  }
  // No document that can be written, although calls can.
  StructuralTagOptions options = with_schema("{}");
  options.response_format =
      *json::parse(R"({"type": "integer", "minimum": 2, "maximum": 1})");
  const Result<Grammar> grammar = format.grammar(options);
  ASSERT_FALSE(grammar);
  EXPECT_EQ(grammar.error().code, ErrorCode::kConflict);
  EXPECT_EQ(grammar.error().path, "/response_format");
  // Notes, each once although a tool has several tags; the same tag of another
  // request has other places.
  GrammarCache cache;
  for (const std::size_t index : {1, 0}) {
    StructuralTagOptions noted = with_schema(
        R"({"properties": {"x": {"type": "string", "format": "odd"}}})");
    noted.tool_choice =
        *json::parse(R"({"type": "function", "function": {"name": "f"}})");
    if (index == 0) noted.tools = json::Array{noted.tools.items()[1]};
    const Result<StructuralTag> tag = format.structural_tag(noted);
    ASSERT_TRUE(tag);
    const Result<Grammar> made = cache.from_structural_tag(*tag);
    ASSERT_TRUE(made) << made.error().to_string();
    const std::vector<GrammarNote> notes = made->report();
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_EQ(notes[0].path, "/tools/" + std::to_string(index) +
                                 "/function/parameters/properties/x");
  }
}

TEST(Inversion, RequiredValuesThatCannotBeWritten) {
  const Format format = *Format::built_in("qwen3_coder");
  // Found without a compile: all listed values, through references and choices.
  for (const std::string_view value :
       {R"({"$ref": "#/$defs/end"})", R"({"enum": ["</function>"]})",
        R"({"anyOf": [{"const": "<parameter="}, {"$ref": "#/$defs/end"}]})"}) {
    const std::string schema =
        R"({"type": "object", "required": ["x"], "properties": {"x": )" +
        std::string(value) +
        R"(}, "$defs": {"end": {"const": "</function>"}}})";
    const Result<StructuralTag> tag =
        format.structural_tag(with_schema(schema));
    ASSERT_FALSE(tag) << value;
    EXPECT_EQ(tag.error().code, ErrorCode::kConflict);
    EXPECT_EQ(tag.error().path, "/tools/1/function/parameters/properties/x");
  }
  // Found by the compile: what no text fits for any other reason.
  for (
      const std::string_view value :
      {R"({"type": "string", "pattern": "^</function>$"})",
       R"({"type": "array", "minItems": 1, "items": {"const": "</function>"}})",
       R"({"type": "object", "required": ["k"], "properties":
            {"k": {"const": "a</parameter>"}}})",
       R"({"type": "integer", "minimum": 2, "maximum": 1})"}) {
    const std::string schema =
        R"({"type": "object", "required": ["x"], "properties": {"x": )" +
        std::string(value) + "}}";
    for (const std::string_view choice : {"auto", "required"}) {
      StructuralTagOptions options = with_schema(schema);
      options.tool_choice = choice;
      const Result<Grammar> grammar = format.grammar(options);
      ASSERT_FALSE(grammar) << value;
      EXPECT_EQ(grammar.error().code, ErrorCode::kConflict);
      EXPECT_EQ(grammar.error().path, "/tools/1/function/parameters");
      EXPECT_NE(grammar.error().message.find("the tool 'f' cannot be called"),
                std::string::npos)
          << grammar.error().message;
    }
    // Not required: the argument is left out, the tool can be called.
    std::string optional = schema;
    optional.replace(optional.find(R"(["x"])"), 5, "[]");
    EXPECT_TRUE(format.grammar(with_schema(optional))) << value;
  }
  // A tag that was not made from a request has a note.
  const Result<Grammar> grammar = Grammar::from_structural_tag(R"({"format":
      {"type": "tag", "begin": "a", "end": "b", "tool": "t", "content":
        {"type": "json_schema", "json_schema": {"enum": []}}}})");
  EXPECT_FALSE(grammar);
  const Result<Grammar> other = Grammar::from_structural_tag(R"({"format":
      {"type": "optional", "content":
      {"type": "tag", "begin": "a", "end": "b", "tool": "t", "content":
        {"type": "json_schema", "json_schema": {"enum": []}}}}})");
  ASSERT_TRUE(other) << other.error().to_string();
  ASSERT_EQ(other->report().size(), 1u);
  EXPECT_EQ(other->report()[0].keyword, "tool");
  EXPECT_EQ(other->report()[0].path, "/format/content");
}

TEST(Inversion, NamesOfArgumentsThatCannotBeWritten) {
  struct Row {
    std::string_view family;
    std::string_view name;
    bool required;
    std::string_view fault;  // "": it can be written, or is left out
  };
  const Row rows[] = {
      {"qwen3_coder", "a>b", true, "it is read as"},
      {"qwen3_coder", "a>b", false, ""},
      {"qwen3_coder", "a-b", true, ""},
      {"minimax_m2", "a>b", true, "it is read as"},
      {"minimax_m2", "a>b", false, ""},
      {"minimax_m2", "a\"b", true, "cannot be written"},
      {"minimax_m2", "a\"b", false, ""},
      {"lfm2", "a b", true, "cannot be the name of an argument"},
      {"lfm2", "a b", false, ""},
      {"lfm2", "1a", true, "cannot be the name of an argument"},
      {"lfm2", "a--b", true, "cannot be the name of an argument"},
      {"lfm2", "a-b", true, ""},
      {"pythonic_llama4", "a-b.c", true, ""},
      {"pythonic_olmo3", "a-b", true, ""},
      {"minimax_m3", "a>b", true, "cannot be"},
      {"minimax_m3", "a>b", false, ""},
      {"gemma4", "a-b.c", true, ""},
      {"gemma4", "a b", true, ""},
      {"kimi_k3", "a\"b &amp;", true, ""},
      {"qwen3", "a\"b>", true, ""},
  };
  for (const Row& row : rows) {
    json::Array required;
    if (row.required) required.emplace_back(row.name);
    const json::Value schema = json::Object{
        {"type", "object"},
        {"properties", json::Object{{std::string(row.name),
                                     json::Object{{"type", "string"}}}}},
        {"required", required}};
    const Result<StructuralTag> tag =
        Format::built_in(row.family)
            ->structural_tag(with_schema(json::dump(schema)));
    ASSERT_EQ(tag.has_value(), row.fault.empty())
        << row.family << " " << row.name << " "
        << (tag ? "" : tag.error().to_string());
    if (tag) continue;
    EXPECT_EQ(tag.error().code, ErrorCode::kConflict);
    EXPECT_EQ(tag.error().path, "/tools/1/function/parameters/properties/" +
                                    std::string(row.name));
    for (const std::string_view part :
         {std::string_view("tool 'f'"), row.fault,
          std::string_view("field 'tool_calls'")}) {
      EXPECT_NE(tag.error().message.find(part), std::string::npos)
          << tag.error().message;
    }
  }
}

TEST(Inversion, OptionalArgumentsThatCannotBeWrittenAreLeftOut) {
  const StructuralTagOptions options = with_schema(
      R"({"type": "object", "properties": {"a>b": {"type": "string"},
                                           "c": {"type": "string"}}})");
  const Format format = *Format::built_in("qwen3_coder");
  const Result<StructuralTag> tag = format.structural_tag(options);
  ASSERT_TRUE(tag) << tag.error().to_string();
  const std::vector<GrammarNote> notes = tag->report();
  const auto note = std::find_if(
      notes.begin(), notes.end(),
      [](const GrammarNote& one) { return one.keyword == "properties"; });
  ASSERT_NE(note, notes.end());
  EXPECT_EQ(note->path, "/tools/1/function/parameters/properties/a>b");
  EXPECT_NE(note->message.find("it is left out"), std::string::npos);
  const Grammar grammar = *Grammar::from_structural_tag(*tag);
  const auto call = [](std::string_view name) {
    return "<tool_call>\n<function=f>\n<parameter=" + std::string(name) +
           ">\nx\n</parameter>\n</function>\n</tool_call>";
  };
  EXPECT_TRUE(grammar.accepts(call("c")));
  EXPECT_FALSE(grammar.accepts(call("a>b")));
}

TEST(Inversion, TextWithCalls) {
  const auto grammar = [](std::string_view family, TextWithCalls where,
                          std::string_view choice) {
    StructuralTagOptions options = with_schema(R"({"type": "object"})");
    options.text_with_calls = where;
    options.tool_choice = choice;
    options.reasoning = ReasoningMode::kNone;
    Result<Grammar> made = Format::built_in(family)->grammar(options);
    EXPECT_TRUE(made) << made.error().to_string();
    return *std::move(made);
  };
  const std::string call =
      "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
  using enum TextWithCalls;
  const struct {
    TextWithCalls where;
    std::string_view choice;
    bool before, between;
  } kRows[] = {
      {kOptional, "auto", true, false},   {kBefore, "auto", true, false},
      {kBetween, "auto", true, true},     {kOptional, "required", false, false},
      {kBefore, "required", true, false}, {kBetween, "required", true, true},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(std::string(row.choice));
    const Grammar of = grammar("qwen3", row.where, row.choice);
    EXPECT_TRUE(of.accepts(call));
    EXPECT_TRUE(of.accepts(call + "\n" + call));
    EXPECT_EQ(of.accepts("I look.\n" + call), row.before);
    EXPECT_EQ(of.accepts("I look.\n" + call + "\n" + call), row.before);
    EXPECT_EQ(of.accepts(call + "\nAnd now:\n" + call), row.between);
    EXPECT_EQ(of.accepts("So"), row.choice == "auto");
    // No opener in the text, and nothing after the last call.
    EXPECT_FALSE(of.accepts("<tool_call>" + call));
    EXPECT_FALSE(of.accepts(call + "\n<tool_call>x\n" + call));
    EXPECT_FALSE(of.accepts(call + "\nDone."));
  }
  // One call has no text after it; a document has no text beside it.
  StructuralTagOptions options = with_schema(R"({"type": "object"})");
  options.text_with_calls = kBetween;
  options.parallel_tool_calls = false;
  options.tool_choice = "required";
  const Grammar one = *Format::built_in("qwen3")->grammar(options);
  EXPECT_TRUE(one.accepts("I look.\n" + call));
  EXPECT_FALSE(one.accepts(call + "\nAnd now:\n" + call));
  options.tool_choice = "auto";
  options.response_format = *json::parse(R"({"type": "object"})");
  const Grammar document = *Format::built_in("qwen3")->grammar(options);
  EXPECT_TRUE(document.accepts(call));
  EXPECT_FALSE(document.accepts("I look.\n" + call));

  // The preambles of a named tool in messages.
  options = with_schema(R"({"type": "object"})");
  options.tool_choice =
      *json::parse(R"({"type": "function", "function": {"name": "f"}})");
  const std::string preamble =
      "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant";
  const std::string message =
      " to=functions.f<|channel|>commentary json<|message|>{}<|call|>";
  const Format harmony = *Format::built_in("gpt_oss");
  EXPECT_FALSE(harmony.grammar(options)->accepts(preamble + message));
  options.text_with_calls = kBefore;
  EXPECT_TRUE(harmony.grammar(options)->accepts(preamble + message));

  // Calls in a section have no text between them, and the report says so, as
  // it does where the reader would find other text than was written.
  for (const std::string_view family : {"kimi_k2", "laguna_xs"}) {
    StructuralTagOptions between = with_schema(R"({"type": "object"})");
    between.text_with_calls = kBetween;
    const Result<StructuralTag> tag =
        Format::built_in(family)->structural_tag(between);
    ASSERT_TRUE(tag);
    const std::vector<GrammarNote> notes = tag->report();
    EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const auto& note) {
      return note.keyword == "text_with_calls";
    })) << family;
  }
}

TEST(Inversion, BuiltinToolsAreReported) {
  StructuralTagOptions options;
  options.tools = *json::parse(
      R"([{"type": "function", "function": {"name": "f"}},
          {"type": "python"}])");
  const std::vector<GrammarNote> notes =
      Format::built_in("gpt_oss")->structural_tag(options)->report();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].path, "/tools/1");
  EXPECT_EQ(notes[0].kind, GrammarNote::Kind::kIgnored);
}

// "<|eom_id|" and the ">>>" of the next call would end the turn.
TEST(Inversion, WhatFollowsATextCompletesNoExcludedText) {
  StructuralTagOptions options = with_schema(R"({"type": "object"})");
  const Grammar grammar =
      *Format::built_in("functionary_v3_2")->grammar(options);
  EXPECT_TRUE(grammar.accepts(">>>all\na<|eom>>>f\n{}"));
  EXPECT_FALSE(grammar.accepts(">>>all\na<|eom_id|>>>f\n{}"));
}

TEST(Inversion, StringsOfDocumentsAreReported) {
  StructuralTagOptions options;
  options.response_format = *json::parse(R"({"type": "json_object"})");
  const Result<StructuralTag> tag = qwen3().structural_tag(options);
  ASSERT_TRUE(tag);
  ASSERT_EQ(tag->report().size(), 1u);
  EXPECT_EQ(tag->report()[0].path, "/response_template/fields/content");
  EXPECT_NE(tag->report()[0].message.find("<tool_call>"), std::string::npos);
}

TEST(Inversion, TheSameRequestGivesTheSameTag) {
  const Format format = *Format::built_in("qwen3");
  StructuralTagOptions options = with_enum(R"(["a", "b"])", true);
  const std::string first =
      json::dump(format.structural_tag(options)->to_json());
  EXPECT_EQ(json::dump(format.structural_tag(options)->to_json()), first);
  // What was parsed again is the same request.
  options = with_enum(R"(["a", "b"])", true);
  EXPECT_EQ(json::dump(format.structural_tag(options)->to_json()), first);
  // Another order is another tag; so is every other option.
  EXPECT_NE(
      json::dump(
          format.structural_tag(with_enum(R"(["b", "a"])", true))->to_json()),
      first);
  options.tool_choice = "required";
  EXPECT_NE(json::dump(format.structural_tag(options)->to_json()), first);
  options.tool_choice = nullptr;
  options.prefix = "<|im_start|>assistant\n<think>\n";
  EXPECT_NE(json::dump(format.structural_tag(options)->to_json()), first);
}

StructuralTagOptions with_names(const std::vector<std::string>& names) {
  json::Array tools;
  for (const std::string& name : names) {
    tools.push_back(json::Object{{"type", "function"},
                                 {"function", json::Object{{"name", name}}}});
  }
  StructuralTagOptions options;
  options.tools = std::move(tools);
  return options;
}

// The tag, what it leaves out, or the error.
std::string outcome(const Format& format, const StructuralTagOptions& options) {
  const Result<StructuralTag> tag = format.structural_tag(options);
  if (!tag) return tag.error().to_string();
  std::string out = json::dump(tag->to_json());
  for (const GrammarNote& note : tag->report()) out += "\n" + note.message;
  return out;
}

TEST(Inversion, NamesOfOneRequestAreNotThoseOfAnother) {
  // A call whose name begins with a capital letter does not end before another
  // such call.
  const auto make = [] {
    return *bare(R"t({
      "open_pattern": "<call:(?P<name>\\w+)>",
      "close_pattern": "</call>(?!<call:[A-Z])", "content": "json",
      "repeats": true, "transform": {"type": "function",
        "function": {"name": "{name}", "arguments": "{content}"}}})t");
  };
  const std::string small = outcome(make(), with_names({"small", "low"}));
  const std::string big = outcome(make(), with_names({"Big", "Cat"}));
  EXPECT_EQ(small.find("at most one"), std::string::npos) << small;
  EXPECT_NE(big.find("at most one"), std::string::npos) << big;
  const Format shared = make();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(outcome(shared, with_names({"Big", "Cat"})), big);
    EXPECT_EQ(outcome(shared, with_names({"small", "low"})), small);
    EXPECT_EQ(outcome(shared, with_names({"small", "Big"})),
              outcome(make(), with_names({"small", "Big"})));
  }
}

// Whatever names a request has, the next one gets the tag of a new format.
TEST(Inversion, EachRequestGetsTheTagOfANewFormat) {
  const std::vector<std::vector<std::string>> requests = {
      {"get"}, {"a.b"}, {"a-b", "get"}, {"</tool_call>"}, {}, {"get", "set"}};
  for (const std::string_view name : Format::built_in_names()) {
    const std::string source(Format::built_in_source(name));
    const std::string bare(Format::built_in(name)->template_json());
    for (const std::string& text : {source, bare}) {
      const Result<Format> shared = Format::from_json(text);
      ASSERT_TRUE(shared) << name;
      for (const auto& names : requests) {
        const Result<Format> made = Format::from_json(text);
        EXPECT_EQ(outcome(*shared, with_names(names)),
                  outcome(*made, with_names(names)))
            << name << " " << (names.empty() ? "" : names.front());
      }
    }
  }
}

TEST(Inversion, BareTemplates) {
  for (const std::string_view name : Format::built_in_names()) {
    SCOPED_TRACE(std::string(name));
    const Result<Format> family = Format::built_in(name);
    ASSERT_TRUE(family.has_value()) << family.error().to_string();
    const Result<Format> format = Format::from_json(family->template_json());
    ASSERT_TRUE(format.has_value()) << format.error().to_string();
    const Result<StructuralTag> tag = format->structural_tag(with_tools());
    // The shortest openers of the first have no delimiter: "all\n", "name\n".
    // The others write calls that a template cannot express.
    if (name == "functionary_v3_2" || name == "cohere_cofl_xml" ||
        name == "minimax_m3") {
      ASSERT_FALSE(tag.has_value());
      continue;
    }
    ASSERT_TRUE(tag.has_value()) << tag.error().to_string();
    const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
    EXPECT_TRUE(grammar.has_value()) << grammar.error().to_string();
  }
}

// The grammar of a bare template has the values that the casts of its reader
// give, and the report or an error says what it lacks.
TEST(Inversion, OfABareTemplateArgumentsAreWhatTheCastGives) {
  const Result<Format> format =
      Format::from_json(Format::built_in("qwen3_coder")->template_json());
  ASSERT_TRUE(format) << format.error().to_string();
  const auto text_of = [](std::string_view value) {
    return "<function=f><parameter=a>" + std::string(value) +
           "</parameter></function>";
  };
  const struct {
    std::string_view argument;
    std::vector<std::string_view> accepted;
    std::vector<std::string_view> refused;
    std::string_view note;  // part of one; "": there is none about arguments
  } kRows[] = {
      {R"({"type": "integer"})", {"1", "-20"}, {"x"}, ""},
      {R"({"type": "string"})", {"1", "null", "x"}, {}, ""},
      {R"({"enum": [1, "x"]})", {"x"}, {"1"}, "numbers are left out"},
      {R"({"anyOf": [{"enum": [1, 2]}, {"type": "null"}]})",
       {"null"},
       {"1"},
       "numbers are left out"},
      {R"({"type": ["integer", "string"]})",
       {"1", "x"},
       {"+1", "1_0", " 1"},
       "strings that the template reads as a value of another type"},
      {R"({"type": ["boolean", "integer"]})",
       {"true", "2"},
       {"1", "0"},
       "numbers that the template reads as another value"},
      {R"({})", {"1", "[1]"}, {}, "null, true and false, numbers, lists"},
      {R"({"type": "array", "items": {"$ref": "#/$defs/n"}})",
       {"[1]"},
       {"[\"1\"]"},
       ""},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(std::string(row.argument));
    StructuralTagOptions options;
    options.tools = json::Array{json::Object{
        {"name", "f"},
        {"parameters",
         json::Object{
             {"properties", json::Object{{"a", *json::parse(row.argument)}}},
             {"$schema", "http://json-schema.org/draft-07/schema#"},
             {"$id", "#"},
             {"$defs",
              json::Object{{"n", json::Object{{"type", "integer"}}}}}}}}};
    options.tool_choice = "required";
    const Result<StructuralTag> tag = format->structural_tag(options);
    ASSERT_TRUE(tag) << tag.error().to_string();
    std::string notes;
    for (const GrammarNote& note : tag->report()) {
      if (note.path == "/tools/0/parameters/properties/a") {
        notes += note.message;
      }
    }
    if (row.note.empty()) {
      EXPECT_EQ(notes, "");
    } else {
      EXPECT_NE(notes.find(row.note), std::string::npos) << notes;
    }
    const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
    ASSERT_TRUE(grammar) << grammar.error().to_string();
    for (const std::string_view value : row.accepted) {
      EXPECT_TRUE(grammar->accepts(text_of(value))) << value;
    }
    for (const std::string_view value : row.refused) {
      EXPECT_FALSE(grammar->accepts(text_of(value))) << value;
    }
  }
  // A required argument of which no value is read back.
  StructuralTagOptions options;
  options.tools = *json::parse(R"([{"name": "f", "parameters": {
      "properties": {"a": {"enum": [1, 2]}}, "required": ["a"]}}])");
  const Result<StructuralTag> tag = format->structural_tag(options);
  ASSERT_FALSE(tag);
  EXPECT_EQ(tag.error().path, "/tools/0/parameters/properties/a");
  EXPECT_EQ(tag.error().message,
            "tools: the argument 'a' of the tool 'f': none of its values is "
            "read back, because the template reads numbers as strings where "
            "the argument's own \"type\", \"anyOf\", \"oneOf\" and "
            "\"nullable\" do not name their type.");
}

TEST(Inversion, OfABareTemplateTheShortestSpellingIsWritten) {
  // A group of the opener is the name, another one varies, and the rest is as
  // short as it can be.
  const Result<Format> group = bare(R"t({
    "open_pattern": "<(?:call|tool)>\\s*(?P<id>c\\d+):(?P<name>\\w+)(?: +x)?\\n+",
    "close_pattern": "</(?:call|tool)>|(?=<call>)", "content": "json",
    "repeats": true, "transform": {"type": "function", "id": "{id}",
      "function": {"name": "{name}", "arguments": "{content}"}}})t");
  ASSERT_TRUE(group.has_value()) << group.error().to_string();
  const Request by_group(*group, with_tools());
  EXPECT_TRUE(by_group.accepts("So.<call>c7:now\n{}</call><end>"));
  EXPECT_TRUE(
      by_group.accepts("<call>c12:now\n{}</call><call>c3:now\n{}</call>"));
  by_group.rejects("<call>c7:now x\n{}</call>");
  by_group.rejects("a </call> <call>");

  // Name and arguments are members of the value, also of an inner object, and
  // what else the transform needs is written, too.
  const Result<Format> inside = bare(R"t({
    "open": ["<call>", "<tool>"], "close": "</call>", "content": "json",
    "repeats": true, "transform": {"id": "{content.id}", "function": {
      "name": "{content.f.name}", "arguments": "{content.f.args}"}}})t");
  ASSERT_TRUE(inside.has_value()) << inside.error().to_string();
  const Request members(*inside, with_tools());
  EXPECT_TRUE(members.accepts(
      R"(<call>{"f": {"name": "add", "args": {"x": 1}}, "id": "a1"}</call>)"));

  // The value is the function, with both members.
  const Result<Format> whole = bare(R"t({
    "open_pattern": "\\s*<call>", "close": "</call>", "content": "json",
    "repeats": true,
    "transform": {"type": "function", "function": "{content}"}})t");
  ASSERT_TRUE(whole.has_value()) << whole.error().to_string();
  const Request function(*whole, with_tools());
  EXPECT_TRUE(function.accepts(
      R"(So.<call>{"name": "add", "arguments": {"x": 1}}</call>)"));
  function.rejects(R"(<call>{"name": "sub", "arguments": {}}</call>)");

  // A list of calls is one region.
  const Result<Format> list = bare(R"t({
    "open_pattern": "<calls>(?=\\s*\\[)", "close": "</calls>",
    "content": "json", "transform_each": true, "transform": {
      "name": "{name}", "arguments": "{parameters}"}})t");
  ASSERT_TRUE(list.has_value()) << list.error().to_string();
  const Request each(*list, with_tools());
  EXPECT_TRUE(
      each.accepts(R"(<calls>[{"name": "now", "parameters": {}}, )"
                   R"({"name": "add", "parameters": {"x": 1}}]</calls>)"));
}

TEST(Inversion, BareTemplatesThatCannotBeInverted) {
  const struct {
    std::string_view calls;
    std::string_view path;
    std::string_view message;
  } kRows[] = {
      {R"t({"open": "<c>", "close": "</c>", "content": "json",
            "transform": {"function": {"name": "{content.name}"}}})t",
       "/fields/calls/transform", "no placeholders"},
      {R"t({"open_pattern": "<(?P<name>a)b(?=c)|d", "close": "</c>",
            "content": "kv-lines", "transform": {"function": {
              "name": "{name}", "arguments": "{content}"}}})t",
       "/fields/calls/content", "content 'json'"},
      {R"t({"open_pattern": "<(?P<name>\\w+)(a)\\2>", "close": "</c>",
            "content": "json", "transform": {"function": {
              "name": "{name}", "arguments": "{content}"}}})t",
       "/fields/calls/open_pattern", "no text"},
      // The shortest spelling is not read back: the look-behind fails.
      {R"t({"open_pattern": "<(?P<name>\\w+)>(?<=x>)", "close": "</c>",
            "content": "json", "transform": {"function": {
              "name": "{name}", "arguments": "{content}"}}})t",
       "/tools", "is not a part of the call"},
  };
  for (const auto& row : kRows) {
    const Result<Format> format = bare(row.calls);
    ASSERT_TRUE(format.has_value()) << format.error().to_string();
    const Result<StructuralTag> tag = format->structural_tag(with_tools());
    ASSERT_FALSE(tag.has_value()) << row.calls;
    EXPECT_EQ(tag.error().path, row.path) << tag.error().message;
    EXPECT_NE(tag.error().message.find(row.message), std::string::npos)
        << tag.error().message;
  }
}

}  // namespace
}  // namespace parlance::inversion_test
