#ifndef PARLANCE_SRC_AUTOMATA_NON_NEGATIVE_SET_H_
#define PARLANCE_SRC_AUTOMATA_NON_NEGATIVE_SET_H_

// The numbers of one sign that satisfy a schema, and the possible completions
// of a prefix of a literal.
//
// A set contains magnitudes; the caller handles the sign.  A prefix is live if
// some completion is the literal of a number in the set.  A prefix stands for
// one interval per number of digits that may still follow before the point
// ("12" for [12, 13), [120, 130), ...), so liveness is decided by a search for
// one witness in the intersection of intervals, bounds and multiples, by exact
// arithmetic on strings of digits.
//
// Two prefixes with the same key have the same completions.  The key has only
// the properties of the digits on which a bound, a step or a listed value still
// depends:
//
//   * how the digits compare with those of a bound, and how many there are, up
//     to the length of the bound;
//   * the remainder modulo the step;
//   * which listed values the digits still spell;
//   * the same once more for a mantissa that an exponent may follow.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/decimal.h"

namespace parlance::automata {

// Numbers beyond 10^1000, or with as many digits after the point, are not
// handled: the number of states grows with the digits.
inline constexpr std::int64_t kMaxNumberDigits = 1000;
inline constexpr std::uint64_t kMaxStep = 1'000'000'000'000'000'000;

// step * 10^-scale, not both divisible by ten.
struct NumberStep {
  std::uint64_t step = 1;
  int scale = 0;

  base::Decimal value() const;
  friend bool operator==(const NumberStep&, const NumberStep&) = default;
};

// nullopt if `of` is zero or too large or too fine.
std::optional<NumberStep> number_step(const base::Decimal& of);
// The least common multiple.  nullopt if it is too large.
std::optional<NumberStep> common_step(const NumberStep& a, const NumberStep& b);

struct NonNegativeSet {
  // All magnitudes: not negative.
  base::Decimal low;
  bool above_low = false;  // low itself is out
  std::optional<base::Decimal> high;
  bool below_high = false;
  std::optional<NumberStep> step;                     // only its multiples
  bool point = true;                                  // a point may be written
  std::vector<NumberStep> avoid;                      // none of their multiples
  std::vector<base::Decimal> excluded;                // sorted
  std::optional<std::vector<base::Decimal>> allowed;  // sorted; nothing else

  // Set by write_as(): these, and nothing else.  Sorted.
  std::vector<std::string> texts;

  // Follows from the above by canonicalize().
  enum class Exponents : std::uint8_t {
    kNone,
    kOneDigit,  // after d.ddd only, and below -3 or above 6
    kAny,
  };
  Exponents exponents = Exponents::kNone;
  std::string text;  // equal for equal sides
  // That of a side without constraints.
  static constexpr std::string_view kFreeText = "[0,].!/";

  // Rounds the bounds to multiples, sorts the lists, decides on exponents.
  // False: no number is left, or none that can be handled.
  // Bounds that are out of reach are drawn in, and `narrowed` is set.
  bool canonicalize(bool& narrowed);

  // Leaves each of `allowed` those of the JSON numbers `wanted` that are its
  // spellings, or one other where none of them is.
  // REQUIRES: canonicalize() was true.
  void write_as(const std::vector<std::string>& wanted);

  bool contains(const base::Decimal& magnitude) const;
  // Whether the set is all multiples of `step`.
  bool only_step() const {
    return step && low.is_zero() && !above_low && !high && avoid.empty() &&
           excluded.empty() && !allowed;
  }
};

// How a listed value may be spelled: with an exponent where it is far from one
// (a value that can be written plainly seldom is written otherwise), plainly
// where that takes no more than 400 digits.
bool listed_with_exponent(const base::Decimal& value);
bool listed_plainly(const base::Decimal& value);

struct NumberPrefix {
  bool live = false;
  bool accepting = false;
  bool shared = false;  // the key means the same for every side
  bool free = false;    // nothing but the grammar of JSON constrains the rest
  // Whatever digits follow, the prefix with them is live.
  bool any_digits = false;
  std::string key;
};

// Whether `literal` is the literal of a number in the set, as for
// read_number_prefix(), but without the cost of a key.
bool accepts_number(const NonNegativeSet& side, std::string_view literal);

// Classifies `prefix`, the beginning of a literal without its sign, for `side`.
// It may be empty.  If it is not live no other member is set.
NumberPrefix read_number_prefix(const NonNegativeSet& side,
                                std::string_view prefix);

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_NON_NEGATIVE_SET_H_
