// Map of this file
//
//   Literal             a prefix in its parts
//   exponents           which exponents may follow a mantissa
//   liveness            whether some completion is in the set
//   key                 a fingerprint of the possible completions

#include <algorithm>
#include <cstddef>
#include <limits>

#include "automata/non_negative_set.h"
#include "base/ascii.h"
#include "base/natural.h"
#include "base/work.h"

namespace parlance::automata {

using base::Decimal;
using base::is_digit;
using base::Natural;
using std::size_t;

namespace {

// Exponents as programs write them.
bool worth_an_exponent(std::int64_t exponent) {
  return exponent >= 7 || exponent <= -4;
}

// A literal in its parts.
struct Literal {
  std::string whole;  // digits before the point
  bool point = false;
  std::string fraction;
  bool exponent = false;  // an 'e' was read
  bool exponent_signed = false;
  bool exponent_minus = false;
  bool exponent_digits = false;
  std::int64_t exponent_value = 0;  // without its sign, at most kHuge

  // Greater than the exponents at which the members of a set change: those of
  // its bounds and values (at most 10^9, see Decimal), less the digits of a
  // mantissa.  Greater exponents are all alike.
  static constexpr std::int64_t kHuge = 1'000'000'000'000;

  bool zero_whole() const { return whole == "0"; }
  Decimal mantissa() const {
    return Decimal::from_digits(whole + fraction,
                                -static_cast<std::int64_t>(fraction.size()));
  }
  bool one_digit() const { return whole.size() == 1 && whole[0] != '0'; }
  // The digits from the first that is not zero on.
  std::string significant() const {
    const std::string digits = whole + fraction;
    return digits.substr(
        std::min(digits.find_first_not_of('0'), digits.size()));
  }
};

// Whether `literal`, which has none yet, may have an exponent, or may after
// further digits.
bool may_have_exponent(const NonNegativeSet& side, const Literal& literal) {
  switch (side.exponents) {
    case NonNegativeSet::Exponents::kNone:
      return false;
    case NonNegativeSet::Exponents::kOneDigit:
      return literal.one_digit();
    case NonNegativeSet::Exponents::kAll:
    case NonNegativeSet::Exponents::kFree:
      return true;
  }
  return false;
}

// The digits that an exponent may have to make up for: see kMostCounted.
size_t counted_digits(const NonNegativeSet& side, const Literal& literal) {
  if (side.exponents == NonNegativeSet::Exponents::kFree) return 0;
  const size_t whole = literal.whole.size();
  if (side.step || !side.avoid.empty()) return whole + literal.fraction.size();
  if (!literal.zero_whole()) return whole;
  return whole + std::min(literal.fraction.find_first_not_of('0'),
                          literal.fraction.size());
}

// False if no JSON number begins so.
bool read_literal(std::string_view text, Literal& out) {
  size_t at = 0;
  auto more = [&] { return at < text.size(); };
  while (more() && is_digit(text[at])) out.whole += text[at++];
  if (out.whole.size() > 1 && out.whole[0] == '0') return false;
  if (!more()) return true;
  if (out.whole.empty()) return false;
  if (text[at] == '.') {
    ++at;
    out.point = true;
    while (more() && is_digit(text[at])) out.fraction += text[at++];
    if (!more()) return true;
    if (out.fraction.empty()) return false;
  }
  if (text[at] != 'e' && text[at] != 'E') return false;
  ++at;
  out.exponent = true;
  if (more() && (text[at] == '+' || text[at] == '-')) {
    out.exponent_signed = true;
    out.exponent_minus = text[at++] == '-';
  }
  for (; more() && is_digit(text[at]); ++at) {
    out.exponent_digits = true;
    out.exponent_value =
        std::min(out.exponent_value * 10 + (text[at] - '0'), Literal::kHuge);
  }
  return !more();
}

// --- exponents --------------------------------------------------------------

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
using Range = std::pair<std::int64_t, std::int64_t>;  // both ends inside
using Ranges = std::vector<Range>;

void cut(Ranges& ranges, std::int64_t from, std::int64_t to) {
  Ranges out;
  for (auto [a, b] : ranges) {
    if (a < from) out.emplace_back(a, std::min(b, from - 1));
    if (b > to) out.emplace_back(std::max(a, to + 1), b);
  }
  ranges = std::move(out);
}

// The least exponent that makes `mantissa` a multiple of `step`, if any does.
//
// An exponent appends zeros to the digits, that is, factors 2 and 5.  A factor
// of the step that is prime to ten has to be in the digits already; of 7, no
// exponent makes 2 a multiple.
std::optional<std::int64_t> least_exponent(const NumberStep& step,
                                           const Decimal& mantissa) {
  const Natural one(1);
  const Natural digits = Natural::from_digits(mantissa.digits);
  // What is left of the step must divide a power of ten.  Invariant of the
  // loop: the step divides digits * 10^zeros * rest, and no smaller `rest`
  // does.
  Natural rest = step.step / gcd(step.step, digits);
  std::int64_t zeros = 0;
  while (rest > one) {
    const Natural shared = gcd(rest, Natural(10));
    if (shared == one || !base::spend_work()) return {};
    rest = rest / shared;
    ++zeros;
  }
  return zeros - mantissa.exponent - step.scale;
}

// The exponents that may follow the mantissa of `literal`.  Each constraint
// cuts off the exponents that it excludes:
//
//   a bound    an exponent moves the magnitude, so digits are compared only for
//              the one at which both magnitudes are equal
//   a step     a multiple with one exponent is one with each greater exponent
//   a value    excludes the one exponent that spells it with this mantissa
Ranges exponents_of(const NonNegativeSet& side, const Literal& literal) {
  if (!may_have_exponent(side, literal)) return {};
  const Decimal mantissa = literal.mantissa();
  Ranges all = {{-kMost, kMost}};
  if (mantissa.is_zero()) return side.contains(mantissa) ? all : Ranges();
  if (side.exponents == NonNegativeSet::Exponents::kFree) return all;
  if (side.allowed) {
    Ranges out;
    for (const Decimal& value : *side.allowed) {
      if (value.digits != mantissa.digits) continue;
      const std::int64_t at = value.exponent - mantissa.exponent;
      out.emplace_back(at, at);
    }
    return out;
  }
  const auto shifted = [&](std::int64_t by) {
    Decimal out = mantissa;
    out.exponent += by;
    return out;
  };
  if (!side.low.is_zero()) {
    std::int64_t first = side.low.magnitude() - mantissa.magnitude();
    auto order = shifted(first) <=> side.low;
    if (order < 0 || (order == 0 && side.above_low)) ++first;
    cut(all, -kMost, first - 1);
  }
  if (side.high) {
    if (side.high->is_zero()) return {};
    std::int64_t last = side.high->magnitude() - mantissa.magnitude();
    auto order = shifted(last) <=> *side.high;
    if (order > 0 || (order == 0 && side.below_high)) --last;
    cut(all, last + 1, kMost);
  }
  if (side.step) {
    const auto first = least_exponent(*side.step, mantissa);
    if (!first) return {};
    cut(all, -kMost, *first - 1);
  }
  for (const NumberStep& one : side.avoid) {
    if (const auto first = least_exponent(one, mantissa)) {
      cut(all, *first, kMost);
    }
  }
  for (const Decimal& value : side.excluded) {
    if (value.digits != mantissa.digits) continue;
    std::int64_t at = value.exponent - mantissa.exponent;
    cut(all, at, at);
  }
  return all;
}

// A prefix that has an 'e'.  The exponents that may follow the mantissa are a
// union of ranges; the prefix is live if one of them contains a number that
// begins with the digits read.  The key is the ranges and the value read, cut
// off beyond their greatest finite end.
NumberPrefix read_exponent(const NonNegativeSet& side, const Literal& literal) {
  NumberPrefix out;
  Ranges ranges = exponents_of(side, literal);
  std::int64_t greatest = 0;  // finite end, without sign
  for (auto [a, b] : ranges) {
    for (std::int64_t end : {a, b}) {
      if (end != kMost && end != -kMost) {
        greatest = std::max(greatest, end < 0 ? -end : end);
      }
    }
  }
  std::int64_t value = literal.exponent_value;
  auto meets = [&](std::int64_t from, std::int64_t to, bool negative) {
    if (negative) from = -std::exchange(to, -from);
    return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
      return range.first <= to && from <= range.second;
    });
  };
  // Whether some exponent of `ranges` begins with the digits of `value`: with k
  // further digits it is in [value * 10^k, (value + 1) * 10^k).  Leading zeros
  // are digits, so 0 begins every exponent.
  auto reaches = [&](bool negative) {
    if (meets(value, value, negative)) return true;
    std::int64_t scale = 1;
    for (int i = 0; i < 12 && value <= greatest; ++i) {
      scale *= 10;
      if (value * scale > 10 * Literal::kHuge) break;
      if (meets(value * scale, value * scale + scale - 1, negative)) {
        return true;
      }
    }
    return meets(Literal::kHuge, kMost, negative);
  };
  if (!literal.exponent_signed && !literal.exponent_digits) {
    out.live = reaches(false) || reaches(true);
  } else {
    out.live = reaches(literal.exponent_minus);
  }
  if (!out.live) return out;
  out.accepting =
      literal.exponent_digits && meets(value, value, literal.exponent_minus);
  out.shared = true;
  out.free = ranges == Ranges{{-kMost, kMost}};
  out.key = "e";
  for (auto [a, b] : ranges) {
    out.key += std::to_string(a) + ":" + std::to_string(b) + ",";
  }
  out.key += literal.exponent_minus ? "-" : "+";
  if (!literal.exponent_digits) {
    out.key += literal.exponent_signed ? "s" : "e";
  } else {
    // Values beyond every finite end have the same completions.
    out.key += std::to_string(std::min(value, greatest + 1));
  }
  return out;
}

// --- liveness ---------------------------------------------------------------

// Whether [from, to) holds a number of a side that has neither step nor list.
bool dense_witness(const NonNegativeSet& side, Decimal from, Decimal to) {
  bool above = false;
  bool below = true;
  if (side.low >= from) {
    from = side.low;
    above = side.above_low;
  }
  if (side.high && *side.high < to) {
    to = *side.high;
    below = side.below_high;
  }
  // Between two different numbers there is always one with more digits than
  // any that is excluded or avoided.
  if (from < to) return true;
  return from == to && !above && !below && side.contains(from);
}

// digits * 10^more.
Natural shifted(std::string_view digits, std::int64_t more) {
  return Natural::from_digits(digits).shifted(static_cast<size_t>(more));
}

std::string successor(std::string_view digits) {
  Natural out = Natural::from_digits(digits);
  out += Natural(1);
  return out.digits();
}

// The bounds of a set with a step, as multiples of 10^-scale: see
// NonNegativeSet::canonicalize().
struct StepBounds {
  explicit StepBounds(const NonNegativeSet& side)
      : low(units(side.low, side.step->scale)) {
    if (side.high) high = units(*side.high, side.step->scale);
  }
  static Natural units(const Decimal& value, std::int64_t scale) {
    return value.is_zero() ? Natural()
                           : shifted(value.digits, value.exponent + scale);
  }
  Natural low;
  std::optional<Natural> high;
};

// Whether a multiple of the step is among digits * 10^more .. (digits + 1) *
// 10^more - 1, counted in units of the step's scale.
//
// The loop visits the multiples in turn.  Each is in the set, or is excluded,
// or is a multiple of one of k steps that are avoided.  Of the second kind
// there are finitely many, and few of the third kind follow one another: fewer
// than k^2 or 64 (Jacobsthal's function of a product of k primes).
bool step_witness(const NonNegativeSet& side, const StepBounds& bounds,
                  std::string_view digits, std::int64_t more) {
  const NumberStep& step = *side.step;
  const Natural next = shifted(successor(digits), more);
  Natural at = std::max(shifted(digits, more), bounds.low);
  if (Natural rest = at % step.step; !rest.is_zero()) {
    at += step.step;
    at -= rest;
  }
  while (at < next && (!bounds.high || at <= *bounds.high)) {
    if (!base::spend_work()) return false;
    if (side.contains(Decimal::from_digits(at.digits(), -step.scale))) {
      return true;
    }
    at += step.step;
  }
  return false;
}

// Whether a multiple of the step begins with `digits`, of which `decimals` are
// after the point, if no further digit comes before the point.  The numbers are
// the 10^more ones from digits * 10^more on, in units of the step's scale.
// REQUIRES: decimals <= step.scale.
bool step_reaches(const NumberStep& step, std::string_view digits,
                  std::int64_t decimals) {
  const std::int64_t more = step.scale - decimals;
  Natural rest = shifted(digits, more) % step.step;
  if (rest.is_zero()) return true;
  rest += shifted("1", more);
  return rest > step.step;
}

// Whether a number without exponent begins with `literal`.
//
// With `more` further digits before the point the literal stands for the
// numbers of one interval, [digits, digits + 1) * 10^(more - decimals).  The
// loop searches the intervals for a member of the set, from the shortest number
// to the longest that a bound or a listed value permits.  Without either, every
// prefix before the point has a completion.
bool live_plainly(const NonNegativeSet& side, const Literal& literal) {
  if (literal.point && !side.point) return false;
  std::string digits = literal.whole + literal.fraction;
  auto decimals = static_cast<std::int64_t>(literal.fraction.size());
  // How many digits may still follow before the point.
  std::int64_t room = 0;
  if (!literal.point && !literal.zero_whole()) {
    std::int64_t most = 0;
    if (side.allowed) {
      for (const Decimal& value : *side.allowed) {
        most = std::max(most, value.magnitude());
      }
    } else if (side.high) {
      most = side.high->magnitude();
    } else {
      return true;
    }
    room = std::max<std::int64_t>(
        0, most - static_cast<std::int64_t>(digits.size()));
  }
  if (side.step && decimals > side.step->scale) {
    auto scale = static_cast<size_t>(side.step->scale);
    return literal.fraction.find_first_not_of('0', scale) ==
               std::string::npos &&
           side.contains(literal.mantissa());
  }
  if (side.only_step()) return step_reaches(*side.step, digits, decimals);
  // Numbers that are shorter than the lower bound are below it.  Nearly every
  // interval of longer ones, short of the upper bound, has a member, so that
  // few are searched, however long the bounds are.
  std::int64_t more = 0;
  if (room > 0 && !side.allowed) {
    std::int64_t least = side.low.magnitude();
    // The multiples above zero are not below the step.
    if (side.step) least = std::max(least, side.step->value().magnitude());
    more = std::max<std::int64_t>(
        0, least - static_cast<std::int64_t>(digits.size()));
  }
  std::optional<StepBounds> bounds;
  if (side.step) bounds.emplace(side);
  const std::string next = successor(digits);
  for (; more <= room; ++more) {
    if (!base::spend_work(1 + digits.size() / 16)) return false;
    if (side.step) {
      if (step_witness(side, *bounds, digits,
                       more + side.step->scale - decimals)) {
        return true;
      }
      continue;
    }
    const Decimal from = Decimal::from_digits(digits, more - decimals);
    const Decimal to = Decimal::from_digits(next, more - decimals);
    if (side.allowed) {
      auto found =
          std::lower_bound(side.allowed->begin(), side.allowed->end(), from);
      for (; found != side.allowed->end() && *found < to; ++found) {
        if (side.point || found->is_integer()) return true;
      }
      if (found == side.allowed->end()) return false;
      // The next value is in no shorter interval than this.
      more = std::max(more, found->magnitude() -
                                static_cast<std::int64_t>(digits.size()) - 1);
    } else if (dense_witness(side, from, to)) {
      return true;
    }
  }
  return false;
}

// Whether the digits of a mantissa may become those of `value`.
bool still_spells(std::string_view digits, std::string_view value) {
  if (digits.size() <= value.size()) return value.starts_with(digits);
  return digits.starts_with(value) &&
         digits.find_first_not_of('0', value.size()) == std::string::npos;
}

// Whether a member above zero has significant digits that begin with those of
// `literal`, which has some: a member between digits * 10^n and
// (digits + 1) * 10^n, for any n.
//
// The magnitude of such a member is at least that of the lower bound, or of
// the step, and at most that of the upper bound.  Without a step, all that lie
// strictly between have one.
bool live_at_some_magnitude(const NonNegativeSet& side,
                            const Literal& literal) {
  const std::string digits = literal.significant();
  const auto count = static_cast<std::int64_t>(digits.size());
  if (side.allowed) {
    return std::any_of(
        side.allowed->begin(), side.allowed->end(), [&](const Decimal& value) {
          return !value.is_zero() && still_spells(digits, value.digits);
        });
  }
  // The multiples that are not to be avoided go on, and so do their digits.
  if (!side.high) return true;
  if (side.high->is_zero()) return false;
  const std::int64_t last = side.high->magnitude();
  if (!side.step) {
    if (side.low.is_zero() || last - side.low.magnitude() >= 2) return true;
    const std::string next = successor(digits);
    for (std::int64_t at = side.low.magnitude(); at <= last; ++at) {
      if (dense_witness(side, Decimal::from_digits(digits, at - count),
                        Decimal::from_digits(next, at - count))) {
        return true;
      }
    }
    return false;
  }
  // Fewer digits than `count` spell a member if the others are zeros.
  if (!exponents_of(side, literal).empty()) return true;
  const StepBounds bounds(side);
  const std::int64_t least = side.low.is_zero() ? side.step->value().magnitude()
                                                : side.low.magnitude();
  const std::int64_t first = std::max(least, count - side.step->scale);
  for (std::int64_t at = first; at <= last; ++at) {
    if (!base::spend_work(1 + digits.size() / 16)) return false;
    if (step_witness(side, bounds, digits, at - count + side.step->scale)) {
      return true;
    }
  }
  return false;
}

// Whether a number with an exponent begins with `literal`, which has none yet.
//
// In the canonical spelling only exponents that are worth one make a mantissa
// live that begins no number without an exponent, and only where there are no
// steps: "1.999" is no beginning of 1.999e+16 for prices.
bool live_with_exponent(const NonNegativeSet& side, const Literal& literal) {
  if (!may_have_exponent(side, literal)) return false;
  if (side.exponents != NonNegativeSet::Exponents::kOneDigit) {
    if (!literal.significant().empty()) {
      return live_at_some_magnitude(side, literal);
    }
    if (side.contains({})) return true;
    for (char c = '1'; c <= '9'; ++c) {
      Literal digit;
      digit.whole = c;
      if (live_at_some_magnitude(side, digit)) return true;
    }
    return false;
  }
  if (side.step) return false;
  if (!side.high) return true;
  if (side.high->is_zero()) return false;
  // Every exponent strictly between those of the bounds is possible; those at
  // the ends are tried.
  std::int64_t last = side.high->magnitude() - 1;
  if (side.low.is_zero()) return true;
  const std::string digits = literal.whole + literal.fraction;
  const auto decimals = static_cast<std::int64_t>(literal.fraction.size());
  std::int64_t first = side.low.magnitude() - 1;
  const std::string next = successor(digits);
  for (std::int64_t at :
       {first, first + 1, std::int64_t{-4}, std::int64_t{7}, last - 1, last}) {
    if (at < first || at > last || !worth_an_exponent(at)) continue;
    if (dense_witness(side, Decimal::from_digits(digits, at - decimals),
                      Decimal::from_digits(next, at - decimals))) {
      return true;
    }
  }
  return false;
}

// --- key --------------------------------------------------------------------

// How `digits` compare with as many zeros and then the digits of `bound`: "<",
// ">", or "=" and how many digits of the bound are equal so far.  Zeros follow
// the bound, however many: it may be 1e1000000.
std::string compare_digits(std::string_view digits, size_t zeros,
                           std::string_view bound) {
  const size_t first = digits.find_first_not_of('0');
  if (first < zeros) return ">";
  if (digits.size() <= zeros) return "=" + std::to_string(digits.size());
  const std::string_view rest = digits.substr(zeros);
  const size_t both = std::min(rest.size(), bound.size());
  const int order = rest.substr(0, both).compare(bound.substr(0, both));
  if (order != 0) return order < 0 ? "<" : ">";
  if (rest.find_first_not_of('0', both) != std::string_view::npos) return ">";
  return "=" + std::to_string(zeros + both);
}

// The same for the digits of a literal and a bound that is written without an
// exponent.  A literal that is not past the point yet is compared with as many
// digits of the bound.
std::string compare_plainly(const Literal& literal, const Decimal& bound) {
  const std::int64_t point = bound.magnitude();
  const auto count = static_cast<std::int64_t>(literal.whole.size());
  const bool may_grow = !literal.point && !literal.zero_whole();
  if (count > std::max<std::int64_t>(point, 1)) return ">";
  if (count < point && !may_grow) return "<";
  if (point <= 0) {
    if (!literal.zero_whole()) return ">";  // than "0"
    return compare_digits(literal.fraction, static_cast<size_t>(-point),
                          bound.digits);
  }
  std::string whole = compare_digits(literal.whole, 0, bound.digits);
  if (whole[0] != '=' || may_grow) return whole;
  const std::string_view digits = bound.digits;
  return compare_digits(
      literal.fraction, 0,
      digits.substr(std::min(digits.size(), static_cast<size_t>(point))));
}

// The state of a prefix for `step`: the remainder and the number of digits
// after the point; "n" once the number cannot be a multiple any more.
std::string step_key(const Literal& literal, const NumberStep& step) {
  const auto scale = static_cast<size_t>(step.scale);
  const size_t used = std::min(literal.fraction.size(), scale);
  const Natural rest =
      Natural::from_digits(literal.whole + literal.fraction.substr(0, used)) %
      step.step;
  if (used == scale && literal.point &&
      (!rest.is_zero() ||
       literal.fraction.find_first_not_of('0', used) != std::string::npos)) {
    return "n";
  }
  return std::to_string(used) + "%" + rest.digits();
}

// Makes the key of a live prefix, and `shared` and `free` with it.
//
// Law: two live prefixes of one side with equal keys have the same
// completions (they are equivalent in the sense of Myhill and Nerode); the
// converse need not hold, which costs states only.  `past_` collects how the
// digits compare with each constraint; `settled_` stays true while no
// constraint can exclude a completion.  A settled prefix after the point has
// the same completions on every side, so its key is `shared`.  A prefix before
// the point also needs its length, up to the longest bound.
class KeyMaker {
 public:
  KeyMaker(const NonNegativeSet& side, const Literal& literal)
      : side_(side),
        literal_(literal),
        significant_(literal.significant()),
        counted_(side.exponents != Exponents::kFree &&
                 may_have_exponent(side, literal)),
        settled_(!side.step && !side.allowed && !counted_),
        longest_(side.exponents == Exponents::kOneDigit ? 1 : 0) {}

  void make(NumberPrefix& out) {
    if (!side_.low.is_zero() || side_.above_low) add_bound('l', side_.low);
    if (side_.high) add_bound('h', *side_.high);
    add_listed(side_.allowed ? *side_.allowed : side_.excluded);
    add_steps();
    if (counted_) add_exponents();

    if (literal_.point && settled_) {
      const bool any = side_.exponents == Exponents::kFree;
      out.shared = true;
      out.free = any;
      out.key = phase() + (any ? "e" : "");
      return;
    }
    out.free = side_.text == NonNegativeSet::kFreeText;
    out.key = phase() + past_;
  }

 private:
  using Exponents = NonNegativeSet::Exponents;

  void add_bound(char name, const Decimal& bound) {
    const std::string order = compare_plainly(literal_, bound);
    if (order[0] == '=' || order[0] != (name == 'l' ? '>' : '<')) {
      settled_ = false;
    }
    past_ += name + order;
    if (counted_ && !bound.is_zero()) {
      past_ += "~" + compare_digits(significant_, 0, bound.digits);
    }
    longest_ = std::max(longest_, static_cast<size_t>(std::max<std::int64_t>(
                                      bound.magnitude(), 1)));
  }

  // A cheap test, which excludes most of a long list.
  bool may_begin_so(const Decimal& value) const {
    const std::int64_t point = std::max<std::int64_t>(value.magnitude(), 1);
    const char first = value.magnitude() > 0 ? value.digits[0] : '0';
    const auto count = static_cast<std::int64_t>(literal_.whole.size());
    return first == literal_.whole[0] &&
           (literal_.point ? count == point : count <= point);
  }

  // The listed values, allowed or excluded, that the prefix still spells.
  void add_listed(const std::vector<Decimal>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      const Decimal& value = values[i];
      if (may_begin_so(value)) {
        const std::string order = compare_plainly(literal_, value);
        if (order[0] == '=') {
          past_ += "v" + std::to_string(i) + order;
          still_listed_ = true;
          settled_ = false;
        }
      }
      if (counted_ && !value.is_zero() &&
          still_spells(significant_, value.digits)) {
        past_ +=
            "w" + std::to_string(i) + "=" +
            std::to_string(std::min(significant_.size(), value.digits.size()));
      }
    }
  }

  void add_steps() {
    if (side_.step) past_ += "s" + step_key(literal_, *side_.step);
    for (const NumberStep& one : side_.avoid) {
      const std::string key = step_key(literal_, one);
      if (key != "n") settled_ = false;
      past_ += "a" + key;
    }
  }

  // What the exponents of the mantissa, and of those that begin with it, depend
  // on beside the digits: how many are counted, the magnitude, the remainders,
  // and, for zeros at the end, the exponents that may follow now.
  void add_exponents() {
    past_ += "^" + std::to_string(counted_digits(side_, literal_)) + "," +
             std::to_string(literal_.mantissa().magnitude());
    const auto add_step = [&](const NumberStep& step) {
      past_ += "#" + (Natural::from_digits(significant_) % step.step).digits();
    };
    if (side_.step) add_step(*side_.step);
    for (const NumberStep& one : side_.avoid) add_step(one);
    for (const auto& [from, to] : exponents_of(side_, literal_)) {
      past_ += ":" + std::to_string(from) + "," + std::to_string(to);
    }
  }

  // Where in the number the prefix ends.
  std::string phase() const {
    if (literal_.point) return literal_.fraction.empty() ? "p" : "f";
    if (literal_.zero_whole()) return "0";
    if (still_listed_ || literal_.whole.size() <= longest_) {
      return "i" + std::to_string(literal_.whole.size());
    }
    return "i";
  }

  const NonNegativeSet& side_;
  const Literal& literal_;
  const std::string significant_;
  const bool counted_;  // an exponent may follow, and depends on the digits
  std::string past_;    // the state of each constraint
  bool still_listed_ = false;
  bool settled_;
  size_t longest_;
};

// A prefix with the key of `literal` that is no longer than the digits of the
// set need, or nothing.
//
// Such a prefix begins with a digit that no bound and no listed value begins
// with, or is longer than all of them, and then has the remainder that the
// digits of the literal have: see NonNegativeSet::modulus.  That its key is the
// wanted one is checked, not proved.
std::string shorter_prefix(const NonNegativeSet& side, const Literal& literal,
                           const std::string& key) {
  if (literal.point || side.modulus.is_zero()) return {};
  if (side.exponents == NonNegativeSet::Exponents::kAll) return {};  // counted
  const std::string& digits = literal.whole;
  std::int64_t longest = std::max<std::int64_t>(side.low.magnitude(), 1);
  if (side.high) longest = std::max(longest, side.high->magnitude());
  const auto length = static_cast<size_t>(longest);
  if (digits.size() <= length + side.modulus.digit_count() + 1) return {};
  const Natural rest = Natural::from_digits(digits) % side.modulus;
  for (const char first : std::string_view("123456789")) {
    Natural shorter = shifted(std::string_view(&first, 1), longest);
    Natural add = side.modulus;
    add -= shorter % side.modulus;
    add += rest;
    shorter += add % side.modulus;
    Literal candidate;
    candidate.whole = shorter.digits();
    NumberPrefix made;
    KeyMaker(side, candidate).make(made);
    if (made.key == key) return candidate.whole;
  }
  return {};
}

// A prefix of one of side.texts: the key is the list of their remainders, or,
// if the list is long, the prefix itself.  The states of long lists form a
// trie.
NumberPrefix read_listed(const NonNegativeSet& side, std::string_view prefix) {
  NumberPrefix out;
  out.shared = true;
  out.key = "t";
  constexpr std::ptrdiff_t kLongList = 64;
  const auto begin =
      std::lower_bound(side.texts.begin(), side.texts.end(), prefix);
  const auto end = std::partition_point(
      begin, side.texts.end(),
      [&](const std::string& text) { return text.starts_with(prefix); });
  out.live = out.plainly = begin != end;
  // The texts are sorted, so the prefix itself comes first.
  out.accepting = out.live && begin->size() == prefix.size();
  if (end - begin > kLongList) {
    out.shared = false;
    out.key.append("p").append(prefix);
    return out;
  }
  for (auto at = begin; at != end; ++at) {
    out.key.append(*at, prefix.size()) += ',';
  }
  return out;
}

}  // namespace

bool accepts_number(const NonNegativeSet& side, std::string_view text) {
  if (!side.texts.empty()) return read_listed(side, text).accepting;
  Literal literal;
  if (text.empty() || !read_literal(text, literal)) return false;
  if (literal.exponent) return read_exponent(side, literal).accepting;
  if (literal.point && (!side.point || literal.fraction.empty())) return false;
  const Decimal value = literal.mantissa();
  return side.contains(value) && (literal.point || !side.marked);
}

NumberPrefix read_number_prefix(const NonNegativeSet& side,
                                std::string_view prefix) {
  NumberPrefix out;
  if (!side.texts.empty()) return read_listed(side, prefix);
  if (prefix.empty()) {
    for (char c = '0'; c <= '9' && !out.live; ++c) {
      out.live = read_number_prefix(side, std::string_view(&c, 1)).live;
    }
    out.plainly = out.live;  // every value can be written so
    out.free = out.live && side.text == NonNegativeSet::kFreeText;
    return out;
  }
  Literal literal;
  if (!read_literal(prefix, literal)) return out;
  if (literal.exponent) return read_exponent(side, literal);
  out.plainly = live_plainly(side, literal);
  out.live = out.plainly || live_with_exponent(side, literal);
  if (!out.live) return out;
  out.plain = out.plainly && may_have_exponent(side, literal) &&
              counted_digits(side, literal) > kMostCounted;
  if (out.plain) return out;
  out.accepting = (literal.point ? !literal.fraction.empty() : !side.marked) &&
                  side.contains(literal.mantissa());
  out.any_digits =
      !literal.point && !literal.zero_whole() && !side.allowed && !side.high;
  KeyMaker(side, literal).make(out);
  out.shorter = shorter_prefix(side, literal, out.key);
  return out;
}

}  // namespace parlance::automata
