#ifndef PARLANCE_SRC_INVERSION_READ_TEXTS_H_
#define PARLANCE_SRC_INVERSION_READ_TEXTS_H_

// Which values the notation of a format gives back, whatever a tool declares.
//
//   "tag_pattern": "<a key=\"(?P<key>\\w+)\">\\s*(?P<value>[^\\n]*?)</a>"
//
//   Strings without a line feed that begin with no white space, and JSON on one
//   line.
//
// The reader itself says so: calls with strings of each character, at each end
// and inside, with words that may be read as something else, and with values of
// each type are written as the format writes them, and read.  Values that are
// not read back are left out of the grammar, by character and by type.  So the
// grammar may lack values that would be read back, but it has none of the
// values that were tried and not read back.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inversion/plan.h"
#include "inversion/tool_choice.h"
#include "parlance/error.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/schema_options.h"

namespace parlance::inversion {

// ReadTexts::names for no name at all.
inline constexpr std::string_view kNoName = "$^";

// Finds what calls of the tool `name` give back.  `other_names`: also of
// arguments that are not declared.
//
// Errors: kConflict with the pointer of the arguments in "write" if no value is
// read back, with a text and what becomes of it.
// Complexity: a few calls are read for most formats, some hundred for those
// that leave out many characters.
Result<ReadTexts> find_read_texts(const Format& format, const Plan& plan,
                                  std::string_view name, bool other_names);

// A value that is read back.
json::Value some_value(const ReadTexts& read);

// narrow_tools.cc

// Whether some tool may have arguments that it does not declare.
bool may_have_other_names(const std::vector<Tool>& tools);

// Narrows the schemas of `tools` to `read`, and notes what they lose.
//
// Errors: kConflict for a required argument of which no value is read back,
// with the pointer of the argument.
std::optional<Error> narrow_to_read_texts(const format::FormatImpl& format,
                                          const Plan& plan,
                                          const ReadTexts& read,
                                          std::vector<Tool>& tools,
                                          std::vector<GrammarNote>& notes);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_READ_TEXTS_H_
