// The productive symbols of a context-free grammar, by a worklist.  When an
// expression becomes productive, each expression that uses it lacks one part
// less, for each use: a sequence may have a part twice.  One that lacks none is
// productive.  So the work is linear in the size of the grammar.

#include "grammar/productive.h"

#include <cstddef>
#include <cstdint>

namespace parlance::grammar {
namespace {

using rules::Expr;
using rules::ExprId;
using rules::ExprKind;
using rules::Rules;

// Whether the expression itself has no text, whatever its parts are.
bool fails(const Rules& rules, const Expr& expr,
           const std::vector<bool>& empty_schemas) {
  switch (expr.kind) {
    case ExprKind::kChoice:
      return expr.children.empty();
    case ExprKind::kClass:
      return rules.classes[expr.index].empty();
    case ExprKind::kSchema:
      return empty_schemas[expr.index];
    default:
      return false;
  }
}

// Whether nothing fails, and each rule is used after its body only: then every
// expression has a text.
bool all_productive(const Rules& rules,
                    const std::vector<bool>& empty_schemas) {
  for (ExprId id; id < rules.exprs.size(); ++id) {
    const Expr& expr = rules.exprs[id];
    if (fails(rules, expr, empty_schemas)) return false;
    if (expr.kind == ExprKind::kRule && rules.rules[expr.rule()].body >= id) {
      return false;
    }
  }
  return true;
}

// Calls `visit` with the expressions that `expr` needs: all of them for a
// sequence, one of them for a choice.
template <class Visit>
void for_each_part(const Rules& rules, const Expr& expr, const Visit& visit) {
  if (expr.kind == ExprKind::kRule) {
    const ExprId body = rules.rules[expr.rule()].body;
    if (body != rules::kNoExpr) visit(body);
    return;
  }
  for (const ExprId child : expr.children) visit(child);
}

}  // namespace

std::vector<bool> productive_exprs(const Rules& rules,
                                   const std::vector<bool>& empty_schemas) {
  const std::size_t size = rules.exprs.size();
  if (all_productive(rules, empty_schemas)) {
    return std::vector<bool>(size, true);
  }
  // users[first_user[id]..first_user[id + 1]): the expressions with the part
  // `id`, as often as they have it.
  std::vector<std::uint32_t> first_user(size + 1);
  for (const Expr& expr : rules.exprs) {
    for_each_part(rules, expr, [&](ExprId part) { ++first_user[part + 1]; });
  }
  for (std::size_t i = 0; i < size; ++i) first_user[i + 1] += first_user[i];
  std::vector<ExprId> users(first_user[size]);
  std::vector<std::uint32_t> next(first_user.begin(), first_user.end() - 1);
  // How many parts an expression still waits for.
  std::vector<std::uint32_t> missing(size, 1);
  std::vector<ExprId> ready;
  ready.reserve(size);
  for (ExprId id; id < size; ++id) {
    const Expr& expr = rules.exprs[id];
    for_each_part(rules, expr, [&](ExprId part) { users[next[part]++] = id; });
    bool waits = fails(rules, expr, empty_schemas);
    if (expr.kind == ExprKind::kSequence) {
      missing[id] = static_cast<std::uint32_t>(expr.children.size());
      waits = missing[id] > 0;
    } else if (expr.kind == ExprKind::kChoice || expr.kind == ExprKind::kRule) {
      waits = true;
    } else if (expr.kind == ExprKind::kRepeat) {
      waits = expr.min > 0;
    }
    if (!waits) ready.push_back(id);
  }

  // Invariant: every expression that is productive by what was seen so far is
  // marked, or is in `ready`.
  std::vector<bool> out(size);
  while (!ready.empty()) {
    const ExprId id = ready.back();
    ready.pop_back();
    if (out[id]) continue;
    out[id] = true;
    for (std::uint32_t i = first_user[id]; i < first_user[id + 1]; ++i) {
      const ExprId user = users[i];
      if (!out[user] && --missing[user] == 0) ready.push_back(user);
    }
  }
  return out;
}

}  // namespace parlance::grammar
