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
#include <utility>
#include <vector>

#include "../support/family_vocabulary.h"
#include "../support/parse_record.h"
#include "../support/sanitized.h"

namespace parlance::linear_test {
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

// As token ids, where a backtracking search holds what an opener may still
// become, and ordinary tokens may spell a marker.
TEST(LinearTokens, WorkPerTokenOfHeldTextDoesNotGrow) {
  const Format format = *Format::from_json(R"({"start_anchor": "A", "fields": {
      "content": {"repeats": true, "join": ""},
      "x": {"open_pattern": "(?<!z)<x>a*b", "close": "</x>"}}})");
  const std::vector<TokenEntry> entries = {
      {0, "<x>", TokenKind::kAdded}, {1, "a"}, {2, "<"}, {3, "x>"}};
  const Vocabulary vocabulary = *Vocabulary::from_table(entries);
  const auto work = [&](const std::vector<TokenId>& head,
                        const std::vector<TokenId>& unit, std::size_t count) {
    ResponseParser parser(format, {.vocabulary = &vocabulary});
    parser.feed_tokens(head);
    for (std::size_t i = 0; i < count; ++i) parser.feed_tokens(unit);
    parser.finalize();
    return static_cast<double>(parser.work()) / static_cast<double>(count);
  };
  const std::vector<TokenId> none;
  for (const auto& [head, unit] :
       std::vector<std::pair<std::vector<TokenId>, std::vector<TokenId>>>{
           {{0}, {1}},
           {{0}, {2}},
           {{0}, {2, 3}},
           {none, {0}},
           {none, {2, 3}}}) {
    // A search of held text is repeated each time it has grown by an eighth.
    EXPECT_LE(work(head, unit, 16000), 2 * work(head, unit, 2000));
  }
}

// --- Built-in formats --------------------------------------------------------

// What a model that has gone astray may write: the beginning of a call again
// and again, deep nesting in its arguments, a value that never ends, closers
// that lack a byte, what a parser itself may write in the place of a mark.
// '#' is another number in each round.
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
                                  "\\", "'(", "<a>",     "</", "\x03#\x04"};
  if (text) {
    const std::string tail = text->substr(text->find("VALUE") + 5);
    out.insert(out.end(), {*text, tail, tail.substr(0, tail.size() - 1),
                           head.substr(0, head.size() - 1)});
  }
  return out;
}

// The unit of one round.
std::string unit_of(const std::string& unit, std::size_t round) {
  const std::size_t number = unit.find('#');
  if (number == std::string::npos) return unit;
  return std::string(unit).replace(number, 1, std::to_string(round));
}

// `work` returns the work per byte of a response of so many bytes.  The readers
// of calls do no work that is counted, so the time of the long text has a
// limit, far above what it takes.
void expect_linear(std::size_t bytes,
                   const std::function<double(std::size_t)>& work) {
  const std::clock_t begin = std::clock();
  const double before = work(bytes);
  const double after = work(8 * bytes);
  const double seconds =
      static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_LE(after, 1.25 * before + 0.1);
  EXPECT_LT(seconds, 5);
}

class EachBuiltIn : public ::testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    if (testing::kSanitized) GTEST_SKIP() << "work is the same without";
  }
};

TEST_P(EachBuiltIn, WorkPerByteDoesNotGrow) {
  const Format format = *Format::built_in(GetParam());
  std::string head;
  for (const std::string& unit : hostile_units(format, head)) {
    SCOPED_TRACE(unit);
    expect_linear(1 << 16, [&](std::size_t bytes) {
      std::string all = head;
      for (std::size_t i = 0; all.size() < bytes; ++i) all += unit_of(unit, i);
      ResponseParser parser(format, {.stream_calls = true});
      for (std::size_t at = 0; at < all.size(); at += 256) {
        parser.feed(std::string_view(all).substr(at, 256));
      }
      parser.finalize();
      return static_cast<double>(parser.work()) /
             static_cast<double>(all.size());
    });
  }
}

// As token ids, one at a time: after `head`, each unit with its markers as
// tokens, or all of it in ordinary tokens.
void per_token(std::string_view name, int exponent) {
  if (!testing::family_markers().contains(testing::markers_like(name))) {
    GTEST_SKIP() << "no vocabulary";
  }
  const Format format = *Format::built_in(name);
  const testing::FamilyVocabulary family = testing::family_vocabulary(name);
  std::string head;
  for (const std::string& unit : hostile_units(format, head)) {
    for (const bool marks : {true, false}) {
      SCOPED_TRACE(unit);
      const auto encode = [&](const std::string& text) {
        return marks ? family.encode(text) : family.spell(text);
      };
      const bool numbered = unit != unit_of(unit, 0);
      std::vector<TokenId> round = encode(unit);
      expect_linear(std::size_t{1} << exponent, [&](std::size_t bytes) {
        ResponseParser parser(
            format, {.vocabulary = &family.vocabulary, .stream_calls = true});
        std::size_t fed = 0;
        const auto feed = [&](const std::vector<TokenId>& ids) {
          for (const TokenId& id : ids) {
            parser.feed_tokens({&id, 1});
            fed += family.vocabulary.spelling(id).size();
          }
        };
        feed(family.encode(head));
        std::size_t i = 0;
        while (fed < bytes) {
          if (numbered) round = encode(unit_of(unit, i++));
          feed(round);
        }
        parser.finalize();
        return static_cast<double>(parser.work()) / static_cast<double>(fed);
      });
    }
  }
}

TEST_P(EachBuiltIn, WorkPerTokenDoesNotGrow) { per_token(GetParam(), 10); }
TEST_P(EachBuiltIn, WorkPerTokenDoesNotGrowLongRun) {
  per_token(GetParam(), 14);
}

INSTANTIATE_TEST_SUITE_P(All, EachBuiltIn,
                         ::testing::ValuesIn(Format::built_in_names()),
                         [](const auto& of) { return std::string(of.param); });

}  // namespace
}  // namespace parlance::linear_test
