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
#include "base/small_list.h"
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
  // The numbers of the wanted groups in order, 0 for a group that the pattern
  // does not have.
  std::vector<std::uint32_t> groups;
  // PCRE2 reads characters only, so spellings of these marks by ordinary tokens
  // are hidden from it (spoofs.h).
  std::vector<automata::Mark> hidden = {};
  // Text that every match begins with, "" if none is known.  Searching for it
  // is faster than running either engine.
  std::string prefix = {};
};

// Whether our automata can run this pattern.  They refuse patterns that are not
// regular, and the few regular ones that need too many states.
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
  base::SmallList<std::pair<std::size_t, std::size_t>, 4> groups = {};
};

// Enumerates all non-overlapping matches of `finder` from the left, as Python's
// finditer does: empty matches count, also directly after another match.
//
// The automaton reads a mark of `text` as one symbol.
class FindAll {
 public:
  FindAll(const Finder& finder, const MarkedText& text);
  // A text without marks.  Of its own, because copying a MarkedText that was
  // made just before takes as long as the rest.
  FindAll(const Finder& finder, std::string_view text);
  bool next(Found& out);
  // Whether a limit was passed, so that the rest of the text was not searched.
  // Besides the step limit of PCRE2 there is a limit of the bytes that all
  // searches read together: if each match is decided, or each attempt fails,
  // only at the end of the text, enumeration takes quadratic time.
  bool gave_up() const { return gave_up_; }

 private:
  static constexpr std::uint64_t kFreeBytes = std::uint64_t{1} << 24;
  static constexpr std::uint64_t kPasses = 16;

  void hide_spoofs();
  bool skip_to_prefix();
  bool search_automaton(bool not_empty, Found& out);
  bool search_code(bool not_empty, Found& out);
  std::size_t run_search();

  const Finder& finder_;
  std::string hidden_;  // the text with its spoofs hidden, for PCRE2
  MarkedText marked_;
  std::string_view text_;
  std::size_t at_ = 0;
  bool last_empty_ = false;
  bool gave_up_ = false;
  std::uint64_t bytes_left_;
  automata::Search search_;
  std::optional<regex::Pcre2::Scratch> scratch_;
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_FINDER_H_
