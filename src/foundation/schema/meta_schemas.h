#ifndef PARLANCE_SRC_SCHEMA_META_SCHEMAS_H_
#define PARLANCE_SRC_SCHEMA_META_SCHEMAS_H_

// The meta-schemas of drafts 4, 6, 7, 2019-09 and 2020-12, with those of their
// vocabularies: documents to which schemas refer without giving them.

#include <optional>
#include <string_view>

#include "parlance/json.h"

namespace parlance::schema {

// The meta-schema with that URL, without a fragment, by either scheme.
// Complexity: O(size of the meta-schema), at most 5 KB of JSON.
std::optional<json::Value> meta_schema(std::string_view url);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_META_SCHEMAS_H_
