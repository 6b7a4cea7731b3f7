#ifndef PARLANCE_SRC_RECOGNISER_HINT_H_
#define PARLANCE_SRC_RECOGNISER_HINT_H_

// What a recogniser knows of a place beyond step(), as data: asked once for a
// mask, with Recogniser::hint().
//
// Hints make masks cheaper.  They describe whole classes of tokens at once
// (FreeString, Between), and they identify what many places share:
//   LexemeHint::fingerprint   same rest of the lexeme, in any recogniser
//   Hint::value               same rest of the JSON value, whatever follows it
//
// Only recognisers of JSON Schemas have hints of their own.  A recogniser with
// parts has those of the part that reads, with configurations of its own.

#include <cstdint>
#include <variant>
#include <vector>

#include "base/fingerprint.h"
#include "base/unbounded.h"
#include "json/string_body.h"
#include "recogniser/configuration.h"

namespace parlance::recogniser {

// The rest of a JSON string in which every character is allowed.
struct FreeString {
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
  // through configurations that have Recogniser::exception_bytes().
  bool has_exceptions = false;
  // `after` also depends on the text of this string (the items of an array must
  // differ).  The difference shows only where another string, an array or an
  // object ends within the same token, so a token with a further quote or a
  // closing bracket after the closing quote is read from its first byte, not
  // from `after`.
  bool depends_on_text = false;
};

// The position is between two lexemes: white space is allowed, and reading it
// changes only how many more bytes of white space are allowed.
struct Between {
  // How many more bytes of white space are allowed.
  std::uint32_t max_bytes = 0;
  // The lexeme after the white space begins with one of {}[],:"-0123456789tfn.
  bool json = false;
  // The same position before any white space was read.  It decides what may
  // come after the white space.
  Configuration without_space = {};
};

class LexemeStates;

// The rest of a lexeme: a string, a number.  The tokens that stay inside it are
// found once and shared by all configurations with the same fingerprint.
struct LexemeHint {
  // Identifies the rest of the lexeme across recognisers: lexemes with equal
  // fingerprints continue with the same bytes, though other bytes may end them.
  //
  // If `chars_left` is not kUnbounded, the bound on the length of the lexeme is
  // not part of the fingerprint.
  //
  // Once a limit has narrowed a language of the recogniser, the fingerprint is
  // another one, which no other recogniser has: which texts were left out
  // depends on what was read.  So what was made while it changed is not to be
  // shared.
  base::Fingerprint fingerprint = {};
  // The only byte that can end the lexeme, now or later: a quote for strings.
  // This also holds in every recogniser that has the same fingerprint and the
  // same `end`.  kJsonEnd: white space or one of ,]} ends it.  kAnyEnd: any
  // byte may end it.
  static constexpr int kAnyEnd = -1;
  static constexpr int kJsonEnd = -2;
  int end = kAnyEnd;
  // How many more characters the lexeme may have; kUnbounded: no bound, or the
  // bound is part of the fingerprint.
  //
  // A text inside the lexeme that leads from `unbounded` to `to` is also
  // accepted from here, within the bound, if chars_needed() of here and `to` is
  // at most this.
  std::uint32_t chars_left = base::kUnbounded;
  Configuration unbounded = {};  // without the bound
  // Between two characters of a string whose rest, but for the bound, depends
  // on a state alone: the state, of LexemeStates; else null.
  LexemeStates* states = nullptr;
  std::uint32_t state = 0;
};

// A lexeme without a fingerprint, split into the fixed keys that it may still
// spell (`keys`) and the rest, whose hint is a LexemeHint (`others`).  Their
// union accepts exactly what the lexeme accepts, and a byte that ends the
// lexeme ends exactly one of the two, with the same configuration after it.
// `keys` is dead if there are no such keys.
struct SplitKeys {
  Configuration keys = {}, others = {};
};

// How a value was left whose beginning was Hint::value.
struct LeftValue {
  // The `lex` of a configuration in which a value is over, of the recogniser
  // with hints.  It has no transitions, and these two as `extra` and `count`.
  static constexpr std::uint32_t kLex = 9;
  static constexpr std::uint32_t kAll = 0;
  std::uint32_t fulfilled =
      kAll;  // what it was read for that the value fulfils
  // 1 + the byte after the value that alone showed that it is over, as `}` does
  // in `12}`; 0: none.  resume() decides whether that byte fits.
  std::uint32_t lookahead = 0;

  bool by_lookahead() const { return lookahead != 0; }
};

struct Hint {
  // monostate: nothing is known.
  std::variant<std::monostate, FreeString, Between, LexemeHint, SplitKeys>
      place = {};
  // The lexeme or value is the whole text, so that what follows it is not
  // decided by this recogniser.
  bool is_whole_text = false;
  // What a JSON value may contain does not depend on what follows the value, so
  // the mask of a value is made once for all its contexts.  Before a value:
  // this configuration without what follows the value, which is equal for all
  // configurations whose value has the same rest, but for counts that no token
  // can exhaust.  Else dead.
  //
  // Reading from it ends in a LeftValue when the value is over.  resume() maps
  // that back.
  Configuration value = {};
  // Identifies `value` across recognisers: equal only if the values accepted
  // are the same, and each fulfils all that it is read for (LeftValue::kAll).
  // May be none.  Changes as LexemeHint::fingerprint does.
  base::Fingerprint value_fingerprint = {};
};

// The states of lexemes that depend on a state alone.  All states are those of
// LexemeHint::state, and what step() returns.
class LexemeStates {
 public:
  virtual ~LexemeStates() = default;

  // The state of the lexeme after `byte`; 0 if the lexeme does not continue
  // with it.
  // REQUIRES: `byte` is not the closing quote.
  virtual std::uint32_t lexeme_step(std::uint32_t state, std::uint8_t byte) = 0;
  // The least number of characters before the lexeme may end.  A character that
  // has begun counts.
  virtual std::uint32_t min_chars(std::uint32_t state) = 0;

  struct Facts {
    // An upper bound of min_chars() after any sequence of whole characters, if
    // no such sequence makes the lexeme fail; else kUnbounded.  May be
    // kUnbounded where such a bound is hard to find.
    std::uint32_t lasting = base::kUnbounded;
    // The same for any sequence of characters that are not below U+0020 and not
    // U+0085, U+2028 or U+2029.
    std::uint32_t lasting_plain = base::kUnbounded;
    // A number of characters that cannot lead out of the lexeme, whichever they
    // are, and after which it may end; kUnbounded: no number can.
    std::uint32_t without_end = 0;
    // The lexeme may end wherever it can continue, and every character beyond
    // ASCII but U+0085, U+2028 and U+2029 leads back to it.
    bool loops_beyond_ascii = false;
    // The lexeme accepts every JSON spelling of a character.  If false, it
    // accepts only the escapes that JSON requires.
    bool any_escapes = true;
  };
  virtual Facts facts(std::uint32_t state) = 0;

  // Splits a lexeme that is an intersection or union of lexemes, each of which
  // may end wherever it can continue.  A text of whole characters stays in an
  // intersection if it stays in each of them, any text in a union if it stays
  // in one of them.  Empty: it is not split.
  struct Parts {
    struct Part {
      std::uint32_t state = 0;
      base::Fingerprint fingerprint = {};
    };
    std::vector<Part> lexemes = {};
    bool any = false;  // of a union
  };
  virtual Parts lexeme_parts(std::uint32_t state) = 0;
};

}  // namespace parlance::recogniser

#endif  // PARLANCE_SRC_RECOGNISER_HINT_H_
