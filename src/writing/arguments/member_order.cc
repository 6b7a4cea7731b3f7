// Dynamic programming over the members that have been written, from the last
// member to the first; see member_order.h.

#include "arguments/member_order.h"

#include <algorithm>
#include <bit>
#include <string>

namespace parlance::arguments {

using rules::ExprId;
using rules::kNoExpr;
using rules::Rules;
namespace {

std::uint64_t count_required(const MemberParts& parts) {
  return static_cast<std::uint64_t>(
      std::count(parts.required.begin(), parts.required.end(), true));
}

// Whether `min` and `max` forbid anything that the members allow.
bool bounds_matter(const MemberParts& parts) {
  if (parts.min > count_required(parts)) return true;
  if (parts.extra == kNoExpr) return parts.max < parts.members.size();
  return parts.max <= 0x7FFFFFFF;  // what a repetition may count
}

// `one` as a member that is not the first.
ExprId after_separator(const MemberParts& parts, ExprId one, Rules& rules) {
  if (parts.separator.empty()) return one;
  return rules.sequence(
      {rules.marker(parts.separator, 0, /*exact=*/true), one});
}

// What may follow the declared members, of which `taken` have been written.
// `first`: none has.
ExprId after_members(const MemberParts& parts, std::uint64_t taken, bool first,
                     Rules& rules) {
  if (taken > parts.max) return rules.choice({});
  const std::uint64_t least = parts.min > taken ? parts.min - taken : 0;
  if (parts.extra == kNoExpr) {
    return least == 0 ? rules.empty() : rules.choice({});
  }
  return parts.extras(
      least,
      parts.max == ArgumentObject::kUnbounded ? parts.max : parts.max - taken,
      first);
}

// What may follow a group of members: after members before the group, and at
// the beginning.  Both are equal if there is no separator.
struct GroupStart {
  ExprId later = kNoExpr;
  ExprId first = kNoExpr;
};

// The `size` members from `first` on, in any order.  `ends[n]` follows a subset
// of n members that contains all required ones; `nothing` follows the empty
// subset at the beginning.
GroupStart any_order_group(const MemberParts& parts,
                           const std::vector<ExprId>& members,
                           std::size_t first, std::size_t size,
                           const std::vector<ExprId>& ends, ExprId nothing,
                           Rules& rules) {
  std::size_t needed = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (parts.required[first + i]) needed |= std::size_t{1} << i;
  }
  // after[came] is what may follow the subset with the bits `came`.
  std::vector<ExprId> after(std::size_t{1} << size, kNoExpr);
  // What may follow `came` if the next member `begins` the whole object.
  const auto follow = [&](std::size_t came, bool begins) {
    std::vector<ExprId> choices;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t with = came | (std::size_t{1} << i);
      if (with == came) continue;
      const ExprId one = members[first + i];
      choices.push_back(rules.sequence(
          {begins ? one : after_separator(parts, one, rules), after[with]}));
    }
    if ((came & needed) == needed) {
      choices.push_back(
          begins ? nothing
                 : ends[static_cast<std::size_t>(std::popcount(came))]);
    }
    return shared_expr(rules, rules.choice(std::move(choices)));
  };
  // From large sets to small ones: `after` is final for every superset.
  for (std::size_t came = after.size(); came-- > 0;) {
    after[came] = follow(came, false);
  }
  return {after[0], parts.separator.empty() ? after[0] : follow(0, true)};
}

}  // namespace

ExprId shared_expr(Rules& rules, ExprId body) {
  if (rules.exprs[body].kind == rules::ExprKind::kRule ||
      rules.exprs[body].kind == rules::ExprKind::kEmpty) {
    return body;
  }
  const rules::RuleId rule =
      rules.add_rule("members_" + std::to_string(rules.rules.size()));
  rules.rules[rule].body = body;
  return rules.reference(rule);
}

ExprId members_in_order(const MemberParts& parts, Rules& rules,
                        std::size_t max_exprs) {
  const std::size_t size = parts.members.size();
  const bool bounded = bounds_matter(parts);
  const bool separated = !parts.separator.empty();
  if (!bounded && !separated) {
    std::vector<ExprId> all;
    all.reserve(size + 1);
    for (std::size_t i = 0; i < size; ++i) {
      all.push_back(parts.required[i] ? parts.members[i]
                                      : rules.repeat(parts.members[i], 0, 1));
    }
    all.push_back(after_members(parts, parts.min, false, rules));
    return rules.sequence(std::move(all));
  }
  std::vector<ExprId> members;
  members.reserve(size);
  for (const ExprId one : parts.members) {
    members.push_back(shared_expr(rules, one));
  }
  // Invariant: rows[taken] is what may follow the first i members, of which
  // `taken` have been written.  If the number does not matter, rows[1] is for
  // every number but 0.
  const std::size_t most = bounded ? size : 1;
  std::vector<ExprId> rows(most + 1);
  for (std::size_t taken = 0; taken <= most; ++taken) {
    rows[taken] = shared_expr(
        rules,
        after_members(parts, bounded ? taken : parts.min, taken == 0, rules));
  }
  // Rows are replaced in ascending order, because what follows member i is in a
  // row that has not been replaced yet, and so is about member i + 1.
  for (std::size_t i = size; i-- > 0;) {
    if (rules.exprs.size() > max_exprs) break;
    for (std::size_t taken = 0; taken <= std::min(i, most); ++taken) {
      const ExprId one =
          taken == 0 ? members[i] : after_separator(parts, members[i], rules);
      const ExprId with =
          rules.sequence({one, rows[std::min(taken + 1, most)]});
      rows[taken] = parts.required[i]
                        ? (separated ? shared_expr(rules, with) : with)
                        : shared_expr(rules, rules.choice({with, rows[taken]}));
    }
  }
  return rows[0];
}

AnyOrder members_in_any_order(const MemberParts& parts, Rules& rules,
                              std::size_t max_exprs) {
  const std::size_t size = parts.members.size();
  const bool bounded = bounds_matter(parts);
  if (bounded && size > kFreeMembers) {
    return {members_in_order(parts, rules, max_exprs),
            "Since their number matters, members come in the order of the "
            "schema."};
  }
  const bool free_extras = !bounded && parts.extra != kNoExpr;
  const ExprId extra =
      free_extras ? shared_expr(rules, parts.extra) : rules.empty();
  const ExprId more = free_extras
                          ? rules.repeat(after_separator(parts, extra, rules),
                                         0, rules::kUnbounded)
                          : rules.empty();
  std::vector<ExprId> members;
  members.reserve(size);
  for (const ExprId one : parts.members) {
    members.push_back(shared_expr(rules, rules.sequence({one, more})));
  }
  std::vector<ExprId> ends(kFreeMembers + 1, rules.empty());
  if (bounded) {
    for (std::size_t taken = 0; taken <= size; ++taken) {
      ends[taken] =
          shared_expr(rules, after_members(parts, taken, taken == 0, rules));
    }
  }
  // From the last group to the first: `list` is what may follow this group.
  const std::size_t groups = (size + kFreeMembers - 1) / kFreeMembers;
  GroupStart list = {ends[0], ends[0]};
  for (std::size_t group = groups; group-- > 0;) {
    if (rules.exprs.size() > max_exprs) break;
    const std::size_t first = group * kFreeMembers;
    list = any_order_group(parts, members, first,
                           std::min(kFreeMembers, size - first), ends,
                           list.first, rules);
    // The group before this one ends where this one begins, whichever of its
    // members have come.
    ends.assign(ends.size(), list.later);
  }
  AnyOrder out;
  if (parts.separator.empty()) {
    out.list = rules.sequence({more, list.later});
  } else if (free_extras) {
    // Undeclared members may come first.
    out.list =
        rules.choice({list.first, rules.sequence({extra, more, list.later})});
  } else {
    out.list = list.first;
  }
  if (size > kFreeMembers) {
    out.narrowed =
        "Of more than 8 members each 8, in the order of the schema, come "
        "before the next ones.";
  } else if (bounded && parts.extra != kNoExpr && size > 0) {
    out.narrowed =
        "Since their number matters, members that are not declared come after "
        "those that are.";
  }
  return out;
}

}  // namespace parlance::arguments
