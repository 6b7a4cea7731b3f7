#ifndef PARLANCE_SRC_INVERSION_LEFT_OUT_H_
#define PARLANCE_SRC_INVERSION_LEFT_OUT_H_

// What of a request a structural tag cannot have: errors, where it would miss
// what the request or the template requires, else notes.

#include <optional>
#include <vector>

#include "inversion/tag_input.h"
#include "parlance/error.h"
#include "parlance/schema_options.h"

namespace parlance::inversion {

// Errors: kConflict for a request that the format has no texts for, with a
// pointer that begins with the name of the option; kUnsupported for a construct
// that tags cannot express.
std::optional<Error> check_request(const TagInput& in);

// Notes what the tag leaves out.  REQUIRES: check_request() found no error.
//
// Errors: kConflict for a tool with a required argument of which no listed
// value can be written.
std::optional<Error> note_left_out(const TagInput& in,
                                   std::vector<GrammarNote>& notes);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_LEFT_OUT_H_
