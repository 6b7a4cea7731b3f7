// Events of calls, shape by shape: what each chunk of a response adds.
//
// In the expected column, "+f" announces the call f ("+f#id" with an id), "."
// closes a call, and everything else is the text of arguments.  "!" stands for
// a diagnostic that a call was changed.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "../support/call_record.h"
#include "parlance/response_parser.h"

namespace parlance::call_stream_test {
namespace {

struct Chunk {
  std::string text;
  std::string expected;
};

std::string shown(std::span<const Event> events) {
  std::string out;
  for (const Event& event : events) {
    switch (event.kind) {
      case EventKind::kCallOpen:
        out += "+" + std::string(event.text);
        if (!event.call_id.empty()) out += "#" + std::string(event.call_id);
        out += " ";
        break;
      case EventKind::kCallArguments:
        out += event.text;
        break;
      case EventKind::kCallClose:
        out += ".";
        break;
      default:
        break;
    }
  }
  return out;
}

void check(const Format& format, const std::vector<Chunk>& chunks,
           const ToolSet* tools = nullptr, bool changed = false) {
  StreamOptions options;
  options.stream_calls = true;
  options.tools = tools;
  ResponseParser parser(format, options);
  testing::CallRecord record;
  record.add(parser.initial_events());
  for (const Chunk& chunk : chunks) {
    const auto events = parser.feed(chunk.text);
    EXPECT_EQ(shown(events), chunk.expected) << chunk.text;
    record.add(events);
  }
  record.add(parser.finalize());
  EXPECT_EQ(record.check(parser.message(), "tool_calls"), "");
  bool found = false;
  for (const Diagnostic& diagnostic : parser.message().diagnostics) {
    if (diagnostic.message.find("was announced") != std::string::npos) {
      found = true;
    }
  }
  EXPECT_EQ(found, changed);
  // The same, byte by byte.
  std::string text;
  for (const Chunk& chunk : chunks) text += chunk.text;
  ResponseParser bytes(format, options);
  testing::CallRecord slow;
  slow.add(bytes.initial_events());
  for (const char c : text) slow.add(bytes.feed({&c, 1}));
  slow.add(bytes.finalize());
  EXPECT_EQ(slow.check(bytes.message(), "tool_calls"), "");
  EXPECT_EQ(slow.log, record.log);
}

Format built_in(std::string_view name) {
  Result<Format> format = Format::built_in(name);
  EXPECT_TRUE(format.has_value()) << name;
  return *format;
}

// A template with one field of calls, from "<" to ">".
Format calls_format(const std::string& rest) {
  Result<Format> format = Format::from_json(
      R"({"start_anchor": "A:", "fields": {"tool_calls": {"open_pattern": )"
      R"("<(?P<name>\\w*)!", "close": ">", "repeats": true, )" +
      rest + "}}}");
  EXPECT_TRUE(format.has_value()) << format.error().to_string();
  return *format;
}

const ToolSet& tools() {
  static const ToolSet* const kTools = new ToolSet(ToolSet::from_value(
      *json::parse(R"([{"type": "function", "function": {"name": "f",
        "parameters": {"type": "object", "properties": {
          "s": {"type": "string"}, "n": {"type": "integer"},
          "u": {"type": ["integer", "string"]},
          "l": {"type": "array"}}}}}])")));
  return *kTools;
}

// --- JSON --------------------------------------------------------------------

TEST(CallStream, NameInTheOpener) {
  check(built_in("kimi_k2"),
        {{"<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0", ""},
         {"<|tool_call_argument_begin|>", ""},
         {" ", ""},
         {"{", "+f#functions.f:0 {"},
         {R"("a": "x)", R"("a": "x)"},
         {R"(\)", ""},
         {R"(n")", R"(\n")"},
         {"} ", ""},
         {"<|tool_call_end|>", ""},
         {"<|tool_calls_section_end|>", "}."}});
}

// Half of a surrogate pair waits for its partner.
TEST(CallStream, PiecesHaveWholeEscapes) {
  check(built_in("kimi_k2"),
        {{"<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0", ""},
         {R"(<|tool_call_argument_begin|>{"a": ")",
          R"(+f#functions.f:0 {"a": ")"},
         {R"(\\\ud8)", R"(\\)"},
         {R"(3c)", ""},
         {R"(\)", ""},
         {R"(udf0)", ""},
         {R"(a)", R"(\ud83c\udf0a)"},
         {R"(\ud83c)", ""},
         {R"(\ud83c)", R"(\ufffd)"},
         {R"(\n\udf0a\\u)", R"(\ufffd\n\ufffd\\u)"},
         {R"("})", R"(")"},
         {"<|tool_call_end|>", ""},
         {"<|tool_calls_section_end|>", "}."}});
}

TEST(CallStream, NameAndArgumentsInTheContent) {
  const Format format = built_in("hermes_qwen2_5");
  check(format, {{"<tool_call>{\"na", ""},
                 {"me\": \"f", ""},
                 {"\"", "+f "},
                 {", \"arguments\" : ", ""},
                 {"{", "{"},
                 {"\"a\": [1, 2", "\"a\": [1, 2"},
                 {"]} , \"x\"", "]"},
                 {": 1}</tool_call>", "}."}});
  // The arguments wait for the name.
  check(format,
        {{R"(<tool_call>{"arguments": {"a": 1}, "more": [{"name": 2}],)", ""},
         {R"( "name": "f")", R"(+f {"a": 1)"},
         {"}</tool_call>", "}."}});
  check(format, {{R"(<tool_call>{"name": "f\u0041\n", )", "+fA\n "},
                 // A string may be the JSON text of the arguments.
                 {R"("arguments": "te)", ""},
                 {R"(xt"}</tool_call>)", "\"text\"."}});
}

TEST(CallStream, NumbersThatAreNoJson) {
  check(built_in("hermes_qwen2_5"),
        {{R"(<tool_call>{"name": "f", "arguments": {"a": Na)", R"(+f {"a": )"},
         {R"(N, "b": [-Inf)", R"(null, "b": [-)"},
         {R"(inity, Infinity], "NaN": "NaN)", R"(1e999, 1e999], "NaN": "NaN)"},
         {R"("}}</tool_call>)", R"("}.)"}});
  // Beside values that are cast.
  check(built_in("hermes_qwen2_5"),
        {{R"(<tool_call>{"arguments": {"n": "1", "x": NaN, "l": [NaN]}, )", ""},
         {R"("name": "f"}</tool_call>)",
          R"(+f {"n": 1, "x": null, "l": [null]}.)"}},
        &tools());
  check(built_in("cohere_cofl_xml"),
        {{R"(<cofl:tool_call id="0" name="f"><cofl:value name="a" )", "+f#0 "},
         {R"(type="json">[-I)", R"({"a": )"},
         {R"(nfinity]</cofl:value></cofl:tool_call>)", "[-1e999]"},
         {"</cofl:tool_calls>", "}."}});
}

TEST(CallStream, ListOfCalls) {
  check(built_in("mistral_v3"),
        {{R"([TOOL_CALLS][{"name": "f", "arguments": {"a)", R"(+f {"a)"},
         {R"(": 1}}, {"arguments": {}, "name": "g)", R"(": 1}.)"},
         {R"("}])", "+g {}."},
         {"</s>", ""}});
  check(
      built_in("cohere_command"),
      {{R"(<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f")", "+f#0 "},
       {R"(, "parameters": {"a": 1}}, {"tool_name": "g", "parameters": {)",
        R"({"a": 1}.)"},
       {R"(}, "tool_call_id": 7}]<|END_ACTION|>)", "+g#7 {}."}});
}

TEST(CallStream, RepeatedMembersOfACall) {
  // In a format file the call is malformed, and nothing completes it.
  const Format format = built_in("hermes_qwen2_5");
  check(format,
        {{R"(<tool_call>{"name": "f", "arguments": {"a": 1})", R"(+f {"a": 1)"},
         {R"(, "name": "g"}</tool_call>)", ""}});
  check(format,
        {{R"(<tool_call>{"name": "f", "arguments": {"a": 1})", R"(+f {"a": 1)"},
         {R"(, "arguments": {"a": 2}}</tool_call>)", ""}});
  check(format,
        {{R"(<tool_call>{"name": "f", "name": "f", "arguments": {})", "+f "},
         {R"(}</tool_call>)", ""}});
  check(format, {{R"(<tool_call>{"arguments": 1, "arguments": {}, "name": "f")",
                  "+f {"},
                 {R"(}</tool_call>)", ""}});
  // The last one counts in a bare template, which announces the call again.
  const Format bare = *Format::from_json(format.template_json());
  check(bare,
        {{R"(<tool_call>{"name": "f", "arguments": {"a": 1})", R"(+f {"a": 1)"},
         {R"(, "name": "g"}</tool_call>)", R"(+g {"a": 1}.)"}},
        nullptr, true);
  check(bare,
        {{R"(<tool_call>{"name": "f", "arguments": {"a": 1})", R"(+f {"a": 1)"},
         {R"(, "arguments": {"a": 2}}</tool_call>)", R"(+f {"a": 2}.)"}},
        nullptr, true);
  check(bare,
        {{R"(<tool_call>{"name": "f", "name": "f", "arguments": {})", "+f "},
         {R"(}</tool_call>)", "+f {}."}},
        nullptr, true);
  // Nothing is certain before the name.
  check(bare, {{R"(<tool_call>{"arguments": 1, "arguments": {}, "name": "f")",
                "+f {"},
               {R"(}</tool_call>)", "}."}});
  // Repeated arguments are the model's own text.
  check(format, {{R"(<tool_call>{"name": "f", "arguments": {"a": 1, "a": 2}})",
                  R"(+f {"a": 1, "a": 2)"},
                 {R"(</tool_call>)", "}."}});
}

TEST(CallStream, NoCall) {
  const Format format = built_in("hermes_qwen2_5");
  check(format, {{R"(<tool_call>{"nam": "f", "arguments": {}})", ""},
                 {"</tool_call>", ""}});
  check(format,
        {{R"(<tool_call>{"name": 5, "arguments": {}}</tool_call>)", ""}});
  check(format, {{"<tool_call>not JSON</tool_call>", ""}});
  // Damage ends the text; the call stays unfinished.
  check(format, {{R"(<tool_call>{"name": "f", "arguments": {"a": 1,})",
                  R"(+f {"a": 1,)"},
                 {R"(, "b": 2}})", ""},
                 {"</tool_call>", ""}});
  check(format, {{R"(<tool_call>{"name": "f", "arguments": {"a": 1)",
                  R"(+f {"a": 1)"}});
}

TEST(CallStream, CastsOfJson) {
  const Format format = built_in("hermes_qwen2_5");
  check(
      format,
      {{R"(<tool_call>{"name": "f", "arguments": {"s": "1)", R"(+f {"s": "1)"},
       {R"(", "n": "1)", R"(", "n": )"},
       {R"(2", "u": "3)", R"(12, "u": "3)"},
       {R"(", "n": ["4", "x)", R"(", "n": )"},
       {R"("], "l": ["5)", R"([4, "x"], "l": ["5)"},
       {R"("], "z": "6"}}</tool_call>)", R"("], "z": "6"}.)"}},
      &tools());
  // A bare template casts strings that the schema accepts, too.
  Result<Format> bare = Format::from_json(format.template_json());
  ASSERT_TRUE(bare.has_value());
  check(*bare,
        {{R"(<tool_call>{"arguments": {"u": "3", "s": "1"}, )", ""},
         {R"("name": "f"}</tool_call>)", R"(+f {"u": 3, "s": "1"}.)"}},
        &tools());
}

TEST(CallStream, Dialects) {
  check(built_in("gemma4"), {{"<|tool_call>call:f", ""},
                             {"{", "+f {"},
                             {"ci", ""},
                             {"ty:<|\"|>Be", R"("city":"Be)"},
                             {"rn\"<|", R"(rn\")"},
                             {"\"|>,n:1", R"(","n":)"},
                             {"}<tool_call|>", "1}."}});
}

TEST(CallStream, WholeRegions) {
  // Two pairs of delimiters are rewritten one after the other.
  check(
      calls_format(R"("content": "json", "content_args": {"string_delims": )"
                   R"x([["(", ")"], ["[", "]"]]}, "transform": {"function": )x"
                   R"({"name": "{name}", "arguments": "{content}"}})"),
      {{"<f!{\"a\": ", "+f "}, {"(x)}>", R"({"a": "x"}.)"}});
  // The name is in the arguments.
  check(calls_format(R"("content": "json", "transform": {"function": )"
                     R"({"name": "{content.n}", "arguments": "{content}"}})"),
        {{"<f!{\"n\": \"g\"", ""}, {"}>", R"(+g {"n": "g"}.)"}});
  check(calls_format(R"("content": "json", "transform": {"function": )"
                     R"({"name": "{content.n}", "arguments": {"a": 1}}})"),
        {{"<f!{\"n\": \"g\"}>", R"(+g {"a": 1}.)"}});
}

// A format file with calls from "<" to ">", read as `reading` says.
Format file_format(const std::string& reading, const std::string& rest = "") {
  Result<Format> format = Format::from_json(
      R"({"name": "test", "response_template": {"version": 1, "start_anchor": )"
      R"("A:", "fields": {"tool_calls": {"open": "<", "close": ">", )"
      R"("repeats": true, "content": "json")" +
      rest + R"(}}}, "parlance": {"read": {"tool_calls": )" + reading + "}}}");
  EXPECT_TRUE(format.has_value()) << format.error().to_string();
  return *format;
}

TEST(CallStream, NamesOfMembers) {
  const Format format = file_format(
      R"({"members": {"name": ["name", "tool"], "arguments": )"
      R"(["arguments", "parameters"], "id": ["id"], "as_text": true}})");
  // Without an id the call is announced at its end.
  check(format,
        {{R"(<{"id": 7, "tool": "f", "parameters": {"a")", R"(+f#7 {"a")"},
         {": 1}}", ": 1"},
         {">", "}."}});
  check(format, {{R"(<{"tool": "f", "parameters": {"a": 1})", ""},
                 {"}", R"(+f {"a": 1)"},
                 {">", "}."}});
  // A part under two of its names makes the call malformed.
  check(format,
        {{R"(<{"id": "", "name": "f", "tool": "g", "arguments": {)", "+f {"},
         {R"(}}>)", ""}});
  check(format, {{R"(<{"id": "", "name": "f", "arguments": {)", "+f {"},
                 {R"(}, "parameters": {}}>)", ""}});
  check(format, {{R"(<{"id": "", "tool": "f", "parameters": {}, )", "+f {"},
                 {R"("name": "g"}>)", ""}});
  check(format, {{R"(<{"id": "", "name": "f", "arguments": "{\"n\": )", "+f "},
                 {R"(\"1\"}"}>)", R"({"n": "1"}.)"}});
  check(format,
        {{R"(<{"id": "", "name": "f", "arguments": "{\"n\": )", "+f "},
         {R"(\"1\"}"}>)", R"({"n": 1}.)"}},
        &tools());
}

TEST(CallStream, OnlyKey) {
  check(file_format(R"({"values": "list", "members": {"only_key": true}})"),
        {{R"(<[{"f": {"a")", R"(+f {"a")"},
         {R"(: 1}}, {"g": {})", ": 1}.+g {"},
         {"}]>", "}."}});
}

TEST(CallStream, Sequences) {
  const Format format =
      file_format(R"({"values": {"sequence": "; "}})",
                  R"(, "transform": {"function": {"name": "{content.name}", )"
                  R"("arguments": "{content.arguments}"}})");
  check(format, {{R"(<{"name": "f", "arguments": {}};)", "+f {}."},
                 {R"( {"name": "g", "arguments": {)", "+g {"},
                 {R"(}}>)", "}."}});
  check(
      format,
      {{R"(<[{"name": "f", "arguments": {}}, {"name": "g", )", "+f {}.+g "},
       {R"("arguments": {"a": 1,}}, {"name": "h", )", R"({"a": 1,+h )"},
       {R"("arguments": {}}]; {"name": "i", "arguments": {}}>)", "{}.+i {}."}});
  // A damaged call is left out, and the calls beside it count.
  check(file_format(R"({"values": "list"})"),
        {{R"(<[{"name": "f", "arguments": {"a": 1}, "id": 1}, {"name": "g", )",
          R"(+f#1 {"a": 1}.)"},
         {R"("args": {}, "id": 2}, {"name": "h", "arguments": {}, "id": 3})",
          "+g#2 +h#3 {}."},
         {"]>", ""}});
  // A call without arguments has {}.
  check(file_format(R"({"values": "list"})"),
        {{R"(<[{"type": "function", "name": "f", "id": 1})", "+f#1 {}."},
         {R"(, {"name": "g", "id": 2}]>)", "+g#2 {}."}});
  // A list after a call.
  check(format,
        {{R"(<{"name": "f", "arguments": {"a": 1}}; [)", R"(+f {"a": 1}.)"},
         {R"({"name": "g", "arguments": {}}]>)", "+g {}."}});
  // A line feed ends a string.
  check(file_format(R"({"values": "list"})"),
        {{"<[{\"id\": 1, \"name\": \"f\", \"arguments\": {\"a\": \"x\n",
          "+f#1 {\"a\": \"x"},
         {R"(y"}}, "z)", ""},
         {"\n\", ", ""},
         {R"({"id": 2, "name": "g", "arguments": {}}]>)", "+g#2 {}."}});
}

// --- Elements and lines
// --------------------------------------------------------

TEST(CallStream, Elements) {
  const Format format = built_in("qwen3_coder");
  const std::vector<Chunk> chunks = {
      {"<tool_call>\n<function=f>", ""},
      {"\n<parameter=s", "+f "},
      {">\n", R"({"s": ")"},
      {"ab\n", "ab"},
      {"\"c", R"(\n\"c)"},
      {"</para", ""},
      {"x", "</parax"},
      {"</parameter>", ""},
      {"\n", ""},
      {"<parameter=n>\n7", R"(", "n": ")"},
  };
  {
    std::vector<Chunk> plain = chunks;
    plain.back().expected = R"(", "n": "7)";
    plain.push_back({"\n</parameter>\n</function>", ""});
    plain.push_back({"\n</tool_call>", "\"}."});
    check(format, plain);
  }
  std::vector<Chunk> typed = chunks;
  typed.back().expected = "\"";
  typed.push_back({"\n</parameter>\n", ""});
  typed.push_back({"<parameter=u>x", ", \"n\": 7"});
  typed.push_back(
      {"</parameter>\n</function></tool_call>", ", \"u\": \"x\"}."});
  check(format, typed, &tools());
}

// A format file with the calls of `template_rest`, whose arguments are read as
// `arguments` says.
Format element_file(const std::string& pattern, const std::string& arguments) {
  Result<Format> format = Format::from_json(
      R"({"name": "test", "response_template": {"version": 1, "start_anchor": )"
      R"("A:", "fields": {"tool_calls": {"open_pattern": "<(?P<name>\\w*)!", )"
      R"("close": ">", "repeats": true, "content": "xml-inline", )"
      R"("content_args": {"tag_pattern": ")" +
      pattern +
      R"("}, "transform": {"function": {"name": "{name}", "arguments": )"
      R"("{content}"}}}}}, "parlance": {"read": {"tool_calls": {"arguments": )" +
      arguments + "}}}}");
  EXPECT_TRUE(format.has_value()) << format.error().to_string();
  return *format;
}

TEST(CallStream, ElementsOfFamilyFiles) {
  check(element_file(R"(\\[(?P<key>\\w+)\\](?P<value>.*?)\\[/\\])",
                     R"({"line_feeds": 1})"),
        {{"<f![s]\n", R"(+f {"s": ")"},
         {"\na\n", R"(\na)"},
         {"b\n", R"(\nb)"},
         {"[/][t]\n[/]>", R"(", "t": ""}.)"}});
  const Format typed = element_file(
      R"(\\[(?P<key>\\w+) (?P<type>\\w+)\\](?P<value>.*?)\\[/\\])",
      R"({"type_by": {"capture": "type", "map": {"s": "string", "j": "json"}}})");
  check(typed, {{"<f![a s]1", R"(+f {"a": "1)"},
                {"2[/][b j]1", "2\""},
                {"2[/]>", R"(, "b": 12}.)"}});
}

TEST(CallStream, RepeatedElements) {
  check(built_in("seed_oss"),
        {{"<seed:tool_call><function=f><parameter=s>a</parameter>",
          R"(+f {"s": "a)"},
         {"<parameter=s>b</par", R"(", "s": "b)"},
         {"ameter></function></seed:tool_call>", "\"}."}});
}

TEST(CallStream, ElementsWithoutHalves) {
  // A class instead of any text: elements are read whole.
  check(calls_format(
            R"("content": "xml-inline", "content_args": {"tag_pattern": )"
            R"("\\[(?P<key>\\w+)\\](?P<value>[^\\[]*)\\[/\\]"}, )"
            R"("transform": {"function": {"name": "{name}", "arguments": )"
            R"("{content}"}})"),
        {{"<f!", "+f "},
         {"[a]1[/", ""},
         {"][b]2", R"({"a": "1")"},
         {"[/]>", R"(, "b": "2"}.)"}});
  // The values of a repeated element are a list, which is written when the
  // region closes.
  check(calls_format(
            R"("content": "xml-inline", "content_args": {"tag_pattern": )"
            R"("\\[(?P<key>\\w+)\\](?P<value>.*?)\\[/\\]", )"
            R"("merge_duplicates": true}, )"
            R"("transform": {"function": {"name": "{name}", "arguments": )"
            R"("{content}"}})"),
        {{"<f![a]1[/][a]2[/]", R"(+f {"a": "1")"},
         {">", R"(, "a": ["1", "2"]}.)"}});
}

TEST(CallStream, Lines) {
  check(calls_format(R"("content": "kv-lines", "transform": {"function": )"
                     R"({"name": "{name}", "arguments": "{content}"}})"),
        {{"<f!s: a", "+f "},
         {"b \nn: 1", R"({"s": "ab")"},
         {"2>", R"(, "n": 12}.)"}},
        &tools());
}

}  // namespace
}  // namespace parlance::call_stream_test
