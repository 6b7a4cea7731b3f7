#ifndef PARLANCE_SRC_SCHEMA_SOLVER_VALUE_PRINTS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_VALUE_PRINTS_H_

// Fingerprints of JSON values, for uniqueItems: values that are equal have one
// print, whatever the order of their members and the spelling of their strings
// and numbers.
//
//   print of {"a": 1, "b": [2]}   of the sum of   member("a", print of 1)
//                                                 member("b", print of [2])
//
// The print of an array or object is one of a sum, so it is known member by
// member while a text is read, and what it would be with another value in one
// place is that sum with one part replaced.  A scalar's is of its ValueText.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/fingerprint.h"
#include "schema_solver/few_values.h"

namespace parlance::schema_solver {

using base::Fingerprint;

enum class PrintOf : std::uint64_t {
  kScalar,
  kKey,
  kIndex,
  kMember,
  kObject,
  kArray
};

inline base::Fingerprinter print_of(PrintOf kind) {
  return base::Fingerprinter(static_cast<std::uint64_t>(kind));
}

inline Fingerprint print_of_key(std::string_view key) {
  return print_of(PrintOf::kKey).add(key).take();
}
inline Fingerprint print_of_index(std::uint64_t index) {
  return print_of(PrintOf::kIndex).add(index).take();
}
inline Fingerprint print_of_member(const Fingerprint& at,
                                   const Fingerprint& value) {
  return print_of(PrintOf::kMember).add(at).add(value).take();
}
inline Fingerprint print_of_object(const Fingerprint& sum) {
  return print_of(PrintOf::kObject).add(sum).take();
}
inline Fingerprint print_of_array(const Fingerprint& sum, std::uint64_t size) {
  return print_of(PrintOf::kArray).add(sum).add(size).take();
}

inline Fingerprint plus(const Fingerprint& a, const Fingerprint& b) {
  return {a.low + b.low, a.high + b.high};
}
inline Fingerprint minus(const Fingerprint& a, const Fingerprint& b) {
  return {a.low - b.low, a.high - b.high};
}

// What the ValueText of an array or object begins with, before its print.
inline constexpr char kNestedText = 'p';

inline ValueText nested_text(const Fingerprint& print) {
  ValueText text(1 + sizeof print.low + sizeof print.high, kNestedText);
  std::memcpy(text.data() + 1, &print.low, sizeof print.low);
  std::memcpy(text.data() + 1 + sizeof print.low, &print.high,
              sizeof print.high);
  return text;
}

inline Fingerprint print_of_value(std::string_view text) {
  if (text[0] != kNestedText) {
    return print_of(PrintOf::kScalar).add(text).take();
  }
  Fingerprint print;
  std::memcpy(&print.low, text.data() + 1, sizeof print.low);
  std::memcpy(&print.high, text.data() + 1 + sizeof print.low,
              sizeof print.high);
  return print;
}

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_VALUE_PRINTS_H_
