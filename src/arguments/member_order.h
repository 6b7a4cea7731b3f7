#ifndef PARLANCE_SRC_ARGUMENTS_MEMBER_ORDER_H_
#define PARLANCE_SRC_ARGUMENTS_MEMBER_ORDER_H_

// Which members of an object may follow one another, as rules.
//
//   a, b of which b is required, in order       a? b
//   the same in any order                       a b | b a?
//
// Every declared member comes at most once, and a required one always.  What
// may follow depends on which members came: one rule for each set of them.

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "rules/rules.h"

namespace parlance::arguments {

struct MemberParts {
  // Each with what separates it from what follows.
  std::vector<rules::ExprId> members = {};
  std::vector<bool> required = {};
  // One member with a name that is not declared; kNoId: there are none.
  rules::ExprId extra = rules::kNoId;
  // Of all members.
  std::uint64_t min = 0;
  std::uint64_t max = ~std::uint64_t{0};
  // So many members with names that are not declared, at least and at most
  // (all bits: any number).
  std::function<rules::ExprId(std::uint64_t least, std::uint64_t most)> extras =
      {};
};

// An expression that may stand at many places: a reference to a new rule.
rules::ExprId shared_expr(rules::Rules& rules, rules::ExprId body);

// Declared members one behind the other, then those that are not declared.
// Gives up when the rules have more than `max_exprs` expressions.
rules::ExprId members_in_order(const MemberParts& parts, rules::Rules& rules,
                               std::size_t max_exprs);

// Sets of more members than these are too many.
inline constexpr std::size_t kFreeMembers = 8;

struct AnyOrder {
  rules::ExprId list = rules::kNoId;
  // What is left out, a sentence; empty when nothing is.
  std::string_view narrowed = {};
};

// Of more than kFreeMembers members, each kFreeMembers in the order of
// `parts.members` come before the next ones.  Where `min` or `max` matter,
// members that are not declared come last, and of so many members all come in
// order.
AnyOrder members_in_any_order(const MemberParts& parts, rules::Rules& rules,
                              std::size_t max_exprs);

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_MEMBER_ORDER_H_
