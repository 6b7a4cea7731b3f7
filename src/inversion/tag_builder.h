#ifndef PARLANCE_SRC_INVERSION_TAG_BUILDER_H_
#define PARLANCE_SRC_INVERSION_TAG_BUILDER_H_

// The structural tag of a request, as a JSON value.

#include "format/description.h"
#include "inversion/plan.h"
#include "inversion/request.h"
#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::inversion {

// The node below "format".  The names of the tools have been verified
// (verify.h).
//
// Errors: kConflict for a request that the format has no texts for, with a
// pointer that begins with the name of the option; kUnsupported for a
// construct that tags cannot express.
Result<json::Value> build_tag(const format::FormatImpl& format,
                              const Plan& plan, const Request& request);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_TAG_BUILDER_H_
