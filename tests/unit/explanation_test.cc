// Laws of explanations, on every recorded response of the formats: rows
// partition the text however it is fed, and every event has its row.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/explain.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "support/family_vocabulary.h"
#include "support/random_tags.h"
#include "support/responses.h"
#include "support/sanitized.h"

namespace parlance::explanation_test {
namespace {

// The law of the header.
void expect_partition(const Explanation& explanation, std::string_view what) {
  std::size_t at = 0;
  for (const ExplanationRow& row : explanation.rows) {
    EXPECT_LE(row.bytes.begin, row.bytes.end) << what;
    EXPECT_LE(row.bytes.end, explanation.text.size()) << what;
    EXPECT_LE(row.tokens.end, explanation.ids.size()) << what;
    if (!owns_bytes(row.kind)) continue;
    EXPECT_EQ(row.bytes.begin, at) << what << ": " << row.what;
    at = row.bytes.end;
  }
  EXPECT_EQ(at, explanation.text.size()) << what;
}

// The kinds of a parser's events that have rows, with the text of their field.
std::vector<std::string> events_of(const Format& format,
                                   const testing::Response& response) {
  ResponseParser parser(format, {.prefix = response.prefix});
  std::vector<std::string> out;
  bool last_is_chunk = false;
  std::size_t end = 0;
  const auto add = [&](std::span<const Event> events) {
    for (const Event& event : events) {
      const std::string field(event.field);
      const bool bytes = event.bytes.size() > 0;
      switch (event.kind) {
        case EventKind::kRegionOpen:
          if (bytes) out.push_back("open " + field);
          break;
        case EventKind::kRegionChunk:
          // Chunks that follow one another are one row.
          if (!(last_is_chunk && event.bytes.begin == end &&
                end != parser.prefix_bytes())) {
            out.push_back("text " + field);
          }
          break;
        case EventKind::kRegionClose:
          if (event.cut) out.push_back("cut " + field);
          if (!event.cut && bytes) out.push_back("close " + field);
          break;
        case EventKind::kRegionMalformed:
          if (bytes) out.push_back("close " + field);
          out.push_back("malformed " + field);
          break;
        case EventKind::kTextUnclaimed:
          out.emplace_back("unclaimed ");
          out.emplace_back("problem ");
          break;
        default:
          break;
      }
      last_is_chunk = event.kind == EventKind::kRegionChunk;
      end = std::max(end, event.bytes.end);
    }
  };
  add(parser.initial_events());
  add(parser.feed(response.text));
  add(parser.finalize());
  return out;
}

std::vector<std::string> rows_of(const Explanation& explanation) {
  std::vector<std::string> out;
  for (const ExplanationRow& row : explanation.rows) {
    if (row.kind == ExplanationKind::kLayout ||
        row.kind == ExplanationKind::kOutside) {
      continue;
    }
    out.push_back(std::string(to_string(row.kind)) + " " + row.field);
  }
  return out;
}

TEST(Explanation, RowsPartitionEveryRecordedResponse) {
  std::size_t seen = 0;
  for (const testing::Response& response : testing::recorded_responses()) {
    const Result<Format> format = Format::built_in(response.format);
    ASSERT_TRUE(format) << response.format;
    for (const std::size_t chunk : {0, 1, 5}) {
      const Explanation e = explain(
          *format, response.text, {.prefix = response.prefix, .chunk = chunk});
      expect_partition(e, response.format + ": " + response.text);
      EXPECT_EQ(e.text.substr(e.prefix_bytes), response.text);
      EXPECT_FALSE(to_json(e).find("rows")->items().empty() &&
                   !response.text.empty());
    }
    ++seen;
  }
  EXPECT_GT(seen, 100U);
}

TEST(Explanation, EveryEventHasItsRow) {
  for (const testing::Response& response : testing::recorded_responses()) {
    const Result<Format> format = Format::built_in(response.format);
    ASSERT_TRUE(format) << response.format;
    EXPECT_EQ(rows_of(explain(*format, response.text,
                              {.prefix = response.prefix, .hints = false})),
              events_of(*format, response))
        << response.text;
  }
}

// Cut after every byte, so that regions are cut and damaged.
// However a long response is fed inside, the text of a region is one row.
TEST(Explanation, ALongRegionIsOneRow) {
  const Format format = *Format::built_in("qwen3");
  const std::string text = "<think>" + std::string(100'000, 'x') + "</think>" +
                           std::string(50'000, 'y');
  const Explanation e = explain(format, text);
  ASSERT_EQ(e.rows.size(), 4U);
  EXPECT_EQ(e.rows[1].bytes, (Span{7, 100'007}));
  EXPECT_EQ(e.rows[3].bytes.size(), 50'000U);
  expect_partition(e, "long");
}

TEST(Explanation, CanBeCancelled) {
  const Interrupt now{.cancelled = [](void*) { return true; }};
  const std::string text(100'000, 'a');
  const Explanation read =
      explain(*Format::built_in("qwen3"), text, {.interrupt = now});
  expect_partition(read, "format");
  ASSERT_EQ(read.rows.size(), 2U);
  EXPECT_EQ(read.rows[1].kind, ExplanationKind::kOutside);
  const Explanation fits =
      explain(*Grammar::from_regex("a*"), text, {.interrupt = now});
  expect_partition(fits, "grammar");
  EXPECT_FALSE(fits.accepted);
  EXPECT_LT(fits.rows[0].bytes.size(), 1000U);
}

TEST(Explanation, RowsPartitionCutResponses) {
  std::mt19937 random(7);
  const std::vector<testing::Response> all = testing::recorded_responses();
  for (std::uint32_t i = 0; i < testing::cases(400); ++i) {
    const testing::Response& response = all[random() % all.size()];
    const Result<Format> format = Format::built_in(response.format);
    std::string text =
        response.text.substr(0, random() % (response.text.size() + 1));
    if (!text.empty() && random() % 2 == 0) {
      text.erase(random() % text.size(), 1 + random() % 6);
    }
    if (!text.empty() && random() % 4 == 0) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    const Explanation e = explain(
        *format, text, {.prefix = response.prefix, .chunk = random() % 4});
    expect_partition(e, response.format + ": " + text);
    EXPECT_EQ(e.text.substr(e.prefix_bytes), text);
  }
}

TEST(Explanation, RowsOfTokensPartition) {
  for (const testing::Response& response : testing::recorded_responses()) {
    const Result<Format> format = Format::built_in(response.format);
    if (!testing::family_markers().contains(response.format)) continue;
    const testing::FamilyVocabulary family =
        testing::family_vocabulary(response.format);
    const std::vector<TokenId> ids = family.encode(response.text);
    for (const std::size_t chunk : {0, 3}) {
      const Explanation e = explain(*format, ids,
                                    {.prefix = response.prefix,
                                     .vocabulary = &family.vocabulary,
                                     .chunk = chunk});
      expect_partition(e, response.format + ": " + response.text);
      ASSERT_EQ(e.ids, ids);
      EXPECT_EQ(e.token_ends.back(), e.text.size());
      // Tokens of a row contain its bytes, except what the prompt wrote of it.
      for (const ExplanationRow& row : e.rows) {
        if (row.tokens.size() == 0 || row.bytes.size() == 0) continue;
        const std::size_t first = row.tokens.begin;
        const std::size_t begin = first == 0 ? 0 : e.token_ends[first - 1];
        EXPECT_LE(begin, row.bytes.begin) << row.what;
        EXPECT_GE(e.token_ends[row.tokens.end - 1], row.bytes.end) << row.what;
      }
    }
  }
}

TEST(Explanation, RowsOfRandomTagsPartition) {
  std::mt19937 random(3);
  for (std::uint32_t seed = 0; seed < testing::cases(600); ++seed) {
    const std::string source =
        json::dump(testing::RandomTags(seed, false).envelope());
    const Result<StructuralTag> tag = StructuralTag::from_json(source);
    if (!tag) continue;
    const Result<CompiledTag> compiled = CompiledTag::compile(*tag);
    if (!compiled) continue;
    std::string text;
    for (std::size_t i = random() % 9; i > 0; --i) {
      text += random() % 16 == 0 ? 'c' : random() % 2 == 0 ? 'a' : 'b';
    }
    for (const std::size_t chunk : {0, 2}) {
      expect_partition(explain(*compiled, text, {.chunk = chunk}),
                       source + " on " + text);
    }
  }
}

constexpr std::string_view kTag = R"({"format": {"type": "sequence",
  "elements": [
    {"type": "tag", "begin": "<think>", "content": {"type": "any_text"},
     "end": "</think>", "field": "reasoning"},
    {"type": "or", "elements": [
      {"type": "const_string", "value": "no"},
      {"type": "json_schema", "json_schema": {"type": "boolean"}}]}]}})";

CompiledTag tag() {
  return *CompiledTag::compile(*StructuralTag::from_json(kTag));
}

TEST(Explanation, OfAStructuralTag) {
  const Explanation e = explain(tag(), "<think>Hm.</think>true!");
  expect_partition(e, "tag");
  ASSERT_EQ(e.rows.size(), 6U);
  EXPECT_EQ(e.rows[0].what, "tag /elements/0");
  EXPECT_EQ(e.rows[0].path, "/format/elements/0");
  EXPECT_EQ(e.rows[0].type, "tag");
  EXPECT_EQ(e.rows[0].field, "reasoning");
  EXPECT_EQ(e.rows[1].depth, 1U);
  EXPECT_EQ(e.rows[2].kind, ExplanationKind::kEnd);
  EXPECT_EQ(e.rows[3].alternative, 1U);
  EXPECT_EQ(e.rows[3].type, "json_schema");
  EXPECT_EQ(e.rows[4].kind, ExplanationKind::kRest);
  EXPECT_EQ(e.rows[5].kind, ExplanationKind::kExpected);
  EXPECT_NE(e.rows[5].message.find("expected the end"), std::string::npos);
}

// The token that ends the response is in no format.
TEST(Explanation, OfTheTokensOfAStructuralTag) {
  std::vector<TokenEntry> entries;
  for (TokenId id = 0; id < 128; ++id) {
    entries.push_back({.id = id, .bytes = {static_cast<char>(id)}});
  }
  entries.push_back({.id = 128, .bytes = "<end>", .kind = TokenKind::kControl});
  const std::array<TokenId, 1> stop = {128};
  const Vocabulary vocabulary = *Vocabulary::from_table(entries, stop);
  std::vector<TokenId> ids;
  for (const char c : std::string_view("<think>Hm.</think>true")) {
    ids.push_back(static_cast<TokenId>(c));
  }
  ids.push_back(128);
  for (const std::size_t chunk : {0, 1, 4}) {
    const Explanation e =
        explain(tag(), ids, {.vocabulary = &vocabulary, .chunk = chunk});
    expect_partition(e, "tag");
    EXPECT_EQ(e.text, "<think>Hm.</think>true<end>");
    EXPECT_EQ(e.rows.back().kind, ExplanationKind::kOutside);
    EXPECT_EQ(e.rows.back().tokens, (Span{22, 23}));
  }
}

TEST(Explanation, OfAGrammar) {
  const Result<Grammar> sums =
      Grammar::from_ebnf(R"(root ::= [0-9] ("+" [0-9])*)");
  ASSERT_TRUE(sums);
  Explanation e = explain(*sums, "1+2-3");
  expect_partition(e, "sums");
  EXPECT_FALSE(e.accepted);
  ASSERT_EQ(e.rows.size(), 3U);
  EXPECT_EQ(e.rows[0].bytes, (Span{0, 3}));
  EXPECT_EQ(e.rows[1].kind, ExplanationKind::kRest);
  EXPECT_EQ(e.rows[2].kind, ExplanationKind::kExpected);
  EXPECT_TRUE(e.rows[2].what.starts_with("expected ")) << e.rows[2].what;

  e = explain(*sums, "1+");
  ASSERT_EQ(e.rows.size(), 2U);
  EXPECT_TRUE(e.rows[1].what.starts_with("ends too early: expected "));
  EXPECT_TRUE(explain(*sums, "1+2").accepted);
}

// Tokens: a b + ab, and a stop token.
Vocabulary letters() {
  const std::array<TokenEntry, 4> entries = {
      TokenEntry{.id = 0, .bytes = "a"}, TokenEntry{.id = 1, .bytes = "b"},
      TokenEntry{.id = 2, .bytes = "ab"},
      TokenEntry{.id = 3, .bytes = "<end>", .kind = TokenKind::kControl}};
  const std::array<TokenId, 1> stop = {3};
  return *Vocabulary::from_table(entries, stop);
}

TEST(Explanation, CountsTheTokensThatWereAllowed) {
  const Vocabulary vocabulary = letters();
  const Compiler compiler = *Compiler::create(vocabulary);
  const Constraint constraint = *compiler.compile_regex("ab(a|b)");

  // "a" or "ab"; the one "b"; "a" or "b"; the end.
  const std::array<TokenId, 4> good = {0, 1, 1, 3};
  Explanation e = explain(constraint, good);
  EXPECT_TRUE(e.accepted);
  EXPECT_EQ(e.allowed, (std::vector<std::uint32_t>{2, 1, 2, 1}));
  EXPECT_FALSE(e.rejected);
  expect_partition(e, "good");

  const std::array<TokenId, 3> bad = {2, 2, 0};
  e = explain(constraint, bad);
  EXPECT_FALSE(e.accepted);
  EXPECT_EQ(e.rejected, 1U);
  EXPECT_EQ(e.allowed, (std::vector<std::uint32_t>{2, 2}));
  expect_partition(e, "bad");
  EXPECT_EQ(e.rows.back().what, "token 2 is not allowed here; 2 tokens are");

  const std::array<TokenId, 1> early = {2};
  e = explain(constraint, early);
  EXPECT_FALSE(e.accepted);
  EXPECT_FALSE(e.rejected);
  EXPECT_EQ(e.rows.back().what, "ends too early: more text was expected");

  // Nothing may follow the stop token.
  const std::array<TokenId, 4> after = {2, 0, 3, 0};
  e = explain(constraint, after);
  EXPECT_EQ(e.allowed, (std::vector<std::uint32_t>{2, 2, 1, 0}));
  EXPECT_EQ(e.rejected, 3U);
}

TEST(Explanation, FactsOfBytesThatAreNotText) {
  const Format format = *Format::built_in("qwen3");
  const std::string text = "a\xFF\xE2\x82z";
  const Explanation e = explain(format, text);
  const json::Value facts = to_json(e);
  ASSERT_EQ(facts.find("rows")->size(), 1U);
  const json::Value& row = facts.find("rows")->items()[0];
  EXPECT_EQ(row.find("text")->as_string(), "a\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(row.find("hex")->as_string(), "61ffe2827a");
  EXPECT_EQ(facts.find("bytes")->as_int(), 5);
}

// Everything between the place after `begin` and the next `end`.
std::string_view between(std::string_view text, std::string_view begin,
                         std::string_view end) {
  const std::size_t at = text.find(begin) + begin.size();
  return text.substr(at, text.find(end, at) - at);
}

TEST(Explanation, HostileTextIsDataOfThePage) {
  const Format format = *Format::built_in("qwen3");
  const std::string text(
      "</script><script>x()</script><!-- <img src=x onerror=x()> \0 \xFF "
      "\xE2\x80\xAE ]]>",
      69);
  const Explanation e = explain(format, text, {.name = "<b>\"x\"</b>"});
  const std::string page = to_html(e);
  // The facts and the script.
  std::size_t scripts = 0;
  for (std::size_t at = 0; (at = page.find("<script", at)) != std::string::npos;
       ++at) {
    ++scripts;
  }
  EXPECT_EQ(scripts, 2U);
  EXPECT_EQ(page.find('\0'), std::string::npos);
  const std::string_view facts = between(page, "id=\"facts\">", "</script>");
  for (const char* begin : {"<!", "</", "<s", "<S"}) {
    EXPECT_EQ(facts.find(begin), std::string_view::npos) << begin;
  }
  const Result<json::Value> read = json::parse(facts);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->find("title")->as_string(), "Response read by <b>\"x\"</b>");
  EXPECT_EQ(read->find("hex")->as_string().size(), 2 * e.text.size());
}

// The rows of a page are those of to_json(): what is equal is there once.
TEST(Explanation, RowsOfThePageHaveShapes) {
  const Format format = *Format::built_in("qwen3");
  std::string text;
  for (int i = 0; i < 9; ++i) {
    text += "<think>a</think>b<tool_call>{</tool_call>";
  }
  const Explanation e = explain(format, text);
  const std::string page = to_html(e);
  const Result<json::Value> facts =
      json::parse(between(page, "id=\"facts\">", "</script>"));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->find("text")->as_string(), text);
  const json::Array& shapes = facts->find("shapes")->items();
  const json::Array& rows = facts->find("rows")->items();
  ASSERT_EQ(rows.size(), 2 * e.rows.size());
  // Seven that own bytes, and nine remarks at places of their own.
  EXPECT_EQ(shapes.size(), 7U + 9U);
  std::size_t at = 0;
  for (std::size_t i = 0; i < e.rows.size(); ++i) {
    const json::Value& shape =
        shapes[static_cast<std::size_t>(rows[2 * i].as_int())];
    EXPECT_EQ(shape.find("what")->as_string(), e.rows[i].what);
    EXPECT_EQ(shape.find("kind")->as_string(), to_string(e.rows[i].kind));
    if (!owns_bytes(e.rows[i].kind)) continue;
    EXPECT_EQ(at, e.rows[i].bytes.begin);
    at += static_cast<std::size_t>(rows[2 * i + 1].as_int());
  }
  EXPECT_EQ(at, text.size());
  EXPECT_EQ(facts->find("calls")->items()[0].as_int(), 9);
  EXPECT_EQ(facts->find("calls")->items()[1].as_int(), 9);
}

// What is wrong has its place in the whole response.
TEST(Explanation, AMalformedRegionHasThePlace) {
  const Format format = *Format::built_in("qwen3");
  const std::string text =
      "Hi.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1,}}\n"
      "</tool_call><|im_end|>\n";
  const Explanation e = explain(format, text);
  const std::size_t place = text.find("}}");
  const auto row = std::ranges::find(e.rows, ExplanationKind::kMalformed,
                                     &ExplanationRow::kind);
  ASSERT_NE(row, e.rows.end());
  EXPECT_EQ(row->at, place);
  EXPECT_EQ(row->message,
            "not JSON: found '}', expected a key in double quotes "
            "(byte " +
                std::to_string(place) + ")");
  ASSERT_EQ(e.message->attempts.size(), 1U);
  EXPECT_EQ(e.message->attempts[0].status, CallStatus::kMalformed);
  EXPECT_EQ(e.message->attempts[0].why, row->message);
  EXPECT_EQ(e.rows.back().what, "ends the turn");
  const json::Value facts = to_json(e);
  EXPECT_TRUE(facts.find("turn_ended")->as_bool());
  EXPECT_EQ(facts.find("attempts")->size(), 1U);
  EXPECT_EQ(static_cast<std::size_t>(
                facts.find("diagnostics")->items()[0].find("at")->as_int()),
            place);
}

TEST(Explanation, ThePageHasTheWholeMessage) {
  const Format format = *Format::built_in("qwen3");
  const Explanation e = explain(
      format,
      "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"n\": NaN, \"i\": "
      "123456789012345678901234567890}}\n</tool_call>");
  const std::string page = to_html(e, {.title = "A call"});
  const std::string_view facts = between(page, "id=\"facts\">", "</script>");
  // Strict JSON: the script's JSON.parse has no NaN.
  const Result<json::Value> read =
      json::parse(facts, {.allow_nonfinite = false});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->find("message"), nullptr);
  EXPECT_EQ(read->find("title")->as_string(), "A call");
  const std::string_view message = read->find("message_text")->as_string();
  EXPECT_NE(message.find("\"n\": NaN"), std::string_view::npos);
  EXPECT_NE(message.find("123456789012345678901234567890"),
            std::string_view::npos);
}

TEST(Explanation, APageOfTheBeginning) {
  const Format format = *Format::built_in("qwen3");
  std::string text = "<think>a</think>";
  for (int i = 0; i < 200; ++i) text += "\xC3\xA9";
  const Explanation e = explain(format, text);
  const std::string page = to_html(e, {.max_bytes = 21});
  const Result<json::Value> facts =
      json::parse(between(page, "id=\"facts\">", "</script>"));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->find("bytes")->as_int(), 416);
  // A character is not cut.
  EXPECT_EQ(facts->find("text")->as_string(), text.substr(0, 20));
  EXPECT_LE(facts->find("message_text")->as_string().size(), 21U);
  EXPECT_EQ(to_html(e, {.max_bytes = 416}), to_html(e));
}

TEST(Explanation, IsEmptyWithoutTheVocabularyOfIds) {
  const Format format = *Format::built_in("qwen3");
  const std::array<TokenId, 1> ids = {0};
  EXPECT_TRUE(explain(format, ids, {}).rows.empty());
  const Vocabulary vocabulary = letters();
  EXPECT_TRUE(explain(format, "a", {.vocabulary = &vocabulary}).rows.empty());
  EXPECT_TRUE(explain(tag(), ids, {}).rows.empty());
}

}  // namespace
}  // namespace parlance::explanation_test
