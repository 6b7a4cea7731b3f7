#ifndef PARLANCE_SRC_SCHEMA_SOLVER_CONTAINS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_CONTAINS_H_

// Since draft 2020-12 an item that satisfies `contains` is evaluated.  So
// `unevaluatedItems` requires of every item that it satisfies the rule, or one
// of the `contains` in scope: an anyOf that the schema does not spell.
//
//   {"contains": C, "unevaluatedItems": R}    items: {"anyOf": [C, R]}
//
// The `contains` in scope depend on the alternatives that an array satisfies.
// Each set of them that may be in scope together gets a node of its own.

#include <cstddef>
#include <map>
#include <vector>

#include "schema/document.h"

namespace parlance::schema_solver {

// How many of `rules` rules about a whole array (`contains`, and items that
// `not` requires) one item may count for: the largest number for which an item
// has at most 128 choices, but at least one.  All of them up to seven rules.
std::size_t rules_at_once(std::size_t rules);

// The number of `contains` that may apply to one array together with those of
// `node`.
std::size_t contains_in_scope(const schema::Document& document,
                              schema::NodeId node);

class ItemChoices {
 public:
  // Adds the nodes to the document.
  explicit ItemChoices(schema::Document& document);

  // The rule for items that `rule` (an unevaluatedItems) means if `contains`
  // (sorted, each once) are in scope.  If the set has no node, `rule` itself,
  // which allows less.
  schema::NodeId choice(schema::NodeId rule,
                        const std::vector<schema::NodeId>& contains) const;

  // Nodes whose unevaluatedItems has too many `contains` in scope for a node of
  // each set.
  const std::vector<schema::NodeId>& narrowed() const { return narrowed_; }

 private:
  std::map<std::vector<schema::NodeId>, schema::NodeId> choices_;
  std::vector<schema::NodeId> narrowed_;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_CONTAINS_H_
