// What a token of a response costs, for each family with a built-in format.
//
// The response is a typical one: 1.4 KB of reasoning, an answer of 0.5 KB, two
// calls, written as the family writes them.  It is fed one token id at a time;
// a token is a marker of the family, or a word with the space before it, or a
// run of digits or of punctuation.  Per family:
//
//   parser   ResponseParser
//   calls    the same, with the events of calls
//   tag      TagParser, by the tag of a request with the response's tools
//
// The last lines are the mean over the families and the worst of them.
//
// Run: scripts/bench, or bench_families --benchmark_filter=parser/
//      --benchmark_repetitions=5

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "family_texts.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"
#include "support/family_vocabulary.h"

namespace parlance {
namespace {

enum class Kind : std::uint8_t { kOther, kLetter, kDigit, kMark };

Kind kind_of(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return Kind::kLetter;
  if (c >= '0' && c <= '9') return Kind::kDigit;
  return c == ' ' || c == '\n' ? Kind::kOther : Kind::kMark;
}

// The end of the piece of `text` that begins at `at`: a space and a run of
// characters of one kind, at most three digits or twelve others.
std::size_t piece_end(std::string_view text, std::size_t at) {
  std::size_t end = at;
  if (text[end] == ' ' && end + 1 < text.size()) ++end;
  const Kind kind = kind_of(text[end]);
  const std::size_t most = kind == Kind::kDigit ? 3 : 12;
  const std::size_t first = end++;
  while (end < text.size() && end - first < most &&
         kind_of(text[end]) == kind) {
    ++end;
  }
  return end;
}

// The response of a family and its tokens.
struct Response {
  Vocabulary vocabulary;
  std::vector<TokenId> ids;
};

// Splits `text` into markers, the longest first, and pieces between them, and
// makes a vocabulary of them.
Response tokenize(std::string_view text, const testing::FamilyMarkers& family) {
  std::map<std::string, TokenKind, std::less<>> markers;
  for (const std::string& m : family.added) markers[m] = TokenKind::kAdded;
  for (const std::string& m : family.control) markers[m] = TokenKind::kControl;
  const auto marker_at = [&](std::size_t at) {
    std::size_t size = 0;
    for (const auto& [marker, kind] : markers) {
      if (marker.size() > size && text.substr(at).starts_with(marker)) {
        size = marker.size();
      }
    }
    return size;
  };
  std::map<std::string, TokenId, std::less<>> known;
  std::vector<TokenEntry> entries;
  std::vector<TokenId> ids;
  const auto add = [&](std::string_view piece, TokenKind kind) {
    const auto [found, is_new] = known.emplace(piece, entries.size());
    if (is_new) {
      entries.push_back(
          {.id = found->second, .bytes = std::string(piece), .kind = kind});
    }
    return found->second;
  };
  for (const auto& [marker, kind] : markers) add(marker, kind);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t size = marker_at(at);
    if (size == 0) {
      std::size_t end = piece_end(text, at);
      for (std::size_t i = at + 1; i < end; ++i) {
        if (marker_at(i) > 0) end = i;
      }
      size = end - at;
    }
    ids.push_back(add(text.substr(at, size), TokenKind::kOrdinary));
    at += size;
  }
  const TokenId stop = add("<stop>", TokenKind::kControl);
  const std::vector<TokenId> stops = {stop};
  return {*Vocabulary::from_table(entries, stops), std::move(ids)};
}

// A family with everything that its runs share.
struct Family {
  std::string name;
  Format format;
  ToolSet tools;
  Response response;
  std::size_t calls = 0;
};

Family load(std::string_view name) {
  Format format = *Format::built_in(name);
  ToolSet tools = *ToolSet::from_json(kFamilyTools);
  const FamilyText text = family_text(format, tools);
  const auto markers =
      testing::family_markers().find(testing::markers_like(name));
  return {std::string(name), std::move(format), std::move(tools),
          tokenize(text.text, markers->second), text.calls};
}

// Adds the counter, or the reason why the response was not read.
void report(benchmark::State& state, std::size_t tokens,
            const std::string& problem) {
  if (!problem.empty()) state.SkipWithError(problem.c_str());
  state.counters["per_token"] =
      benchmark::Counter(static_cast<double>(tokens),
                         benchmark::Counter::kIsIterationInvariantRate |
                             benchmark::Counter::kInvert);
}

// Feeds the tokens one by one.  Returns why the message is not the one that was
// written; "" if it is.
template <class Parser>
std::string read(Parser parser, const Family& family) {
  for (const TokenId& id : family.response.ids) {
    benchmark::DoNotOptimize(parser.feed_tokens({&id, 1}).size());
  }
  benchmark::DoNotOptimize(parser.finalize().size());
  const Message& message = parser.message();
  if (!message.diagnostics.empty()) return message.diagnostics[0].message;
  const json::Value* calls = message.fields.find("tool_calls");
  const std::size_t found = calls == nullptr ? 0 : calls->items().size();
  return found == family.calls ? "" : "the calls are not read";
}

void by_format(benchmark::State& state, const Family& family, bool calls) {
  const Response& response = family.response;
  std::string problem;
  for (auto _ : state) {
    problem =
        read(ResponseParser(family.format, {.tools = &family.tools,
                                            .vocabulary = &response.vocabulary,
                                            .stream_calls = calls}),
             family);
  }
  report(state, response.ids.size(), problem);
}

void by_tag(benchmark::State& state, const Family& family) {
  const Response& response = family.response;
  StructuralTagOptions options;
  options.tools = *json::parse(kFamilyTools);
  const Result<StructuralTag> tag = family.format.structural_tag(options);
  if (!tag) {
    state.SkipWithError(tag.error().to_string().c_str());
    return;
  }
  const Result<CompiledTag> compiled =
      CompiledTag::compile(*tag, {.vocabulary = &response.vocabulary});
  if (!compiled) {
    state.SkipWithError(compiled.error().to_string().c_str());
    return;
  }
  std::string problem;
  for (auto _ : state) {
    problem = read(TagParser(*compiled, {.vocabulary = &response.vocabulary}),
                   family);
  }
  report(state, response.ids.size(), problem);
}

// Prints the usual table, and after it the mean and the worst family of each
// group.  Of several repetitions of a family the fastest counts.
class Summary : public benchmark::ConsoleReporter {
 public:
  Summary() : ConsoleReporter(OO_Tabular) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      const auto counter = run.counters.find("per_token");
      if (run.error_occurred || counter == run.counters.end() ||
          run.run_type == Run::RT_Aggregate) {
        continue;
      }
      const std::string& name = run.run_name.function_name;
      const std::size_t slash = name.find('/');
      const double ns = counter->second.value * 1e9;
      const auto [fastest, is_new] =
          groups_[name.substr(0, slash)].emplace(name.substr(slash + 1), ns);
      if (!is_new) fastest->second = std::min(fastest->second, ns);
    }
  }

  void Finalize() override {
    ConsoleReporter::Finalize();
    for (const auto& [group, families] : groups_) {
      double sum = 0;
      for (const auto& [name, ns] : families) sum += ns;
      const auto& [name, worst] = *std::ranges::max_element(
          families, {}, [](const auto& family) { return family.second; });
      GetOutputStream() << group << ": " << families.size()
                        << " families, mean "
                        << sum / static_cast<double>(families.size())
                        << " ns a token, worst " << worst << " (" << name
                        << ")\n";
    }
  }

 private:
  // By group and family, nanoseconds a token.
  std::map<std::string, std::map<std::string, double>> groups_;
};

void register_families() {
  for (const std::string_view name : Format::built_in_names()) {
    const auto family = std::make_shared<const Family>(load(name));
    const std::string end = "/" + std::string(name);
    benchmark::RegisterBenchmark(("parser" + end).c_str(),
                                 [family](benchmark::State& state) {
                                   by_format(state, *family, false);
                                 });
    benchmark::RegisterBenchmark(
        ("calls" + end).c_str(),
        [family](benchmark::State& state) { by_format(state, *family, true); });
    benchmark::RegisterBenchmark(
        ("tag" + end).c_str(),
        [family](benchmark::State& state) { by_tag(state, *family); });
  }
}

}  // namespace
}  // namespace parlance

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  parlance::register_families();
  parlance::Summary summary;
  benchmark::RunSpecifiedBenchmarks(&summary);
  return 0;
}
