// Copies of rules by inherited temperature: see temperatures.h.

#include "rules/temperatures.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace parlance::rules {
namespace {

class Inheritance {
 public:
  Inheritance(const Rules& from, const RulesLimits& limits)
      : from_(from), limits_(limits) {
    out_.texts = from.texts;
    out_.classes = from.classes;
    out_.regexes = from.regexes;
    out_.substrings = from.substrings;
    out_.token_sets = from.token_sets;
    out_.schemas = from.schemas;
    out_.markers = from.markers;
    out_.names = from.names;
  }

  // A copy that was asked for gets its body later, so recursive rules end.
  std::optional<Rules> run() {
    out_.root = copy_of(from_.root, std::nullopt);
    for (std::size_t next = 0; next < asked_.size(); ++next) {
      if (!out_.within(limits_)) return std::nullopt;
      const auto [rule, made] = asked_[next];
      const Rule& original = from_.rules[rule];
      temperature_ = out_.rules[made].options.temperature;
      if (original.body != kNoExpr) {
        const ExprId body = expression(original.body);
        out_.rules[made].body = body;
      }
      if (original.options.marker != kNoExpr) {
        const ExprId marker = expression(original.options.marker);
        out_.rules[made].options.marker = marker;
      }
    }
    if (!out_.within(limits_)) return std::nullopt;
    return std::move(out_);
  }

 private:
  RuleId copy_of(RuleId rule, std::optional<double> inherited) {
    if (rule == kNoRule) return kNoRule;
    const Rule& original = from_.rules[rule];
    const std::optional<double> own =
        original.options.temperature ? original.options.temperature : inherited;
    const auto [known, added] = copies_.try_emplace(
        {rule, own}, static_cast<RuleId>(out_.rules.size()));
    if (added) {
      Rule copy = original;
      copy.body = kNoExpr;
      copy.options.marker = kNoExpr;
      copy.options.temperature = own;
      out_.rules.push_back(std::move(copy));
      asked_.emplace_back(rule, known->second);
    }
    return known->second;
  }

  // Copies the tree below `root`.  An expression is met twice: first its
  // children are scheduled, then, with their copies on top of `made`, it is
  // copied itself.
  ExprId expression(ExprId root) {
    std::vector<std::pair<ExprId, bool>> left = {{root, false}};
    std::vector<ExprId> made;
    while (!left.empty()) {
      const auto [id, children_made] = left.back();
      const Expr& original = from_.exprs[id];
      if (!children_made && !original.children.empty()) {
        left.back().second = true;
        for (auto child = original.children.rbegin();
             child != original.children.rend(); ++child) {
          left.emplace_back(*child, false);
        }
        continue;
      }
      left.pop_back();
      Expr copy = original;
      const auto first =
          made.end() - static_cast<std::ptrdiff_t>(original.children.size());
      copy.children.assign(first, made.end());
      made.erase(first, made.end());
      rename(copy);
      made.push_back(static_cast<ExprId>(out_.exprs.size()));
      out_.exprs.push_back(std::move(copy));
    }
    return made.back();
  }

  // Replaces the rules that `expr` uses by their copies.
  void rename(Expr& expr) {
    if (expr.kind == ExprKind::kRule) {
      expr.index = copy_of(expr.rule(), temperature_);
    } else if (expr.kind == ExprKind::kFreeText) {
      FreeTextExpr text = from_.free_texts[expr.index];
      for (auto& trigger : text.triggers) {
        trigger.rule = copy_of(trigger.rule, temperature_);
      }
      expr.index = static_cast<std::uint32_t>(out_.free_texts.size());
      out_.free_texts.push_back(std::move(text));
    } else if (expr.kind == ExprKind::kTokenText) {
      TokenTextExpr text = from_.token_texts[expr.index];
      for (auto& trigger : text.triggers) {
        trigger.rule = copy_of(trigger.rule, temperature_);
      }
      expr.index = static_cast<std::uint32_t>(out_.token_texts.size());
      out_.token_texts.push_back(std::move(text));
    }
  }

  const Rules& from_;
  const RulesLimits limits_;
  Rules out_;
  std::map<std::pair<RuleId, std::optional<double>>, RuleId> copies_;
  std::vector<std::pair<RuleId, RuleId>> asked_;  // a rule, and its copy
  std::optional<double> temperature_;  // of the copy that gets its body
};

}  // namespace

bool has_temperatures(const Rules& rules) {
  return std::ranges::any_of(rules.rules, [](const Rule& rule) {
    return rule.options.temperature.has_value();
  });
}

std::optional<Rules> inherit_temperatures(const Rules& rules,
                                          const RulesLimits& limits) {
  return Inheritance(rules, limits).run();
}

}  // namespace parlance::rules
