#ifndef PARLANCE_SRC_AUTOMATA_NFA_H_
#define PARLANCE_SRC_AUTOMATA_NFA_H_

// Patterns as one nondeterministic automaton over symbols.
//
// A symbol is a byte of UTF-8 text (0..255), the end of the text (kEnd), or a
// mark: a special token met as a token.  Several patterns share one program;
// each has its own entry and its own match instruction.
//
//   <t>|<tx>      0 '<' -> 1    1 't' -> 2   2 '>' -> 3   3 match 0
//                 ...
//
// Priorities are those of a backtracking engine: an earlier target of a union
// is preferred.  A character class is a small trie of its UTF-8 encodings, so
// that one thread stands for all its ranges.
//
// Zero-width conditions on the following text (look-ahead, \Z, $) are `kLook`:
// they name a sub-program which has to match, or must not, from this position
// on.  Conditions on the preceding text (\A, ^) are `kAssert`.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "regex/hir.h"

namespace parlance::automata {

using Symbol = std::uint16_t;
inline constexpr Symbol kEnd = 256;
inline constexpr Symbol kFirstMark = 257;
inline constexpr std::size_t kMaxMarks = 4096;

using Pc = std::uint32_t;

enum class Op : std::uint8_t {
  kSymbols,  // consumes one symbol: `count` edges from `first` in edges
  kUnion,    // `count` targets from `first` in targets, preferred first
  kSave,     // sets slot `first`, continues at `next`
  kAssert,   // if `assertion` holds here, continues at `next`
  kLook,     // sub-program at `first` must (not, if `negative`) match from here
  kMatch,    // pattern `first` has matched
  kLookMatch,
};

struct Edge {
  Symbol low = 0;
  Symbol high = 0;  // inclusive
  Pc next = 0;
  bool operator==(const Edge&) const = default;
};

struct Inst {
  Op op = Op::kUnion;
  bool negative = false;
  regex::Assertion assertion = regex::Assertion::kTextStart;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  Pc next = 0;
};

// An added or control token as the patterns see it.
struct Mark {
  std::string spelling;  // never empty
  // The characters of the spelling match as well as the mark.
  bool spelled = false;
  // White space of a literal right before (after) the mark may be missing: the
  // tokenizer drops it there.
  bool strips_left = false;
  bool strips_right = false;
};

// A pattern and the groups of it whose spans are requested.
struct PatternSpec {
  const regex::Hir* hir = nullptr;
  // Groups whose spans are wanted, by number.
  std::vector<std::uint32_t> groups = {};
};

// Slots of a pattern: 0 start, 1 end, then start and end of each wanted group.
struct Nfa {
  std::vector<Inst> insts;
  std::vector<Edge> edges;
  std::vector<Pc> targets;
  std::vector<Pc> entries;                // by pattern
  std::vector<std::uint32_t> pattern_of;  // by pc
  std::size_t slots = 2;                  // the most any pattern has
  std::size_t mark_count = 0;
  bool needs_line_start = false;
  bool needs_text_start = false;
  // Some pattern may match without reading anything.
  bool matches_empty = false;

  // Symbols that no instruction distinguishes have the same class.
  std::vector<std::uint16_t> class_of;  // by symbol
  std::size_t class_count = 0;
};

// Compiles `patterns` side by side.  Where a literal of a pattern spells one of
// `marks`, leftmost and then longest spelling first, that stretch matches the
// mark and, unless Mark::spelled, no longer the characters; a character class
// matches a mark when it contains every character of its spelling.
//
// REQUIRES: every hir is regular.
// Errors: kTooLarge when more than `max_states` instructions are needed;
// kUnsupportedPattern for \Z or $ inside a look-ahead that continues after it.
Result<Nfa> compile_nfa(const std::vector<PatternSpec>& patterns,
                        const std::vector<Mark>& marks, std::size_t max_states);

// Whether compile_nfa() accepts `hir` alone, without marks, by a bound on its
// size: it does if this is true.  Complexity: O(nodes and ranges of `hir`).
bool surely_compiles(const regex::Hir& hir, std::size_t max_states);

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_NFA_H_
