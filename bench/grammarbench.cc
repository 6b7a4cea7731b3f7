// The cost of constraining with structural tags and with grammars of one's own.
//
//   grammarbench --vocab V.vocab --data bench/grammars [--schemas MASKBENCH]
//                [--rounds N] [--only NAME] [--slow] [--cpu-time] [--hash]
//
// Tags: tool calling of 1, 16 and 128 tools, whose schemas are MaskBench's, in
// a style that writes arguments as JSON and in one that writes elements.
//
//   first       tag JSON -> Constraint -> first mask
//   in call     then the bytes up to a call's arguments -> mask
//   again       the same two for the same tag in the same compiler
//   changed     the same two for a tag in which another tool replaces one, and
//               is called
//
// each with an empty cache of grammars and masks, except "again" and "changed";
// the tables of the vocabulary are built.  Then a response of prose and calls
// is written token by token.  Grammars: the texts beside them.  A step fills
// the mask, looks the token up and accepts it.  "1st" is the first text of a
// constraint with an empty cache, "2nd" the same text again.  Ambiguous
// grammars: the cost of reading 1, 10 and 100 thousand bytes, in a grammar and
// in a structural tag that encloses it, and of the next mask.  All on one
// thread.
//
// --hash measures nothing.  It prints a hash of all masks of the same texts,
// and of a response of each family with a built-in format: with a compiler for
// each text, with one for all, also token by token in turn, on threads, and
// with little memory.  They have to be equal.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench_clock.h"
#include "encode.h"
#include "family_texts.h"
#include "maskbench_report.h"
#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "tool_texts.h"
#include "vocab_text.h"

namespace parlance::bench {
namespace {

using maskbench::Samples;

struct Options {
  std::string vocab, data, schemas, only;
  std::size_t rounds = 5;
  bool slow = false;
  bool hash = false;
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// One step of a first text, for --slow.  `faults`: the pages of memory that it
// was the first to touch; each costs the system some 0.25 to 2.5 us.
struct SlowStep {
  std::int64_t ns = 0;
  std::size_t byte = 0;
  long faults = 0;
};

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

std::int64_t since(Clock::time_point begin) { return Clock::now() - begin; }

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "grammarbench: " << what << "\n";
  std::exit(1);
}

template <class T>
T take(Result<T> result, const std::string& what) {
  if (!result) fail(what + ": " + result.error().to_string());
  return std::move(*result);
}

// The vocabulary with its tables: its compilers do not build them.
Vocabulary with_tables(const Vocabulary& vocabulary) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() /
      ("grammarbench." + std::to_string(::getpid()));
  take(vocabulary.save(file), "tables");
  Vocabulary loaded = take(Vocabulary::load(file), "tables");
  std::filesystem::remove(file);
  return loaded;
}

class Bench {
 public:
  Bench(const Options& options, const Vocabulary& vocabulary)
      : options_(options),
        vocabulary_(with_tables(vocabulary)),
        encoder_(vocabulary) {
    row_.resize(compiler().mask_words());
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void tags(const std::string& style, const std::vector<Tool>& tools,
            std::size_t count);
  void grammar(const std::string& name);
  void ambiguous(const std::string& ebnf, const std::string& unit);
  // False if the hashes differ.  `tools` may be empty.
  bool hashes(const std::vector<Tool>& tools);

 private:
  // One that has made no mask.
  Compiler compiler() const {
    return take(Compiler::create(vocabulary_), "tables");
  }
  struct First {
    std::int64_t first = 0;
    std::int64_t in_call = 0;
  };
  First first_masks(const Compiler& compiler, const std::string& tag,
                    const std::string& begin);
  struct Piece {
    std::string text;
    int kind = 0;
  };
  std::vector<Piece> response(const std::string& style,
                              const std::vector<Tool>& tools) const;
  // A text whose masks are hashed, and its grammar.
  struct Hashed {
    std::string name;
    std::function<Result<Grammar>(const GrammarLimits&)> grammar;
    std::vector<TokenId> ids;
  };
  void add_hashed(std::string name,
                  std::function<Result<Grammar>(const GrammarLimits&)> grammar,
                  const std::string& text, std::vector<Hashed>& out) const;
  std::vector<Hashed> all_hashed(const std::vector<Tool>& tools) const;
  void write(const std::string& title, const Constraint& constraint,
             const std::vector<Piece>& pieces,
             const std::vector<std::string>& kinds);

  const Options& options_;
  const Vocabulary vocabulary_;
  const Encoder encoder_;
  std::vector<std::int32_t> row_;
};

Bench::First Bench::first_masks(const Compiler& compiler,
                                const std::string& tag,
                                const std::string& begin) {
  First out;
  Clock::time_point at = Clock::now();
  const Constraint constraint =
      take(compiler.compile_structural_tag(tag), "tag");
  Matcher matcher = constraint.matcher();
  matcher.fill_bitmask(row_);
  out.first = since(at);
  at = Clock::now();
  if (!matcher.accept_bytes(begin)) fail("no call begins so: " + begin);
  matcher.fill_bitmask(row_);
  out.in_call = since(at);
  return out;
}

std::vector<Bench::Piece> Bench::response(
    const std::string& style, const std::vector<Tool>& tools) const {
  const std::string prose = read_file(options_.data + "/prose.txt");
  std::vector<Piece> pieces;
  if (const std::string reasoning = reasoning_begin(style);
      !reasoning.empty()) {
    pieces = {{reasoning, 1},
              {prose.substr(0, prose.find("\n\n")), 0},
              {"\n</think>\n\n", 1}};
  }
  pieces.push_back({prose, 0});
  std::size_t calls = 0;
  for (const Tool& tool : tools) {
    for (const std::string& arguments : tool.arguments) {
      const Call call = call_of(style, tool, arguments);
      pieces.push_back({(calls == 0 ? "" : "\n") + call.begin, 1});
      pieces.push_back({call.arguments, 2});
      pieces.push_back({call.end, 1});
      ++calls;
    }
    if (calls > 40) break;
  }
  return pieces;
}

void Bench::tags(const std::string& style, const std::vector<Tool>& all,
                 std::size_t count) {
  std::vector<Tool> tools(all.begin(), all.begin() + count);
  const Tool& called = tools[count / 2];
  const std::string tag = tag_of(style, tools);
  std::vector<Tool> other = tools;
  other[count / 2] = all[count];
  const std::string changed = tag_of(style, other);

  std::vector<First> first, again, after;
  for (std::size_t i = 0; i < options_.rounds; ++i) {
    const Compiler fresh = compiler();
    first.push_back(first_masks(fresh, tag, call_begin(style, called.name)));
    again.push_back(first_masks(fresh, tag, call_begin(style, called.name)));
    after.push_back(
        first_masks(fresh, changed, call_begin(style, all[count].name)));
  }
  const auto median = [](std::vector<First>& list, std::int64_t First::*what) {
    std::sort(list.begin(), list.end(), [&](const First& a, const First& b) {
      return a.*what < b.*what;
    });
    return static_cast<double>(list[list.size() / 2].*what) / 1e6;
  };
  std::printf("\n%s, %zu tools, tag of %zu bytes (median, ms)\n", style.c_str(),
              count, tag.size());
  std::printf("  %-12s%10s%10s\n", "", "first", "in call");
  const auto print = [&](const char* name, std::vector<First>& list) {
    std::printf("  %-12s%10.3f%10.3f\n", name, median(list, &First::first),
                median(list, &First::in_call));
  };
  print("from nothing", first);
  print("again", again);
  print("changed", after);

  const std::vector<Piece> pieces = response(style, tools);
  const Grammar grammar = take(Grammar::from_structural_tag(tag), "tag");
  write("", take(compiler().compile(grammar), "tag"), pieces,
        {"free text", "boundary", "in a call"});
}

void Bench::write(const std::string& title, const Constraint& constraint,
                  const std::vector<Piece>& pieces,
                  const std::vector<std::string>& kinds) {
  std::string text;
  std::vector<int> kind_of;  // by byte
  for (const Piece& piece : pieces) {
    text += piece.text;
    kind_of.resize(text.size(), piece.kind);
  }
  const std::vector<TokenId> ids = encoder_.encode(text);
  std::vector<std::vector<Samples>> all(2, std::vector<Samples>(kinds.size()));
  std::vector<SlowStep> slow;
  for (std::size_t pass = 0; pass < 2; ++pass) {
    Matcher matcher = constraint.matcher();
    std::size_t at = 0;
    for (const TokenId id : ids) {
      const long faults = options_.slow ? page_faults() : 0;
      const Clock::time_point begin = Clock::now();
      matcher.fill_bitmask(row_);
      const bool set =
          (static_cast<std::uint32_t>(row_[id / 32]) >> (id % 32) & 1) != 0;
      if (!set || !matcher.accept_token(id)) {
        fail(title + ": refused at byte " + std::to_string(at) + ": " +
             text.substr(at < 40 ? 0 : at - 40, at < 40 ? at : 40) + " >>> " +
             text.substr(at, 40));
      }
      const std::int64_t ns = since(begin);
      const std::size_t end = at + vocabulary_.bytes(id).size();
      // A token on a boundary belongs to it.
      int kind = kind_of[at];
      for (std::size_t i = at; i < end; ++i) {
        if (kind_of[i] == 1) kind = 1;
      }
      if (kinds.size() == 1) kind = 0;
      all[pass][static_cast<std::size_t>(kind)].add(ns);
      if (pass == 0 && options_.slow) {
        slow.push_back({ns, at, page_faults() - faults});
      }
      at = end;
    }
    matcher.fill_bitmask(row_);
    if (!matcher.can_end()) fail(title + ": the text cannot end");
  }
  std::printf("  %-16s%10s%10s%10s%10s%10s%10s  %s\n", "step, us", "mean",
              "p50", "p90", "p99", "p99.9", "max", "tokens");
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    for (std::size_t pass = 0; pass < 2; ++pass) {
      Samples& one = all[pass][kind];
      one.sort();
      std::printf("  %-11s %-4s%10.2f%10.2f%10.2f%10.2f%10.2f%10.2f  %zu\n",
                  pass == 0 ? kinds[kind].c_str() : "",
                  pass == 0 ? "1st" : "2nd", one.mean(), one.at(50), one.at(90),
                  one.at(99), one.at(99.9), one.at(100), one.count());
    }
  }
  if (options_.slow) {
    std::ranges::sort(slow, std::greater{}, &SlowStep::ns);
    for (std::size_t i = 0; i < std::min<std::size_t>(12, slow.size()); ++i) {
      const std::size_t byte = slow[i].byte;
      std::string around =
          text.substr(byte < 40 ? 0 : byte - 40, byte < 40 ? byte : 40);
      around += "▮" + text.substr(byte, 12);
      std::replace(around.begin(), around.end(), '\n', '~');
      std::printf("    %10.1f us %4ld page faults  %s\n",
                  static_cast<double>(slow[i].ns) / 1e3, slow[i].faults,
                  around.c_str());
    }
  }
}

void Bench::grammar(const std::string& name) {
  const std::string source = read_file(options_.data + "/" + name + ".ebnf");
  const std::string text = read_file(options_.data + "/" + name + ".txt");
  if (source.empty() || text.empty()) fail(name + ": cannot be read");
  std::vector<std::int64_t> first;
  std::optional<Compiler> fresh;
  std::optional<Constraint> constraint;
  for (std::size_t i = 0; i < options_.rounds; ++i) {
    fresh = compiler();
    const Clock::time_point at = Clock::now();
    const Grammar grammar = take(Grammar::from_ebnf(source), name);
    constraint = take(fresh->compile(grammar), name);
    constraint->matcher().fill_bitmask(row_);
    first.push_back(since(at));
  }
  std::sort(first.begin(), first.end());
  std::printf("\n%s: compile and first mask %.3f ms, text of %zu bytes\n",
              name.c_str(), static_cast<double>(first[first.size() / 2]) / 1e6,
              text.size());
  write(name, *constraint, {{text, 0}}, {"text"});
  const CacheStatistics masks = fresh->cache_statistics();
  std::printf("  memory %.1f MB, %llu masks made, %zu kept\n",
              static_cast<double>(constraint->memory_bytes()) / 1e6,
              static_cast<unsigned long long>(masks.misses), masks.entries);
}

void Bench::ambiguous(const std::string& ebnf, const std::string& unit) {
  std::printf("\n%s\n  %-10s%12s%12s%12s\n", ebnf.c_str(), "bytes",
              "accepts, us", "feed, us", "mask, us");
  const std::string whole =
      R"({"type": "structural_tag", "format": {"type": "grammar", "grammar": )" +
      json::dump(json::Value(ebnf)) + "}}";
  for (const std::size_t size : {1'000, 10'000, 100'000}) {
    std::string text;
    while (text.size() < size) text += unit;
    const Grammar grammar = take(Grammar::from_ebnf(ebnf), ebnf);
    Clock::time_point at = Clock::now();
    grammar.accepts(text);
    const std::int64_t accepts = since(at);

    const StructuralTag tag = take(StructuralTag::from_json(whole), "the tag");
    const CompiledTag program = take(CompiledTag::compile(tag), "the tag");
    TagParser parser(program);
    at = Clock::now();
    parser.feed(text);
    const std::int64_t feed = since(at);

    const Compiler made = compiler();
    const Constraint constraint =
        take(made.compile(take(Grammar::from_ebnf(ebnf), ebnf)), ebnf);
    Matcher matcher = constraint.matcher();
    if (!matcher.accept_bytes(text)) fail(ebnf + ": refused");
    at = Clock::now();
    matcher.fill_bitmask(row_);
    const std::int64_t mask = since(at);
    std::printf("  %-10zu%12.1f%12.1f%12.1f\n", text.size(),
                static_cast<double>(accepts) / 1e3,
                static_cast<double>(feed) / 1e3,
                static_cast<double>(mask) / 1e3);
  }
}

// The masks of one text.
class HashedWalk {
 public:
  HashedWalk(const Compiler& compiler, const Grammar& grammar,
             std::span<const TokenId> ids, const std::string& name)
      : matcher_(take(compiler.compile(grammar), name).matcher()),
        row_(compiler.mask_words()),
        ids_(ids),
        name_(&name) {}

  // Hashes the next mask; false if it was the last one.
  bool step() {
    matcher_.fill_bitmask(row_);
    for (const std::int32_t word : row_) {
      hash_ = (hash_ ^ static_cast<std::uint32_t>(word)) * 0x100000001B3;
    }
    if (at_ == ids_.size()) return false;
    if (!matcher_.accept_token(ids_[at_])) {
      fail(*name_ + ": token " + std::to_string(at_) + " is refused");
    }
    ++at_;
    return true;
  }
  std::uint64_t hash() const { return hash_; }

 private:
  Matcher matcher_;
  std::vector<std::int32_t> row_;
  std::span<const TokenId> ids_;
  const std::string* name_;
  std::size_t at_ = 0;
  std::uint64_t hash_ = 0xCBF29CE484222325;  // FNV-1a of the words
};

void Bench::add_hashed(
    std::string name,
    std::function<Result<Grammar>(const GrammarLimits&)> grammar,
    const std::string& text, std::vector<Hashed>& out) const {
  if (!options_.only.empty() && options_.only != name) return;
  out.push_back({std::move(name), std::move(grammar), encoder_.encode(text)});
}

std::vector<Bench::Hashed> Bench::all_hashed(
    const std::vector<Tool>& tools) const {
  std::vector<Hashed> out;
  const auto of_tag = [](std::string tag) {
    return [tag = std::move(tag)](const GrammarLimits& limits) {
      return Grammar::from_structural_tag(std::string_view(tag),
                                          {.limits = limits});
    };
  };
  for (const char* name : {"json", "sql", "c", "python"}) {
    const std::string source = read_file(options_.data + "/" + name + ".ebnf");
    add_hashed(
        name,
        [source](const GrammarLimits& limits) {
          return Grammar::from_ebnf(source, {.limits = limits});
        },
        read_file(options_.data + "/" + name + ".txt"), out);
  }
  for (const char* style : {"qwen_3", "qwen_3_coder"}) {
    for (const std::size_t count : {1, 16, 128}) {
      if (tools.size() < count) continue;
      const std::vector<Tool> some(tools.begin(), tools.begin() + count);
      std::string text;
      for (const Piece& piece : response(style, some)) text += piece.text;
      add_hashed(style, of_tag(tag_of(style, some)), text, out);
    }
  }
  const ToolSet weather = *ToolSet::from_json(kFamilyTools);
  StructuralTagOptions options;
  options.tools = *json::parse(kFamilyTools);
  for (const std::string_view name : Format::built_in_names()) {
    const Format format = *Format::built_in(name);
    const Result<StructuralTag> tag = format.structural_tag(options);
    if (!tag) continue;
    add_hashed("families", of_tag(json::dump(tag->to_json())),
               family_text(format, weather).text, out);
  }
  return out;
}

bool Bench::hashes(const std::vector<Tool>& tools) {
  const std::vector<Hashed> all = all_hashed(tools);
  std::optional<std::uint64_t> expected;
  bool equal = true;
  const auto print = [&](const char* how, std::uint64_t sum) {
    std::printf("%-24s%016llx\n", how, static_cast<unsigned long long>(sum));
    if (!expected) expected = sum;
    equal = equal && sum == *expected;
  };
  const auto run = [&](const Compiler& used, const Hashed& one,
                       const GrammarLimits& limits = {}) {
    HashedWalk walk(used, take(one.grammar(limits), one.name), one.ids,
                    one.name);
    while (walk.step()) {
    }
    return walk.hash();
  };
  // A sum, so that the order of the texts does not matter.
  std::uint64_t sum = 0;
  for (const Hashed& one : all) sum += run(compiler(), one);
  print("a compiler for each", sum);

  const Compiler shared = compiler();
  sum = 0;
  for (const Hashed& one : all) sum += run(shared, one);
  print("one for all", sum);

  const Compiler in_turn = compiler();
  std::vector<HashedWalk> walks;
  for (const Hashed& one : all) {
    walks.emplace_back(in_turn, take(one.grammar({}), one.name), one.ids,
                       one.name);
  }
  sum = 0;
  while (!walks.empty()) {
    std::erase_if(walks, [&](HashedWalk& walk) {
      if (walk.step()) return false;
      sum += walk.hash();
      return true;
    });
  }
  print("token by token in turn", sum);

  const Compiler on_threads = compiler();
  // Each text twice, at the same time.
  std::array<std::atomic<std::uint64_t>, 2> sums{};
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (std::size_t at = 0; (at = next++) < 2 * all.size();) {
        sums[at % 2] += run(on_threads, all[at / 2]);
      }
    });
  }
  for (std::thread& one : threads) one.join();
  for (const auto& one : sums) print("on threads", one);

  const Compiler in_little = compiler();
  sum = 0;
  for (const Hashed& one : all) {
    sum += run(in_little, one, {.bytes = std::size_t{4} << 20});
  }
  print("in little memory", sum);
  return equal;
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const bool more = i + 1 < argc;
    if (name == "--vocab" && more) {
      options.vocab = argv[++i];
    } else if (name == "--data" && more) {
      options.data = argv[++i];
    } else if (name == "--schemas" && more) {
      options.schemas = argv[++i];
    } else if (name == "--rounds" && more) {
      options.rounds = std::max(1ul, std::strtoul(argv[++i], nullptr, 10));
    } else if (name == "--only" && more) {
      options.only = argv[++i];
    } else if (name == "--cpu-time") {
      Clock::cpu = true;
    } else if (name == "--slow") {
      options.slow = true;
    } else if (name == "--hash") {
      options.hash = true;
    } else {
      return false;
    }
  }
  return !options.vocab.empty() && !options.data.empty();
}

int run(int argc, char** argv) {
  Options options;
  if (!read_options(argc, argv, options)) {
    std::cerr << "grammarbench --vocab FILE --data FOLDER [--schemas FOLDER] "
                 "[--rounds N] [--only NAME] [--slow] [--cpu-time] "
                 "[--hash]\n";
    return 2;
  }
  const Vocabulary vocabulary =
      take(bench::read_vocabulary(options.vocab), options.vocab);
  Bench bench(options, vocabulary);
  std::vector<Tool> tools;
  if (!options.schemas.empty()) {
    std::string error;
    tools = read_tools(options.schemas, 129, &error);
    if (tools.size() < 129) fail(error);
  }
  if (options.hash) return bench.hashes(tools) ? 0 : 1;
  if (!tools.empty()) {
    for (const char* style : {"qwen_3", "qwen_3_coder"}) {
      if (!options.only.empty() && options.only != style) continue;
      for (const std::size_t count : {1, 16, 128}) {
        bench.tags(style, tools, count);
      }
    }
  }
  for (const char* name : {"json", "sql", "c", "python"}) {
    if (options.only.empty() || options.only == name) bench.grammar(name);
  }
  if (options.only.empty() || options.only == "ambiguous") {
    bench.ambiguous("root ::= e\ne ::= e \"+\" e | \"(\" e \")\" | [0-9]+",
                    "1+");
    bench.ambiguous("root ::= root root | \"a\" | \"b\" | \"\"", "ab");
  }
  return 0;
}

}  // namespace
}  // namespace parlance::bench

int main(int argc, char** argv) { return parlance::bench::run(argc, argv); }
