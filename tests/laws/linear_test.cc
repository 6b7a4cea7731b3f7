// Linear: a response of eight times the length takes eight times the work, also
// when it was written to make a parser look again and again.
//
// Work is counted (ResponseParser::work), not timed: steps of automata and
// characters that backtracking searches were given.

#include <gtest/gtest.h>

#include <cstdint>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "../support/parse_record.h"

namespace parlance {
namespace {

constexpr std::string_view kChat = R"({"start_anchor": "A", "fields": {
    "content": {"repeats": true, "join": ""},
    "thinking": {"open": "<think>", "close": "</think>"},
    "tool_calls": {"open": ["<tool_call>", "<tool>"], "close": "</tool_call>",
                   "content": "json", "repeats": true}}})";

constexpr std::string_view kHeader = R"({"start_anchor": "A", "fields": {
    "content": {"repeats": true, "join": ""},
    "call": {"open_pattern": "<\\|channel\\|>[^<]*<\\|message\\|>",
             "close": "<|end|>", "repeats": true}}})";

constexpr std::string_view kSpace = R"({"start_anchor": "A", "fields": {
    "content": {"repeats": true, "join": ""},
    "x": {"open_pattern": "\\s*<x>\\s*", "close_pattern": "\\s*</x>\\s*",
          "repeats": true}}})";

constexpr std::string_view kBackReference = R"({"start_anchor": "A", "fields": {
    "content": {"repeats": true, "join": ""},
    "x": {"open_pattern": "<(a+|b)>", "close_pattern": "</(a|b)\\1>",
          "repeats": true}}})";

constexpr std::string_view kTags = R"({"start_anchor": "A", "fields": {
    "x": {"open": "<x>", "close": "</x>", "content": "xml-inline",
          "content_args": {"tag_pattern":
              "<(?P<key>\\w+)>(?P<value>.*?)</(?P=key)>"}}}})";

struct Family {
  std::string_view name;
  std::string_view format;
  std::string_view head;  // once
  std::string_view unit;  // again and again
};

const std::vector<Family> kFamilies = {
    {"PlainText", kChat, "", "The quick brown fox. "},
    {"LookalikesOfOpeners", kChat, "", "<think<tool_cal<tool_<"},
    {"AngleBrackets", kChat, "", "<"},
    {"LookalikesOfACloser", kChat, "<think>", "</thin</think"},
    {"DeepJson", kChat, "<tool_call>", "[{\"a\":"},
    {"ThousandsOfCalls", kChat, "",
     "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>"},
    {"EmptyRegions", kChat, "", "<think></think>"},
    {"HeaderWithoutEnd", kHeader, "<|channel|>", "analysis "},
    {"Headers", kHeader, "", "<|channel|>a<|message|>b<|end|>"},
    {"HeadersCutShort", kHeader, "", "<|channel|>abc<|chan"},
    {"SpacesOnly", kSpace, "", " \n"},
    {"SpacesBeforeACloser", kSpace, "<x>", "     <"},
    {"BackReferenceNever", kBackReference, "<a>", "</a</b"},
    {"BackReferences", kBackReference, "", "<b>text</aa>"},
    {"Tags", kTags, "<x>", "<k>v</k>"},
};

class EachFamily : public ::testing::TestWithParam<Family> {
 protected:
  static std::string text(std::size_t bytes) {
    std::string out(GetParam().head);
    while (out.size() < bytes) out += GetParam().unit;
    return out;
  }
  static double per_byte(const Format& format, std::size_t bytes,
                         std::size_t chunk) {
    std::string all = text(bytes);
    ResponseParser parser(format);
    for (std::size_t at = 0; at < all.size(); at += chunk) {
      parser.feed(std::string_view(all).substr(at, chunk));
    }
    parser.finalize();
    return static_cast<double>(parser.work()) / static_cast<double>(all.size());
  }
};

TEST_P(EachFamily, WorkPerByteDoesNotGrow) {
  Format format = *Format::from_json(GetParam().format);
  for (std::size_t chunk : {std::size_t{1}, std::size_t{16}, std::size_t{4096},
                            std::size_t{1} << 30}) {
    // Above Limits::held_bytes, so that every kind of holding has run out.
    std::size_t small = chunk == 1 ? 100000 : 200000;
    double before = per_byte(format, small, chunk);
    double after = per_byte(format, 8 * small, chunk);
    EXPECT_LE(after, 1.05 * before + 0.01)
        << "in chunks of " << chunk << ": " << before << " steps per byte of "
        << small << ", " << after << " of eight times as many";
  }
}

INSTANTIATE_TEST_SUITE_P(All, EachFamily, ::testing::ValuesIn(kFamilies),
                         [](const auto& of) {
                           return std::string(of.param.name);
                         });

// --- Built-in formats --------------------------------------------------------

// What a model that has gone astray may write: the beginning of a call again
// and again, deep nesting in its arguments, a value that never ends.
std::vector<std::string> hostile_units(const Format& format,
                                       std::string& head) {
  const ToolSet tools = ToolSet::from_value(*json::parse(
      R"([{"type": "function", "function": {"name": "f", "parameters":
          {"type": "object", "properties": {"s": {"type": "string"}}}}}])"));
  const json::Value message = *json::parse(
      R"({"role": "assistant", "tool_calls": [{"type": "function", "function":
          {"name": "f", "arguments": {"s": "VALUE"}}}]})");
  const Result<std::string> text = format.render(message, {.tools = &tools});
  head = text ? text->substr(0, text->find("VALUE")) : std::string("<");
  std::vector<std::string> out = {head, "[",  "{\"a\":", "x ", "<",
                                  "\\", "'(", "<a>",     "</"};
  if (text) out.push_back(*text);
  return out;
}

TEST(BuiltInFormats, WorkPerByteDoesNotGrow) {
  for (const std::string_view name : Format::built_in_names()) {
    SCOPED_TRACE(name);
    const Result<Format> format = Format::built_in(name);
    ASSERT_TRUE(format.has_value());
    std::string head;
    for (const std::string& unit : hostile_units(*format, head)) {
      SCOPED_TRACE(unit);
      const auto run = [&](std::size_t bytes, std::size_t chunk) {
        std::string all = head;
        while (all.size() < bytes) all += unit;
        ResponseParser parser(*format, {.stream_calls = true});
        for (std::size_t at = 0; at < all.size(); at += chunk) {
          parser.feed(std::string_view(all).substr(at, chunk));
        }
        parser.finalize();
        return static_cast<double>(parser.work()) /
               static_cast<double>(all.size());
      };
      // The readers of calls do no work that is counted, so the time of the
      // long text has a limit, far above what it takes.
      const std::clock_t begin = std::clock();
      const double before = run(1 << 16, 256);
      const double after = run(1 << 19, 256);
      const double seconds =
          static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
      EXPECT_LE(after, 1.05 * before + 0.01);
      EXPECT_LT(seconds, 5);
    }
  }
}

}  // namespace
}  // namespace parlance
