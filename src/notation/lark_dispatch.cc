// Finds the rules of a Lark grammar that are free text with triggers, after the
// whole grammar has been read, and rewrites them.
//
//   start: (call | note)* tail          TagDispatch(("<c>", call's rest),
//   call: call_head /[0-9]+/ "</c>"                 ("<n>", note's rest))
//   call_head[lazy]: TEXT "<c>"
//   ...
//
// Taken literally, `tail` could contain "<c>" followed by any text.  The author
// means that a trigger, once written, must be followed by the rest of its rule.

#include <utility>

#include "base/utf8.h"
#include "notation/lark_reader.h"

namespace parlance::notation {

using rules::Expr;
using rules::ExprId;
using rules::ExprKind;
using rules::kNoId;
using rules::Rule;
using rules::RuleId;
namespace {

using regex::CharClass;
using regex::HirId;
using regex::HirKind;

const regex::HirNode& inside_captures(const regex::Hir& hir, HirId id) {
  while (hir.nodes[id].kind == HirKind::kCapture) {
    id = hir.nodes[id].children[0];
  }
  return hir.nodes[id];
}

// The characters that a node matches, if it matches exactly one character.
bool characters(const regex::Hir& hir, HirId id, CharClass& out) {
  std::vector<regex::CharRange> ranges;
  std::vector<HirId> left{id};
  while (!left.empty()) {
    const regex::HirNode& node = inside_captures(hir, left.back());
    left.pop_back();
    if (node.kind == HirKind::kAlternation) {
      left.insert(left.end(), node.children.begin(), node.children.end());
    } else if (node.kind == HirKind::kClass) {
      const auto more = node.char_class.ranges();
      ranges.insert(ranges.end(), more.begin(), more.end());
    } else if (node.kind == HirKind::kLiteral) {
      std::size_t i = 0;
      const char32_t c = base::next_code_point(node.text, i);
      if (i != node.text.size()) return false;
      ranges.push_back({c, c});
    } else {
      return false;
    }
  }
  out = CharClass(std::move(ranges));
  return true;
}

bool any_text(const regex::Hir& hir, HirId id) {
  static const CharClass all({{0, 0xD7FF}, {0xE000, regex::kMaxCodePoint}});
  const regex::HirNode& node = inside_captures(hir, id);
  CharClass set;
  return node.kind == HirKind::kRepeat && node.min == 0 &&
         node.max == base::kUnbounded &&
         characters(hir, node.children[0], set) && set.intersect(all) == all;
}

// The text T if the pattern is any text followed by T, else "".
std::string text_after_any(const regex::Hir& hir) {
  const regex::HirNode& root =
      inside_captures(hir, static_cast<HirId>(hir.nodes.size() - 1));
  if (root.kind != HirKind::kConcat || root.children.size() < 2 ||
      !any_text(hir, root.children[0])) {
    return "";
  }
  std::string text;
  for (std::size_t i = 1; i < root.children.size(); ++i) {
    const regex::HirNode& node = inside_captures(hir, root.children[i]);
    CharClass set;
    if (node.kind == HirKind::kLiteral) {
      text += node.text;
    } else if (node.kind == HirKind::kClass &&
               node.char_class.ranges().size() == 1 &&
               node.char_class.ranges()[0].first ==
                   node.char_class.ranges()[0].last) {
      base::append_utf8(text, node.char_class.ranges()[0].first);
    } else {
      return "";
    }
  }
  return text;
}

}  // namespace

// The items of a body in order, with groups flattened and ignored text omitted.
std::vector<ExprId> LarkReader::parts_of(ExprId id) const {
  std::vector<ExprId> parts;
  std::vector<ExprId> left{id};
  while (!left.empty()) {
    const ExprId top = left.back();
    left.pop_back();
    ++steps_;
    const Expr& expr = rules_.exprs[top];
    if (expr.kind == ExprKind::kSequence) {
      left.insert(left.end(), expr.children.rbegin(), expr.children.rend());
    } else if (expr.kind != ExprKind::kEmpty &&
               !(expr.kind == ExprKind::kRule && expr.index == ignored_)) {
      parts.push_back(top);
    }
  }
  return parts;
}

// Follows references to rules and terminals that contain nothing else.
bool LarkReader::is_any_text(ExprId id) const {
  for (std::size_t steps = 0; steps < 100; ++steps) {
    const std::vector<ExprId> parts = parts_of(id);
    if (parts.size() != 1) return false;
    const Expr& expr = rules_.exprs[parts[0]];
    if (expr.kind == ExprKind::kRegex) {
      const regex::Hir& hir = rules_.regexes[expr.index].hir;
      return any_text(hir, static_cast<HirId>(hir.nodes.size() - 1));
    }
    if (expr.kind != ExprKind::kRule ||
        !rules_.rules[expr.index].options.plain() ||
        rules_.rules[expr.index].body == kNoId) {
      return false;
    }
    id = rules_.rules[expr.index].body;
  }
  return false;
}

// Any text up to a fixed text: a lazy rule, or a rule with a suffix or stop.
bool LarkReader::fixed_head(ExprId id, Head& out) const {
  const Expr* expr = &rules_.exprs[id];
  // In a grammar with ignored text, the lazy rule is wrapped in another rule.
  const Rule* rule = nullptr;
  for (int steps = 0; steps < 2; ++steps) {
    if (expr->kind != ExprKind::kRule) return false;
    rule = &rules_.rules[expr->index];
    if (rule->body == kNoId) return false;
    const std::vector<ExprId> inner = parts_of(rule->body);
    if (!rule->options.plain() || inner.size() != 1) break;
    expr = &rules_.exprs[inner[0]];
  }
  if (rule->options.limited()) return false;
  if (rule->options.marker != kNoId) {
    const Expr& marker = rules_.exprs[rule->options.marker];
    if (marker.kind != ExprKind::kBytes || !is_any_text(rule->body)) {
      return false;
    }
    out.text = rules_.texts[marker.index];
    out.hide = rule->options.hide_marker;
    out.capture = rule->options.marker_capture;
    return true;
  }
  if (!rule->options.lazy) return false;
  const std::vector<ExprId> parts = parts_of(rule->body);
  if (parts.size() == 1 && rules_.exprs[parts[0]].kind == ExprKind::kRegex) {
    out.text = text_after_any(rules_.regexes[rules_.exprs[parts[0]].index].hir);
    return !out.text.empty();
  }
  if (parts.size() != 2 || !is_any_text(parts[0])) return false;
  const Expr& last = rules_.exprs[parts[1]];
  if (last.kind == ExprKind::kTokens) {
    out.tokens = &rules_.token_sets[last.index];
    return true;
  }
  if (last.kind != ExprKind::kBytes) return false;
  out.text = rules_.texts[last.index];
  return true;
}

bool LarkReader::head_of(RuleId id, Head& out) const {
  const Rule& rule = rules_.rules[id];
  if (rule.body == kNoId) return false;
  std::vector<ExprId> parts = parts_of(rule.body);
  if (parts.empty()) return false;
  std::size_t taken = 1;
  if (!fixed_head(parts[0], out)) {
    if (parts.size() < 2 || !is_any_text(parts[0]) ||
        rules_.exprs[parts[1]].kind != ExprKind::kTokens) {
      return false;
    }
    out.tokens = &rules_.token_sets[rules_.exprs[parts[1]].index];
    taken = 2;
  }
  out.rest.assign(parts.begin() + static_cast<std::ptrdiff_t>(taken),
                  parts.end());
  return true;
}

// A branch of the loop of a dispatch: a rule that begins with a trigger.
struct LarkReader::Branch {
  RuleId rule = 0;
  Head head = {};
  Span span = {};  // of the first use of the rule
};

// The branches of rule `id` if it has the form `(a | b)* tail`, where the tail
// is any text and every branch is a rule with a head; else nothing.
std::vector<LarkReader::Branch> LarkReader::dispatch_branches(RuleId id) {
  const Rule& rule = rules_.rules[id];
  if (rule.body == kNoId || rule.options.lazy || rule.options.marker != kNoId) {
    return {};
  }
  const std::vector<ExprId> parts = parts_of(rule.body);
  if (parts.size() != 2 || !is_any_text(parts[1])) return {};
  const Expr& loop = rules_.exprs[parts[0]];
  if (loop.kind != ExprKind::kRepeat || loop.min != 0 ||
      loop.max != rules::kUnbounded) {
    return {};
  }
  const Expr& inner = rules_.exprs[loop.children[0]];
  const std::vector<ExprId> bodies = inner.kind == ExprKind::kChoice
                                         ? inner.children
                                         : std::vector{loop.children[0]};
  std::vector<Branch> branches;
  for (ExprId body : bodies) {
    const std::vector<ExprId> only = parts_of(body);
    if (only.size() != 1 || rules_.exprs[only[0]].kind != ExprKind::kRule) {
      return {};
    }
    Branch one;
    one.rule = rules_.exprs[only[0]].index;
    if (steps_ > 20'000'000 || !head_of(one.rule, one.head)) return {};
    one.span =
        one.rule < info_.size() ? info_[one.rule].first_use : Span{at_, at_};
    branches.push_back(std::move(one));
  }
  return branches;
}

// Checks that free text can express the branches: they have no options, and the
// triggers are all texts or all tokens.
bool LarkReader::check_branches(const std::vector<Branch>& branches) {
  const bool by_token = branches.front().head.tokens != nullptr;
  for (const Branch& branch : branches) {
    const Span span = branch.span;
    if (!rules_.rules[branch.rule].options.plain()) {
      return fail(span.begin, span.end,
                  "A rule that begins with a trigger of free text takes no "
                  "options; give them to a rule inside.",
                  ErrorCode::kUnsupported);
    }
    const bool token = branch.head.tokens != nullptr;
    if (token != by_token) {
      return fail(span.begin, span.end,
                  "Triggers that are text and triggers that are tokens "
                  "cannot be mixed.",
                  ErrorCode::kConflict);
    }
    if (token && branch.head.tokens->negated) {
      return fail(span.begin, span.end, "A trigger cannot be any other token.",
                  ErrorCode::kUnsupported);
    }
  }
  return true;
}

// Adds a rule for the items after the trigger of a branch, with ignored text
// between them.
RuleId LarkReader::rule_after(const Branch& branch) {
  Rule rest;
  rest.name = rules_.rules[branch.rule].name + " after its trigger";
  std::vector<ExprId> sequence;
  if (weave_) sequence.push_back(rules_.reference(ignored_));
  for (ExprId part : branch.head.rest) {
    sequence.push_back(part);
    if (weave_) sequence.push_back(rules_.reference(ignored_));
  }
  rest.body = rules_.sequence(std::move(sequence));
  const auto id = static_cast<RuleId>(rules_.rules.size());
  rules_.rules.push_back(std::move(rest));
  return id;
}

// Rewrites rule `id` as free text with triggers, if it has the form
// `(a | b)* tail`.  Returns false after an error.
bool LarkReader::dispatch_in(RuleId id) {
  const std::vector<Branch> branches = dispatch_branches(id);
  if (branches.empty()) return true;
  if (!check_branches(branches)) return false;
  const bool by_token = branches.front().head.tokens != nullptr;
  rules::FreeTextExpr text;
  rules::TokenTextExpr token_text;
  for (const Branch& branch : branches) {
    const Head& head = branch.head;
    const RuleId target = rule_after(branch);
    if (!by_token) {
      text.triggers.push_back({head.text, target, head.hide, head.capture});
      continue;
    }
    for (const rules::TokenSetExpr::Range& range : head.tokens->ranges) {
      if (range.last - range.first > 1'000'000) {
        return fail(branch.span.begin, branch.span.end,
                    "A trigger has more than a million tokens.",
                    ErrorCode::kTooLarge);
      }
      for (rules::Token token = range.first; token <= range.last; ++token) {
        token_text.triggers.push_back({token, target});
      }
    }
  }
  const ExprId body = by_token ? rules_.token_text(std::move(token_text))
                               : rules_.free_text(std::move(text));
  rules_.rules[id].body = body;
  return true;
}

bool LarkReader::find_dispatch() {
  const auto count = static_cast<RuleId>(info_.size());
  for (RuleId id = 0; id < count; ++id) {
    if (!info_[id].terminal && !dispatch_in(id)) return false;
    // Rules may visit the same rules again, so the total work is limited.
    if (steps_ > 20'000'000) {
      return fail(at_, at_, "The rules with free text are too many.",
                  ErrorCode::kTooLarge);
    }
  }
  // A lazy rule that may end with any token of a negated set never has to end.
  for (const Rule& rule : rules_.rules) {
    if (!rule.options.lazy || rule.body == kNoId) continue;
    for (ExprId part : parts_of(rule.body)) {
      const Expr& expr = rules_.exprs[part];
      if (expr.kind == ExprKind::kTokens &&
          rules_.token_sets[expr.index].negated) {
        return fail(at_, at_,
                    "A lazy rule cannot hold any other token: <[^...]>.",
                    ErrorCode::kUnsupported);
      }
    }
  }
  return true;
}

// Makes the marker of a rule of any text up to a fixed text optional.
void LarkReader::open_ended_markers() {
  for (Rule& rule : rules_.rules) {
    if (rule.options.marker == kNoId || rule.options.lazy) continue;
    rule.options.marker_optional =
        rules_.exprs[rule.options.marker].kind == ExprKind::kBytes &&
        is_any_text(rule.body);
  }
}

// Does the same for a lazy rule `TEXT "<end>"`: it becomes a rule with the
// other options that refers to a rule of any text with the suffix "<end>".  So
// a capture of the outer rule contains the suffix.
void LarkReader::open_ended_lazy_rules() {
  const auto count = static_cast<RuleId>(rules_.rules.size());
  for (RuleId id = 0; id < count; ++id) {
    const Rule rule = rules_.rules[id];
    if (!rule.options.lazy || rule.options.marker != kNoId ||
        rule.body == kNoId) {
      continue;
    }
    const std::vector<ExprId> parts = parts_of(rule.body);
    if (parts.size() != 2 || !is_any_text(parts[0]) ||
        rules_.exprs[parts[1]].kind != ExprKind::kBytes) {
      continue;
    }
    Rule inner{.name = rule.name, .body = parts[0], .options = {}};
    inner.options.marker = parts[1];
    inner.options.marker_optional = true;
    const auto target = static_cast<RuleId>(rules_.rules.size());
    rules_.rules.push_back(std::move(inner));
    rules_.rules[id].options.lazy = false;
    rules_.rules[id].body = rules_.reference(target);
  }
}

}  // namespace parlance::notation
