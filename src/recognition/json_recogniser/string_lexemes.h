#ifndef PARLANCE_SRC_JSON_RECOGNISER_STRING_LEXEMES_H_
#define PARLANCE_SRC_JSON_RECOGNISER_STRING_LEXEMES_H_

// Strings between their quotes, whatever frame they are in: the states of their
// languages, the characters left and needed, and the values that uniqueItems
// bars.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "automata/language.h"
#include "base/unbounded.h"
#include "json/string_body.h"
#include "json_recogniser/escapes.h"
#include "json_recogniser/json_language.h"
#include "json_recogniser/lexeme.h"
#include "json_recogniser/used_values.h"
#include "recogniser/recogniser.h"
#include "schema_solver/constraints.h"

namespace parlance::json_recogniser {

inline std::uint32_t saturate(std::uint64_t bound) {
  return bound >= base::kUnbounded ? base::kUnbounded
                                   : static_cast<std::uint32_t>(bound);
}

// Owned by a recogniser, which begins and ends strings.  What it computes for a
// lexeme depends on that lexeme alone and is cached in its row.
class StringLexemes {
 public:
  // All must outlive this.
  StringLexemes(const JsonLanguage& language, automata::Languages& languages,
                const UsedValues& values, LexemeTable& lexemes)
      : language_(language),
        languages_(languages),
        values_(values),
        lexemes_(lexemes) {}

  // The state of the string's body after the byte.
  json::BodyState next_body(json::BodyState body, std::uint8_t byte) const;
  // The lexeme after a byte that continues the body; 0 if there is none.
  LexId step(LexId lexeme, std::uint8_t byte) {
    const LexId known = lexemes_[lexeme].known_step(byte);
    return known != kUnknown ? known : compute_step(lexeme, byte);
  }
  // Stores the step with `byte`, and with the bytes around it that lead to `to`
  // for the same reason.
  LexId remember_range(LexId from, std::uint8_t byte, LexId to);
  // Drops the entries whose maximum length is exceeded.  Dead if none is left.
  recogniser::Configuration within_bounds(recogniser::Configuration config);
  // Raw texts: the least count that has the same future.
  recogniser::Configuration counted_in_raw(recogniser::Configuration config);

  // Whether strings of these constraints have their canonical spelling alone.
  bool spelled_canonically(const schema_solver::StringConstraints& string);
  // Takes bounds on the length out of the language of the only alternative.
  void count_characters(Lexeme& lexeme, automata::LanguageId language);
  // The same for an entry of a raw text.
  void count_raw(LexemeEntry& entry, automata::LanguageId language);
  // The strings of the language that are not in the set, if it is an
  // enumeration.
  std::optional<automata::LanguageId> without_used(
      automata::LanguageId language, UsedValues::Set values);
  // Whether some string that the automaton accepts from `state` is not in
  // `used`.
  bool strings_left(automata::StateId state, UsedValues::Set used);
  // Whether a character of the ranges continues the language from `state`.
  bool any_in(const EscapeRanges& ranges, automata::StateId state);
  // The characters that a string still needs: one that has begun, and then the
  // fewest that lead to acceptance.
  std::uint32_t min_chars_needed(json::BodyState body, std::uint32_t partial,
                                 automata::StateId state, bool canonical);
  // Raw texts: an upper bound on the characters that any text so far needs to
  // become a string of an entry with a maximum.
  std::uint64_t most_needed() const { return most_needed_; }

  std::size_t memory_bytes() const { return bytes_; }

 private:
  bool strings_left_in(const EscapeRanges& ranges, automata::StateId state,
                       UsedValues::Set used);
  std::uint32_t min_chars_in_range(automata::StateId state, char32_t low,
                                   char32_t high);
  std::optional<LexemeEntry> entry_step(const LexemeEntry& entry,
                                        const Lexeme& now, const Lexeme& next,
                                        std::uint8_t byte);
  LexId compute_step(LexId lexeme, std::uint8_t byte);

  const JsonLanguage& language_;
  automata::Languages& languages_;
  const UsedValues& values_;
  LexemeTable& lexemes_;
  // without_used() and strings_left(), by their arguments.
  std::unordered_map<std::uint64_t, std::optional<automata::LanguageId>>
      without_used_;
  std::unordered_map<std::uint64_t, bool> strings_left_;
  std::uint64_t most_needed_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_STRING_LEXEMES_H_
