#ifndef PARLANCE_SRC_SCHEMA_URI_H_
#define PARLANCE_SRC_SCHEMA_URI_H_

// The parts of RFC 3986 that `$id` and `$ref` need.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace parlance::schema {

// The parts of `uri` before and after its first '#'.  In JSON Schema, a missing
// fragment is equivalent to an empty fragment.
std::pair<std::string_view, std::string_view> split_fragment(
    std::string_view uri);

// The target, without its fragment, of a `reference` in a document whose URI is
// `base` (section 5.2).  `base` may be empty or relative.
std::string resolve_uri(std::string_view base, std::string_view reference);

// Decodes %41 to A (section 2.1).  Nothing if a '%' is not followed by two
// hexadecimal digits.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_URI_H_
