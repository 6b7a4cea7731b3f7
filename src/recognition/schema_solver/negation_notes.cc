// Notes on rules that occur negated: under "not", in another branch of "oneOf",
// in "if", or in a "contains" with a maximum.  For some of them the solver does
// not generate texts that fail the rule, and report() says so before the first
// text is read.

#include <algorithm>
#include <vector>

#include "schema_solver/node_checks.h"
#include "schema_solver/solver.h"

namespace parlance::schema_solver {

using schema::kNoNode;

namespace {

// Whether notes may be due.
bool may_be_narrowed(const schema::Node& node) {
  const schema::ArrayRules& arrays = node.arrays();
  return node.not_node != kNoNode || arrays.contains != kNoNode ||
         arrays.unevaluated_items != kNoNode || arrays.unique_items ||
         node.objects().unevaluated_properties != kNoNode;
}

// Calls visit(literal) with the literals that the rules of a literal are made
// of.  A negated node negates its parts, but a part of `not` is negated once
// more, and of a rule that counts or chooses both values matter.
template <class Visit>
void each_part(const schema::Document& document, Literal at,
               const Visit& visit) {
  const schema::Node& node = document.node(at.node());
  const schema::ObjectRules& objects = node.objects();
  const schema::ArrayRules& arrays = node.arrays();
  const auto same = [&](NodeId child) {
    if (child != kNoNode) visit(at.of(child));
  };
  const auto both = [&](NodeId child) {
    if (child == kNoNode) return;
    visit(holds(child));
    visit(fails(child));
  };
  for (const NodeId child : node.all_of) same(child);
  for (const NodeId child : node.any_of) same(child);
  for (const NodeId child : node.one_of) {
    node.one_of.size() > 1 ? both(child) : same(child);
  }
  if (node.not_node != kNoNode) visit(negation(at.of(node.not_node)));
  both(node.if_node);
  same(node.then_node);
  same(node.else_node);
  same(node.ref);
  for (const NodeId child : node.enum_nodes) same(child);
  for (const auto& [name, child] : objects.properties) same(child);
  for (const auto& [name, child] : objects.pattern_properties) same(child);
  for (const auto& [name, child] : objects.dependent_schemas) same(child);
  same(objects.additional_properties);
  same(objects.property_names);
  same(objects.unevaluated_properties);
  for (const NodeId child : arrays.prefix_items) same(child);
  same(arrays.items);
  same(arrays.unevaluated_items);
  arrays.max_contains ? both(arrays.contains) : same(arrays.contains);
}

// The literals that the root may need, by number.
std::vector<bool> needed_literals(const schema::Document& document) {
  std::vector<bool> seen(document.nodes.size() * 2);
  std::vector<Literal> pending;
  const auto visit = [&](Literal literal) {
    if (seen[literal.bits()]) return;
    seen[literal.bits()] = true;
    pending.push_back(literal);
  };
  visit(holds(document.root));
  while (!pending.empty()) {
    const Literal at = pending.back();
    pending.pop_back();
    each_part(document, at, visit);
  }
  return seen;
}

}  // namespace

void note_negated(const schema::Document& document, const ItemChoices& choices,
                  NoteList& notes) {
  if (std::ranges::none_of(document.nodes, may_be_narrowed)) return;
  const std::vector<bool> needed = needed_literals(document);
  for (const schema::NodeId id : choices.narrowed()) {
    static_cast<void>(notes.leave_out(
        LeftOutBy::kLimit, id, "unevaluatedItems",
        "an item that only fulfils one of many \"contains\" counts as "
        "not evaluated"));
  }
  const auto rules = static_cast<std::size_t>(std::count_if(
      document.nodes.begin(), document.nodes.end(),
      [](const schema::Node& node) {
        return node.arrays().contains != kNoNode || node.not_node != kNoNode;
      }));
  const bool many = rules_at_once(rules) < rules;
  for (schema::NodeId id; id < document.nodes.size(); ++id) {
    const schema::Node& node = document.node(id);
    const std::size_t contains =
        many && !node.all_of.empty() ? contains_in_scope(document, id) : 0;
    if (const std::size_t most = rules_at_once(contains); most < contains) {
      static_cast<void>(notes.leave_out(
          LeftOutBy::kLimit, id, "contains",
          "of the " + std::to_string(contains) +
              " \"contains\" of this array, an item counts for at most " +
              std::to_string(most)));
    }
    if (!needed[fails(id).bits()]) continue;
    const auto negated = [&](std::string_view keyword) {
      static_cast<void>(notes.leave_out(LeftOutBy::kUnsupported, id, keyword,
                                        kNegatedLeftOut));
    };
    if (node.objects().unevaluated_properties != kNoNode) {
      negated("unevaluatedProperties");
    }
    if (node.arrays().unevaluated_items != kNoNode) {
      negated("unevaluatedItems");
    }
    if (node.arrays().unique_items) {
      negated("uniqueItems");
    }
  }
}

}  // namespace parlance::schema_solver
