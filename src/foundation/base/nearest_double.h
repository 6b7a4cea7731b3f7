#ifndef PARLANCE_SRC_BASE_NEAREST_DOUBLE_H_
#define PARLANCE_SRC_BASE_NEAREST_DOUBLE_H_

#include <cstdint>
#include <string>

namespace parlance::base {

// The double nearest to 0.DIGITS * 10^exponent, the even one of two; infinity
// and zero beyond what doubles can be.  For what std::from_chars() does not
// read: numbers far from 1, and every number where the standard library or the
// system has it for integers only.
//
// REQUIRES: `digits` has digits only.  Complexity: O(digits.size()).
double nearest_double(std::string digits, std::int64_t exponent);

}  // namespace parlance::base

#endif  // PARLANCE_SRC_BASE_NEAREST_DOUBLE_H_
