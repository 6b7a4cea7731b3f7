#ifndef PARLANCE_SRC_NOTATION_EXCLUDE_PATTERNS_H_
#define PARLANCE_SRC_NOTATION_EXCLUDE_PATTERNS_H_

// The patterns of which free text contains no match.
//
// The dialect is that of regex_rules.h with RegexOptions::search.

#include <memory>
#include <string>
#include <vector>

#include "automata/pattern_dfa.h"
#include "parlance/error.h"
#include "parlance/limits.h"

namespace parlance::notation {

// The automaton of the patterns; null if there are none.  The path of an error
// is "/INDEX", the pattern's index, or empty if only all patterns together are
// too large; spans are bytes of the pattern.
//
// Errors: those of read_regex() and of PatternDfa::compile().
Result<std::shared_ptr<const automata::PatternDfa>> read_exclude_patterns(
    const std::vector<std::string>& patterns, const Limits& limits = {});

}  // namespace parlance::notation

#endif  // PARLANCE_SRC_NOTATION_EXCLUDE_PATTERNS_H_
