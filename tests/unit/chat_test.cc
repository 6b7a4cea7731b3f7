// Events in the shapes of chat APIs: exact chunks, and the law that the chunks
// joined are the response.

#include "parlance/chat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"

namespace parlance {
namespace {

using json::Value;

constexpr char kResponse[] =
    "<think>\nHm. \n</think>\n\nLet me\n look.\n"
    "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"s\": \"ü\"}}\n"
    "</tool_call>\n<tool_call>\n{\"name\": \"g\", \"arguments\": {}}\n"
    "</tool_call>So.";

ChatOptions fixed(ChatApi api) {
  ChatOptions out;
  out.api = api;
  out.id = "id";
  out.model = "m";
  out.created = 7;
  out.call_id_prefix = "call_";
  return out;
}

struct Streamed {
  std::vector<ChatChunk> chunks;
  Value response;
};

// The response in pieces that end at `cuts`.
Streamed stream(std::string_view text, const ChatOptions& options,
                const std::vector<std::size_t>& cuts = {},
                ChatEnd why = ChatEnd::kStop) {
  const Format format = *Format::built_in("qwen3");
  ResponseParser parser(format, {.stream_calls = true});
  ChatStream chat(chat_fields(format), options);
  Streamed out;
  const auto add = [&](std::vector<ChatChunk> chunks) {
    std::move(chunks.begin(), chunks.end(), std::back_inserter(out.chunks));
  };
  std::size_t at = 0;
  for (const std::size_t cut : cuts) {
    add(chat.feed(parser.feed(text.substr(at, cut - at))));
    at = cut;
  }
  add(chat.feed(parser.feed(text.substr(at))));
  add(chat.feed(parser.finalize()));
  add(chat.end(why));
  out.response = chat.response();
  return out;
}

const Value* at(const Value& value, std::initializer_list<const char*> path) {
  const Value* out = &value;
  for (const char* key : path) {
    out = out->is_array() ? &out->items()[0] : out->find(key);
    if (out == nullptr) return nullptr;
  }
  return out;
}

std::string text_at(const Value& value,
                    std::initializer_list<const char*> path) {
  const Value* found = at(value, path);
  return found != nullptr && found->is_string()
             ? std::string(found->as_string())
             : std::string();
}

// Joins chunks as clients of chat completions do.
Value joined_completion(const std::vector<ChatChunk>& chunks) {
  std::string content;
  std::string reasoning;
  Value finish;
  struct Call {
    std::string id, name, arguments;
  };
  std::vector<Call> calls;
  for (const ChatChunk& chunk : chunks) {
    const Value* choice = at(chunk.body, {"choices", "0"});
    if (choice == nullptr) continue;
    const Value& delta = *choice->find("delta");
    content += text_at(delta, {"content"});
    reasoning += text_at(delta, {"reasoning_content"});
    if (const Value* list = delta.find("tool_calls")) {
      for (const Value& call : list->items()) {
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
    list.push_back(json::Object{
        {"id", call.id},
        {"type", "function"},
        {"function",
         json::Object{{"name", call.name}, {"arguments", call.arguments}}}});
  }
  json::Object message = {
      {"role", "assistant"},
      {"content", content.empty() && !list.empty() ? Value() : Value(content)}};
  if (!reasoning.empty()) message.set("reasoning_content", reasoning);
  if (!list.empty()) message.set("tool_calls", std::move(list));
  return json::Object{{"message", std::move(message)},
                      {"finish_reason", finish}};
}

void expect_completion_law(const Streamed& streamed) {
  const Value& choice = *at(streamed.response, {"choices", "0"});
  const Value joined = joined_completion(streamed.chunks);
  EXPECT_EQ(json::dump(*joined.find("message")),
            json::dump(*choice.find("message")));
  EXPECT_EQ(json::dump(*joined.find("finish_reason")),
            json::dump(*choice.find("finish_reason")));
}

// Joins the events of Responses: the items that were done, and their deltas.
void expect_responses_law(const Streamed& streamed) {
  json::Array items;
  std::vector<std::string> texts;
  std::int64_t number = 0;
  for (const ChatChunk& chunk : streamed.chunks) {
    const Value& body = chunk.body;
    EXPECT_EQ(body.find("sequence_number")->as_int(), number++);
    EXPECT_EQ(text_at(body, {"type"}), chunk.event);
    if (const Value* index = body.find("output_index")) {
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
        items.push_back(*body.find("item"));
      }
    }
    if (const Value* content = body.find("content_index")) {
      EXPECT_EQ(content->as_int(), 0);
    }
  }
  EXPECT_EQ(json::dump(Value(items)),
            json::dump(*streamed.response.find("output")));
  EXPECT_EQ(json::dump(*streamed.chunks.back().body.find("response")),
            json::dump(streamed.response));
}

// Joins the events of Messages.
void expect_messages_law(const Streamed& streamed) {
  json::Array blocks;
  std::string text;
  bool open = false;
  for (const ChatChunk& chunk : streamed.chunks) {
    const Value& body = chunk.body;
    if (chunk.event == "content_block_start") {
      EXPECT_FALSE(open);
      open = true;
      text.clear();
      EXPECT_EQ(body.find("index")->as_int(),
                static_cast<std::int64_t>(blocks.size()));
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
        const Result<Value> input = json::parse(text);
        if (input) {
          block.set("input", *input);
        } else if (!text.empty()) {
          block.set("partial_json", text);
        }
      } else {
        block.set(type == "text" ? "text" : "thinking", text);
      }
    }
  }
  EXPECT_FALSE(open);
  EXPECT_EQ(streamed.chunks.back().event, "message_stop");
  EXPECT_EQ(json::dump(Value(blocks)),
            json::dump(*streamed.response.find("content")));
}

void expect_law(ChatApi api, const Streamed& streamed) {
  switch (api) {
    case ChatApi::kChatCompletions:
      return expect_completion_law(streamed);
    case ChatApi::kResponses:
      return expect_responses_law(streamed);
    case ChatApi::kMessages:
      return expect_messages_law(streamed);
  }
}

constexpr ChatApi kApis[] = {ChatApi::kChatCompletions, ChatApi::kResponses,
                             ChatApi::kMessages};

TEST(Chat, ACompletionHasReasoningContentAndCalls) {
  const Streamed streamed = stream(kResponse, fixed(ChatApi::kChatCompletions));
  const Value& choice = *at(streamed.response, {"choices", "0"});
  const Value& message = *choice.find("message");
  EXPECT_EQ(text_at(message, {"reasoning_content"}), "Hm. ");
  EXPECT_EQ(text_at(choice, {"finish_reason"}), "tool_calls");
  const Value& calls = *message.find("tool_calls");
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(json::dump(calls.items()[0], {.ascii = false}),
            R"({"id": "call_0", "type": "function", "function": )"
            R"({"name": "f", "arguments": "{\"s\": \"ü\"}"}})");
  EXPECT_EQ(text_at(calls.items()[1], {"id"}), "call_1");
}

TEST(Chat, ChunksJoinedAreTheResponseAtEveryCut) {
  const std::string text = kResponse;
  for (const ChatApi api : kApis) {
    const std::string whole =
        json::dump(stream(text, fixed(ChatApi::kMessages)).response);
    std::vector<std::size_t> every;
    for (std::size_t i = 1; i < text.size(); ++i) every.push_back(i);
    expect_law(api, stream(text, fixed(api), every));
    std::mt19937 random(3);
    for (int run = 0; run < 30; ++run) {
      std::set<std::size_t> cuts;
      for (int i = 0; i < 6; ++i) cuts.insert(1 + random() % (text.size() - 1));
      const std::vector<std::size_t> list(cuts.begin(), cuts.end());
      expect_law(api, stream(text, fixed(api), list));
      EXPECT_EQ(
          json::dump(stream(text, fixed(ChatApi::kMessages), list).response),
          whole);
    }
  }
}

TEST(Chat, AResponseThatIsCutAnywhereKeepsTheLaw) {
  const std::string text = kResponse;
  for (const ChatApi api : kApis) {
    for (std::size_t size = 0; size <= text.size(); ++size) {
      SCOPED_TRACE(size);
      expect_law(
          api, stream(text.substr(0, size), fixed(api), {}, ChatEnd::kLength));
    }
  }
}

// The calls of a list are closed with the list.
TEST(Chat, AListOfCallsIsSeveralCalls) {
  const std::string text =
      R"([TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}, )"
      R"({"name": "g", "arguments": {"b": [2]}}])";
  const Format format = *Format::built_in("mistral_v3");
  for (const ChatApi api : kApis) {
    for (std::size_t size = 0; size <= text.size(); ++size) {
      SCOPED_TRACE(size);
      ResponseParser parser(format, {.stream_calls = true});
      ChatStream chat(chat_fields(format), fixed(api));
      Streamed streamed;
      const auto add = [&](std::vector<ChatChunk> chunks) {
        std::move(chunks.begin(), chunks.end(),
                  std::back_inserter(streamed.chunks));
      };
      for (const char c : text.substr(0, size)) {
        add(chat.feed(parser.feed({&c, 1})));
      }
      add(chat.feed(parser.finalize()));
      add(chat.end(ChatEnd::kStop));
      streamed.response = chat.response();
      expect_law(api, streamed);
      if (size < text.size()) continue;
      const std::string response = json::dump(streamed.response);
      EXPECT_EQ(response.find("incomplete\""), std::string::npos) << response;
      EXPECT_NE(response.find("\"f\""), std::string::npos);
      EXPECT_NE(response.find("\"g\""), std::string::npos);
    }
  }
}

TEST(Chat, IdsAreUniqueAmongStreams) {
  std::set<std::string> ids;
  for (int i = 0; i < 10; ++i) {
    ChatOptions options;
    const Streamed streamed = stream(kResponse, options);
    ids.insert(text_at(streamed.response, {"id"}));
    const Value* calls =
        at(streamed.response, {"choices", "0", "message", "tool_calls"});
    ASSERT_NE(calls, nullptr);
    for (const Value& call : calls->items()) ids.insert(text_at(call, {"id"}));
  }
  EXPECT_EQ(ids.size(), 30U);
}

TEST(Chat, WhatCannotBeReadIsContent) {
  const Streamed streamed = stream("<tool_call>nothing like JSON</tool_call>",
                                   fixed(ChatApi::kChatCompletions));
  const Value& choice = *at(streamed.response, {"choices", "0"});
  EXPECT_NE(text_at(choice, {"message", "content"}).find("nothing like JSON"),
            std::string::npos);
  EXPECT_EQ(text_at(choice, {"finish_reason"}), "stop");
}

TEST(Chat, TheReasoningMemberHasTheNameThatIsAskedFor) {
  ChatOptions options = fixed(ChatApi::kChatCompletions);
  options.reasoning_name = "reasoning";
  const Streamed streamed = stream(kResponse, options);
  EXPECT_EQ(
      text_at(streamed.response, {"choices", "0", "message", "reasoning"}),
      "Hm. ");
}

TEST(Chat, AnEmptyResponseIsAResponse) {
  for (const ChatApi api : kApis) expect_law(api, stream("", fixed(api)));
}

}  // namespace
}  // namespace parlance
