// Tool calling from end to end, by the names that other libraries have for
// model families: what a model of the family writes is read as text, reasoning
// and calls, and what is nearly so is not.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"

namespace parlance::tool_calls_test {
namespace {

constexpr std::string_view kTools = R"([{"type": "function", "function":
  {"name": "search", "parameters": {"type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["query"]}}}])";

struct Row {
  const char* family;
  const char* prefix;   // what the prompt opens
  const char* thought;  // with what ends it; "": the family has none
  const char* text;     // "Hm." and one call
};

std::vector<Row> rows() {
  return {
      {"llama", "", "",
       "Hm.{\"name\": \"search\", \"parameters\": {\"query\": \"a <b> c\", "
       "\"limit\": 3}}"},
      {"llama_functions", "", "",
       "Hm.<function=search>{\"query\": \"a <b> c\", \"limit\": 3}</function>"},
      {"hermes", "", "",
       "Hm.<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": "
       "\"a <b> c\", \"limit\": 3}}\n</tool_call>"},
      {"qwen_3", "<think>\n", "Why?\n</think>\n\n",
       "Hm.<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": "
       "\"a <b> c\", \"limit\": 3}}\n</tool_call>"},
      {"exaone", "<think>\n", "Why?\n</think>\n\n",
       "Hm.<tool_call>{\"name\": \"search\", \"arguments\": {\"query\": "
       "\"a <b> c\", \"limit\": 3}}</tool_call>"},
      {"qwen_3_coder", "", "",
       "Hm.<tool_call>\n<function=search>\n<parameter=query>\na <b> c\n"
       "</parameter>\n<parameter=limit>\n3\n</parameter>\n</function>\n"
       "</tool_call>"},
      {"qwen_3_5", "<think>\n", "Why?\n</think>\n\n",
       "Hm.<tool_call>\n<function=search>\n<parameter=query>\na <b> c\n"
       "</parameter>\n<parameter=limit>\n3\n</parameter>\n</function>\n"
       "</tool_call>"},
      {"glm_4_7", "<think>", "Why?</think>",
       "Hm.<tool_call>search<arg_key>query</arg_key><arg_value>a <b> c"
       "</arg_value><arg_key>limit</arg_key><arg_value>3</arg_value>"
       "</tool_call>"},
      {"phi_4_mini", "", "",
       "Hm.<|tool_call|>[{\"name\": \"search\", \"arguments\": {\"query\": "
       "\"a <b> c\", \"limit\": 3}}]<|/tool_call|>"},
      {"kimi", "<think>", "Why?</think>",
       "Hm.<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0"
       "<|tool_call_argument_begin|>{\"query\": \"a <b> c\", \"limit\": 3}"
       "<|tool_call_end|><|tool_calls_section_end|>"},
      {"deepseek_r1", "<think>\n", "Why?\n</think>\n\n",
       "Hm.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>"
       "search\n```json\n{\"query\": \"a <b> c\", \"limit\": 3}\n```"
       "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"},
      {"deepseek_v3_1", "<think>", "Why?</think>",
       "Hm.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search<｜tool▁sep｜>"
       "{\"query\": \"a <b> c\", \"limit\": 3}<｜tool▁call▁end｜>"
       "<｜tool▁calls▁end｜>"},
      {"deepseek_v3_2", "<think>", "Why?</think>",
       "Hm.\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"search\">\n"
       "<｜DSML｜parameter name=\"query\" string=\"true\">a <b> c"
       "</｜DSML｜parameter>\n<｜DSML｜parameter name=\"limit\" "
       "string=\"false\">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n"
       "</｜DSML｜function_calls>"},
      {"deepseek_v4_1", "<think>", "Why?</think>",
       "Hm.\n\n<｜DSML｜ calls>\n<｜DSML｜ invoke name=\"search\">\n"
       "<｜DSML｜ parameter name=\"query\" string=\"true\">a <b> c"
       "</｜DSML｜ parameter>\n<｜DSML｜ parameter name=\"limit\" "
       "string=\"false\">3</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n"
       "</｜DSML｜ calls>"},
      {"mimo", "", "<think>Why?</think>",
       "Hm.<tool_call><function=search><parameter=query>a <b> c</parameter>"
       "<parameter=limit>3</parameter></function></tool_call>"},
      {"deepseek_v4", "<think>", "Why?</think>",
       "Hm.\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"search\">\n"
       "<｜DSML｜parameter name=\"query\" string=\"true\">a <b> c"
       "</｜DSML｜parameter>\n<｜DSML｜parameter name=\"limit\" "
       "string=\"false\">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n"
       "</｜DSML｜tool_calls>"},
      {"minimax", "<think>\n", "Why?\n</think>\n\n",
       "Hm.\n<minimax:tool_call>\n<invoke name=\"search\">\n"
       "<parameter name=\"query\">a <b> c</parameter>\n"
       "<parameter name=\"limit\">3</parameter>\n</invoke>\n"
       "</minimax:tool_call>"},
      {"cohere", "<|START_THINKING|>", "Why?<|END_THINKING|>",
       "<|START_TEXT|>Hm.<|END_TEXT|><cofl:tool_calls><cofl:tool_call id=\"0\" "
       "name=\"search\">"
       "<cofl:value name=\"query\" type=\"raw\">a <b> c</cofl:value>"
       "<cofl:value name=\"limit\" type=\"json\">3</cofl:value>"
       "</cofl:tool_call></cofl:tool_calls>"},
      {"kimi_k3", "<|open|>think<|sep|>", "Why?<|close|>think<|sep|>",
       "<|open|>response<|sep|>Hm.<|close|>response<|sep|>"
       "<|open|>tools<|sep|><|open|>call tool=\"search\" index=\"0\"<|sep|>"
       "<|open|>argument key=\"query\" type=\"string\"<|sep|>a <b> c"
       "<|close|>argument<|sep|><|open|>argument key=\"limit\" "
       "type=\"number\"<|sep|>3<|close|>argument<|sep|><|close|>call<|sep|>"
       "<|close|>tools<|sep|><|close|>message<|sep|>"},
      {"harmony", "",
       "<|channel|>analysis<|message|>Why?<|end|><|start|>assistant",
       "<|channel|>commentary<|message|>Hm.<|end|><|start|>assistant"
       "<|channel|>commentary to=functions.search <|constrain|>json<|message|>"
       "{\"query\": \"a <b> c\", \"limit\": 3}<|call|>"},
  };
}

Result<StructuralTag> tag_of(const Row& row) {
  StructuralTagOptions options;
  options.tools = *json::parse(kTools);
  options.prefix = row.prefix;
  if (row.thought[0] != '\0') options.reasoning = ReasoningMode::kRequired;
  return tool_calling(row.family, options);
}

// The words that stand for the same in all families.
json::Value message_of(const json::Value& tree) {
  json::Value message = *tree.find("message");
  json::Object& members = message.mutable_members();
  if (const json::Value* thinking = members.find("thinking")) {
    json::Value thought = *thinking;
    members.erase("thinking");
    members.set("reasoning", std::move(thought));
  }
  return message;
}

TEST(ToolCalls, EveryFamilyIsRead) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.family);
    const auto tag = tag_of(row);
    ASSERT_TRUE(tag) << tag.error().to_string();
    const auto program = CompiledTag::compile(*tag);
    ASSERT_TRUE(program) << program.error().to_string();
    const std::string whole = std::string(row.thought) + row.text;

    const json::Value tree = parse_by_tag(*program, whole);
    EXPECT_TRUE(tree.find("complete")->as_bool()) << json::dump(tree);
    json::Object message = {{"role", "assistant"}, {"content", "Hm."}};
    json::Object call = {{"type", "function"}};
    const std::string_view family = row.family;
    if (family == "kimi") call.set("id", "functions.search:0");
    if (family == "cohere") call.set("id", "0");
    call.set("function",
             json::Object{{"name", "search"},
                          {"arguments",
                           json::Object{{"query", "a <b> c"}, {"limit", 3}}}});
    message.set("tool_calls", json::Array{std::move(call)});
    if (row.thought[0] != '\0') message.set("reasoning", "Why?");
    EXPECT_EQ(json::dump(message_of(tree)), json::dump(json::Value(message)));

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
  std::size_t families = 0;
  for (const Row& row : rows()) {
    const std::string_view text = row.text;
    const std::size_t place = text.find("\"a <b> c\"");
    if (place == std::string_view::npos) continue;
    ++families;
    const auto tag = tag_of(row);
    ASSERT_TRUE(tag);
    const auto program = CompiledTag::compile(*tag);
    ASSERT_TRUE(program);
    for (const std::string_view marker : markers) {
      SCOPED_TRACE(std::string(row.family) + " " + std::string(marker));
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
  EXPECT_GE(families, 9u);
}

// What is called.  Formats may read more, such as ids.
std::vector<json::Value> functions(const json::Value& calls) {
  std::vector<json::Value> out;
  for (const json::Value& call : calls.items()) {
    out.push_back(*call.find("function"));
  }
  return out;
}

// The format of a family reads the texts of its tag as the same calls: a raw
// string ends where the family's reader ends it.
TEST(ToolCalls, FormatsOfFamiliesAgree) {
  const std::vector<std::string_view> families = {
      "qwen_3_coder", "qwen_3_5",      "mimo",    "glm_4_7", "deepseek_v3_2",
      "deepseek_v4",  "deepseek_v4_1", "kimi_k3", "cohere"};
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
  for (const std::string_view family : families) {
    const Result<Format> format = Format::built_in(family);
    ASSERT_TRUE(format);
    for (const Row& row : rows()) {
      if (row.family != family) continue;
      const auto tag = tag_of(row);
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
        ResponseParser parser(*format, {.prefix = row.prefix, .tools = &tools});
        parser.feed(whole);
        parser.finalize();
        const json::Value* others = parser.message().fields.find("tool_calls");
        ASSERT_NE(others, nullptr) << family << "\n" << whole;
        ASSERT_EQ(functions(*tree.find("message")->find("tool_calls")),
                  functions(*others))
            << family << "\n"
            << whole;
      }
      EXPECT_GT(read, 100u) << family;
    }
  }
}

bool accepts(std::string_view family, const StructuralTagOptions& options,
             std::string_view text) {
  const Result<StructuralTag> tag = tool_calling(family, options);
  EXPECT_TRUE(tag) << family << ": " << tag.error().to_string();
  if (!tag) return false;
  const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
  EXPECT_TRUE(grammar) << family;
  return grammar && grammar->accepts(text);
}

struct RequiredRow {
  const char* family;
  const char* prefix;  // what the prompt writes where a model does not reason
  const char* before;  // what the model writes before its calls
};

// Where a call is required, the model writes what it always writes before its
// calls: a blank line, or the rest of a block that the prompt has opened.
TEST(ToolCalls, RequiredWithoutReasoning) {
  const RequiredRow rows_of_families[] = {
      {"deepseek_v3_2", "</think>", "\n\n"},
      {"deepseek_v4", "</think>", "\n\n"},
      {"deepseek_v4_1", "</think>", "\n\n"},
      {"minimax", "<think>\n", "\n</think>\n\n\n"},
      {"minimax", "<think>\n\n</think>\n\n", "\n"},
      {"kimi_k3", "<|open|>response<|sep|>", "<|close|>response<|sep|>"},
      {"kimi_k3", "", "<|open|>response<|sep|><|close|>response<|sep|>"},
      {"kimi_k3", "", ""}};
  for (const RequiredRow& row : rows_of_families) {
    for (const Row& known : rows()) {
      if (std::string_view(known.family) != row.family) continue;
      // The call, without "Hm." and without what precedes it.
      std::string_view call = known.text;
      const std::string_view openers[] = {"<｜DSML｜", "<minimax:tool_call>",
                                          "<|open|>tools"};
      for (const std::string_view opener : openers) {
        const std::size_t place = call.find(opener);
        if (place != std::string_view::npos) call.remove_prefix(place);
      }
      for (const char* choice : {"\"required\"", R"({"type": "function",
                                 "function": {"name": "search"}})"}) {
        StructuralTagOptions options;
        options.tools = *json::parse(kTools);
        options.tool_choice = *json::parse(choice);
        options.prefix = row.prefix;
        options.reasoning = ReasoningMode::kNone;
        SCOPED_TRACE(std::string(row.family) + " " + row.prefix + choice);
        EXPECT_TRUE(
            accepts(row.family, options, row.before + std::string(call)));
        EXPECT_FALSE(accepts(row.family, options, row.before));
        EXPECT_FALSE(
            accepts(row.family, options,
                    std::string(row.before) + "Hm." + std::string(call)));
      }
    }
  }
}

// The text of a call, as its family writes it, is one where a call is required,
// and no text of the family where calls are ruled out.
TEST(ToolCalls, NoneLetsOutNoCall) {
  const json::Value message = *json::parse(R"({"role": "assistant",
    "tool_calls": [{"type": "function", "function": {"name": "search",
      "arguments": {"query": "a b", "limit": 3}}}]})");
  const ToolSet tools = ToolSet::from_value(*json::parse(kTools));
  std::size_t written = 0;
  for (const std::string_view name : Format::built_in_names()) {
    std::vector<std::string> names = Format::built_in(name)->variants();
    names.emplace_back(name);
    for (const std::string& family : names) {
      SCOPED_TRACE(family);
      const auto text =
          Format::built_in(family)->render(message, {.tools = &tools});
      if (!text) continue;  // no calls
      StructuralTagOptions options;
      options.tools = *json::parse(kTools);
      options.tool_choice = "required";
      if (!tool_calling(family, options)) continue;  // calls cannot be required
      ++written;
      EXPECT_TRUE(accepts(family, options, *text)) << *text;
      options.tool_choice = "none";
      EXPECT_FALSE(accepts(family, options, *text)) << *text;
      options.reasoning = ReasoningMode::kNone;
      EXPECT_FALSE(accepts(family, options, *text)) << *text;
    }
  }
  EXPECT_GT(written, 55u);
}

}  // namespace
}  // namespace parlance::tool_calls_test
