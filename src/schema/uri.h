#ifndef PARLANCE_SRC_SCHEMA_URI_H_
#define PARLANCE_SRC_SCHEMA_URI_H_

// As much of RFC 3986 as `$id` and `$ref` need.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace parlance::schema {

// The parts of `uri` before and after its first '#'.  To JSON Schema no
// fragment and an empty one are the same.
std::pair<std::string_view, std::string_view> split_fragment(
    std::string_view uri);

// The target of `reference` when read in a document at `base` (section 5.2),
// without its fragment.  `base` may be empty or itself relative.
std::string resolve_uri(std::string_view base, std::string_view reference);

// %41 becomes A (section 2.1).  Nothing if a '%' is not followed by two
// hexadecimal digits.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_URI_H_
