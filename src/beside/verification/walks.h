#ifndef PARLANCE_SRC_VERIFICATION_WALKS_H_
#define PARLANCE_SRC_VERIFICATION_WALKS_H_

// Random responses of a format, and what holds of each of them.
//
//   one message   the format's parser reads what the parser of the tag reads,
//                 without a diagnostic; as tokens, too, with a vocabulary
//   cut           and the same if the text comes in two pieces, wherever it is
//                 cut, or in single bytes
//   render        what is rendered of the message is read back as it
//   damage        text that has been damaged is read the same in single bytes
//                 as whole
//
// for every tool_choice, reasoning required, allowed or off, and a document.

#include <vector>

#include "format/description.h"
#include "inversion/plan.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/verify_format.h"

namespace parlance::verification {

// For each finding about a field, a short response.
// REQUIRES: a structural tag can be made for `tools`, which are valid.
// Complexity: of a walk, that of its masks, and of reading its text as often as
// it has bytes, but for long texts a fixed number of times.
std::vector<FormatFinding> find_by_walks(const Format& format,
                                         const format::FormatImpl& impl,
                                         const inversion::Plan& plan,
                                         const json::Value& tools,
                                         const VerifyFormatOptions& options);

}  // namespace parlance::verification

#endif  // PARLANCE_SRC_VERIFICATION_WALKS_H_
