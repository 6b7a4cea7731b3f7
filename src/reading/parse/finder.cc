// Searching whole texts, see finder.h.

#include "parse/finder.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "parse/spoofs.h"
#include "regex/hir_properties.h"

namespace parlance::parse {

using automata::Automaton;

namespace {

// The span of a group in a text, as Found has it.
std::pair<std::size_t, std::size_t> in_text(std::uint64_t begin,
                                            std::uint64_t end) {
  if (begin == automata::kNoPosition) {
    return {std::string_view::npos, std::string_view::npos};
  }
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
}

}  // namespace

bool runs_on_automaton(const regex::Hir& hir, const Limits& limits) {
  if (!hir.regular()) return false;
  if (automata::surely_compiles(hir, limits.pattern_states)) return true;
  return automata::compile_nfa({{.hir = &hir}}, {}, limits.pattern_states)
      .has_value();
}

Finder compile_group_finder(const regex::Pattern& pattern,
                            std::vector<std::uint32_t> groups,
                            const Limits& limits,
                            const std::vector<automata::Mark>& marks) {
  Finder finder;
  finder.groups = std::move(groups);
  // If a mark strips white space beside it, the text may lack that space, so
  // no prefix of characters is certain.
  const bool strips =
      std::ranges::any_of(marks, [](const automata::Mark& mark) {
        return mark.strips_left || mark.strips_right;
      });
  if (!strips) finder.prefix = regex::required_prefix(pattern.hir);
  if (runs_on_automaton(pattern.hir, limits)) {
    std::vector<std::uint32_t> present;
    for (std::uint32_t group : finder.groups) {
      if (group != 0) present.push_back(group);
    }
    // Marks that strip white space add states for its absence.
    Limits enough = limits;
    enough.pattern_states *= 2;
    auto automaton = Automaton::compile(
        {{.hir = &pattern.hir, .groups = std::move(present)}}, marks, enough);
    if (automaton) finder.automaton = std::move(*automaton);
  } else if (auto code = regex::Pcre2::compile(pattern, limits)) {
    finder.code = std::move(*code);
    std::ranges::copy_if(
        marks, std::back_inserter(finder.hidden),
        [](const automata::Mark& mark) { return !mark.spelled; });
  }
  return finder;
}

Finder compile_finder(const regex::Pattern& pattern,
                      const std::vector<std::string_view>& names,
                      const Limits& limits,
                      const std::vector<automata::Mark>& marks) {
  std::vector<std::uint32_t> groups;
  for (std::string_view name : names) {
    groups.push_back(0);
    for (const regex::GroupName& known : pattern.hir.names) {
      if (known.name != name) continue;
      groups.back() = known.group;
      break;
    }
  }
  return compile_group_finder(pattern, std::move(groups), limits, marks);
}

FindAll::FindAll(const Finder& finder, std::string_view text)
    : finder_(finder),
      marked_(text),
      text_(text),
      bytes_left_(kFreeBytes + kPasses * text.size()) {
  if (!finder.hidden.empty()) hide_spoofs();
}

FindAll::FindAll(const Finder& finder, const MarkedText& text)
    : finder_(finder),
      marked_(text),
      text_(text.text),
      bytes_left_(kFreeBytes + kPasses * text_.size()) {
  if (!finder.hidden.empty()) hide_spoofs();
}

void FindAll::hide_spoofs() {
  hidden_ = spoofs_hidden(marked_, finder_.hidden);
  text_ = hidden_;
}

// Moves at_ to the next occurrence of Finder::prefix.  False: there is none.
bool FindAll::skip_to_prefix() {
  at_ = text_.find(finder_.prefix, at_);
  while (at_ != std::string_view::npos && !marked_.marks.empty()) {
    // A match can begin with a mark, but not inside one.
    const std::size_t after = marked_.first_mark(at_ + 1);
    if (after == 0) break;
    const MarkAt& mark = marked_.marks[after - 1];
    const std::size_t begin = marked_.begin_of(mark);
    if (at_ == begin || at_ >= begin + mark.length) break;
    at_ = text_.find(finder_.prefix, begin + mark.length);
  }
  if (at_ != std::string_view::npos) return true;
  at_ = text_.size() + 1;
  return false;
}

// Runs the automaton from at_ until it is decided or the text ends.  Returns
// the number of bytes that it read.
std::size_t FindAll::run_search() {
  std::size_t at = at_;
  std::size_t next = marked_.marks.empty() ? 0 : marked_.first_mark(at_);
  while (!search_.decided() && at < text_.size()) {
    std::size_t stop = text_.size();
    if (next < marked_.marks.size()) {
      const MarkAt& mark = marked_.marks[next];
      stop = marked_.begin_of(mark);
      if (stop == at) {
        if (!search_.mark(mark.symbol, mark.length)) break;
        at += mark.length;
        ++next;
        continue;
      }
    }
    at += search_.run(text_.substr(at, stop - at));
  }
  return at - at_;
}

// The first match from at_ on by the automaton; with `not_empty`, one that is
// not empty at at_.
bool FindAll::search_automaton(bool not_empty, Found& out) {
  automata::Context context;
  context.text_start = at_ == 0;
  context.line_start = at_ == 0 || text_[at_ - 1] == '\n';
  if (not_empty) context.not_empty.push_back(0);
  search_.start(finder_.automaton.get(), at_, context);
  const std::size_t read = run_search();
  search_.finish();
  if (read > bytes_left_) gave_up_ = true;
  bytes_left_ -= std::min<std::uint64_t>(read, bytes_left_);
  if (gave_up_ || !search_.decided()) return false;
  automata::BriefMatch match;
  search_.match(match);
  out.begin = match.begin;
  out.end = match.end;
  out.groups.clear();
  std::size_t wanted = 0;
  for (std::uint32_t group : finder_.groups) {
    std::uint64_t begin = automata::kNoPosition;
    std::uint64_t end = automata::kNoPosition;
    if (group != 0) std::tie(begin, end) = match.groups[wanted++];
    out.groups.push_back(in_text(begin, end));
  }
  return true;
}

// The same by backtracking.
bool FindAll::search_code(bool not_empty, Found& out) {
  if (!scratch_) scratch_.emplace(*finder_.code);
  std::vector<regex::Pcre2::GroupSpan> groups;
  const auto found = finder_.code->search(
      text_, at_, {.not_empty_at_start = not_empty, .bytes_left = &bytes_left_},
      *scratch_, &groups);
  if (found.status == regex::Pcre2::Status::kLimit) gave_up_ = true;
  if (found.status != regex::Pcre2::Status::kMatch) return false;
  out.begin = found.begin;
  out.end = found.end;
  out.groups.clear();
  for (std::uint32_t group : finder_.groups) {
    const bool known = group != 0 && group < groups.size();
    out.groups.push_back(
        known ? in_text(groups[group].first, groups[group].second)
              : in_text(automata::kNoPosition, 0));
  }
  return true;
}

// Invariant: all matches that end at or before at_ have been returned, and
// last_empty_ says whether the last one was empty; the next one must then not
// be empty at at_ too.
bool FindAll::next(Found& out) {
  if (gave_up_ || at_ > text_.size()) return false;
  bool not_empty = last_empty_;
  if (!finder_.prefix.empty()) {
    if (!skip_to_prefix()) return false;
    not_empty = false;  // because no match is empty
  }
  if (finder_.automaton == nullptr && !finder_.code) return false;
  const bool found = finder_.automaton != nullptr
                         ? search_automaton(not_empty, out)
                         : search_code(not_empty, out);
  if (!found) {
    at_ = text_.size() + 1;
    return false;
  }
  at_ = out.end;
  last_empty_ = out.begin == out.end;
  return true;
}

}  // namespace parlance::parse
