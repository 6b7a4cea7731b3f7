#ifndef PARLANCE_SRC_SCHEMA_SOLVER_NODE_FACTS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_NODE_FACTS_H_

// Facts about nodes that follow from the nodes inside them, without expanding
// anything.
//
// The solver owns one, for its expander and the conditions of members.  A fact
// depends on the document alone.

#include "schema/document.h"
#include "schema_solver/constraints.h"
#include "schema_solver/recursive_facts.h"
#include "schema_solver/string_sets.h"

namespace parlance::schema_solver {

// Not thread-safe.
class NodeFacts {
 public:
  // Both must outlive this.
  NodeFacts(const schema::Document& document, StringSets& strings)
      : document_(document), strings_(strings) {}

  // Whether the node is known to hold for every value of the type.
  bool accepts_all(NodeId id, JsonType type);
  // Whether every value that does not satisfy the node satisfies its negation
  // as the solver expands it.
  bool has_exact_negation(NodeId id);

 private:
  bool finds_all(NodeId id, JsonType type);
  bool finds_exact_negation(NodeId id);

  const schema::Document& document_;
  StringSets& strings_;
  RecursiveFacts accepts_all_;  // by node and type
  RecursiveFacts has_exact_negation_;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_NODE_FACTS_H_
