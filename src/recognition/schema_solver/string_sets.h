#ifndef PARLANCE_SRC_SCHEMA_SOLVER_STRING_SETS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_STRING_SETS_H_

// The sets of strings that the rules of a schema spell: its patterns, formats
// and enums, and intersections and complements of them.
//
// A set is a language of automata::Languages.  Of enums this remembers the
// strings as well: the intersection of two lists is a shorter list, and the
// product of their automata would have a state for each prefix of a string.
//
// The solver owns one, and its expander, its tables of keys and its conditions
// ask it.  Every answer depends on the document and the arguments alone, never
// on what was asked before, so each table here is a cache.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "automata/language.h"
#include "parlance/error.h"
#include "schema/document.h"

namespace parlance::schema_solver {

// Not thread-safe.
class StringSets {
 public:
  // Both must outlive this.
  StringSets(const schema::Document& document, automata::Languages& languages);

  // Compiles a pattern that nobody has asked for yet.  An error is returned,
  // and not remembered.
  std::optional<Error> compile(schema::PatternId pattern);
  // The strings that match; none if the pattern cannot be compiled.
  automata::LanguageId of_pattern(schema::PatternId pattern);
  // Whether of_pattern() was asked for a pattern that cannot be compiled.  A
  // lenient compile ignores such a pattern: no key matches it, and no string
  // has to, nor has not to.
  bool is_ignored(schema::PatternId pattern) const {
    return patterns_[pattern] == kIgnored;
  }
  // The same for a pattern that may stand for a format.  More strings may have
  // the format than its expression matches.  All strings if it is ignored.
  automata::LanguageBounds of_rule(schema::PatternId pattern);
  // The error of the first pattern that of_pattern() could not compile.
  const std::optional<Error>& error() const { return error_; }

  // The strings among the values of an enum of the document.
  automata::LanguageId of_enum(const std::vector<json::Value>& values);

  automata::LanguageId all_of(std::vector<automata::LanguageId> languages);
  automata::LanguageBounds all_of(
      const std::vector<automata::LanguageBounds>& sets);
  automata::LanguageId complement(automata::LanguageId language);
  automata::LanguageBounds complement(automata::LanguageBounds set);

  std::size_t memory_bytes() const { return merged_complements_.size() * 160; }

 private:
  static constexpr automata::LanguageId kUnknown{0xFFFFFFFF};
  static constexpr automata::LanguageId kIgnored{0xFFFFFFFE};

  Error located(schema::PatternId pattern, Error error) const;
  automata::LanguageId of_list(std::vector<std::string> texts);
  std::vector<automata::LanguageId> merge_complements(
      std::vector<automata::LanguageId> languages);
  void keep_members(std::vector<std::string>& texts,
                    automata::LanguageId language) const;

  const schema::Document& document_;
  automata::Languages& languages_;
  std::vector<automata::LanguageId> patterns_;  // kUnknown, kIgnored
  std::optional<Error> error_;
  // For formats whose expression is not exact: languages that certainly contain
  // them.
  std::unordered_map<schema::PatternId, automata::LanguageId> supersets_;
  std::unordered_map<const void*, automata::LanguageId> enums_;
  // Languages that are sorted lists of strings.
  std::unordered_map<automata::LanguageId, std::vector<std::string>> lists_;
  // The complement of each list, and the list of each complement.
  std::unordered_map<automata::LanguageId, automata::LanguageId> complements_;
  std::unordered_map<automata::LanguageId, automata::LanguageId>
      complemented_lists_;
  // merge_complements(), by the sorted complements.
  std::map<std::vector<automata::LanguageId>, automata::LanguageId>
      merged_complements_;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_STRING_SETS_H_
