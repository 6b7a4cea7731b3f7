#ifndef PARLANCE_SRC_FORMAT_NAMES_H_
#define PARLANCE_SRC_FORMAT_NAMES_H_

// Names of formats, fields and keys: when two are the same, and which known
// name an unknown one is probably meant to be.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parlance::format {

// The form in which two names of formats are compared: lower case, without
// '-', '_' and '.'.
std::string normal_name(std::string_view name);

// The fewest insertions, deletions and replacements of bytes that turn `a` into
// `b`.  Complexity: O(a.size() * b.size()).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that is most like `name`; "" if none is similar.
std::string_view closest(std::string_view name,
                         std::span<const std::string_view> candidates);

// "; did you mean 'turn_end'?", or "." if no candidate is similar.
std::string did_you_mean(std::string_view name,
                         std::span<const std::string_view> candidates);

// "a, b, c"
std::string listed(std::span<const std::string_view> names);

}  // namespace parlance::format

#endif  // PARLANCE_SRC_FORMAT_NAMES_H_
