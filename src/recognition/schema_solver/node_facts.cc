// Facts about single nodes: see node_facts.h.

#include "schema_solver/node_facts.h"

#include <algorithm>
#include <vector>

namespace parlance::schema_solver {

using schema::kNoNode;

// Whether the node is known to hold for every value of the type.  Recursion
// follows chains of in-place applicators, whose length the document bounds; a
// node is not known to hold because it refers to itself.
bool NodeFacts::accepts_all(NodeId id, JsonType type) {
  const std::uint64_t query =
      std::uint64_t{id} << 8 | static_cast<std::uint64_t>(type);
  return accepts_all_.ask(query, [&] { return finds_all(id, type); });
}

bool NodeFacts::finds_all(NodeId id, JsonType type) {
  const schema::Node& node = document_.node(id);
  const auto nothing = [&](NodeId child) {
    return child == kNoNode || accepts_all(child, type);
  };
  const auto of_any = [&](const std::vector<NodeId>& list) {
    return std::any_of(list.begin(), list.end(), nothing);
  };
  bool found = (node.types & type_bit(type)) != 0 && !node.scalars &&
               !node.has_one_of && node.not_node == kNoNode &&
               nothing(node.ref) &&
               std::all_of(node.all_of.begin(), node.all_of.end(), nothing) &&
               (!node.has_any_of || of_any(node.any_of)) &&
               (node.if_node == kNoNode ||
                (nothing(node.then_node) && nothing(node.else_node)));
  switch (type) {
    case JsonType::kNumber:
      found = found && !node.integer_only && node.number_rules == nullptr;
      break;
    case JsonType::kString:
      found = found && node.string_rules == nullptr;
      break;
    case JsonType::kArray:
      found = found && node.array_rules == nullptr &&
              node.array_closing == schema::Closing::kNone;
      break;
    case JsonType::kObject:
      found = found && node.object_rules == nullptr &&
              node.object_closing == schema::Closing::kNone;
      break;
    default:
      break;
  }
  return found;
}

// Whether every value that does not satisfy the node satisfies its negation as
// this solver expands it.  Most formats, multiples, and rules of arrays and
// objects are negated only in part.
bool NodeFacts::has_exact_negation(NodeId id) {
  return has_exact_negation_.ask(id, [&] { return finds_exact_negation(id); });
}

bool NodeFacts::finds_exact_negation(NodeId id) {
  const schema::Node& node = document_.node(id);
  const auto has = [&](NodeId child) {
    return child == kNoNode || has_exact_negation(child);
  };
  const auto all = [&](const std::vector<NodeId>& list) {
    return std::all_of(list.begin(), list.end(), has);
  };
  return node.array_rules == nullptr && node.object_rules == nullptr &&
         node.enum_nodes.empty() && !node.has_one_of &&
         (node.string_rules == nullptr ||
          node.string_rules->format == schema::kNoPattern ||
          strings_.of_rule(node.string_rules->format).exact()) &&
         (node.number_rules == nullptr || !node.number_rules->multiple_of) &&
         all(node.all_of) && all(node.any_of) && has(node.not_node) &&
         has(node.if_node) && has(node.then_node) && has(node.else_node) &&
         has(node.ref);
}

}  // namespace parlance::schema_solver
