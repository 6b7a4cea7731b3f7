// Inputs that are known to be expensive: schemas, patterns and grammars
// whose automata explode when they are built carelessly.
//
//   bench_slow_inputs --vocab V.vocab [--only NAME] [--runs N] [--seconds N]
//
// For each input: compile; the first mask; then a random walk of 150 tokens,
// each drawn from the mask, with a mask before each.  A text that ends begins
// again.  Each run is a process of its own, so that its peak memory is its own;
// a figure is the least of the runs.  Times are processor time of the thread.
//
// An input meets the bars when the first mask takes at most 10 ms, any later
// mask at most 3 ms, and the process grows by at most 100 MB beyond the one
// with the vocabulary loaded; or when its compile refuses it at a place.  A row
// that does not meet them ends with "<<<" and the bars that are broken.  A walk
// in which a call passes GrammarLimits::work ends there, with the time of that
// call: "bounded, error after".

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench_clock.h"
#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "vocab_text.h"

namespace parlance {
namespace {

constexpr double kFirstBar = 10;  // ms
constexpr double kMaskBar = 3;    // ms
constexpr long kMemoryBar = 100;  // MB
constexpr int kTokens = 150;

enum class Kind : std::uint8_t { kSchema, kRegex, kEbnf, kLark };

struct Input {
  std::string name;
  Kind kind = Kind::kSchema;
  std::string text;
  // Text that is read before the walk.
  std::string before = {};
};

std::string join(int count, std::string_view separator,
                 const std::function<std::string(int)>& item) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    if (i != 0) out += separator;
    out += item(i);
  }
  return out;
}

std::string number(int i) { return std::to_string(i); }
std::string letter(int i) { return {static_cast<char>('a' + i % 26)}; }
std::string quoted(const std::string& text) { return "\"" + text + "\""; }

std::string string_schema(const std::string& keywords) {
  return R"({"type":"string",)" + keywords + "}";
}
std::string all_of(int count, const std::function<std::string(int)>& item) {
  return R"("allOf":[)" + join(count, ",", item) + "]";
}
std::string pattern(const std::string& text) {
  return R"({"pattern":")" + text + "\"}";
}

std::string enum_of_objects(int count) {
  return R"({"enum":[)" +
         join(count, ",",
              [](int i) {
                return R"({"id":)" + number(i) + R"(,"name":"n)" + number(i) +
                       "\"}";
              }) +
         "]}";
}

// `count` patterns of keys, of which most keys match several.
std::string overlapping(int count,
                        const std::function<std::string(int)>& value) {
  return R"("patternProperties":{)" +
         join(count, ",",
              [&](int i) {
                return quoted(letter(i) + ".*" + letter(i + 7) +
                              (i < 26 ? "" : ".*z")) +
                       ":" + value(i);
              }) +
         "}";
}

std::vector<Input> schemas() {
  const auto schema = [](std::string name, std::string text,
                         std::string before = {}) {
    return Input{std::move(name), Kind::kSchema, std::move(text),
                 std::move(before)};
  };
  const auto array = [](const std::string& keywords) {
    return R"({"type":"array",)" + keywords + "}";
  };
  const auto object = [](const std::string& keywords) {
    return R"({"type":"object",)" + keywords + "}";
  };
  const auto property = [](int i) {
    return quoted("property_" + number(i)) + R"(:{"type":"integer"})";
  };
  return {
      schema("length 1000..2000 of (ab)+",
             string_schema(
                 R"("minLength":1000,"maxLength":2000,"pattern":"^(ab)+$")")),
      schema("length 5000..5001 of a.*b.*c",
             string_schema(
                 R"("minLength":5000,"maxLength":5001,"pattern":"a.*b.*c")")),
      schema("minContains 10000",
             array(R"("contains":{"const":1},"minContains":10000,)"
                   R"("maxContains":10000)")),
      schema("contains x20", array(all_of(20,
                                          [](int i) {
                                            return R"({"contains":{"const":)" +
                                                   number(i) + "}}";
                                          }))),
      schema(
          "contains pattern x20",
          array(all_of(20,
                       [](int i) {
                         return R"({"contains":{"type":"string","pattern":")" +
                                letter(i) + "\"}}";
                       }))),
      schema("uniqueItems, enum of 1000",
             array(R"("uniqueItems":true,"items":{"enum":[)" +
                   join(1000, ",", number) + "]}")),
      schema("enum of 1e5 strings",
             R"({"enum":[)" +
                 join(100000, ",",
                      [](int i) {
                        return quoted("a_rather_long_value_of_an_enumeration_" +
                                      number(i * 7919 % 100000));
                      }) +
                 "]}"),
      schema("enum of 1e4 objects", enum_of_objects(10000)),
      schema("enum of 1e5 integers",
             R"({"enum":[)" + join(100000, ",", number) + "]}"),
      schema("properties, 1e4",
             object(R"("properties":{)" + join(10000, ",", property) + "}")),
      schema(
          "properties, 1e4, all required",
          object(R"("properties":{)" + join(10000, ",", property) +
                 R"(},"required":[)" +
                 join(10000, ",",
                      [](int i) { return quoted("property_" + number(i)); }) +
                 "]")),
      schema(
          "patternProperties, 30 that overlap",
          object(overlapping(
              30, [](int i) { return R"({"minimum":)" + number(i) + "}"; }))),
      schema("patternProperties, 30 and no other",
             object(R"("additionalProperties":false,)" +
                    overlapping(30,
                                [](int i) {
                                  return R"({"minimum":)" + number(i) + "}";
                                }))),
      schema("patternProperties, 30 of two types",
             object(overlapping(30,
                                [](int i) {
                                  return std::string(
                                      i % 2 == 0 ? R"({"type":"integer"})"
                                                 : R"({"type":"string"})");
                                }))),
      schema("patternProperties, 30 and a condition",
             object(overlapping(30,
                                [](int i) {
                                  return R"({"minimum":)" + number(i) + "}";
                                }) +
                    R"(,"not":{"patternProperties":{"q.*w":{"type":"null"},)"
                    R"("w.*q":{"type":"null"}}})")),
      schema("patternProperties, 12 of x.{n}",
             object(R"("patternProperties":{)" +
                    join(12, ",",
                         [](int i) {
                           return quoted("x.{" + number(i + 1) + "}y") +
                                  R"(:{"minimum":)" + number(i) + "}";
                         }) +
                    "}")),
      schema("patternProperties, 6 of x.{n}y, two types",
             object(R"("patternProperties":{)" +
                    join(6, ",",
                         [](int i) {
                           return quoted("x.{" + number(i * 5 + 20) + "}y") +
                                  (i % 2 == 0 ? R"(:{"type":"integer"})"
                                              : R"(:{"type":"null"})");
                         }) +
                    "}")),
      schema("dependentSchemas, chain of 300",
             object(R"("dependentSchemas":{)" +
                    join(300, ",",
                         [](int i) {
                           return quoted("k" + number(i)) +
                                  R"(:{"required":[)" +
                                  quoted("k" + number(i + 1)) +
                                  R"(],"properties":{"v":{"minimum":)" +
                                  number(i) + "}}}";
                         }) +
                    "}")),
      schema("dependentRequired, chain of 1000",
             object(R"("dependentRequired":{)" +
                    join(1000, ",",
                         [](int i) {
                           return quoted("k" + number(999 - i)) + ":[" +
                                  quoted("k" + number(1000 - i)) + "]";
                         }) +
                    "}")),
      schema(
          "if of 100 constants",
          object(R"("properties":{"t":{"enum":[)" +
                 join(100, ",", [](int i) { return quoted("a" + number(i)); }) +
                 "]}," +
                 join(100, ",",
                      [](int i) {
                        return quoted("k" + number(i)) +
                               R"(:{"type":"integer"})";
                      }) +
                 R"(},"required":["t"],"allOf":[)" +
                 join(100, ",",
                      [](int i) {
                        return R"({"if":{"properties":{"t":{"const":"a)" +
                               number(i) + R"("}}},"then":{"required":["k)" +
                               number(i) + "\"]}}";
                      }) +
                 "]")),
      schema("oneOf of 300 with one more property each",
             R"({"oneOf":[)" +
                 join(300, ",",
                      [](int i) {
                        return R"({"required":[)" + quoted("k" + number(i)) +
                               R"(],"properties":{)" + quoted("k" + number(i)) +
                               R"(:{"minimum":)" + number(i) + "}}}";
                      }) +
                 "]}"),
      schema("oneOf of 300, by a constant",
             R"({"oneOf":[)" +
                 join(300, ",",
                      [](int i) {
                        return R"({"type":"object","required":["t","v"],)"
                               R"("properties":{"t":{"const":"a)" +
                               number(i) + R"("},"v":{"minimum":)" + number(i) +
                               "}}}";
                      }) +
                 "]}"),
      schema("anyOf of 300 closed objects",
             R"({"anyOf":[)" +
                 join(300, ",",
                      [](int i) {
                        return R"({"type":"object","required":[)" +
                               quoted("k" + number(i)) +
                               R"(],"additionalProperties":false,)"
                               R"("properties":{"x":{"type":"integer"},)" +
                               quoted("k" + number(i)) + R"(:{"minimum":)" +
                               number(i) + "}}}";
                      }) +
                 "]}"),
      schema("enum of 400 objects", enum_of_objects(400)),
      schema("$ref recursion through 100 anyOf",
             R"({"$ref":"#/$defs/n0","$defs":{)" +
                 join(100, ",",
                      [](int i) {
                        return quoted("n" + number(i)) +
                               R"(:{"anyOf":[{"type":"integer"},{"items":)"
                               R"({"$ref":"#/$defs/n)" +
                               number((i + 1) % 100) +
                               R"("},"type":"array"},{"properties":{"a":)"
                               R"({"$ref":"#/$defs/n)" +
                               number((i * 7 + 3) % 100) + R"("}}}]})";
                      }) +
                 "}}"),
      schema("pattern of nested counts",
             string_schema(R"("pattern":"^((([a-c]{1,100}x?){1,100}y?){1,100})"
                           R"(z?){1,100}$")")),
      schema("look-ahead in a counted repeat",
             string_schema(R"("pattern":"^((?=.{0,9}a)[a-z]{1,5}b?){50}$")")),
      schema("pattern of 2000 words, not 2000 words",
             string_schema(
                 R"("pattern":"^()" +
                 join(2000, "|", [](int i) { return "w" + number(i * 7919); }) +
                 R"()+$","not":{"pattern":"()" +
                 join(2000, "|", [](int i) { return number(i * 104729); }) +
                 R"()q"})")),
      schema("not pattern a.{50}b",
             string_schema(R"("not":{"pattern":"a.{50}b"})")),
      schema("not pattern (a|b)*a(a|b){20}",
             string_schema(R"("not":{"pattern":"^(a|b)*a(a|b){20}$"})"),
             "\"abba"),
      schema("allOf not pattern x10",
             string_schema(all_of(10,
                                  [](int i) {
                                    return R"({"not":)" +
                                           pattern(letter(i) + ".*" +
                                                   letter(i + 1) + ".*" +
                                                   letter(i + 2)) +
                                           "}";
                                  }))),
      schema("allOf pattern x10", string_schema(all_of(10,
                                                       [](int i) {
                                                         return pattern(
                                                             letter(i) + ".*" +
                                                             letter(i + 1));
                                                       }))),
      schema(
          "allOf pattern x12, one letter each",
          string_schema(all_of(12, [](int i) { return pattern(letter(i)); }))),
      schema("look-aheads x12", string_schema(R"("pattern":"^)" +
                                              join(12, "",
                                                   [](int i) {
                                                     return "(?=.*" +
                                                            letter(i) + ".{" +
                                                            number(i + 1) +
                                                            "})";
                                                   }) +
                                              "\"")),
      schema("multipleOf 0.0001234567",
             R"({"type":"number","multipleOf":0.0001234567})"),
      schema("multipleOf 99991", R"({"type":"integer","multipleOf":99991})"),
      schema(
          "multipleOf 999983, minimum, maximum",
          R"({"type":"integer","multipleOf":999983,"minimum":-1234567890123,)"
          R"("maximum":98765432109876})"),
      schema("minimum and maximum of 300 digits",
             R"({"type":"integer","minimum":1)" + std::string(300, '0') +
                 R"(,"maximum":1)" + std::string(301, '0') + "}"),
      schema("multipleOf 97, 89 and 83",
             R"({"type":"integer","allOf":[{"multipleOf":97},)"
             R"({"multipleOf":89},{"multipleOf":83}]})"),
  };
}

std::vector<Input> grammars() {
  std::vector<Input> out = {
      {"regex .*a.{50}", Kind::kRegex, ".*a.{50}"},
      {"regex .*a.{60}c", Kind::kRegex, ".*a.{60}c"},
      {"regex .*a.{500}", Kind::kRegex, ".*a.{500}"},
      {"regex (.*a.{50}){50}", Kind::kRegex, "(.*a.{50}){50}"},
      {"regex, 20000 words", Kind::kRegex,
       join(20000, "|",
            [](int i) {
              std::string word;
              for (int n = i * 7919 % 20011 + 1; n != 0; n /= 26)
                word += letter(n);
              return word + (i % 3 == 0 ? "ing" : i % 3 == 1 ? "ed" : "er");
            })},
      {"ebnf nullable cycle", Kind::kEbnf,
       "root ::= a\na ::= b a | b | \"x\" | \"\"\nb ::= a b | a | \"y\" | "
       "\"\""},
      {"ebnf ({0,1000}){0,1000}", Kind::kEbnf,
       "root ::= ([a-z]{0,1000} \" \"){0,1000}"},
      {"ebnf (([a-z]?){0,1000}){0,1000}", Kind::kEbnf,
       "root ::= (([a-z]?){0,1000}){0,1000}"},
      {"ebnf, classes that overlap", Kind::kEbnf,
       "root ::= (" +
           join(24, " | ", [](int i) { return "[" + letter(i) + "-z]"; }) +
           " | [a-z] [a-z])*"},
  };
  std::string text = "root ::= r0\n";
  for (int i = 0; i < 60; ++i) {
    text += "r" + number(i) + " ::= r" + number(i + 1) + " r" + number(i + 1) +
            "\n";
  }
  out.push_back({"ebnf, 2^60 nullable", Kind::kEbnf, text + "r60 ::= \"x\"?"});
  text = "root ::= " + join(1000, " ", [](int i) { return "r" + number(i); });
  for (int i = 0; i < 1000; ++i) {
    text += "\nr" + number(i) + " ::= (\"" + letter(i) + number(i) + "\")?";
  }
  out.push_back({"ebnf, 1000 nullable rules in a row", Kind::kEbnf, text});
  out.push_back({"ebnf s s s | s s | a", Kind::kEbnf,
                 "root ::= s\ns ::= s s s | s s | \"a\" | \"b\" s \"b\""});
  out.push_back({"ebnf palindromes", Kind::kEbnf,
                 "root ::= [a-z] | " + join(26, " | ", [](int i) {
                   return quoted(letter(i)) + " root " + quoted(letter(i));
                 })});
  text =
      "start: " + join(300, "|", [](int i) { return "r" + number(i); }) + "\n";
  for (int i = 0; i < 300; ++i) {
    text += "r" + number(i) + ": r" + number((i + 1) % 300) + " r" +
            number((i * 7 + 2) % 300) + " | \"x" + number(i) + "\" |\n";
  }
  out.push_back({"lark, 300 rules that call each other", Kind::kLark, text});
  text = "start: (" + join(5000, "|", [](int i) { return "T" + number(i); }) +
         ")+\n";
  for (int i = 0; i < 5000; ++i) {
    text += "T" + number(i) + ": /" + letter(i / 26) + letter(i) + number(i) +
            "[a-z]*/\n";
  }
  out.push_back({"lark, 5000 terminals", Kind::kLark, text});
  return out;
}

struct Figures {
  double compile = 0, first = 0, worst = 0, accept = 0;  // ms
  long grown = 0;                                        // MB
  int masks = 0;
  int slow = 0;  // masks over the bar
  enum class End : std::uint8_t {
    kWalked,
    kDeadEnd,
    kRefused,
    kTimeout,
    kBounded
  };
  End end = End::kWalked;
  double error_after = 0;  // ms, of the call that had the error
  char what[240] = {};
};

Result<Constraint> compile(const Compiler& compiler, const Input& input) {
  switch (input.kind) {
    case Kind::kSchema:
      return compiler.compile_json_schema(input.text);
    case Kind::kRegex:
      return compiler.compile_regex(input.text);
    case Kind::kEbnf:
      return compiler.compile_ebnf(input.text);
    case Kind::kLark:
      return compiler.compile_lark(input.text);
  }
  std::abort();
}

// A number of every 32 bits of `state`, a generator of its own so that walks
// are the same on every machine.
std::uint32_t draw(std::uint64_t& state) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return static_cast<std::uint32_t>(state >> 33);
}

// Some allowed token that is not in `stop`; any allowed one if all are.
std::int64_t pick(const std::vector<std::int32_t>& row,
                  std::span<const TokenId> stop, std::uint64_t& random) {
  std::vector<TokenId> allowed;
  for (std::size_t word = 0; word < row.size(); ++word) {
    for (auto bits = static_cast<std::uint32_t>(row[word]); bits != 0;
         bits &= bits - 1) {
      allowed.push_back(static_cast<TokenId>(
          word * 32 + static_cast<std::size_t>(__builtin_ctz(bits))));
    }
  }
  std::erase_if(allowed, [&](TokenId id) {
    return std::find(stop.begin(), stop.end(), id) != stop.end();
  });
  if (allowed.empty()) return -1;
  return allowed[draw(random) % allowed.size()];
}

long peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

Figures walk(const Compiler& compiler, const Input& input) {
  Figures out;
  const long before = peak_mb();
  double begin = bench::thread_ms();
  Result<Constraint> constraint = compile(compiler, input);
  out.compile = bench::thread_ms() - begin;
  out.end = Figures::End::kWalked;
  if (!constraint) {
    out.end = Figures::End::kRefused;
    out.grown = peak_mb() - before;
    std::snprintf(out.what, sizeof(out.what), "%s",
                  constraint.error().to_string().c_str());
    return out;
  }
  Matcher matcher = constraint->matcher();
  std::vector<std::int32_t> row(compiler.mask_words());
  std::uint64_t random = 42;
  const auto bounded = [&](double took) {
    out.end = Figures::End::kBounded;
    out.error_after = took;
    out.grown = peak_mb() - before;
    std::snprintf(out.what, sizeof(out.what), "%s",
                  matcher.error()->message.c_str());
    return out;
  };
  if (!input.before.empty()) matcher.accept_bytes(input.before);
  for (int i = 0; i < kTokens; ++i) {
    if (matcher.is_terminated()) matcher.reset();
    begin = bench::thread_ms();
    matcher.fill_bitmask(row);
    const double took = bench::thread_ms() - begin;
    if (matcher.error()) return bounded(took);
    if (i == 0) {
      out.first = took;
    } else {
      out.worst = std::max(out.worst, took);
      out.slow += took > kMaskBar ? 1 : 0;
    }
    ++out.masks;
    const std::int64_t token =
        pick(row, compiler.vocabulary().stop_ids(), random);
    if (token < 0) {
      if (!matcher.can_end()) {
        out.end = Figures::End::kDeadEnd;
        break;
      }
      matcher.reset();
      continue;
    }
    begin = bench::thread_ms();
    if (!matcher.accept_token(static_cast<TokenId>(token))) {
      if (matcher.error()) return bounded(bench::thread_ms() - begin);
      out.end = Figures::End::kDeadEnd;
      break;
    }
    out.accept = std::max(out.accept, bench::thread_ms() - begin);
  }
  out.grown = peak_mb() - before;
  return out;
}

// One run, in a process that ends after `seconds` of processor time.
Figures run_apart(const Compiler& compiler, const Input& input,
                  unsigned seconds) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{seconds, seconds};
    setrlimit(RLIMIT_CPU, &limit);
    const Figures figures = walk(compiler, input);
    const auto written = write(ends[1], &figures, sizeof(figures));
    _exit(written == sizeof(figures) ? 0 : 1);
  }
  close(ends[1]);
  Figures out;
  if (read(ends[0], &out, sizeof(out)) != sizeof(out)) {
    out = Figures{};
    out.end = Figures::End::kTimeout;
  }
  close(ends[0]);
  rusage usage{};
  wait4(child, nullptr, 0, &usage);
  if (out.end == Figures::End::kTimeout) out.grown = usage.ru_maxrss / 1024;
  return out;
}

Figures least_of(const Figures& a, const Figures& b) {
  Figures out = a;
  out.compile = std::min(a.compile, b.compile);
  out.first = std::min(a.first, b.first);
  out.worst = std::min(a.worst, b.worst);
  out.accept = std::min(a.accept, b.accept);
  out.error_after = std::min(a.error_after, b.error_after);
  out.grown = std::min(a.grown, b.grown);
  out.slow = std::min(a.slow, b.slow);
  return out;
}

// Prints one row.  Returns whether the input meets the bars.
bool print(const std::string& name, const Figures& f) {
  std::string broken;
  const auto breaks = [&](bool is, std::string_view what) {
    if (is) broken.append(broken.empty() ? " <<< " : ", ").append(what);
  };
  std::printf("%-36s ", name.c_str());
  if (f.end == Figures::End::kRefused) {
    std::printf("%8.1f refused: %s\n", f.compile, f.what);
    return true;
  }
  if (f.end == Figures::End::kBounded) {
    std::printf("%8.1f bounded, error after %.0f ms, %ld MB: %s\n", f.compile,
                f.error_after, f.grown, f.what);
    return true;
  }
  breaks(f.end == Figures::End::kTimeout, "time");
  breaks(f.end == Figures::End::kDeadEnd, "dead end");
  breaks(f.first > kFirstBar, "first");
  breaks(f.worst > kMaskBar, "mask");
  breaks(f.grown > kMemoryBar, "memory");
  std::printf("%8.1f %9.2f %9.2f %4d/%-4d %7.2f %6ld%s\n", f.compile, f.first,
              f.worst, f.slow, f.masks, f.accept, f.grown, broken.c_str());
  return broken.empty();
}

int usage() {
  std::cerr << "bench_slow_inputs --vocab FILE [--only NAME] [--runs N] "
               "[--seconds N]\n";
  return 2;
}

int run(int argc, char** argv) {
  std::string vocab, only;
  int runs = 3;
  unsigned seconds = 60;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--vocab") {
      vocab = argv[i + 1];
    } else if (option == "--only") {
      only = argv[i + 1];
    } else if (option == "--runs") {
      runs = std::atoi(argv[i + 1]);
    } else if (option == "--seconds") {
      seconds = static_cast<unsigned>(std::atoi(argv[i + 1]));
    } else {
      return usage();
    }
  }
  if (vocab.empty() || argc % 2 == 0 || runs < 1) return usage();
  Result<Vocabulary> vocabulary = bench::read_vocabulary(vocab);
  if (!vocabulary) {
    std::cerr << vocab << ": " << vocabulary.error().to_string() << "\n";
    return 1;
  }
  Result<Compiler> compiler = Compiler::create(*vocabulary);
  if (!compiler) {
    std::cerr << compiler.error().to_string() << "\n";
    return 1;
  }
  std::printf("%-36s %8s %9s %9s %9s %7s %6s\n", "times in ms", "compile",
              "first", "worst", "slow/all", "accept", "MB");
  std::vector<Input> inputs = schemas();
  std::vector<Input> more = grammars();
  inputs.insert(inputs.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
  int broken = 0;
  for (const Input& input : inputs) {
    if (input.name.find(only) == std::string::npos) continue;
    std::fflush(stdout);
    Figures figures = run_apart(*compiler, input, seconds);
    for (int i = 1; i < runs && figures.end != Figures::End::kTimeout; ++i) {
      figures = least_of(figures, run_apart(*compiler, input, seconds));
    }
    broken += print(input.name, figures) ? 0 : 1;
  }
  std::printf("%d of %zu break a bar\n", broken, inputs.size());
  return 0;
}

}  // namespace
}  // namespace parlance

int main(int argc, char** argv) { return parlance::run(argc, argv); }
