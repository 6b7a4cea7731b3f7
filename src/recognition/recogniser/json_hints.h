#ifndef PARLANCE_SRC_RECOGNISER_JSON_HINTS_H_
#define PARLANCE_SRC_RECOGNISER_JSON_HINTS_H_

// What a JSON recogniser knows about its configurations beyond step().
//
// Hints make masks cheaper.  They describe whole classes of tokens at once
// (StringHint, WhitespaceHint), and they identify configurations, so that the
// masks of these are shared:
//   lexeme_fingerprint()  same rest of the lexeme, in any recogniser
//   value_state()         same rest of the JSON value, whatever follows it
//
// Only recognisers of JSON Schemas have hints.  All configurations are of the
// recogniser whose hints these are; the caller holds its lock.

#include <cstdint>
#include <vector>

#include "base/byte_set.h"
#include "base/fingerprint.h"
#include "base/unbounded.h"
#include "json/string_body.h"
#include "recogniser/configuration.h"

namespace parlance::recogniser {

// The rest of a JSON string in which every character is allowed.
struct StringHint {
  // If false, the configuration is not inside such a string: the other members
  // mean nothing, and step() decides each byte.
  bool unconstrained = false;
  // The position inside an escape or a UTF-8 sequence.
  json::BodyState state = json::BodyState::kText;
  // How many more characters the string may have, and must have before the
  // closing quote.  A character that has begun (`state` is not kText) is
  // counted in both.
  std::uint32_t max_chars = base::kUnbounded;
  std::uint32_t min_chars = 0;
  // The configuration after the closing quote, if there were enough characters.
  // Dead if the string cannot end here at all.
  Configuration after = {};
  // If `after` depends on the number of characters: `after` for each range of
  // that number, in ascending order.  The ranges then replace `min_chars` and
  // `after`; `max_chars` is still the maximum over all ranges.
  // Empty otherwise, and whenever `has_exceptions`.
  struct AcceptingRange {
    std::uint32_t min_chars = 0;
    std::uint32_t max_chars = base::kUnbounded;
    Configuration after = {};
  };
  std::vector<AcceptingRange> accepting_ranges = {};
  // The text so far is a prefix of a string that does not lead to `after`: an
  // object key that the schema treats specially, or one that was used before.
  // Every closing quote that is such an exception is found by following step()
  // through configurations whose string_hint() also `has_exceptions`.
  bool has_exceptions = false;
  // `after` also depends on the text of this string (the items of an array must
  // differ).  The difference shows only where another string ends within the
  // same token, so a token with a further quote after the closing quote must be
  // read from its first byte, not from `after`.
  bool depends_on_text = false;
};

// The position is between two lexemes: white space is allowed, and reading it
// changes only how many more bytes of white space are allowed.
struct WhitespaceHint {
  // If false, the configuration is at no such position, and the other members
  // mean nothing.
  bool unconstrained = false;
  // How many more bytes of white space are allowed.
  std::uint32_t max_bytes = 0;
  // The lexeme after the white space begins with one of {}[],:"-0123456789tfn.
  bool json = false;
  // The same position before any white space was read.  It decides what may
  // come after the white space.
  Configuration without_space = {};
};

class JsonHints {
 public:
  virtual ~JsonHints() = default;

  // Whether the value at `config` is the whole text, so that what follows it is
  // not decided by this recogniser.
  virtual bool in_whole_value(Configuration) { return false; }

  virtual StringHint string_hint(Configuration config) = 0;
  // As string_hint(config).has_exceptions, but cheaper.
  virtual bool has_exceptions(Configuration config) {
    return string_hint(config).has_exceptions;
  }
  // A superset of the bytes after which a string that `has_exceptions` still
  // has exceptions, or ends as one.
  virtual base::ByteSet exception_bytes(Configuration) {
    return base::kAllBytes;
  }
  // A superset of the bytes that step() accepts; never more expensive than to
  // try a few bytes.
  virtual base::ByteSet likely_bytes(Configuration) { return base::kAllBytes; }
  virtual WhitespaceHint whitespace_hint(Configuration config) = 0;

  // --- Lexemes.  The tokens that stay inside a lexeme (a string, a number) are
  // found once and shared by all configurations with the same fingerprint.

  // Identifies the rest of the lexeme across recognisers: configurations with
  // equal fingerprints continue their lexemes with the same bytes, though other
  // bytes may end them.  May be none.
  //
  // If chars_left() is not kUnbounded, the bound on the length of the lexeme is
  // not part of the fingerprint.
  //
  // Once a limit has narrowed a language of the recogniser, the fingerprint is
  // another one, which no other recogniser has: which texts were left out
  // depends on what was read.  So what was made while it changed is not to be
  // shared.
  virtual base::Fingerprint lexeme_fingerprint(Configuration config) = 0;
  // Whether the step from `from` to `to` stayed inside the lexeme of `from`.
  // REQUIRES: `from` has a fingerprint; `to` is not dead and is one step from
  // `from`.
  virtual bool same_lexeme(Configuration from, Configuration to) {
    return from.frame == to.frame && lexeme_fingerprint(to);
  }
  // How many more characters the lexeme may have; kUnbounded: no bound, or the
  // bound is part of the fingerprint.
  //
  // A text inside the lexeme that leads from lexeme_unbounded(config) to `to`
  // is also accepted from `config`, within the bound, if
  // chars_needed(config, to) <= chars_left(config).
  virtual std::uint32_t chars_left(Configuration) { return base::kUnbounded; }
  // `config` without the bound.
  virtual Configuration lexeme_unbounded(Configuration config) {
    return config;
  }
  // The number of characters between the two configurations plus the number
  // that the lexeme must still have at the second.
  virtual std::uint32_t chars_needed(Configuration, Configuration) { return 0; }
  // Whether `config` is between two characters of a string whose rest, but for
  // a bound, depends on `lex` alone.  The four functions below then accept the
  // `lex` of lexeme_unbounded(config), and what lexeme_step() returns.
  virtual bool lexeme_by_state(Configuration) { return false; }
  // The state of the lexeme after `byte`; 0 if the lexeme does not continue
  // with it.
  // REQUIRES: `byte` is not the closing quote.
  virtual std::uint32_t lexeme_step(std::uint32_t, std::uint8_t) { return 0; }
  // The least number of characters before the lexeme may end.  A character that
  // has begun counts.
  virtual std::uint32_t min_chars_to_accept(std::uint32_t) { return 0; }
  // An upper bound of min_chars_to_accept() after any sequence of whole
  // characters, if no such sequence makes the lexeme fail; else kUnbounded. May
  // be kUnbounded where such a bound is hard to find.
  virtual std::uint32_t max_min_chars(std::uint32_t) {
    return base::kUnbounded;
  }
  // The same for any sequence of characters that are not below U+0020 and not
  // U+0085, U+2028 or U+2029.
  virtual std::uint32_t max_min_plain_chars(std::uint32_t) {
    return base::kUnbounded;
  }
  // Splits a lexeme that is an intersection or union of lexemes, each of which
  // may end wherever it can continue.  A text of whole characters stays in an
  // intersection if it stays in each of them, any text in a union if it stays
  // in one of them.  Empty: it is not split.
  struct LexemeParts {
    std::vector<std::uint32_t> lexemes;
    bool any = false;  // of a union
  };
  virtual LexemeParts lexeme_parts(std::uint32_t) { return {}; }
  // A number of characters that cannot lead out of the lexeme, whichever they
  // are, and after which it may end; kUnbounded: no number can.
  virtual std::uint32_t chars_without_end(std::uint32_t) { return 0; }
  // Whether the lexeme may end wherever it can continue, and every character
  // beyond ASCII but U+0085, U+2028 and U+2029 leads back to it.
  virtual bool loops_beyond_ascii(std::uint32_t) { return false; }
  // Whether the lexeme accepts every JSON spelling of a character.  If false,
  // it accepts only the escapes that JSON requires.
  virtual bool lexeme_any_escapes(std::uint32_t) { return true; }
  // Whether the lexeme is a number that continues with every text of digits.
  virtual bool any_digits(Configuration) { return false; }
  // Splits a lexeme that has no fingerprint into the fixed keys that it may
  // still spell (`keys`) and the rest, which has a fingerprint (`others`).
  // Their union accepts exactly what the lexeme accepts, and a byte that ends
  // the lexeme ends exactly one of the two, with the same configuration after
  // it.  `keys` is dead if there are no such keys; both are dead if the lexeme
  // cannot be split.
  struct LexemeSplit {
    Configuration keys, others;
  };
  virtual LexemeSplit split_lexeme(Configuration) { return {}; }
  // The only byte that can end the lexeme, now or later: a quote for strings.
  // This also holds in every recogniser that has the same fingerprint and
  // returns the same.  kJsonEnd: white space or one of ,]} ends it.  kAnyEnd:
  // any byte may end it.
  static constexpr int kAnyEnd = -1;
  static constexpr int kJsonEnd = -2;
  virtual int lexeme_end(Configuration) { return kAnyEnd; }

  // --- Values.  What a JSON value may contain does not depend on what follows
  // the value, so the mask of a value is made once for all its contexts.

  // `config` without what follows the value: equal for all configurations whose
  // value has the same rest.  Dead if there is none.
  //
  // Reading from a value_state() ends in a left_value() configuration, which
  // has no transitions, when the value is over.  resume() maps that
  // configuration back to the context of `config`.
  virtual Configuration value_state(Configuration) { return {}; }
  virtual bool left_value(Configuration) { return false; }
  // Whether only a byte after the value showed that the value is over, as `}`
  // does in `12}`.  resume() decides whether that byte fits.
  // REQUIRES: left_value(config).
  virtual bool ended_by_lookahead(Configuration) { return false; }
  // The configuration that continues `config` after its value has ended as the
  // second argument says, a left_value() configuration.  Dead if it does not
  // fit.
  virtual Configuration resume(Configuration, Configuration) { return {}; }
  // Identifies a value_state() across recognisers: equal only if the values
  // accepted are the same, and if what follows cannot depend on which of them
  // was read.  May be none.  Changes as lexeme_fingerprint() does.
  virtual base::Fingerprint value_fingerprint(Configuration) { return {}; }
  // A left_value() configuration of a recogniser with the same
  // value_fingerprint(), translated to this recogniser.
  virtual Configuration translate_left_value(Configuration, Configuration) {
    return {};
  }
  // As step(), but a byte after which a value begins may lead to the
  // value_state() instead.  That is cheaper if the result is not used in the
  // end.
  virtual Configuration step_or_value_state(Configuration config,
                                            std::uint8_t byte) = 0;
};

}  // namespace parlance::recogniser

#endif  // PARLANCE_SRC_RECOGNISER_JSON_HINTS_H_
