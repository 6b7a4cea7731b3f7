// Calls while they are written, on the recorded responses of all families: the
// calls that the events close are the calls of the message, and the events do
// not depend on how the response was cut.
//
// The vectors are read from PARLANCE_VECTORS, and skipped where it is absent.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "../support/call_record.h"
#include "../support/family_vocabulary.h"
#include "../support/vectors.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"

namespace parlance {
namespace {

using json::Value;
using testing::CallRecord;

std::string text_of(const Value& value, std::string_view key) {
  const Value* member = value.find(key);
  return std::string(member == nullptr ? std::string_view()
                                       : member->as_string());
}

struct Outcome {
  CallRecord record;
  Message message;
};

Outcome run(const Format& format, const std::string& text,
            const std::vector<std::size_t>& cuts, ParserOptions options) {
  options.stream_calls = true;
  Outcome out;
  ResponseParser parser(format, options);
  out.record.add(parser.initial_events());
  std::size_t begin = 0;
  for (const std::size_t cut : cuts) {
    out.record.add(parser.feed(text.substr(begin, cut - begin)));
    begin = cut;
  }
  out.record.add(parser.feed(text.substr(begin)));
  out.record.add(parser.finalize());
  out.message = std::move(parser).take_message();
  return out;
}

std::vector<std::size_t> every(std::size_t size) {
  std::vector<std::size_t> out;
  for (std::size_t i = 1; i < size; ++i) out.push_back(i);
  return out;
}

struct Tally {
  std::size_t runs = 0;
  std::size_t calls = 0;
  std::size_t unfinished = 0;
  std::size_t changed = 0;  // announced again
};

// Runs the text under several cuts, and checks the laws.
void check(const Format& format, const std::string& text,
           const ParserOptions& options, Tally& tally) {
  const Outcome whole = run(format, text, {}, options);
  Message plain = parse_response(format, text, options);
  EXPECT_EQ(json::dump(whole.message.fields), json::dump(plain.fields));
  EXPECT_TRUE(plain.calls.empty());
  std::mt19937 random(static_cast<std::uint32_t>(text.size()));
  for (int n = -1; n < 4; ++n) {
    std::vector<std::size_t> cuts;
    if (n == 0) cuts = every(text.size());
    for (std::size_t at = 0; n > 0;) {
      at += 1 + random() % (1 + text.size() / 4);
      if (at >= text.size()) break;
      cuts.push_back(at);
    }
    Outcome cut = run(format, text, cuts, options);
    EXPECT_EQ(cut.record.check(cut.message, "tool_calls"), "");
    EXPECT_EQ(cut.record.log, whole.record.log);
    EXPECT_EQ(json::dump(cut.message.fields), json::dump(plain.fields));
  }
  ++tally.runs;
  for (const Call& call : whole.message.calls) {
    ++(call.complete ? tally.calls : tally.unfinished);
  }
  for (const Diagnostic& diagnostic : whole.message.diagnostics) {
    if (diagnostic.message.find("was announced") == std::string::npos) continue;
    ++tally.changed;
  }
}

TEST(CallsLaw, RecordedResponses) {
  const auto folder = testing::vector_folder();
  if (!folder) GTEST_SKIP() << "PARLANCE_VECTORS names no vectors";
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(*folder / "formats")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  Tally tally;
  for (const auto& file : files) {
    const std::string family = file.stem().string();
    Result<Format> format = Format::built_in(family);
    if (!format) continue;
    Result<Format> bare = Format::from_json(format->template_json());
    ASSERT_TRUE(bare.has_value()) << family;
    const Value list = testing::read_json(file);
    for (const Value& vector : list.items()) {
      SCOPED_TRACE(text_of(vector, "id"));
      const std::string prefix = text_of(vector, "prefix");
      const std::string raw = text_of(vector, "raw");
      const Value* given = vector.find("tools");
      const ToolSet tools =
          given == nullptr ? ToolSet() : ToolSet::from_value(*given);
      ParserOptions options;
      options.prefix = prefix;
      check(*format, raw, options, tally);
      if (given == nullptr) continue;
      options.tools = &tools;
      check(*format, raw, options, tally);
      check(*bare, raw, options, tally);
    }
  }
  std::printf("%zu runs, %zu calls, %zu unfinished, %zu changed\n", tally.runs,
              tally.calls, tally.unfinished, tally.changed);
  EXPECT_GT(tally.calls, 500U);
}

// With token ids delimiters are marks, and the events of calls obey the same
// laws.
TEST(CallsLaw, Tokens) {
  const auto folder = testing::vector_folder();
  if (!folder) GTEST_SKIP() << "PARLANCE_VECTORS names no vectors";
  std::size_t calls = 0;
  for (const std::string_view family : Format::built_in_names()) {
    if (!testing::family_markers().contains(testing::markers_like(family))) {
      continue;
    }
    const auto file = *folder / "formats" / (std::string(family) + ".json");
    Result<Format> format = Format::built_in(family);
    if (!format || !std::filesystem::exists(file)) continue;
    const testing::FamilyVocabulary words = testing::family_vocabulary(family);
    const Value list = testing::read_json(file);
    // Some of them, because the small vocabularies encode slowly.
    const std::size_t step_over = 1 + list.size() / 6;
    for (std::size_t i = 0; i < list.size(); i += step_over) {
      const Value& vector = list.items()[i];
      SCOPED_TRACE(text_of(vector, "id"));
      const std::string prefix = text_of(vector, "prefix");
      const std::vector<TokenId> ids = words.encode(text_of(vector, "raw"));
      const Value* given = vector.find("tools");
      const ToolSet tools =
          given == nullptr ? ToolSet() : ToolSet::from_value(*given);
      ParserOptions options;
      options.prefix = prefix;
      options.tools = &tools;
      options.vocabulary = &words.vocabulary;
      options.stream_calls = true;
      std::string log;
      for (const std::size_t step : {ids.size(), std::size_t{1}}) {
        ResponseParser parser(*format, options);
        CallRecord record;
        record.add(parser.initial_events());
        for (std::size_t at = 0; at < ids.size(); at += step) {
          record.add(parser.feed_tokens(
              std::span(ids).subspan(at, std::min(step, ids.size() - at))));
        }
        record.add(parser.finalize());
        EXPECT_EQ(record.check(parser.message(), "tool_calls"), "");
        if (step == ids.size()) log = record.log;
        EXPECT_EQ(record.log, log);
        calls += record.calls.size();
      }
    }
  }
  std::printf("%zu calls\n", calls);
  EXPECT_GT(calls, 50U);
}

// --- Random values -----------------------------------------------------------

Value random_value(std::mt19937& random, int depth) {
  static const char* const kTexts[] = {
      "",          "Bern",    "7",   "true",   " x ",     "a\nb",
      "\n",        "\"q\"\\", "</",  "</para", "<|\"|>x", "null",
      "{\"a\":1}", "é–𝄞",     "3.0", "]",      "```",     "\t\x01"};
  switch (random() % (depth > 0 ? 8 : 6)) {
    case 0:
    case 1:
    case 2:
      return Value(kTexts[random() % std::size(kTexts)]);
    case 3:
      return Value(static_cast<std::int64_t>(random() % 1000));
    case 4:
      return Value(0.5 * static_cast<double>(random() % 9));
    case 5:
      return random() % 2 == 0 ? Value() : Value(random() % 2 == 0);
    case 6: {
      json::Array out;
      for (std::size_t n = random() % 3; n > 0; --n) {
        out.push_back(random_value(random, depth - 1));
      }
      return out;
    }
    default: {
      json::Object out;
      for (std::size_t n = random() % 3; n > 0; --n) {
        out.set(kTexts[random() % std::size(kTexts)],
                random_value(random, depth - 1));
      }
      return out;
    }
  }
}

TEST(CallsLaw, RandomValues) {
  const ToolSet tools = ToolSet::from_value(*json::parse(
      R"([{"type": "function", "function": {"name": "f", "parameters":
          {"type": "object", "properties": {"s": {"type": "string"},
           "n": {"type": "integer"}, "u": {"type": ["number", "string"]},
           "o": {"type": "object"}, "l": {"type": "array"}}}}}])"));
  static const char* const kKeys[] = {"s", "n", "u", "o", "l", "z"};
  Tally tally;
  std::size_t written = 0;
  std::mt19937 random(1);
  for (const std::string_view family : Format::built_in_names()) {
    SCOPED_TRACE(family);
    const Result<Format> format = Format::built_in(family);
    ASSERT_TRUE(format.has_value());
    for (int n = 0; n < 25; ++n) {
      json::Array calls;
      for (std::size_t i = 1 + random() % 2; i > 0; --i) {
        json::Object arguments;
        for (const char* key : kKeys) {
          if (random() % 2 != 0) continue;
          arguments.set(key, random_value(random, 2));
        }
        calls.push_back(json::Object{
            {"type", "function"},
            {"function", json::Object{{"name", "f"},
                                      {"arguments", std::move(arguments)}}}});
      }
      const Result<std::string> text = format->render(json::Object{
          {"role", "assistant"}, {"tool_calls", std::move(calls)}});
      if (!text) continue;
      ++written;
      ParserOptions options;
      check(*format, *text, options, tally);
      options.tools = &tools;
      check(*format, *text, options, tally);
    }
  }
  std::printf("%zu texts, %zu calls, %zu unfinished, %zu changed\n", written,
              tally.calls, tally.unfinished, tally.changed);
}

// --- Promptness --------------------------------------------------------------

// How long the events of a call wait.  The argument "s" is a text that occurs
// once in the response.  Whenever the response so far has n bytes of it, the
// call is announced and the deltas have n bytes of it, but for kMostHeld: what
// may still be the beginning of a delimiter.
constexpr std::size_t kMostHeld = 64;

std::string long_text() {
  std::string out;
  for (int i = 0; i < 60; ++i) out += "word" + std::to_string(i) + " ";
  return out + "end";
}

// Feeds `text` byte by byte; returns the most bytes of `value` that the
// response had and the deltas had not.
template <class Parser>
std::size_t longest_wait(Parser& parser, const std::string& text,
                         const std::string& value) {
  const std::size_t begin = text.find(value);
  std::string written;
  std::size_t seen = 0;  // bytes of the value in the deltas
  std::size_t most = 0;
  const auto note = [&](std::span<const Event> events) {
    for (const Event& event : events) {
      if (event.kind != EventKind::kCallArguments) continue;
      written += event.text;
    }
    const std::size_t at = written.find(value.substr(0, 8));
    if (at == std::string::npos) return;
    while (seen < value.size() && at + seen < written.size() &&
           written[at + seen] == value[seen]) {
      ++seen;
    }
  };
  note(parser.initial_events());
  for (std::size_t i = 0; i < text.size(); ++i) {
    note(parser.feed(text.substr(i, 1)));
    if (i < begin) continue;
    const std::size_t here = std::min(i + 1 - begin, value.size());
    most = std::max(most, here - std::min(here, seen));
  }
  note(parser.finalize());
  EXPECT_EQ(seen, value.size());
  return most;
}

// Where a call waits longer, and why.
const std::map<std::string, std::string, std::less<>> kLater = {};

TEST(CallsLaw, Promptness) {
  const Value tools = *json::parse(
      R"([{"type": "function", "function": {"name": "f", "parameters":
          {"type": "object", "properties": {"n": {"type": "integer"},
           "s": {"type": "string"}}}}}])");
  const ToolSet declared = ToolSet::from_value(tools);
  const std::string value = long_text();
  const json::Object call = {
      {"type", "function"},
      {"function",
       json::Object{{"name", "f"},
                    {"arguments", json::Object{{"n", 1}, {"s", value}}}}}};
  const json::Value message = json::Object{
      {"role", "assistant"}, {"tool_calls", json::Array{Value(call)}}};
  for (const std::string_view family : Format::built_in_names()) {
    SCOPED_TRACE(family);
    const Result<Format> format = Format::built_in(family);
    ASSERT_TRUE(format.has_value());
    const Result<std::string> text = format->render(message);
    if (!text) continue;
    ParserOptions options;
    options.stream_calls = true;
    options.tools = &declared;
    ResponseParser parser(*format, options);
    const std::size_t by_format = longest_wait(parser, *text, value);
    StructuralTagOptions request;
    request.tools = tools;
    const Result<StructuralTag> tag = format->structural_tag(request);
    ASSERT_TRUE(tag.has_value()) << tag.error().to_string();
    const Result<CompiledTag> program = CompiledTag::compile(*tag);
    ASSERT_TRUE(program.has_value()) << program.error().to_string();
    TagParser tag_parser(*program, {.stream_calls = true});
    const std::size_t by_tag = longest_wait(tag_parser, *text, value);
    const bool later = by_format > kMostHeld || by_tag > kMostHeld;
    if (later != kLater.contains(family)) {
      ADD_FAILURE() << "the format's parser holds " << by_format
                    << " bytes, the tag's " << by_tag;
    }
  }
}

}  // namespace
}  // namespace parlance
