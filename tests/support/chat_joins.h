#ifndef PARLANCE_TESTS_SUPPORT_CHAT_JOINS_H_
#define PARLANCE_TESTS_SUPPORT_CHAT_JOINS_H_

// The law of chat streams: joined as clients join them, the chunks are the
// response, without the calls whose arguments are no JSON: they are not
// complete.

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/chat.h"
#include "parlance/json.h"

namespace parlance::testing {

struct Streamed {
  std::vector<ChatChunk> chunks;
  json::Value response;
};

inline const json::Value* at(const json::Value& value,
                             std::initializer_list<const char*> path) {
  const json::Value* out = &value;
  for (const char* key : path) {
    if (out->is_array() && out->size() == 0) return nullptr;
    out = out->is_array() ? &out->items()[0] : out->find(key);
    if (out == nullptr) return nullptr;
  }
  return out;
}

inline std::string text_at(const json::Value& value,
                           std::initializer_list<const char*> path) {
  const json::Value* found = at(value, path);
  return found != nullptr && found->is_string()
             ? std::string(found->as_string())
             : std::string();
}

// Whether the arguments of a call are those of a complete one.
inline bool is_json(std::string_view text) {
  return json::parse(text).has_value();
}

// Joins chunks as clients of chat completions do.
inline json::Value joined_completion(const std::vector<ChatChunk>& chunks) {
  std::string content;
  std::string reasoning;
  json::Value finish;
  struct Call {
    std::string id, name, arguments;
  };
  std::vector<Call> calls;
  for (const ChatChunk& chunk : chunks) {
    const json::Value* choice = at(chunk.body, {"choices", "0"});
    if (choice == nullptr) continue;
    const json::Value& delta = *choice->find("delta");
    content += text_at(delta, {"content"});
    reasoning += text_at(delta, {"reasoning_content"});
    if (const json::Value* list = delta.find("tool_calls")) {
      for (const json::Value& call : list->items()) {
        const auto index =
            static_cast<std::size_t>(call.find("index")->as_int());
        EXPECT_LE(index, calls.size());
        if (index == calls.size()) {
          calls.push_back(
              {text_at(call, {"id"}), text_at(call, {"function", "name"}), ""});
          EXPECT_EQ(text_at(call, {"type"}), "function");
        } else {
          EXPECT_EQ(call.find("id"), nullptr);
          EXPECT_EQ(call.find("type"), nullptr);
          EXPECT_EQ(at(call, {"function", "name"}), nullptr);
        }
        calls[index].arguments += text_at(call, {"function", "arguments"});
      }
    }
    if (!choice->find("finish_reason")->is_null()) {
      finish = *choice->find("finish_reason");
    }
  }
  json::Array list;
  for (const Call& call : calls) {
    if (!is_json(call.arguments)) continue;
    list.push_back(json::Object{
        {"id", call.id},
        {"type", "function"},
        {"function",
         json::Object{{"name", call.name}, {"arguments", call.arguments}}}});
  }
  json::Object message = {
      {"role", "assistant"},
      {"content", content.empty() && !list.empty() ? json::Value()
                                                   : json::Value(content)}};
  if (!reasoning.empty()) message.set("reasoning_content", reasoning);
  if (!list.empty()) message.set("tool_calls", std::move(list));
  return json::Object{{"message", std::move(message)},
                      {"finish_reason", finish}};
}

inline void expect_completion_law(const Streamed& streamed) {
  const json::Value& choice = *at(streamed.response, {"choices", "0"});
  const json::Value joined = joined_completion(streamed.chunks);
  EXPECT_EQ(json::dump(*joined.find("message")),
            json::dump(*choice.find("message")));
  EXPECT_EQ(json::dump(*joined.find("finish_reason")),
            json::dump(*choice.find("finish_reason")));
}

// Joins the events of Responses: the items that were done, and their deltas.
inline void expect_responses_law(const Streamed& streamed) {
  json::Array items;
  std::vector<std::string> texts;
  std::int64_t number = 0;
  for (const ChatChunk& chunk : streamed.chunks) {
    const json::Value& body = chunk.body;
    EXPECT_EQ(body.find("sequence_number")->as_int(), number++);
    EXPECT_EQ(text_at(body, {"type"}), chunk.event);
    if (const json::Value* index = body.find("output_index")) {
      const auto item = static_cast<std::size_t>(index->as_int());
      if (chunk.event == "response.output_item.added") {
        EXPECT_EQ(item, texts.size());
        texts.emplace_back();
      }
      texts.at(item) += text_at(body, {"delta"});
      if (chunk.event.ends_with("text.done")) {
        EXPECT_EQ(text_at(body, {"text"}), texts[item]);
      }
      if (chunk.event == "response.function_call_arguments.done") {
        EXPECT_EQ(text_at(body, {"arguments"}), texts[item]);
      }
      if (chunk.event == "response.output_item.done") {
        const bool whole = text_at(body, {"item", "type"}) != "function_call" ||
                           is_json(text_at(body, {"item", "arguments"}));
        EXPECT_EQ(whole, text_at(body, {"item", "status"}) == "completed");
        if (whole) items.push_back(*body.find("item"));
      }
    }
    if (const json::Value* content = body.find("content_index")) {
      EXPECT_EQ(content->as_int(), 0);
    }
  }
  EXPECT_EQ(json::dump(json::Value(items)),
            json::dump(*streamed.response.find("output")));
  EXPECT_EQ(json::dump(*streamed.chunks.back().body.find("response")),
            json::dump(streamed.response));
}

// Joins the events of Messages.
inline void expect_messages_law(const Streamed& streamed) {
  json::Array blocks;
  std::string text;
  std::int64_t index = 0;
  bool open = false;
  for (const ChatChunk& chunk : streamed.chunks) {
    const json::Value& body = chunk.body;
    if (chunk.event == "content_block_start") {
      EXPECT_FALSE(open);
      open = true;
      text.clear();
      EXPECT_EQ(body.find("index")->as_int(), index++);
      blocks.push_back(*body.find("content_block"));
    } else if (chunk.event == "content_block_delta") {
      for (const char* key : {"thinking", "text", "partial_json"}) {
        text += text_at(body, {"delta", key});
      }
    } else if (chunk.event == "content_block_stop") {
      EXPECT_TRUE(open);
      open = false;
      json::Object& block = blocks.back().mutable_members();
      const std::string type = text_at(blocks.back(), {"type"});
      if (type == "tool_use") {
        const Result<json::Value> input = json::parse(text);
        if (input) {
          block.set("input", *input);
        } else {
          EXPECT_NE(text, "");
          blocks.pop_back();
        }
      } else {
        block.set(type == "text" ? "text" : "thinking", text);
      }
    }
  }
  EXPECT_FALSE(open);
  EXPECT_EQ(streamed.chunks.back().event, "message_stop");
  EXPECT_EQ(json::dump(json::Value(blocks)),
            json::dump(*streamed.response.find("content")));
}

inline void expect_law(ChatApi api, const Streamed& streamed) {
  switch (api) {
    case ChatApi::kChatCompletions:
      return expect_completion_law(streamed);
    case ChatApi::kResponses:
      return expect_responses_law(streamed);
    case ChatApi::kMessages:
      return expect_messages_law(streamed);
  }
}

inline constexpr ChatApi kApis[] = {ChatApi::kChatCompletions,
                                    ChatApi::kResponses, ChatApi::kMessages};

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_CHAT_JOINS_H_
