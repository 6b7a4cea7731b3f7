#ifndef PARLANCE_SRC_SCHEMA_SOLVER_CONTAINS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_CONTAINS_H_

// From 2020-12 on an item that fulfils `contains` is evaluated, so that
// `unevaluatedItems` asks of every item: this rule, or one of the `contains`
// that were seen.  That is an anyOf which no one wrote:
//
//   {"contains": C, "unevaluatedItems": R}    items: {"anyOf": [C, R]}
//
// Which `contains` are seen depends on the branches that an array takes; each
// set of them that may be seen together gets a node of its own.

#include <map>
#include <vector>

#include "schema/document.h"

namespace parlance::schema_solver {

class ItemChoices {
 public:
  // Adds the nodes to the document.
  explicit ItemChoices(schema::Document& document);

  // The rule for items that `rule` (an unevaluatedItems) stands for where
  // `contains` (sorted, each once) are seen.  `rule` itself, which lets out
  // less, where there is no such node.
  schema::NodeId choice(schema::NodeId rule,
                        const std::vector<schema::NodeId>& contains) const;

  // Nodes whose unevaluatedItems may see more sets than get nodes.
  const std::vector<schema::NodeId>& narrowed() const { return narrowed_; }

 private:
  std::map<std::vector<schema::NodeId>, schema::NodeId> choices_;
  std::vector<schema::NodeId> narrowed_;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_CONTAINS_H_
