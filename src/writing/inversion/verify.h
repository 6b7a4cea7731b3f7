#ifndef PARLANCE_SRC_INVERSION_VERIFY_H_
#define PARLANCE_SRC_INVERSION_VERIFY_H_

// Whether the reader of a format reads the calls that its structural tag
// writes.

#include <optional>
#include <string_view>
#include <vector>

#include "inversion/plan.h"
#include "inversion/tool_choice.h"
#include "parlance/error.h"
#include "parlance/format.h"
#include "parlance/schema_options.h"

namespace parlance::inversion {

// Writes a call without arguments for each name and spelling, reads all of them
// with the format's ResponseParser, and compares: each opens the field of calls
// with this name, has no arguments, and ends where it was written to end.
//
// A response with all fields in the order of the steps is read as well, and of
// a derived writing a call with arguments.  Returns how they are read; the plan
// stores it for the next request with these names.  Of a format that is not
// built in, the values that its notation gives back are found as well, with the
// names of arguments that are not declared if `other_names` (read_texts.h).
//
// Errors: kConflict, with a message that names field, tool and text, and the
// pointer "/tools"; kUnsupported for fields that are not read back in their
// order, and for arguments that are not read back.
// Complexity: O(sum of the sizes of the calls), for new names.
Result<ReadBack> verify_names(const Format& format, const Plan& plan,
                              const std::vector<std::string_view>& names,
                              bool other_names);

// The same for the names of the arguments that tools declare, where they are
// not written as JSON and, if the format is built in, are no identifiers:
// writes a call with this argument for each, reads it, and compares.  An
// optional argument that is not read back is taken out of its tool: its schema
// becomes `false`, and a note says so. Names that the grammar leaves out by
// itself are not read.
//
// Errors: kConflict for the required arguments, with a message that names
// field, tool, argument and text of each, and the pointer of the first.
// Complexity: O(sum of the sizes of these calls).
std::optional<Error> verify_arguments(const Format& format, const Plan& plan,
                                      const ReadTexts& read,
                                      std::vector<Tool>& tools,
                                      std::vector<GrammarNote>& notes);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_VERIFY_H_
