#ifndef PARLANCE_SRC_JMESPATH_EVALUATE_H_
#define PARLANCE_SRC_JMESPATH_EVALUATE_H_

#include "jmespath/ast.h"
#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::jmespath {

// What `expression` finds in `value`, as Jmespath::search() promises it.
Result<json::Value> evaluate(const Expression& expression,
                             const json::Value& value);

}  // namespace parlance::jmespath

#endif  // PARLANCE_SRC_JMESPATH_EVALUATE_H_
