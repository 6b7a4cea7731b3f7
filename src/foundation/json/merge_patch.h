#ifndef PARLANCE_SRC_JSON_MERGE_PATCH_H_
#define PARLANCE_SRC_JSON_MERGE_PATCH_H_

// JSON merge patches (RFC 7396): an object in the patch is merged into the
// object at its place, null removes a member, any other value replaces.

#include "parlance/json.h"

namespace parlance::json {

// `target` with `patch` applied.  Recursion: one call per level of `patch`,
// which the limits of the parser bound.
Value merge_patch(const Value& target, const Value& patch);

}  // namespace parlance::json

#endif  // PARLANCE_SRC_JSON_MERGE_PATCH_H_
