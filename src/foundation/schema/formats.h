#ifndef PARLANCE_SRC_SCHEMA_FORMATS_H_
#define PARLANCE_SRC_SCHEMA_FORMATS_H_

// The formats of JSON Schema as regular expressions.
//
// Each expression follows the document that defines the format.  If the
// definition is not regular, or if its expression would be too large, the
// expression accepts a subset: every text that it accepts has the format.  The
// table in formats.cc lists the values that each expression leaves out.

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

// A description of the values that have the format but do not match the
// expression; empty if the expression is exact.
std::string_view format_leaves_out(FormatId id);

// The format's expression, anchored at both ends and parsed once per process.
// Never null.  Thread-safe.
std::shared_ptr<const regex::Pattern> format_pattern(FormatId id);

// The same for an expression that accepts every text that has the format, and
// maybe more: what it does not accept certainly does not have the format.  The
// one of format_pattern() if that is exact.
std::shared_ptr<const regex::Pattern> format_superset(FormatId id);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_FORMATS_H_
