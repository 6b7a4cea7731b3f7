// Reading by structural tag, in bytes per second:
//
//   text       free text with triggers, with few and with many '<' in it
//   end        free text inside a tag that waits for its end
//   beyond     the same in Chinese
//   json       inside the arguments of one long call
//   response   2 KB with two calls, one parser each
//   small      tags of a few bytes, back to back; the same with text between
//              them; items that can be read in several ways
//
// `peak` is the most memory of the parser after any chunk, `kept` its memory at
// the end, both in bytes per byte of the text.

#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "parlance/tag_parser.h"

namespace parlance {
namespace {

constexpr std::string_view kTag = R"({"format": {
  "type": "sequence", "elements": [
    {"type": "tag", "begin": "<think>", "content": {"type": "any_text"},
     "end": "</think>", "field": "reasoning"},
    {"type": "triggered_tags", "triggers": ["<tool_call>"],
     "excludes": ["<think>", "</think>"], "field": "content", "tags": [
       {"begin": "<tool_call>\n{\"name\": \"get\", \"arguments\": ",
        "end": "}\n</tool_call>", "tool": "get",
        "content": {"type": "json_schema", "json_schema": {
          "type": "object", "properties": {"items": {"type": "array"},
          "city": {"type": "string"}, "days": {"type": "integer"}}}}},
       {"begin": "<tool_call>\n{\"name\": \"set\", \"arguments\": ",
        "end": "}\n</tool_call>", "tool": "set",
        "content": {"type": "json_schema", "json_schema": {
          "type": "object", "properties": {
            "a": {"type": "number"}, "b": {"type": "string"}}}}}]}]}})";

const CompiledTag& program() {
  static const CompiledTag made =
      *CompiledTag::compile(*StructuralTag::from_json(kTag));
  return made;
}

std::string repeated(std::string_view unit, std::size_t size) {
  std::string out;
  while (out.size() < size) out += unit;
  return out;
}

void read(benchmark::State& state, const std::string& text, bool keep) {
  StreamOptions options;
  options.keep_message = keep;
  for (auto _ : state) {
    TagParser parser(program(), options);
    // As a server would see it.
    for (std::size_t at = 0; at < text.size(); at += 65536) {
      benchmark::DoNotOptimize(
          parser.feed(std::string_view(text).substr(at, 65536)).size());
    }
    parser.finalize();
    if (parser.message().diagnostics.size() > 0) {
      state.SkipWithError("the text does not fit");
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(text.size()));
}

constexpr std::size_t kLong = std::size_t{1} << 20;
constexpr std::string_view kEnglish =
    "The quick brown fox jumps over the lazy dog, 17 times a day.\n";

void BM_Text(benchmark::State& state) {
  read(state, "<think></think>" + repeated(kEnglish, kLong), true);
}
BENCHMARK(BM_Text);

void BM_TextWithMarkup(benchmark::State& state) {
  read(state,
       "<think></think>" + repeated("if a < b: <b>bold</b> text, too. ", kLong),
       true);
}
BENCHMARK(BM_TextWithMarkup);

void BM_TextWaitingForAnEnd(benchmark::State& state) {
  read(state, "<think>" + repeated(kEnglish, kLong) + "</think>", true);
}
BENCHMARK(BM_TextWaitingForAnEnd);

void BM_TextBeyondAscii(benchmark::State& state) {
  read(state, "<think></think>" + repeated("敏捷的棕色狐狸跳过懒狗。", kLong),
       true);
}
BENCHMARK(BM_TextBeyondAscii);

void BM_Json(benchmark::State& state) {
  read(state,
       "<think></think><tool_call>\n{\"name\": \"get\", \"arguments\": "
       "{\"items\": [" +
           repeated(R"({"id": 12, "name": "some text", "ok": true}, )", kLong) +
           "1]}}\n</tool_call>",
       true);
}
BENCHMARK(BM_Json);

std::string response() {
  return "<think>" + repeated(kEnglish, 1000) + "</think>\n\n" +
         repeated(kEnglish, 500) +
         "<tool_call>\n{\"name\": \"get\", \"arguments\": {\"city\": "
         "\"Bern\", \"days\": 3}}\n</tool_call>\n" +
         "<tool_call>\n{\"name\": \"set\", \"arguments\": {\"a\": 1.5, "
         "\"b\": \"" +
         repeated("text ", 200) + "\"}}\n</tool_call>";
}

void BM_Response(benchmark::State& state) { read(state, response(), true); }
BENCHMARK(BM_Response);

std::size_t allocated() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Chunks of `chunk` bytes.
void read_small(benchmark::State& state, std::string_view format,
                std::string_view unit, std::size_t chunk) {
  const CompiledTag small = *CompiledTag::compile(
      *StructuralTag::from_json("{\"format\": " + std::string(format) + "}"));
  const std::string text = repeated(unit, kLong);
  std::size_t peak = 0;
  std::size_t kept = 0;
  for (auto _ : state) {
    const std::size_t before = allocated();
    TagParser parser(small);
    peak = 0;
    for (std::size_t at = 0; at < text.size(); at += chunk) {
      parser.feed(std::string_view(text).substr(at, chunk));
      if (chunk > 1 || at % 65536 == 0) {
        peak = std::max(peak, allocated() - before);
      }
    }
    parser.finalize();
    if (!parser.message().complete) state.SkipWithError("it does not fit");
    parser.finalize();
    kept = allocated() - before;
  }
  const auto size = static_cast<double>(text.size());
  state.counters["peak"] = static_cast<double>(peak) / size;
  state.counters["kept"] = static_cast<double>(kept) / size;
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(text.size()));
}

void BM_SmallTags(benchmark::State& state) {
  read_small(state, R"({"type": "triggered_tags", "triggers": ["<d>"],
      "tags": [{"begin": "<d>", "end": "</d>", "content":
        {"type": "json_schema", "json_schema": {"type": "integer"}}}]})",
             "<d>1</d>", static_cast<std::size_t>(state.range(0)));
}
BENCHMARK(BM_SmallTags)->Arg(1)->Arg(4096)->Arg(kLong);

void BM_SmallTagsAndText(benchmark::State& state) {
  read_small(state, R"({"type": "triggered_tags", "triggers": ["<c>"],
      "tags": [{"begin": "<c>", "end": "</c>", "content":
        {"type": "json_schema", "json_schema": {"type": "object"}}}]})",
             R"(<c>{"a":[1,"x"]}</c>ab)",
             static_cast<std::size_t>(state.range(0)));
}
BENCHMARK(BM_SmallTagsAndText)->Arg(1)->Arg(4096)->Arg(kLong);

void BM_ManyReadings(benchmark::State& state) {
  read_small(state, R"({"type": "star", "content": {"type": "or", "elements": [
      {"type": "regex", "pattern": "a*"}, {"type": "regex", "pattern": "a"},
      {"type": "any_text"}]}})",
             "aaaa", static_cast<std::size_t>(state.range(0)));
}
BENCHMARK(BM_ManyReadings)->Arg(1)->Arg(4096)->Arg(kLong);

void BM_ResponseByPieces(benchmark::State& state) {
  const std::string text = response();
  for (auto _ : state) {
    TagParser parser(program());
    for (std::size_t at = 0; at < text.size(); at += 4) {
      benchmark::DoNotOptimize(
          parser.feed(std::string_view(text).substr(at, 4)).size());
    }
    parser.finalize();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(text.size()));
}
BENCHMARK(BM_ResponseByPieces);

}  // namespace
}  // namespace parlance
