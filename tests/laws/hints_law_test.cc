// The laws of hints (parlance/hints.h), for every family and variant:
//
//   well read   a recorded response that its format reads whole, without a
//               diagnostic, has no hints; messages_law_test.cc asks the same of
//               random messages
//   lost calls  a response with a call is changed as models and hosts do: the
//               call moves into the reasoning, in the middle of a line; its
//               markers are left out, or the first of them; another family
//               reads it.  Then the call is read all the same, or there is a
//               hint, whose bytes are in the text

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/format.h"
#include "parlance/hints.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/tools.h"
#include "support/conformance.h"
#include "support/family_laws.h"

namespace parlance::hints_law_test {
namespace {

using json::Value;
using testing::text_of;

constexpr std::string_view kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "required": ["city"], "additionalProperties": false,
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}}])";

struct Read {
  std::string text;  // as the places of the message count
  Message message;
};

Read read(const Format& format, std::string_view text, const ToolSet* tools,
          std::string_view prefix = {}) {
  ResponseParser parser(format,
                        {.prefix = prefix, .tools = tools, .attempts = true});
  Read out;
  out.text = prefix.substr(prefix.size() - parser.prefix_bytes());
  out.text += text;
  parser.feed(text);
  parser.finalize();
  out.message = std::move(parser).take_message();
  return out;
}

std::vector<Hint> hints_of(const Format& format, const Read& read,
                           const ToolSet* tools) {
  return parlance::hints_of(format, read.text, read.message, {.tools = tools});
}

std::string listed(const std::vector<Hint>& hints) {
  std::string out;
  for (const Hint& hint : hints) {
    out += std::string(to_string(hint.kind)) + ": " + hint.message + "\n";
  }
  return out;
}

TEST(HintsLaw, RecordedResponsesThatAreWellReadHaveNone) {
  std::size_t asked = 0;
  for (const std::string& family : testing::vector_files("formats")) {
    const Result<Format> format = Format::built_in(family);
    if (!format) continue;
    const Value rows = testing::vectors("formats/" + family + ".json");
    for (const Value& row : rows.items()) {
      const Value* given = row.find("tools");
      const ToolSet tools =
          given == nullptr ? ToolSet() : ToolSet::from_value(*given);
      for (const ToolSet* known :
           {&tools, static_cast<const ToolSet*>(nullptr)}) {
        const Read got =
            read(*format, text_of(row, "raw"), known, text_of(row, "prefix"));
        if (!got.message.complete || !got.message.diagnostics.empty()) continue;
        ++asked;
        const std::vector<Hint> hints = hints_of(*format, got, known);
        EXPECT_TRUE(hints.empty())
            << text_of(row, "id") << (known != nullptr ? " with tools" : "")
            << "\n"
            << got.text << "\n"
            << listed(hints);
      }
    }
  }
  EXPECT_GT(asked, 1000U);
}

TEST(HintsLaw, LongTextsAreBounded) {
  const ToolSet tools = *ToolSet::from_json(kTools);
  for (const std::string_view unit :
       {"a <tool_call>", "{\"name\": ", "a get_weather {\"city\": 1} ",
        "</tool_call>", "<function=f>{",
        "a <tool_call>{\"name\": \"f\"}</tool_call>", "{", "<"}) {
    std::string text = "<think>";
    while (text.size() < 2 * kHintBytes) text += unit;
    for (const std::string_view name :
         {"qwen3", "qwen3_coder", "llama3_json"}) {
      const Format format = *Format::built_in(name);
      for (const ToolSet* known :
           {&tools, static_cast<const ToolSet*>(nullptr)}) {
        const Read got = read(format, text, known);
        const std::vector<Hint> hints = hints_of(format, got, known);
        EXPECT_LE(hints.size(), 8U);
        for (const Hint& hint : hints) EXPECT_LT(hint.message.size(), 1000U);
      }
    }
  }
}

// A response with one call, and where the region of its call is.
struct Sample {
  std::string text;
  Span call;
};

class LostCalls : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    bool has_calls = false;
    for (std::size_t i = 0; i < format_.field_count(); ++i) {
      reasons_ |= format_.field_name(i) == "thinking";
      has_calls |= format_.field_name(i) == "tool_calls";
    }
    if (!has_calls || !format_.render(json::Object(), {.verify = false})) {
      GTEST_SKIP() << "the file does not say how calls are written";
    }
    sample_ = sample();
  }

  Sample sample() const {
    json::Object message;
    if (reasons_) message.set("thinking", "First the city. Then the days.");
    message.set("tool_calls",
                json::Array{json::Object{
                    {"type", "function"},
                    {"id", "call00001"},
                    {"function",
                     json::Object{{"name", "get_weather"},
                                  {"arguments", json::Object{{"city", "Bern"},
                                                             {"days", 3}}}}}}});
    Sample out;
    const Result<std::string> text =
        format_.render(message, {.tools = &tools_});
    if (!text) {
      ADD_FAILURE() << text.error().to_string();
      return out;
    }
    out.text = *text;
    const Read got = read(format_, out.text, &tools_);
    if (got.message.attempts.size() != 1) {
      ADD_FAILURE() << out.text;
      return out;
    }
    for (const Part& part : got.message.parts) {
      if (format_.field_name(part.field_index) == "tool_calls") {
        out.call = part.bytes;
      }
    }
    return out;
  }

  // By `format`, with and without tools: there is a hint if no call is read,
  // or reported as one that cannot be read.
  void check(const Format& format, const std::string& text, bool tools_only,
             std::string_view what) const {
    for (const ToolSet* tools :
         {&tools_, static_cast<const ToolSet*>(nullptr)}) {
      if (tools == nullptr && tools_only) continue;
      const Read got = read(format, text, tools);
      if (!got.message.attempts.empty()) continue;
      const std::vector<Hint> hints = hints_of(format, got, tools);
      EXPECT_FALSE(hints.empty())
          << what << (tools != nullptr ? " with tools" : " without tools")
          << " by " << format.name() << "\n"
          << text << "\n"
          << testing::listed(got.message.diagnostics);
      for (const Hint& hint : hints) {
        EXPECT_LT(hint.bytes.begin, hint.bytes.end);
        EXPECT_LE(hint.bytes.end, got.text.size());
        EXPECT_FALSE(hint.message.empty());
      }
    }
  }

  const Format format_ = *Format::built_in(GetParam());
  const ToolSet tools_ = *ToolSet::from_json(kTools);
  bool reasons_ = false;
  Sample sample_;
};

TEST_P(LostCalls, InReasoning) {
  if (!reasons_) GTEST_SKIP() << "it has no reasoning";
  constexpr std::string_view kPlace = "Then";
  std::string text = sample_.text;
  const std::string call = text.substr(sample_.call.begin, sample_.call.size());
  text.erase(sample_.call.begin, sample_.call.size());
  const std::size_t at = text.find(kPlace);
  ASSERT_NE(at, std::string::npos);
  text.insert(at, call + " ");
  check(format_, text, false, "in reasoning");
}

TEST_P(LostCalls, WithoutMarkers) {
  std::set<std::string> marks;
  testing::collect_marks(*json::parse(format_.to_json()), marks);
  const std::string call =
      sample_.text.substr(sample_.call.begin, sample_.call.size());
  std::string without_control;
  std::string without_first;
  bool first = true;
  for (std::size_t at = 0; at < call.size();) {
    std::string_view longest;
    for (const std::string& mark : marks) {
      if (mark.size() > longest.size() &&
          std::string_view(call).substr(at).starts_with(mark)) {
        longest = mark;
      }
    }
    if (longest.empty()) longest = std::string_view(call).substr(at, 1);
    at += longest.size();
    const bool is_mark = longest.size() > 1;
    // Hosts leave control tokens out.
    if (!is_mark || !testing::is_control(longest)) without_control += longest;
    if (!is_mark || !std::exchange(first, false)) without_first += longest;
  }
  check(format_, without_first, true, "without its first marker");
  // Of their calls names and values are left, as of any text.
  const std::set<std::string> nothing_left = {"kimi_k3", "solar_open2"};
  if (nothing_left.contains(GetParam())) return;
  check(format_, without_control, true, "without its control tokens");
}

TEST_P(LostCalls, ReadByAnotherFamily) {
  // Other ones for each family.
  constexpr std::size_t kStep = 11;
  const auto names = Format::built_in_names();
  for (std::size_t i = sample_.text.size() % kStep; i < names.size();
       i += kStep) {
    check(*Format::built_in(names[i]), sample_.text, true, "by another family");
  }
}

TEST_P(LostCalls, ReadByAnotherFamilyLongRun) {
  for (const std::string_view name : Format::built_in_names()) {
    check(*Format::built_in(name), sample_.text, true, "by another family");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Families, LostCalls,
    ::testing::ValuesIn(testing::tried(testing::families_and_variants())),
    [](const auto& one) { return one.param; });

}  // namespace
}  // namespace parlance::hints_law_test
