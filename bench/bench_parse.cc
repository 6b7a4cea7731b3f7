// The cost of parsing in C++.
//
//   one-shot      a 1 MB response of reasoning and content with literal
//                 delimiters (bytes per second); a typical 2 KB response with
//                 two tool calls (time)
//   streaming     the recorded outputs of docs/demo in chunks of four bytes,
//                 about one token each (time per chunk)
//   calls         256 KB of arguments in one-byte chunks, in five notations,
//                 without and with the events of calls (time per byte)
//   linear        cost per byte of 8 MB against 64 KB for adversarial families
//
// Run: scripts/bench, or bench_parse --benchmark_filter=...

#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"

namespace {

using parlance::Format;
using parlance::Message;
using parlance::ResponseParser;
using parlance::StreamOptions;

Format built_in(std::string_view name) {
  auto format = Format::built_in(name);
  return *format;
}

std::string repeat(std::string_view text, std::size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += text;
  out.resize(bytes);
  return out;
}

constexpr std::string_view kProse =
    "The user wants the weather in three cities, so I compare a < b first, "
    "then call the tool once per city and put the answers together.\n";

// Reasoning, then two calls, then a closing sentence: 2 KB as Qwen3 writes it.
std::string typical_response() {
  return "<think>\n" + repeat(kProse, 1400) +
         "\n</think>\n\nI will look both up.\n"
         "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": "
         "{\"city\": \"Bern\", \"days\": 3, \"units\": \"metric\"}}\n"
         "</tool_call>\n"
         "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": "
         "{\"city\": \"Ulaanbaatar\", \"days\": 7, \"units\": \"metric\", "
         "\"fields\": [\"temperature\", \"wind\", \"rain\"]}}\n"
         "</tool_call>\n" +
         repeat("Both are on their way. ", 240) + "<|im_end|>";
}

void one_shot(benchmark::State& state, const Format& format,
              const std::string& text) {
  for (auto _ : state) {
    Message message = parlance::parse_response(format, text);
    benchmark::DoNotOptimize(message);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(text.size()));
}

void OneShotText1MB(benchmark::State& state) {
  one_shot(state, built_in("qwen3"),
           "<think>\n" + repeat(kProse, 500000) + "\n</think>\n\n" +
               repeat(kProse, 500000) + "<|im_end|>");
}
BENCHMARK(OneShotText1MB);

void OneShotTypical2KB(benchmark::State& state) {
  one_shot(state, built_in("qwen3"), typical_response());
}
BENCHMARK(OneShotTypical2KB);

struct Recording {
  std::string name;
  std::string format;
  std::string prefix;
  std::string text;
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == 'n') {
      out += '\n';
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

// docs/demo/recordings.tsv: name, format, prefix, title.
std::vector<Recording> recordings() {
  std::vector<Recording> out;
  std::filesystem::path folder = PARLANCE_RECORDINGS;
  std::ifstream in(folder / "recordings.tsv");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> cells;
    for (std::size_t at = 0; at <= line.size();) {
      std::size_t end = std::min(line.find('\t', at), line.size());
      cells.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    if (cells.size() < 3) continue;
    out.push_back({cells[0], cells[1], unescape(cells[2]),
                   read_file(folder / (cells[0] + ".txt"))});
  }
  return out;
}

void StreamRecordings4Bytes(benchmark::State& state) {
  std::vector<Recording> all = recordings();
  std::vector<Format> formats;
  for (const Recording& r : all) formats.push_back(built_in(r.format));
  std::int64_t chunks = 0;
  std::int64_t bytes = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      StreamOptions options;
      options.prefix = all[i].prefix;
      ResponseParser parser(formats[i], options);
      std::string_view text = all[i].text;
      for (std::size_t at = 0; at < text.size(); at += 4) {
        auto events = parser.feed(text.substr(at, 4));
        benchmark::DoNotOptimize(events);
        ++chunks;
      }
      benchmark::DoNotOptimize(parser.finalize());
      bytes += static_cast<std::int64_t>(text.size());
    }
  }
  state.SetBytesProcessed(bytes);
  state.counters["ns_per_chunk"] = benchmark::Counter(
      static_cast<double>(chunks) / 1e9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(StreamRecordings4Bytes);

// One long typical text in chunks of four bytes: the cost of a chunk alone.
void StreamProse4Bytes(benchmark::State& state) {
  Format format = built_in("qwen3");
  std::string text = "<think>\n" + repeat(kProse, 100000);
  std::int64_t chunks = 0;
  for (auto _ : state) {
    ResponseParser parser(format);
    std::string_view rest = text;
    for (std::size_t at = 0; at < rest.size(); at += 4) {
      benchmark::DoNotOptimize(parser.feed(rest.substr(at, 4)));
      ++chunks;
    }
  }
  state.counters["ns_per_chunk"] = benchmark::Counter(
      static_cast<double>(chunks) / 1e9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(StreamProse4Bytes);

// How a family writes a call of write(content).
struct CallShape {
  const char* name;
  const char* format;
  const char* open;
  const char* close;
  bool json = false;  // the text is written as in JSON
};

constexpr CallShape kCallShapes[] = {
    {"JSON", "qwen3",
     "<tool_call>\n{\"name\": \"write\", \"arguments\": {\"content\": \"",
     "\"}}\n</tool_call>", true},
    {"elements", "qwen3_coder",
     "<tool_call>\n<function=write>\n<parameter=content>\n",
     "\n</parameter>\n</function>\n</tool_call>"},
    {"key and value", "glm4_5",
     "<tool_call>write\n<arg_key>content</arg_key>\n<arg_value>",
     "</arg_value>\n</tool_call>"},
    {"members", "gemma4", "<|tool_call>call:write{content:<|\"|>",
     "<|\"|>}<tool_call|>"},
    {"Python", "lfm2", "<|tool_call_start|>[write(content=\"",
     "\")]<|tool_call_end|>", true},
};

// 256 KB of arguments in chunks of one byte.  The second argument: whether the
// events of calls are wanted.
void StreamCalls1Byte(benchmark::State& state) {
  const CallShape& shape = kCallShapes[state.range(0)];
  const Format format = built_in(shape.format);
  std::string body = repeat(kProse, 256 * 1024);
  if (shape.json) {
    body = parlance::json::dump(parlance::json::Value(body));
    body = body.substr(1, body.size() - 2);
  }
  const std::string text = shape.open + body + shape.close;
  std::int64_t bytes = 0;
  for (auto _ : state) {
    ResponseParser parser(format, {.stream_calls = state.range(1) == 1});
    for (const char& c : text) {
      benchmark::DoNotOptimize(parser.feed({&c, 1}));
    }
    benchmark::DoNotOptimize(parser.finalize());
    if (parser.message().fields.find("tool_calls") == nullptr) {
      state.SkipWithError("the call is not read");
    }
    bytes += static_cast<std::int64_t>(text.size());
  }
  state.SetLabel(shape.name);
  state.counters["ns_per_byte"] = benchmark::Counter(
      static_cast<double>(bytes) / 1e9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(StreamCalls1Byte)
    ->ArgNames({"shape", "events"})
    ->ArgsProduct({{0, 1, 2, 3, 4}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

// ---------------------------------------------------------------------------
// Adversarial families, 64 KB and 8 MB each, fed in chunks of 64 bytes.

struct Family {
  const char* name;
  const char* format;
  std::string (*text)(std::size_t bytes);
};

const Family kFamilies[] = {
    {"prose", "qwen3",
     [](std::size_t n) { return "<think>" + repeat(kProse, n); }},
    {"lookalikes of a closer", "qwen3",
     [](std::size_t n) { return "<think>" + repeat("</think </thin", n); }},
    {"lookalikes of an opener", "qwen3",
     [](std::size_t n) { return repeat("<tool_cal<think<<tool_call ", n); }},
    {"a header that never ends", "gpt_oss",
     [](std::size_t n) {
       return "<|channel|>commentary to=functions." + repeat("name_", n);
     }},
    {"headers that never match", "gpt_oss",
     [](std::size_t n) { return repeat("<|channel|>analysis to=x ", n); }},
    {"deep JSON", "qwen3",
     [](std::size_t n) { return "<tool_call>" + repeat("[", n); }},
    {"thousands of calls", "qwen3",
     [](std::size_t n) {
       return repeat(
           "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": "
           "1}}</tool_call>",
           n);
     }},
    {"white space before a closer", "cohere_command",
     [](std::size_t n) { return "<|START_THINKING|>" + repeat(" \n\t", n); }},
    {"tags that do not close", "qwen3_coder",
     [](std::size_t n) {
       return "<tool_call><function=f>" + repeat("<parameter=a>1 ", n) +
              "</function></tool_call>";
     }},
    {"a repeated group (PCRE2)", "minicpm5",
     [](std::size_t n) {
       return "<function name=\"f\">" +
              repeat("<param name=\"a\"><![CDATA[1]]></param>", n);
     }},
};

void Adversarial(benchmark::State& state) {
  const Family& family = kFamilies[state.range(0)];
  Format format = built_in(family.format);
  std::string text = family.text(static_cast<std::size_t>(state.range(1)));
  for (auto _ : state) {
    StreamOptions options;
    options.keep_message = false;
    ResponseParser parser(format, options);
    std::string_view rest = text;
    for (std::size_t at = 0; at < rest.size(); at += 64) {
      benchmark::DoNotOptimize(parser.feed(rest.substr(at, 64)));
    }
    benchmark::DoNotOptimize(parser.finalize());
  }
  state.SetLabel(family.name);
  state.counters["ns_per_byte"] = benchmark::Counter(
      static_cast<double>(text.size()) *
          static_cast<double>(state.iterations()) / 1e9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void families(benchmark::internal::Benchmark* b) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(std::size(kFamilies));
       ++i) {
    b->Args({i, 64 << 10});
    b->Args({i, 8 << 20});
  }
}
BENCHMARK(Adversarial)->Apply(families)->Unit(benchmark::kMillisecond);

}  // namespace
