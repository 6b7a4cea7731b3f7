#ifndef PARLANCE_SRC_JMESPATH_NUMBER_H_
#define PARLANCE_SRC_JMESPATH_NUMBER_H_

// Arithmetic and comparison of JSON values as Python does it: integers of any
// size are exact, also beside floats.

#include <compare>
#include <optional>

#include "parlance/json.h"

namespace parlance::jmespath {

// An integer or float; not a boolean.
bool is_number(const json::Value& value);

// Exact.  Unordered if one of them is NaN.  REQUIRES: both are numbers.
std::partial_ordering compare_numbers(const json::Value& a,
                                      const json::Value& b);

// Python's ==: 1 equals 1.0 and true, objects are equal in any order of keys.
// Containers may be deeper than the call stack.
bool python_equal(const json::Value& a, const json::Value& b);

// The language's ==: as Python's, but a number is never equal to a boolean.
// Inside arrays and objects Python's rule stays, as in the package.
bool equal(const json::Value& a, const json::Value& b);

json::Value absolute(const json::Value& number);

// Nothing for NaN and the infinities.
std::optional<json::Value> ceiling(const json::Value& number);
std::optional<json::Value> floor_of(const json::Value& number);

// From left to right; exact until the first float.  Nothing if an integer is
// too large for a float that it meets.
std::optional<json::Value> sum(const json::Array& numbers);

// sum / count, correctly rounded.  Nothing if too large for a float.
// REQUIRES: count > 0.
std::optional<json::Value> divide(const json::Value& sum, std::size_t count);

}  // namespace parlance::jmespath

#endif  // PARLANCE_SRC_JMESPATH_NUMBER_H_
