// Hints for configurations of any recogniser: see hints.h.

#include "mask/hints.h"

#include "mask/ablation.h"

namespace parlance::mask {

using recogniser::JsonHints;
using recogniser::StringHint;
using recogniser::WhitespaceHint;

// --- Strings and white space -------------------------------------------------

StringHint Hints::string_hint(Configuration config) const {
  const Place place = at(config);
  if (!place.alone()) return {};
  StringHint hint = place.hints->string_hint(place.config);
  if (place.part == nullptr) return hint;
  if (hint.unconstrained) hint.after = outer(place, config, hint.after);
  for (StringHint::AcceptingRange& range : hint.accepting_ranges) {
    range.after = outer(place, config, range.after);
  }
  return hint;
}

WhitespaceHint Hints::whitespace_hint(Configuration config) const {
  const Place place = at(config);
  if (!place.alone()) return {};
  WhitespaceHint hint = place.hints->whitespace_hint(place.config);
  if (hint.unconstrained) {
    hint.without_space = outer(place, config, hint.without_space);
  }
  return hint;
}

bool Hints::has_exceptions(Configuration config) const {
  const Place place = at(config);
  return place.alone() && place.hints->has_exceptions(place.config);
}

base::ByteSet Hints::exception_bytes(Configuration config) const {
  if (is_off(Shortcut::kExceptionBytes)) return base::kAllBytes;
  const Place place = at(config);
  return place.hints != nullptr ? place.hints->exception_bytes(place.config)
                                : base::kAllBytes;
}

base::ByteSet Hints::likely_bytes(Configuration config) const {
  if (is_off(Shortcut::kLikelyBytes)) return base::kAllBytes;
  const Place place = at(config);
  return place.alone() ? place.hints->likely_bytes(place.config)
                       : base::kAllBytes;
}

// --- Lexemes -----------------------------------------------------------------

// A number may be the whole text of a part.  What follows the part may continue
// like a number, so the fingerprint is valid only if it does not.
base::Fingerprint Hints::lexeme_fingerprint(Configuration config) const {
  if (is_off(Shortcut::kLexemes)) return {};
  const Place place = at(config);
  if (place.hints == nullptr) return {};
  const base::Fingerprint print = place.hints->lexeme_fingerprint(place.config);
  if (!print || !place.in_whole_value()) return print;
  return recogniser_->number_ends_with_part(config) ? print
                                                    : base::Fingerprint{};
}

bool Hints::same_lexeme(Configuration from, Configuration to) const {
  if (own_ != nullptr) return own_->same_lexeme(from, to);
  const Place before = at(from);
  if (before.hints == nullptr) return false;
  const Place after = at(to);
  return after.hints != nullptr && before.site == after.site &&
         before.hints->same_lexeme(before.config, after.config);
}

std::uint32_t Hints::chars_left(Configuration config) const {
  const Place place = at(config);
  return place.hints != nullptr ? place.hints->chars_left(place.config)
                                : base::kUnbounded;
}

Configuration Hints::lexeme_unbounded(Configuration config) const {
  const Place place = at(config);
  if (place.hints == nullptr) return config;
  return outer(place, config, place.hints->lexeme_unbounded(place.config));
}

std::uint32_t Hints::chars_needed(Configuration from, Configuration to) const {
  if (own_ != nullptr) return own_->chars_needed(from, to);
  const Place before = at(from);
  if (before.hints == nullptr) return 0;
  const Place after = at(to);
  if (after.hints == nullptr) return 0;
  return before.hints->chars_needed(before.config, after.config);
}

bool Hints::any_digits(Configuration config) const {
  if (is_off(Shortcut::kAnyDigits)) return false;
  const Place place = at(config);
  return place.alone() && place.hints->any_digits(place.config);
}

JsonHints::LexemeSplit Hints::split_lexeme(Configuration config) const {
  if (is_off(Shortcut::kSplitLexeme) || is_off(Shortcut::kLexemes)) return {};
  const Place place = at(config);
  if (place.hints == nullptr) return {};
  JsonHints::LexemeSplit split = place.hints->split_lexeme(place.config);
  split.keys = outer(place, config, split.keys);
  split.others = outer(place, config, split.others);
  return split;
}

int Hints::lexeme_end(Configuration config) const {
  const Place place = at(config);
  if (place.hints == nullptr) return JsonHints::kAnyEnd;
  const int end = place.hints->lexeme_end(place.config);
  return end == JsonHints::kJsonEnd && place.in_whole_value()
             ? JsonHints::kAnyEnd
             : end;
}

Hints::Lexeme Hints::lexeme_by_state(Configuration config) const {
  const Place place = at(config);
  if (place.hints == nullptr || !place.hints->lexeme_by_state(place.config)) {
    return {};
  }
  return {
      .hints = place.hints, .lex = place.config.lex, .config = place.config};
}

// --- Values ------------------------------------------------------------------

// None for the value that is the whole text of a part.
Configuration Hints::value_state(Configuration config) const {
  if (is_off(Shortcut::kValueStates)) return {};
  const Place place = at(config);
  if (!place.alone() || place.in_whole_value()) return {};
  return outer(place, config, place.hints->value_state(place.config));
}

base::Fingerprint Hints::value_fingerprint(Configuration config) const {
  if (is_off(Shortcut::kSharedValues)) return {};
  const Place place = at(config);
  return place.hints != nullptr ? place.hints->value_fingerprint(place.config)
                                : base::Fingerprint{};
}

Configuration Hints::step_or_value_state(Configuration config,
                                         std::uint8_t byte) const {
  const Place place = at(config);
  if (!place.alone() || is_off(Shortcut::kValueStates)) {
    return recogniser_->step(config, byte);
  }
  return outer(place, config,
               place.hints->step_or_value_state(place.config, byte));
}

Hints::LeftValue Hints::left_value(Configuration config) const {
  const Place place = at(config);
  if (place.hints == nullptr || !place.hints->left_value(place.config)) {
    return {};
  }
  return {.at = place.config,
          .by_lookahead = place.hints->ended_by_lookahead(place.config)};
}

Configuration Hints::translate_left_value(Configuration config,
                                          Configuration left) const {
  const Place place = at(config);
  return place.hints->translate_left_value(place.config, left);
}

Configuration Hints::resume(Configuration config, Configuration left) const {
  const Place place = at(config);
  return outer(place, config, place.hints->resume(place.config, left));
}

}  // namespace parlance::mask
