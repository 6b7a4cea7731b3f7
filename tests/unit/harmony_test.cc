// Reading Harmony from token ids: recorded cases, and what they do not have.

#include "parlance/harmony.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/conformance.h"
#include "support/folders.h"
#include "support/harmony_vectors.h"

namespace parlance::harmony_test {
namespace {

using testing::HarmonyInput;
using testing::HarmonyRun;
using testing::HarmonyVocabulary;
using testing::run_harmony;
using testing::run_harmony_by_token;

constexpr const char* kParseFiles[] = {
    "parse_header",     "parse_malformed",  "parse_spoofing", "parse_streaming",
    "parse_transcript", "parse_truncation", "parse_upstream"};

const HarmonyVocabulary& small() {
  static const HarmonyVocabulary made = testing::small_harmony_vocabulary();
  return made;
}

const HarmonyVocabulary& recorded() {
  static const HarmonyVocabulary made = testing::vector_harmony_vocabulary(
      testing::vectors("harmony/token_bytes.json"));
  return made;
}

std::vector<json::Value> parse_cases() {
  std::vector<json::Value> out;
  for (const char* file : kParseFiles) {
    const json::Value cases =
        testing::vectors("harmony/" + std::string(file) + ".json");
    for (const json::Value& test : cases.items()) out.push_back(test);
  }
  return out;
}

// What the vectors recommend.
TEST(Harmony, CasesWithoutIds) {
  const json::Value cases = testing::vectors("harmony/own.json");
  for (const json::Value& test : cases.items()) {
    const HarmonyInput input = small().encode(*test.find("tokens_text"));
    const HarmonyRun run = run_harmony_by_token(
        small().vocabulary, testing::harmony_options(test, false), input.ids);
    for (const std::string& difference :
         testing::harmony_differences(test, input, run)) {
      ADD_FAILURE() << difference;
    }
  }
}

TEST(Harmony, RecommendedResults) {
  for (const json::Value& test : parse_cases()) {
    const HarmonyInput input = recorded().listed(test);
    const bool eos = test.find("eos")->as_bool();
    const HarmonyRun run = run_harmony_by_token(
        recorded().vocabulary, testing::harmony_options(test, false), input.ids,
        eos);
    for (const std::string& difference :
         testing::harmony_differences(test, input, run)) {
      ADD_FAILURE() << difference;
    }
    const json::Value* better = test.find("recommended");
    const json::Value* deltas =
        better != nullptr ? better->find("deltas") : nullptr;
    if (deltas != nullptr) {
      std::vector<std::string> wanted;
      for (const json::Value& delta : deltas->items()) {
        wanted.emplace_back(delta.as_string());
      }
      EXPECT_EQ(run.deltas, wanted) << test.find("id")->as_string();
    }
  }
}

// How a text is cut into tokens does not matter.
TEST(Harmony, RecommendedResultsByteByByte) {
  for (const json::Value& test : parse_cases()) {
    const HarmonyInput input = recorded().encode(*test.find("tokens_text"));
    const HarmonyRun run = run_harmony_by_token(
        recorded().vocabulary, testing::harmony_options(test, false), input.ids,
        test.find("eos")->as_bool());
    for (const std::string& difference :
         testing::harmony_differences(test, input, run)) {
      ADD_FAILURE() << difference;
    }
  }
}

// Where the strict mode differs from the reference implementation.
const std::map<std::string_view, std::string_view>& strict_differences() {
  static const std::map<std::string_view, std::string_view> kDifferences = {
      {"unknown-id-mid-content",
       "the reference loses the tokens after an id without a token"}};
  return kDifferences;
}

// The state after each token, as the reference shows it.
void check_trace(const json::Value& test, const HarmonyInput& input) {
  const json::Value* trace = test.find("trace");
  if (trace == nullptr) return;
  HarmonyParser parser = *HarmonyParser::create(
      recorded().vocabulary, testing::harmony_options(test, true));
  const json::Value* better = test.find("recommended");
  const bool other_deltas =
      better != nullptr && better->find("deltas") != nullptr;
  for (std::size_t i = 0; i < trace->size() && i < input.ids.size(); ++i) {
    const json::Value& step = trace->items()[i];
    std::string delta;
    for (const HarmonyEvent& event : parser.feed(input.ids[i])) {
      if (event.kind == HarmonyEventKind::kMessageChunk) delta += event.text;
    }
    SCOPED_TRACE(std::string(test.find("id")->as_string()) + " token " +
                 std::to_string(i));
    const bool open = parser.state() == HarmonyState::kContent;
    if (step.find("error") != nullptr) {
      EXPECT_NE(parser.error(), nullptr);
      return;
    }
    EXPECT_EQ(step.find("state")->as_string(),
              open                                      ? "Content"
              : parser.state() == HarmonyState::kHeader ? "Header"
                                                        : "ExpectStart");
    std::size_t closed = parser.messages().size();
    if (open) --closed;
    EXPECT_EQ(step.find("messages")->as_int(),
              static_cast<std::int64_t>(closed));
    if (!open) continue;
    json::Value message = testing::harmony_value(parser.messages().back());
    for (const char* key : {"role", "channel", "recipient", "content_type"}) {
      const json::Value* wanted = step.find(key);
      const json::Value* found = message.find(key);
      ASSERT_EQ(wanted != nullptr, found != nullptr) << key;
      if (wanted == nullptr) continue;
      EXPECT_EQ(wanted->as_string(), found->as_string()) << key;
    }
    if (other_deltas) continue;
    EXPECT_EQ(step.find("content")->as_string(),
              parser.messages().back().content);
    const json::Value* wanted = step.find("delta");
    EXPECT_EQ(wanted != nullptr ? wanted->as_string() : "", delta);
  }
}

TEST(Harmony, StrictIsTheReference) {
  std::set<std::string_view> differ;
  for (const json::Value& test : parse_cases()) {
    if (!test.find("strict")->as_bool()) continue;
    const std::string_view id = test.find("id")->as_string();
    SCOPED_TRACE(id);
    const HarmonyInput input = recorded().listed(test);
    const HarmonyRun run = run_harmony_by_token(
        recorded().vocabulary, testing::harmony_options(test, true), input.ids,
        test.find("eos")->as_bool());
    json::Array closed;
    json::Array ends;
    for (const HarmonyMessage& message : run.messages) {
      if (message.end == HarmonyEnd::kOpen) continue;
      closed.push_back(testing::harmony_value(message));
      ends.push_back(to_string(message.end));
    }
    const json::Value& wanted = *test.find("expected_messages");
    if (json::Value(closed) != wanted && strict_differences().contains(id)) {
      differ.insert(strict_differences().find(id)->first);
    } else {
      EXPECT_EQ(json::dump(closed), json::dump(wanted));
    }
    if (const json::Value* terminators = test.find("terminators")) {
      EXPECT_EQ(json::dump(ends), json::dump(*terminators));
    }
    const json::Value* error = test.find("expected_error");
    ASSERT_EQ(error != nullptr, run.error.has_value());
    if (error != nullptr) {
      EXPECT_EQ(to_string(run.error->problem),
                error->find("kind")->as_string());
      const json::Value* index = error->find("token_index");
      EXPECT_EQ(run.error->at, index != nullptr
                                   ? static_cast<std::size_t>(index->as_int())
                                   : input.ids.size());
    }
    check_trace(test, input);
  }
  EXPECT_EQ(differ.size(), strict_differences().size());
}

TEST(Harmony, ChatMessages) {
  const json::Value cases = testing::vectors("harmony/chat_mapping.json");
  ASSERT_GT(cases.size(), 10u);
  for (const json::Value& test : cases.items()) {
    SCOPED_TRACE(test.find("id")->as_string());
    const HarmonyInput input = recorded().encode(*test.find("tokens_text"));
    const HarmonyRun run =
        run_harmony(recorded().vocabulary,
                    testing::harmony_options(test, false), input.ids, {});
    EXPECT_EQ(json::dump(harmony_message(run.messages)),
              json::dump(*test.find("chat_message")));
    EXPECT_EQ(json::dump(harmony_response_items(run.messages)),
              json::dump(*test.find("responses_output")));
    // The vectors leave out what a server adds.
    json::Value chat =
        harmony_chat_message(run.messages, {.reasoning = "reasoning_content"});
    if (json::Value* calls = chat.mutable_members().find("tool_calls")) {
      for (json::Value& call : calls->mutable_items()) {
        EXPECT_TRUE(call.mutable_members().erase("id"));
        EXPECT_TRUE(call.mutable_members().erase("index"));
      }
    }
    EXPECT_EQ(json::dump(chat), json::dump(*test.find("openai_chat_message")));
  }
}

// What the reference renders is read back, also where it cannot do that itself.
TEST(Harmony, RenderedMessagesAreReadBack) {
  const json::Value cases = testing::vectors("harmony/roundtrip.json");
  // Cases whose rendering does not contain the message.
  const std::set<std::string_view> lossy = {
      // The recipient "all" is not rendered.
      "roundtrip-header-recipient-all"};
  std::set<std::string_view> lost;
  ASSERT_GT(cases.size(), 20u);
  for (const json::Value& test : cases.items()) {
    const std::string_view id = test.find("id")->as_string();
    const HarmonyInput input = recorded().encode(*test.find("rendered"));
    const HarmonyRun run =
        run_harmony(recorded().vocabulary, {}, input.ids, {});
    if (run.values() != *test.find("messages") && lossy.contains(id)) {
      lost.insert(id);
      continue;
    }
    EXPECT_EQ(json::dump(run.values()), json::dump(*test.find("messages")))
        << id;
    EXPECT_TRUE(run.diagnostics.empty()) << id << "\n" << run.to_string();
  }
  EXPECT_EQ(lost, lossy);
}

// Markers in `text` as tokens, everything else byte by byte.
std::vector<TokenId> ids(const HarmonyVocabulary& v, std::string_view text) {
  std::vector<TokenId> out;
  while (!text.empty()) {
    const std::size_t close = text.find("|>");
    if (text.starts_with("<|") && close != std::string_view::npos) {
      const auto id = v.vocabulary.special(text.substr(0, close + 2));
      if (id) {
        out.push_back(*id);
        text.remove_prefix(close + 2);
        continue;
      }
    }
    out.push_back(v.first_byte + static_cast<unsigned char>(text.front()));
    text.remove_prefix(1);
  }
  return out;
}

HarmonyRun read(std::string_view text, const HarmonyOptions& options = {
                                           .role = HarmonyRole::kAssistant}) {
  return run_harmony(small().vocabulary, options, ids(small(), text), {});
}

// "kind kind" of the diagnostics.
std::string problems(const HarmonyRun& run) {
  std::string out;
  for (const HarmonyDiagnostic& d : run.diagnostics) {
    out += (out.empty() ? "" : " ") + std::string(to_string(d.problem));
  }
  return out;
}

// One row for each rule of headers that the vectors do not have.
TEST(Harmony, Headers) {
  struct Row {
    const char* text;
    const char* message;  // the first, as JSON without the role
    const char* problems;
  };
  const Row rows[] = {
      // Words that are content types only because a recipient is known give
      // way to the one that a marker announces.
      {"<|channel|>commentary to=functions.f x<|constrain|>json<|message|>B",
       R"("channel": "commentary", "recipient": "functions.f", )"
       R"("content_type": "<|constrain|>json", "content": "B")",
       "unexpected_header_text"},
      {"<|channel|>commentary to=functions.f json<|constrain|>json<|message|>B",
       R"("channel": "commentary", "recipient": "functions.f", )"
       R"("content_type": "<|constrain|>json", "content": "B")",
       "duplicate_content_type"},
      {"<|constrain|>json<|constrain|>code<|message|>B",
       R"("content_type": "<|constrain|>json", "content": "B")",
       "conflicting_content_type"},
      {"<|channel|>commentary to=functions.f<|constrain|>json arg<|message|>B",
       R"("channel": "commentary", "recipient": "functions.f", )"
       R"("content_type": "<|constrain|>json", "content": "B")",
       "unexpected_header_text"},
      // An empty "to=" takes a name only if that looks like a recipient.
      {"<|channel|>commentary to= json<|message|>B",
       R"("channel": "commentary", "content_type": "json", "content": "B")",
       "empty_recipient"},
      {"<|channel|>commentary to= rm<|message|>B",
       R"("channel": "commentary", "content": "B")",
       "empty_recipient unexpected_header_text"},
      {"<|channel|>commentary to= python to=python<|message|>B",
       R"("channel": "commentary", "recipient": "python", "content": "B")",
       "space_after_to duplicate_recipient"},
      // A recipient is not revived after a conflict.
      {"<|channel|>final to=functions.a to=functions.b python<|message|>B",
       R"("channel": "final", "content": "B")", "conflicting_recipient"},
      // A marker that ordinary tokens spell.
      {"<|channel|>final<|bad|> to=functions.a<|message|>B",
       R"("content": "B")", "marker_text_in_header recipient_suppressed"},
      // White space of Unicode.
      {"<|channel|>commentary\u00a0to=functions.x\u3000json<|message|>B",
       R"("channel": "commentary", "recipient": "functions.x", )"
       R"("content_type": "json", "content": "B")",
       ""},
      // Ill-formed UTF-8 is a part of a word.
      {"<|channel|>fin\xff<|message|>B",
       "\"channel\": \"fin\uFFFD\", \"content\": \"B\"", ""},
      // A control token without meaning ends a word.
      {"<|channel|>final<|reserved|>json<|message|>B",
       R"("channel": "final", "content_type": "json", "content": "B")",
       "unexpected_special"},
      {"<|channel|><|reserved|>final<|message|>B",
       R"("channel": "final", "content": "B")", "unexpected_special"},
      // Stop tokens and ends in headers.
      {"<|channel|>final to=functions.x Hello<|end|>",
       R"("channel": "final", "content": "to=functions.x Hello")",
       "missing_message_marker"},
      {"Hello <|channel|>final world<|return|>",
       R"("channel": "final", "content": "Hello  world")",
       "missing_message_marker"},
      {"<|return|>", R"("content": "")", "missing_message_marker"},
      {"<|channel|>final Hello", R"("channel": "final", "content": "Hello")",
       "missing_message_marker"},
      {"<|channel|>commentary to=functions.f js", nullptr, "truncated_header"},
      {"<|channel|>commentary t", nullptr,
       "unexpected_header_text truncated_header"},
      {"<|start|>assist", nullptr,
       "redundant_start unknown_role truncated_header"},
      {"assistant", nullptr, ""},
      {" \n", nullptr, ""},
      {"<|start|><|start|>assistant", nullptr,
       "redundant_start redundant_start"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const HarmonyRun run = read(row.text);
    EXPECT_EQ(problems(run), row.problems);
    if (row.message == nullptr) {
      EXPECT_TRUE(run.messages.empty());
      continue;
    }
    ASSERT_FALSE(run.messages.empty());
    EXPECT_EQ(
        json::dump(testing::harmony_value(run.messages[0]), {.ascii = false}),
        std::string(R"({"role": "assistant", )") + row.message + "}");
  }
}

TEST(Harmony, TextBetweenMessages) {
  const std::string head = "<|channel|>final<|message|>a<|end|>";
  HarmonyRun run = read(head + " \n<|start|>assistant<|message|>b<|end|>");
  EXPECT_EQ(problems(run), "");
  run = read(head + " Hello \n<|start|>assistant<|message|>b<|end|>");
  ASSERT_EQ(run.messages.size(), 3u);
  EXPECT_EQ(run.messages[1].content, "Hello");
  EXPECT_EQ(run.messages[1].end, HarmonyEnd::kImplicit);
  EXPECT_EQ(problems(run), "text_outside_message");
  run = read(head + "\xC2\xA0<|end|>");  // white space in two tokens
  EXPECT_EQ(run.messages.size(), 1u);
  EXPECT_EQ(problems(run), "stray_stop");
  // Any amount of it.
  std::string white;
  for (int i = 0; i < 1000; ++i) white += "\xC2\xA0";
  run = read(head + white + "<|start|>user<|message|>b<|end|>");
  EXPECT_EQ(run.messages.size(), 2u);
  EXPECT_EQ(problems(run), "");
  // Fields without a marker are text.
  run = read(head + "to=functions.rm json");
  ASSERT_EQ(run.messages.size(), 2u);
  EXPECT_EQ(run.messages[1].content, "to=functions.rm json");
  EXPECT_FALSE(run.messages[1].recipient.has_value());
}

TEST(Harmony, AuthorsInTranscripts) {
  const HarmonyRun run = read(
      "<|start|>functions.f to=assistant<|message|>1<|end|>"
      "<|start|>to=functions.f<|message|>2<|end|>"
      "<|start|>assistant:bob<|message|>3<|end|>"
      "<|start|>tool<|message|>4<|end|>",
      {});
  ASSERT_EQ(run.messages.size(), 4u);
  EXPECT_EQ(run.messages[0].role, HarmonyRole::kTool);
  EXPECT_EQ(run.messages[0].name, "functions.f");
  EXPECT_EQ(run.messages[0].recipient, "assistant");
  EXPECT_EQ(run.messages[1].role, HarmonyRole::kAssistant);
  EXPECT_EQ(run.messages[1].recipient, "functions.f");
  EXPECT_EQ(run.messages[2].name, "bob");
  EXPECT_EQ(run.messages[3].name, "tool");
  EXPECT_EQ(problems(run), "missing_role");
}

TEST(Harmony, ChannelsAreVisibleEarly) {
  HarmonyParser parser = *HarmonyParser::create(
      small().vocabulary, {.role = HarmonyRole::kAssistant});
  std::vector<std::string> seen;
  for (const TokenId id :
       ids(small(),
           "<|channel|>commentary to=functions.f<|message|>{}<|call|>"
           "<|start|>assistant to=functions.g<|channel|>analysis"
           "<|constrain|>json<|message|>{}<|call|>"
           "<|start|>assistant<|channel|>final<|message|>a<|return|>")) {
    for (const HarmonyEvent& event : parser.feed(id)) {
      if (event.kind != HarmonyEventKind::kMessageChannel &&
          event.kind != HarmonyEventKind::kMessageOpen) {
        continue;
      }
      seen.push_back(std::string(to_string(event.kind)) + " " +
                     std::to_string(event.index) + " " +
                     std::string(event.text));
      if (event.message != nullptr) seen.back() += *event.message->channel;
    }
  }
  // Nothing is early if <|message|> ends the name.
  EXPECT_EQ(seen, (std::vector<std::string>{
                      "message_channel 0 commentary",
                      "message_open 0 commentary", "message_channel 1 analysis",
                      "message_open 1 analysis", "message_open 2 final"}));
}

TEST(Harmony, TheHeaderIsBounded) {
  const std::string words = "word word word ";
  for (const char* begin : {"", "<|channel|>final ", "<|start|>user "}) {
    SCOPED_TRACE(begin);
    HarmonyParser parser = *HarmonyParser::create(
        small().vocabulary,
        {.role = HarmonyRole::kAssistant, .header_bytes = 40});
    std::string text = begin;
    std::size_t at = 0;
    while (text.size() < 200) text += words;
    for (const TokenId id : ids(small(), text)) {
      parser.feed(id);
      ++at;
      // Text is visible as soon as the limit is passed.
      if (at == 60) {
        ASSERT_EQ(parser.messages().size(), 1u);
        EXPECT_EQ(parser.state(), HarmonyState::kContent);
      }
    }
    parser.finalize();
    ASSERT_EQ(parser.messages().size(), 1u);
    const HarmonyMessage& message = parser.messages()[0];
    const std::size_t first = text.find("word");
    EXPECT_EQ(message.content, text.substr(first));
    EXPECT_EQ(message.channel.value_or(""),
              std::string_view(begin).starts_with("<|channel") ? "final" : "");
    EXPECT_EQ(parser.diagnostics().back().problem,
              HarmonyProblem::kMissingMessageMarker);
  }
  // One long word is no name.
  for (const char* begin : {"<|channel|>", "<|start|>"}) {
    HarmonyOptions options;
    options.header_bytes = 40;
    const std::string text = std::string(100, 'x') + "<|end|>";
    const HarmonyRun run =
        read(std::string("<|start|>assistant<|message|><|end|>") + begin + text,
             options);
    ASSERT_EQ(run.messages.size(), 2u);
    EXPECT_EQ(run.messages[1].content, std::string(100, 'x'));
    EXPECT_FALSE(run.messages[1].channel || run.messages[1].name);
  }
  // Markers count, and other tokens without text take no memory.
  std::string markers;
  for (int i = 0; i < 1000; ++i) markers += "<|channel|>";
  EXPECT_GT(read(markers).messages.size(), 10u);
  markers.clear();
  for (int i = 0; i < 100000; ++i) markers += "<|reserved|>";
  HarmonyRun run = read("<|channel|>" + markers + "final<|message|>B");
  ASSERT_EQ(run.messages.size(), 1u);
  EXPECT_EQ(run.messages[0].channel, "final");
  EXPECT_EQ(run.diagnostics.size(), Limits().diagnostics);
  // The strict mode has an error instead.
  HarmonyOptions strict;
  strict.strict = true;
  strict.limits.held_bytes = 100;
  run = read("<|start|>" + std::string(101, 'x'), strict);
  ASSERT_TRUE(run.error.has_value());
  EXPECT_EQ(run.error->problem, HarmonyProblem::kHeaderTooLong);
}

TEST(Harmony, SpaceAfterMarks) {
  const HarmonyVocabulary spaced = testing::small_harmony_vocabulary(true);
  const std::string text =
      "<|channel|> commentary to=functions.f <|constrain|> json<|message|> "
      "{\"a\": 1}<|end|><|start|> assistant<|channel|> final<|message|>  b"
      "<|return|>";
  for (const bool strict : {false, true}) {
    const HarmonyRun run = run_harmony_by_token(
        spaced.vocabulary, {.role = HarmonyRole::kAssistant, .strict = strict},
        ids(spaced, text));
    ASSERT_EQ(run.messages.size(), 2u);
    EXPECT_EQ(run.messages[0].recipient, "functions.f");
    EXPECT_EQ(run.messages[0].content_type, "<|constrain|>json");
    EXPECT_EQ(run.messages[0].content, "{\"a\": 1}");
    EXPECT_EQ(run.messages[1].content, " b");
    EXPECT_TRUE(run.diagnostics.empty());
  }
}

TEST(Harmony, VocabulariesWithoutMarkers) {
  const std::vector<TokenEntry> entries = {
      {.id = 0, .bytes = "<|start|>", .kind = TokenKind::kControl},
      {.id = 1, .bytes = "<|end|>", .kind = TokenKind::kAdded},
      // A token that only looks like a marker.
      {.id = 2, .bytes = "<|message|>"}};
  const Result<HarmonyParser> parser =
      HarmonyParser::create(*Vocabulary::from_table(entries));
  ASSERT_FALSE(parser);
  EXPECT_EQ(parser.error().code, ErrorCode::kBadVocabulary);
  EXPECT_EQ(parser.error().message,
            "The vocabulary has no added or control token <|channel|>, "
            "<|message|>. Harmony needs <|start|>, <|channel|>, <|message|> "
            "and <|end|>.");
}

TEST(Harmony, StopTokensOfTheVocabulary) {
  std::vector<TokenEntry> entries;
  for (const char* marker :
       {"<|start|>", "<|end|>", "<|message|>", "<|channel|>", "</s>"}) {
    entries.push_back({.id = static_cast<TokenId>(entries.size()),
                       .bytes = marker,
                       .kind = TokenKind::kControl});
  }
  entries.push_back({.id = 5, .bytes = "a"});
  entries.push_back({.id = 6, .bytes = "<think>", .kind = TokenKind::kAdded});
  const std::vector<TokenId> stops = {4, 1};
  const Vocabulary vocabulary = *Vocabulary::from_table(entries, stops);
  const std::vector<TokenId> input = {2, 5, 6, 4, 0, 5, 2, 5, 1};
  const HarmonyRun run = run_harmony_by_token(
      vocabulary, {.role = HarmonyRole::kAssistant}, input);
  ASSERT_EQ(run.messages.size(), 2u);
  EXPECT_EQ(run.messages[0].end, HarmonyEnd::kEosToken);
  EXPECT_EQ(run.messages[0].content, "a<think>");  // added tokens are text
  EXPECT_EQ(run.messages[1].end, HarmonyEnd::kEnd);
}

TEST(Harmony, TokensOfMessages) {
  const HarmonyRun run =
      read("<|channel|>a<|message|>xyz<|end|><|start|>user<|message|>u");
  ASSERT_EQ(run.messages.size(), 2u);
  EXPECT_EQ(run.messages[0].tokens, (Span{0, 7}));
  EXPECT_EQ(run.messages[0].content_tokens, (Span{3, 6}));
  EXPECT_EQ(run.messages[1].tokens, (Span{7, 14}));
  EXPECT_EQ(run.messages[1].content_tokens, (Span{13, 14}));
}

// The tokens of a chunk are those that its characters come from.
TEST(Harmony, TokensOfChunks) {
  HarmonyParser parser = *HarmonyParser::create(
      small().vocabulary, {.role = HarmonyRole::kAssistant});
  std::vector<Span> chunks;
  for (const TokenId id :
       ids(small(), "<|message|>a\xF0\x9F\x98\x80\xC3\xA9\xE2")) {
    for (const HarmonyEvent& event : parser.feed(id)) {
      if (event.kind == HarmonyEventKind::kMessageChunk) {
        chunks.push_back(event.tokens);
      }
    }
  }
  EXPECT_EQ(parser.messages()[0].tokens, (Span{0, 9}));
  EXPECT_EQ(parser.messages()[0].content_tokens, (Span{1, 9}));
  chunks.push_back(parser.finalize()[0].tokens);
  EXPECT_EQ(chunks, (std::vector<Span>{{1, 2}, {2, 6}, {6, 8}, {8, 9}}));
}

TEST(Harmony, CutCalls) {
  const HarmonyRun run =
      read("<|channel|>commentary to=functions.f<|message|>{\"a\"");
  HarmonyMessageOptions options;
  EXPECT_EQ(json::dump(harmony_message(run.messages)),
            R"({"role": "assistant", "tool_calls": [{"type": "function", )"
            R"("function": {"name": "f", "arguments": "{\"a\""}}]})");
  options.cut = true;
  EXPECT_EQ(json::dump(harmony_message(run.messages, options)),
            R"({"role": "assistant"})");
  EXPECT_EQ(json::dump(harmony_response_items(run.messages, options)), "[]");
}

TEST(Harmony, Misuse) {
  HarmonyParser parser =
      *HarmonyParser::create(small().vocabulary, {.strict = true});
  const TokenId end = small().vocabulary.special("<|end|>").value();
  EXPECT_TRUE(parser.feed(end).empty());
  ASSERT_NE(parser.error(), nullptr);
  EXPECT_EQ(parser.error()->at, 0u);
  EXPECT_EQ(parser.error()->message,
            "Between messages there is a token other than <|start|>: "
            "\"<|end|>\".");
  EXPECT_TRUE(parser.feed(end).empty());
  EXPECT_TRUE(parser.finalize().empty());
  EXPECT_TRUE(parser.finalize().empty());
  EXPECT_TRUE(parser.finalized());
  EXPECT_TRUE(parser.feed(end).empty());
}

// Recorded defects of servers, in text: each marker is its token.
TEST(Harmony, DefectsFromTheField) {
  struct Row {
    const char* file;
    const char* message;
    const char* problems;
  };
  const Row rows[] = {
      {"bare-function-recipient",
       R"("tool_calls": [{"type": "function", "function": {"name": )"
       R"("lookup_weather", "arguments": {"city": "Visby"}}}])",
       ""},
      {"call-on-analysis-channel",
       R"("tool_calls": [{"type": "function", "function": {"name": )"
       R"("grep_code", "arguments": {"pattern": "foo"}}}])",
       ""},
      {"channel-marker-glued-to-name",
       R"("tool_calls": [{"type": "function", "function": {"name": )"
       R"("lookup_weather", "arguments": {"city": "Aarau"}}}])",
       "duplicate_channel"},
      {"end-token-where-start-expected", R"("content": "All good.")",
       "stray_stop"},
      // Differs from the recorded case, which asks for a diagnostic: every word
      // is a channel, so a channel that is not known today is no damage.
      {"junk-in-header",
       R"("thinking": "ok", "content": )"
       R"("Working on it.\nDone.")",
       ""},
      {"missing-message-token", R"("content": "Hello there.")",
       "missing_message_marker"},
      {"text-between-messages",
       R"("thinking": "think", "content": "word\nAnswer 4.")",
       "text_outside_message"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.file);
    const json::Value test = testing::vectors("field-bugs/harmony-" +
                                              std::string(row.file) + ".json");
    ASSERT_TRUE(test.is_object());
    const HarmonyRun run = read(test.find("raw")->as_string());
    EXPECT_EQ(json::dump(harmony_message(run.messages)),
              std::string(R"({"role": "assistant", )") + row.message + "}");
    EXPECT_EQ(problems(run), row.problems);
  }
  // The call says that it is not finished, and the caller may leave it out.
  const json::Value cut =
      testing::vectors("field-bugs/harmony-cut-inside-arguments.json");
  const HarmonyRun run = read(cut.find("raw")->as_string());
  ASSERT_EQ(run.messages.size(), 1u);
  EXPECT_EQ(run.messages[0].recipient, "functions.add_pair");
  EXPECT_EQ(run.messages[0].end, HarmonyEnd::kEos);
}

}  // namespace
}  // namespace parlance::harmony_test
