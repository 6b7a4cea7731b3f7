// Making, joining and checking Rules; see rules.h.

#include "grammar/rules.h"

#include <algorithm>
#include <unordered_set>

namespace parlance::grammar {

bool TokenSetExpr::contains(Token token) const {
  bool listed = false;
  for (const Range& range : ranges) {
    listed = listed || (token >= range.first && token <= range.last);
  }
  return listed != negated;
}

ExprId Rules::add(ExprKind kind, std::size_t index) {
  Expr expr;
  expr.kind = kind;
  expr.index = static_cast<std::uint32_t>(index);
  exprs.push_back(std::move(expr));
  return static_cast<ExprId>(exprs.size() - 1);
}

ExprId Rules::empty() { return add(ExprKind::kEmpty, 0); }

ExprId Rules::bytes(std::string_view text) {
  if (text.empty()) return empty();
  texts.emplace_back(text);
  return add(ExprKind::kBytes, texts.size() - 1);
}

ExprId Rules::char_class(regex::CharClass set) {
  classes.push_back(std::move(set));
  return add(ExprKind::kClass, classes.size() - 1);
}

ExprId Rules::sequence(std::vector<ExprId> parts) {
  if (parts.empty()) return empty();
  if (parts.size() == 1) return parts[0];
  ExprId id = add(ExprKind::kSequence, 0);
  exprs[id].children = std::move(parts);
  return id;
}

ExprId Rules::choice(std::vector<ExprId> parts) {
  if (parts.size() == 1) return parts[0];
  ExprId id = add(ExprKind::kChoice, 0);
  exprs[id].children = std::move(parts);
  return id;
}

ExprId Rules::repeat(ExprId body, std::uint32_t min, std::uint32_t max) {
  if (min == 1 && max == 1) return body;
  if (max == 0) return empty();
  ExprId id = add(ExprKind::kRepeat, 0);
  exprs[id].min = min;
  exprs[id].max = max;
  exprs[id].children = {body};
  return id;
}

ExprId Rules::reference(RuleId rule) { return add(ExprKind::kRule, rule); }

ExprId Rules::regex(RegexExpr expr) {
  regexes.push_back(std::move(expr));
  return add(ExprKind::kRegex, regexes.size() - 1);
}

ExprId Rules::substring(std::vector<std::string> chunks) {
  substrings.push_back({std::move(chunks)});
  return add(ExprKind::kSubstring, substrings.size() - 1);
}

ExprId Rules::free_text(FreeTextExpr expr) {
  free_texts.push_back(std::move(expr));
  return add(ExprKind::kFreeText, free_texts.size() - 1);
}

ExprId Rules::tokens(TokenSetExpr expr) {
  token_sets.push_back(std::move(expr));
  return add(ExprKind::kTokens, token_sets.size() - 1);
}

ExprId Rules::token_text(TokenTextExpr expr) {
  token_texts.push_back(std::move(expr));
  return add(ExprKind::kTokenText, token_texts.size() - 1);
}

ExprId Rules::schema(SchemaExpr expr) {
  schemas.push_back(std::move(expr));
  return add(ExprKind::kSchema, schemas.size() - 1);
}

RuleId Rules::find(std::string_view name) const {
  for (RuleId i = 0; i < rules.size(); ++i) {
    if (rules[i].name == name) return i;
  }
  return kNoId;
}

RuleId Rules::add_rule(std::string_view name) {
  std::string chosen(name);
  for (std::size_t n = 1; find(chosen) != kNoId; ++n) {
    chosen = std::string(name) + "_" + std::to_string(n);
  }
  Rule rule;
  rule.name = std::move(chosen);
  rules.push_back(std::move(rule));
  return static_cast<RuleId>(rules.size() - 1);
}

RuleId Rules::append(const Rules& other) {
  const auto expr_base = static_cast<std::uint32_t>(exprs.size());
  const auto rule_base = static_cast<std::uint32_t>(rules.size());
  auto base_of = [&](ExprKind kind) -> std::size_t {
    switch (kind) {
      case ExprKind::kBytes:
        return texts.size();
      case ExprKind::kClass:
        return classes.size();
      case ExprKind::kRule:
        return rule_base;
      case ExprKind::kRegex:
        return regexes.size();
      case ExprKind::kSubstring:
        return substrings.size();
      case ExprKind::kFreeText:
        return free_texts.size();
      case ExprKind::kTokens:
        return token_sets.size();
      case ExprKind::kTokenText:
        return token_texts.size();
      case ExprKind::kSchema:
        return schemas.size();
      default:
        return 0;
    }
  };
  exprs.reserve(exprs.size() + other.exprs.size());
  for (const Expr& from : other.exprs) {
    Expr expr = from;
    expr.index += static_cast<std::uint32_t>(base_of(expr.kind));
    for (ExprId& child : expr.children) child += expr_base;
    exprs.push_back(std::move(expr));
  }
  // Names in one set: looking each up by find() would be quadratic.
  std::unordered_set<std::string> taken;
  for (const Rule& rule : rules) taken.insert(rule.name);
  for (const Rule& from : other.rules) {
    Rule rule = from;
    for (std::size_t n = 1; !taken.insert(rule.name).second; ++n) {
      rule.name = from.name + "_" + std::to_string(n);
    }
    if (rule.body != kNoId) rule.body += expr_base;
    if (rule.options.marker != kNoId) rule.options.marker += expr_base;
    rules.push_back(std::move(rule));
  }
  auto copy = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  copy(texts, other.texts);
  copy(classes, other.classes);
  copy(regexes, other.regexes);
  copy(substrings, other.substrings);
  copy(token_sets, other.token_sets);
  copy(schemas, other.schemas);
  for (FreeTextExpr text : other.free_texts) {
    for (auto& trigger : text.triggers) trigger.rule += rule_base;
    free_texts.push_back(std::move(text));
  }
  for (TokenTextExpr text : other.token_texts) {
    for (auto& trigger : text.triggers) trigger.rule += rule_base;
    token_texts.push_back(std::move(text));
  }
  return rule_base + other.root;
}

namespace {

Rules combined(const std::vector<Rules>& parts, bool in_order) {
  Rules out;
  RuleId root = out.add_rule("root");
  std::vector<ExprId> references;
  for (const Rules& part : parts) {
    RuleId rule = out.append(part);
    references.push_back(out.reference(rule));
  }
  out.rules[root].body = in_order ? out.sequence(std::move(references))
                                  : out.choice(std::move(references));
  out.root = root;
  return out;
}

// Whether the rules that a lazy rule is made of form one automaton.
class LazyCheck {
 public:
  explicit LazyCheck(const Rules& rules)
      : rules_(rules), mark_(rules.rules.size(), 0) {}

  std::optional<std::string> run(RuleId rule) {
    // A call that is not at the end may not lead back to a rule that is open.
    // The calls are walked with a stack of its own: (rule, next call).
    struct Open {
      RuleId rule;
      std::vector<Call> calls;
      std::size_t next = 0;
      bool behind_tail = true;  // entered by a call at the end
    };
    std::vector<Open> stack;
    auto enter = [&](RuleId id, bool tail) {
      mark_[id] = 1;
      stack.push_back({id, calls_of(id), 0, tail});
    };
    enter(rule, true);
    std::vector<RuleId> seen;
    while (!stack.empty()) {
      Open& top = stack.back();
      if (top.next == top.calls.size()) {
        mark_[top.rule] = 2;
        seen.push_back(top.rule);
        stack.pop_back();
        continue;
      }
      Call call = top.calls[top.next++];
      const Rule& callee = rules_.rules[call.rule];
      if (call.rule == rule || callee.options.lazy ||
          callee.options.limited() || callee.options.marker != kNoId) {
        reset(stack, seen);
        return "uses rule \"" + callee.name +
               "\", which ends by a rule of its own";
      }
      if (mark_[call.rule] == 1) {
        // A loop.  It is one of an automaton when all its calls are last.
        bool tail = call.tail;
        for (std::size_t i = stack.size();
             tail && i-- > 0 && stack[i].rule != call.rule;) {
          tail = stack[i].behind_tail;
        }
        if (!tail) {
          reset(stack, seen);
          return "uses rule \"" + callee.name +
                 "\", which calls itself from inside";
        }
      } else if (mark_[call.rule] == 0) {
        enter(call.rule, call.tail);
      }
    }
    reset(stack, seen);
    return std::nullopt;
  }

 private:
  struct Call {
    RuleId rule = kNoId;
    bool tail = false;
  };

  template <class Stack>
  void reset(const Stack& stack, const std::vector<RuleId>& seen) {
    for (const auto& open : stack) mark_[open.rule] = 0;
    for (RuleId id : seen) mark_[id] = 0;
  }

  std::vector<Call> calls_of(RuleId id) const {
    std::vector<Call> calls;
    struct Place {
      ExprId expr;
      bool tail;
    };
    std::vector<Place> left{{rules_.rules[id].body, true}};
    while (!left.empty()) {
      auto [expr_id, tail] = left.back();
      left.pop_back();
      const Expr& expr = rules_.exprs[expr_id];
      switch (expr.kind) {
        case ExprKind::kRule:
          calls.push_back({expr.index, tail});
          break;
        case ExprKind::kSequence:
          for (std::size_t i = 0; i < expr.children.size(); ++i) {
            left.push_back(
                {expr.children[i], tail && i + 1 == expr.children.size()});
          }
          break;
        case ExprKind::kFreeText:
          for (const auto& trigger : rules_.free_texts[expr.index].triggers) {
            calls.push_back(
                {trigger.rule, tail && !rules_.free_texts[expr.index].loop});
          }
          break;
        default:
          for (ExprId child : expr.children) {
            left.push_back({child, tail && expr.kind == ExprKind::kChoice});
          }
          break;
      }
    }
    return calls;
  }

  const Rules& rules_;
  std::vector<unsigned char> mark_;  // 0 new, 1 open, 2 done
};

}  // namespace

Rules union_of(const std::vector<Rules>& parts) {
  return combined(parts, false);
}

Rules concat_of(const std::vector<Rules>& parts) {
  return combined(parts, true);
}

std::optional<NotLazy> find_not_lazy(const Rules& rules) {
  LazyCheck check(rules);
  for (RuleId id = 0; id < rules.rules.size(); ++id) {
    const RuleOptions& options = rules.rules[id].options;
    if (!options.lazy && options.marker == kNoId) continue;
    if (std::optional<std::string> why = check.run(id)) {
      return NotLazy{id, std::move(*why)};
    }
  }
  return std::nullopt;
}

}  // namespace parlance::grammar
