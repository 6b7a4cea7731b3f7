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
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "support/chat_joins.h"

namespace parlance::chat_test {
namespace {

using json::Value;
using testing::at;
using testing::expect_law;
using testing::kApis;
using testing::Streamed;
using testing::text_at;

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

// The stream has sent the beginning of a call that is cut; the response does
// not have it, and ends as one without calls.
TEST(Chat, AResponseHasCompleteCallsOnly) {
  const std::string cut = R"(Hi.<tool_call>{"name": "g", "arguments": {"a)";
  const std::string call =
      R"(<tool_call>{"name": "f", "arguments": {}}</tool_call>)";
  for (const ChatApi api : kApis) {
    const Streamed none = stream(cut, fixed(api));
    const Streamed one = stream(call + cut, fixed(api));
    expect_law(api, none);
    expect_law(api, one);
    const auto sent = [](const Streamed& streamed, std::string_view text) {
      return std::ranges::any_of(streamed.chunks, [&](const ChatChunk& chunk) {
        return json::dump(chunk.body).find(text) != std::string::npos;
      });
    };
    EXPECT_TRUE(sent(none, "\"name\": \"g\""));
    EXPECT_EQ(json::dump(none.response).find("\"g\""), std::string::npos);
    EXPECT_NE(json::dump(one.response).find("\"f\""), std::string::npos);
    EXPECT_EQ(json::dump(one.response).find("\"g\""), std::string::npos);
    EXPECT_EQ(sent(none, R"("finish_reason": "tool_calls")"), false);
    EXPECT_EQ(sent(none, R"("stop_reason": "tool_use")"), false);
    EXPECT_EQ(sent(one, R"("finish_reason": "tool_calls")"),
              api == ChatApi::kChatCompletions);
    EXPECT_EQ(sent(one, R"("stop_reason": "tool_use")"),
              api == ChatApi::kMessages);
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

TEST(Chat, TheRestOfATagIsContent) {
  const Result<StructuralTag> tag = StructuralTag::from_json(
      R"({"format": {"type": "sequence", "elements": [
        {"type": "tag", "begin": "<f>", "content": {"type": "json_schema",
         "json_schema": {"type": "object"}}, "end": "</f>", "tool": "f"}]}})");
  ASSERT_TRUE(tag) << tag.error().to_string();
  const Result<CompiledTag> compiled = CompiledTag::compile(*tag);
  ASSERT_TRUE(compiled) << compiled.error().to_string();
  constexpr std::string_view kText = "<f>{}</f> So it is.";
  for (const ChatApi api : kApis) {
    for (std::size_t cut = 0; cut <= kText.size(); ++cut) {
      TagParser parser(*compiled, {.stream_calls = true});
      ChatStream chat(chat_fields(*compiled), fixed(api));
      Streamed streamed;
      const auto add = [&](std::vector<ChatChunk> chunks) {
        std::ranges::move(chunks, std::back_inserter(streamed.chunks));
      };
      add(chat.feed(parser.feed(kText.substr(0, cut))));
      add(chat.feed(parser.feed(kText.substr(cut))));
      add(chat.feed(parser.finalize()));
      add(chat.end(ChatEnd::kStop));
      streamed.response = chat.response();
      expect_law(api, streamed);
      if (api != ChatApi::kChatCompletions) continue;
      const Value& message =
          *at(streamed.response, {"choices", "0", "message"});
      EXPECT_EQ(text_at(message, {"content"}), " So it is.");
      EXPECT_EQ(message.find("rest"), nullptr);
    }
  }
}

// What a response of an API says but for its calls: its text, and its other
// members.
struct Said {
  std::string reasoning;
  std::string content;
  std::string other;
};

Said said(ChatApi api, const Value& response) {
  Said out;
  if (api == ChatApi::kChatCompletions) {
    const Value& message = *at(response, {"choices", "0", "message"});
    json::Object other;
    for (const json::Member& member : message.members()) {
      if (member.key != "role" && member.key != "content" &&
          member.key != "reasoning_content" && member.key != "tool_calls") {
        other.set(member.key, member.value);
      }
    }
    out.other = other.empty() ? "" : json::dump(other);
    out.reasoning = text_at(message, {"reasoning_content"});
    out.content = text_at(message, {"content"});
    return out;
  }
  const bool items = api == ChatApi::kResponses;
  for (const Value& one :
       response.find(items ? "output" : "content")->items()) {
    out.reasoning += text_at(one, {"thinking"});
    (text_at(one, {"type"}) == "reasoning" ? out.reasoning : out.content) +=
        items ? text_at(one, {"content", "0", "text"}) : text_at(one, {"text"});
  }
  const Value* other = response.find("fields");
  if (other != nullptr) out.other = json::dump(*other);
  return out;
}

TEST(Chat, NothingOfAResponseIsLost) {
  struct Row {
    const char* fields;
    const char* text;
    Said said;
  };
  const std::string typed = R"("score": {"open": "<s>", "close": "</s>",
      "content": "int", "repeats": true}, "content": {})";
  const std::string joined = R"("thinking": {"open": "<t>", "close": "</t>",
      "repeats": true, "join": "|"}, "content": {})";
  const std::string notes = R"("note": {"open": "<n>", "close": "</n>",
      "repeats": true, "join": "|"}, "content": {"repeats": true, "join": ""})";
  const std::string json = R"("thinking": {"open": "<t>", "close": "</t>",
      "content": "json"}, "content": {"content": "json"})";
  const std::string calls = R"("tool_calls": {"open": "<c>", "close": "</c>",
      "content": "json"}, "content": {})";
  const Row rows[] = {
      {R"("content": {"content": "json"})",
       R"( {"a":  1})",
       {"", R"({"a": 1})", ""}},
      {R"("content": {"content": "json"})", R"("Ü")", {"", "Ü", ""}},
      {R"("content": {"content": "json"})", R"({"a": )", {"", R"({"a": )", ""}},
      {json.c_str(), R"(<t>{"b": [2]}</t>null)", {R"({"b": [2]})", "", ""}},
      {typed.c_str(), "a<s>abc</s>b", {"", "aabc\nb", ""}},
      {typed.c_str(), "<s> 1</s><s>2</s>b", {"", "b", R"({"score": [1, 2]})"}},
      {notes.c_str(), "<n>a</n>b<n> </n>c", {"", "bc", R"({"note": "a|"})"}},
      {calls.c_str(), R"(<c>{"a": 1}</c>b)", {"", R"({"a": 1}b)", ""}},
      {calls.c_str(), "<c>[]</c>b", {"", "b", ""}},
      {calls.c_str(),
       R"(<c>[{"name": "f", "arguments": {}}, "text", [5]]</c>b)",
       {"", "text\n5b", ""}},
      {R"("content": {"transform": {"v": "{content}"}})",
       "ab ",
       {"", R"({"v": "ab"})", ""}},
      {R"("content": {"content": "int"})", " 07", {"", "7", ""}},
      {R"("thinking": {"open": "<t>", "close": "</t>",
          "transform": ["{content}"]}, "content": {})",
       "<t></t>b",
       {R"([""])", "b", ""}},
      {joined.c_str(), "<t>a</t><t></t><t>b</t>", {"a||b", "", ""}},
      {joined.c_str(), "<t></t><t>b</t><t> </t>", {"|b|", "", ""}},
      {joined.c_str(), "<t></t>", {"", "", ""}},
  };
  for (const Row& row : rows) {
    const Result<Format> format = Format::from_json(
        R"({"name": "x", "response_template": {"start_anchor": "<|a|>",
            "fields": {)" +
        std::string(row.fields) + "}}}");
    ASSERT_TRUE(format) << format.error().to_string();
    const std::string_view text = row.text;
    for (const ChatApi api : kApis) {
      for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        ResponseParser parser(*format, {.stream_calls = true});
        ChatStream chat(chat_fields(*format), fixed(api));
        Streamed streamed;
        const auto add = [&](std::vector<ChatChunk> chunks) {
          std::ranges::move(chunks, std::back_inserter(streamed.chunks));
        };
        add(chat.feed(parser.feed(text.substr(0, cut))));
        add(chat.feed(parser.feed(text.substr(cut))));
        add(chat.feed(parser.finalize()));
        add(chat.end(ChatEnd::kStop));
        streamed.response = chat.response();
        if (row.said.other.empty()) expect_law(api, streamed);
        const Said all = said(api, streamed.response);
        EXPECT_EQ(all.reasoning, row.said.reasoning) << text;
        EXPECT_EQ(all.content, row.said.content) << text;
        EXPECT_EQ(all.other, row.said.other) << text;
        if (all.other.empty()) continue;
        // The last chunk but the end has the other fields.
        bool sent = false;
        for (const ChatChunk& chunk : streamed.chunks) {
          sent = sent || json::dump(chunk.body)
                                 .find(row.said.other.substr(
                                     1, row.said.other.size() - 2)) !=
                             std::string::npos;
        }
        EXPECT_TRUE(sent) << text;
      }
    }
  }
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

// ---- RegionsAsContent

struct Plain {
  std::string content;   // the chunks of the field
  std::size_t open = 0;  // regions of content that were opened
  std::size_t closed = 0;
  std::size_t others = 0;  // events of the fields that are content now
};

// Feeds `text` in pieces of up to `longest` bytes; the regions of `names`
// become content.
Plain plain_of(std::string_view text, std::vector<std::string> names,
               std::size_t longest, unsigned seed) {
  const Result<Format> format = Format::built_in("qwen3");
  EXPECT_TRUE(format);
  const std::string prefix = "<|im_start|>assistant\n";
  ResponseParser parser(
      *format,
      {.prefix = prefix, .recover = Recover::kYes, .stream_calls = true});
  const std::vector<ChatField> fields = chat_fields(*format);
  RegionsAsContent regions(fields, names, parser.prefix_bytes());
  std::mt19937 random(seed);
  Plain out;
  const auto take = [&](std::span<const Event> events) {
    for (const Event& event : regions.route(events)) {
      if (event.field == "content") {
        if (event.kind == EventKind::kRegionOpen) ++out.open;
        if (event.kind == EventKind::kRegionClose) ++out.closed;
        if (event.kind == EventKind::kRegionChunk) out.content += event.text;
      }
      const bool named = std::ranges::find(names, event.field) != names.end();
      if (named) ++out.others;
    }
  };
  while (!text.empty()) {
    const std::size_t size =
        std::min<std::size_t>(text.size(), 1 + random() % longest);
    regions.read(text.substr(0, size));
    take(parser.feed(text.substr(0, size)));
    text.remove_prefix(size);
  }
  take(parser.finalize());
  return out;
}

// White space that the parser trims from content before a call stays trimmed.
TEST(RegionsAsContent, KeepsTheTextOfTheRegionsWithTheirDelimiters) {
  const Plain reasoning = plain_of(kResponse, {"reasoning", "thinking"}, 9, 1);
  EXPECT_EQ(reasoning.content, "<think>\nHm. \n</think>\n\nLet me\n look.So.");
  EXPECT_EQ(reasoning.others, 0U);
  const Plain calls = plain_of(kResponse, {"tool_calls"}, 9, 1);
  const std::string all(kResponse);
  EXPECT_EQ(calls.content,
            "Let me\n look." + all.substr(all.find("<tool_call>")));
  EXPECT_EQ(calls.others, 0U);
}

TEST(RegionsAsContent, DoesNotDependOnTheCut) {
  const std::string damaged =
      std::string(kResponse) + "<think>\xF0\x9F half</think><tool_call>{";
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"reasoning", "thinking"},
        {"tool_calls"},
        {"reasoning", "thinking", "tool_calls"},
        {}}) {
    const Plain whole = plain_of(damaged, names, 1 << 20, 0);
    for (unsigned seed = 0; seed < 50; ++seed) {
      const Plain cut = plain_of(damaged, names, 1 + seed % 12, seed);
      EXPECT_EQ(cut.content, whole.content) << seed;
      EXPECT_EQ(cut.open, whole.open) << seed;
      EXPECT_EQ(cut.closed, whole.closed) << seed;
    }
  }
}

}  // namespace
}  // namespace parlance::chat_test
