#ifndef PARLANCE_SRC_SCHEMA_FORMATS_H_
#define PARLANCE_SRC_SCHEMA_FORMATS_H_

// The formats of JSON Schema as regular expressions.
//
// Each is written from the document that defines the format.  Where the
// definition is not regular, or its expression would be out of proportion, the
// expression accepts less: what it accepts always has the format.  See the
// table in formats.cc for the values that each leaves out.

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "regex/pattern.h"

namespace parlance::schema {

// An index into the table.
using FormatId = std::uint8_t;

// Nothing if the name is not in any draft.
std::optional<FormatId> find_format(std::string_view name);

std::string_view format_name(FormatId id);

// What has the format and does not match the expression, in words; empty if it
// is exact.
std::string_view format_leaves_out(FormatId id);

// The format's expression, anchored at both ends.  Read once in the process;
// never null.  Thread-safe.
std::shared_ptr<const regex::Pattern> format_pattern(FormatId id);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_FORMATS_H_
