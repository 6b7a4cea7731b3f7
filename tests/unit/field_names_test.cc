// Format::with_names(): one option renames fields everywhere.

#include <gtest/gtest.h>

#include <string>

#include "parlance/format.h"
#include "parlance/response_parser.h"

namespace parlance::field_names_test {
namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

TEST(FieldNames, EventsAndMessageHaveTheNewName) {
  const Format format = *Format::built_in("qwen3");
  for (const char* from : {"thinking", "reasoning"}) {
    const Result<Format> renamed =
        format.with_names(Names{{from, "reasoning_content"}});
    ASSERT_TRUE(renamed);
    ResponseParser parser(*renamed);
    parser.feed("<think>Hm.</think>Hi.");
    parser.finalize();
    EXPECT_EQ(parser.message().fields.find("thinking"), nullptr);
    const json::Value* value =
        parser.message().fields.find("reasoning_content");
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(value->as_string(), "Hm.");
    EXPECT_EQ(renamed->name(), "qwen3");
  }
}

TEST(FieldNames, WhatCannotBeRenamedIsAnError) {
  const Format format = *Format::built_in("qwen3");
  EXPECT_EQ(format.with_names(Names{{"thoughts", "x"}}).error().code,
            ErrorCode::kUnknownName);
  EXPECT_EQ(format.with_names(Names{{"thinking", ""}}).error().code,
            ErrorCode::kEmptyValue);
  EXPECT_EQ(format.with_names(Names{{"thinking", "content"}}).error().code,
            ErrorCode::kConflict);
  EXPECT_EQ(format.with_names(Names{{"tool_calls", "calls"}}).error().code,
            ErrorCode::kConflict);
}

TEST(FieldNames, EarlierNamesStay) {
  const Result<Format> bare = Format::from_json(
      R"({"start_anchor": "A", "defaults": {"thinking": "none"}, "fields": {
          "thinking": {"open": "<t>", "close": "</t>"},
          "note": {"open": "<n>", "close": "</n>"}}})");
  ASSERT_TRUE(bare);
  const Result<Format> one = bare->with_names(Names{{"thinking", "why"}});
  ASSERT_TRUE(one);
  const Result<Format> two = one->with_names(Names{{"note", "aside"}});
  ASSERT_TRUE(two);
  EXPECT_EQ(json::dump(parse_response(*two, "<n>x</n>").fields),
            R"({"why": "none", "aside": "x"})");
  EXPECT_EQ(two->with_names(Names{{"note", "why"}}).error().code,
            ErrorCode::kConflict);
}

TEST(FieldNames, DefaultsOfTheTemplateAreRenamedToo) {
  const Result<Format> bare = Format::from_json(
      R"({"start_anchor": "A", "defaults": {"thinking": "none", "role": "x"},
          "fields": {"thinking": {"open": "<t>", "close": "</t>"}}})");
  ASSERT_TRUE(bare);
  const Result<Format> renamed = bare->with_names(Names{{"thinking", "why"}});
  ASSERT_TRUE(renamed);
  EXPECT_EQ(json::dump(parse_response(*renamed, "").fields),
            R"({"why": "none", "role": "x"})");
}

}  // namespace
}  // namespace parlance::field_names_test
