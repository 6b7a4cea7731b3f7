// Every style of tool calling from end to end: what a model of the family
// writes is read as text, reasoning and calls, and what is nearly so is not.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"

namespace parlance {
namespace {

constexpr std::string_view kTools = R"([{"type": "function", "function":
  {"name": "search", "parameters": {"type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["query"]}}}])";

struct Row {
  const char* style;
  const char* thought;  // with what ends it; "": the style has none
  const char* text;     // "Hm." and one call, with a text where one may stand
  const char* content;
};

std::vector<Row> rows() {
  return {
      {"llama", "",
       "Hm.{\"name\": \"search\", \"parameters\": {\"query\": \"a <b> c\", "
       "\"limit\": 3}}",
       "Hm."},
      {"llama_functions", "",
       "Hm.<function=search>{\"query\": \"a <b> c\", \"limit\": 3}</function>",
       "Hm."},
      {"hermes", "",
       "Hm.<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": "
       "\"a <b> c\", \"limit\": 3}}\n</tool_call>",
       "Hm."},
      {"qwen_3", "Why?</think>\n\n",
       "Hm.<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": "
       "\"a <b> c\", \"limit\": 3}}\n</tool_call>",
       "Hm."},
      {"exaone", "Why?</think>\n\n",
       "Hm.<tool_call>{\"name\": \"search\", \"arguments\": {\"query\": "
       "\"a <b> c\", \"limit\": 3}}</tool_call>",
       "Hm."},
      {"qwen_3_coder", "Why?</think>\n\n",
       "Hm.<tool_call>\n<function=search>\n<parameter=query>\na <b> c\n"
       "</parameter>\n<parameter=limit>\n3\n</parameter>\n</function>\n"
       "</tool_call>",
       "Hm."},
      {"qwen_3_5", "Why?</think>\n\n",
       "Hm.<tool_call>\n<function=search>\n<parameter=query>a <b> c"
       "</parameter>\n<parameter=limit>3</parameter>\n</function>\n"
       "</tool_call>",
       "Hm."},
      {"glm_4_7", "Why?</think>",
       "Hm.<tool_call>search<arg_key>query</arg_key><arg_value>a <b> c"
       "</arg_value><arg_key>limit</arg_key><arg_value>3</arg_value>"
       "</tool_call>",
       "Hm."},
      {"phi_4_mini", "",
       "Hm.<|tool_call|>[{\"name\": \"search\", \"arguments\": {\"query\": "
       "\"a <b> c\", \"limit\": 3}}]<|/tool_call|>",
       "Hm."},
      {"kimi", "Why?</think>",
       "Hm.<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0"
       "<|tool_call_argument_begin|>{\"query\": \"a <b> c\", \"limit\": 3}"
       "<|tool_call_end|><|tool_calls_section_end|>",
       "Hm."},
      {"deepseek_r1", "Why?</think>",
       "Hm.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>"
       "search\n```json\n{\"query\": \"a <b> c\", \"limit\": 3}\n```"
       "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
       "Hm."},
      {"deepseek_v3_1", "Why?</think>",
       "Hm.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search<｜tool▁sep｜>"
       "{\"query\": \"a <b> c\", \"limit\": 3}<｜tool▁call▁end｜>"
       "<｜tool▁calls▁end｜>",
       "Hm."},
      {"deepseek_v3_2", "Why?</think>",
       "Hm.<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"search\">\n"
       "<｜DSML｜parameter name=\"query\" string=\"true\">a <b> c"
       "</｜DSML｜parameter>\n<｜DSML｜parameter name=\"limit\" "
       "string=\"false\">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n"
       "</｜DSML｜function_calls>",
       "Hm."},
      {"deepseek_v4_1", "Why?</think>",
       "Hm.<｜DSML｜ calls>\n<｜DSML｜ invoke name=\"search\">\n"
       "<｜DSML｜ parameter name=\"query\" string=\"true\">a <b> c"
       "</｜DSML｜ parameter>\n<｜DSML｜ parameter name=\"limit\" "
       "string=\"false\">3</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n"
       "</｜DSML｜ calls>",
       "Hm."},
      {"mimo", "<think>Why?</think>",
       "Hm.<tool_call><function=search><parameter=query>a <b> c</parameter>"
       "<parameter=limit>3</parameter></function></tool_call>",
       "Hm."},
      {"deepseek_v4", "Why?</think>",
       "Hm.<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"search\">\n"
       "<｜DSML｜parameter name=\"query\" string=\"true\">a <b> c"
       "</｜DSML｜parameter>\n<｜DSML｜parameter name=\"limit\" "
       "string=\"false\">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n"
       "</｜DSML｜tool_calls>",
       "Hm."},
      {"minimax", "Why?</think>\n\n",
       "Hm.<minimax:tool_call>\n<invoke name=\"search\">\n"
       "<parameter name=\"query\">a <b> c</parameter>\n"
       "<parameter name=\"limit\">3</parameter>\n</invoke>\n"
       "</minimax:tool_call>",
       "Hm."},
      {"cohere", "Why?<|END_THINKING|>",
       "Hm.<cofl:tool_calls><cofl:tool_call id=\"0\" name=\"search\">"
       "<cofl:value name=\"query\" type=\"raw\">a <b> c</cofl:value>"
       "<cofl:value name=\"limit\" type=\"json\">3</cofl:value>"
       "</cofl:tool_call></cofl:tool_calls>",
       "Hm."},
      {"kimi_k3", "Why?<|close|>think<|sep|>",
       "<|open|>response<|sep|>Hm.<|close|>response<|sep|>"
       "<|open|>tools<|sep|><|open|>call tool=\"search\" index=\"0\"<|sep|>"
       "<|open|>argument key=\"query\" type=\"string\"<|sep|>a <b> c"
       "<|close|>argument<|sep|><|open|>argument key=\"limit\" "
       "type=\"number\"<|sep|>3<|close|>argument<|sep|><|close|>call<|sep|>"
       "<|close|>tools<|sep|><|close|>message<|sep|>",
       "Hm."},
      {"harmony", "<|channel|>analysis<|message|>Why?<|end|><|start|>assistant",
       "<|channel|>final<|message|>Hm.<|end|><|start|>assistant"
       "<|channel|>commentary to=functions.search <|constrain|>json<|message|>"
       "{\"query\": \"a <b> c\", \"limit\": 3}<|call|>",
       "Hm."},
  };
}

ToolCallingOptions options_for(const Row& row) {
  ToolCallingOptions out;
  out.style = row.style;
  out.tools = *json::parse(kTools);
  return out;
}

TEST(ToolCalls, EveryStyleIsRead) {
  const std::vector<Row> all = rows();
  EXPECT_EQ(all.size(), tool_calling_styles().size());
  for (const Row& row : all) {
    SCOPED_TRACE(row.style);
    const auto tag = tool_calling(options_for(row));
    ASSERT_TRUE(tag) << tag.error().to_string();
    const auto program = CompiledTag::compile(*tag);
    ASSERT_TRUE(program) << program.error().to_string();
    const std::string whole = std::string(row.thought) + row.text;

    const json::Value tree = parse_by_tag(*program, whole);
    EXPECT_TRUE(tree.find("complete")->as_bool()) << json::dump(tree);
    json::Object message = {{"role", "assistant"}};
    if (row.thought[0] != '\0') message.set("reasoning", "Why?");
    message.set("content", row.content);
    message.set(
        "tool_calls",
        json::Array{json::Object{
            {"type", "function"},
            {"function",
             json::Object{{"name", "search"},
                          {"arguments", json::Object{{"query", "a <b> c"},
                                                     {"limit", 3}}}}}}});
    EXPECT_EQ(json::dump(*tree.find("message")),
              json::dump(json::Value(message)));

    // Near misses: another tool, a value that is no integer, an end too early.
    const auto with = [&](std::string_view from, std::string_view to) {
      std::string out = whole;
      const std::size_t place = out.rfind(from);
      EXPECT_NE(place, std::string::npos);
      out.replace(place, from.size(), to);
      return out;
    };
    for (const std::string& near :
         {with("search", "seek"), with("3", "\"3\""), with("limit", "bound"),
          whole.substr(0, whole.size() - 2)}) {
      const json::Value other = parse_by_tag(*program, near);
      EXPECT_FALSE(other.find("complete")->as_bool()) << near;
    }
  }
}

// A marker in a JSON string is text: the value has its own end.
TEST(ToolCalls, MarkersInJsonStrings) {
  const std::string_view markers[] = {"</tool_call>",
                                      "<tool_call>",
                                      "<|/tool_call|>",
                                      "<|tool_call_end|>",
                                      "<|call|>",
                                      "</function>",
                                      "<｜tool▁call▁end｜>",
                                      "<｜tool▁calls▁end｜>",
                                      "<|end|>",
                                      "\"}}",
                                      "\n</tool_call>",
                                      "</think>",
                                      "<|start|>assistant",
                                      "<|tool_calls_section_end|>"};
  std::size_t styles = 0;
  for (const Row& row : rows()) {
    const std::string_view text = row.text;
    const std::size_t place = text.find("\"a <b> c\"");
    if (place == std::string_view::npos) continue;
    ++styles;
    const auto tag = tool_calling(options_for(row));
    ASSERT_TRUE(tag);
    const auto program = CompiledTag::compile(*tag);
    ASSERT_TRUE(program);
    for (const std::string_view marker : markers) {
      SCOPED_TRACE(std::string(row.style) + " " + std::string(marker));
      const std::string value = "a " + std::string(marker) + " c";
      const std::string whole =
          std::string(row.thought) + std::string(text.substr(0, place)) +
          json::dump(value, {.ascii = false}) +
          std::string(
              text.substr(place + std::string_view("\"a <b> c\"").size()));
      const json::Value tree = parse_by_tag(*program, whole);
      EXPECT_TRUE(tree.find("complete")->as_bool()) << json::dump(tree);
      const json::Value* calls = tree.find("message")->find("tool_calls");
      ASSERT_NE(calls, nullptr);
      ASSERT_EQ(calls->size(), 1u);
      EXPECT_EQ(calls->items()[0]
                    .find("function")
                    ->find("arguments")
                    ->find("query")
                    ->as_string(),
                value);
    }
  }
  EXPECT_GE(styles, 10u);
}

// The format of a family reads the texts of its tag as the same calls: a raw
// string ends where the family's reader ends it.
TEST(ToolCalls, FormatsOfFamiliesAgree) {
  const std::vector<std::pair<std::string_view, const char*>> families = {
      {"qwen_3_coder", "qwen3_coder"}, {"qwen_3_5", "qwen3_coder"},
      {"mimo", "qwen3_coder"},         {"minimax", "minimax_m2"},
      {"glm_4_7", "glm4_7"},           {"deepseek_v3_2", "deepseek_v3_2"},
      {"deepseek_v4", "deepseek_v4"},  {"kimi_k3", "kimi_k3"}};
  const std::vector<std::string> pieces = {
      "x",
      "\n",
      " ",
      "<",
      ">",
      "/",
      "\"",
      "\n\n",
      "</parameter>",
      "</parameter",
      "\n</parameter>\n",
      "<parameter=limit>",
      "<parameter=",
      "<parameter name=\"limit\">",
      "</function>",
      "<function=search>",
      "<tool_call>",
      "</tool_call>",
      "</tool_call",
      "</think>",
      "<think>",
      "</invoke>",
      "<invoke name=\"search\">",
      "</minimax:tool_call>",
      "<minimax:tool_call>",
      "</arg_value>",
      "<arg_value>",
      "<arg_key>",
      "</arg_key>",
      "</｜DSML｜parameter>",
      "</｜DSML｜invoke>",
      "</｜DSML｜function_calls>",
      "</｜DSML｜tool_calls>",
      "<｜DSML｜invoke name=\"search\">",
      "<｜DSML｜parameter name=\"limit\" string=\"false\">",
      "<|close|>argument<|sep|>",
      "<|close|>call<|sep|>",
      "<|sep|>",
      "<|open|>argument key=\"limit\" type=\"number\"<|sep|>",
      "<|close|>",
      "<|close|>tools<|sep|>"};
  const ToolSet tools = ToolSet::from_value(*json::parse(kTools));
  std::mt19937 random(3);
  for (const auto& [style, name] : families) {
    const Result<Format> format = Format::built_in(name);
    ASSERT_TRUE(format);
    for (const Row& row : rows()) {
      if (row.style != style) continue;
      const auto tag = tool_calling(options_for(row));
      const auto program = CompiledTag::compile(*tag);
      ASSERT_TRUE(program);
      const std::string text = std::string(row.thought) + row.text;
      const std::size_t place = text.find("a <b> c");
      ASSERT_NE(place, std::string::npos);
      std::size_t read = 0;
      for (int i = 0; i < 400; ++i) {
        std::string value;
        for (std::size_t n = random() % 4; n > 0; --n) {
          value += pieces[random() % pieces.size()];
        }
        const std::string whole =
            text.substr(0, place) + value + text.substr(place + 7);
        const json::Value tree = parse_by_tag(*program, whole);
        if (!tree.find("complete")->as_bool()) continue;
        ++read;
        ParserOptions options;
        options.tools = &tools;
        ResponseParser parser(*format, options);
        parser.feed(whole);
        parser.finalize();
        const json::Value* calls = tree.find("message")->find("tool_calls");
        const json::Value* others = parser.message().fields.find("tool_calls");
        ASSERT_NE(calls, nullptr);
        ASSERT_NE(others, nullptr) << style << "\n" << whole;
        ASSERT_EQ(json::dump(*calls), json::dump(*others)) << style << "\n"
                                                           << whole;
      }
      EXPECT_GT(read, 100u) << style;
    }
  }
}

}  // namespace
}  // namespace parlance
