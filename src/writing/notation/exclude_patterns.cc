// Each pattern is read by itself, and all of them become one automaton.

#include "notation/exclude_patterns.h"

#include <cstddef>
#include <utility>

#include "notation/regex_rules.h"

namespace parlance::notation {

using automata::PatternDfa;

Result<std::shared_ptr<const PatternDfa>> read_exclude_patterns(
    const std::vector<std::string>& patterns, const Limits& limits) {
  if (patterns.empty()) return std::shared_ptr<const PatternDfa>();
  const auto at_pattern = [&](Error error, std::size_t i) {
    error.path = "/" + std::to_string(i);
    if (!error.span) error.span = Span{0, patterns[i].size()};
    return error;
  };
  std::vector<regex::Hir> hirs;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    auto read = read_regex(patterns[i], {.search = true});
    if (!read) return at_pattern(std::move(read).error(), i);
    hirs.push_back(std::move(read->hir));
  }
  Result<PatternDfa> made = PatternDfa::compile(hirs, limits);
  if (made) return std::make_shared<const PatternDfa>(*std::move(made));
  // The first pattern that is an error by itself.
  for (std::size_t i = 0; i < hirs.size(); ++i) {
    Result<PatternDfa> one = PatternDfa::compile({&hirs[i], 1}, limits);
    if (!one) return at_pattern(std::move(one).error(), i);
  }
  return std::move(made).error();
}

}  // namespace parlance::notation
