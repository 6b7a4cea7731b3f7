// The states of a JSON string's body, against the reader of JSON: a body is
// one that the reader accepts and that decodes to Unicode scalar values.

#include "json/string_body.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "parlance/json.h"
#include "support/string_body_run.h"

namespace parlance::json::string_body_test {
namespace {

// The characters of `body`, nullopt unless it is a whole body.
std::optional<std::size_t> slow_chars(const std::string& body) {
  const Result<Value> value = parse('"' + body + '"');
  if (!value || !value->is_string()) return std::nullopt;
  if (!base::is_utf8(value->as_string())) return std::nullopt;
  return base::count_code_points(value->as_string());
}

void expect_agreement(const std::string& body) {
  const BodyRun run = run_body(BodyState::kText, body);
  const std::optional<std::size_t> chars = slow_chars(body);
  const bool whole = run.state == BodyState::kText;
  ASSERT_EQ(whole, chars.has_value()) << ::testing::PrintToString(body);
  if (!whole) return;
  ASSERT_EQ(run.chars, *chars) << ::testing::PrintToString(body);
  ASSERT_EQ(run.size, body.size());
}

// All texts of up to `length` pieces.
template <class Visit>
void each_text(std::initializer_list<std::string_view> pieces, int length,
               std::string& text, Visit visit) {
  visit(text);
  if (length == 0) return;
  for (const std::string_view piece : pieces) {
    text += piece;
    each_text(pieces, length - 1, text, visit);
    text.resize(text.size() - piece.size());
  }
}

TEST(StringBody, IsWhatTheReaderReads) {
  std::string text;
  each_text({"a",    "\"",   "\\",   "u",    "\x1F", "\x7F", "\x80", "\x8F",
             "\x90", "\x9F", "\xA0", "\xBF", "\xC1", "\xC2", "\xE0", "\xE1",
             "\xED", "\xEF", "\xF0", "\xF3", "\xF4", "\xF5"},
            4, text, expect_agreement);
}

TEST(StringBody, EscapesAreWhatTheReaderReads) {
  for (int byte = 0; byte < 256; ++byte) {
    expect_agreement({'\\', static_cast<char>(byte)});
    expect_agreement({static_cast<char>(byte)});
  }
  std::string text = "\\u";
  each_text({"0", "7", "8", "9", "b", "C", "d", "D", "F", "g"}, 4, text,
            expect_agreement);
}

TEST(StringBody, SurrogatesComeInPairs) {
  for (const std::string_view high :
       {"\\ud800", "\\uDbFf", "\\uDC00", "\\ud7ff", "\\uE000"}) {
    std::string text = std::string(high) + "\\u";
    each_text({"0", "7", "b", "c", "D", "f", "g"}, 5, text, expect_agreement);
    text = std::string(high);
    each_text({"a", "\\", "u", "n", "\""}, 3, text, expect_agreement);
  }
}

// A shortest text that ends the character that a state is inside of.
std::string_view completion(BodyState state) {
  switch (state) {
    case BodyState::kText:
      return "";
    case BodyState::kTail1:
      return "\x80";
    case BodyState::kTail2:
    case BodyState::kAfterED:
      return "\x80\x80";
    case BodyState::kAfterE0:
      return "\xA0\x80";
    case BodyState::kTail3:
    case BodyState::kAfterF4:
      return "\x80\x80\x80";
    case BodyState::kAfterF0:
      return "\x90\x80\x80";
    case BodyState::kEscape:
      return "n";
    case BodyState::kHex4:
      return "0000";
    case BodyState::kHex3:
    case BodyState::kHex3D:
      return "000";
    case BodyState::kHex2:
      return "00";
    case BodyState::kHex1:
      return "0";
    case BodyState::kHigh2:
      return "00\\uDC00";
    case BodyState::kHigh1:
      return "0\\uDC00";
    case BodyState::kLowBackslash:
      return "\\uDC00";
    case BodyState::kLowU:
      return "uDC00";
    case BodyState::kLow4:
      return "DC00";
    case BodyState::kLow3:
      return "C00";
    case BodyState::kLow2:
      return "00";
    case BodyState::kLow1:
      return "0";
    case BodyState::kExit:
    case BodyState::kDead:
      break;
  }
  return "never";
}

TEST(StringBody, EveryLiveStateCanEnd) {
  for (std::size_t s = 0; s < kLiveBodyStateCount; ++s) {
    const auto state = static_cast<BodyState>(s);
    const BodyRun run = run_body(state, completion(state));
    EXPECT_EQ(run.state, BodyState::kText) << s;
    EXPECT_EQ(run.chars, state == BodyState::kText ? 0u : 1u) << s;
  }
}

// A prefix is live just if its completion makes a body.
TEST(StringBody, PrefixesAreCountedByWhatTheyBegin) {
  std::mt19937 random(20250611);
  const std::string_view pieces[] = {
      "a",    "\xC3\xA9",       "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\\n",
      "\\\"", "\\uD83D\\uDE00", "\\u00e9",      "\\udBFF\\udfff"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 5; ++i) text += pieces[random() % std::size(pieces)];
    text.resize(random() % (text.size() + 1));
    const BodyRun run = run_body(BodyState::kText, text);
    ASSERT_TRUE(is_live(run.state)) << text;
    const auto chars = slow_chars(text + std::string(completion(run.state)));
    ASSERT_EQ(chars, run.chars_begun()) << text;
  }
}

TEST(StringBody, NothingFollowsTheEnd) {
  const BodyRun run = run_body(BodyState::kText, "ab\"cd");
  EXPECT_EQ(run.state, BodyState::kExit);
  EXPECT_EQ(run.chars, 2u);
  EXPECT_EQ(run.size, 3u);
  EXPECT_EQ(run.chars_begun(), 2u);
  for (int byte = 0; byte < 256; ++byte) {
    const auto b = static_cast<std::uint8_t>(byte);
    EXPECT_EQ(next(BodyState::kExit, b), BodyState::kDead);
    EXPECT_EQ(next(BodyState::kDead, b), BodyState::kDead);
    EXPECT_FALSE(completes_char(BodyState::kExit, b));
  }
}

static_assert(next(BodyState::kText, 'a') == BodyState::kText);
static_assert(completes_char(BodyState::kHex1, 'F'));
static_assert(!completes_char(BodyState::kHigh1, 'F'));
static_assert(run_body(BodyState::kText, "\\ud83d\\ude00!").chars == 2);

// Whether every step through `body` keeps to the canonical spelling.
bool is_canonical(std::string_view body) {
  BodyState state = BodyState::kText;
  std::uint32_t digits = 0;
  for (const char c : body) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (!canonical_next(state, digits, byte)) return false;
    const bool in_digits = state == BodyState::kHex3 ||
                           state == BodyState::kHex2 ||
                           state == BodyState::kHex4;
    if (in_digits) digits = digits * 16 + static_cast<std::uint32_t>(c - '0');
    state = next(state, byte);
    if (state == BodyState::kText) digits = 0;
  }
  return true;
}

// The canonical spelling is the one that the writer writes.
void expect_written(const std::string& body) {
  if (run_body(BodyState::kText, body).state != BodyState::kText) return;
  const Result<Value> value = parse('"' + body + '"');
  ASSERT_TRUE(value) << body;
  const std::string written = dump(*value, {.ascii = false});
  EXPECT_EQ(is_canonical(body), written == '"' + body + '"')
      << ::testing::PrintToString(body) << " is written " << written;
}

TEST(StringBody, CanonicalIsWhatTheWriterWrites) {
  std::string text = "\\u";
  each_text({"0", "1", "2", "5", "7", "8", "9", "a", "A", "b", "B", "c", "d",
             "D", "e", "f", "F"},
            4, text, expect_written);
  text = "";
  each_text({"a", "\x7F", "\xC3\xA9", "/", "\\/", "\\\"", "\\\\", "\\b", "\\n",
             "\\u0001", "\\u001f", "\\u001F", "\\u007f", "\\ud83d\\ude00",
             "\xF0\x9F\x98\x80"},
            3, text, expect_written);
}

}  // namespace
}  // namespace parlance::json::string_body_test
