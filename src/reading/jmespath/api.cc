// Implements parlance/jmespath.h.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "jmespath/evaluate.h"
#include "jmespath/parser.h"
#include "parlance/jmespath.h"

namespace parlance {
namespace {

// Numbers what a host may look up.
void number_names(jmespath::Expression& expression) {
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  const auto number = [&](jmespath::Node& node, std::string_view name) {
    const auto [entry, fresh] = numbers.try_emplace(
        name, static_cast<std::uint32_t>(expression.names.size()));
    if (fresh) expression.names.emplace_back(name);
    node.numbers.push_back(entry->second);
  };
  for (jmespath::Node& node : expression.nodes) {
    if (node.kind == jmespath::NodeKind::kField) number(node, node.name);
    for (const std::string& key : node.keys) number(node, key);
  }
}

}  // namespace

// The data that all copies of a compiled expression share.
struct Jmespath::Shared {
  jmespath::Expression expression;
};

Jmespath::Jmespath(std::shared_ptr<const Shared> shared)
    : shared_(std::move(shared)) {}

Result<Jmespath> Jmespath::compile(std::string_view expression,
                                   const Limits& limits) {
  Result<jmespath::Expression> parsed = jmespath::parse(expression, limits);
  if (!parsed) return std::move(parsed).error();
  auto shared = std::make_shared<Shared>();
  shared->expression = *std::move(parsed);
  number_names(shared->expression);
  return Jmespath(std::move(shared));
}

Result<json::Value> Jmespath::search(const json::Value& value) const {
  return jmespath::evaluate(shared_->expression, value);
}

Result<JmespathHost::Handle> Jmespath::search(
    JmespathHost& host, JmespathHost::Handle value) const {
  return jmespath::evaluate(shared_->expression, host, value);
}

const std::vector<std::string>& Jmespath::names() const {
  return shared_->expression.names;
}

std::string_view Jmespath::expression() const {
  return shared_->expression.text;
}

}  // namespace parlance
