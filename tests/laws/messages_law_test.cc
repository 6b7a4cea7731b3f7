// The laws of a family that begin with a message, not with a text:
//
//   render   what Format::render writes reads back as the message, in pieces
//            and as ids; or render refuses, with a pointer to what it cannot
//            write, and for a reason that raw_arguments() or why_not_text()
//            states
//   allowed  without markers in strings nothing is refused, the grammar accepts
//            the text and its ids, and the parser of the tag reads the same
//            message.  With markers in arguments the last holds of what the
//            grammar accepts
//   fold     the chunks of every chat API, joined, are the response, and the
//            response says what the message says, wherever the text is cut; one
//            response of each family is cut at every byte
//   same     the events of both parsers make the same response, to the byte;
//            only the id that a model writes for a call is not read by a tag
//
// and one that begins with a format file that is drawn:
//
//   all      a response of any API has all the text of a response, and other
//            fields as the message has them
//
// for random messages: reasoning, content, up to three calls, nested arguments,
// and in half of them strings that contain the family's own markers, quotes,
// line feeds and letters of other scripts.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/python_number.h"
#include "parlance/chat.h"
#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/hints.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"
#include "support/chat_joins.h"
#include "support/family_laws.h"
#include "support/sanitized.h"
#include "verification/walker.h"

namespace parlance::messages_law_test {
namespace {

using json::Value;
using testing::at;
using testing::calls_of;
using testing::collect_marks;
using testing::difference;
using testing::listed;
using testing::made_up;
using testing::NamedCall;
using testing::text_at;
using verification::PhraseWriter;

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

// Families that write strings of arguments without escapes.  Whatever a string
// of the others' arguments contains, they can write it.
struct RawArguments {
  std::string_view reason;
  bool nested;  // also strings inside lists and objects
  std::vector<std::string_view> families;
};
const std::vector<RawArguments>& raw_arguments() {
  static const std::vector<RawArguments> kRaw = {
      {"an argument that is a string is plain text in an element",
       false,
       {"deepseek_v3_2",
        "deepseek_v4",
        "deepseek_v4_1",
        "dots",
        "gigachat3_5",
        "glm4_5",
        "glm4_7",
        "granite4_2",
        "hunyuan_v3",
        "hy3_preview",
        "hy4",
        "hyperclovax_seed_think",
        "iquest_q1",
        "k2_horizon",
        "kimi_k3",
        "laguna",
        "laguna_xs",
        "ling3",
        "longcat_2",
        "mimo",
        "minimax_m2",
        "muse_glimmer",
        "nemotron_3_nano",
        "qwen3_5",
        "qwen3_coder",
        "seed_oss",
        "solar_open2",
        "spark2_5",
        "step3",
        "step3_5"}},
      {"CDATA is no shelter from the text that ends the call, and has none "
       "from "
       "its own end",
       false,
       {"minicpm5"}},
      {"elements nest, and each string is plain text in one",
       true,
       {"cohere_cofl_xml", "minimax_m3"}},
      {"strings stand between markers, without escapes",
       true,
       {"functiongemma", "gemma4"}},
      {"a mark begins with a bracket, which JSON does not escape",
       true,
       {"openpangu", "openpangu_v2"}},
  };
  return kRaw;
}

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
      : name_(name),
        format_(*Format::built_in(name)),
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
    for (const Vocabulary& vocabulary : vocabularies_) {
      const std::vector<TokenId> stops = {*vocabulary.special("<eos>")};
      constraints_.push_back(*Compiler::create(vocabulary, {.stop_ids = stops})
                                  ->compile_structural_tag(*tag));
    }
  }

  void check_renders(bool hostile, std::size_t count);
  void check_folds(std::size_t count);
  void check_every_cut();

  std::size_t written = 0;
  std::size_t refused = 0;
  std::size_t outside = 0;  // of the grammar

 private:
  std::optional<std::string> why_not_text(std::string_view text) const;
  std::optional<std::string> why_not_calls(const Value& calls) const;
  void check_refusal(const Value& message) const;
  void check_render(const Value& message, const std::string& text, bool hostile,
                    std::mt19937& random);
  void check_ways(const Value& message, const std::string& text,
                  const std::vector<std::vector<std::string_view>>& ways);
  template <class Parser>
  std::vector<std::string> check_fold(
      const Value& message, const std::vector<ChatField>& fields, Parser parser,
      const std::vector<std::string_view>& text);

  const std::string_view name_;
  const Format format_;
  const ToolSet tool_set_;
  std::set<std::string> marks_;
  std::vector<Vocabulary> vocabularies_;  // without and with marks
  std::vector<PhraseWriter> writers_;
  std::vector<Grammar> grammars_;
  std::vector<CompiledTag> programs_;
  std::vector<Constraint> constraints_;  // by vocabulary
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
      SCOPED_TRACE(text.error().to_string());
      check_refusal(message);
      if (::testing::Test::HasFatalFailure()) return;
      ++refused;
      continue;
    }
    ++written;
    check_render(message, *text, hostile, random);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Why text cannot be written as it is; nothing if it can.
std::optional<std::string> FamilyMessages::why_not_text(
    std::string_view text) const {
  for (const std::string& mark : marks_) {
    if (text.find(mark) != text.npos) return "a text of the family's markup";
  }
  constexpr std::string_view kSpace = " \t\n";
  if (text.find_first_of(kSpace) == 0 ||
      text.find_last_of(kSpace) + 1 == text.size()) {
    return "white space at an end, which belongs to the layout";
  }
  if (text.find("]]>") != text.npos) return "the end of CDATA";
  return std::nullopt;
}

// Why `calls` cannot be written.
std::optional<std::string> FamilyMessages::why_not_calls(
    const Value& calls) const {
  const RawArguments* raw = nullptr;
  for (const RawArguments& one : raw_arguments()) {
    if (std::ranges::find(one.families, name_) != one.families.end()) {
      raw = &one;
    }
  }
  if (raw == nullptr) return std::nullopt;
  std::vector<const Value*> work;
  for (const Value& call : calls.items()) {
    const Value* arguments = at(call, {"function", "arguments"});
    for (const json::Member& member : arguments->members()) {
      work.push_back(&member.value);
    }
  }
  while (!work.empty()) {
    const Value& next = *work.back();
    work.pop_back();
    if (next.is_string()) {
      if (const auto why = why_not_text(next.as_string())) {
        return *why + ": " + std::string(raw->reason);
      }
    }
    if (!raw->nested) continue;
    for (const Value& item : next.items()) work.push_back(&item);
    for (const json::Member& member : next.members()) {
      work.push_back(&member.value);
    }
  }
  return std::nullopt;
}

// A message is refused because of a text, or else because of arguments.
void FamilyMessages::check_refusal(const Value& message) const {
  bool text = false;
  Value other = message;
  for (const std::string_view field : {"thinking", "content"}) {
    const Value* value = message.find(field);
    if (value == nullptr) continue;
    text = text || why_not_text(value->as_string());
    other.mutable_members().set(std::string(field), "So it is");
  }
  const Value* calls = message.find("tool_calls");
  const bool arguments = calls != nullptr && why_not_calls(*calls);
  ASSERT_TRUE(text || arguments) << "refused without a reason";
  if (!arguments) {
    const Result<std::string> rendered =
        format_.render(other, {.tools = &tool_set_});
    ASSERT_TRUE(rendered) << "refused whatever the text: "
                          << rendered.error().to_string();
  }
}

// An id that comes back is the one that was written.
void check_call_ids(std::string_view family, const Value& written,
                    const Value& read) {
  // Their ids are the numbers of the calls.
  constexpr std::string_view kNumbered[] = {"cohere2_moe", "cohere_cofl_xml",
                                            "cohere_command", "kimi_k2",
                                            "kimi_k2_thinking"};
  const Value* calls = written.find("tool_calls");
  if (calls == nullptr ||
      std::ranges::find(kNumbered, family) != std::end(kNumbered)) {
    return;
  }
  for (std::size_t i = 0; i < calls->items().size(); ++i) {
    const Value* id = read.find("tool_calls")->items()[i].find("id");
    if (id == nullptr || !id->is_string()) continue;
    ASSERT_EQ(id->as_string(), calls->items()[i].find("id")->as_string());
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
  const std::vector<TokenId> ids = writers_[which].write(text);
  by_ids.feed_tokens(ids);
  by_ids.finalize();
  ASSERT_EQ(difference(by_ids.message().fields, message), "")
      << json::dump(by_ids.message().fields);
  check_call_ids(name_, message, parser.message().fields);
  if (parser.message().diagnostics.empty()) {
    const std::vector<Hint> hints =
        hints_of(format_, text, parser.message(), {.tools = &tool_set_});
    ASSERT_TRUE(hints.empty()) << hints.front().message;
  }

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
  Matcher matcher = constraints_[which].matcher();
  ASSERT_EQ(matcher.accept_tokens(ids), ids.size());
  ASSERT_TRUE(matcher.is_terminated() ||
              matcher.accept_token(*vocabularies_[which].special("<eos>")));
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

// A response with empty ids of items and calls.  Those of items are drawn, and
// a tag has no place for the id that a model writes for a call.
std::string without_ids(Value response) {
  std::vector<Value*> work = {&response};
  while (!work.empty()) {
    Value& next = *work.back();
    work.pop_back();
    if (next.is_array()) {
      for (Value& item : next.mutable_items()) work.push_back(&item);
      continue;
    }
    if (!next.is_object()) continue;
    for (const char* id : {"id", "call_id"}) {
      if (Value* known = next.mutable_members().find(id)) *known = "";
    }
    for (const char* inside :
         {"choices", "message", "tool_calls", "output", "content"}) {
      Value* value = next.mutable_members().find(inside);
      if (value != nullptr) work.push_back(value);
    }
  }
  return json::dump(response, {.ascii = false});
}

// Feeds the chunks of `text` to `parser`, and its events to the streams of all
// APIs.  Returns the responses.
template <class Parser>
std::vector<std::string> FamilyMessages::check_fold(
    const Value& message, const std::vector<ChatField>& fields, Parser parser,
    const std::vector<std::string_view>& text) {
  struct Stream {
    ChatApi api;
    ChatStream chat;
    testing::Streamed streamed = {};

    void add(std::vector<ChatChunk> chunks) {
      std::ranges::move(chunks, std::back_inserter(streamed.chunks));
    }
  };
  std::vector<Stream> streams;
  for (const ChatApi api : testing::kApis) {
    streams.push_back({api, ChatStream(fields, options_of(api))});
  }
  const auto feed = [&](std::span<const Event> events) {
    for (Stream& stream : streams) stream.add(stream.chat.feed(events));
  };
  for (const std::string_view piece : text) feed(parser.feed(piece));
  feed(parser.finalize());
  std::vector<std::string> out;
  for (Stream& stream : streams) {
    stream.add(stream.chat.end(ChatEnd::kStop));
    stream.streamed.response = stream.chat.response();
    testing::expect_law(stream.api, stream.streamed);
    EXPECT_EQ(difference(said(stream.api, stream.streamed.response), message),
              "")
        << static_cast<int>(stream.api) << json::dump(stream.streamed.response);
    out.push_back(without_ids(std::move(stream.streamed.response)));
  }
  return out;
}

// Both parsers, with the text in each of `ways`.
void FamilyMessages::check_ways(
    const Value& message, const std::string& text,
    const std::vector<std::vector<std::string_view>>& ways) {
  SCOPED_TRACE(json::dump(text));
  const std::vector<ChatField> fields = chat_fields(format_);
  const std::vector<ChatField> tag_fields = chat_fields(programs_.front());
  const bool allowed = grammars_.front().accepts(text);
  for (const auto& way : ways) {
    SCOPED_TRACE(way.size() == 2 ? "cut at " + std::to_string(way[0].size())
                                 : std::to_string(way.size()) + " pieces");
    const std::vector<std::string> by_format = check_fold(
        message, fields,
        ResponseParser(format_, {.tools = &tool_set_, .stream_calls = true}),
        way);
    if (allowed) {
      EXPECT_EQ(
          check_fold(message, tag_fields,
                     TagParser(programs_.front(), {.stream_calls = true}), way),
          by_format);
    }
    if (::testing::Test::HasFailure()) return;
  }
}

void FamilyMessages::check_folds(std::size_t count) {
  Messages messages(8, marks_, true);
  std::mt19937 random(9);
  for (std::size_t i = 0; i < count; ++i) {
    const Value message = messages.draw(reasons_, most_calls_);
    const Result<std::string> text =
        format_.render(message, {.tools = &tool_set_});
    if (!text) continue;
    std::vector<std::vector<std::string_view>> ways = {{*text}};
    ways.emplace_back();
    for (std::size_t b = 0; b < text->size(); ++b) {
      ways.back().push_back(std::string_view(*text).substr(b, 1));
    }
    for (int j = 0; j < 2; ++j) ways.push_back(pieces(*text, random));
    check_ways(message, *text, ways);
    if (::testing::Test::HasFailure()) return;
  }
}

// One response with all that the family has, in two pieces, cut at every byte.
void FamilyMessages::check_every_cut() {
  json::Object message;
  if (reasons_) message.set("thinking", "Wetter? Zürich");
  message.set("content", "So: 東京");
  if (most_calls_ > 0) {
    json::Array calls = json::parse(R"([
      {"id": "call00000", "function": {"name": "get_weather", "arguments":
        {"city": "é \"b\"", "days": -3, "options": {"tags": ["🌦"]}}}},
      {"id": "call00001", "function": {"name": "now", "arguments": {}}}])")
                            ->items();
    calls.resize(std::min(calls.size(), most_calls_));
    message.set("tool_calls", std::move(calls));
  }
  const Result<std::string> text =
      format_.render(message, {.tools = &tool_set_});
  ASSERT_TRUE(text) << text.error().to_string();
  std::vector<std::vector<std::string_view>> ways;
  const std::string_view all = *text;
  for (std::size_t cut = 1; cut < all.size(); ++cut) {
    ways.push_back({all.substr(0, cut), all.substr(cut)});
  }
  check_ways(message, *text, ways);
}

// ---- all

// Draws a format file or a bare template with fields of all kinds, and a
// response.
class Responses {
 public:
  explicit Responses(std::uint32_t seed)
      : random_(seed), bare_(one_of(4) == 0) {
    json::Object fields;
    for (const auto& [name, letter] :
         {std::pair("thinking", "t"), std::pair("content", "c"),
          std::pair("score", "s"), std::pair("note", "n")}) {
      const bool implicit = name[0] == 'c' && one_of(2) == 0;
      if (!implicit && one_of(4) == 0) continue;
      constexpr const char* kKinds[] = {"text", "text",  "json",    "int",
                                        "bool", "float", "kv-lines"};
      json::Object field = {{"content", kKinds[one_of(std::size(kKinds))]}};
      if (one_of(4) == 0) {
        field.set("content_args", json::Object{{"strip", false}});
      }
      constexpr const char* kTransforms[] = {
          R"("{content}")", R"({"v": "{content}"})", R"(["{content}", 1])",
          R"("fixed")", R"("{content.v}")"};
      if (one_of(4) == 0) {
        field.set("transform",
                  *json::parse(kTransforms[one_of(std::size(kTransforms))]));
      }
      if (!implicit) delimit(letter, field);
      const std::size_t repeats = one_of(3);
      if (repeats > 0) field.set("repeats", true);
      if (repeats > 1) field.set("join", one_of(3) == 0 ? "" : "|");
      fields.set(name, std::move(field));
    }
    json::Object read;
    if (one_of(2) == 0) {
      json::Object field = {{"content", "json"}};
      if (one_of(2) == 0) {
        field.set("transform_each", true);
        field.set("transform", *json::parse(R"({"type": "function",
            "function": {"name": "{name}", "arguments": "{arguments}"}})"));
      }
      delimit(kCalls, field);
      if (one_of(2) == 0) field.set("repeats", true);
      fields.set("tool_calls", std::move(field));
      if (one_of(2) == 0) {
        read.set("tool_calls", json::Object{{"values", "list"}});
      }
    }
    if (fields.find("thinking") != nullptr && one_of(2) == 0) {
      read.set("thinking", json::Object{{"strip", one_of(2) == 0}});
    }
    Value response_template =
        json::Object{{"start_anchor", "<|a|>"}, {"fields", std::move(fields)}};
    if (!bare_) {
      response_template =
          json::Object{{"name", "drawn"},
                       {"response_template", std::move(response_template)},
                       {"parlance", json::Object{{"read", std::move(read)}}}};
    }
    file = json::dump(response_template);
    const std::size_t count = 1 + one_of(6);
    for (std::size_t i = 0; i < count; ++i) {
      if (delimiters_.empty() || one_of(3) == 0) {
        text += body();
        continue;
      }
      const std::string& letter = delimiters_[one_of(delimiters_.size())];
      text += "<" + letter + ">";
      text += letter == kCalls ? calls() : std::string(body());
      if (one_of(12) != 0) text += "</" + letter + ">";
    }
  }

  std::string file;
  std::string text;

 private:
  static constexpr const char* kCalls = "call";

  std::size_t one_of(std::size_t count) { return random_() % count; }
  std::string_view body() {
    constexpr std::string_view kBodies[] = {
        "",     "",    " ",          "a",     "b c",    " d\n", "12", " 7 ",
        "true", "0.5", "{\"a\": 1}", "\"Ü\"", "[1, 2]", "k: v", "{",  "null"};
    return kBodies[one_of(std::size(kBodies))];
  }
  // What a field of calls may have: calls, and values that are none.
  std::string calls() {
    constexpr std::string_view kItems[] = {
        R"({"name": "f", "arguments": {}})",
        R"({"name": "g", "arguments": {"a": [1, "Ü"]}})",
        R"({"name": "f", "arguments": {}})",
        R"("text, [")",
        "5",
        "null",
        R"({"a": 1})"};
    if (one_of(8) == 0) return std::string(body());
    if (one_of(4) == 0) return std::string(kItems[one_of(std::size(kItems))]);
    std::string out = "[";
    const std::size_t count = one_of(5);
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out += ", ";
      out += kItems[one_of(std::size(kItems))];
    }
    return out + "]";
  }
  void delimit(const std::string& letter, json::Object& field) {
    field.set("open", "<" + letter + ">");
    field.set("close", "</" + letter + ">");
    delimiters_.push_back(letter);
  }

  std::mt19937 random_;
  const bool bare_;
  std::vector<std::string> delimiters_;  // "t" of <t> and </t>
};

std::string text_of(const Value& value) {
  return value.is_string() ? std::string(value.as_string())
                           : json::dump(value, {.ascii = false});
}

// The text of a value of a field of text.  A message has no empty one.
std::string sent(const Value& value) {
  const bool empty = value.is_null() || value == Value(json::Array()) ||
                     value == Value(json::Object());
  return empty ? "" : text_of(value);
}

// The elements of a value of a field of calls that are none, one a line.
std::string beside_calls(const Value& value) {
  std::string out;
  std::size_t calls = 0;
  for (const Value& item :
       value.is_array() ? value.items() : json::Array{value}) {
    if (view_call(item)) {
      ++calls;
    } else {
      out += (out.empty() ? "" : "\n") + text_of(item);
    }
  }
  const bool empty = value.is_array() && value.items().empty();
  return calls == 0 && !empty ? text_of(value) : out;
}

// What a response says of the fields of text, by the events of its parser.
struct Texts {
  // Of a field: an earlier region has text, or an empty one that is joined.
  struct State {
    bool any = false;
    std::string raw;
  };
  std::map<std::string, std::string> by_field = {{"thinking", ""},
                                                 {"content", ""}};
  std::map<std::string, std::size_t> regions;  // by field
  bool sound = true;                           // all text is that of a value

  Texts(const Format& format, std::span<const Event> events) {
    std::vector<State> states(format.field_count());
    bool announced = false;  // a call of the open region
    for (const Event& event : events) {
      std::string& content = by_field["content"];
      if (event.kind == EventKind::kTextUnclaimed) {
        content += event.text;
        sound = false;
        continue;
      }
      const std::size_t i = event.field_index;
      State& state = states[i];
      if (event.kind == EventKind::kRegionOpen) {
        state.raw.clear();
        announced = false;
      }
      announced = announced || event.kind == EventKind::kCallOpen;
      if (event.kind == EventKind::kRegionChunk) {
        EXPECT_EQ(event.dirty, format.field_dirty(i));
        state.raw += event.text;
      }
      const bool malformed = event.kind == EventKind::kRegionMalformed;
      if (malformed) sound = false;
      if (!malformed && event.kind != EventKind::kRegionClose) continue;
      ++regions[std::string(event.field)];
      if (!malformed && event.field == "tool_calls") {
        const std::string beside = beside_calls(*event.value);
        content += beside;
        if (!beside.empty()) sound = false;
        continue;
      }
      const auto field = by_field.find(std::string(event.field));
      const bool streamed = field != by_field.end() && !format.field_dirty(i);
      if (malformed && (!streamed || state.raw.empty())) {
        if (!announced) content += event.text;
        continue;
      }
      if (field == by_field.end()) continue;
      // The chunks of a bare template are text, whatever becomes of it.
      const bool raw =
          malformed || (streamed && !format.recovers() && !state.raw.empty());
      std::string own = raw ? state.raw : sent(*event.value);
      if (raw && format.field_trimmed(i)) own = base::python_strip(own);
      if (raw && !malformed && own != text_of(*event.value)) sound = false;
      const std::optional<std::string_view> join = format.field_join(i);
      if (own.empty() && (!join || malformed)) continue;
      if (state.any) field->second += join.value_or("\n");
      state.any = true;
      field->second += own;
    }
  }
};

// The fields of a response that are no text, as an API has them.
std::string others(ChatApi api, const Value& response) {
  const Value* from = api == ChatApi::kChatCompletions
                          ? at(response, {"choices", "0", "message"})
                          : response.find("fields");
  json::Object out;
  for (const char* name : {"score", "note"}) {
    const Value* value = from == nullptr ? nullptr : from->find(name);
    if (value != nullptr) out.set(name, *value);
  }
  return json::dump(out);
}

// A value beside calls is a diagnostic with its bytes.
void check_strays(std::string_view text, const Message& message) {
  for (const Diagnostic& one : message.diagnostics) {
    if (!one.message.starts_with("a value beside others") ||
        one.message.find("not JSON") != std::string::npos) {
      continue;
    }
    const std::string_view stray =
        text.substr(one.bytes.begin, one.bytes.size());
    const Result<Value> value = json::parse(stray);
    ASSERT_TRUE(value) << stray;
    EXPECT_FALSE(view_call(*value)) << stray;
  }
}

void check_drawn(std::size_t count) {
  std::size_t sound = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto seed = static_cast<std::uint32_t>(i);
    const Responses drawn(seed);
    const Result<Format> format = Format::from_json(drawn.file);
    if (!format) continue;  // no value of the field can be joined
    SCOPED_TRACE(std::to_string(i) + " " + drawn.file + "\n" + drawn.text);
    const StreamOptions options = {.stream_calls = seed % 2 == 0};
    ResponseParser whole(*format, options);
    std::optional<Texts> expected;
    {
      // finalize() ends the events of feed(), so their text is read at once.
      std::vector<Event> events;
      std::deque<std::string> texts;
      std::deque<Value> values;
      const auto keep = [&](std::span<const Event> some) {
        for (const Event& event : some) {
          Event& kept = events.emplace_back(event);
          kept.text = texts.emplace_back(event.text);
          kept.field = texts.emplace_back(event.field);
          if (event.value != nullptr) {
            kept.value = &values.emplace_back(*event.value);
          }
        }
      };
      keep(whole.feed(drawn.text));
      keep(whole.finalize());
      expected.emplace(*format, events);
    }
    const Value& fields = whole.message().fields;
    if (expected->sound) ++sound;
    for (std::size_t f = 0; f < format->field_count() && expected->sound; ++f) {
      const std::string name(format->field_name(f));
      const auto text = expected->by_field.find(name);
      if (text == expected->by_field.end() ||
          (!format->field_join(f) && expected->regions[name] != 1)) {
        continue;
      }
      const Value* value = fields.find(name);
      if (value == nullptr) {
        EXPECT_EQ(text->second, "");
        continue;
      }
      // Of a field that repeats the one value is in a list.
      const bool listed = value->is_array() && value->size() == 1;
      const std::string one = sent(listed ? value->items()[0] : *value);
      EXPECT_TRUE(text->second == one || text->second == sent(*value));
    }
    check_strays(drawn.text, whole.message());
    std::size_t calls = 0;
    for (const Part& part : whole.message().parts) {
      if (format->field_name(part.field_index) != "tool_calls") continue;
      calls += view_call(part.value) ? 1 : 0;
      calls += static_cast<std::size_t>(std::ranges::count_if(
          part.value.items(),
          [](const Value& item) { return view_call(item).has_value(); }));
    }
    json::Object other;
    for (const char* name : {"score", "note"}) {
      const Value* value = fields.find(name);
      if (value != nullptr) other.set(name, *value);
    }
    std::mt19937 random(seed);
    for (const ChatApi api : testing::kApis) {
      ResponseParser parser(*format, options);
      ChatStream stream(chat_fields(*format), options_of(api));
      testing::Streamed streamed;
      const auto add = [&](std::vector<ChatChunk> chunks) {
        std::ranges::move(chunks, std::back_inserter(streamed.chunks));
      };
      for (const std::string_view piece : pieces(drawn.text, random)) {
        add(stream.feed(parser.feed(piece)));
      }
      add(stream.feed(parser.finalize()));
      add(stream.end(ChatEnd::kStop));
      streamed.response = stream.response();
      if (other.empty()) testing::expect_law(api, streamed);
      const Value& response = streamed.response;
      const Value got = said(api, response);
      EXPECT_EQ(text_at(got, {"thinking"}), expected->by_field["thinking"]);
      EXPECT_EQ(text_at(got, {"content"}), expected->by_field["content"]);
      EXPECT_EQ(others(api, response), json::dump(other));
      EXPECT_EQ(got.find("tool_calls")->size(), calls);
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(sound, count / 8);
}

TEST(ChatStreamLaw, NothingOfADrawnResponseIsLost) {
  check_drawn(testing::cases(2000));
}

TEST(ChatStreamLaw, NothingOfADrawnResponseIsLostLongRun) {
  check_drawn(100'000);
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
    // Markers in text and raw values are refused, and not much else is; of the
    // few that are drawn with sanitizers a share says nothing.
    if (!testing::kSanitized) {
      EXPECT_GT(hostile.written, count / 5);
    }
    std::cout << GetParam() << ": refused " << plain.refused << " and "
              << hostile.refused << " of " << count << "; " << hostile.outside
              << " are read alone\n";
  }
};

TEST_P(MessagesLaw, WhatIsWrittenIsReadAndAllowed) {
  renders(testing::cases(40));
}

TEST_P(MessagesLaw, WhatIsWrittenIsReadAndAllowedLongRun) { renders(4000); }

TEST_P(MessagesLaw, ChunksSayWhatTheMessageSays) {
  FamilyMessages family(GetParam());
  if (HasFailure()) return;
  family.check_folds(4);
}

TEST_P(MessagesLaw, ChunksSayWhatTheMessageSaysAtEveryCut) {
  FamilyMessages family(GetParam());
  if (HasFailure()) return;
  family.check_every_cut();
}

INSTANTIATE_TEST_SUITE_P(
    Families, MessagesLaw,
    ::testing::ValuesIn(testing::tried(testing::families_and_variants())),
    [](const auto& one) { return one.param; });

}  // namespace
}  // namespace parlance::messages_law_test
