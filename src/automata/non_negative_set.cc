// Map of this file
//
//   NumberStep          steps as an integer and a scale
//   NonNegativeSet          membership; bounds made canonical
//
// The completions of a prefix are computed in number_prefix.cc.

#include "automata/non_negative_set.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/big_natural.h"

namespace parlance::automata {

using base::Decimal;
using natural::decimal;
using natural::minus;
using natural::modulo;
using natural::plus;
using natural::units;
using natural::zeros;

// --- NumberStep -------------------------------------------------------------

Decimal NumberStep::value() const {
  return decimal(std::to_string(step), -scale);
}

std::optional<NumberStep> number_step(const Decimal& of) {
  if (of.is_zero() || of.exponent < -kMaxNumberDigits) return {};
  if (std::max(of.magnitude(), std::int64_t(of.digits.size())) > 18) return {};
  NumberStep out;
  out.step = 0;
  std::string digits = of.digits + zeros(of.exponent);
  for (char c : digits) {
    out.step = out.step * 10 + static_cast<unsigned>(c - '0');
  }
  out.scale = static_cast<int>(std::max<std::int64_t>(-of.exponent, 0));
  return out;
}

std::optional<NumberStep> common_step(const NumberStep& a,
                                      const NumberStep& b) {
  int scale = std::max(a.scale, b.scale);
  auto scaled = [&](const NumberStep& s) -> std::uint64_t {
    std::uint64_t step = s.step;
    for (int i = s.scale; i < scale; ++i) {
      if (step > kMaxStep / 10) return 0;
      step *= 10;
    }
    return step;
  };
  std::uint64_t x = scaled(a);
  std::uint64_t y = scaled(b);
  if (x == 0 || y == 0) return {};
  x /= std::gcd(x, y);
  if (x > kMaxStep / y) return {};
  NumberStep out{x * y, scale};
  while (out.scale > 0 && out.step % 10 == 0) {
    out.step /= 10;
    --out.scale;
  }
  return out;
}

// --- NonNegativeSet ---------------------------------------------------------

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

bool listed_with_exponent(const Decimal& value) {
  std::int64_t exponent = value.magnitude() - 1;
  return !value.is_zero() && (exponent >= 16 || exponent <= -4);
}
bool listed_plainly(const Decimal& value) {
  return value.magnitude() <= 400 && value.exponent >= -400;
}

namespace {

bool out_of_reach(const Decimal& value) {
  return value.magnitude() > kMaxNumberDigits ||
         -value.exponent > kMaxNumberDigits;
}

void sort_values(std::vector<Decimal>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// Rounds the bounds inwards to multiples of the step.  False if that passes
// below zero.
bool round_bounds(NonNegativeSet& side) {
  const NumberStep& step = *side.step;
  bool exact = false;
  std::string from = units(side.low, step.scale, exact);
  if (!exact || side.above_low) from = plus(std::move(from), 1);
  std::uint64_t rest = modulo(from, step.step);
  if (rest != 0) from = plus(std::move(from), step.step - rest);
  side.low = decimal(from, -step.scale);
  side.above_low = false;
  if (!side.high) return true;
  std::string to = units(*side.high, step.scale, exact);
  if (exact && side.below_high) {
    if (to.empty()) return false;
    to = minus(std::move(to), 1);
  }
  to = minus(to, modulo(to, step.step));
  side.high = decimal(to, -step.scale);
  side.below_high = false;
  return true;
}

// Bounds beyond kMaxNumberDigits move inwards; false if the set is empty then.
bool narrow_bounds(NonNegativeSet& side, bool& narrowed) {
  if (side.low.magnitude() > kMaxNumberDigits) return !(narrowed = true);
  bool exact = false;
  if (!side.low.is_zero() && -side.low.exponent > kMaxNumberDigits) {
    // Up to the next number with kMaxNumberDigits decimals.
    side.low = decimal(plus(units(side.low, int{kMaxNumberDigits}, exact), 1),
                       -kMaxNumberDigits);
    side.above_low = false;
    narrowed = true;
  }
  if (side.high && side.high->magnitude() > kMaxNumberDigits) {
    side.high = decimal("1", kMaxNumberDigits - 1);
    side.below_high = false;
    narrowed = true;
  }
  if (side.high && -side.high->exponent > kMaxNumberDigits) {
    side.high = decimal(units(*side.high, int{kMaxNumberDigits}, exact),
                        -kMaxNumberDigits);
    side.below_high = false;
    narrowed = true;
  }
  return true;
}

// Sorts what is avoided and excluded, and drops excluded values that are not in
// the set anyway.  False if nothing is left, or nothing that can be handled.
bool sort_exclusions(NonNegativeSet& side, bool& narrowed) {
  for (const NumberStep& one : side.avoid) {
    if (side.step && base::is_multiple(side.step->value(), one.value())) {
      return false;
    }
  }
  std::sort(side.avoid.begin(), side.avoid.end(),
            [](const auto& a, const auto& b) {
              return std::pair(a.scale, a.step) < std::pair(b.scale, b.step);
            });
  side.avoid.erase(std::unique(side.avoid.begin(), side.avoid.end()),
                   side.avoid.end());
  sort_values(side.excluded);
  std::vector<Decimal> candidates = std::exchange(side.excluded, {});
  std::erase_if(candidates,
                [&](const Decimal& value) { return !side.contains(value); });
  side.excluded = std::move(candidates);
  if (std::any_of(side.excluded.begin(), side.excluded.end(), out_of_reach)) {
    return !(narrowed = true);
  }
  return true;
}

// The exponents that a literal may have, by the bounds of the set.
NonNegativeSet::Exponents exponents_by_bounds(const NonNegativeSet& side) {
  using Exponents = NonNegativeSet::Exponents;
  const bool only_zero =
      std::all_of(side.excluded.begin(), side.excluded.end(),
                  [](const Decimal& value) { return value.is_zero(); });
  if (side.step || !side.avoid.empty() || !side.point) return Exponents::kNone;
  if (side.low.is_zero() && !side.high && only_zero) return Exponents::kAny;
  if (!side.high || side.high->magnitude() > 7 || side.low.magnitude() < -2 ||
      (side.low.is_zero() && !side.high->is_zero())) {
    return Exponents::kOneDigit;
  }
  return side.exponents;
}

// A canonical spelling of the members.
std::string text_of(const NonNegativeSet& side) {
  std::string text = "[" + side.low.to_string();
  text += side.above_low ? "<," : ",";
  if (side.high) text += side.high->to_string() + (side.below_high ? ">" : "");
  const auto add_step = [&](const NumberStep& one) {
    text += std::to_string(one.step) + "e-" + std::to_string(one.scale) + ",";
  };
  text += side.point ? "]." : "]";
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
//   2. otherwise bounds beyond kMaxNumberDigits move inwards, bounds become
//      multiples of the step, and excluded values that are not in the set
//      anyway are dropped;
//   3. the exponents that a literal may have follow from the bounds;
//   4. `text` spells the members.
//
// The set is empty if the empty prefix has no completion.
bool NonNegativeSet::canonicalize(bool& narrowed) {
  if (allowed) {
    sort_values(*allowed);
    low = {};
    high.reset();
    above_low = below_high = false;
    step.reset();
    avoid.clear();
    excluded.clear();
    if (point &&
        std::any_of(allowed->begin(), allowed->end(), listed_with_exponent)) {
      exponents = Exponents::kOneDigit;
    }
  } else {
    if (!narrow_bounds(*this, narrowed)) return false;
    if (step && !round_bounds(*this)) return false;
    if (high && (*high < low || (*high == low && (above_low || below_high)))) {
      return false;
    }
    if (!sort_exclusions(*this, narrowed)) return false;
    exponents = exponents_by_bounds(*this);
  }
  if (exponents != Exponents::kAny) narrowed = true;
  text = text_of(*this);
  return read_number_prefix(*this, "").live;
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
    // 1.0 may have to be 1, and 1e+16 all its digits.
    if (found.size() == before) add(value.to_string());
    if (found.size() == before && value.is_integer() && listed_plainly(value)) {
      add(value.digits + zeros(value.exponent));
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

}  // namespace parlance::automata
