// Cold starts: from the files of a vocabulary to the first mask of a request,
// in a process that has nothing of either in memory.
//
//   bench_cold --vocab V.vocab --data bench/grammars [--runs N]
//
// For each request, milliseconds of processor time of the thread (the median
// and the longest of the runs) from opening the file to the first mask:
//
//   built   the vocabulary is read from its source, the tables are built
//   loaded  the vocabulary is loaded with its tables (Vocabulary::save)
//
// Each run makes new objects; the files are in the page cache of the system.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench_clock.h"
#include "parlance/constraint.h"
#include "parlance/vocabulary.h"
#include "vocab_text.h"

namespace parlance {
namespace {

template <class T>
T take(Result<T> result, std::string_view what) {
  if (result) return *std::move(result);
  std::cerr << what << ": " << result.error().to_string() << '\n';
  std::exit(1);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::cerr << path << " cannot be read\n";
    std::exit(1);
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

// The structural tag of calls of any of `count` tools in Hermes' notation.
std::string tag_of_tools(int count) {
  const char* const kSchema =
      R"({"type": "object", "required": ["path", "mode"], "properties": {
        "path": {"type": "string", "minLength": 1},
        "mode": {"enum": ["read", "write", "append"]},
        "lines": {"type": "array", "items": {"type": "integer", "minimum": 1}},
        "options": {"type": "object", "properties": {
          "follow": {"type": "boolean"}, "depth": {"type": "integer"}}}},
        "additionalProperties": false})";
  std::string tags;
  for (int i = 0; i < count; ++i) {
    if (i != 0) tags += ", ";
    tags += R"({"type": "tag", "begin": "<tool_call>\n{\"name\": \"tool_)" +
            std::to_string(i) +
            R"(\", \"arguments\": ", "content": {"type": "json_schema", )"
            R"("json_schema": )" +
            std::string(kSchema) + R"(}, "end": "}\n</tool_call>"})";
  }
  return R"({"type": "structural_tag", "format": {"type": "triggered_tags", )"
         R"("triggers": ["<tool_call>"], "tags": [)" +
         tags + "]}}";
}

struct Request {
  std::string name;
  std::function<Result<Constraint>(const Compiler&)> compile;
};

std::vector<Request> make_requests(const std::string& grammars) {
  std::vector<Request> out;
  const auto schema = [&](std::string name, std::string text) {
    out.push_back(
        {std::move(name), [text = std::move(text)](const Compiler& compiler) {
           return compiler.compile_json_schema(text);
         }});
  };
  schema("schema", R"({"type": "object", "required": ["city"], "properties":
      {"city": {"type": "string", "maxLength": 40},
       "days": {"type": "integer", "minimum": 1, "maximum": 14}}})");
  for (const int count : {1, 16, 128}) {
    out.push_back({std::to_string(count) + (count == 1 ? " tool" : " tools"),
                   [text = tag_of_tools(count)](const Compiler& compiler) {
                     return compiler.compile_structural_tag(text);
                   }});
  }
  for (const char* name : {"json", "python"}) {
    out.push_back({std::string(name) + ".ebnf",
                   [text = read_file(grammars + "/" + name + ".ebnf")](
                       const Compiler& compiler) {
                     return compiler.compile_ebnf(text);
                   }});
  }
  return out;
}

// The milliseconds to the first mask, in `runs` runs.
struct Times {
  double median = 0, longest = 0;
};

Times times_of(std::vector<double> times) {
  std::ranges::sort(times);
  return {times[times.size() / 2], times.back()};
}

Times measure(int runs, const std::function<Vocabulary()>& vocabulary,
              const Request& request) {
  std::vector<double> times;
  for (int run = 0; run < runs; ++run) {
    const double begin = bench::thread_ms();
    const Compiler compiler =
        take(Compiler::create(vocabulary()), "the compiler");
    Matcher matcher = take(request.compile(compiler), request.name).matcher();
    std::vector<std::int32_t> row(matcher.mask_words());
    matcher.fill_bitmask(row);
    times.push_back(bench::thread_ms() - begin);
  }
  return times_of(std::move(times));
}

int run(const std::string& vocab, const std::string& grammars, int runs) {
  const std::string saved =
      (std::filesystem::temp_directory_path() /
       ("bench-cold-" +
        std::to_string(
            std::chrono::steady_clock::now().time_since_epoch().count())))
          .string();
  const Vocabulary vocabulary = take(bench::read_vocabulary(vocab), vocab);
  take(vocabulary.save(saved), saved);
  const std::vector<Request> requests = make_requests(grammars);
  std::printf("%-12s %18s %18s\n", "request", "built, ms", "loaded, ms");
  for (const Request& request : requests) {
    const Times built = measure(
        runs, [&] { return take(bench::read_vocabulary(vocab), vocab); },
        request);
    const Times loaded = measure(
        runs, [&] { return take(Vocabulary::load(saved), saved); }, request);
    std::printf("%-12s", request.name.c_str());
    for (const Times& times : {built, loaded}) {
      std::printf(" %9.2f %8.2f", times.median, times.longest);
    }
    std::printf("\n");
  }
  std::filesystem::remove(saved);
  return 0;
}

}  // namespace
}  // namespace parlance

int main(int argc, char** argv) {
  std::string vocab, data;
  int runs = 9;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--vocab") vocab = argv[i + 1];
    if (name == "--data") data = argv[i + 1];
    if (name == "--runs") runs = std::max(1, std::atoi(argv[i + 1]));
  }
  if (vocab.empty() || data.empty()) {
    std::cerr << "bench_cold --vocab FILE --data FOLDER [--runs N]\n";
    return 2;
  }
  return parlance::run(vocab, data, runs);
}
