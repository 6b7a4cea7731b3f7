// Marks that a format file lists, see listed_marks.h.

#include "parse/listed_marks.h"

#include <algorithm>
#include <utility>

#include "parse/finder.h"

namespace parlance::parse {
namespace {

bool matches_whole(const Finder& finder, std::string_view text) {
  FindAll all(finder, text);
  Found found;
  while (all.next(found)) {
    if (found.begin == 0 && found.end == text.size()) return true;
  }
  return false;
}

// A pattern that matches `text` and nothing else.
std::string pattern_of(std::string_view text) {
  constexpr std::string_view kSyntax = "\\^$.|?*+()[]{}#&-~ \t\n\r\v\f";
  std::string out;
  for (const char c : text) {
    if (kSyntax.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// The size of the part of a pattern that begins at `at`: an escape, a set, or
// one byte.
std::size_t part_size(std::string_view source, std::size_t at) {
  if (source[at] == '\\') return std::min<std::size_t>(2, source.size() - at);
  if (source[at] != '[') return 1;
  std::size_t end = at + 1;
  if (end < source.size() && source[end] == '^') ++end;
  if (end < source.size() && source[end] == ']') ++end;
  while (end < source.size() && source[end] != ']') {
    end += source[end] == '\\' ? 2 : 1;
  }
  return std::min(end + 1, source.size()) - at;
}

}  // namespace

ListedMarks::ListedMarks(std::span<const format::ListedMark> marks,
                         const Vocabulary& vocabulary, const Limits& limits)
    : limits_(limits) {
  for (const format::ListedMark& mark : marks) {
    Finder finder;
    if (mark.literal.empty()) {
      finder = compile_group_finder(mark.pattern, {}, limits);
    }
    Entry entry = {.source = mark.pattern.source, .replacement = "(?:"};
    bool any = false;
    for (const TokenId id : vocabulary.special_ids()) {
      const std::string_view spelling = vocabulary.spelling(id);
      if (mark.literal.empty() ? !matches_whole(finder, spelling)
                               : mark.literal != spelling) {
        continue;
      }
      ids_.push_back(id);
      if (any) entry.replacement += '|';
      entry.replacement += pattern_of(spelling);
      any = true;
    }
    entry.replacement += ')';
    if (any && !entry.source.empty()) entries_.push_back(std::move(entry));
  }
  std::ranges::sort(ids_);
  ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
  // If one entry is a prefix of another, the longer one is tried first.
  std::ranges::stable_sort(entries_, [](const Entry& a, const Entry& b) {
    return a.source.size() > b.source.size();
  });
}

// Scans the source part by part (see part_size), so that an entry is never
// found inside an escape or a set.
std::optional<regex::Pattern> ListedMarks::applied(
    const regex::Pattern& pattern) const {
  const std::string_view source = pattern.source;
  std::string out;
  bool any = false;
  for (std::size_t at = 0; at < source.size();) {
    const auto entry = std::ranges::find_if(entries_, [&](const Entry& e) {
      if (!source.substr(at).starts_with(e.source)) return false;
      // A quantifier after the entry applies to its last part only; after the
      // replacement, a group, it would apply to all of it.
      const std::size_t end = at + e.source.size();
      return end == source.size() || std::string_view("*+?{").find(
                                         source[end]) == std::string_view::npos;
    });
    if (entry != entries_.end()) {
      out += entry->replacement;
      at += entry->source.size();
      any = true;
      continue;
    }
    const std::size_t size = part_size(source, at);
    out += source.substr(at, size);
    at += size;
  }
  if (!any) return std::nullopt;
  Result<regex::Pattern> parsed =
      regex::parse_pattern(out, {.dot_all = true, .limits = limits_});
  if (!parsed) return std::nullopt;
  return std::move(*parsed);
}

}  // namespace parlance::parse
