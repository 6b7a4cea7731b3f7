#ifndef PARLANCE_SRC_PARSE_PREFIX_H_
#define PARLANCE_SRC_PARSE_PREFIX_H_

// What of the prompt belongs to this response: everything behind the last
// match of the start anchor, or all of it when there is none.

#include <string_view>

#include "parse/program.h"

namespace parlance::parse {

std::string_view behind_last_anchor(const Program& program,
                                    std::string_view prefix);

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_PREFIX_H_
