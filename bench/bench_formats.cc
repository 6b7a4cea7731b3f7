// What a family file costs before the first token.
//
//   load     one built-in format, and all of them with their variants
//   first    from a request with tools that are new to the mask of the first
//            token: structural tag, grammar, matcher, mask
//   known    the same for a request that came before, with the same compiler
//
// `first` and `known` run over all built-in formats that write calls, with 1,
// 16 and 128 functions of MaskBench, or made-up ones if its folder
// (PARLANCE_MASKBENCH_FOLDER) is absent.  PARLANCE_VOCABULARY names a file with
// a vocabulary; by default one of 128,000 pieces is made up.  Times are of the
// thread's CPU; a line shows the mean over the families and, as counters in
// milliseconds, the best time of the worst family, whose name is the label.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench_clock.h"
#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "parlance/vocabulary.h"
#include "tool_texts.h"
#include "vocab_text.h"

namespace parlance {
namespace {

// ---- Loading

void BM_LoadOne(benchmark::State& state) {
  std::map<std::string_view, double> best;
  double total = 0;
  std::size_t loads = 0;
  for (auto _ : state) {
    for (const std::string_view name : Format::built_in_names()) {
      const std::string source(Format::built_in_source(name));
      const double begin = bench::thread_ms();
      benchmark::DoNotOptimize(Format::from_json(source));
      const double time = bench::thread_ms() - begin;
      total += time;
      ++loads;
      const auto [at, is_new] = best.emplace(name, time);
      if (!is_new) at->second = std::min(at->second, time);
    }
  }
  const auto worst = std::max_element(
      best.begin(), best.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  state.counters["mean_ms"] = total / static_cast<double>(loads);
  state.counters["worst_ms"] = worst->second;
  state.SetLabel(std::string(worst->first));
}
BENCHMARK(BM_LoadOne)->Unit(benchmark::kMillisecond);

void BM_LoadAll(benchmark::State& state) {
  for (auto _ : state) {
    for (const std::string_view name : Format::built_in_names()) {
      benchmark::DoNotOptimize(Format::built_in(name));
    }
  }
}
BENCHMARK(BM_LoadAll)->Unit(benchmark::kMillisecond);

// ---- Requests

Vocabulary read_vocabulary() {
  if (const char* path = std::getenv("PARLANCE_VOCABULARY")) {
    if (const Result<Vocabulary> read = bench::read_vocabulary(path)) {
      return *read;
    }
  }
  std::vector<TokenEntry> entries;
  const auto add = [&](std::string bytes, TokenKind kind) {
    entries.push_back({.id = static_cast<TokenId>(entries.size()),
                       .bytes = std::move(bytes),
                       .kind = kind});
  };
  for (int byte = 0; byte < 256; ++byte) {
    add(std::string(1, static_cast<char>(byte)), TokenKind::kOrdinary);
  }
  constexpr std::string_view kLetters =
      "eeeettttaaaooiinnsshhrrddllccuummffppggwwyybbvkxjqz_\"{}:,.0123 ";
  std::mt19937 random(3);
  while (entries.size() < 128'000) {
    std::string piece = random() % 2 == 0 ? " " : "";
    const std::size_t size = 2 + random() % 8;
    while (piece.size() < size) piece += kLetters[random() % kLetters.size()];
    add(std::move(piece), TokenKind::kOrdinary);
  }
  add("<eos>", TokenKind::kControl);
  const std::vector<TokenId> stops = {static_cast<TokenId>(entries.size() - 1)};
  return *Vocabulary::from_table(entries, std::span<const TokenId>(stops));
}

// Functions of MaskBench, or made-up ones.
json::Value read_tools(std::size_t count) {
  const char* named = std::getenv("PARLANCE_MASKBENCH_FOLDER");
  std::string error;
  json::Array out;
  std::vector<bench::Tool> tools = bench::read_tools(
      named != nullptr ? named : PARLANCE_MASKBENCH_FOLDER, count, &error);
  const auto add = [&](const std::string& name, json::Value schema) {
    out.emplace_back(json::Object{
        {"type", "function"},
        {"function",
         json::Object{{"name", name}, {"parameters", std::move(schema)}}}});
  };
  for (const bench::Tool& tool : tools) {
    if (out.size() < count) {
      add("f" + std::to_string(out.size()) + "_" + tool.name, tool.schema);
    }
  }
  while (out.size() < count) {
    add("made_up_" + std::to_string(out.size()), *json::parse(R"({
      "type": "object", "required": ["city"], "properties": {
        "city": {"type": "string", "description": "Where."},
        "days": {"type": "integer", "minimum": 1},
        "units": {"type": "string", "enum": ["metric", "imperial"]},
        "fields": {"type": "array", "items": {"type": "string"}}}})"));
  }
  return out;
}

// Times of all families for one number of tools.
class Requests {
 public:
  Requests(const Vocabulary& words, std::size_t tools)
      : compiler_(*Compiler::create(words)), row_(compiler_.mask_words()) {
    options_.tools = read_tools(tools);
    other_.tools = *json::parse(
        R"([{"type": "function", "function": {"name": "other"}}])");
    for (const std::string_view name : Format::built_in_names()) {
      const Format format = *Format::built_in(name);
      if (first_mask(format)) names_.push_back(name);
    }
  }

  // From the request to the first mask.
  bool first_mask(const Format& format) { return first_mask(format, options_); }
  bool first_mask(const Format& format, const StructuralTagOptions& options) {
    const Result<StructuralTag> tag = format.structural_tag(options);
    if (!tag) return false;
    const Result<Constraint> constraint =
        compiler_.compile_structural_tag(*tag);
    if (!constraint) return false;
    Matcher matcher = constraint->matcher();
    return matcher.fill_bitmask(row_) == MaskFill::kConstrains;
  }

  void run(benchmark::State& state, bool known) {
    std::map<std::string_view, double> best;
    for (auto _ : state) {
      double total = 0;
      for (const std::string_view name : names_) {
        // A format that has served another request, of another tool.
        const Format format = *Format::built_in(name);
        first_mask(format, other_);
        compiler_.clear_cache();
        if (known) first_mask(format);
        const double begin = bench::thread_ms();
        benchmark::DoNotOptimize(first_mask(format));
        const double time = bench::thread_ms() - begin;
        total += time;
        const auto [at, is_new] = best.emplace(name, time);
        if (!is_new) at->second = std::min(at->second, time);
      }
      state.SetIterationTime(total / 1e3 / static_cast<double>(names_.size()));
    }
    const auto worst = std::max_element(
        best.begin(), best.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; });
    state.counters["worst_ms"] = worst->second;
    state.counters["families"] = static_cast<double>(names_.size());
    state.SetLabel("worst: " + std::string(worst->first));
    if (std::getenv("PARLANCE_ALL_FAMILIES") != nullptr) {
      for (const auto& [name, time] : best) {
        std::printf("  %-24s %.3f ms\n", std::string(name).c_str(), time);
      }
    }
  }

 private:
  StructuralTagOptions options_;
  StructuralTagOptions other_;
  Compiler compiler_;
  std::vector<std::int32_t> row_;
  std::vector<std::string_view> names_;
};

Requests& requests(std::size_t tools) {
  static const Vocabulary words = read_vocabulary();
  static std::map<std::size_t, Requests> made;
  return made.try_emplace(tools, words, tools).first->second;
}

void BM_FirstMask(benchmark::State& state) {
  requests(static_cast<std::size_t>(state.range(0))).run(state, false);
}
void BM_KnownTools(benchmark::State& state) {
  requests(static_cast<std::size_t>(state.range(0))).run(state, true);
}
BENCHMARK(BM_FirstMask)
    ->Arg(1)
    ->Arg(16)
    ->Arg(128)
    ->Iterations(5)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_KnownTools)
    ->Arg(1)
    ->Arg(16)
    ->Arg(128)
    ->Iterations(5)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace parlance
