#ifndef PARLANCE_SRC_INVERSION_SHORTEST_H_
#define PARLANCE_SRC_INVERSION_SHORTEST_H_

// Texts and patterns made from the Hir of a delimiter.

#include <optional>
#include <string>
#include <string_view>

#include "regex/hir.h"

namespace parlance::inversion {

// The preferred shortest spelling of a pattern: first alternatives, loops and
// optional parts at their minimum, of a class a space, a letter or a digit if
// it has one.  Look-ahead and assertions are not regarded, so the text need not
// match; whoever uses it verifies it.  Nothing if a part cannot be spelled (a
// class without characters, a back-reference).
std::optional<std::string> shortest_match(const regex::Hir& hir);
// The same for one node of `hir`.
std::optional<std::string> shortest_match(const regex::Hir& hir,
                                          regex::HirId id);

// Whether the pattern may match the empty text wherever a text begins: `^`, or
// `a*`.  A look-ahead has to read something.
bool may_match_nothing(const regex::Hir& hir);

// A pattern of the texts of a node.  Conditions of zero width are left out.
std::string pattern_of(const regex::Hir& hir, regex::HirId id);

// A pattern for any_text.exclude_patterns: every text in which `hir` has a
// match contains a match of it.  Optional parts at both ends are left out, a
// final look-ahead is read, and other conditions are not regarded.  Nothing if
// such a pattern would match the empty text.
std::optional<std::string> text_with_match(const regex::Hir& hir);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_SHORTEST_H_
