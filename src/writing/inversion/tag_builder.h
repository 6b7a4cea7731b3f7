#ifndef PARLANCE_SRC_INVERSION_TAG_BUILDER_H_
#define PARLANCE_SRC_INVERSION_TAG_BUILDER_H_

// The structural tag of a request, as a JSON value.

#include <vector>

#include "format/description.h"
#include "inversion/plan.h"
#include "inversion/request.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/schema_options.h"

namespace parlance::inversion {

struct BuiltTag {
  json::Value format;  // the node below "format", of a whole response
  // What the tag leaves out, for Grammar::report().
  std::vector<GrammarNote> notes = {};
};

// REQUIRES: the names of the tools are verified (verify.h).
//
// Errors: kConflict for a request that the format has no texts for, with a
// pointer that begins with the name of the option; kUnsupported for a
// construct that tags cannot express; kConflict at "/tools" for a tool with a
// required argument of which no listed value can be written.
Result<BuiltTag> build_tag(const format::FormatImpl& format, const Plan& plan,
                           const ReadBack& read_back, const Request& request);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_TAG_BUILDER_H_
