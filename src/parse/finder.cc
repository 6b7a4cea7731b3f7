// Searching whole texts, see finder.h.

#include "parse/finder.h"

#include <algorithm>
#include <tuple>

#include "regex/hir_facts.h"

namespace parlance::parse {

using automata::Automaton;

bool runs_on_automaton(const regex::Hir& hir, const Limits& limits) {
  return hir.regular() &&
         automata::compile_nfa({{.hir = &hir}}, {}, limits.pattern_states)
             .has_value();
}

Finder compile_group_finder(const regex::Pattern& pattern,
                            std::vector<std::uint32_t> groups,
                            const Limits& limits) {
  Finder finder;
  finder.groups = std::move(groups);
  finder.prefix = regex::required_prefix(pattern.hir);
  if (runs_on_automaton(pattern.hir, limits)) {
    std::vector<std::uint32_t> present;
    for (std::uint32_t group : finder.groups) {
      if (group != 0) present.push_back(group);
    }
    auto automaton = Automaton::compile(
        {{.hir = &pattern.hir, .groups = std::move(present)}}, {}, limits);
    if (automaton) finder.automaton = std::move(*automaton);
  } else if (auto code = regex::Pcre2::compile(pattern, limits)) {
    finder.code = std::move(*code);
  }
  return finder;
}

Finder compile_finder(const regex::Pattern& pattern,
                      const std::vector<std::string_view>& names,
                      const Limits& limits) {
  std::vector<std::uint32_t> groups;
  for (std::string_view name : names) {
    groups.push_back(0);
    for (const regex::GroupName& known : pattern.hir.names) {
      if (known.name != name) continue;
      groups.back() = known.group;
      break;
    }
  }
  return compile_group_finder(pattern, std::move(groups), limits);
}

bool FindAll::next(Found& out) {
  if (gave_up_ || at_ > text_.size()) return false;
  bool not_empty = last_empty_;
  if (!finder_.prefix.empty()) {
    at_ = text_.find(finder_.prefix, at_);
    if (at_ == std::string_view::npos) {
      at_ = text_.size() + 1;
      return false;
    }
    not_empty = false;  // no match is empty
  }
  if (finder_.automaton != nullptr) {
    automata::Context context;
    context.text_start = at_ == 0;
    context.line_start = at_ == 0 || text_[at_ - 1] == '\n';
    if (not_empty) context.not_empty.push_back(0);
    search_.start(finder_.automaton.get(), at_, context);
    const std::size_t read = search_.run(text_.substr(at_));
    search_.finish();
    if (read > bytes_left_) gave_up_ = true;
    bytes_left_ -= std::min<std::uint64_t>(read, bytes_left_);
    if (gave_up_ || !search_.decided()) {
      at_ = text_.size() + 1;
      return false;
    }
    search_.match(match_);
    out.begin = match_.begin;
    out.end = match_.end;
    out.groups.clear();
    std::size_t wanted = 0;
    for (std::uint32_t group : finder_.groups) {
      std::uint64_t begin = automata::kNoPosition;
      std::uint64_t end = automata::kNoPosition;
      if (group != 0) std::tie(begin, end) = match_.groups[wanted++];
      bool set = begin != automata::kNoPosition;
      out.groups.emplace_back(set ? begin : std::string_view::npos,
                              set ? end : std::string_view::npos);
    }
  } else if (finder_.code) {
    if (!scratch_) scratch_.emplace(*finder_.code);
    std::vector<std::pair<std::size_t, std::size_t>> groups;
    auto found = finder_.code->search(
        text_, at_,
        {.not_empty_at_start = not_empty, .bytes_left = &bytes_left_},
        *scratch_, &groups);
    if (found.status == regex::Pcre2::Status::kLimit) gave_up_ = true;
    if (found.status != regex::Pcre2::Status::kMatch) {
      at_ = text_.size() + 1;
      return false;
    }
    out.begin = found.begin;
    out.end = found.end;
    out.groups.clear();
    for (std::uint32_t group : finder_.groups) {
      bool set = group != 0 && group < groups.size();
      out.groups.push_back(
          set ? groups[group]
              : std::pair(regex::Pcre2::kUnset, regex::Pcre2::kUnset));
    }
  } else {
    return false;
  }
  at_ = out.end;
  last_empty_ = out.begin == out.end;
  return true;
}

}  // namespace parlance::parse
