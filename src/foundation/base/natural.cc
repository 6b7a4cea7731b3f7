// Schoolbook arithmetic in base 10^9.  Division is Knuth's algorithm D (The Art
// of Computer Programming, volume 2, 4.3.1).

#include "base/natural.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace parlance::base {
namespace {

constexpr std::uint32_t kBase = 1'000'000'000;
constexpr std::size_t kLimbDigits = 9;

std::uint32_t power_of_ten(std::size_t exponent) {
  std::uint32_t out = 1;
  for (; exponent > 0; --exponent) out *= 10;
  return out;
}

}  // namespace

Natural::Natural(std::uint64_t value) {
  for (; value != 0; value /= kBase) {
    limbs_.push_back(static_cast<std::uint32_t>(value % kBase));
  }
}

Natural Natural::from_digits(std::string_view digits) {
  Natural out;
  out.limbs_.reserve(digits.size() / kLimbDigits + 1);
  for (std::size_t end = digits.size(); end > 0;) {
    const std::size_t begin = end > kLimbDigits ? end - kLimbDigits : 0;
    std::uint32_t limb = 0;
    for (std::size_t i = begin; i < end; ++i) {
      limb = limb * 10 + static_cast<std::uint32_t>(digits[i] - '0');
    }
    out.limbs_.push_back(limb);
    end = begin;
  }
  out.trim();
  return out;
}

void Natural::trim() {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
}

std::string Natural::digits() const {
  if (is_zero()) return {};
  std::string out = std::to_string(limbs_.back());
  out.reserve(out.size() + kLimbDigits * limbs_.size());
  for (std::size_t i = limbs_.size() - 1; i-- > 0;) {
    const std::string limb = std::to_string(limbs_[i]);
    out.append(kLimbDigits - limb.size(), '0');
    out += limb;
  }
  return out;
}

std::size_t Natural::digit_count() const {
  if (is_zero()) return 0;
  return std::to_string(limbs_.back()).size() +
         kLimbDigits * (limbs_.size() - 1);
}

std::uint64_t Natural::saturated() const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t out = 0;
  for (std::size_t i = limbs_.size(); i-- > 0;) {
    if (out > (kMost - limbs_[i]) / kBase) return kMost;
    out = out * kBase + limbs_[i];
  }
  return out;
}

Natural Natural::shifted(std::size_t zeros) const {
  if (is_zero()) return {};
  Natural out;
  out.limbs_.assign(zeros / kLimbDigits, 0);
  out.limbs_.reserve(out.limbs_.size() + limbs_.size() + 1);
  const std::uint64_t factor = power_of_ten(zeros % kLimbDigits);
  std::uint64_t carry = 0;
  for (const std::uint32_t limb : limbs_) {
    carry += limb * factor;
    out.limbs_.push_back(static_cast<std::uint32_t>(carry % kBase));
    carry /= kBase;
  }
  if (carry != 0) out.limbs_.push_back(static_cast<std::uint32_t>(carry));
  return out;
}

std::strong_ordering operator<=>(const Natural& a, const Natural& b) {
  if (a.limbs_.size() != b.limbs_.size()) {
    return a.limbs_.size() <=> b.limbs_.size();
  }
  for (std::size_t i = a.limbs_.size(); i-- > 0;) {
    if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] <=> b.limbs_[i];
  }
  return std::strong_ordering::equal;
}

Natural& Natural::operator+=(const Natural& other) {
  limbs_.resize(std::max(limbs_.size(), other.limbs_.size()) + 1, 0);
  std::uint32_t carry = 0;
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    std::uint32_t sum = limbs_[i] + carry;
    if (i < other.limbs_.size()) sum += other.limbs_[i];
    carry = sum >= kBase ? 1 : 0;
    limbs_[i] = sum - carry * kBase;
  }
  trim();
  return *this;
}

Natural& Natural::operator-=(const Natural& other) {
  std::uint32_t borrow = 0;
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    if (i >= other.limbs_.size() && borrow == 0) break;
    const std::uint32_t take =
        borrow + (i < other.limbs_.size() ? other.limbs_[i] : 0);
    borrow = limbs_[i] < take ? 1 : 0;
    limbs_[i] += borrow * kBase - take;
  }
  trim();
  return *this;
}

Natural operator*(const Natural& a, const Natural& b) {
  Natural out;
  if (a.is_zero() || b.is_zero()) return out;
  out.limbs_.assign(a.limbs_.size() + b.limbs_.size(), 0);
  for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t k = 0; k < b.limbs_.size(); ++k) {
      carry += out.limbs_[i + k] + std::uint64_t{a.limbs_[i]} * b.limbs_[k];
      out.limbs_[i + k] = static_cast<std::uint32_t>(carry % kBase);
      carry /= kBase;
    }
    out.limbs_[i + b.limbs_.size()] = static_cast<std::uint32_t>(carry);
  }
  out.trim();
  return out;
}

// Long division (Knuth, The Art of Computer Programming 4.3.1, algorithm D).
// Each step estimates one limb of the quotient from the highest limbs.  Both
// numbers are scaled first, so that the divisor's highest limb is at least half
// of the base; then the estimate is at most two too high.  Comparing the next
// limb corrects it to at most one too high, and that one is seen when the
// product is subtracted.
//
// Invariant: after the step `at`, limbs_[0, at + n) is the rest of the
// dividend, less than divisor * kBase^at, and the quotient's limbs from `at` on
// are final.
Natural Natural::divide(const Natural& by) {
  Natural quotient;
  if (*this < by) return quotient;
  const std::size_t n = by.limbs_.size();
  if (n == 1) {
    quotient.limbs_.resize(limbs_.size());
    std::uint64_t rest = 0;
    for (std::size_t i = limbs_.size(); i-- > 0;) {
      rest = rest * kBase + limbs_[i];
      quotient.limbs_[i] = static_cast<std::uint32_t>(rest / by.limbs_[0]);
      rest %= by.limbs_[0];
    }
    quotient.trim();
    *this = Natural(rest);
    return quotient;
  }

  const std::uint64_t scale = kBase / (by.limbs_.back() + 1);
  Natural divisor = by * Natural(scale);
  *this = *this * Natural(scale);
  const std::uint64_t high = divisor.limbs_[n - 1];
  const std::uint64_t next = divisor.limbs_[n - 2];
  limbs_.push_back(0);
  quotient.limbs_.resize(limbs_.size() - n);
  for (std::size_t at = limbs_.size() - n; at-- > 0;) {
    const std::uint64_t top =
        std::uint64_t{limbs_[at + n]} * kBase + limbs_[at + n - 1];
    std::uint64_t digit = top / high;
    std::uint64_t rest = top % high;
    while (digit >= kBase || digit * next > rest * kBase + limbs_[at + n - 2]) {
      --digit;
      rest += high;
      if (rest >= kBase) break;
    }
    // Subtracts digit * divisor; a negative result adds the divisor back, and
    // the carry of that addition cancels the borrow.
    std::uint64_t carry = 0;
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i < n; ++i) {
      carry += digit * divisor.limbs_[i];
      std::int64_t left = std::int64_t{limbs_[at + i]} - borrow -
                          static_cast<std::int64_t>(carry % kBase);
      carry /= kBase;
      borrow = left < 0 ? 1 : 0;
      limbs_[at + i] = static_cast<std::uint32_t>(left + borrow * kBase);
    }
    const std::int64_t left = std::int64_t{limbs_[at + n]} - borrow -
                              static_cast<std::int64_t>(carry);
    limbs_[at + n] = 0;
    if (left < 0) {
      --digit;
      std::uint32_t over = 0;
      for (std::size_t i = 0; i < n; ++i) {
        std::uint32_t sum = limbs_[at + i] + divisor.limbs_[i] + over;
        over = sum >= kBase ? 1 : 0;
        limbs_[at + i] = sum - over * kBase;
      }
    }
    quotient.limbs_[at] = static_cast<std::uint32_t>(digit);
  }
  quotient.trim();
  trim();
  *this = std::exchange(*this, {}) / Natural(scale);
  return quotient;
}

Natural operator/(const Natural& a, const Natural& b) {
  Natural rest = a;
  return rest.divide(b);
}

Natural operator%(const Natural& a, const Natural& b) {
  Natural rest = a;
  rest.divide(b);
  return rest;
}

Natural gcd(Natural a, Natural b) {
  while (!b.is_zero()) {
    a = a % b;
    std::swap(a, b);
  }
  return a;
}

}  // namespace parlance::base
