// What a step of a server costs per row, when each of 1,000 requests writes a
// token.
//
// The rows are of four kinds: calls of tools by the tag of a format, a JSON
// Schema, a regular expression, and free text without a constraint.  Each row
// replays a response that was drawn under its masks before; every step is
// warm, since the rows of a kind share their masks.  Counters, in microseconds
// of wall time per row and step:
//
//   masks    tokens are accepted, masks are filled
//   numbers  as masks, by their numbers in a table
//   parse    tokens are read by the parsers, too: all of a step
//
// Run: scripts/bench, or bench_batch --benchmark_filter=threads:2

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/batch.h"
#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "vocab_text.h"

namespace parlance {
namespace {

constexpr std::size_t kRows = 1000;
constexpr std::size_t kTokens = 200;

constexpr std::string_view kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "required": ["city", "days"],
    "additionalProperties": false, "properties": {
      "city": {"type": "string"}, "days": {"type": "integer"},
      "units": {"enum": ["celsius", "fahrenheit"]}}}}}])";
constexpr std::string_view kSchema = R"({"type": "object",
  "required": ["name", "tags", "size"], "additionalProperties": false,
  "properties": {"name": {"type": "string"}, "size": {"type": "number"},
    "tags": {"type": "array", "items": {"type": "string"}, "minItems": 8}}})";

// PARLANCE_VOCABULARY names a file; else 128,000 made-up tokens: all bytes, and
// words of two to eight letters.
Vocabulary load_vocabulary() {
  if (const char* path = std::getenv("PARLANCE_VOCABULARY")) {
    if (Result<Vocabulary> read = bench::read_vocabulary(path)) return *read;
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
  std::mt19937 random(1);
  std::vector<std::string> words;
  for (int i = 0; i < 200000; ++i) {
    std::string word = random() % 2 == 0 ? " " : "";
    for (std::size_t n = 2 + random() % 7; n > 0; --n) {
      word += static_cast<char>('a' + random() % 26);
    }
    words.push_back(std::move(word));
  }
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::ranges::shuffle(words, random);
  words.resize(std::min<std::size_t>(words.size(), 127700));
  for (std::string& word : words) add(std::move(word), TokenKind::kOrdinary);
  for (const char* mark :
       {"<think>", "</think>", "<tool_call>", "</tool_call>"}) {
    add(mark, TokenKind::kAdded);
  }
  add("<|im_end|>", TokenKind::kControl);
  return *Vocabulary::from_table(
      entries,
      std::array<TokenId, 1>{static_cast<TokenId>(entries.size() - 1)});
}

struct Server {
  Vocabulary vocabulary = load_vocabulary();
  Compiler compiler = *Compiler::create(vocabulary);
  Format format = *Format::built_in("qwen3");
  std::vector<Constraint> constraints;
  // By kind: responses, drawn under the masks; and free text.
  std::vector<std::vector<std::vector<TokenId>>> responses;

  Server() {
    StructuralTagOptions options;
    options.tools = *json::parse(kTools);
    options.tool_choice = "required";
    constraints.push_back(
        *compiler.compile_structural_tag(*format.structural_tag(options)));
    constraints.push_back(*compiler.compile_json_schema(kSchema));
    constraints.push_back(
        *compiler.compile_regex("([a-z]{2,8}(, [a-z]{2,8}){3,5}\\. )+"));
    std::mt19937 random(2);
    for (const Constraint& constraint : constraints) {
      responses.emplace_back();
      for (int i = 0; i < 8; ++i) {
        responses.back().push_back(draw(constraint, random));
      }
    }
    responses.emplace_back(1, responses[2][0]);
  }

  // Tokens that the masks allow, restarted at the end.
  std::vector<TokenId> draw(const Constraint& constraint,
                            std::mt19937& random) const {
    std::vector<TokenId> out;
    Matcher matcher = constraint.matcher();
    std::vector<std::int32_t> mask(constraint.mask_words());
    while (out.size() < kTokens) {
      matcher.fill_bitmask(mask);
      std::vector<TokenId> allowed;
      for (TokenId id = 0; id < vocabulary.size(); ++id) {
        const auto word = static_cast<std::uint32_t>(mask[id / 32]);
        if ((word >> (id % 32) & 1) != 0) allowed.push_back(id);
      }
      const TokenId id = allowed[random() % allowed.size()];
      matcher.accept_token(id);
      out.push_back(id);
      if (matcher.is_terminated()) break;
    }
    return out;
  }
};

const Server& server() {
  static const Server* one = new Server();
  return *one;
}

struct Request {
  std::optional<Matcher> matcher;
  std::unique_ptr<ResponseParser> parser;
  const std::vector<TokenId>* response = nullptr;
  std::size_t at = 0;
};

void step(benchmark::State& state, bool parse, bool numbers = false) {
  const Server& host = server();
  const auto threads = static_cast<unsigned>(state.range(0));
  Batch batch({.threads = threads});
  std::vector<Request> requests(kRows);
  std::vector<BatchInput> inputs(kRows);
  std::vector<BatchOutput> outputs(kRows);
  const std::size_t words = host.compiler.mask_words();
  std::vector<std::int32_t> masks(kRows * words);
  std::optional<MaskTable> table;
  if (numbers) table.emplace(host.compiler);
  const auto begin = [&](std::size_t i) {
    Request& request = requests[i];
    const std::size_t kind = i % 4;
    if (kind < 3) request.matcher = host.constraints[kind].matcher();
    if (parse && kind != 1 && kind != 2) {
      request.parser = std::make_unique<ResponseParser>(
          host.format, StreamOptions{.vocabulary = &host.vocabulary,
                                     .keep_message = false,
                                     .stream_calls = true});
    }
    const auto& responses = host.responses[kind];
    request.response = &responses[i / 4 % responses.size()];
    request.at = 0;
    inputs[i].row =
        batch.add({.matcher = request.matcher ? &*request.matcher : nullptr,
                   .parser = request.parser.get()});
    inputs[i].mask_row = request.matcher ? i : BatchInput::kNoMask;
  };
  for (std::size_t i = 0; i < kRows; ++i) {
    begin(i);
    // Not all at the same place.
    requests[i].at = 0;
  }
  std::chrono::duration<double> time{};
  std::size_t rows = 0;
  std::size_t steps = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < kRows; ++i) {
      Request& request = requests[i];
      if (request.at == request.response->size()) {
        batch.remove(inputs[i].row);
        begin(i);
      }
      inputs[i].tokens = std::span(*request.response).subspan(request.at++, 1);
    }
    const auto began = std::chrono::steady_clock::now();
    if (batch.step(inputs, masks, words, outputs, table ? &*table : nullptr)) {
      state.SkipWithError("a step that is refused");
      return;
    }
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - began;
    // The first round computes masks.
    if (++steps > 2 * kTokens) {
      time += took;
      rows += kRows;
    }
  }
  state.counters["us_per_row"] =
      time.count() * 1e6 / static_cast<double>(std::max<std::size_t>(rows, 1));
}

void masks(benchmark::State& state) { step(state, false); }
void parse(benchmark::State& state) { step(state, true); }
void numbers(benchmark::State& state) { step(state, false, true); }

BENCHMARK(masks)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->Iterations(1200)
    ->UseRealTime();
BENCHMARK(numbers)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->Iterations(1200)
    ->UseRealTime();
BENCHMARK(parse)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->Iterations(1200)
    ->UseRealTime();

}  // namespace
}  // namespace parlance
