// Making, joining and checking Rules; see rules.h.

#include "rules/rules.h"

#include <algorithm>

#include "rules/nesting.h"

namespace parlance::rules {

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

ExprId Rules::marker(std::string_view text, std::size_t from, bool exact) {
  if (from >= text.size()) return empty();
  const ExprId id = bytes(text.substr(from));
  exprs[id].marker = static_cast<std::uint32_t>(markers.size());
  markers.push_back({std::string(text), from, exact});
  return id;
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
  if (chunks.empty()) return empty();
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
  for (RuleId i; i < rules.size(); ++i) {
    if (rules[i].name == name) return i;
  }
  return kNoRule;
}

RuleId Rules::add_rule(std::string_view name) {
  Rule rule;
  rule.name = std::string(name);
  rules.push_back(std::move(rule));
  return static_cast<RuleId>(rules.size() - 1);
}

namespace {

// The size of the table that Expr::index of this kind refers to.
std::size_t table_size(const Rules& rules, ExprKind kind) {
  switch (kind) {
    case ExprKind::kBytes:
      return rules.texts.size();
    case ExprKind::kClass:
      return rules.classes.size();
    case ExprKind::kRule:
      return rules.rules.size();
    case ExprKind::kRegex:
      return rules.regexes.size();
    case ExprKind::kSubstring:
      return rules.substrings.size();
    case ExprKind::kFreeText:
      return rules.free_texts.size();
    case ExprKind::kTokens:
      return rules.token_sets.size();
    case ExprKind::kTokenText:
      return rules.token_texts.size();
    case ExprKind::kSchema:
      return rules.schemas.size();
    default:
      return 0;
  }
}

}  // namespace

// Appends each table of `other` to the table of this.  An index into a table
// grows by the size that the table has before; so expressions and rules, which
// contain the indices, are copied while the other tables are still as they
// were.
RuleId Rules::append(const Rules& other) {
  const auto expr_base = static_cast<std::uint32_t>(exprs.size());
  const auto rule_base = static_cast<std::uint32_t>(rules.size());
  for (const Expr& from : other.exprs) {
    Expr expr = from;
    expr.index += static_cast<std::uint32_t>(table_size(*this, expr.kind));
    for (ExprId& child : expr.children) child = ExprId(child + expr_base);
    if (expr.marker != Expr::kNoMarker) {
      expr.marker += static_cast<std::uint32_t>(markers.size());
    }
    exprs.push_back(std::move(expr));
  }
  for (const Rule& from : other.rules) {
    Rule rule = from;
    for (ExprId* id : {&rule.body, &rule.options.marker}) {
      if (*id != kNoExpr) *id = ExprId(*id + expr_base);
    }
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
  copy(markers, other.markers);
  copy(names, other.names);
  for (FreeTextExpr text : other.free_texts) {
    for (auto& trigger : text.triggers) {
      trigger.rule = RuleId(trigger.rule + rule_base);
    }
    free_texts.push_back(std::move(text));
  }
  for (TokenTextExpr text : other.token_texts) {
    for (auto& trigger : text.triggers) {
      trigger.rule = RuleId(trigger.rule + rule_base);
    }
    token_texts.push_back(std::move(text));
  }
  return RuleId(rule_base + other.root);
}

bool has_markers(const Rules& rules) {
  return !rules.markers.empty() || !rules.names.empty() ||
         std::ranges::any_of(rules.free_texts, &FreeTextExpr::markers);
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

struct Call {
  RuleId rule = kNoRule;
  bool first = false;  // nothing precedes it in the rule
  bool last = false;   // nothing follows it in the rule
};

// The calls in an expression.  Invariant: for each entry of `left`, `first` and
// `last` say whether nothing precedes and nothing follows it in the whole
// expression.  A body that is repeated precedes and follows itself; a trigger
// comes after text, and before more of it if the text goes on.
void find_calls(const Rules& rules, ExprId root, std::vector<Call>& calls) {
  struct Place {
    ExprId expr;
    bool first;
    bool last;
  };
  std::vector<Place> left = {{root, true, true}};
  while (!left.empty()) {
    auto [expr_id, first, last] = left.back();
    left.pop_back();
    const Expr& expr = rules.exprs[expr_id];
    switch (expr.kind) {
      case ExprKind::kRule:
        calls.push_back({expr.rule(), first, last});
        break;
      case ExprKind::kSequence:
        for (std::size_t i = 0; i < expr.children.size(); ++i) {
          left.push_back({expr.children[i], first && i == 0,
                          last && i + 1 == expr.children.size()});
        }
        break;
      case ExprKind::kFreeText:
        for (const auto& trigger : rules.free_texts[expr.index].triggers) {
          calls.push_back({trigger.rule, false,
                           last && !rules.free_texts[expr.index].loop});
        }
        break;
      case ExprKind::kTokenText:
        for (const auto& trigger : rules.token_texts[expr.index].triggers) {
          calls.push_back({trigger.rule, false,
                           last && !rules.token_texts[expr.index].loop});
        }
        break;
      case ExprKind::kChoice:
        for (ExprId child : expr.children) left.push_back({child, first, last});
        break;
      case ExprKind::kRepeat: {
        const bool once = expr.max == 1;
        left.push_back({expr.children[0], first && once, last && once});
        break;
      }
      default:
        break;
    }
  }
}

// Whether the rules that a lazy rule uses form one finite automaton: a
// depth-first search for cycles that do not consist of last calls only.  A
// cycle of last calls is a loop; any other one has to remember how often it was
// entered, as in  r ::= "a" r "b" | "".  A rule that is valid in one lazy rule
// is valid in all, so each is visited once.
class LazyCheck {
 public:
  explicit LazyCheck(const Rules& rules)
      : rules_(rules), depth_(rules.rules.size(), kNew) {}

  // The reason if `rule` cannot be lazy.
  std::optional<std::string> run(RuleId rule) {
    // An explicit stack of the rules being visited.
    struct Open {
      RuleId rule;
      std::vector<Call> calls;
      std::size_t next = 0;
      // The position in the stack of the innermost rule, up to this one, that
      // was not called last.
      std::size_t not_last = 0;
    };
    std::vector<Open> stack;
    auto enter = [&](RuleId id, bool last) {
      const std::size_t below = stack.empty() ? 0 : stack.back().not_last;
      depth_[id] = static_cast<std::uint32_t>(stack.size());
      stack.push_back({id, calls_of(id), 0, last ? below : stack.size()});
    };
    if (depth_[rule] == kNew) enter(rule, true);
    while (!stack.empty()) {
      Open& top = stack.back();
      if (top.next == top.calls.size()) {
        depth_[top.rule] = kDone;
        stack.pop_back();
        continue;
      }
      const Call call = top.calls[top.next++];
      const Rule& callee = rules_.rules[call.rule];
      if (callee.options.lazy || callee.options.limited() ||
          callee.options.marker != kNoExpr) {
        return "uses rule \"" + callee.name +
               "\", which ends by a rule of its own";
      }
      if (depth_[call.rule] == kNew) {
        enter(call.rule, call.last);
      } else if (depth_[call.rule] != kDone &&
                 (!call.last || top.not_last > depth_[call.rule])) {
        // The cycle is the part of the stack from the callee on, and this call.
        // All of its calls are last if this one is, and if no rule above the
        // callee was entered by a call that was not.
        return "uses rule \"" + callee.name +
               "\", which calls itself from inside";
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t kNew = 0xFFFFFFFF;
  static constexpr std::uint32_t kDone = kNew - 1;

  std::vector<Call> calls_of(RuleId id) const {
    std::vector<Call> calls;
    if (rules_.rules[id].body != kNoExpr) {
      find_calls(rules_, rules_.rules[id].body, calls);
    }
    return calls;
  }

  const Rules& rules_;
  std::vector<std::uint32_t> depth_;  // on the stack, or kNew, kDone
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
  for (RuleId id; id < rules.rules.size(); ++id) {
    const RuleOptions& options = rules.rules[id].options;
    if (!options.lazy && options.marker == kNoExpr) continue;
    if (std::optional<std::string> why = check.run(id)) {
      return NotLazy{id, std::move(*why)};
    }
  }
  return std::nullopt;
}

namespace {

// A call nests if something may follow it in its rule, and advances in the text
// if something may precede it.
struct NestingEdge {
  RuleId to = {};
  bool inward = false;
  bool onward = false;
};

bool ends_early(const RuleOptions& options) {
  return options.finds_end() || options.limited();
}

// The calls of each rule; nothing if no rule is lazy or limited.
std::vector<std::vector<NestingEdge>> nesting_edges(const Rules& rules) {
  const auto any = [](const Rule& rule) { return ends_early(rule.options); };
  if (std::ranges::none_of(rules.rules, any)) return {};
  std::vector<std::vector<NestingEdge>> edges(rules.rules.size());
  for (RuleId id; id < rules.rules.size(); ++id) {
    const Rule& rule = rules.rules[id];
    std::vector<Call> calls;
    if (rule.body != kNoExpr) find_calls(rules, rule.body, calls);
    if (rule.options.marker != kNoExpr) {
      for (Call& call : calls) call.last = false;
      const std::size_t of_body = calls.size();
      find_calls(rules, rule.options.marker, calls);
      for (std::size_t i = of_body; i < calls.size(); ++i) {
        calls[i].first = false;
      }
    }
    for (const Call& call : calls) {
      const bool lazy = rules.rules[call.rule].options.finds_end();
      edges[id].push_back({call.rule, !call.last || lazy, !call.first});
    }
  }
  return edges;
}

}  // namespace

// A depth-first search that leaves a rule after the rules that it calls: the
// longest path in the graph, where each step into a lazy or limited rule that
// does not come last counts one.
std::optional<RuleId> find_deep_nesting(const Rules& rules, std::size_t most) {
  const std::vector<std::vector<NestingEdge>> edges = nesting_edges(rules);
  constexpr std::size_t kNew = ~std::size_t{0};
  // By rule: the nested lazy and limited rules inside, itself not included; 0
  // while it is open, as cycles are those of find_nesting().
  std::vector<std::size_t> inside(edges.size(), kNew);
  std::vector<std::pair<RuleId, std::size_t>> path;  // and its next edge
  for (RuleId root; root < edges.size(); ++root) {
    if (inside[root] != kNew) continue;
    inside[root] = 0;
    path.emplace_back(root, 0);
    while (!path.empty()) {
      const RuleId id = path.back().first;
      if (path.back().second == edges[id].size()) {
        path.pop_back();
        for (const NestingEdge& edge : edges[id]) {
          const bool nests =
              edge.inward && ends_early(rules.rules[edge.to].options);
          inside[id] =
              std::max(inside[id], inside[edge.to] + (nests ? 1U : 0U));
        }
        const bool counts = ends_early(rules.rules[id].options);
        if (inside[id] + (counts ? 1U : 0U) > most) return id;
        continue;
      }
      const RuleId to = edges[id][path.back().second++].to;
      if (inside[to] != kNew) continue;
      inside[to] = 0;
      path.emplace_back(to, 0);
    }
  }
  return std::nullopt;
}

std::vector<RuleId> find_nesting(const Rules& rules) {
  const std::vector<std::vector<NestingEdge>> edges = nesting_edges(rules);
  if (edges.empty()) return {};
  // A rule is found if a cycle through it contains a step of either kind.  The
  // search is over pairs of a rule and the kinds of steps on the way to it, of
  // which there are four for each rule.
  std::vector<RuleId> found;
  std::vector<std::uint8_t> seen;  // by rule: the kinds of paths to it, as bits
  for (RuleId id; id < rules.rules.size(); ++id) {
    if (!ends_early(rules.rules[id].options)) continue;
    seen.assign(rules.rules.size(), 0);
    std::vector<std::pair<RuleId, unsigned>> left = {{id, 0}};
    while (!left.empty()) {
      const auto [at, way] = left.back();
      left.pop_back();
      for (const NestingEdge& edge : edges[at]) {
        const unsigned next =
            way | (edge.inward ? 1U : 0U) | (edge.onward ? 2U : 0U);
        const auto bit = static_cast<std::uint8_t>(1U << next);
        if ((seen[edge.to] & bit) != 0) continue;
        seen[edge.to] |= bit;
        left.emplace_back(edge.to, next);
      }
    }
    if ((seen[id] & 1U << 3) != 0) found.push_back(id);
  }
  return found;
}

std::size_t memory_bytes(const Rules& rules) {
  std::size_t bytes = sizeof(Rules) + rules.prefix.capacity();
  // The overhead of one allocation.
  constexpr std::size_t kAllocation = 24;
  for (const Expr& expr : rules.exprs) {
    bytes += sizeof(Expr);
    if (expr.children.empty()) continue;
    bytes += expr.children.capacity() * sizeof(ExprId) + kAllocation;
  }
  for (const Rule& rule : rules.rules) {
    bytes += sizeof(Rule) + rule.name.capacity() + kAllocation;
  }
  for (const std::string& text : rules.texts) {
    bytes += sizeof(std::string) + text.capacity();
  }
  for (const regex::CharClass& one : rules.classes) {
    bytes += sizeof(one) + one.ranges().size() * sizeof(one.ranges()[0]);
  }
  for (const RegexExpr& one : rules.regexes) {
    bytes += sizeof(one) + one.source.capacity() +
             one.hir.nodes.capacity() * (sizeof(one.hir.nodes[0]) + 32);
  }
  for (const SubstringExpr& one : rules.substrings) {
    for (const std::string& chunk : one.chunks) {
      bytes += sizeof(std::string) + chunk.capacity();
    }
  }
  for (const FreeTextExpr& one : rules.free_texts) {
    bytes += sizeof(one) + one.triggers.size() * sizeof(one.triggers[0]);
    for (const auto* texts : {&one.excludes, &one.exclude_patterns}) {
      for (const std::string& text : *texts) {
        bytes += sizeof(std::string) + text.capacity();
      }
    }
    if (one.exclude_dfa != nullptr) bytes += one.exclude_dfa->memory_bytes();
  }
  for (const TokenSetExpr& one : rules.token_sets) {
    bytes += sizeof(one) + one.ranges.capacity() * sizeof(one.ranges[0]);
  }
  for (const TokenTextExpr& one : rules.token_texts) {
    bytes += sizeof(one) + one.triggers.capacity() * sizeof(one.triggers[0]) +
             one.excludes.capacity() * sizeof(Token);
  }
  for (const SchemaExpr& one : rules.schemas) {
    bytes += sizeof(one) + one.schema.memory_bytes();
  }
  for (const MarkerText& one : rules.markers) {
    bytes += sizeof(one) + one.text.capacity();
  }
  for (const NameText& one : rules.names) {
    bytes += sizeof(one) + one.text.capacity() + one.path.capacity();
  }
  return bytes;
}

}  // namespace parlance::rules
