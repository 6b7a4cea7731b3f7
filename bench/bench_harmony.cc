// Reading Harmony from token ids; `per_token` is the time of one token:
//
//   content   one long message, fed in batches of /1 or /64 tokens
//   chinese   the same with characters that are cut by the ends of tokens
//   calls     short tool calls, about half of whose tokens are header
//   headers   messages without content, so that every token is header
//   endless   text without any header, between messages
//
// The vocabulary is made up: as many tokens as o200k_harmony, of the same mean
// length.  Ids are drawn with the frequencies of a text.

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/harmony.h"
#include "parlance/vocabulary.h"

namespace parlance {
namespace {

constexpr TokenId kOrdinary = 200000;

// The ids of the made-up vocabulary; words of headers are at its end.
struct Tokens {
  Vocabulary vocabulary;
  TokenId words = 0;

  TokenId mark(std::string_view spelling) const {
    return vocabulary.special(spelling).value();
  }
};

constexpr const char* kWords[] = {
    "assistant", "commentary", " to=", "functions", ".get",
    "_weather",  " ",          "json", "analysis"};

const Tokens& tokens() {
  static const Tokens made = [] {
    std::mt19937 random(1);
    std::vector<TokenEntry> entries;
    const auto add = [&](std::string bytes, TokenKind kind) {
      entries.push_back({.id = static_cast<TokenId>(entries.size()),
                         .bytes = std::move(bytes),
                         .kind = kind});
    };
    for (TokenId id = 0; id < kOrdinary; ++id) {
      std::string bytes;
      if (id % 2 != 0) bytes += ' ';
      // Every fourth token of the second half has Chinese, cut anywhere.
      if (id >= kOrdinary / 2 && id % 4 == 0) {
        for (std::size_t n = 1 + random() % 3; n > 0; --n) {
          bytes += "\xE4";
          bytes += static_cast<char>(0xB8 + random() % 8);
          bytes += static_cast<char>(0x80 + random() % 64);
        }
        if (random() % 3 == 0) bytes.pop_back();
      } else {
        for (std::size_t n = 1 + random() % 9; n > 0; --n) {
          bytes += static_cast<char>('a' + random() % 26);
        }
      }
      add(std::move(bytes), TokenKind::kOrdinary);
    }
    const auto words = static_cast<TokenId>(entries.size());
    for (const char* word : kWords) add(word, TokenKind::kOrdinary);
    for (const char* marker :
         {"<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>",
          "<|call|>", "<|return|>", "<|endoftext|>"}) {
      add(marker, TokenKind::kControl);
    }
    return Tokens{*Vocabulary::from_table(entries), words};
  }();
  return made;
}

// Content tokens: a few are frequent, most are rare.
std::vector<TokenId> content(std::size_t count, bool chinese) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(0, std::log(kOrdinary / 2));
  std::vector<TokenId> out;
  for (std::size_t i = 0; i < count; ++i) {
    auto id = static_cast<TokenId>(std::exp(uniform(random)));
    if (chinese) id = kOrdinary / 2 + id / 4 * 4;
    out.push_back(std::min(id, kOrdinary - 1));
  }
  return out;
}

// <|start|>assistant<|channel|>commentary to=functions.get_weather
// <|constrain|>json<|message|> content <|call|>
void append_call(std::vector<TokenId>& out, std::span<const TokenId> body) {
  const Tokens& t = tokens();
  out.push_back(t.mark("<|start|>"));
  out.push_back(t.words);
  out.push_back(t.mark("<|channel|>"));
  for (TokenId word = 1; word <= 6; ++word) out.push_back(t.words + word);
  out.push_back(t.mark("<|constrain|>"));
  out.push_back(t.words + 7);
  out.push_back(t.mark("<|message|>"));
  out.insert(out.end(), body.begin(), body.end());
  out.push_back(t.mark("<|call|>"));
}

void read(benchmark::State& state, const std::vector<TokenId>& ids,
          std::size_t batch) {
  for (auto _ : state) {
    HarmonyParser parser = *HarmonyParser::create(tokens().vocabulary);
    for (std::size_t at = 0; at < ids.size(); at += batch) {
      const std::span<const TokenId> all = ids;
      benchmark::DoNotOptimize(
          parser.feed(all.subspan(at, std::min(batch, ids.size() - at)))
              .size());
    }
    benchmark::DoNotOptimize(parser.finalize().size());
  }
  state.counters["per_token"] =
      benchmark::Counter(static_cast<double>(ids.size()),
                         benchmark::Counter::kIsIterationInvariantRate |
                             benchmark::Counter::kInvert);
}

constexpr std::size_t kLong = 20000;

void one_message(benchmark::State& state, bool chinese) {
  std::vector<TokenId> ids = {tokens().mark("<|start|>"), tokens().words,
                              tokens().mark("<|message|>")};
  const std::vector<TokenId> body = content(kLong, chinese);
  ids.insert(ids.end(), body.begin(), body.end());
  read(state, ids, static_cast<std::size_t>(state.range(0)));
}

void BM_Content(benchmark::State& state) { one_message(state, false); }
BENCHMARK(BM_Content)->Name("content")->Arg(1)->Arg(64);

void BM_Chinese(benchmark::State& state) { one_message(state, true); }
BENCHMARK(BM_Chinese)->Name("chinese")->Arg(1)->Arg(64);

void calls(benchmark::State& state, std::size_t body_size) {
  const std::vector<TokenId> body = content(body_size, false);
  std::vector<TokenId> ids;
  while (ids.size() < kLong) append_call(ids, body);
  read(state, ids, static_cast<std::size_t>(state.range(0)));
}

void BM_Calls(benchmark::State& state) { calls(state, 12); }
BENCHMARK(BM_Calls)->Name("calls")->Arg(1)->Arg(64);

void BM_Headers(benchmark::State& state) { calls(state, 0); }
BENCHMARK(BM_Headers)->Name("headers")->Arg(1)->Arg(64);

void BM_Endless(benchmark::State& state) {
  read(state, content(kLong, false), static_cast<std::size_t>(state.range(0)));
}
BENCHMARK(BM_Endless)->Name("endless")->Arg(1)->Arg(64);

}  // namespace
}  // namespace parlance
