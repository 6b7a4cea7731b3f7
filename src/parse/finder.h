#ifndef PARLANCE_SRC_PARSE_FINDER_H_
#define PARLANCE_SRC_PARSE_FINDER_H_

// All matches of one pattern in a whole text: anchors, tags of xml-inline, and
// the patterns of response schemas.
//
//   Finder finder = compile_group_finder(pattern, {1}, limits);
//   FindAll all(finder, text);
//   Found found;
//   while (all.next(found)) ... found.groups[0] ...

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/dfa.h"
#include "parlance/limits.h"
#include "parse/marked_text.h"
#include "regex/pattern.h"
#include "regex/pcre2.h"

namespace parlance::parse {

// One pattern, ready to be searched for.  On our automata when it is regular,
// else on PCRE2.
struct Finder {
  std::shared_ptr<const automata::Automaton> automaton;
  std::optional<regex::Pcre2> code;
  // The numbers of the wanted groups in order, 0 for one that the pattern does
  // not have.
  std::vector<std::uint32_t> groups;
  // PCRE2 reads characters alone: spellings of these that are no marks are
  // hidden from it.
  std::vector<automata::Mark> hidden = {};
  // Text that every match begins with, "" when none is known.  Looking for it
  // is quicker than running either.
  std::string prefix = {};
};

// Whether our automata run this pattern.  They refuse what is not regular, and
// the few regular ones that need too many states.
bool runs_on_automaton(const regex::Hir& hir, const Limits& limits);

// `marks`: added and control tokens that the pattern's literals spell.
Finder compile_group_finder(const regex::Pattern& pattern,
                            std::vector<std::uint32_t> groups,
                            const Limits& limits,
                            const std::vector<automata::Mark>& marks = {});
// By the names of the groups.
Finder compile_finder(const regex::Pattern& pattern,
                      const std::vector<std::string_view>& names,
                      const Limits& limits,
                      const std::vector<automata::Mark>& marks = {});

struct Found {
  std::size_t begin = 0;
  std::size_t end = 0;
  // Spans of the wanted groups in the order of Finder::groups, {npos, npos} for
  // one that took no part.
  std::vector<std::pair<std::size_t, std::size_t>> groups = {};
};

// Goes over all non-overlapping matches of `finder` from the left, as Python's
// finditer does: empty matches count, also directly after another match.
//
// A stretch that is a mark of `text` is read as that mark.
class FindAll {
 public:
  FindAll(const Finder& finder, const MarkedText& text);
  bool next(Found& out);
  // A limit was passed: what comes later was not looked at.  Besides the step
  // limit of PCRE2 it bounds the bytes that all searches look at together:
  // where every match is decided only at the end of the text, or every attempt
  // fails there, going over all of them is quadratic.
  bool gave_up() const { return gave_up_; }

 private:
  static constexpr std::uint64_t kFreeBytes = std::uint64_t{1} << 24;
  static constexpr std::uint64_t kPasses = 16;

  bool skip_to_prefix();
  std::size_t run_search();

  const Finder& finder_;
  std::string hidden_;  // the text, without what only looks like a mark
  MarkedText marked_;
  std::string_view text_;
  std::size_t at_ = 0;
  bool last_empty_ = false;
  bool gave_up_ = false;
  std::uint64_t bytes_left_;
  automata::Search search_;
  automata::Match match_;
  std::optional<regex::Pcre2::Scratch> scratch_;
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_FINDER_H_
