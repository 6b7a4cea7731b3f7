// What remains of the condition of an object after a member, and how that
// divides the values of the member.

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/work.h"
#include "schema/validate.h"
#include "schema_solver/exclusive.h"
#include "schema_solver/solver.h"

namespace parlance::schema_solver {

using schema::kNoNode;

namespace {

using Kind = Condition::Kind;

// The only value of a node, if that is a scalar and all that the node says;
// else null.
const json::Value* scalar_constant(const schema::Node& node) {
  if (!node.scalars || node.scalars->size() != 1) return nullptr;
  const json::Value& value = node.scalars->front();
  const bool says_no_more =
      (node.types & schema::type_bit(value)) != 0 && node.enum_nodes.empty() &&
      !node.integer_only && node.number_rules == nullptr &&
      node.string_rules == nullptr && node.all_of.empty() && !node.has_any_of &&
      !node.has_one_of && node.not_node == kNoNode && node.if_node == kNoNode &&
      node.ref == kNoNode;
  return says_no_more ? &value : nullptr;
}

// What remains of a condition about a value that is `value`: that decides at
// once whether it is another constant.  Of a hundred conditions `if t is "a1"`,
// each would ask a hundred conjunctions otherwise.
ConditionId after_value(Conditions& conditions,
                        const schema::Document& document,
                        const json::Value& value, ConditionId id) {
  return conditions.after_tests(id, [&](Literal test) -> std::optional<bool> {
    const json::Value* const other =
        scalar_constant(document.node(test.node()));
    if (other == nullptr) return std::nullopt;
    return schema::equal_values(*other, value) != test.negated();
  });
}

// The same for a value that satisfies `literal`, where that says that it is a
// certain one.
ConditionId after_constant(Conditions& conditions,
                           const schema::Document& document, Literal literal,
                           ConditionId id) {
  if (literal.negated()) return id;
  const json::Value* const value =
      scalar_constant(document.node(literal.node()));
  return value == nullptr ? id : after_value(conditions, document, *value, id);
}

// Alternatives, each once.
class Alternatives {
 public:
  void add(const MemberAlternative& alternative) {
    const std::uint64_t key = std::uint64_t{alternative.conjunction} << 32 |
                              alternative.condition.value();
    if (known_.insert(key).second) list_.push_back(alternative);
  }
  std::vector<MemberAlternative> take() { return std::move(list_); }

 private:
  std::vector<MemberAlternative> list_;
  std::unordered_set<std::uint64_t> known_;
};

}  // namespace

// The nodes that apply to the same value as `from` (in-place applicators), each
// once, in the order of the schema.
std::vector<NodeId> SchemaSolver::in_place_nodes(NodeId from) const {
  std::vector<NodeId> found;
  std::vector<NodeId> pending = {from};
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    if (id == kNoNode ||
        std::find(found.begin(), found.end(), id) != found.end()) {
      continue;
    }
    found.push_back(id);
    const schema::Node& node = document_.node(id);
    std::vector<NodeId> next = node.all_of;
    for (const auto* list : {&node.any_of, &node.one_of, &node.enum_nodes}) {
      next.insert(next.end(), list->begin(), list->end());
    }
    next.insert(next.end(), {node.ref, node.not_node, node.if_node,
                             node.then_node, node.else_node});
    for (const auto& [name, child] : node.objects().dependent_schemas) {
      next.push_back(child);
    }
    pending.insert(pending.end(), next.rbegin(), next.rend());
  }
  return found;
}

ConditionId SchemaSolver::without_keys(ConditionId condition, KeySet names) {
  if (condition <= kImpossible || names == kNoKeys) return condition;
  return conditions_.without_keys(
      condition, [&](KeyId key) { return key_sets_.contains(names, key); });
}

// A Shannon expansion of the condition after the member.  Each atom that
// depends on the member's value has become a test of a literal.  An alternative
// is split by its first test, into values that satisfy the literal and values
// that need not, until no test is left.
//
// Invariant: `pending` and `done` together cover every value of the member with
// which the object can still satisfy the condition.
std::vector<MemberAlternative> SchemaSolver::member_alternatives(
    DisjunctId object, ConditionId condition, const KeyClass& key_class,
    std::uint64_t count) {
  const ConjunctionId conjunction = member_conjunction(object, key_class);
  if (!satisfiable(conjunction)) return {};
  if (condition == kAlways) return {{conjunction, kAlways}};
  const auto given = [&](Literal literal, ConditionId id) {
    return after_constant(conditions_, document_, literal, id);
  };
  Alternatives done;
  std::vector<MemberAlternative> pending = split_by_constants(
      {conjunction, conditions_.after_member(condition, key_class.key, count,
                                             [&](const KeyGroup& keys) {
                                               return keys_.is_in(keys,
                                                                  key_class);
                                             })});
  while (!pending.empty()) {
    const MemberAlternative alternative = pending.back();
    pending.pop_back();
    if (!base::spend_work()) break;
    if (alternative.condition == kImpossible) continue;
    const Literal test = conditions_.first_test(alternative.condition);
    if (test == kNoLiteral) {
      done.add(alternative);
      continue;
    }
    const ConditionId without =
        conditions_.after_test(alternative.condition, test, false);
    const ConjunctionId both = with(alternative.conjunction, test);
    if (!satisfiable(both)) {
      pending.push_back({alternative.conjunction, without});
      continue;
    }
    const ConditionId if_so =
        conditions_.after_test(alternative.condition, test, true);
    // No split if every value satisfies the test, or it makes no difference.
    if (if_so == without ||
        is_empty(with(alternative.conjunction, negation(test)))) {
      pending.push_back({alternative.conjunction, if_so});
      continue;
    }
    // Formulas are monotone in their atoms, so a test may be assumed to fail
    // for any value.  With an exact negation the alternatives are disjoint.
    if (without != kImpossible) {
      const bool exact = facts_.has_exact_negation(test.node());
      const ConjunctionId other =
          exact ? with(alternative.conjunction, negation(test))
                : alternative.conjunction;
      if (satisfiable(other)) {
        pending.push_back(
            {other, exact ? given(negation(test), without) : without});
      }
    }
    pending.push_back({both, given(test, if_so)});
  }
  return done.take();
}

// Splits by the constants in the tests of a condition: one alternative for each
// constant that the value may be, and one for all other values.
//
// A condition about constants is a list of parts, and each part is about few
// constants.  What remains of a part if the value is none of its constants is
// found once, so an alternative costs as many steps as it has parts left, and
// n conditions `if t is "a1"` cost O(n).
std::vector<MemberAlternative> SchemaSolver::split_by_constants(
    const MemberAlternative& of) {
  constexpr std::size_t kFew = 8;  // these are split one by one
  const Kind kind = conditions_[of.condition].kind;
  const bool all = kind == Kind::kAll;
  if (!all && kind != Kind::kAny) return {of};
  const std::vector<ConditionId> parts = conditions_[of.condition].parts;
  struct Constant {
    Literal literal;
    const json::Value* value = nullptr;
    std::vector<std::size_t> parts = {};  // sorted
  };
  // Step 1: the constants, each with the parts that test it.
  std::vector<Constant> constants;
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    conditions_.for_each_atom(parts[i], [&](const Condition& atom) {
      if (atom.kind != Kind::kTest) return;
      const NodeId node = atom.literal.node();
      const json::Value* const value = scalar_constant(document_.node(node));
      if (value == nullptr) return;
      const auto [it, is_new] =
          index.try_emplace(scalar_key(*value), constants.size());
      if (is_new) constants.push_back({.literal = holds(node), .value = value});
      std::vector<std::size_t>& about = constants[it->second].parts;
      if (about.empty() || about.back() != i) about.push_back(i);
    });
  }
  if (constants.size() <= kFew) return {of};
  const auto join = [&](std::vector<ConditionId> list) {
    return all ? conditions_.all(std::move(list))
               : conditions_.any(std::move(list));
  };
  // Step 2: what remains of each part if the value is none of the constants.
  std::vector<ConditionId> otherwise;
  std::vector<std::size_t> left;  // the parts that are not decided then
  for (std::size_t i = 0; i < parts.size(); ++i) {
    otherwise.push_back(conditions_.after_tests(
        parts[i], [&](Literal test) -> std::optional<bool> {
          const NodeId node = test.node();
          if (scalar_constant(document_.node(node)) == nullptr) {
            return std::nullopt;
          }
          return test.negated();
        }));
    if (otherwise.back() != (all ? kAlways : kImpossible)) left.push_back(i);
  }
  // Step 3: an alternative for each constant, of its own parts after the value
  // and of all others as in step 2.  Invariant: `others` excludes the constants
  // so far, so that with the alternative for all other values, every value is
  // in exactly one.
  std::vector<MemberAlternative> out;
  std::vector<Literal> others = conjunctions_[of.conjunction];
  for (const Constant& constant : constants) {
    others.push_back(negation(constant.literal));
    const ConjunctionId both = with(of.conjunction, constant.literal);
    if (!base::spend_work(1 + left.size() / 4) || !satisfiable(both)) continue;
    std::vector<ConditionId> list;
    for (const std::size_t i : left) {
      if (!std::ranges::binary_search(constant.parts, i)) {
        list.push_back(otherwise[i]);
      }
    }
    for (const std::size_t i : constant.parts) {
      list.push_back(
          after_value(conditions_, document_, *constant.value, parts[i]));
    }
    out.push_back({both, join(std::move(list))});
  }
  const ConjunctionId none = conjunction(std::move(others));
  const ConditionId rest = join(std::move(otherwise));
  if (rest != kImpossible && satisfiable(none)) out.push_back({none, rest});
  std::ranges::reverse(out);
  return out;
}

}  // namespace parlance::schema_solver
