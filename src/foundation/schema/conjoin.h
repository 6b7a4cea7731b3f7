#ifndef PARLANCE_SRC_SCHEMA_CONJOIN_H_
#define PARLANCE_SRC_SCHEMA_CONJOIN_H_

// A schema with more that must hold.  It is added in place: a schema that were
// moved into another one would lose the base of its references, its dialect and
// its pointers.

#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"

namespace parlance::schema {

// A schema of the values that satisfy both.  `more` has no references, and says
// nothing of which members and items are declared (close.h).
//
// REQUIRES: `schema` is an object.
json::Value conjoined(json::Value schema, json::Value more);

// A schema of the values that satisfy it and in which the names of all objects,
// at any depth, match a pattern.
//
// REQUIRES: `schema` is an object.
json::Value with_names(json::Value schema, std::string_view pattern);

// A schema of the values that satisfy it and whose numbers are not above
// `largest`, nor below the negative of it, also those inside of lists and
// objects if `nested`.
json::Value with_numbers(json::Value schema, double largest, bool nested);

// A schema of the values that satisfy it and no part of which, at any depth,
// satisfies `refused`, or has a member whose name matches one of `names`.
json::Value without(json::Value schema, json::Value refused,
                    const std::vector<std::string>& names);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_CONJOIN_H_
