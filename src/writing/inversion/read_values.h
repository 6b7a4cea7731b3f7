#ifndef PARLANCE_SRC_INVERSION_READ_VALUES_H_
#define PARLANCE_SRC_INVERSION_READ_VALUES_H_

// What the readers of formats give back of the values of arguments.
//
// The grammar of a call writes each value that the tool's schema allows: a
// string in an element as it is, every other value as JSON.  The reader of a
// bare template casts the text by the types of the parameter alone ("type",
// "anyOf", "oneOf", "nullable"; transformers does), so of {"enum": [1, 2]} it
// reads "1".  The schema of each tool is narrowed to the values that are read
// back; schema/cast_values.h has the rule.  The reader of a format file follows
// the tool's schema, but reads words of Python as values where these are valid,
// so they are no strings there.

#include <optional>
#include <vector>

#include "format/family.h"
#include "inversion/plan.h"
#include "inversion/tool_choice.h"
#include "parlance/error.h"
#include "parlance/schema_options.h"

namespace parlance::inversion {

// Narrows the schemas of `tools`, and notes what they lose.
//
// Errors: kConflict for a required argument of which no value is read back,
// with the pointer of the argument.
std::optional<Error> narrow_to_read_values(const format::FormatImpl& format,
                                           const Plan& plan,
                                           std::vector<Tool>& tools,
                                           std::vector<GrammarNote>& notes);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_READ_VALUES_H_
