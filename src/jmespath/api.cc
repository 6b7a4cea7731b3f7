// Implements parlance/jmespath.h.

#include <utility>

#include "jmespath/evaluate.h"
#include "jmespath/parser.h"
#include "parlance/jmespath.h"

namespace parlance {

Jmespath::Jmespath(std::shared_ptr<const jmespath::Expression> expression)
    : expression_(std::move(expression)) {}

Result<Jmespath> Jmespath::compile(std::string_view expression,
                                   const Limits& limits) {
  Result<jmespath::Expression> parsed = jmespath::parse(expression, limits);
  if (!parsed) return std::move(parsed).error();
  return Jmespath(
      std::make_shared<const jmespath::Expression>(*std::move(parsed)));
}

Result<json::Value> Jmespath::search(const json::Value& value) const {
  return jmespath::evaluate(*expression_, value);
}

std::string_view Jmespath::expression() const { return expression_->text; }

}  // namespace parlance
