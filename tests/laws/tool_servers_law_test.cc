// The law of families (support/family_walks.h) for the tools of public servers,
// each server's as they are (conformance/tool_servers): every family takes all
// of them in one request, for each tool_choice, and reads back what the masks
// let a model write.  The tools that refused.tsv lists, whose names a family's
// notation cannot write, are not in the request.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "support/conformance.h"
#include "support/family_walks.h"
#include "support/sanitized.h"
#include "support/vectors.h"

namespace parlance::tool_servers_law_test {
namespace {

using testing::Cell;
using testing::FamilyWalks;

constexpr std::array<std::string_view, 3> kChoices = {"auto", "required",
                                                      "named"};

json::Value function_of(const json::Value& tool) {
  json::Object function = {{"name", *tool.find("name")},
                           {"parameters", *tool.find("inputSchema")}};
  if (const json::Value* description = tool.find("description")) {
    function.set("description", *description);
  }
  return json::Object{{"type", "function"}, {"function", std::move(function)}};
}

// Family, server and tool.
using Refused = std::set<std::tuple<std::string, std::string, std::string>>;

const Refused& refused() {
  static const auto* const kRefused = [] {
    auto* out = new Refused;
    std::ifstream file(testing::repository() / "conformance" / "tool_servers" /
                       "refused.tsv");
    EXPECT_TRUE(file) << "no refused.tsv";
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with('#')) continue;
      std::istringstream columns(line);
      std::string family;
      std::string server;
      std::string tool;
      std::getline(columns, family, '\t');
      std::getline(columns, server, '\t');
      std::getline(columns, tool, '\t');
      out->emplace(family, server, tool);
    }
    return out;
  }();
  return *kRefused;
}

// The grammar of a request; nothing if the family writes no calls, and then
// `choice` has to be the reason.
Result<Grammar> grammar_of(const Format& format, const json::Value& tools,
                           std::string_view choice) {
  StructuralTagOptions options;
  options.tools = tools;
  options.tool_choice =
      choice == "named"
          ? testing::function(
                tools.items()[0].find("function")->find("name")->as_string())
          : json::Value(choice);
  Result<StructuralTag> tag = format.structural_tag(options);
  if (!tag) return tag.error();
  return Grammar::from_structural_tag(*tag);
}

class ToolServersLaw : public ::testing::TestWithParam<std::string> {
 protected:
  // The tools of a server that the family takes.
  json::Array taken(const std::string& server) {
    json::Array out;
    const json::Value tools =
        testing::vectors("tool_servers/" + server + ".json");
    for (const json::Value& tool : tools.items()) {
      const std::string name(tool.find("name")->as_string());
      if (!refused().contains({GetParam(), server, name})) {
        out.push_back(function_of(tool));
      }
    }
    return out;
  }
};

TEST_P(ToolServersLaw, EveryRequestIsTaken) {
  const Format format = *Format::built_in(GetParam());
  const bool writes_calls =
      json::dump(*json::parse(Format::built_in_source(GetParam())))
          .find("\"tool_calls\"") != std::string::npos;
  for (const std::string& server : testing::vector_files("tool_servers")) {
    const json::Array tools = taken(server);
    if (tools.empty()) continue;
    for (const std::string_view choice : kChoices) {
      const Result<Grammar> grammar = grammar_of(format, tools, choice);
      if (writes_calls || choice == "auto") {
        EXPECT_TRUE(grammar)
            << server << " " << choice << ": " << grammar.error().to_string();
      } else {
        EXPECT_EQ(grammar.error().path, "/tool_choice");
      }
    }
  }
}

class ToolServersWalk : public ToolServersLaw {
 protected:
  // `count` walks for each tool_choice with the tools of each server or, if
  // `servers` is not 0, of so many, which the family's name draws.
  void walk(std::size_t servers, std::size_t count) {
    FamilyWalks walks(GetParam());
    if (!walks.writes()) GTEST_SKIP() << "the file does not say how to write";
    std::uint32_t seed = 1;
    for (const char c : GetParam()) {
      seed = seed * 31 + static_cast<unsigned char>(c);
    }
    const std::set<std::string> names = testing::vector_files("tool_servers");
    const std::vector<std::string> all(names.begin(), names.end());
    const std::size_t most = servers == 0 ? all.size() : servers;
    for (std::size_t i = 0; i < most; ++i) {
      const std::string& server = all[(seed + i) % all.size()];
      const json::Array tools = taken(server);
      if (tools.empty()) continue;
      SCOPED_TRACE(server);
      walks.set_tools(tools);
      for (const std::string_view choice : kChoices) {
        Cell cell;
        cell.choice = choice;
        walks.run(cell, seed + static_cast<std::uint32_t>(i * 100), count);
        if (HasFailure()) return;
      }
    }
    EXPECT_LE(walks.unfinished, 3 + walks.walks / 30);
    std::cout << GetParam() << ": " << walks.walks << " walks, " << walks.calls
              << " calls, " << walks.unfinished << " do not end\n";
  }
};

TEST_P(ToolServersWalk, WhatTheGrammarGeneratesTheParserReads) {
  walk(1, testing::reduced() ? 1 : 3);
}

TEST_P(ToolServersWalk, WhatTheGrammarGeneratesTheParserReadsLongRun) {
  walk(0, 10);
}

INSTANTIATE_TEST_SUITE_P(
    Families, ToolServersLaw,
    ::testing::ValuesIn(testing::tried(testing::families_and_variants())),
    [](const auto& one) { return one.param; });
INSTANTIATE_TEST_SUITE_P(
    Families, ToolServersWalk,
    ::testing::ValuesIn(testing::tried(testing::families_and_variants())),
    [](const auto& one) { return one.param; });

}  // namespace
}  // namespace parlance::tool_servers_law_test
