// The laws of a family that begin with a message, not with a text:
//
//   render   what Format::render writes reads back as the message, in pieces
//            and as ids; or render refuses, with a pointer to what it cannot
//            write
//   allowed  without markers in strings nothing is refused, the grammar accepts
//            the text, and the parser of the tag reads the same message.  With
//            markers in arguments the last holds of what the grammar accepts
//   fold     the chunks of every chat API, joined, are the response, and the
//            response says what the message says, wherever the text is cut
//
// for random messages: reasoning, content, up to three calls, nested arguments,
// and in half of them strings that contain the family's own markers, quotes,
// line feeds and letters of other scripts.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/chat.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"
#include "support/chat_joins.h"
#include "support/family_laws.h"
#include "support/id_walk.h"

namespace parlance {
namespace {

using json::Value;
using testing::at;
using testing::Call;
using testing::calls_of;
using testing::collect_marks;
using testing::difference;
using testing::listed;
using testing::made_up;
using testing::PhraseWriter;
using testing::text_at;

constexpr std::string_view kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "required": ["city"], "additionalProperties": false,
    "properties": {
      "city": {"type": "string"},
      "days": {"type": "integer"},
      "exact": {"type": "boolean"},
      "options": {"type": "object", "additionalProperties": false,
        "properties": {
          "note": {"type": "string"},
          "tags": {"type": "array", "items": {"type": "string"}}}},
      "places": {"type": "array", "items": {"type": "string"}}}}}},
  {"type": "function", "function": {"name": "now", "parameters": {
    "type": "object", "properties": {}, "additionalProperties": false}}}
])";

// Draws messages.  The same seed gives the same messages.
class Messages {
 public:
  Messages(std::uint32_t seed, const std::set<std::string>& marks, bool hostile)
      : random_(seed), marks_(marks.begin(), marks.end()), hostile_(hostile) {}

  Value draw(bool reasoning, std::size_t most_calls) {
    json::Object message;
    const bool calls = most_calls > 0 && one_of(3) != 0;
    if (reasoning && one_of(2) == 0) message.set("thinking", text(2));
    if (!calls || one_of(2) == 0) message.set("content", text(2));
    if (calls) {
      json::Array list;
      const std::size_t count = 1 + one_of(most_calls);
      for (std::size_t i = 0; i < count; ++i) list.push_back(call(i));
      message.set("tool_calls", std::move(list));
    }
    return message;
  }

 private:
  std::size_t one_of(std::size_t count) { return random_() % count; }

  // Words with a space between them; markers only where `hostile`.
  std::string text(std::size_t least) {
    constexpr std::string_view kWords[] = {"Bern", "Zürich", "東京", "🌦",
                                           "it's", "so",     "3",    "4.5",
                                           "true", "null",   "a_b",  "Привет"};
    constexpr std::string_view kHostile[] = {
        "\"",  "\\", "a\nb", "\n\n", "<",   ">",  "&amp;", "{",  "}",
        "]]>", "'",  "</x>", "\t",   "[1]", "- ", "\\n",   "\"}"};
    std::string out;
    const std::size_t count = least + one_of(5);
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out += ' ';
      if (hostile_ && one_of(3) == 0) {
        out += !marks_.empty() && one_of(2) == 0
                   ? std::string_view(marks_[one_of(marks_.size())])
                   : kHostile[one_of(std::size(kHostile))];
        continue;
      }
      out += kWords[one_of(std::size(kWords))];
    }
    return out;
  }

  Value texts() {
    json::Array out;
    const std::size_t count = one_of(3);
    for (std::size_t i = 0; i < count; ++i) out.push_back(text(1));
    return out;
  }

  Value arguments() {
    json::Object out = {{"city", text(1)}};
    if (one_of(2) == 0) {
      out.set("days", static_cast<std::int64_t>(one_of(200)) - 100);
    }
    if (one_of(2) == 0) out.set("exact", one_of(2) == 0);
    if (one_of(2) == 0) {
      json::Object options;
      if (one_of(2) == 0) options.set("note", text(1));
      if (one_of(2) == 0) options.set("tags", texts());
      out.set("options", std::move(options));
    }
    if (one_of(2) == 0) out.set("places", texts());
    return out;
  }

  Value call(std::size_t index) {
    const bool now = one_of(4) == 0;
    return json::Object{
        {"type", "function"},
        {"id", "call0000" + std::to_string(index)},
        {"function", json::Object{{"name", now ? "now" : "get_weather"},
                                  {"arguments", now ? Value(json::Object())
                                                    : arguments()}}}};
  }

  std::mt19937 random_;
  const std::vector<std::string> marks_;
  const bool hostile_;
};

// The pieces of `text` between 1 to 6 random cuts.
std::vector<std::string_view> pieces(std::string_view text,
                                     std::mt19937& random) {
  std::set<std::size_t> cuts = {0, text.size()};
  for (int i = 0; i < 6; ++i) cuts.insert(random() % (text.size() + 1));
  std::vector<std::string_view> out;
  for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
    out.push_back(text.substr(*cut, *std::next(cut) - *cut));
  }
  return out;
}

// One family, and what its laws need.
class FamilyMessages {
 public:
  explicit FamilyMessages(std::string_view name)
      : format_(*Format::built_in(name)),
        tool_set_(*ToolSet::from_json(kTools)) {
    collect_marks(*json::parse(format_.to_json()), marks_);
    vocabularies_.push_back(made_up({}));
    vocabularies_.push_back(made_up(marks_));
    for (const Vocabulary& vocabulary : vocabularies_) {
      writers_.emplace_back(vocabulary);
    }
    for (std::size_t i = 0; i < format_.field_count(); ++i) {
      if (format_.field_name(i) == "thinking") reasons_ = true;
      if (format_.field_name(i) == "tool_calls") most_calls_ = 3;
    }
    // One where the order of the file has one.
    const std::string source = json::dump(*json::parse(format_.to_json()));
    if (source.find("\"tool_calls?\"") != std::string::npos) most_calls_ = 1;
    StructuralTagOptions options;
    options.tools = *json::parse(kTools);
    Result<StructuralTag> tag = format_.structural_tag(options);
    if (!tag) {
      ADD_FAILURE() << tag.error().to_string();
      return;
    }
    grammars_.push_back(*Grammar::from_structural_tag(*tag));
    programs_.push_back(*CompiledTag::compile(*tag));
  }

  void check_renders(bool hostile, std::size_t count);
  void check_folds(std::size_t count);

  std::size_t written = 0;
  std::size_t refused = 0;
  std::size_t outside = 0;  // of the grammar

 private:
  void check_render(const Value& message, const std::string& text, bool hostile,
                    std::mt19937& random);
  template <class Parser>
  void check_fold(const Value& message, std::vector<ChatField> fields,
                  Parser parser, const std::vector<std::string_view>& text,
                  ChatApi api);

  const Format format_;
  const ToolSet tool_set_;
  std::set<std::string> marks_;
  std::vector<Vocabulary> vocabularies_;  // without and with marks
  std::vector<PhraseWriter> writers_;
  std::vector<Grammar> grammars_;
  std::vector<CompiledTag> programs_;
  bool reasons_ = false;
  std::size_t most_calls_ = 0;  // that a response can have
};

void FamilyMessages::check_renders(bool hostile, std::size_t count) {
  Messages messages(hostile ? 5 : 6, marks_, hostile);
  std::mt19937 random(7);
  for (std::size_t i = 0; i < count; ++i) {
    const Value message = messages.draw(reasons_, most_calls_);
    SCOPED_TRACE(std::to_string(i) + (hostile ? " hostile " : " ") +
                 json::dump(message, {.ascii = false}));
    const Result<std::string> text =
        format_.render(message, {.tools = &tool_set_});
    if (!text) {
      // The error says where.
      ASSERT_EQ(text.error().code, ErrorCode::kConflict)
          << text.error().to_string();
      ASSERT_TRUE(text.error().path.starts_with("/"))
          << text.error().to_string();
      if (!hostile) std::cout << text.error().to_string() << "\n";
      ++refused;
      continue;
    }
    ++written;
    check_render(message, *text, hostile, random);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

void FamilyMessages::check_render(const Value& message, const std::string& text,
                                  bool hostile, std::mt19937& random) {
  SCOPED_TRACE(json::dump(text));
  ResponseParser parser(format_, {.tools = &tool_set_});
  for (const std::string_view piece : pieces(text, random)) parser.feed(piece);
  parser.finalize();
  ASSERT_EQ(difference(parser.message().fields, message), "")
      << json::dump(parser.message().fields);
  // A vocabulary with marks reads a mark in a string as the token.
  const std::size_t which = hostile ? 0 : 1;
  ResponseParser by_ids(
      format_, {.tools = &tool_set_, .vocabulary = &vocabularies_[which]});
  by_ids.feed_tokens(writers_[which].write(text));
  by_ids.finalize();
  ASSERT_EQ(difference(by_ids.message().fields, message), "")
      << json::dump(by_ids.message().fields);

  // A grammar has no markers in text between calls, wherever they would mean
  // nothing.
  if (hostile && (message.find("content") != nullptr ||
                  message.find("thinking") != nullptr)) {
    return;
  }
  const Grammar& grammar = grammars_.front();
  if (hostile && !grammar.accepts(text)) {
    // A grammar may have fewer spellings than its reader understands.
    ++outside;
    return;
  }
  ASSERT_TRUE(grammar.accepts(text)) << grammar.explain(text)->expected;
  TagParser by_tag(programs_.front());
  for (const std::string_view piece : pieces(text, random)) by_tag.feed(piece);
  by_tag.finalize();
  ASSERT_TRUE(by_tag.message().diagnostics.empty())
      << listed(by_tag.message().diagnostics);
  ASSERT_EQ(difference(by_tag.message().fields, message), "")
      << json::dump(by_tag.message().fields);
}

ChatOptions options_of(ChatApi api) {
  ChatOptions out;
  out.api = api;
  out.id = "id";
  out.model = "m";
  out.call_id_prefix = "call_";
  return out;
}

// What a response of an API says, as a message.
Value said(ChatApi api, const Value& response) {
  std::string thinking;
  std::string content;
  json::Array calls;
  const auto add_call = [&calls](const Value& name, const Value& arguments) {
    Value parsed = arguments;
    if (arguments.is_string()) parsed = *json::parse(arguments.as_string());
    calls.push_back(json::Object{
        {"function",
         json::Object{{"name", name}, {"arguments", std::move(parsed)}}}});
  };
  switch (api) {
    case ChatApi::kChatCompletions: {
      const Value& message = *at(response, {"choices", "0", "message"});
      thinking = text_at(message, {"reasoning_content"});
      content = text_at(message, {"content"});
      if (const Value* list = message.find("tool_calls")) {
        for (const Value& call : list->items()) {
          add_call(*at(call, {"function", "name"}),
                   *at(call, {"function", "arguments"}));
        }
      }
      break;
    }
    case ChatApi::kResponses:
      for (const Value& item : response.find("output")->items()) {
        const std::string type = text_at(item, {"type"});
        if (type == "function_call") {
          add_call(*item.find("name"), *item.find("arguments"));
        } else if (type == "message") {
          content += text_at(item, {"content", "0", "text"});
        } else {
          thinking += text_at(item, {"content", "0", "text"});
        }
      }
      break;
    case ChatApi::kMessages:
      for (const Value& block : response.find("content")->items()) {
        const std::string type = text_at(block, {"type"});
        if (type == "tool_use") {
          add_call(*block.find("name"), *block.find("input"));
        }
        content += text_at(block, {"text"});
        thinking += text_at(block, {"thinking"});
      }
      break;
  }
  return json::Object{{"thinking", thinking},
                      {"content", content},
                      {"tool_calls", std::move(calls)}};
}

template <class Parser>
void FamilyMessages::check_fold(const Value& message,
                                std::vector<ChatField> fields, Parser parser,
                                const std::vector<std::string_view>& text,
                                ChatApi api) {
  ChatStream chat(std::move(fields), options_of(api));
  testing::Streamed streamed;
  const auto add = [&](std::vector<ChatChunk> chunks) {
    std::move(chunks.begin(), chunks.end(),
              std::back_inserter(streamed.chunks));
  };
  for (const std::string_view piece : text) {
    add(chat.feed(parser.feed(piece)));
  }
  add(chat.feed(parser.finalize()));
  add(chat.end(ChatEnd::kStop));
  streamed.response = chat.response();
  testing::expect_law(api, streamed);
  ASSERT_EQ(difference(said(api, streamed.response), message), "")
      << static_cast<int>(api) << json::dump(streamed.response);
}

void FamilyMessages::check_folds(std::size_t count) {
  Messages messages(8, marks_, true);
  std::mt19937 random(9);
  for (std::size_t i = 0; i < count; ++i) {
    const Value message = messages.draw(reasons_, most_calls_);
    const Result<std::string> text =
        format_.render(message, {.tools = &tool_set_});
    if (!text) continue;
    SCOPED_TRACE(std::to_string(i) + " " + json::dump(*text));
    std::vector<std::vector<std::string_view>> ways = {{*text}};
    ways.emplace_back();
    for (std::size_t b = 0; b < text->size(); ++b) {
      ways.back().push_back(std::string_view(*text).substr(b, 1));
    }
    for (int j = 0; j < 2; ++j) ways.push_back(pieces(*text, random));
    for (const ChatApi api : testing::kApis) {
      for (const auto& way : ways) {
        check_fold(message, chat_fields(format_),
                   ResponseParser(format_,
                                  {.tools = &tool_set_, .stream_calls = true}),
                   way, api);
        if (!grammars_.front().accepts(*text)) continue;
        check_fold(message, chat_fields(programs_.front()),
                   TagParser(programs_.front(), {.stream_calls = true}), way,
                   api);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

class MessagesLaw : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const Result<Format> format = Format::built_in(GetParam());
    ASSERT_TRUE(format) << format.error().to_string();
    if (!format->render(json::Object(), {.verify = false})) {
      GTEST_SKIP() << "the file does not say how to write";
    }
  }

  void renders(std::size_t count) {
    FamilyMessages plain(GetParam());
    if (HasFailure()) return;
    plain.check_renders(false, count);
    EXPECT_EQ(plain.refused, 0U);
    FamilyMessages hostile(GetParam());
    hostile.check_renders(true, count);
    // Markers in text and raw values are refused, and not much else is.
    EXPECT_GT(hostile.written, count / 5);
    std::cout << GetParam() << ": refused " << plain.refused << " and "
              << hostile.refused << " of " << count << "; " << hostile.outside
              << " are read alone\n";
  }
};

TEST_P(MessagesLaw, WhatIsWrittenIsReadAndAllowed) { renders(40); }

TEST_P(MessagesLaw, WhatIsWrittenIsReadAndAllowedLongRun) { renders(4000); }

TEST_P(MessagesLaw, ChunksSayWhatTheMessageSays) {
  FamilyMessages family(GetParam());
  if (HasFailure()) return;
  family.check_folds(4);
}

// Families and variants.
std::vector<std::string> all_names() {
  std::vector<std::string> out;
  for (const std::string_view family : Format::built_in_names()) {
    out.emplace_back(family);
    const std::vector<std::string> variants =
        Format::built_in(family)->variants();
    out.insert(out.end(), variants.begin(), variants.end());
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Families, MessagesLaw,
                         ::testing::ValuesIn(all_names()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace parlance
