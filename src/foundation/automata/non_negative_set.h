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
//   * for a mantissa that an exponent may follow, the same without its point,
//     how many digits it has, and the exponents that may follow it now.
//
// The number of digits of a mantissa is a counter, so a set with exponents has
// a state for each number.  Beyond kMostCounted, a mantissa that may end
// without an exponent has none: see NumberPrefix::plain.
//
// So a prefix may be replaced by another one with its key.  Past the digits of
// all bounds and listed values only the remainders are left, and a prefix as
// long as the steps replaces one of any length: see NumberPrefix::shorter.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/decimal.h"
#include "base/natural.h"

namespace parlance::automata {

// The digits of the least common multiple of a set's steps.  One step has no
// more than a schema may write; each further step may add as many.
inline constexpr std::size_t kMaxStepDigits = 20'000;

// The digits of a mantissa that are counted where an exponent may follow: those
// before the point, the zeros after "0.", and all where the set has steps.
inline constexpr std::size_t kMostCounted = 1'000;

// step * 10^-scale, not both divisible by ten.
struct NumberStep {
  base::Natural step = base::Natural(1);
  std::int64_t scale = 0;  // not negative

  base::Decimal value() const;
  friend bool operator==(const NumberStep&, const NumberStep&) = default;
};

// REQUIRES: `of` is greater than zero.
NumberStep number_step(const base::Decimal& of);
// The least common multiple.  nullopt beyond kMaxStepDigits.
std::optional<NumberStep> common_step(const NumberStep& a, const NumberStep& b);

struct NonNegativeSet {
  // All magnitudes: not negative.
  base::Decimal low;
  bool above_low = false;  // low itself is out
  std::optional<base::Decimal> high;
  bool below_high = false;
  std::optional<NumberStep> step;  // only its multiples
  bool point = true;               // a point may be written
  bool marked = false;             // a point or an exponent must be written
  bool every_spelling = false;     // of all numbers that may have a point
  std::vector<NumberStep> avoid;   // none of their multiples
  std::vector<base::Decimal> excluded;                // sorted
  std::optional<std::vector<base::Decimal>> allowed;  // sorted; nothing else

  // Set by write_as(): these, and nothing else.  Sorted.
  std::vector<std::string> texts;

  // Follows from the above by canonicalize().
  enum class Exponents : std::uint8_t {
    kNone,
    kOneDigit,  // after d.ddd only, d not 0
    kAll,       // after every mantissa
    kFree,      // the same, and nothing else constrains the number but a sign
  };
  Exponents exponents = Exponents::kNone;
  // The least common multiple of all steps, required and avoided: past all
  // bounds and listed values, digits with the same remainder modulo this are
  // the same for every step.  Zero: the set has no steps, or the number is too
  // large.
  base::Natural modulus;
  std::string text;  // equal for equal sides
  // That of a side without constraints.
  static constexpr std::string_view kFreeText = "[0,].!/";

  // Rounds the bounds to multiples, sorts the lists, decides on exponents.
  // False: no number is left.
  bool canonicalize();

  // Restricts the spellings of each value of `allowed` to those in `wanted`, a
  // list of JSON numbers.  A value without a spelling in the list gets one of
  // its own.
  // REQUIRES: canonicalize() was true.
  void write_as(const std::vector<std::string>& wanted);

  // The set with the literals that have no exponent.
  NonNegativeSet without_exponents() const;

  bool contains(const base::Decimal& magnitude) const;
  // Whether the set is all multiples of `step`.
  bool only_step() const {
    return step && low.is_zero() && !above_low && !high && avoid.empty() &&
           excluded.empty() && !allowed;
  }
};

// How many numbers are in the set; the greatest std::uint64_t if they are as
// many or infinitely many.
std::uint64_t count_values(const NonNegativeSet& side);
// The numbers in the set.
// REQUIRES: they are finitely many.
std::vector<base::Decimal> values_of(const NonNegativeSet& side);

struct NumberPrefix {
  bool live = false;
  bool accepting = false;
  bool shared = false;  // the key means the same for every side
  bool free = false;    // nothing but the grammar of JSON constrains the rest
  // Whatever digits follow, the prefix with them is live.
  bool any_digits = false;
  bool plainly = false;  // a member without an exponent begins so
  // From here on the set is without_exponents(): read the prefix by that.
  bool plain = false;
  std::string key;
  // A shorter prefix with this key, or empty.  With it, the prefixes that the
  // states of a set stand for are bounded by the digits of the set, not by
  // those of a text.
  std::string shorter;
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
