#ifndef PARLANCE_SRC_REGEX_NECESSARY_LITERALS_H_
#define PARLANCE_SRC_REGEX_NECESSARY_LITERALS_H_

// Texts without which a pattern cannot match.
//
//   (?:<tool_call>\s*)?<function=(?P<name>[^>]+)>      {"<function="}
//   </think>|(?=<tool_call>)                           {"</think>",
//   "<tool_call>"} \n?</parameter>(?=\s*(?:<parameter=|\Z))|\n?\Z
//   {"</parameter>"} inside a text
//
// Each match, together with the text that its look-aheads read, contains at
// least one of these texts.  So a text that contains none of them has no match
// in it.  The set is sound and not unique: of the candidates along a
// concatenation the earliest with texts of at least kLongLiteral bytes is
// taken, else the one whose shortest text is longest.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "regex/hir.h"

namespace parlance::regex {

inline constexpr std::size_t kLongLiteral = 6;

struct NecessaryLiterals {
  // No text contains another.  Empty: the pattern matches nothing.
  std::vector<std::string> texts;
  // Some of the texts are read by a look-ahead only.
  bool ahead = false;

  std::size_t shortest() const;  // bytes; the largest size_t if empty
};

// Nothing if there is no such set: a match may be empty, or consist of
// characters of large classes.  `inside` says that the pattern is searched in
// a text that continues after the match, so that \Z and $ do not match.
// Complexity: O(nodes).
std::optional<NecessaryLiterals> necessary_literals(const Hir& hir,
                                                    bool inside = false);

// The same for a concatenation of nodes of `hir`.
std::optional<NecessaryLiterals> necessary_literals(
    const Hir& hir, std::span<const HirId> concatenation, bool inside = false);

// The literals of optional parts that may come before the first part that is
// not optional: "<tool_call>" of the first example.  Only literals of at least
// four bytes.
std::vector<std::string> optional_first_literals(const Hir& hir);

}  // namespace parlance::regex

#endif  // PARLANCE_SRC_REGEX_NECESSARY_LITERALS_H_
