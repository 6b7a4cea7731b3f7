// Copies languages from one table to another.
//
// Entries refer to earlier entries of their table only, so what a language
// needs is found by a search, sorted, and interned in that order.  The copies
// are in the normal form of the constructors, because the originals are.

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automata/language.h"
#include "automata/language_expressions.h"
#include "base/work.h"

namespace parlance::automata {
namespace {

// The ids that are needed for `root`, ascending, without those that are known.
// `each` calls its second argument with each id that an entry refers to.
template <class Id, class Known, class Each>
std::vector<Id> needed(Id root, const Known& known, const Each& each) {
  std::vector<Id> out;
  std::unordered_map<Id, bool> seen;
  std::vector<Id> pending;
  const auto meet = [&](Id id) {
    if (!known.contains(id) && seen.try_emplace(id).second) {
      pending.push_back(id);
    }
  };
  meet(root);
  while (!pending.empty()) {
    const Id id = pending.back();
    pending.pop_back();
    out.push_back(id);
    each(id, meet);
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

TrieId Expressions::copy_trie(const Expressions& from, TrieId trie,
                              Copies& known) {
  known.tries.try_emplace(kTrieEnd, kTrieEnd);
  const auto each = [&](TrieId id, const auto& meet) {
    for (const TrieEdge& edge : from.tries_[id]) meet(edge.next);
  };
  for (const TrieId id : needed(trie, known.tries, each)) {
    std::vector<TrieEdge> edges = from.tries_[id];
    for (TrieEdge& edge : edges) edge.next = known.tries.at(edge.next);
    const TrieId made = intern_trie(std::move(edges));
    if (from.plain_[id] != Plain::kNone) plain_[made] = from.plain_[id];
    if (from.alike_[id]) alike_[made] = true;
    known.tries.emplace(id, made);
  }
  return known.tries.at(trie);
}

ItemId Expressions::copy_item(const Expressions& from, ItemId item,
                              Copies& known) {
  known.items.try_emplace(kNoItem, kNoItem);
  known.items.try_emplace(kEmptyItem, kEmptyItem);
  const auto each = [&](ItemId id, const auto& meet) {
    for (const ItemId child : from.items_[id].children) meet(child);
  };
  for (const ItemId id : needed(item, known.items, each)) {
    const Item& of = from.items_[id];
    Item made{.kind = of.kind,
              .negative = of.negative,
              .assertion = of.assertion,
              .trie = copy_trie(from, of.trie, known),
              .min = of.min,
              .max = of.max};
    for (const ItemId child : of.children) {
      made.children.push_back(known.items.at(child));
    }
    if (of.kind == ItemKind::kAlternation) std::ranges::sort(made.children);
    known.items.emplace(id, intern_item(std::move(made)));
  }
  return known.items.at(item);
}

ExprId Expressions::copy(const Expressions& from, ExprId expr, Copies& known) {
  for (const ExprId id : {kNoText, kEmptyText, kAnyText}) {
    known.exprs.try_emplace(id, id);
  }
  const auto is_list = [](const Expr& of) {
    return of.kind == ExprKind::kOr || of.kind == ExprKind::kAnd;
  };
  const auto operands_of = [&](ExprId id) {
    return std::span(from.operands(id), from.exprs_[id].count);
  };
  const auto each = [&](ExprId id, const auto& meet) {
    const Expr& of = from.exprs_[id];
    if (is_list(of)) {
      std::ranges::for_each(operands_of(id), meet);
    } else {
      meet(of.b);
    }
  };
  for (const ExprId id : needed(expr, known.exprs, each)) {
    base::spend_work();
    const Expr& of = from.exprs_[id];
    Expr made{.kind = of.kind, .a = of.a, .min = of.min, .max = of.max};
    std::vector<ExprId> operands;
    if (is_list(of)) {
      for (const ExprId operand : operands_of(id)) {
        operands.push_back(known.exprs.at(operand));
      }
      std::ranges::sort(operands);
    } else {
      made.b = known.exprs.at(of.b);
    }
    if (of.kind == ExprKind::kChar) {
      made.a = copy_trie(from, TrieId(of.a), known).value();
    } else if (of.kind == ExprKind::kRepeat) {
      made.a = copy_item(from, ItemId(of.a), known).value();
    }
    known.exprs.emplace(id, intern(made, operands));
  }
  return known.exprs.at(expr);
}

struct Languages::Copies {
  Expressions::Copies known;
};

Languages::Copier::Copier(const Languages& from, Languages& to)
    : from_(from), to_(to), copies_(std::make_unique<Copies>()) {}
Languages::Copier::~Copier() = default;

LanguageId Languages::Copier::language(LanguageId language) {
  return to_.expressions_->copy(*from_.expressions_, language, copies_->known);
}

StateId Languages::Copier::state(StateId state) {
  if (state == kDeadState) return state;
  const State& of = from_.states_[state];
  const StateId made = to_.state_of(language(of.expression), of.utf8);
  // Every state but the dead one is live, which may have taken a search.
  if (made != kDeadState) to_.states_[made].life = Life::kLive;
  return made;
}

}  // namespace parlance::automata
