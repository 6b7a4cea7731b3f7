// Calls of damaged responses: what a server would run is what the message says.
//
// Responses with several calls are rendered for every family, and damaged:
// bytes and markers are dropped, inserted, repeated and replaced.  Of each
// text, read by the format file and by its bare template, with and without
// stream_calls, as text and as ids, in cuts:
//
//   * the calls that the events close are those of the message, and so are the
//     complete calls of each chat API, streamed and whole;
//   * the pieces of a call are JSON if and only if the call is complete;
//   * with a format file, no call is announced anew: what was written of a call
//     is right, without the value of its region;
//   * the events do not depend on the cuts.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../support/call_record.h"
#include "../support/chat_joins.h"
#include "../support/damage.h"
#include "../support/family_laws.h"
#include "../support/family_vocabulary.h"
#include "../support/sanitized.h"
#include "base/utf8.h"
#include "json/surrogates.h"
#include "parlance/chat.h"
#include "parlance/format.h"
#include "parlance/message.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"

namespace parlance::damaged_calls_law_test {
namespace {

using json::Value;
using testing::CallRecord;

constexpr std::string_view kTools =
    R"([{"type": "function", "function": {"name": "f", "parameters":
        {"type": "object", "properties": {"s": {"type": "string"},
         "n": {"type": "integer"}, "l": {"type": "array"}}}}},
        {"type": "function", "function": {"name": "g", "parameters":
        {"type": "object", "properties": {"t": {"type": "string"},
         "o": {"type": "object"}}}}}])";

// Name and arguments of the calls of a message.
json::Array wanted_calls(const Message& message) {
  json::Array all;
  if (const Value* value = message.fields.find("tool_calls")) {
    testing::final_calls(*value, all);
  }
  json::Array out;
  for (const Value& call : all) {
    out.push_back(json::Array{call.items()[0], call.items()[2]});
  }
  return out;
}

// Chat APIs have arguments that are a string in which an object is written as
// that object, and U+FFFD for half of a surrogate pair, which the message of a
// bare template keeps.
Value as_in_chat(const Value& written) {
  Value arguments = written;
  json::replace_surrogates(arguments);
  if (!arguments.is_string()) return arguments;
  const Result<Value> inside = json::parse(arguments.as_string());
  return inside && inside->is_object() ? *inside : arguments;
}

json::Array as_in_chat(const json::Array& calls) {
  json::Array out;
  for (const Value& call : calls) {
    out.push_back(json::Array{call.items()[0], as_in_chat(call.items()[1])});
  }
  return out;
}

// The calls of a response of `api`, all of which are complete.  "" or what is
// wrong.
std::string calls_of(ChatApi api, const Value& response, json::Array& out) {
  std::string wrong;
  const auto add = [&](const Value& name, std::string_view text) {
    const Result<Value> arguments = json::parse(text);
    if (arguments) {
      out.push_back(json::Array{name, *arguments});
    } else {
      wrong += "arguments are no JSON\n";
    }
  };
  switch (api) {
    case ChatApi::kChatCompletions: {
      const Value* calls =
          testing::at(response, {"choices", "0", "message", "tool_calls"});
      if (calls == nullptr) break;
      for (const Value& call : calls->items()) {
        add(*testing::at(call, {"function", "name"}),
            testing::text_at(call, {"function", "arguments"}));
      }
      break;
    }
    case ChatApi::kResponses:
      for (const Value& item : response.find("output")->items()) {
        if (testing::text_at(item, {"type"}) != "function_call") continue;
        add(*item.find("name"), testing::text_at(item, {"arguments"}));
        if (testing::text_at(item, {"status"}) != "completed") {
          wrong += "a call that is not complete\n";
        }
      }
      break;
    case ChatApi::kMessages:
      for (const Value& block : response.find("content")->items()) {
        if (testing::text_at(block, {"type"}) != "tool_use") continue;
        out.push_back(json::Array{*block.find("name"), *block.find("input")});
      }
      break;
  }
  return wrong;
}

// The events of one run, and what the chat APIs make of them.
class Reading {
 public:
  explicit Reading(const std::vector<ChatField>& fields) {
    for (const ChatApi api : testing::kApis) {
      chats_.emplace_back(fields, ChatOptions{.api = api});
      streamed_.emplace_back();
      add(chats_.size() - 1, chats_.back().begin());
    }
  }

  void add(std::span<const Event> events) {
    record.add(events);
    for (std::size_t i = 0; i < chats_.size(); ++i) {
      add(i, chats_[i].feed(events));
    }
  }

  // "" if all agrees with the message.  `streams`: with stream_calls.
  std::string check(const Message& message, bool streams) {
    std::string wrong;
    if (streams) {
      wrong += record.check(message, "tool_calls");
      for (const Call& call : record.calls) {
        if (json::parse(call.arguments).has_value() != call.complete) {
          wrong += "pieces " + call.arguments + "\n";
        }
      }
    }
    const json::Array wanted = as_in_chat(wanted_calls(message));
    for (std::size_t i = 0; i < chats_.size(); ++i) {
      add(i, chats_[i].end(ChatEnd::kStop));
      streamed_[i].response = chats_[i].response();
      testing::expect_law(testing::kApis[i], streamed_[i]);
      json::Array calls;
      wrong += calls_of(testing::kApis[i], streamed_[i].response, calls);
      if (Value(calls) != Value(wanted)) {
        wrong += "an API has " + json::dump(Value(calls)) +
                 ", the message has " + json::dump(Value(wanted)) + "\n";
      }
    }
    return wrong;
  }

  CallRecord record;

 private:
  void add(std::size_t i, std::vector<ChatChunk> chunks) {
    std::ranges::move(chunks, std::back_inserter(streamed_[i].chunks));
  }
  std::vector<ChatStream> chats_;
  std::vector<testing::Streamed> streamed_;
};

// Feeds a parser in pieces.
template <class Parser, class Feed>
std::string read(Parser& parser, const std::vector<ChatField>& fields,
                 const std::vector<std::size_t>& pieces, const Feed& feed,
                 bool streams, std::string& log) {
  Reading reading(fields);
  reading.add(parser.initial_events());
  std::size_t at = 0;
  for (const std::size_t size : pieces) {
    reading.add(feed(parser, at, size));
    at += size;
  }
  reading.add(parser.finalize());
  log = reading.record.log;
  return reading.check(parser.message(), streams);
}

// One format, read by the laws.
class Laws {
 public:
  // `repairs`: what was written of a call may turn out to be wrong.
  Laws(Format format, bool repairs)
      : format_(std::move(format)),
        fields_(chat_fields(format_)),
        repairs_(repairs) {
    for (const ChatField& field : fields_) names_.push_back(field.name);
  }

  void check(const std::string& text, const StreamOptions& given,
             std::mt19937& random) {
    std::string first;
    for (int cut = 0; cut < 3; ++cut) {
      StreamOptions options = given;
      options.stream_calls = true;
      ResponseParser parser(format_, options);
      std::string log;
      const std::string wrong = read(
          parser, fields_, testing::sizes_of(text.size(), cut, random),
          [&](ResponseParser& to, std::size_t at, std::size_t size) {
            return to.feed(std::string_view(text).substr(at, size));
          },
          true, log);
      EXPECT_EQ(wrong, "") << "cut " << cut;
      if (cut == 0) {
        first = log;
        message_calls(parser.message());
      }
      EXPECT_EQ(log, first) << "cut " << cut;
      for (const Diagnostic& one : parser.message().diagnostics) {
        EXPECT_TRUE(base::is_utf8(one.message)) << one.message;
        if (repairs_) continue;
        EXPECT_EQ(one.message.find("was announced"), std::string::npos)
            << one.message;
      }
      for (const Call& call : parser.message().calls) {
        ++(call.complete ? complete : unfinished);
      }
    }
    ResponseParser parser(format_, given);
    std::string log;
    EXPECT_EQ(read(
                  parser, fields_, {text.size()},
                  [&](ResponseParser& to, std::size_t, std::size_t) {
                    return to.feed(text);
                  },
                  false, log),
              "");
    message_calls(parser.message());
  }

  void check(std::span<const TokenId> ids, const StreamOptions& given,
             std::mt19937& random) {
    std::string first;
    for (int cut = 0; cut < 2; ++cut) {
      StreamOptions options = given;
      options.stream_calls = true;
      ResponseParser parser(format_, options);
      std::string log;
      EXPECT_EQ(read(
                    parser, fields_, testing::sizes_of(ids.size(), cut, random),
                    [&](ResponseParser& to, std::size_t at, std::size_t size) {
                      return to.feed_tokens(ids.subspan(at, size));
                    },
                    true, log),
                "")
          << "ids, cut " << cut;
      if (cut == 0) first = log;
      EXPECT_EQ(log, first) << "ids";
    }
  }

  std::size_t complete = 0;
  std::size_t unfinished = 0;

 private:
  // chat_message() has the calls of the message.
  void message_calls(const Message& message) {
    std::vector<std::string_view> names(names_.begin(), names_.end());
    json::Array calls;
    const Value response = json::Object{
        {"choices",
         json::Array{json::Object{{"message", chat_message(message, names)}}}}};
    EXPECT_EQ(calls_of(ChatApi::kChatCompletions, response, calls), "");
    EXPECT_EQ(json::dump(Value(calls)),
              json::dump(Value(as_in_chat(wanted_calls(message)))));
  }

  Format format_;
  std::vector<ChatField> fields_;
  const bool repairs_;
  std::vector<std::string> names_;
};

class DamagedCalls : public ::testing::TestWithParam<std::string> {
 protected:
  void run(std::uint32_t count) {
    const std::string& family = GetParam();
    const Result<Format> format = Format::built_in(family);
    ASSERT_TRUE(format) << format.error().to_string();
    const Result<Format> bare = Format::from_json(format->template_json());
    ASSERT_TRUE(bare) << bare.error().to_string();
    const Value request = *json::parse(kTools);
    const ToolSet tools = ToolSet::from_value(request);
    Laws by_file(*format, false);
    Laws by_template(*bare, true);
    StructuralTagOptions options;
    options.tools = request;
    options.reasoning = ReasoningMode::kNone;
    std::optional<CompiledTag> tag;
    if (const auto made = format->structural_tag(options)) {
      auto compiled = CompiledTag::compile(*made);
      ASSERT_TRUE(compiled) << compiled.error().to_string();
      tag = *std::move(compiled);
    }
    std::vector<std::string> pieces = testing::damage_pieces();
    std::optional<testing::FamilyVocabulary> vocabulary;
    const auto markers =
        testing::family_markers().find(testing::markers_like(family));
    if (markers != testing::family_markers().end()) {
      vocabulary = testing::family_vocabulary(family);
      for (const auto* list :
           {&markers->second.control, &markers->second.added}) {
        pieces.insert(pieces.end(), list->begin(), list->end());
      }
    }
    std::mt19937 random(
        static_cast<std::uint32_t>(family.size() * 131 + family[0]));
    const std::size_t plain = pieces.size();
    std::size_t texts = 0;
    for (std::uint32_t n = 0; n < count; ++n) {
      std::string text = rendered(*format, tools, 2 + random() % 2, random);
      // Some families have one call in a response.
      if (text.empty()) text = rendered(*format, tools, 1, random);
      if (text.empty()) continue;
      pieces.resize(plain);
      testing::add_stretches(text, random, pieces);
      const std::string wrong =
          n == 0 ? text : testing::damaged(text, pieces, random);
      SCOPED_TRACE(wrong);
      ++texts;
      StreamOptions parse;
      if (n % 3 != 0) parse.tools = &tools;
      by_file.check(wrong, parse, random);
      by_template.check(wrong, parse, random);
      if (tag) check_tag(*tag, wrong, random);
      if (vocabulary && n % 4 == 0) {
        parse.vocabulary = &vocabulary->vocabulary;
        by_file.check(vocabulary->encode(wrong), parse, random);
      }
      if (HasFailure()) break;
    }
    std::printf("%zu texts; calls: %zu complete, %zu not; bare %zu and %zu\n",
                texts, by_file.complete, by_file.unfinished,
                by_template.complete, by_template.unfinished);
  }

 private:
  static std::string rendered(const Format& format, const ToolSet& tools,
                              std::size_t count, std::mt19937& random) {
    static const char* const kTexts[] = {"",           "Bern", "a\"b\n",
                                         "{\"x\": 1}", "]",    "7"};
    const auto word = [&] { return Value(kTexts[random() % 6]); };
    json::Array calls;
    for (std::size_t i = count; i > 0; --i) {
      json::Object arguments;
      const bool f = random() % 2 == 0;
      if (f) {
        if (random() % 2 == 0) arguments.set("s", word());
        if (random() % 2 == 0) arguments.set("n", Value(random() % 2 == 0));
        if (random() % 2 == 0) arguments.set("l", json::Array{1, word()});
      } else {
        if (random() % 2 == 0) arguments.set("t", word());
        if (random() % 2 == 0) {
          arguments.set("o", json::Object{{"k", word()}, {"name", "h"}});
        }
      }
      calls.push_back(json::Object{
          {"type", "function"},
          {"function", json::Object{{"name", f ? "f" : "g"},
                                    {"arguments", std::move(arguments)}}}});
    }
    json::Object message = {{"role", "assistant"},
                            {"tool_calls", std::move(calls)}};
    if (random() % 3 == 0) message.set("content", "So.");
    RenderOptions options;
    options.tools = &tools;
    options.verify = false;
    const Result<std::string> text = format.render(message, options);
    return text ? *text : std::string();
  }

  static void check_tag(const CompiledTag& tag, const std::string& text,
                        std::mt19937& random) {
    const std::vector<ChatField> fields = chat_fields(tag);
    std::string first;
    for (int cut = 0; cut < 2; ++cut) {
      TagParser parser(tag, {.stream_calls = true});
      std::string log;
      EXPECT_EQ(read(
                    parser, fields, testing::sizes_of(text.size(), cut, random),
                    [&](TagParser& to, std::size_t at, std::size_t size) {
                      return to.feed(std::string_view(text).substr(at, size));
                    },
                    true, log),
                "")
          << "tag, cut " << cut;
      if (cut == 0) first = log;
      EXPECT_EQ(log, first) << "tag";
    }
  }
};

TEST_P(DamagedCalls, AreThoseOfTheMessage) { run(testing::cases(25)); }

TEST_P(DamagedCalls, AreThoseOfTheMessageLongRun) { run(1500); }

INSTANTIATE_TEST_SUITE_P(
    Families, DamagedCalls,
    ::testing::ValuesIn(testing::tried(testing::families())),
    [](const auto& one) { return one.param; });

}  // namespace
}  // namespace parlance::damaged_calls_law_test
