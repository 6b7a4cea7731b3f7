#ifndef PARLANCE_SRC_REGEX_AST_H_
#define PARLANCE_SRC_REGEX_AST_H_

// A pattern as it is written, one node per construct, each with its bytes.
//
// Like Hir, a tree in one array: children stand before their parents and the
// last node is the root, so every pass over it is a loop.
//
//   pattern  <(?P<n>a|b)+
//   nodes    0 Char '<'   1 Char 'a'   2 Char 'b'   3 Alternation 1 2
//            4 Group 1 of 3    5 Repeat 1.. of 4    6 Concat 0 5
//
// Escapes are read and names are numbered; translate.cc applies the flags
// to a node; `flags` holds the flags that were on at the node's position.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/unbounded.h"
#include "parlance/error.h"
#include "regex/char_class.h"
#include "regex/hir.h"
#include "regex/pattern.h"

namespace parlance::regex {

using AstId = base::Id<struct AstNode>;

enum class AstKind : std::uint8_t {
  kEmpty,
  kChar,         // `c`
  kDot,          // .
  kSet,          // `set`, or all but `set` when `negated`
  kAnchor,       // `anchor`
  kConcat,       // children in order
  kAlternation,  // children, two or more
  kRepeat,       // children[0] `min`..`max` times, in mode `mode`
  kGroup,        // children[0], captured as `group`
  kLook,         // children[0], `behind`, `negated`
  kAtomic,       // children[0]
  kBackref,      // `group`
  kConditional,  // `group` ? children[0] : children[1]
};

enum class AstAnchor : std::uint8_t {
  kCaret,
  kDollar,
  kTextStart,  // \A
  kTextEnd,    // \Z
  kWordBoundary,
  kNotWordBoundary,
};

enum class RepeatMode : std::uint8_t { kGreedy, kLazy, kPossessive };

struct Flags {
  bool ignore_case = false;
  bool multi_line = false;
  bool dot_all = false;
  bool verbose = false;
};

struct AstNode {
  AstKind kind = AstKind::kEmpty;
  Span span = {};
  Flags flags = {};
  std::vector<AstId> children = {};
  char32_t c = 0;
  CharClass set = {};
  bool negated = false;
  // kSet: written in brackets.  IGNORECASE adds the other cases of a
  // character in brackets, but not those of a \w or \p{...} without brackets.
  bool bracketed = false;
  AstAnchor anchor = AstAnchor::kCaret;
  std::uint32_t min = 0;
  std::uint32_t max = base::kUnbounded;
  RepeatMode mode = RepeatMode::kGreedy;
  std::uint32_t group = 0;
  bool behind = false;
};

struct Ast {
  std::vector<AstNode> nodes;  // root last
  std::uint32_t group_count = 0;
  std::vector<GroupName> names = {};
};

// Text -> Ast.  Errors as parse_pattern().
Result<Ast> parse_ast(std::string_view text, const PatternOptions& options);

// Ast -> Hir.  Fails (kUnsupportedPattern) for a look-behind whose length is
// not fixed.
Result<Hir> translate(const Ast& ast, const PatternOptions& options);

// Hir -> the text that PCRE2 reads, with the options UTF | UCP | DUPNAMES |
// NO_START_OPTIMIZE; flags are inline.
std::string to_pcre2(const Hir& hir, Flavor flavor);

// PCRE2's groups, by their opening parentheses in that text: element i is the
// kCapture node of its group i.  Element 0 is the root.
std::vector<HirId> pcre2_groups(const Hir& hir);

}  // namespace parlance::regex

#endif  // PARLANCE_SRC_REGEX_AST_H_
