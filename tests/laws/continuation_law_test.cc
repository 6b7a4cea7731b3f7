// The law of prompts that end anywhere inside a response: the tag of such a
// prompt begins there.
//
//   not refused   whatever the grammar of the request has generated, cut at any
//                 byte or token
//   the rest      the tag has what was cut off
//   a response    what it generates instead, after what was written, is read by
//                 the format's parser as a message that is valid
//   any request   so it is if another request continues it: refused are those
//                 alone whose calls are not those that it permits
//
// for every family and variant, in the cells of family_walks.h.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "support/family_walks.h"
#include "support/sanitized.h"

namespace parlance::continuation_law_test {
namespace {

using testing::all_cells;
using testing::Cell;
using testing::FamilyWalks;

constexpr std::string_view kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "required": ["city"], "additionalProperties": false,
    "properties": {
      "city": {"type": "string"},
      "days": {"type": "integer"},
      "options": {"type": "object", "additionalProperties": false,
        "required": ["hourly"], "properties": {
          "hourly": {"type": "boolean"},
          "tags": {"type": "array", "items": {"type": "string"}}}}}}}},
  {"type": "function", "function": {"name": "now", "parameters": {
    "type": "object", "properties": {}, "additionalProperties": false}}}
])";

// `count` tools with one required argument, of which half have another.
json::Value many_tools(std::size_t count) {
  json::Array out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    out.push_back(*json::parse(
        R"({"type": "function", "function": {"name": "tool_)" + number +
        R"(", "parameters": {"type": "object", "required": ["city"],
            "additionalProperties": false, "properties": {
              "city": {"type": "string"}, "n)" +
        std::to_string(i / 2) + R"(": {"type": "integer"}}}}})"));
  }
  return out;
}

struct Counts {
  std::size_t cells = 0;
  std::size_t walks = 0;   // of each cell
  std::size_t cuts = 0;    // of each walk
  std::size_t others = 0;  // of each walk, requests that continue it
};

class ContinuationLaw : public ::testing::TestWithParam<std::string> {
 protected:
  void walk(const json::Value& tools, const Counts& counts) {
    FamilyWalks walks(GetParam());
    if (!walks.writes()) GTEST_SKIP() << "the file does not say how to write";
    walks.set_tools(tools);
    walks.continuations = counts.cuts;
    walks.others = counts.others;
    std::vector<Cell> all = all_cells();
    std::mt19937 random(3);
    std::shuffle(all.begin(), all.end(), random);
    for (std::size_t i = 0; i < counts.cells; ++i) {
      walks.run(all[i % all.size()],
                static_cast<std::uint32_t>(1000 + i * counts.walks),
                counts.walks);
      if (HasFatalFailure()) return;
    }
    std::cout << GetParam() << ": " << walks.walks << " walks, " << walks.calls
              << " calls, " << walks.continued << " continued and "
              << walks.broken << " broken by other requests\n";
  }
};

TEST_P(ContinuationLaw, APromptMayEndAnywhere) {
  walk(*json::parse(kTools),
       testing::reduced() ? Counts{4, 2, 3, 6} : Counts{10, 2, 5, 6});
}

TEST_P(ContinuationLaw, APromptMayEndAnywhereLongRun) {
  walk(*json::parse(kTools), {120, 20, 20, 40});
}

TEST_P(ContinuationLaw, OneTool) {
  walk(many_tools(1),
       testing::reduced() ? Counts{2, 1, 1, 4} : Counts{4, 2, 3, 6});
}

TEST_P(ContinuationLaw, SixteenTools) {
  walk(many_tools(16),
       testing::reduced() ? Counts{1, 1, 1, 3} : Counts{2, 2, 3, 6});
}

TEST_P(ContinuationLaw, FourHundredToolsLongRun) {
  walk(many_tools(400), {3, 1, 2, 6});
}

INSTANTIATE_TEST_SUITE_P(
    Families, ContinuationLaw,
    ::testing::ValuesIn(testing::tried(testing::families_and_variants())),
    [](const auto& one) { return one.param; });

}  // namespace
}  // namespace parlance::continuation_law_test
