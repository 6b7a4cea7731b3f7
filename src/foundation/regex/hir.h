#ifndef PARLANCE_SRC_REGEX_HIR_H_
#define PARLANCE_SRC_REGEX_HIR_H_

// The meaning of a pattern, after flags, escapes and case have been resolved.
//
// A Hir is a tree in one array: nodes refer to their children by index, so no
// walk needs the call stack to be as deep as the pattern.  Children precede
// their parents; the last node is the root.
//
//   pattern   <(?P<n>a|b)+>
//   nodes     0 Literal "<"
//             1 Literal "a"   2 Literal "b"   3 Alternation 1 2
//             4 Capture 1 "n" of 3            5 Repeat 1..inf greedy of 4
//             6 Literal ">"                   7 Concat 0 5 6
//
// A Hir has the semantics of Python's `regex` module, version 0, for Unicode
// strings.  If it is regular(), our own automata run the pattern; otherwise
// PCRE2 (pcre2.h) runs it, from a text that is written from the Hir.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unbounded.h"
#include "regex/char_class.h"

namespace parlance::regex {

// Indexes Hir::nodes.
using HirId = std::uint32_t;

enum class HirKind : std::uint8_t {
  kEmpty,        // matches the empty string
  kNothing,      // matches nothing, e.g. an empty class
  kLiteral,      // `text`, one or more characters in UTF-8, as written
  kClass,        // one character of `char_class`
  kConcat,       // `children` in order
  kAlternation,  // `children`, earlier ones preferred
  kRepeat,       // children[0] `min`..`max` times
  kCapture,      // children[0], group `group`
  kAssert,       // zero width, `assertion`
  kLook,         // zero width: children[0] as a look-ahead or look-behind
  kAtomic,       // children[0] without backtracking; not regular
  kBackref,      // the text that group `group` matched; not regular
  kConditional,  // children[0] if group `group` matched, else children[1];
                 // not regular
};

enum class Assertion : std::uint8_t {
  kTextStart,        // \A, and ^ without MULTILINE
  kTextEnd,          // \Z
  kTextEndNewline,   // $ without MULTILINE: at the end or before a final "\n"
  kLineStart,        // ^ with MULTILINE
  kLineEnd,          // $ with MULTILINE
  kWordBoundary,     // \b; not regular
  kNotWordBoundary,  // \B; not regular
};

struct HirNode {
  HirKind kind = HirKind::kEmpty;
  std::string text = {};      // kLiteral
  CharClass char_class = {};  // kClass
  std::vector<HirId> children = {};
  std::uint32_t min = 0;                 // kRepeat
  std::uint32_t max = base::kUnbounded;  // kRepeat
  bool greedy = true;                    // kRepeat
  bool possessive = false;               // kRepeat; not regular
  std::uint32_t group = 0;  // kCapture, kBackref, kConditional; from 1
  Assertion assertion = Assertion::kTextStart;  // kAssert
  bool behind = false;       // kLook; look-behind is not regular
  bool negative = false;     // kLook
  bool ignore_case = false;  // kBackref
};

// A named group.  Two groups may have the same name (`(?P<n>a)|(?P<n>b)`).  As
// in the `regex` module, they are then the same group and have one number.
struct GroupName {
  std::string name;
  std::uint32_t group = 0;
  bool operator==(const GroupName&) const = default;
};

struct Hir {
  std::vector<HirNode> nodes;         // root last; never empty once built
  std::uint32_t group_count = 0;      // without group 0
  std::vector<GroupName> names = {};  // in order of group number

  const HirNode& root() const { return nodes.back(); }

  // Why this pattern is not regular ("look-behind at byte 3", "back-reference
  // at byte 7"), or nothing if it is regular.  A pattern is regular unless it
  // contains look-behind, \b or \B, a back-reference, a conditional, an atomic
  // group, a possessive repeat, a look-ahead inside a look-ahead, or a
  // look-ahead that contains a capture.
  std::optional<std::string> not_regular = std::nullopt;
  bool regular() const { return !not_regular.has_value(); }
};

// The Hir of a list of delimiters: an alternation of the literals, longest
// first.  Lengths are in code points, and literals of equal length stay in
// their order.  REQUIRES: `literals` is not empty and contains no empty string.
Hir literal_set(const std::vector<std::string>& literals);

// For debugging and tests:
// "concat{lit{<} rep{1,inf,greedy cap{1:n alt{...}}}}".
std::string dump(const Hir& hir);

}  // namespace parlance::regex

#endif  // PARLANCE_SRC_REGEX_HIR_H_
