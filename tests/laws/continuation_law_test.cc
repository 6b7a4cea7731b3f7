// The law of prompts that end anywhere inside a response: the tag of such a
// prompt begins there.
//
//   not refused   whatever the grammar of the request has generated, cut at any
//                 byte or token
//   the rest      the tag has what was cut off
//   a response    what it generates instead, after what was written, is read by
//                 the format's parser as a message that is valid
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

class ContinuationLaw : public ::testing::TestWithParam<std::string> {
 protected:
  void walk(std::size_t cells, std::size_t count, std::size_t cuts) {
    FamilyWalks walks(GetParam());
    if (!walks.writes()) GTEST_SKIP() << "the file does not say how to write";
    walks.set_tools(*json::parse(kTools));
    walks.continuations = cuts;
    std::vector<Cell> all = all_cells();
    std::mt19937 random(3);
    std::shuffle(all.begin(), all.end(), random);
    for (std::size_t i = 0; i < cells; ++i) {
      walks.run(all[i % all.size()],
                static_cast<std::uint32_t>(1000 + i * count), count);
      if (HasFatalFailure()) return;
    }
    std::cout << GetParam() << ": " << walks.walks << " walks, " << walks.calls
              << " calls\n";
  }
};

TEST_P(ContinuationLaw, APromptMayEndAnywhere) {
  walk(testing::reduced() ? 4 : 20, 2, testing::reduced() ? 3 : 10);
}

TEST_P(ContinuationLaw, APromptMayEndAnywhereLongRun) { walk(120, 20, 20); }

INSTANTIATE_TEST_SUITE_P(Families, ContinuationLaw,
                         ::testing::ValuesIn(testing::written_families()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace parlance::continuation_law_test
