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
    for (const Decimal& value : *allowed) {
      if (point && listed_with_exponent(value)) {
        exponents = Exponents::kOneDigit;
      }
    }
  } else {
    if (low.magnitude() > kMaxNumberDigits) return !(narrowed = true);
    if (!low.is_zero() && -low.exponent > kMaxNumberDigits) {
      // Up to the next number with kMaxNumberDigits decimals.
      bool exact = false;
      low = decimal(plus(units(low, int{kMaxNumberDigits}, exact), 1),
                    -kMaxNumberDigits);
      above_low = false;
      narrowed = true;
    }
    if (high && high->magnitude() > kMaxNumberDigits) {
      high = decimal("1", kMaxNumberDigits - 1);
      below_high = false;
      narrowed = true;
    }
    if (high && -high->exponent > kMaxNumberDigits) {
      bool exact = false;
      high = decimal(units(*high, int{kMaxNumberDigits}, exact),
                     -kMaxNumberDigits);
      below_high = false;
      narrowed = true;
    }
    if (step && !round_bounds(*this)) return false;
    if (high && (*high < low || (*high == low && (above_low || below_high)))) {
      return false;
    }
    for (const NumberStep& one : avoid) {
      if (step && base::is_multiple(step->value(), one.value())) return false;
    }
    std::sort(avoid.begin(), avoid.end(), [](const auto& a, const auto& b) {
      return std::pair(a.scale, a.step) < std::pair(b.scale, b.step);
    });
    avoid.erase(std::unique(avoid.begin(), avoid.end()), avoid.end());
    sort_values(excluded);
    std::vector<Decimal> candidates = std::move(excluded);
    excluded.clear();
    std::erase_if(candidates, [&](const Decimal& v) { return !contains(v); });
    excluded = std::move(candidates);
    for (const Decimal& value : excluded) {
      if (out_of_reach(value)) return !(narrowed = true);
    }

    bool only_zero = std::all_of(excluded.begin(), excluded.end(),
                                 [](const Decimal& v) { return v.is_zero(); });
    if (step || !avoid.empty() || !point) {
      exponents = Exponents::kNone;
    } else if (low.is_zero() && !high && only_zero) {
      exponents = Exponents::kAny;
    } else if (!high || high->magnitude() > 7 || low.magnitude() < -2) {
      exponents = Exponents::kOneDigit;
    } else if (low.is_zero() && !high->is_zero()) {
      exponents = Exponents::kOneDigit;
    }
  }
  if (exponents != Exponents::kAny) narrowed = true;

  text = "[" + low.to_string() + (above_low ? "<" : "") + ",";
  if (high) text += high->to_string() + (below_high ? ">" : "");
  auto add_step = [&](const NumberStep& one) {
    text += std::to_string(one.step) + "e-" + std::to_string(one.scale) + ",";
  };
  text += point ? "]." : "]";
  if (step) add_step(*step);
  text += "!";
  for (const NumberStep& one : avoid) add_step(one);
  text += "/";
  for (const Decimal& value : excluded) text += value.to_string() + ",";
  if (allowed) {
    text += "=";
    for (const Decimal& value : *allowed) text += value.to_string() + ",";
  }
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
