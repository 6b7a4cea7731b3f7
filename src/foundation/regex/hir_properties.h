#ifndef PARLANCE_SRC_REGEX_HIR_PROPERTIES_H_
#define PARLANCE_SRC_REGEX_HIR_PROPERTIES_H_

// Properties of the texts that a pattern matches, computed from its Hir.
//
// Each property is a sound bound that need not be tight: a minimum may be too
// small, a maximum too large, a set too big, a prefix too short.  Complexity:
// O(nodes).

#include <cstdint>
#include <string>

#include "regex/hir.h"

namespace parlance::regex {

// Bytes of the shortest and the longest match.  base::kUnbounded: there is no
// longest match, or the number does not fit.
std::uint32_t min_length(const Hir& hir);
std::uint32_t max_length(const Hir& hir);

// The number of bytes before its start that a match may depend on, through
// look-behind, \b or ^.
std::uint32_t lookbehind_bytes(const Hir& hir);

// Whether a match may be empty.
bool can_be_empty(const Hir& hir);

// A text that every match begins with, "" if none is known.
std::string required_prefix(const Hir& hir);

}  // namespace parlance::regex

#endif  // PARLANCE_SRC_REGEX_HIR_PROPERTIES_H_
