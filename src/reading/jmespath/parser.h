#ifndef PARLANCE_SRC_JMESPATH_PARSER_H_
#define PARLANCE_SRC_JMESPATH_PARSER_H_

#include <string_view>

#include "jmespath/ast.h"
#include "parlance/error.h"
#include "parlance/limits.h"

namespace parlance::jmespath {

// The tree of an expression, as Jmespath::compile() promises it.
Result<Expression> parse(std::string_view text, const Limits& limits);

}  // namespace parlance::jmespath

#endif  // PARLANCE_SRC_JMESPATH_PARSER_H_
