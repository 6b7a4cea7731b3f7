#ifndef PARLANCE_SRC_BASE_NATURAL_H_
#define PARLANCE_SRC_BASE_NATURAL_H_

// Natural numbers of any size: the arithmetic behind exact bounds and
// multiples.
//
//   Natural step = Natural::from_digits("7000000000000000000000");
//   Natural rest = Natural::from_digits(digits) % step;
//
// Digits are decimal, because the numbers come from decimal text and go back
// into it.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parlance::base {

class Natural {
 public:
  Natural() = default;  // zero
  explicit Natural(std::uint64_t value);
  // REQUIRES: `digits` has digits only.  Leading zeros are fine, and no digits
  // are zero.
  static Natural from_digits(std::string_view digits);

  bool is_zero() const { return limbs_.empty(); }
  // Without leading zeros; zero has none.
  std::string digits() const;
  std::size_t digit_count() const;
  // The value, or the greatest std::uint64_t if it is greater.
  std::uint64_t saturated() const;
  std::size_t memory_bytes() const {
    return limbs_.capacity() * sizeof(std::uint32_t);
  }

  // This times 10^zeros.
  Natural shifted(std::size_t zeros) const;

  friend bool operator==(const Natural&, const Natural&) = default;
  friend std::strong_ordering operator<=>(const Natural& a, const Natural& b);
  Natural& operator+=(const Natural& other);
  // REQUIRES: other <= *this.
  Natural& operator-=(const Natural& other);
  // Complexity of these three: O(limbs of one times limbs of the other).
  friend Natural operator*(const Natural& a, const Natural& b);
  // REQUIRES: `b` is not zero.
  friend Natural operator/(const Natural& a, const Natural& b);
  friend Natural operator%(const Natural& a, const Natural& b);

 private:
  // Divides *this by `by`, leaves the remainder, and returns the quotient.
  Natural divide(const Natural& by);
  void trim();

  // Nine digits each, lowest first; the highest is not zero.
  std::vector<std::uint32_t> limbs_;
};

// The greatest common divisor.  Complexity: O(digits^2).
Natural gcd(Natural a, Natural b);

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_NATURAL_H_
