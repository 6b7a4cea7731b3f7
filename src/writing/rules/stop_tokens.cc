// See stop_tokens.h.

#include "rules/stop_tokens.h"

#include <algorithm>
#include <string>
#include <vector>

namespace parlance::rules {

namespace {

class StopTokens {
 public:
  StopTokens(const Rules& rules, const std::function<bool(Token)>& is_stop,
             const std::function<std::optional<Token>(const std::string&)>&
                 ends_with_stop)
      : rules_(rules), is_stop_(is_stop), ends_with_stop_(ends_with_stop) {}

  // Whether any stop token is named: most grammars name none.
  bool any() const {
    return std::ranges::any_of(
               rules_.token_sets,
               [&](const auto& set) { return stop_of(set).has_value(); }) ||
           std::ranges::any_of(rules_.token_texts,
                               [&](const TokenTextExpr& text) {
                                 return std::ranges::any_of(
                                     text.triggers, [&](const auto& one) {
                                       return is_stop_(one.token);
                                     });
                               }) ||
           std::ranges::any_of(
               rules_.free_texts, [&](const FreeTextExpr& text) {
                 return text.markers &&
                        std::ranges::any_of(
                            text.triggers, [&](const auto& one) {
                              return ends_with_stop_(one.text).has_value();
                            });
               });
  }

  std::optional<Error> check() {
    find_nullable();
    find_last();
    for (ExprId id; id < rules_.exprs.size(); ++id) {
      const Expr& expr = rules_.exprs[id];
      if (!used_[id]) continue;
      if (expr.kind == ExprKind::kTokens) {
        const auto stop = stop_of(rules_.token_sets[expr.index]);
        if (stop && !last_[id]) {
          return error(*stop, "has it as the end of a tag");
        }
      } else if (expr.kind == ExprKind::kTokenText) {
        for (const auto& one : rules_.token_texts[expr.index].triggers) {
          if (is_stop_(one.token) && !ends_after(id, one.rule)) {
            return error(one.token, "has it as a trigger");
          }
        }
      } else if (expr.kind == ExprKind::kFreeText &&
                 rules_.free_texts[expr.index].markers) {
        for (const auto& one : rules_.free_texts[expr.index].triggers) {
          const auto stop = ends_with_stop_(one.text);
          if (stop && !ends_after(id, one.rule)) {
            return error(*stop, "has it at the end of a trigger");
          }
        }
      }
    }
    return std::nullopt;
  }

 private:
  // The stop token that a set is, if it is the end marker of a tag.
  std::optional<Token> stop_of(const TokenSetExpr& set) const {
    if (!set.ends_tag || !is_stop_(set.ranges.front().first)) {
      return std::nullopt;
    }
    return set.ranges.front().first;
  }

  bool ends_after(ExprId text, RuleId rule) const {
    return last_[text] && nullable_rule_[rule];
  }

  static Error error(Token id, const std::string& how) {
    return {ErrorCode::kConflict,
            "The token " + std::to_string(id) +
                " ends a text, and the grammar " + how +
                " where something must follow, so it could never come there. "
                "Name another token, or compile with stop_ids that do not have "
                "it."};
  }

  // What may be empty, as a least fixed point; the text of a schema may be.
  bool find_nullable_of(const Expr& expr) const {
    const auto nullable = [&](ExprId id) { return bool{nullable_[id]}; };
    switch (expr.kind) {
      case ExprKind::kEmpty:
      case ExprKind::kSubstring:
      case ExprKind::kFreeText:
      case ExprKind::kTokenText:
      case ExprKind::kSchema:
      case ExprKind::kRegex:
        return true;
      case ExprKind::kSequence:
        return std::ranges::all_of(expr.children, nullable);
      case ExprKind::kChoice:
        return std::ranges::any_of(expr.children, nullable);
      case ExprKind::kRepeat:
        return expr.min == 0 || nullable(expr.children[0]);
      case ExprKind::kRule:
        return nullable_rule_[expr.index];
      default:
        return false;
    }
  }
  void find_nullable() {
    nullable_.assign(rules_.exprs.size(), false);
    nullable_rule_.assign(rules_.rules.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      for (ExprId id; id < rules_.exprs.size(); ++id) {
        if (nullable_[id] || !find_nullable_of(rules_.exprs[id])) continue;
        nullable_[id] = changed = true;
      }
      for (RuleId id; id < rules_.rules.size(); ++id) {
        const Rule& rule = rules_.rules[id];
        if (nullable_rule_[id] || rule.body == kNoExpr) continue;
        const ExprId marker = rule.options.marker;
        if (!nullable_[rule.body] || (marker != kNoExpr && !nullable_[marker] &&
                                      !rule.options.marker_optional)) {
          continue;
        }
        nullable_rule_[id] = changed = true;
      }
    }
  }

  // What the rules use, and what the text may end after, in some use.
  void find_last() {
    used_.assign(rules_.exprs.size(), false);
    last_.assign(rules_.exprs.size(), false);
    reach_rule(rules_.root, true);
    while (!left_.empty()) {
      const ExprId id = left_.back();
      left_.pop_back();
      const Expr& expr = rules_.exprs[id];
      const bool last = last_[id];
      switch (expr.kind) {
        case ExprKind::kSequence: {
          bool rest = last;
          for (std::size_t i = expr.children.size(); i-- > 0;) {
            reach(expr.children[i], rest);
            rest = rest && nullable_[expr.children[i]];
          }
          break;
        }
        case ExprKind::kChoice:
        case ExprKind::kRepeat:
          for (const ExprId child : expr.children) reach(child, last);
          break;
        case ExprKind::kRule:
          reach_rule(expr.rule(), last);
          break;
        case ExprKind::kFreeText:
          for (const auto& one : rules_.free_texts[expr.index].triggers) {
            reach_rule(one.rule, last);
          }
          break;
        case ExprKind::kTokenText:
          for (const auto& one : rules_.token_texts[expr.index].triggers) {
            reach_rule(one.rule, last);
          }
          break;
        default:
          break;
      }
    }
  }
  void reach(ExprId id, bool last) {
    if (used_[id] && (last_[id] || !last)) return;
    used_[id] = true;
    last_[id] = last_[id] || last;
    left_.push_back(id);
  }
  void reach_rule(RuleId id, bool last) {
    const Rule& rule = rules_.rules[id];
    if (rule.body == kNoExpr) return;
    const ExprId marker = rule.options.marker;
    if (marker != kNoExpr) reach(marker, last);
    // A body that has used up its budget ends without the marker.
    reach(rule.body, last);
  }

  const Rules& rules_;
  const std::function<bool(Token)>& is_stop_;
  const std::function<std::optional<Token>(const std::string&)>&
      ends_with_stop_;
  std::vector<bool> nullable_;  // by expression
  std::vector<bool> nullable_rule_;
  std::vector<bool> used_;
  std::vector<bool> last_;
  std::vector<ExprId> left_;
};

}  // namespace

std::optional<Error> check_stop_tokens(
    const Rules& rules, const std::function<bool(Token)>& is_stop,
    const std::function<std::optional<Token>(const std::string&)>&
        ends_with_stop) {
  StopTokens stops(rules, is_stop, ends_with_stop);
  if (!stops.any()) return std::nullopt;
  return stops.check();
}

}  // namespace parlance::rules
