// Map of this file
//
//   NumberStep          steps as an integer and a scale
//   NonNegativeSet      membership; bounds made canonical
//   counting
//
// The completions of a prefix are computed in number_prefix.cc.

#include "automata/non_negative_set.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/work.h"

namespace parlance::automata {

using base::Decimal;
using base::Natural;

// --- NumberStep -------------------------------------------------------------

Decimal NumberStep::value() const {
  return Decimal::from_digits(step.digits(), -scale);
}

NumberStep number_step(const Decimal& of) {
  const auto zeros = std::max<std::int64_t>(of.exponent, 0);
  return {
      Natural::from_digits(of.digits).shifted(static_cast<std::size_t>(zeros)),
      std::max<std::int64_t>(-of.exponent, 0)};
}

std::optional<NumberStep> common_step(const NumberStep& a,
                                      const NumberStep& b) {
  const std::int64_t scale = std::max(a.scale, b.scale);
  const auto scaled = [&](const NumberStep& s) {
    return s.step.shifted(static_cast<std::size_t>(scale - s.scale));
  };
  const Natural x = scaled(a);
  const Natural y = scaled(b);
  const Natural common = x / gcd(x, y) * y;
  if (common.digit_count() > kMaxStepDigits) return {};
  return number_step(Decimal::from_digits(common.digits(), -scale));
}

// --- NonNegativeSet ---------------------------------------------------------

namespace {

// value * 10^scale, rounded down to an integer.
struct Units {
  Natural whole;
  bool exact = true;  // nothing was dropped
};

// REQUIRES: `value` is not negative.
Units floor_units(const Decimal& value, std::int64_t scale) {
  const std::int64_t more = value.exponent + scale;
  if (value.is_zero()) return {};
  if (more >= 0) {
    return {Natural::from_digits(value.digits)
                .shifted(static_cast<std::size_t>(more))};
  }
  const std::int64_t kept =
      std::max<std::int64_t>(value.magnitude() + scale, 0);
  return {Natural::from_digits(std::string_view(value.digits)
                                   .substr(0, static_cast<std::size_t>(kept))),
          false};
}

}  // namespace

bool NonNegativeSet::contains(const Decimal& magnitude) const {
  if (allowed) {
    return std::binary_search(allowed->begin(), allowed->end(), magnitude);
  }
  if (magnitude < low || (above_low && magnitude == low)) return false;
  if (high && (*high < magnitude || (below_high && magnitude == *high))) {
    return false;
  }
  if (step && !base::is_multiple(magnitude, step->value())) return false;
  for (const NumberStep& one : avoid) {
    if (base::is_multiple(magnitude, one.value())) return false;
  }
  return !std::binary_search(excluded.begin(), excluded.end(), magnitude);
}

namespace {

void sort_values(std::vector<Decimal>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// Rounds the bounds inwards to multiples of the step.  False if that passes
// below zero.
bool round_bounds(NonNegativeSet& side) {
  const NumberStep& step = *side.step;
  const auto value = [&](const Natural& units) {
    return Decimal::from_digits(units.digits(), -step.scale);
  };
  Units from = floor_units(side.low, step.scale);
  if (!from.exact || side.above_low) from.whole += Natural(1);
  const Natural rest = from.whole % step.step;
  if (!rest.is_zero()) {
    from.whole += step.step;
    from.whole -= rest;
  }
  side.low = value(from.whole);
  side.above_low = false;
  if (!side.high) return true;
  Units to = floor_units(*side.high, step.scale);
  if (to.exact && side.below_high) {
    if (to.whole.is_zero()) return false;
    to.whole -= Natural(1);
  }
  to.whole -= to.whole % step.step;
  side.high = value(to.whole);
  side.below_high = false;
  return true;
}

// Sorts what is avoided and excluded, and drops excluded values that are not in
// the set anyway.  False if nothing is left.
bool sort_exclusions(NonNegativeSet& side) {
  for (const NumberStep& one : side.avoid) {
    if (side.step && base::is_multiple(side.step->value(), one.value())) {
      return false;
    }
  }
  std::sort(side.avoid.begin(), side.avoid.end(),
            [](const auto& a, const auto& b) {
              return a.scale != b.scale ? a.scale < b.scale : a.step < b.step;
            });
  side.avoid.erase(std::unique(side.avoid.begin(), side.avoid.end()),
                   side.avoid.end());
  sort_values(side.excluded);
  std::vector<Decimal> candidates = std::exchange(side.excluded, {});
  std::erase_if(candidates,
                [&](const Decimal& value) { return !side.contains(value); });
  side.excluded = std::move(candidates);
  return true;
}

// See NonNegativeSet::modulus.
Natural modulus_of(const NonNegativeSet& side) {
  std::optional<NumberStep> common;
  const auto add = [&](const NumberStep& one) {
    const NumberStep whole{one.step};
    common = common ? common_step(*common, whole) : whole;
    return common.has_value();
  };
  if (side.step && !add(*side.step)) return {};
  for (const NumberStep& one : side.avoid) {
    if (!add(one)) return {};
  }
  return common ? common->step : Natural();
}

// The exponents that a literal may have.  In the canonical spelling only where
// they are such as programs write: Java from 10^7 on and below 10^-3, Python
// and JavaScript further out.  Listed values have what NonNegativeSet::texts
// has.
NonNegativeSet::Exponents exponents_of(const NonNegativeSet& side) {
  using Exponents = NonNegativeSet::Exponents;
  if (!side.point) return Exponents::kNone;
  const bool only_zero =
      std::all_of(side.excluded.begin(), side.excluded.end(),
                  [](const Decimal& value) { return value.is_zero(); });
  if (!side.allowed && !side.step && side.avoid.empty() && side.low.is_zero() &&
      !side.high && only_zero) {
    return Exponents::kFree;
  }
  if (side.every_spelling || side.allowed) return Exponents::kAll;
  const bool large = !side.high || side.high->magnitude() > 7;
  bool small = side.low.magnitude() < -2;
  if (side.low.is_zero()) {
    small = side.step ? side.step->value().magnitude() < -2
                      : !side.high || !side.high->is_zero();
  }
  return large || small ? Exponents::kOneDigit : Exponents::kNone;
}

// A canonical spelling of the members.
std::string text_of(const NonNegativeSet& side) {
  std::string text = "[" + side.low.to_string();
  text += side.above_low ? "<," : ",";
  if (side.high) text += side.high->to_string() + (side.below_high ? ">" : "");
  const auto add_step = [&](const NumberStep& one) {
    text += one.step.digits() + "e-" + std::to_string(one.scale) + ",";
  };
  text += side.point ? "]." : "]";
  if (side.marked) text += "m";
  if (side.exponents == NonNegativeSet::Exponents::kOneDigit) text += "d";
  if (side.exponents == NonNegativeSet::Exponents::kAll) text += "x";
  if (side.step) add_step(*side.step);
  text += "!";
  for (const NumberStep& one : side.avoid) add_step(one);
  text += "/";
  for (const Decimal& value : side.excluded) text += value.to_string() + ",";
  if (side.allowed) {
    text += "=";
    for (const Decimal& value : *side.allowed) text += value.to_string() + ",";
  }
  return text;
}

}  // namespace

// Sets that are equal after the following steps have the same `text`:
//
//   1. a list of allowed values makes every other constraint redundant: the
//      caller has applied them to the list;
//   2. otherwise bounds become multiples of the step, and excluded values that
//      are not in the set anyway are dropped;
//   3. the exponents that a literal may have follow from the rest;
//   4. `text` spells the members.
//
// The set is empty if the empty prefix has no completion.
bool NonNegativeSet::canonicalize() {
  if (marked && !point) return false;
  if (allowed) {
    sort_values(*allowed);
    low = {};
    high.reset();
    above_low = below_high = false;
    step.reset();
    avoid.clear();
    excluded.clear();
  } else {
    if (step && !round_bounds(*this)) return false;
    if (high && (*high < low || (*high == low && (above_low || below_high)))) {
      return false;
    }
    if (!sort_exclusions(*this)) return false;
    modulus = modulus_of(*this);
  }
  exponents = exponents_of(*this);
  text = text_of(*this);
  return read_number_prefix(*this, "").live;
}

NonNegativeSet NonNegativeSet::without_exponents() const {
  NonNegativeSet out = *this;
  out.exponents = Exponents::kNone;
  out.text = text_of(out);
  return out;
}

// Invariant: `found` has at least one spelling of every value before `value`.
void NonNegativeSet::write_as(const std::vector<std::string>& wanted) {
  std::vector<std::pair<Decimal, std::string_view>> given;  // without signs
  for (const std::string_view one : wanted) {
    if (auto value = Decimal::from_json(one); value && !value->negative) {
      given.emplace_back(*std::move(value), one.substr(one.starts_with('-')));
    }
  }
  std::sort(given.begin(), given.end());
  std::vector<std::string> found;
  for (const Decimal& value : *allowed) {
    const std::size_t before = found.size();
    const auto add = [&](std::string one) {
      if (accepts_number(*this, one)) {
        found.push_back(std::move(one));
      }
    };
    auto at = std::lower_bound(given.begin(), given.end(),
                               std::pair(value, std::string_view()));
    for (; at != given.end() && at->first == value; ++at) {
      add(std::string(at->second));
    }
    // 1.0 may have to be 1, 1 may have to be 1.0, and 1e+16 all its digits.
    if (found.size() == before) add(value.to_string());
    if (found.size() == before && value.is_integer()) {
      const std::string plain = floor_units(value, 0).whole.digits();
      add(plain.empty() ? "0" : plain);
      if (found.size() == before) add((plain.empty() ? "0" : plain) + ".0");
    }
    // A value without a spelling leaves the whole set unrestricted.
    if (found.size() == before) return;
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  texts = std::move(found);
  text += "\"";
  for (const std::string& one : texts) text += one + ",";
}

// --- counting ---------------------------------------------------------------

namespace {

constexpr std::uint64_t kInfinitelyMany =
    std::numeric_limits<std::uint64_t>::max();

// The multiples of `step` from the first one above zero to the bounds of
// `side`.
Natural positive_multiples(const NonNegativeSet& side, const NumberStep& step) {
  const Natural high = floor_units(*side.high, step.scale).whole;
  Natural count = high / step.step;
  Units below = floor_units(side.low, step.scale);
  if (!below.whole.is_zero() && below.exact) below.whole -= Natural(1);
  const Natural left_out = below.whole / step.step;
  if (left_out >= count) return {};
  count -= left_out;
  return count;
}

// Adds how many of the multiples of `step` are multiples of `avoid[from]` or a
// later one, by inclusion and exclusion: `odd` gets the multiples of an odd
// number of further steps, `even` those of an even one.  Sets of steps that no
// number is a multiple of are not extended.
void count_avoided(const NonNegativeSet& side, const NumberStep& step,
                   std::size_t from, Natural& odd, Natural& even) {
  for (std::size_t i = from; i < side.avoid.size(); ++i) {
    const auto both = common_step(step, side.avoid[i]);
    // Beyond the limit, no bound has as many digits.
    if (!both || !base::spend_work()) continue;
    const Natural count = positive_multiples(side, *both);
    if (count.is_zero()) continue;
    odd += count;
    count_avoided(side, *both, i + 1, even, odd);
  }
}

}  // namespace

std::uint64_t count_values(const NonNegativeSet& side) {
  if (side.allowed) return side.allowed->size();
  // Of the multiples of a step infinitely many are not multiples of others.
  if (!side.high) return kInfinitelyMany;
  if (!side.step) {
    if (side.low < *side.high) return kInfinitelyMany;
    return side.contains(side.low) ? 1 : 0;
  }
  Natural odd;
  Natural even = positive_multiples(side, *side.step);
  count_avoided(side, *side.step, 0, odd, even);
  if (side.low.is_zero() && side.avoid.empty()) even += Natural(1);
  even -= odd;
  even -= Natural(side.excluded.size());
  return even.saturated();
}

std::vector<Decimal> values_of(const NonNegativeSet& side) {
  if (side.allowed) return *side.allowed;
  std::vector<Decimal> out;
  if (!side.step) {
    if (side.contains(side.low)) out.push_back(side.low);
    return out;
  }
  Natural at = floor_units(side.low, side.step->scale).whole;
  while (base::spend_work()) {
    Decimal value = Decimal::from_digits(at.digits(), -side.step->scale);
    if (*side.high < value) break;
    if (side.contains(value)) out.push_back(std::move(value));
    at += side.step->step;
  }
  return out;
}

}  // namespace parlance::automata
