// Implements parlance/jmespath.h.

#include <utility>

#include "jmespath/evaluate.h"
#include "jmespath/parser.h"
#include "jmespath/reach.h"
#include "parlance/jmespath.h"

namespace parlance {
namespace {

using jmespath::Place;
using jmespath::PlaceId;

// Places as a tree.  Their number is bounded, and so is the recursion.
void fill(JmespathReach& out, const std::vector<Place>& places, PlaceId id) {
  const Place& place = places[static_cast<std::size_t>(id)];
  // One member or element reached in two ways: all of it.
  const bool each = place.each != PlaceId{};
  const bool values = place.values != PlaceId{};
  out.all = place.all || (each && !place.indices.empty()) ||
            (values && !place.fields.empty());
  if (out.all) return;
  out.shape = place.shape;
  for (const auto& [name, below] : place.fields) {
    out.fields.emplace_back().name = name;
    fill(out.fields.back(), places, below);
  }
  for (const auto& [index, below] : place.indices) {
    out.indices.emplace_back().index = static_cast<std::size_t>(index);
    fill(out.indices.back(), places, below);
  }
  if (each) {
    out.each = std::make_unique<JmespathReach>();
    fill(*out.each, places, place.each);
  }
  if (values) {
    out.values = std::make_unique<JmespathReach>();
    fill(*out.values, places, place.values);
  }
}

}  // namespace

// What a compiled expression shares.
struct Jmespath::Shared {
  jmespath::Expression expression;
  JmespathReach reach;
};

Jmespath::Jmespath(std::shared_ptr<const Shared> shared)
    : shared_(std::move(shared)) {}

Result<Jmespath> Jmespath::compile(std::string_view expression,
                                   const Limits& limits) {
  Result<jmespath::Expression> parsed = jmespath::parse(expression, limits);
  if (!parsed) return std::move(parsed).error();
  auto shared = std::make_shared<Shared>();
  shared->expression = *std::move(parsed);
  fill(shared->reach, jmespath::places_of(shared->expression), PlaceId{});
  return Jmespath(std::move(shared));
}

Result<json::Value> Jmespath::search(const json::Value& value) const {
  return jmespath::evaluate(shared_->expression, value);
}

const JmespathReach& Jmespath::reach() const { return shared_->reach; }

std::string_view Jmespath::expression() const {
  return shared_->expression.text;
}

}  // namespace parlance
