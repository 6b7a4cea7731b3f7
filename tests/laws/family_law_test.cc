// The law that joins both sides of a family file: whatever the grammar of a
// request generates, the parsers turn into a valid message.
//
//   no dead end   every row on the way has a bit, and the walk ends
//   mask          a token is accepted if and only if its bit is set
//   agree         the format's parser reads the ids without a diagnostic
//   one message   the parser of the tag reads the same message
//   cut           and of its beginnings, but for what a tag has no place for
//   valid         every call is declared and its arguments are valid
//   choice        the calls are what tool_choice and parallel allow
//   render        what render() writes for that message reads back as it
//
// for every family and variant that says how it is written, every tool_choice,
// parallel or not, reasoning required, allowed or off, with and without
// response_format, with the family's markers as tokens and as text.  Everything
// comes from the family's file: there is no table of families here.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/format.h"
#include "parlance/json.h"
#include "support/family_walks.h"
#include "support/sanitized.h"

namespace parlance::family_law_test {
namespace {

using testing::all_cells;
using testing::Cell;
using testing::FamilyWalks;

constexpr std::string_view kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "required": ["city"], "additionalProperties": false,
    "properties": {
      "city": {"type": "string"},
      "units": {"type": "string", "enum": ["celsius", "fahrenheit"]},
      "days": {"type": "integer"},
      "options": {"type": "object", "additionalProperties": false,
        "required": ["hourly"], "properties": {
          "hourly": {"type": "boolean"},
          "tags": {"type": "array", "items": {"type": "string"}}}}}}}},
  {"type": "function", "function": {"name": "now", "parameters": {
    "type": "object", "properties": {}, "additionalProperties": false}}},
  {"type": "function", "function": {"name": "set_alarm", "parameters": {
    "type": "object", "required": ["at", "on"], "additionalProperties": false,
    "properties": {
      "at": {"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]$"},
      "on": {"type": "boolean"},
      "level": {"type": "number"}}}}}
])";

class FamilyLaw : public ::testing::TestWithParam<std::string> {
 protected:
  // Runs `count` walks in each of `cells` cells, drawn by seed.
  void walk(std::size_t cells, std::size_t count, std::uint32_t seed) {
    const Result<Format> format = Format::built_in(GetParam());
    ASSERT_TRUE(format) << format.error().to_string();
    FamilyWalks walks(GetParam());
    if (!walks.writes()) GTEST_SKIP() << "the file does not say how to write";
    walks.set_tools(*json::parse(kTools));
    std::vector<Cell> all = all_cells();
    std::mt19937 random(seed);
    std::shuffle(all.begin(), all.end(), random);
    for (std::size_t i = 0; i < cells; ++i) {
      walks.run(all[i % all.size()],
                seed + static_cast<std::uint32_t>(i * count), count);
      if (HasFatalFailure()) return;
    }
    // A walk may not find the way out of white space in time.
    EXPECT_LE(walks.unfinished, 1 + walks.walks / 200);
    EXPECT_LT(walks.refused, cells);
    std::cout << GetParam() << ": " << walks.walks << " walks, " << walks.calls
              << " calls, " << walks.refused << " of " << cells
              << " cells refused\n";
  }
};

TEST_P(FamilyLaw, WhatTheGrammarGeneratesTheParserReads) {
  walk(testing::reduced() ? 30 : 120, testing::kSanitized ? 1 : 2, 1);
}

TEST_P(FamilyLaw, WhatTheGrammarGeneratesTheParserReadsLongRun) {
  walk(120, 150, 2);
}

INSTANTIATE_TEST_SUITE_P(
    Families, FamilyLaw,
    ::testing::ValuesIn(testing::tried(testing::families_and_variants())),
    [](const auto& one) { return one.param; });

}  // namespace
}  // namespace parlance::family_law_test
