// Messages in the shape of chat completions.

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "parlance/message.h"

namespace parlance::chat_message_test {
namespace {

json::Value value(std::string_view text) { return *json::parse(text); }

constexpr std::string_view kFields[] = {"thinking", "content", "tool_calls",
                                        "note"};

TEST(ChatMessage, Fields) {
  Message message;
  message.fields = value(R"({"role": "x", "thinking": "Hm.", "note": [1]})");
  EXPECT_EQ(chat_message(message, kFields),
            value(R"({"role": "x", "content": null, "reasoning": "Hm.",
                      "note": [1]})"));
}

TEST(ChatMessage, Calls) {
  Message message;
  message.fields = value(R"({"role": "assistant", "tool_calls": []})");
  const auto add = [&](std::string_view call, bool malformed, bool cut) {
    Part part;
    part.field_index = 2;
    part.value = value(call);
    part.malformed = malformed;
    part.cut = cut;
    message.parts.push_back(std::move(part));
  };
  add(R"({"type": "function",
          "function": {"name": "f", "arguments": {"é": 1.0}}})",
      false, false);
  add(R"({"function": {"name": "cut", "arguments": {}}})", false, true);
  add("null", true, false);
  add(R"([{"name": "g", "arguments": "{\"a\": 1}"},
          {"function": {"name": "h"}}, {"name": "no call"},
          [{"name": "i", "arguments": "text"}], [], 3,
          {"name": "j", "arguments": "{\"a\": NaN}"}])",
      false, false);
  const json::Value made = chat_message(message, kFields);
  EXPECT_EQ(*made.find("tool_calls"), value(R"([
      {"id": "call_0", "type": "function", "index": 0,
       "function": {"name": "f", "arguments": "{\"é\": 1.0}"}},
      {"id": "call_1", "type": "function", "index": 1,
       "function": {"name": "cut", "arguments": "{}"}},
      {"id": "call_2", "type": "function", "index": 2,
       "function": {"name": "g", "arguments": "{\"a\": 1}"}},
      {"id": "call_3", "type": "function", "index": 3,
       "function": {"name": "h", "arguments": "{}"}},
      {"id": "call_4", "type": "function", "index": 4,
       "function": {"name": "i", "arguments": "\"text\""}},
      {"id": "call_5", "type": "function", "index": 5,
       "function": {"name": "j", "arguments": "{\"a\": null}"}}])"));
}

// What a field of calls has beside them is content.
TEST(ChatMessage, TextBesideCalls) {
  Message message;
  Part part;
  part.field_index = 2;
  part.value = value(R"([{"name": "f", "arguments": {}}, "text", 5])");
  message.parts = {part, part};
  EXPECT_EQ(*chat_message(message, kFields).find("content"),
            json::Value("text\n5\ntext\n5"));
  message.fields = value(R"({"content": "Hi."})");
  message.parts[0].value = value(R"({"a": 1})");
  message.parts[1].value = value("[]");
  EXPECT_EQ(*chat_message(message, kFields).find("content"),
            json::Value("Hi.\n{\"a\": 1}"));
}

TEST(ChatMessage, Views) {
  const json::Value inner = value(R"({"name": "f", "arguments": {"a": 1}})");
  EXPECT_EQ(view_call(inner)->name, "f");
  EXPECT_EQ(*view_call(inner)->arguments, value(R"({"a": 1})"));
  const json::Value bare = value(R"({"function": {"name": "f"}})");
  EXPECT_EQ(view_call(bare)->arguments, nullptr);
  for (const char* text : {"{}", R"({"name": "f"})", R"({"name": 1})", "[]",
                           "3", R"({"function": {}})"}) {
    EXPECT_FALSE(view_call(value(text))) << text;
  }
}

}  // namespace
}  // namespace parlance::chat_message_test
