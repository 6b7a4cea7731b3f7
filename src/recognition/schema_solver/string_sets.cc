// Patterns and enums as languages, each compiled once: see string_sets.h.

#include "schema_solver/string_sets.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "schema/formats.h"

namespace parlance::schema_solver {
namespace {

template <class T>
void sort_once(std::vector<T>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

StringSets::StringSets(const schema::Document& document,
                       automata::Languages& languages)
    : document_(document),
      languages_(languages),
      patterns_(document.patterns.size(), kUnknown) {}

std::optional<Error> StringSets::compile(schema::PatternId pattern) {
  automata::LanguageId& known = patterns_[pattern];
  if (known != kUnknown) return std::nullopt;
  Result<automata::LanguageId> made = languages_.from_hir(
      document_.patterns[pattern].hir(), automata::Languages::Mode::kSearch);
  if (!made) return std::move(made).error();
  known = *made;
  return std::nullopt;
}

automata::LanguageId StringSets::of_pattern(schema::PatternId pattern) {
  automata::LanguageId& known = patterns_[pattern];
  if (known == kUnknown) {
    Result<automata::LanguageId> made = languages_.from_hir(
        document_.patterns[pattern].hir(), automata::Languages::Mode::kSearch);
    // check_nodes() refuses a pattern that cannot be compiled, or ignores it.
    known = made ? *made : kIgnored;
    if (!made && !error_) {
      error_ = located(pattern, std::move(made).error());
    }
  }
  return known == kIgnored ? languages_.nothing() : known;
}

automata::LanguageBounds StringSets::of_rule(schema::PatternId pattern) {
  const automata::LanguageBounds own = languages_.exact(of_pattern(pattern));
  if (patterns_[pattern] == kIgnored) {
    return languages_.exact(languages_.everything());
  }
  const std::string_view name = document_.patterns[pattern].format;
  if (name.empty()) return own;
  const auto format = schema::find_format(name);
  if (!format || schema::format_leaves_out(*format).empty()) return own;
  const auto [it, is_new] = supersets_.try_emplace(pattern, 0);
  if (is_new) {
    const Result<automata::LanguageId> made =
        languages_.from_hir(schema::format_superset(*format)->hir,
                            automata::Languages::Mode::kSearch);
    it->second = made ? languages_.exact(*made).over : languages_.everything();
  }
  return {own.under, it->second};
}

// The error with the place of the first keyword that has the pattern.
Error StringSets::located(schema::PatternId pattern, Error error) const {
  const auto keyword = [&](const schema::Node& node) -> std::string_view {
    if (node.strings().pattern == pattern) return "/pattern";
    if (node.strings().format == pattern) return "/format";
    for (const auto& [names, child] : node.objects().pattern_properties) {
      if (names == pattern) return "/patternProperties";
    }
    return "";
  };
  for (schema::NodeId id; id < document_.nodes.size(); ++id) {
    const std::string_view found = keyword(document_.node(id));
    if (found.empty()) continue;
    error.path = document_.pointer(id) + std::string(found);
    break;
  }
  return error;
}

// The language is cached, because the same enum occurs in many conjunctions.
automata::LanguageId StringSets::of_enum(
    const std::vector<json::Value>& values) {
  const auto [it, is_new] = enums_.try_emplace(&values, 0);
  if (is_new) {
    std::vector<std::string> texts;
    for (const json::Value& value : values) {
      if (value.is_string()) texts.emplace_back(value.as_string());
    }
    sort_once(texts);
    it->second = of_list(std::move(texts));
  }
  return it->second;
}

// The complement of a list is cached, because conjunctions of negated enums ask
// for it again and again.
automata::LanguageId StringSets::complement(automata::LanguageId language) {
  if (!lists_.contains(language)) return languages_.complement(language);
  const auto known = complements_.find(language);
  if (known != complements_.end()) return known->second;
  const automata::LanguageId outside = languages_.complement(language);
  if (outside == languages_.nothing()) return outside;  // beyond its limits
  complements_.emplace(language, outside);
  complemented_lists_.try_emplace(outside, language);
  return outside;
}

automata::LanguageBounds StringSets::complement(automata::LanguageBounds set) {
  const automata::LanguageId least = complement(set.over);
  const automata::LanguageId most = set.exact() ? least : complement(set.under);
  return {least, languages_.exact(most).over};
}

// Drops the texts that are not in the language.  REQUIRES: `texts` are sorted.
//
// Two sorted lists are read side by side, unless one is much longer, which is
// then searched.
void StringSets::keep_members(std::vector<std::string>& texts,
                              automata::LanguageId language) const {
  const auto outside = complemented_lists_.find(language);
  const bool inside = outside == complemented_lists_.end();
  const auto known = lists_.find(inside ? language : outside->second);
  if (known == lists_.end()) {
    std::erase_if(texts, [&](const std::string& text) {
      return !languages_.contains(language, text);
    });
    return;
  }
  const std::vector<std::string>& list = known->second;
  const bool search = list.size() > 8 * texts.size();
  auto at = list.begin();
  std::erase_if(texts, [&](const std::string& text) {
    if (search) {
      at = std::lower_bound(at, list.end(), text);
    } else {
      while (at != list.end() && *at < text) ++at;
    }
    return (at != list.end() && *at == text) != inside;
  });
}

// The intersection of languages.  If one of them is a list of strings, the
// result is the shortest such list, of the strings that are in all the others.
// A product automaton would give the same, but with a state for each prefix of
// a string.
automata::LanguageId StringSets::all_of(
    std::vector<automata::LanguageId> languages) {
  sort_once(languages);
  if (languages.size() == 1) return languages.front();
  const auto size = [&](automata::LanguageId language) {
    const auto it = lists_.find(language);
    return it == lists_.end() ? ~std::size_t{0} : it->second.size();
  };
  const auto shortest = std::ranges::min_element(languages, {}, size);
  if (shortest == languages.end() || !lists_.contains(*shortest)) {
    return languages_.all_of(merge_complements(std::move(languages)));
  }
  const std::vector<std::string>& list = lists_.at(*shortest);
  std::vector<std::string> texts = list;
  for (const automata::LanguageId other : languages) {
    if (other != *shortest) keep_members(texts, other);
  }
  if (texts.size() == list.size()) return *shortest;
  return of_list(std::move(texts));
}

automata::LanguageBounds StringSets::all_of(
    const std::vector<automata::LanguageBounds>& sets) {
  std::vector<automata::LanguageId> under;
  std::vector<automata::LanguageId> over;
  for (const automata::LanguageBounds& set : sets) {
    under.push_back(set.under);
    over.push_back(set.over);
  }
  const bool exact = under == over;
  const automata::LanguageId least = all_of(std::move(under));
  const automata::LanguageId most = exact ? least : all_of(std::move(over));
  return {least, languages_.exact(most).over};
}

// Replaces the complements of lists by one: the intersection of complements is
// the complement of the union.  The same lists come together in many
// conjunctions, so their union is kept.
std::vector<automata::LanguageId> StringSets::merge_complements(
    std::vector<automata::LanguageId> languages) {
  std::vector<automata::LanguageId> lists;
  for (const automata::LanguageId language : languages) {
    if (complemented_lists_.contains(language)) lists.push_back(language);
  }
  if (lists.size() < 2) return languages;
  std::erase_if(languages, [&](automata::LanguageId language) {
    return complemented_lists_.contains(language);
  });
  const auto [it, is_new] = merged_complements_.try_emplace(lists, 0);
  if (is_new) {
    std::vector<std::string> outside;
    for (const automata::LanguageId list : lists) {
      const std::vector<std::string>& texts =
          lists_.at(complemented_lists_.at(list));
      outside.insert(outside.end(), texts.begin(), texts.end());
    }
    sort_once(outside);
    it->second = complement(of_list(std::move(outside)));
  }
  languages.push_back(it->second);
  sort_once(languages);
  return languages;
}

// The language of the strings.  REQUIRES: they are sorted, none twice.
automata::LanguageId StringSets::of_list(std::vector<std::string> texts) {
  const automata::LanguageId language = languages_.literals(texts);
  lists_.try_emplace(language, std::move(texts));
  return language;
}

}  // namespace parlance::schema_solver
