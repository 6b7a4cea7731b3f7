// The table of built-in functions.

#include "jmespath/functions.h"

#include <algorithm>
#include <iterator>

namespace parlance::jmespath {
namespace {

// ORDER: Function
constexpr Signature kSignatures[] = {
    {"abs", 1, false, {kTypeNumber}},
    {"avg", 1, false, {kArrayOfNumber}},
    {"ceil", 1, false, {kTypeNumber}},
    {"contains", 2, false, {kTypeArray | kTypeString, kTypeAny}},
    {"ends_with", 2, false, {kTypeString, kTypeString}},
    {"floor", 1, false, {kTypeNumber}},
    {"join", 2, false, {kTypeString, kArrayOfString}},
    {"keys", 1, false, {kTypeObject}},
    {"length", 1, false, {kTypeString | kTypeArray | kTypeObject}},
    {"map", 2, false, {kTypeReference, kTypeArray}},
    {"max", 1, false, {kArrayOfNumber | kArrayOfString}},
    {"max_by", 2, false, {kTypeArray, kTypeReference}},
    {"merge", 1, true, {kTypeObject}},
    {"min", 1, false, {kArrayOfNumber | kArrayOfString}},
    {"min_by", 2, false, {kTypeArray, kTypeReference}},
    {"not_null", 1, true, {kTypeAny}},
    {"reverse", 1, false, {kTypeArray | kTypeString}},
    {"sort", 1, false, {kArrayOfNumber | kArrayOfString}},
    {"sort_by", 2, false, {kTypeArray, kTypeReference}},
    {"starts_with", 2, false, {kTypeString, kTypeString}},
    {"sum", 1, false, {kArrayOfNumber}},
    {"to_array", 1, false, {kTypeAny}},
    {"to_number", 1, false, {kTypeAny}},
    {"to_string", 1, false, {kTypeAny}},
    {"type", 1, false, {kTypeAny}},
    {"values", 1, false, {kTypeObject}},
};
static_assert(std::size(kSignatures) ==
              static_cast<std::size_t>(Function::kUnknown));

}  // namespace

Function find_function(std::string_view name) {
  const Signature* found = std::lower_bound(
      std::begin(kSignatures), std::end(kSignatures), name,
      [](const Signature& s, std::string_view n) { return s.name < n; });
  if (found == std::end(kSignatures) || found->name != name) {
    return Function::kUnknown;
  }
  return static_cast<Function>(found - kSignatures);
}

const Signature& signature(Function function) {
  return kSignatures[static_cast<std::size_t>(function)];
}

}  // namespace parlance::jmespath
