// The lexemes that begin values: see value_starts.h.

#include "json_recogniser/value_starts.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace parlance::json_recogniser {

using automata::NumberLanguages;
using json::BodyState;
using schema_solver::ConjunctionId;
using schema_solver::JsonType;

namespace {

// Whether the set has more than `few` texts.
bool has_more_than(const UsedValues& values, UsedValues::Set set,
                   std::size_t few) {
  std::vector<UsedValues::Set> pending = {set};
  std::size_t texts = 0;
  while (!pending.empty() && texts <= few) {
    const UsedValues::Set at = pending.back();
    pending.pop_back();
    texts += values.ends(at) ? 1 : 0;
    values.each_byte(at, [&](std::uint8_t, UsedValues::Set below) {
      pending.push_back(below);
    });
  }
  return texts > few;
}

}  // namespace

// The lexeme after the opening quote: an entry for each conjunction of the
// value and each disjunct for strings; 0 if no string may come.  Invariant of
// the loops: each entry so far has a string that is not barred, within its
// bounds; `total` and `only` are those of these entries.
//
// uniqueItems bars the strings that were used.  If every string may come, of
// any length, and there is one alternative, they are a trie of exceptions
// (used_values.h).  They are taken out of an enumeration.  From any other
// language a few are subtracted, because masks of a language are shared by its
// states; many are a trie beside which it is read, so that an item costs what
// its text costs, unless the length has a maximum.
LexId ValueStarts::string(FrameId id) {
  constexpr std::size_t kFewUsed = 64;
  const Frame& frame = frames_[id];
  automata::Languages& languages = solver_.languages();
  Lexeme lexeme;
  lexeme.kind = Kind::kString;
  lexeme.track = frame.unique;
  lexeme.total = true;
  automata::LanguageId only = {};  // the language, if there is one entry
  for (const schema_solver::ConjunctionId conjunction :
       frames_.conjunctions_in(id)) {
    const UsedValues::Set barred = steps_.barred_in(id, conjunction);
    for (const schema_solver::DisjunctId disjunct :
         solver_.disjuncts(conjunction, schema_solver::JsonType::kString)) {
      const schema_solver::StringConstraints& string = solver_.string(disjunct);
      automata::LanguageId language = string.language;
      LexemeEntry entry{.conjunction = conjunction,
                        .min = saturate(string.min_chars),
                        .max = saturate(string.max_chars)};
      entry.canonical = strings_.spelled_canonically(string);
      if (barred != UsedValues::kNone) {
        const UsedValues::Set used = values_.after(barred, '"');
        const bool bounded = string.max_chars != schema_solver::kUnboundedCount;
        if (used == UsedValues::kNone) {
          // No string is barred.
        } else if (languages.universal(languages.start(language)) && !bounded &&
                   frame.alternatives.size() == 1 && frame.partial == 0) {
          // Not beside a maximum: masks are found by the state and the number
          // of characters, which do not say where a barred string ends.
          lexeme.node = used;
        } else {
          const std::optional<automata::LanguageId> rest =
              strings_.without_used(language, barred);
          if (rest) {
            language = *rest;
          } else if (!bounded && has_more_than(values_, used, kFewUsed)) {
            entry.used = used;
          } else {
            language = languages.all_of(
                {language, languages.complement(
                               languages.literals(values_.texts(used)))});
          }
          if (bounded) {
            language = languages.all_of(
                {language,
                 languages.length_between(string.min_chars, string.max_chars)});
            entry.min = 0;
            entry.max = base::kUnbounded;
          }
        }
      }
      entry.state = languages.start(language);
      if (language_.raw()) strings_.count_raw(entry, language);
      if (entry.min > entry.max) continue;
      if (!strings_.strings_left(entry.language_state(), entry.used)) continue;
      const bool total = languages.universal(entry.language_state()) &&
                         entry.used == UsedValues::kNone;
      if (entry.max != base::kUnbounded) {
        entry.needed = strings_.min_chars_needed(
            BodyState::kText, 0, entry.language_state(), entry.canonical);
        // The string that ends here is barred.
        if (lexeme.node != KeyTrie::kNone && values_.ends(lexeme.node)) {
          entry.needed = std::max(entry.needed, 1U);
        }
        if (entry.needed > entry.max) continue;
      }
      lexeme.total = lexeme.total && total && !entry.canonical;
      lexeme.entries.push_back(entry);
      only = language;
    }
  }
  if (lexeme.entries.empty()) return kDeadLexeme;
  if (frame.partial != 0 && lexeme.total && lexeme.entries.size() == 1 &&
      lexeme.entries.front().max == base::kUnbounded) {
    if (const std::optional<UsedValues::Set> noted =
            unique_.noted_strings(id)) {
      lexeme.noted = true;
      if (*noted != UsedValues::kNone) lexeme.node = *noted;
    }
  }
  // With several alternatives the mask would depend on their bounds, and not on
  // their states alone (by_state()).
  if (lexeme.entries.size() == 1 && !lexeme.entries.front().avoids() &&
      !language_.raw()) {
    strings_.count_characters(lexeme, only);
  }
  return lexemes_.intern(std::move(lexeme));
}

LexId ValueStarts::number(FrameId id) {
  const Frame& frame = frames_[id];
  NumberLanguages& numbers = solver_.numbers();
  Lexeme lexeme;
  lexeme.kind = Kind::kNumber;
  lexeme.track = frame.unique;
  for (const ConjunctionId conjunction : frames_.conjunctions_in(id)) {
    const UsedValues::Set barred = steps_.barred_in(id, conjunction);
    for (const schema_solver::DisjunctId disjunct :
         solver_.disjuncts(conjunction, JsonType::kNumber)) {
      const NumberLanguages::State state = numbers.start(disjunct);
      if (state == NumberLanguages::kDead) continue;
      if (barred != UsedValues::kNone &&
          !numbers_.can_avoid({.state = state, .used = barred}, "", barred)) {
        continue;
      }
      lexeme.entries.push_back(
          {.conjunction = conjunction, .state = state, .used = barred});
    }
  }
  if (lexeme.entries.empty()) return kDeadLexeme;
  return lexemes_.intern(std::move(lexeme));
}

// An entry's state is the set of values that fit: bit 0 null or false, bit 1
// true.
LexId ValueStarts::literal(FrameId id, JsonType type) {
  Lexeme lexeme;
  lexeme.kind = Kind::kLiteral;
  lexeme.literal = type == JsonType::kNull ? 0 : 1;
  for (const ConjunctionId conjunction : frames_.conjunctions_in(id)) {
    const UsedValues::Set barred = steps_.barred_in(id, conjunction);
    std::uint32_t values = 0;
    for (const schema_solver::DisjunctId disjunct :
         solver_.disjuncts(conjunction, type)) {
      values |= disjunct;
    }
    if (barred != UsedValues::kNone) {
      const auto used = [&](std::string_view value) {
        return values_.contains(barred, value);
      };
      if (type == JsonType::kNull) {
        if (used("wnull")) values &= ~1U;
      } else {
        if (used("wfalse")) values &= ~1U;
        if (used("wtrue")) values &= ~2U;
      }
    }
    if (values != 0) {
      lexeme.entries.push_back({.conjunction = conjunction, .state = values});
    }
  }
  if (lexeme.entries.empty()) return kDeadLexeme;
  return lexemes_.intern(std::move(lexeme));
}

// Whether some value may come in a frame with uniqueItems: all that fit may
// have been used already.
bool ValueStarts::any_value_left(FrameId frame) {
  std::uint32_t& known =
      frames_.memo(frame).entry[static_cast<std::size_t>(JsonType::kString)];
  if (known == kUnknown) known = string(frame);
  return known != 0 || number(frame) != 0 ||
         literal(frame, JsonType::kNull) != 0 ||
         literal(frame, JsonType::kBoolean) != 0 ||
         steps_.open(frame, JsonType::kObject) != 0 ||
         steps_.open(frame, JsonType::kArray) != 0;
}

// The frame in which the next item comes; 0 if there can be none.
FrameId ValueStarts::next_item(FrameId id) {
  if (frames_.memo(id).next_item != kUnknown) return frames_.memo(id).next_item;
  FrameId made = steps_.make_next_item(id);
  if (made != 0 && frames_[made].unique &&
      !(frames_[made].partial != 0 ? unique_.finishes(made)
                                   : any_value_left(made))) {
    made = kNoFrame;
  }
  frames_.memo(id).next_item = made;
  return made;
}

}  // namespace parlance::json_recogniser
