#ifndef PARLANCE_SRC_JMESPATH_EVALUATE_H_
#define PARLANCE_SRC_JMESPATH_EVALUATE_H_

// Evaluates a parsed JMESPath expression.

#include "jmespath/ast.h"
#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance {
class JmespathHost;
}

namespace parlance::jmespath {

// The result of `expression` for `value`, as Jmespath::search() specifies it.
Result<json::Value> evaluate(const Expression& expression,
                             const json::Value& value);
// The same for a value of `host`.  The caller still owns `value`, and owns the
// result too, which it must release.
Result<void*> evaluate(const Expression& expression, JmespathHost& host,
                       void* value);

}  // namespace parlance::jmespath

#endif  // PARLANCE_SRC_JMESPATH_EVALUATE_H_
