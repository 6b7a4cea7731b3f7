#ifndef PARLANCE_SRC_ARGUMENTS_MEMBER_ORDER_H_
#define PARLANCE_SRC_ARGUMENTS_MEMBER_ORDER_H_

// The order of an object's members, as rules.
//
//   a, b of which b is required, in order       a? b
//   the same in any order                       a b | b a?
//   the same with ","                           a "," b | b ("," a)?
//
// Every declared member comes at most once, and a required member exactly once.
// What may follow depends on the set of members that have been written, so in
// any order there is one rule for each set.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "arguments/schema_view.h"
#include "rules/rules.h"

namespace parlance::arguments {

struct MemberParts {
  // Each includes the white space after it.
  std::vector<rules::ExprId> members = {};
  std::vector<bool> required = {};
  // One undeclared member; kNoExpr: there are none.
  rules::ExprId extra = rules::kNoExpr;
  // Bounds of the number of members, declared or not.
  std::uint64_t min = 0;
  std::uint64_t max = ArgumentObject::kUnbounded;
  // From `least` to `most` undeclared members.  `first`: no member comes before
  // them.
  std::function<rules::ExprId(std::uint64_t least, std::uint64_t most,
                              bool first)>
      extras = {};
  // Comes between two members; may be empty.
  std::string separator = {};
};

// `body` as an expression that can be used more than once: a reference to a new
// rule.
rules::ExprId shared_expr(rules::Rules& rules, rules::ExprId body);

// The declared members in order, then the undeclared members.  Stops, with an
// incomplete result, once the rules have more than `max_exprs` expressions.
rules::ExprId members_in_order(const MemberParts& parts, rules::Rules& rules,
                               std::size_t max_exprs);

// The limit of the number of members that may come in any order: every subset
// is a rule.
inline constexpr std::size_t kFreeMembers = 8;

struct AnyOrder {
  rules::ExprId list = rules::kNoExpr;
  // A sentence that specifies which orders are omitted; empty if none is.
  std::string_view narrowed = {};
};

// More than kFreeMembers members are divided into groups of kFreeMembers, which
// come in the order of `parts.members`.  If `min` or `max` matter, undeclared
// members come last, and more than kFreeMembers members all come in order.
AnyOrder members_in_any_order(const MemberParts& parts, rules::Rules& rules,
                              std::size_t max_exprs);

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_MEMBER_ORDER_H_
