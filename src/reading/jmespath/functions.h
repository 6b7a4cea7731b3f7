#ifndef PARLANCE_SRC_JMESPATH_FUNCTIONS_H_
#define PARLANCE_SRC_JMESPATH_FUNCTIONS_H_

// The built-in functions by name, and the types of their arguments.

#include <array>
#include <cstdint>
#include <string_view>

namespace parlance::jmespath {

// In the order of their names.  ORDER: Function
enum class Function : std::uint8_t {
  kAbs,
  kAvg,
  kCeil,
  kContains,
  kEndsWith,
  kFloor,
  kJoin,
  kKeys,
  kLength,
  kMap,
  kMax,
  kMaxBy,
  kMerge,
  kMin,
  kMinBy,
  kNotNull,
  kReverse,
  kSort,
  kSortBy,
  kStartsWith,
  kSum,
  kToArray,
  kToNumber,
  kToString,
  kType,
  kValues,
  kUnknown,
};

// A set of types that a parameter takes.
using Types = std::uint16_t;
constexpr Types kTypeNull = 1;
constexpr Types kTypeBoolean = 2;
constexpr Types kTypeNumber = 4;
constexpr Types kTypeString = 8;
constexpr Types kTypeArray = 16;
constexpr Types kTypeObject = 32;
constexpr Types kTypeReference = 64;   // &expression
constexpr Types kArrayOfNumber = 128;  // every element a number
constexpr Types kArrayOfString = 256;
constexpr Types kTypeAny = kTypeNull | kTypeBoolean | kTypeNumber |
                           kTypeString | kTypeArray | kTypeObject;

struct Signature {
  std::string_view name;
  std::uint8_t count = 0;  // parameters
  bool variadic = false;   // the last may come again
  std::array<Types, 2> types = {};
};

// kUnknown if there is no such function.
Function find_function(std::string_view name);

// REQUIRES: function != kUnknown.
const Signature& signature(Function function);

}  // namespace parlance::jmespath

#endif  // PARLANCE_SRC_JMESPATH_FUNCTIONS_H_
