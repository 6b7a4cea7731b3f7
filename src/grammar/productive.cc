// The productive symbols of a context-free grammar, by a worklist: an
// expression becomes productive once, and then tells the expressions that use
// it: each time that they do, since a sequence may have a part twice.

#include "grammar/productive.h"

#include <cstddef>
#include <cstdint>

namespace parlance::grammar {

using rules::Expr;
using rules::ExprId;
using rules::ExprKind;
using rules::kNoId;

std::vector<bool> productive_exprs(const rules::Rules& rules,
                                   const std::vector<bool>& empty_schemas) {
  const std::size_t size = rules.exprs.size();
  std::vector<bool> out(size);
  // How many parts an expression still waits for.
  std::vector<std::uint32_t> missing(size, 1);
  // users[first_user[id]..first_user[id + 1]): the expressions with the child
  // `id`, as often as they have it.
  std::vector<std::uint32_t> first_user(size + 1);
  for (const Expr& expr : rules.exprs) {
    for (const ExprId child : expr.children) ++first_user[child + 1];
  }
  for (std::size_t i = 0; i < size; ++i) first_user[i + 1] += first_user[i];
  std::vector<ExprId> users(first_user[size]);
  std::vector<std::uint32_t> next(first_user.begin(), first_user.end() - 1);
  std::vector<std::vector<ExprId>> references(rules.rules.size());
  std::vector<std::vector<rules::RuleId>> rules_of_body(size);
  std::vector<ExprId> ready;

  for (ExprId id = 0; id < size; ++id) {
    const Expr& expr = rules.exprs[id];
    for (const ExprId child : expr.children) users[next[child]++] = id;
    switch (expr.kind) {
      case ExprKind::kSequence:
        missing[id] = static_cast<std::uint32_t>(expr.children.size());
        break;
      case ExprKind::kChoice:
        continue;
      case ExprKind::kRepeat:
        if (expr.min != 0) continue;
        break;
      case ExprKind::kRule:
        references[expr.index].push_back(id);
        continue;
      case ExprKind::kClass:
        if (rules.classes[expr.index].empty()) continue;
        break;
      case ExprKind::kSchema:
        if (empty_schemas[expr.index]) continue;
        break;
      default:
        break;
    }
    if (expr.kind != ExprKind::kSequence || missing[id] == 0) {
      ready.push_back(id);
    }
  }
  for (rules::RuleId id = 0; id < rules.rules.size(); ++id) {
    const ExprId body = rules.rules[id].body;
    if (body != kNoId) rules_of_body[body].push_back(id);
  }

  // Invariant: every expression that is productive by what was seen so far is
  // marked, or is in `ready`.
  while (!ready.empty()) {
    const ExprId id = ready.back();
    ready.pop_back();
    if (out[id]) continue;
    out[id] = true;
    for (const rules::RuleId rule : rules_of_body[id]) {
      ready.insert(ready.end(), references[rule].begin(),
                   references[rule].end());
    }
    for (std::uint32_t i = first_user[id]; i < first_user[id + 1]; ++i) {
      const ExprId user = users[i];
      if (!out[user] && --missing[user] == 0) ready.push_back(user);
    }
  }
  return out;
}

}  // namespace parlance::grammar
