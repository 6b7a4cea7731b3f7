// MaskBench: the cost of constraining, and whether its verdicts are right.
//
//   maskbench FOLDER --vocab V.vocab --tokens V.tok
//             [--sample FILE] [--only NAME] [--limit N] [--errors FILE]
//             [--timeout S] [--cache-mib N] [--lenient] [--in-process]
//             [--spelling any] [--cpu-time]
//
// For each schema: compile; then, from a fresh matcher for each instance and
// for each of its tokens, fill the mask, look the token up, and accept it.
// That is one TBM ("time between masks"); a token that is refused ends the
// instance and counts too.  "compile" is what MaskBench calls TTFM; the first
// mask's own time is added in the line below it.
//
// Verdicts: an instance is accepted when all its tokens were and the text may
// end there.  MaskBench itself does not look at the end, so the line "refused
// only at their end" says how many invalid ones that saves.  A valid instance
// must also be accepted when written compactly and when indented by 2.
//
// The schemas are run in a second process, whose death or silence (more than
// --timeout seconds on one schema) is counted.  The process is then restarted
// with the schema after the one that caused it.
//
// --cpu-time measures the processor time of the thread: the maxima on a busy
// machine.
//
// --spelling any takes what a schema fixes in every spelling: a few of the
// valid instances have a number otherwise than its const or enum has it.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "bench_clock.h"
#include "maskbench_corpus.h"
#include "maskbench_report.h"
#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "vocab_text.h"

namespace parlance::maskbench {

namespace {

using bench::Clock;

struct Options {
  std::string folder, vocab, tokens, sample, only, errors;
  std::size_t limit = ~std::size_t{0};
  std::size_t cache_mib = CompilerOptions{}.cache_bytes >> 20;
  unsigned timeout_s = 900;
  bool lenient = false;
  JsonSpelling spelling = JsonSpelling::kCanonical;
  bool in_process = false;
};

bool bit(const std::vector<std::int32_t>& row, TokenId id) {
  return id / 32 < row.size() &&
         (static_cast<std::uint32_t>(row[id / 32]) >> (id % 32) & 1) != 0;
}

// What happened to the tokens of one instance.
struct Walk {
  std::size_t fitted = 0;
  bool can_end = false;
};

class Bench {
 public:
  Bench(const Options& options, const Compiler& compiler)
      : options_(options), compiler_(compiler), row_(compiler.mask_words()) {}

  json::Value run(const Problem& problem);

 private:
  Walk walk(const Constraint& constraint, const Instance& instance);
  void hash_mask();
  void check_other_layouts(const Grammar& grammar, const Instance& instance,
                           std::size_t test);
  void refused(const Grammar& grammar, std::string_view text, std::size_t test,
               std::string_view how);

  const Options& options_;
  const Compiler& compiler_;
  std::vector<std::int32_t> row_;
  // FNV-1a of the words of all masks of the schema.
  std::uint64_t masks_hash_ = 0;
  json::Array tbm_, accepted_, refused_, laws_;
  std::int64_t first_ns_ = 0;
};

void Bench::hash_mask() {
  for (const std::int32_t word : row_) {
    masks_hash_ =
        (masks_hash_ ^ static_cast<std::uint32_t>(word)) * 0x100000001B3;
  }
}

Walk Bench::walk(const Constraint& constraint, const Instance& instance) {
  Walk out;
  Matcher matcher = constraint.matcher();
  for (TokenId token : instance.tokens) {
    const Clock::time_point begin = Clock::now();
    matcher.fill_bitmask(row_);
    const bool allowed = bit(row_, token);
    const Clock::time_point filled = Clock::now();
    const bool fits = allowed && matcher.accept_token(token);
    tbm_.emplace_back(Clock::now() - begin);
    if (first_ns_ == 0) first_ns_ = filled - begin;
    hash_mask();
    if (allowed && !fits) {
      laws_.emplace_back("mask: the bit of a token that does not fit is set");
    }
    if (!fits) {
      // Not timed: the other half of the law.
      if (!allowed && matcher.accept_token(token)) {
        laws_.emplace_back("mask: the bit of a token that fits is not set");
      }
      return out;
    }
    ++out.fitted;
  }
  matcher.fill_bitmask(row_);
  hash_mask();
  out.can_end = matcher.can_end();
  for (TokenId stop : compiler_.vocabulary().stop_ids()) {
    if (bit(row_, stop) != out.can_end) {
      laws_.emplace_back("mask: a stop token against can_end()");
    }
  }
  return out;
}

void Bench::refused(const Grammar& grammar, std::string_view text,
                    std::size_t test, std::string_view how) {
  const std::optional<Rejection> rejection = grammar.explain(text);
  const std::size_t at = rejection ? rejection->offset : text.size();
  const std::size_t begin = at < 30 ? 0 : at - 30;
  std::string around(text.substr(begin, at - begin));
  around += " >>> ";
  around += text.substr(at, 30);
  refused_.emplace_back(json::Object{
      {"test", static_cast<std::int64_t>(test)},
      {"how", how},
      {"offset", static_cast<std::int64_t>(at)},
      {"around", around},
      {"expected", rejection ? rejection->expected
                             : std::string("nothing else: the grammar itself "
                                           "accepts the text")}});
}

void Bench::check_other_layouts(const Grammar& grammar,
                                const Instance& instance, std::size_t test) {
  Result<json::Value> value = json::parse(instance.text);
  if (!value) return;
  const std::string compact =
      json::dump(*value, {.ascii = false, .compact = true});
  if (!grammar.accepts(compact)) refused(grammar, compact, test, "compact");
  const std::string indented =
      json::dump(*value, {.ascii = false, .indent = 2});
  if (!grammar.accepts(indented)) refused(grammar, indented, test, "indented");
}

json::Value Bench::run(const Problem& problem) {
  json::Object result;
  result.set("name", problem.name);
  for (json::Array* list : {&tbm_, &accepted_, &refused_, &laws_}) {
    list->clear();
  }
  first_ns_ = 0;
  masks_hash_ = 0xCBF29CE484222325;

  JsonSchemaOptions schema_options;
  schema_options.lenient = options_.lenient;
  schema_options.spelling = options_.spelling;
  const Clock::time_point begin = Clock::now();
  Result<Grammar> grammar =
      Grammar::from_json_schema(problem.schema, schema_options);
  Result<Constraint> constraint = grammar ? compiler_.compile(*grammar)
                                          : Result<Constraint>(grammar.error());
  const Clock::time_point end = Clock::now();
  if (!constraint) {
    const Error& error = constraint.error();
    result.set("error", json::Object{{"code", to_string(error.code)},
                                     {"path", error.path},
                                     {"message", error.message}});
    return result;
  }

  std::string_view verdict = "passing";
  std::int64_t open_ended = 0;
  for (std::size_t i = 0; i < problem.instances.size(); ++i) {
    const Instance& instance = problem.instances[i];
    const Walk walked = walk(*constraint, instance);
    const bool fitted = walked.fitted == instance.tokens.size();
    if (fitted != instance.valid) {
      verdict = instance.valid ? "validation error" : "invalidation error";
    }
    const bool accepted = fitted && walked.can_end;
    if (instance.valid && !accepted) {
      refused(*grammar, instance.text, i, "as given");
    } else if (!instance.valid && accepted) {
      accepted_.emplace_back(
          json::Object{{"test", static_cast<std::int64_t>(i)}});
    } else if (!instance.valid && fitted) {
      ++open_ended;
    }
    if (accepted != grammar->accepts(instance.text)) {
      laws_.emplace_back("accepts() does not say what the matcher says");
    }
  }
  if (problem.instances.empty()) {
    Matcher matcher = constraint->matcher();
    const Clock::time_point before = Clock::now();
    matcher.fill_bitmask(row_);
    first_ns_ = Clock::now() - before;
    hash_mask();
  }
  // After all that is timed, because the caches that it fills remain.
  for (std::size_t i = 0; i < problem.instances.size(); ++i) {
    const Instance& instance = problem.instances[i];
    if (instance.valid && grammar->accepts(instance.text)) {
      check_other_layouts(*grammar, instance, i);
    }
  }
  json::Object notes;
  for (const GrammarNote& note : grammar->report()) {
    // Names of unknown keywords are countless.
    json::Value& count = notes[note.kind == GrammarNote::Kind::kNarrowed
                                   ? "narrowed " + note.keyword
                                   : std::string("ignored")];
    count = count.as_int() + 1;
  }
  result.set("compile_ns", end - begin);
  result.set("first_ns", first_ns_);
  result.set("instances", static_cast<std::int64_t>(problem.instances.size()));
  result.set("open_ended", open_ended);
  result.set("verdict", verdict);
  result.set("notes", std::move(notes));
  result.set("masks_hash", static_cast<std::int64_t>(masks_hash_));
  result.set("tbm_ns", tbm_);
  result.set("invalid_accepted", accepted_);
  result.set("valid_refused", refused_);
  result.set("laws", laws_);
  return result;
}

long own_peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Lines: `{"begin": NAME}` before a schema, its result after it, and at the
// end `{"done": PEAK KIB, "start": KIB BEFORE THE FIRST}`.
bool work(const Options& options, const Compiler& compiler, Corpus& corpus,
          std::size_t first, std::FILE* out) {
  const long start = own_peak_kib();
  Bench bench(options, compiler);
  const bool read = corpus.each(first, [&](std::size_t, Problem problem) {
    const json::Value head = json::Object{{"begin", problem.name}};
    std::fprintf(out, "%s\n", json::dump(head).c_str());
    std::fflush(out);
    alarm(options.in_process ? 0 : options.timeout_s);
    const json::Value result = bench.run(problem);
    alarm(0);
    std::fprintf(out, "%s\n", json::dump(result, {.compact = true}).c_str());
    return true;
  });
  if (!read) std::cerr << "maskbench: " << corpus.error() << "\n";
  std::fprintf(out, "{\"done\": %ld, \"start\": %ld}\n", own_peak_kib(), start);
  std::fflush(out);
  return read;
}

struct Memory {
  std::int64_t peak_kib = 0;
  std::int64_t start_kib = 0;
};

// Reads what work() writes; the number of schemas that were begun.
std::size_t collect(std::FILE* in, Report& report, Memory& memory,
                    std::string& open) {
  std::size_t begun = 0;
  char* buffer = nullptr;
  std::size_t capacity = 0;
  for (ssize_t n = 0; (n = getline(&buffer, &capacity, in)) > 0;) {
    Result<json::Value> line =
        json::parse(std::string_view(buffer, static_cast<std::size_t>(n)));
    if (!line) continue;  // the process died while it wrote
    if (const json::Value* name = line->find("begin")) {
      open = name->as_string();
      ++begun;
    } else if (const json::Value* peak = line->find("done")) {
      memory.peak_kib = std::max(memory.peak_kib, peak->as_int());
      memory.start_kib = line->find("start")->as_int();
      open.clear();
    } else {
      report.add(*line);
      open.clear();
    }
  }
  std::free(buffer);
  return begun;
}

bool run_all(const Options& options, const Compiler& compiler, Corpus& corpus,
             Report& report, Memory& memory) {
  if (options.in_process) {
    std::FILE* file = std::tmpfile();
    if (file == nullptr) return false;
    const bool read = work(options, compiler, corpus, 0, file);
    std::rewind(file);
    std::string open;
    collect(file, report, memory, open);
    std::fclose(file);
    return read;
  }
  for (std::size_t first = 0;;) {
    int ends[2];
    if (pipe(ends) != 0) return false;
    const pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) {
      close(ends[0]);
      std::FILE* out = fdopen(ends[1], "w");
      const bool read = work(options, compiler, corpus, first, out);
      std::fclose(out);
      _exit(read ? 0 : 1);
    }
    close(ends[1]);
    std::FILE* in = fdopen(ends[0], "r");
    std::string open;
    first += collect(in, report, memory, open);
    std::fclose(in);
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    memory.peak_kib = std::max<std::int64_t>(memory.peak_kib, usage.ru_maxrss);
    if (WIFEXITED(status)) return WEXITSTATUS(status) == 0;
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (open.empty()) return false;
    report.add_crash(
        open, signal == SIGALRM
                  ? "more than " + std::to_string(options.timeout_s) + " s"
                  : strsignal(signal));
  }
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto is = [&](std::string_view wanted) {
      return name == wanted && i + 1 < argc;
    };
    if (is("--vocab")) {
      options.vocab = argv[++i];
    } else if (is("--tokens")) {
      options.tokens = argv[++i];
    } else if (is("--sample")) {
      options.sample = argv[++i];
    } else if (is("--only")) {
      options.only = argv[++i];
    } else if (is("--errors")) {
      options.errors = argv[++i];
    } else if (is("--limit")) {
      options.limit = std::strtoull(argv[++i], nullptr, 10);
    } else if (is("--cache-mib")) {
      options.cache_mib = std::strtoull(argv[++i], nullptr, 10);
    } else if (is("--timeout")) {
      options.timeout_s =
          static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    } else if (name == "--lenient") {
      options.lenient = true;
    } else if (is("--spelling")) {
      const std::string_view spelling = argv[++i];
      if (spelling != "any" && spelling != "canonical") return false;
      if (spelling == "any") options.spelling = JsonSpelling::kAny;
    } else if (name == "--cpu-time") {
      Clock::cpu = true;
    } else if (name == "--in-process") {
      options.in_process = true;
    } else if (!name.starts_with("--") && options.folder.empty()) {
      options.folder = name;
    } else {
      return false;
    }
  }
  return !options.folder.empty() && !options.vocab.empty() &&
         !options.tokens.empty();
}

Corpus::Selection selection(const Options& options) {
  Corpus::Selection out;
  out.limit = options.limit;
  if (!options.only.empty()) {
    out.names.emplace({options.only});
  } else if (!options.sample.empty()) {
    out.names.emplace();
    std::ifstream in(options.sample);
    for (std::string name; std::getline(in, name);) {
      if (!name.empty()) out.names->insert(name);
    }
  }
  return out;
}

int usage() {
  std::cerr << "maskbench FOLDER --vocab FILE --tokens FILE [--sample FILE] "
               "[--only NAME] [--limit N] [--errors FILE] [--timeout S] "
               "[--cache-mib N] [--lenient] [--in-process] "
               "[--spelling canonical|any] [--cpu-time]\n";
  return 2;
}

int run(int argc, char** argv) {
  Options options;
  if (!read_options(argc, argv, options)) return usage();
  Result<Vocabulary> vocabulary = bench::read_vocabulary(options.vocab);
  if (!vocabulary) {
    std::cerr << options.vocab << ": " << vocabulary.error().to_string()
              << "\n";
    return 1;
  }
  Corpus corpus;
  if (!corpus.open(options.folder, options.tokens, selection(options))) {
    std::cerr << "maskbench: " << corpus.error() << "\n";
    return 1;
  }
  const Clock::time_point begin = Clock::now();
  Result<Compiler> compiler =
      Compiler::create(*vocabulary, {.cache_bytes = options.cache_mib << 20});
  if (!compiler) {
    std::cerr << compiler.error().to_string() << "\n";
    return 1;
  }
  const std::int64_t tables_ns = Clock::now() - begin;

  Report report;
  Memory memory;
  const bool done = run_all(options, *compiler, corpus, report, memory);
  std::cout << "compiler: "
#if defined(__clang__)
            << "Clang " << __clang_version__
#else
            << "GCC " << __VERSION__
#endif
#ifndef NDEBUG
            << ", with assertions"
#endif
            << "\ncommand:";
  for (int i = 0; i < argc; ++i) std::cout << " " << argv[i];
  std::cout << "\nvocabulary: " << vocabulary->size() << " ids; its tables "
            << tables_ns / 1000000 << " ms\n\n";
  report.print(std::cout);
  std::cout << "\npeak memory: " << memory.peak_kib / 1024 << " MiB, of which "
            << memory.start_kib / 1024 << " before the first schema\n";
  if (!options.errors.empty()) {
    std::ofstream out(options.errors);
    report.print_errors(out);
  }
  return done ? 0 : 1;
}

}  // namespace

}  // namespace parlance::maskbench

int main(int argc, char** argv) { return parlance::maskbench::run(argc, argv); }
