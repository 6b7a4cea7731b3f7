// Columns of stored responses: bytes per second of parse_arrow(), on one thread
// and on two; `per_response` is the time of one of them.  `parse` is the same
// by parse_response(), one call after the other.  `peak_per_byte` is the memory
// that a call needs at its peak beyond the column, result included, for each
// byte of the column (Linux; malloc keeps no memory between the calls).
//
//   reasoning   2 KB: a thought, an answer, and a call in every fourth
//   calls       0.6 KB: two calls, as JSON or as elements
//   plain       2 KB of content
//
// The texts are made up: words of a fixed list, drawn by seed.

#include <benchmark/benchmark.h>
#include <malloc.h>

#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/arrow.h"
#include "parlance/response_parser.h"

namespace parlance {
namespace {

constexpr std::size_t kRows = 4096;

std::string words(std::mt19937& random, std::size_t bytes) {
  constexpr std::string_view kWords[] = {
      "the",  "weather", "in",       "Bern",  "is",  "sunny,", "so",    "a",
      "walk", "along",   "the Aare", "would", "be",  "nice.",  "First", "I",
      "need", "to",      "check",    "how",   "far", "it",     "is.",   "\n\n"};
  std::string text;
  while (text.size() < bytes) {
    text += kWords[random() % std::size(kWords)];
    text += ' ';
  }
  return text;
}

std::string json_call(std::mt19937& random) {
  return "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": "
         "\"Bern\", \"days\": " +
         std::to_string(random() % 10) + ", \"note\": \"" +
         words(random, 120).substr(0, 100) + "\"}}\n</tool_call>\n";
}

std::string element_call(std::mt19937& random) {
  return "<tool_call>\n<function=get_weather>\n<parameter=city>\nBern\n"
         "</parameter>\n<parameter=note>\n" +
         words(random, 120) + "\n</parameter>\n</function>\n</tool_call>\n";
}

// A column of large_string.
struct Texts {
  std::string bytes;
  std::vector<std::int64_t> ends = {0};
  ArrowSchema schema = {};
  ArrowArray array = {};
  const void* buffers[3] = {};

  void add(std::string_view text) {
    bytes += text;
    ends.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  ArrowColumn view() {
    buffers[1] = ends.data();
    buffers[2] = bytes.data();
    schema.format = "U";
    array.length = static_cast<std::int64_t>(ends.size() - 1);
    array.n_buffers = 3;
    array.buffers = buffers;
    return {&schema, &array};
  }
};

enum class Kind : std::uint8_t { kReasoning, kCalls, kElements, kPlain };

Texts texts_of(Kind kind) {
  std::mt19937 random(1);
  Texts texts;
  for (std::size_t i = 0; i < kRows; ++i) {
    std::string text;
    switch (kind) {
      case Kind::kReasoning:
        text = "<think>\n" + words(random, 1200) + "\n</think>\n\n" +
               words(random, 700);
        if (i % 4 == 0) text += json_call(random);
        break;
      case Kind::kCalls:
        text = words(random, 100) + json_call(random) + json_call(random);
        break;
      case Kind::kElements:
        text = words(random, 100) + element_call(random) + element_call(random);
        break;
      case Kind::kPlain:
        text = words(random, 2000);
        break;
    }
    texts.add(text);
  }
  return texts;
}

const char* format_of(Kind kind) {
  return kind == Kind::kElements ? "qwen3_coder" : "qwen3";
}

void count(benchmark::State& state, const Texts& texts) {
  const auto times = static_cast<double>(state.iterations());
  state.SetBytesProcessed(static_cast<std::int64_t>(
      times * static_cast<double>(texts.bytes.size())));
  state.counters["per_response"] = benchmark::Counter(
      times * kRows, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// A line of /proc/self/status, in bytes; 0 where there is none.
double status_of(std::string_view name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) {
      return std::stod(line.substr(name.size() + 1)) * 1024;
    }
  }
  return 0;
}

// Bytes of memory at the peak of `call` beyond those before it.
template <typename Call>
double peak_of(const Call& call) {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";  // VmHWM becomes VmRSS
  const double before = status_of("VmRSS");
  call();
  return status_of("VmHWM") - before;
}

void arrow(benchmark::State& state, Kind kind) {
  Texts texts = texts_of(kind);
  const Format format = *Format::built_in(format_of(kind));
  ArrowParseOptions options;
  options.format = &format;
  options.threads = static_cast<unsigned>(state.range(0));
  state.counters["peak_per_byte"] =
      peak_of([&] {
        ArrowArray out = {};
        if (parse_arrow(texts.view(), options, &out)) out.release(&out);
      }) /
      static_cast<double>(texts.bytes.size());
  for (auto _ : state) {
    ArrowArray out = {};
    const auto rows = parse_arrow(texts.view(), options, &out);
    if (!rows) return state.SkipWithError("not parsed");
    out.release(&out);
  }
  count(state, texts);
}

void parse(benchmark::State& state, Kind kind) {
  const Texts texts = texts_of(kind);
  const Format format = *Format::built_in(format_of(kind));
  for (auto _ : state) {
    for (std::size_t i = 0; i < kRows; ++i) {
      const auto begin = static_cast<std::size_t>(texts.ends[i]);
      const auto end = static_cast<std::size_t>(texts.ends[i + 1]);
      benchmark::DoNotOptimize(parse_response(
          format, std::string_view(texts.bytes).substr(begin, end - begin)));
    }
  }
  count(state, texts);
}

BENCHMARK_CAPTURE(arrow, reasoning, Kind::kReasoning)
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime();
BENCHMARK_CAPTURE(arrow, calls, Kind::kCalls)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK_CAPTURE(arrow, elements, Kind::kElements)
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime();
BENCHMARK_CAPTURE(arrow, plain, Kind::kPlain)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK_CAPTURE(parse, reasoning, Kind::kReasoning);
BENCHMARK_CAPTURE(parse, calls, Kind::kCalls);
BENCHMARK_CAPTURE(parse, elements, Kind::kElements);
BENCHMARK_CAPTURE(parse, plain, Kind::kPlain);

}  // namespace
}  // namespace parlance
