// Text between regions that no field claims.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parlance/response_parser.h"
#include "support/parse_record.h"

namespace parlance::unclaimed_test {
namespace {

using testing::account;
using testing::EventRecord;
using testing::ParseRecord;
using testing::record_parse;

Format built_in(std::string_view name) {
  return Format::built_in(name).value();
}

std::vector<EventRecord> unclaimed(const ParseRecord& record) {
  std::vector<EventRecord> out;
  for (const EventRecord& event : record.events) {
    if (event.kind == EventKind::kTextUnclaimed) out.push_back(event);
  }
  return out;
}

TEST(Unclaimed, IsAnEventAndADiagnostic) {
  const std::string text = " hello there\n";
  const ParseRecord record = record_parse(built_in("gpt_oss"), {text});
  ASSERT_EQ(record.events.size(), 1u);
  EXPECT_EQ(record.events[0].text, "hello there");
  EXPECT_EQ(record.events[0].bytes, (Span{1, 12}));
  EXPECT_EQ(record.events[0].name, "");
  EXPECT_EQ(record.events[0].field, record.description().fields.size());
  ASSERT_EQ(record.message.diagnostics.size(), 1u);
  const Diagnostic& diagnostic = record.message.diagnostics[0];
  EXPECT_EQ(diagnostic.code, ErrorCode::kInvalidContent);
  EXPECT_EQ(diagnostic.bytes, (Span{1, 12}));
  EXPECT_EQ(diagnostic.message,
            "text that no field claims: expected the opening of \"thinking\", "
            "\"content\" or \"tool_calls\"");
  EXPECT_TRUE(record.message.complete);
  EXPECT_EQ(json::dump(record.message.fields), R"({"role": "assistant"})");
}

// A call that the format does not read, between a thought and an answer.
TEST(Unclaimed, StandsBetweenRegions) {
  const std::string call =
      "<|channel|>analysis to=browser.search code<|message|>{\"query\": "
      "\"x\"}";
  const std::string text =
      "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant" + call +
      "<|call|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    const ParseRecord record =
        record_parse(built_in("gpt_oss"), testing::cut_every(text, size));
    EXPECT_EQ(account(record, text), "");
    const std::vector<EventRecord> found = unclaimed(record);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].text, call);
    EXPECT_EQ(json::dump(record.message.fields),
              R"({"role": "assistant", "thinking": "Hm.", "content": "Yes."})");
  }
}

TEST(Unclaimed, IsNotMarkup) {
  const char* const k3 =
      "<|open|>response<|sep|>I.<|close|>response<|sep|>\n<|open|>tools<|sep|>"
      "<|open|>call tool=\"f\" index=\"1\"<|sep|><|close|>call<|sep|>"
      "<|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>";
  EXPECT_TRUE(
      record_parse(built_in("kimi_k3"), {k3}).message.diagnostics.empty());
  EXPECT_TRUE(record_parse(built_in("cohere_command"),
                           {"<|START_RESPONSE|>I.<|END_RESPONSE|>\n"
                            "<|END_OF_TURN_TOKEN|>"})
                  .message.diagnostics.empty());
}

TEST(Unclaimed, IsNotToldOfBareTemplates) {
  const json::Value file =
      json::parse(Format::built_in_source("gpt_oss")).value();
  const Format bare =
      Format::from_json(json::dump(*file.find("response_template"))).value();
  const ParseRecord record = record_parse(bare, {"hello there"});
  EXPECT_TRUE(record.events.empty());
  EXPECT_TRUE(record.message.diagnostics.empty());
}

TEST(Unclaimed, ComesInPiecesAtFixedPlaces) {
  FormatOptions options;
  options.limits.held_bytes = 16;
  const Format format = Format::built_in("cohere_command", options).value();
  const std::string text = "\xC3\xA9" + std::string(20, 'a') + " \n " +
                           std::string(30, 'b') + "\xF0\x9F\x98\x80" + "  ";
  const ParseRecord whole = record_parse(format, {text});
  EXPECT_EQ(account(whole, text), "");
  EXPECT_GT(whole.events.size(), 2u);
  for (std::size_t size = 1; size <= text.size(); ++size) {
    const ParseRecord cut =
        record_parse(format, testing::cut_every(text, size));
    EXPECT_EQ(cut.to_string(), whole.to_string()) << size;
  }
}

// Diagnostics keep the order of the text where a limit is passed, too.
TEST(Unclaimed, StandsInOrderWithLimits) {
  FormatOptions options;
  options.limits.held_bytes = 16;
  options.limits.diagnostics = 2;
  const Format format = Format::built_in("gpt_oss", options).value();
  const std::string text =
      std::string(70, 'x') + "<|start|>assistan" + std::string(20, 'y');
  const ParseRecord whole = record_parse(format, {text});
  EXPECT_EQ(account(whole, text), "");
  for (std::size_t size = 1; size <= text.size(); ++size) {
    const ParseRecord cut =
        record_parse(format, testing::cut_every(text, size));
    EXPECT_EQ(cut.to_string(), whole.to_string()) << size;
  }
}

TEST(Unclaimed, MarkupIsCheckedWhenItIsLoaded) {
  const auto load = [](const std::string& field, const std::string& markup) {
    return Format::from_json(
        R"({"name": "n", "response_template": {"version": 1, "start_anchor": "s",
            "fields": {"content": {)" +
        field + R"(}}}, "parlance": {)" + markup + "}}");
  };
  const std::string opened = R"("open": "<a>", "close": "</a>")";
  EXPECT_TRUE(load(opened, R"("markup": ["x", "y"])").has_value());
  const Format pattern =
      load(opened, R"("markup_pattern": "<[a-z]+/>")").value();
  EXPECT_EQ(unclaimed(record_parse(pattern, {"<b/> z <a>x</a><c/>"})).size(),
            1u);
  EXPECT_EQ(load("", R"("markup": "x")").error().path, "/parlance");
  EXPECT_EQ(load("", R"("markup": "x")").error().code, ErrorCode::kConflict);
  EXPECT_EQ(load(opened, R"("markup": "")").error().code,
            ErrorCode::kEmptyValue);
  EXPECT_EQ(
      load(opened, R"("markup": "x", "markup_pattern": "y")").error().code,
      ErrorCode::kConflict);
  EXPECT_EQ(load(opened, R"("markup_pattern": "(")").error().path,
            "/parlance/markup_pattern");
}

}  // namespace
}  // namespace parlance::unclaimed_test
