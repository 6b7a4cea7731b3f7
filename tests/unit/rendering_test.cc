// Rendering: messages to text.  The expected texts are what the chat templates
// of the models write.

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/vocabulary.h"
#include "support/family_laws.h"
#include "verification/walker.h"

namespace parlance::rendering_test {
namespace {

json::Value value(std::string_view text) {
  Result<json::Value> out = json::parse(text);
  EXPECT_TRUE(out) << text;
  return *out;
}

// A family that calls as Hermes does, with `write` given.
Format family(const std::string& write, const std::string& read = "{}") {
  const std::string file = R"({"name": "mine", "response_template": {
    "start_anchor": "<|assistant|>", "fields": {
      "thinking": {"open": "<think>", "close": "</think>"},
      "tool_calls": {"open": "<call>", "close": "</call>", "content": "json",
        "repeats": true, "transform": {"type": "function", "function":
          {"name": "{content.name}", "arguments": "{content.arguments}"}}},
      "content": {"content": "text", "content_args": {"strip": false},
        "repeats": true, "join": "", "close": "<|end|>"}}},
    "parlance": {"turn_end": ["<|end|>"], "read": )" +
                           read + R"(, "write": )" + write + "}}";
  Result<Format> out = Format::from_json(file);
  EXPECT_TRUE(out) << out.error().to_string();
  return *out;
}

constexpr char kWrite[] = R"({
  "order": ["thinking?", "content?", "tool_calls*"],
  "thinking": {"parts": ["<think>", {"text": true}, "</think>"]},
  "content": {"parts": [{"text": true}]},
  "tool_calls": {"before": ["|"], "between": [" "], "parts": [
    "<call>{\"name\": ", {"name": "json"}, ", \"arguments\": ",
    {"arguments": "json"}, "}</call>"]}})";

std::string rendered(const Format& format, std::string_view message,
                     const RenderOptions& options = {}) {
  Result<std::string> text = format.render(value(message), options);
  return text ? *text : "ERROR " + text.error().to_string();
}

constexpr char kTwoCalls[] = R"({"role": "assistant", "reasoning": "Hm.",
  "tool_calls": [
    {"type": "function", "function": {"name": "f", "arguments": {"s": "\u00fc"}}},
    {"function": {"name": "g", "arguments": "{\"n\": 1}"}}]})";

TEST(Rendering, FieldsComeInTheOrderOfTheFile) {
  EXPECT_EQ(rendered(family(kWrite), kTwoCalls, {.verify = false}),
            "<think>Hm.</think>"
            R"(<call>{"name": "f", "arguments": {"s": "ü"}}</call> )"
            R"(<call>{"name": "g", "arguments": {"n": 1}}</call>)");
}

TEST(Rendering, WhatIsAbsentNullOrEmptyIsNotWritten) {
  const Format format = family(kWrite);
  EXPECT_EQ(rendered(format, R"({"content": "Hi."})"), "Hi.");
  EXPECT_EQ(rendered(format, R"({"content": "Hi.", "tool_calls": [],
                                 "thinking": null})"),
            "Hi.");
  EXPECT_EQ(rendered(format, "{}"), "");
}

TEST(Rendering, WhatIsWrittenInsteadOfReasoning) {
  const Format format = family(
      R"({"order": ["thinking?", "content?"],
          "thinking": {"parts": ["<think>", {"text": true}, "</think>\n"],
                       "off": ["<think></think>"]},
          "content": {"parts": [{"text": true}]}})",
      R"({"thinking": {"layout": {"after": ["\n"]}}})");
  EXPECT_EQ(rendered(format, R"({"content": "Hi."})"), "<think></think>Hi.");
  // A line feed after it would be layout.
  EXPECT_EQ(rendered(format, R"({"content": "\nHi."})"), "\nHi.");
  EXPECT_EQ(rendered(format, R"({"thinking": "Hm.", "content": "\nHi."})"),
            "<think>Hm.</think>\n\nHi.");
}

TEST(Rendering, ThePromptsPartIsLeftOut) {
  const Format format = family(kWrite);
  EXPECT_EQ(rendered(format, R"({"thinking": "Hm.", "content": "Hi."})",
                     {.prefix = "Well?<|assistant|><think>"}),
            "Hm.</think>Hi.");
  // The prompt has begun reasoning, and the message has none.
  EXPECT_EQ(rendered(format, R"({"content": "Hi."})",
                     {.prefix = "Well?<|assistant|><think>"}),
            "</think>Hi.");
  EXPECT_EQ(rendered(format, R"({"content": "Hi."})",
                     {.prefix = "Well?<|assistant|>No."}),
            "ERROR conflict: render: the prompt begins this response with "
            "\"No.\", and the message does not begin so.");
}

TEST(Rendering, AFormatWithOneCallRefusesTwo) {
  const Format gigachat = *Format::built_in("gigachat3_1");
  EXPECT_EQ(rendered(gigachat, R"({"tool_calls": [
              {"function": {"name": "f", "arguments": {}}},
              {"function": {"name": "g", "arguments": {}}}]})"),
            "ERROR conflict at /tool_calls: message: a response of this format "
            "has at most one call.");
}

// Templates that end the prompt with a closing marker alone leave nothing open.
TEST(Rendering, ThePromptMayHaveSaidThatThereIsNoReasoning) {
  const Format glm = *Format::built_in("glm4_7");
  const char* const message = R"({"content": "Hello."})";
  EXPECT_EQ(rendered(glm, message), "</think>Hello.");
  EXPECT_EQ(
      rendered(glm, message, {.prefix = "<|user|>Hi<|assistant|></think>"}),
      "Hello.");
  EXPECT_EQ(rendered(glm, message, {.prefix = "<|user|>Hi<|assistant|>"}),
            "</think>Hello.");
}

TEST(Rendering, AMessageThatWouldNotComeBackIsRefused) {
  const Format format = family(kWrite);
  const std::string error = rendered(format, R"({"thinking": "a</think>b"})");
  EXPECT_TRUE(error.starts_with("ERROR conflict at /thinking: ")) << error;
  EXPECT_EQ(
      rendered(format, R"({"thinking": "a</think>b"})", {.verify = false}),
      "<think>a</think>b</think>");
}

// The content would be read as a call whose arguments are no object.
TEST(Rendering, WhatIsNoMessageIsRefusedWithItsPlace) {
  const Format mistral = *Format::built_in("mistral_v11");
  EXPECT_EQ(
      rendered(mistral, R"({"content": "a [TOOL_CALLS]f[ARGS] [4]"})"),
      "ERROR conflict at /tool_calls: message: this format cannot express "
      "it: 'tool_calls' would be read back as [{\"type\": \"function\", "
      "\"function\": {\"name\": \"f\", \"arguments\": [4]}}].");
}

// JSON has another spelling of what would end a value, and it is used there
// only.
TEST(Rendering, WhatEndsAValueIsEscapedInJson) {
  const Format coder = *Format::built_in("qwen3_coder");
  EXPECT_EQ(rendered(coder, R"({"tool_calls": [{"name": "f", "arguments":
              {"a": ["<b>", "</parameter>", "<parameter=x>"]}}]})",
                     {.verify = false}),
            "<tool_call>\n<function=f>\n<parameter=a>\n"
            "[\"<b>\", \"\\u003c/parameter>\", \"\\u003cparameter=x>\"]"
            "\n</parameter>\n</function>\n</tool_call>");
  const Format hermes = *Format::built_in("hermes_qwen2_5");
  EXPECT_EQ(rendered(hermes, R"({"tool_calls": [{"name": "f", "arguments":
              {"a": "<|im_end|>"}}]})"),
            "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": "
            "\"<|im_end|>\"}}\n</tool_call>");
}

TEST(Rendering, MalformedMessagesAreRefusedWithTheirPlace) {
  const Format format = family(kWrite);
  EXPECT_EQ(rendered(format, R"({"tool_calls": [{"function": {}}]})"),
            "ERROR missing_key at /tool_calls/0/function: message: a call has "
            "no 'name'.");
  EXPECT_EQ(
      rendered(format, R"({"tool_calls": [{"name": "f", "arguments": [1]}]})"),
      "ERROR wrong_type at /tool_calls/0/arguments: message: the arguments of "
      "a call must be an object, got array.");
  EXPECT_EQ(rendered(format, R"({"contents": "x"})"),
            "ERROR unknown_name at /contents: message: this format has no "
            "field 'contents'. Its fields are: thinking, tool_calls, content.");
  EXPECT_EQ(rendered(format, R"({"content": 1})"),
            "ERROR wrong_type at /content: message: 'content' must be a "
            "string, got integer.");
}

TEST(Rendering, ABareTemplateCannotRender) {
  Result<Format> bare = Format::from_json(
      R"({"start_anchor": "A", "fields": {"content": {"content": "text"}}})");
  ASSERT_TRUE(bare);
  EXPECT_TRUE(rendered(*bare, "{}").starts_with("ERROR unsupported: "));
}

// One call with the layout of arguments `arguments`.
std::string arguments_in(const std::string& arguments,
                         std::string_view written) {
  const Format format = family(
      R"({"order": ["tool_calls*"], "tool_calls": {"parts": ["<call>",
          {"name": "raw"}, ":", {"arguments": )" +
      arguments + R"(}, "</call>"]}})");
  const std::string message = R"({"tool_calls": [{"name": "f", "arguments": )" +
                              std::string(written) + "}]}";
  return rendered(format, message, {.verify = false});
}

constexpr char kArguments[] =
    R"({"a": "x\ny", "n": 3, "f": 0.5, "b": true, "z": null,
        "l": ["p", 1], "o": {"k": {"m": "q"}}})";

TEST(Rendering, Python) {
  EXPECT_EQ(arguments_in(R"("python")", kArguments),
            R"(<call>f:a="x\ny", n=3, f=0.5, b=True, z=None, l=["p", 1], )"
            R"(o={"k": {"m": "q"}}</call>)");
  EXPECT_EQ(arguments_in(R"("python")", R"({"a-b": 1})"),
            "<call>f:a-b=1</call>");
  EXPECT_EQ(arguments_in(R"("python")", R"({"a b": 1})"),
            "ERROR conflict at /tool_calls/0/function/arguments/a b: message: "
            "\"a b\" cannot be the name of an argument of a Python call: such "
            "a name consists of letters, digits and \"_\", does not begin with "
            "a digit, and may have \"-\" or \".\" between two of them.");
}

TEST(Rendering, Elements) {
  EXPECT_EQ(
      arguments_in(R"({"each": ["<p=", {"key": "raw"}, ">", {"value": "raw"},
                      "</p>"], "between": "\n"})",
                   kArguments),
      "<call>f:<p=a>x\ny</p>\n<p=n>3</p>\n<p=f>0.5</p>\n<p=b>true</p>\n"
      "<p=z>null</p>\n<p=l>[\"p\", 1]</p>\n<p=o>{\"k\": {\"m\": \"q\"}}</p>"
      "</call>");
  EXPECT_EQ(arguments_in(R"({"each": ["<p key=\"", {"key": "xml"}, "\" s=\"",
                      {"type": {"string": "true", "*": "false"}}, "\">",
                      {"value": "cdata"}, "</p>"]})",
                         R"({"a\"&": "<b>\n", "n": 3})"),
            "<call>f:<p key=\"a&quot;&amp;\" s=\"true\"><![CDATA[<b>\n]]></p>"
            "<p key=\"n\" s=\"false\">3</p></call>");
}

// Infinity has no name in JSON; it is written as a number that is read as it.
TEST(Rendering, NumbersBeyondADouble) {
  const std::string_view arguments =
      R"({"a": Infinity, "Infinity": ["\"Infinity", -Infinity], "b": 1})";
  EXPECT_EQ(arguments_in(R"("json")", arguments),
            "<call>f:{\"a\": 1e999, \"Infinity\": [\"\\\"Infinity\", "
            "-1e999], \"b\": 1}</call>");
  EXPECT_EQ(arguments_in(R"({"each": ["<p=", {"key": "raw"}, ">",
                      {"value": "raw"}, "</p>"]})",
                         R"({"a": -Infinity})"),
            "<call>f:<p=a>-1e999</p></call>");
}

TEST(Rendering, Delimited) {
  EXPECT_EQ(arguments_in(
                R"({"delimited": {"string": ["<|\"|>", "<|\"|>"],
                    "keys": "bare"}})",
                R"({"a": "x", "n": 3, "l": ["p"], "o": {"k y": null}})"),
            R"(<call>f:{a:<|"|>x<|"|>,n:3,l:[<|"|>p<|"|>],)"
            R"(o:{<|"|>k y<|"|>:null}}</call>)");
  EXPECT_EQ(arguments_in(
                R"({"delimited": {"string": ["<|\"|>", "<|\"|>"],
                    "keys": "text"}})",
                R"({"k y": 1, "it's, so": 2, "a<b": 3, " c": 4, "": 5})"),
            R"(<call>f:{k y:1,<|"|>it's, so<|"|>:2,<|"|>a<b<|"|>:3,)"
            R"(<|"|> c<|"|>:4,<|"|><|"|>:5}</call>)");
  EXPECT_EQ(arguments_in(
                R"({"delimited": {"string": ["'", "'"], "order": "sorted"}})",
                R"({"b": 1, "C": 2, "a": {"y": 1, "x": [{"q": 1, "p": 2}]}})"),
            "<call>f:{a:{x:[{p:2,q:1}],y:1},b:1,C:2}</call>");
}

TEST(Rendering, NestedElements) {
  EXPECT_EQ(arguments_in(R"("cohere_xml")", R"({"a": "x", "l": [1, "y"]})"),
            "<call>f:<cofl:value name=\"a\" type=\"raw\">x</cofl:value>"
            "<cofl:value name=\"l\" type=\"list\"><cofl:value "
            "type=\"json\">1</cofl:value><cofl:value type=\"raw\">y"
            "</cofl:value></cofl:value></call>");
  EXPECT_EQ(arguments_in(R"("minimax_m3_xml")", R"({"l": [1, "y"]})"),
            "<call>f:]<]minimax[>[<l>]<]minimax[>[<item>1]<]minimax[>[</item>"
            "]<]minimax[>[<item>y]<]minimax[>[</item>]<]minimax[>[</l></call>");
}

TEST(Rendering, IdsAndNumbers) {
  const Format format = family(
      R"({"order": ["tool_calls*"], "tool_calls": {"section": [["<s>"],
          ["</s>"]], "parts": ["<call>", {"name": "raw"}, ":", {"index": 0},
          "#", {"id": "[a-zA-Z0-9]{9}"}, {"arguments": "json"},
          {"any": [["A"], ["B"]]}, "</call>"]}})");
  EXPECT_EQ(rendered(format,
                     R"({"tool_calls": [{"name": "f"},
                         {"name": "g", "id": "abcdefghi"}]})",
                     {.verify = false}),
            "<s><call>f:0#call00000{}A</call><call>g:1#abcdefghi{}A</call>"
            "</s>");
  EXPECT_EQ(rendered(format, R"({"tool_calls": [{"name": "f", "id": "x"}]})"),
            "ERROR conflict at /tool_calls/0/id: message: the id \"x\" does "
            "not match \"[a-zA-Z0-9]{9}\".");
}

TEST(Rendering, AnOptionalIdIsWrittenIfThereIsOne) {
  const Format format = family(
      R"({"order": ["tool_calls*"], "tool_calls": {"parts": ["<call>",
          {"name": "raw"}, {"optional": ["#", {"id": "\\w+"}]},
          {"arguments": "json"}, "</call>"]}})");
  EXPECT_EQ(rendered(format,
                     R"({"tool_calls": [{"name": "f"},
                         {"name": "g", "id": "x"}]})",
                     {.verify = false}),
            "<call>f{}</call><call>g#x{}</call>");
}

TEST(Rendering, MessagesEndTheTurnOnlyAtTheLast) {
  const Format format = family(
      R"({"order": [{"messages": ["thinking", "content", "tool_calls"],
            "between": ["<|start|>"], "last": ["content", "tool_calls"]}],
          "thinking": {"parts": ["T", {"text": true}]},
          "content": [{"parts": ["C", {"text": true},
            {"any": [["<|end|>"], ["<|more|>"]]}]}],
          "tool_calls": {"parts": [{"name": "raw"}, {"arguments": "json"}]}})");
  EXPECT_EQ(rendered(format, R"({"thinking": "a", "content": "b"})",
                     {.verify = false}),
            "Ta<|start|>Cb<|end|>");
  EXPECT_EQ(
      rendered(format, R"({"content": "b", "tool_calls": [{"name": "f"}]})",
               {.verify = false}),
      "Cb<|more|><|start|>f{}");
}

TEST(Rendering, ASectionOfCallsIsOneMessage) {
  const Format format = family(
      R"({"order": [{"messages": ["content", "tool_calls"],
            "between": ["<|start|>"], "last": ["content", "tool_calls"]}],
          "content": {"parts": ["C", {"text": true}]},
          "tool_calls": {"section": [["["], ["]"]], "between": [","],
            "parts": [{"name": "raw"}, {"arguments": "json"}]}})");
  EXPECT_EQ(rendered(format,
                     R"({"content": "b", "tool_calls": [{"name": "f"},
                                                        {"name": "g"}]})",
                     {.verify = false}),
            "Cb<|start|>[f{},g{}]");
}

// A text that spells a mark is written only if it is read back where a
// tokenizer has made the mark's token of it.
TEST(Rendering, WhatSpellsAMarkIsReadBackAsIds) {
  std::size_t written = 0;
  std::size_t refused = 0;
  for (const std::string_view name : Format::built_in_names()) {
    const Format format = *Format::built_in(name);
    std::set<std::string> marks;
    testing::collect_marks(*json::parse(Format::built_in_source(name)), marks);
    // Patterns of a list of marks, and marks that they match.
    std::erase_if(marks, [](const std::string& mark) {
      return mark.find_first_of("^()*") != std::string::npos ||
             mark.find("a-z") != std::string::npos;
    });
    if (name == "hunyuan_v3")
      marks.insert("<\xEF\xBD\x9Chy_eos:x\xEF\xBD\x9C>");
    const Vocabulary vocabulary = testing::made_up(marks);
    const verification::PhraseWriter encoder(vocabulary);
    for (const std::string& mark : marks) {
      for (const std::string& text :
           {mark, "a " + mark + " b", mark + mark, "0[" + mark, mark + "{"}) {
        const json::Value call = json::Object{
            {"type", "function"},
            {"function",
             json::Object{{"name", "f"},
                          {"arguments", json::Object{{"s", text}}}}}};
        for (const json::Object& fields :
             {json::Object{{"thinking", text}, {"content", "Hi."}},
              json::Object{{"content", text}},
              json::Object{{"tool_calls", json::Array{call}}}}) {
          json::Object message = {{"role", "assistant"}};
          for (const json::Member& field : fields) {
            message.set(field.key, field.value);
          }
          SCOPED_TRACE(std::string(name) + " " + json::dump(message));
          const Result<std::string> rendered = format.render(message);
          if (!rendered) {
            ++refused;
            const std::string& path = rendered.error().path;
            EXPECT_TRUE(path.starts_with("/thinking") ||
                        path.starts_with("/content") ||
                        path.starts_with("/tool_calls"))
                << rendered.error().to_string();
            continue;
          }
          ++written;
          ResponseParser parser(format, {.vocabulary = &vocabulary});
          parser.feed_tokens(encoder.write(*rendered));
          parser.finalize();
          const json::Value& read = parser.message().fields;
          for (const json::Member& field : fields) {
            const json::Value* found = read.find(field.key);
            ASSERT_NE(found, nullptr);
            if (field.key != "tool_calls") {
              EXPECT_EQ(found->as_string(), field.value.as_string());
              continue;
            }
            const auto calls = testing::calls_of(read);
            ASSERT_EQ(calls.size(), 1u);
            EXPECT_EQ(calls[0].arguments,
                      (json::Value(json::Object{{"s", text}})));
          }
        }
      }
    }
  }
  EXPECT_GT(written, 1000u);
  EXPECT_GT(refused, 500u);
}

TEST(Rendering, TheMarkThatIsSpelledIsNamed) {
  const Format qwen = *Format::built_in("qwen3");
  const Result<std::string> text =
      qwen.render(value(R"({"thinking": "0[<tool_call>", "content": "Hi."})"));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().path, "/thinking");
  EXPECT_EQ(text.error().message,
            "message: this format cannot express it: as token ids, "
            "\"<tool_call>\" in this text would be read as the mark that it "
            "spells.");
  // Where a mark is text as a token, too, it is written.
  EXPECT_TRUE(qwen.render(value(R"({"content": "a </tool_call> b"})")));
}

}  // namespace
}  // namespace parlance::rendering_test
