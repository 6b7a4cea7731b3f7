// Answers questions about searching streams, one JSON object per line on stdin,
// one answer per line on stdout.  Spoken to by
// tests/differential/test_automata.py.
//
//   {"patterns": ["a(?P<n>b)?", "ab"], "texts": ["xab", "b"]}
//       {"finds": "0 1 3 2 3;-"}
//
// Per text: the pattern that won, its span, the spans of its groups ("- -" for
// one that took no part), or "-" when nothing matched.  "finds" is instead
// "automaton" with a reason when a pattern does not run on the automaton.
//
//   "pos": 1           the search begins there
//   "flags": "im"      besides DOTALL, which is always set
//   "sizes": [1, 2]    the text comes in pieces of these sizes, again and again
//   "bytes": 1000      Limits::automaton_bytes
//   "prefixes": true   adds "prefixes": per text, fed but not ended, whether
//                      the search is decided ("!") and from where it holds
//
// Offsets are bytes.

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/dfa.h"
#include "parlance/json.h"
#include "regex/pattern.h"

namespace {

using parlance::Result;
using parlance::automata::Automaton;
using parlance::automata::kNoPosition;
using parlance::json::Object;
using parlance::json::Value;
namespace automata = parlance::automata;
namespace regex = parlance::regex;

Value refusal(std::string_view why) {
  return Object{{"automaton", Value(false)}, {"why", Value(why)}};
}

struct Setup {
  std::vector<regex::Pattern> patterns;
  std::shared_ptr<const Automaton> automaton;
  std::string why;
};

Setup compile(const Value& question) {
  Setup out;
  regex::PatternOptions options;
  options.dot_all = true;
  if (const Value* flags = question.find("flags")) {
    options.ignore_case = flags->as_string().find('i') != std::string::npos;
    options.multi_line = flags->as_string().find('m') != std::string::npos;
  }
  parlance::Limits limits;
  if (const Value* bytes = question.find("bytes")) {
    limits.automaton_bytes = static_cast<std::size_t>(bytes->as_int());
  }
  for (const Value& text : question.find("patterns")->items()) {
    Result<regex::Pattern> pattern =
        regex::parse_pattern(text.as_string(), options);
    if (!pattern) {
      out.why = pattern.error().message;
      return out;
    }
    if (!pattern->hir.regular()) {
      out.why = *pattern->hir.not_regular;
      return out;
    }
    out.patterns.push_back(std::move(*pattern));
  }
  std::vector<automata::PatternSpec> specs;
  for (const regex::Pattern& pattern : out.patterns) {
    automata::PatternSpec spec{&pattern.hir, {}};
    for (std::uint32_t g = 1; g <= pattern.hir.group_count; ++g) {
      spec.groups.push_back(g);
    }
    specs.push_back(std::move(spec));
  }
  auto automaton = Automaton::compile(specs, {}, limits);
  if (!automaton) {
    out.why = automaton.error().message;
    return out;
  }
  out.automaton = std::move(*automaton);
  return out;
}

void append_span(std::string& out, std::uint64_t begin, std::uint64_t end) {
  if (begin == kNoPosition) {
    out += " - -";
    return;
  }
  out += ' ' + std::to_string(begin) + ' ' + std::to_string(end);
}

Value answer(const Value& question) {
  Setup setup = compile(question);
  if (setup.automaton == nullptr) return refusal(setup.why);
  const Value* given = question.find("pos");
  auto pos = static_cast<std::size_t>(given == nullptr ? 0 : given->as_int());
  std::vector<std::size_t> sizes;
  if (const Value* list = question.find("sizes")) {
    for (const Value& size : list->items()) {
      sizes.push_back(static_cast<std::size_t>(size.as_int()));
    }
  }
  std::string finds;
  std::string prefixes;
  automata::Search search;
  automata::Match match;
  for (const Value& text : question.find("texts")->items()) {
    std::string_view rest = text.as_string();
    std::size_t from = std::min(pos, rest.size());
    automata::Context context;
    context.text_start = from == 0;
    context.line_start = from == 0 || rest[from - 1] == '\n';
    rest.remove_prefix(from);
    search.start(setup.automaton.get(), from, context);
    for (std::size_t i = 0; !rest.empty() && !search.decided(); ++i) {
      std::size_t size = sizes.empty() ? rest.size() : sizes[i % sizes.size()];
      std::string_view piece = rest.substr(0, size);
      rest.remove_prefix(search.run(piece));
    }
    if (search.decided()) prefixes += '!';
    prefixes += std::to_string(search.hold()) + ';';
    search.finish();
    if (search.decided()) {
      search.match(match);
      finds += std::to_string(match.pattern);
      append_span(finds, match.begin, match.end);
      for (auto [begin, end] : match.groups) append_span(finds, begin, end);
    } else {
      finds += '-';
    }
    finds += ';';
  }
  Object out{{"finds", Value(finds)}};
  const Value* wanted = question.find("prefixes");
  if (wanted != nullptr && wanted->as_bool()) {
    out.set("prefixes", Value(prefixes));
  }
  return out;
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) {
    Result<Value> question = parlance::json::parse(line);
    Value reply =
        question ? answer(*question) : refusal(question.error().message);
    std::cout << parlance::json::dump(reply, {.ascii = true}) << "\n";
  }
  return 0;
}
