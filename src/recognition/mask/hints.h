#ifndef PARLANCE_SRC_MASK_HINTS_H_
#define PARLANCE_SRC_MASK_HINTS_H_

// The hints for a configuration of any recogniser.
//
// Only JSON recognisers have hints (recogniser/json_hints.h).  The recogniser
// that a mask is made for may be one, or may have parts that are.  In the
// second case a configuration is translated to that of the part, the part is
// asked, and what it answers is translated back, all of it here.
//
//   configuration of the recogniser --part_at()--> of its part
//                                   <--with_part_at()--
//
// Where the text of a part may end, what follows it may be read as well, so
// there the part's hints about all that may follow do not hold.

#include <cstdint>

#include "base/byte_set.h"
#include "base/fingerprint.h"
#include "recogniser/json_hints.h"
#include "recogniser/recogniser.h"

namespace parlance::mask {

using recogniser::Configuration;
using recogniser::Recogniser;

// Copies are cheap.  The caller holds the lock of the recogniser.
class Hints {
 public:
  Hints() = default;
  explicit Hints(Recogniser& recogniser)
      : recogniser_(&recogniser), own_(recogniser.json_hints()) {}

  // Whether no hint is known, since no recogniser of JSON reads here.
  bool outside_parts(Configuration config) const {
    return at(config).hints == nullptr;
  }

  // As the functions of JsonHints; where there are no hints, the values that
  // say nothing.
  recogniser::StringHint string_hint(Configuration config) const;
  recogniser::WhitespaceHint whitespace_hint(Configuration config) const;
  bool has_exceptions(Configuration config) const;
  base::ByteSet exception_bytes(Configuration config) const;
  base::ByteSet likely_bytes(Configuration config) const;

  base::Fingerprint lexeme_fingerprint(Configuration config) const;
  bool same_lexeme(Configuration from, Configuration to) const;
  std::uint32_t chars_left(Configuration config) const;
  Configuration lexeme_unbounded(Configuration config) const;
  std::uint32_t chars_needed(Configuration from, Configuration to) const;
  bool any_digits(Configuration config) const;
  recogniser::JsonHints::LexemeSplit split_lexeme(Configuration config) const;
  int lexeme_end(Configuration config) const;
  // The hints of a lexeme that depends on `lex` alone (lexeme_by_state()).
  struct Lexeme {
    recogniser::JsonHints* hints = nullptr;  // null: it does not
    std::uint32_t lex = 0;
    Configuration config = {};  // of the JSON recogniser, with that `lex`
  };
  Lexeme lexeme_by_state(Configuration config) const;

  Configuration value_state(Configuration config) const;
  base::Fingerprint value_fingerprint(Configuration config) const;
  Configuration step_or_value_state(Configuration config,
                                    std::uint8_t byte) const;
  // How a value was left: a left_value() configuration of the JSON recogniser
  // that read the value, and not of the recogniser that it is a part of.
  struct LeftValue {
    Configuration at;           // dead: it was not left
    bool by_lookahead = false;  // ended_by_lookahead()
    explicit operator bool() const { return !at.dead(); }
  };
  LeftValue left_value(Configuration config) const;
  // `left`: LeftValue::at, of a recogniser with the same value_fingerprint().
  Configuration translate_left_value(Configuration config,
                                     Configuration left) const;
  // The configuration that continues `config` after its value was left.
  Configuration resume(Configuration config, Configuration left) const;

 private:
  // A configuration of a JSON recogniser.
  struct Place {
    recogniser::JsonHints* hints = nullptr;  // null: no hints
    Configuration config;
    Recogniser* part = nullptr;  // null: it is the recogniser itself
    std::uint32_t site = 0;
    // Whether nothing but the JSON recogniser reads here.
    bool alone() const {
      return hints != nullptr && (part == nullptr || !part->can_end(config));
    }
    // Whether what follows the value is read by another recogniser.
    bool in_whole_value() const {
      return part != nullptr && hints->in_whole_value(config);
    }
  };
  Place at(Configuration config) const {
    if (own_ != nullptr) return {.hints = own_, .config = config};
    const Recogniser::PartPosition in = recogniser_->part_at(config);
    if (in.part == nullptr) return {};
    return {.hints = in.part->json_hints(),
            .config = in.config,
            .part = in.part,
            .site = in.site};
  }
  // The configuration of the recogniser where its part is at `inner`.
  // REQUIRES: place == at(config).
  Configuration outer(const Place& place, Configuration config,
                      Configuration inner) const {
    return place.part == nullptr ? inner
                                 : recogniser_->with_part_at(config, inner);
  }

  Recogniser* recogniser_ = nullptr;
  recogniser::JsonHints* own_ = nullptr;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_HINTS_H_
