// Any bytes as up to three patterns and a text: the search finds the same
// however the text is cut and however little memory it has, holds nothing
// that it has let go before, and a decision stays.
//
// The first byte chooses flags, the second and third how long the first two
// patterns are; the rest, after a zero byte, is the text.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "automata/dfa.h"
#include "regex/pattern.h"

namespace {

using namespace parlance;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Outcome {
  bool found = false;
  automata::Match match;
  bool operator==(const Outcome& other) const {
    return found == other.found &&
           (!found ||
            (match.pattern == other.match.pattern &&
             match.begin == other.match.begin && match.end == other.match.end &&
             match.groups == other.match.groups));
  }
};

Outcome search(const automata::Automaton& automaton, std::string_view text,
               std::size_t size) {
  automata::Search search;
  search.start(&automaton, 0, {});
  std::uint64_t hold = 0;
  while (!text.empty() && !search.decided()) {
    std::size_t read = search.run(text.substr(0, size));
    require(read > 0 || search.decided());
    text.remove_prefix(read);
    if (search.decided()) break;
    require(search.hold() >= hold && search.hold() <= search.position());
    hold = search.hold();
  }
  search.finish();
  require(search.decided() != search.over());
  Outcome out;
  out.found = search.decided();
  if (!out.found) return out;
  search.match(out.match);
  require(hold <= out.match.begin && out.match.begin <= out.match.end);
  for (auto [begin, end] : out.match.groups) {
    if (begin == automata::kNoPosition) continue;
    require(out.match.begin <= begin && begin <= end && end <= out.match.end);
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size < 3 || size > 2000) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 3, size - 3);
  std::size_t zero = std::min(rest.find('\0'), rest.size());
  std::string_view text = rest.substr(std::min(zero + 1, rest.size()));
  std::string_view sources = rest.substr(0, zero);

  regex::PatternOptions options;
  options.dot_all = (data[0] & 1) == 0;
  options.multi_line = (data[0] & 2) != 0;
  options.ignore_case = (data[0] & 4) != 0;
  std::vector<regex::Pattern> patterns;
  for (int i = 0; i < 3; ++i) {
    std::size_t length =
        i < 2 ? std::min<std::size_t>(data[1 + i], sources.size())
              : sources.size();
    auto pattern = regex::parse_pattern(sources.substr(0, length), options);
    sources.remove_prefix(length);
    if (pattern && pattern->hir.regular()) {
      patterns.push_back(std::move(*pattern));
    }
  }
  if (patterns.empty()) return 0;
  std::vector<automata::PatternSpec> specs;
  for (const regex::Pattern& pattern : patterns) {
    automata::PatternSpec spec{&pattern.hir, {}};
    for (std::uint32_t g = 1; g <= std::min(pattern.hir.group_count, 4U); ++g) {
      spec.groups.push_back(g);
    }
    specs.push_back(std::move(spec));
  }
  Limits limits;
  limits.pattern_states = 2000;
  auto automaton = automata::Automaton::compile(specs, {}, limits);
  limits.automaton_bytes = 2000;
  auto small = automata::Automaton::compile(specs, {}, limits);
  require(automaton.has_value() == small.has_value());
  if (!automaton) return 0;

  text = text.substr(0, 300);
  Outcome whole = search(**automaton, text, text.size() + 1);
  require(search(**automaton, text, 1) == whole);
  require(search(**automaton, text, 3) == whole);
  require(search(**small, text, 2) == whole);
  return 0;
}
