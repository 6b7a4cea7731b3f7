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
//
// Options of these rules do not change the language.  One free text cannot
// carry captures, temperatures and budgets of its parts; where there are any,
// the rules stay apart (spread_dispatch).

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "notation/lark_reader.h"

namespace parlance::notation {

using rules::Expr;
using rules::ExprId;
using rules::ExprKind;
using rules::kNoExpr;
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

// Follows references to rules and terminals that contain nothing else.  Options
// of theirs that do not say where they end say nothing about the text.
bool LarkReader::is_any_text(ExprId id) const {
  for (std::size_t steps = 0; steps <= rules_.rules.size(); ++steps) {
    const std::vector<ExprId> parts = parts_of(id);
    if (parts.size() != 1) return false;
    const Expr& expr = rules_.exprs[parts[0]];
    if (expr.kind == ExprKind::kRegex) {
      const regex::Hir& hir = rules_.regexes[expr.index].hir;
      return any_text(hir, static_cast<HirId>(hir.nodes.size() - 1));
    }
    if (expr.kind != ExprKind::kRule ||
        rules_.rules[expr.rule()].options.finds_end() ||
        rules_.rules[expr.rule()].body == kNoExpr) {
      return false;
    }
    id = rules_.rules[expr.rule()].body;
  }
  return false;
}

// Any text up to a fixed text or token: a lazy rule, or a rule with a suffix or
// stop, or a rule that contains nothing else.
bool LarkReader::fixed_head(ExprId id, Head& out) const {
  for (std::size_t steps = 0; steps <= rules_.rules.size(); ++steps) {
    const Expr& expr = rules_.exprs[id];
    if (expr.kind != ExprKind::kRule) return false;
    const Rule& rule = rules_.rules[expr.rule()];
    if (rule.body == kNoExpr) return false;
    out.chain.push_back(expr.rule());
    if (rule.options.finds_end()) return lexeme_head(rule, out);
    const std::vector<ExprId> inner = parts_of(rule.body);
    if (inner.size() != 1) return false;
    id = inner[0];
  }
  return false;
}

bool LarkReader::lexeme_head(const Rule& rule, Head& out) const {
  if (rule.options.marker != kNoExpr) {
    const Expr& marker = rules_.exprs[rule.options.marker];
    if (marker.kind != ExprKind::kBytes || !is_any_text(rule.body)) {
      return false;
    }
    out.text = rules_.texts[marker.index];
    out.hide = rule.options.hide_marker;
    out.capture = rule.options.marker_capture;
    return true;
  }
  const std::vector<ExprId> parts = parts_of(rule.body);
  if (parts.size() == 1 && rules_.exprs[parts[0]].kind == ExprKind::kRegex) {
    out.text = text_after_any(rules_.regexes[rules_.exprs[parts[0]].index].hir);
    return !out.text.empty();
  }
  if (parts.size() != 2 || !is_any_text(parts[0])) return false;
  const Expr& last = rules_.exprs[parts[1]];
  if (last.kind == ExprKind::kTokens) {
    out.tokens = last.index;
    return true;
  }
  if (last.kind != ExprKind::kBytes) return false;
  out.text = rules_.texts[last.index];
  return true;
}

bool LarkReader::head_of(RuleId id, Head& out) const {
  const Rule& rule = rules_.rules[id];
  if (rule.body == kNoExpr) return false;
  std::vector<ExprId> parts = parts_of(rule.body);
  if (parts.empty()) return false;
  std::size_t taken = 1;
  if (!fixed_head(parts[0], out)) {
    out.chain.clear();
    if (parts.size() < 2 || !is_any_text(parts[0]) ||
        rules_.exprs[parts[1]].kind != ExprKind::kTokens) {
      return false;
    }
    out.before = parts[0];
    out.tokens = rules_.exprs[parts[1]].index;
    taken = 2;
  }
  out.rest.assign(parts.begin() + static_cast<std::ptrdiff_t>(taken),
                  parts.end());
  return true;
}

// A branch of the loop of a dispatch: a rule that begins with a trigger.
struct LarkReader::Branch {
  // From the outermost; each contains the next and nothing else, the last one
  // begins with the head.
  std::vector<RuleId> rules = {};
  Head head = {};
  Span span = {};  // of the first use of the rule
};

// Follows references to rules that contain nothing else to one with a head.
bool LarkReader::find_head(RuleId id, Branch& out) const {
  while (steps_ <= 20'000'000 && out.rules.size() <= rules_.rules.size()) {
    out.rules.push_back(id);
    if (head_of(id, out.head)) return true;
    if (rules_.rules[id].body == kNoExpr) return false;
    const std::vector<ExprId> inner = parts_of(rules_.rules[id].body);
    if (inner.size() != 1 || rules_.exprs[inner[0]].kind != ExprKind::kRule) {
      return false;
    }
    id = rules_.exprs[inner[0]].rule();
  }
  return false;
}

// The branches of rule `id` if it has the form `(a | b)* tail`, where the tail
// is any text and every branch is a rule with a head; else nothing.
std::vector<LarkReader::Branch> LarkReader::dispatch_branches(RuleId id,
                                                              ExprId& tail) {
  const Rule& rule = rules_.rules[id];
  if (rule.body == kNoExpr || rule.options.finds_end()) return {};
  const std::vector<ExprId> parts = parts_of(rule.body);
  if (parts.size() != 2 || !is_any_text(parts[1])) return {};
  tail = parts[1];
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
    if (!find_head(rules_.exprs[only[0]].rule(), one)) return {};
    const RuleId outer = one.rules.front();
    one.span = outer < info_.size() ? info_[outer].first_use : Span{at_, at_};
    branches.push_back(std::move(one));
  }
  return branches;
}

// Checks that free text can express the branches: they have no options, and the
// triggers are all texts or all tokens.
bool LarkReader::check_branches(const std::vector<Branch>& branches) {
  const bool by_token = branches.front().head.tokens.has_value();
  for (const Branch& branch : branches) {
    const Span span = branch.span;
    if (!std::ranges::all_of(branch.rules, [&](RuleId id) {
          return rules_.rules[id].options.plain();
        })) {
      return fail(span.begin, span.end,
                  "A rule that begins with a trigger of free text takes no "
                  "options; give them to a rule inside.",
                  ErrorCode::kUnsupported);
    }
    const bool token = branch.head.tokens.has_value();
    if (token != by_token) {
      return fail(span.begin, span.end,
                  "Triggers that are text and triggers that are tokens "
                  "cannot be mixed.",
                  ErrorCode::kConflict);
    }
    if (token && rules_.token_sets[*branch.head.tokens].negated) {
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
  rest.name = rules_.rules[branch.rules.front()].name + " after its trigger";
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

// The tokens of a trigger.  Returns false after an error.
bool LarkReader::trigger_tokens(const Branch& branch,
                                std::vector<rules::Token>& out) {
  for (const rules::TokenSetExpr::Range& range :
       rules_.token_sets[*branch.head.tokens].ranges) {
    if (range.last - range.first > 1'000'000) {
      return fail(branch.span.begin, branch.span.end,
                  "A trigger has more than a million tokens.",
                  ErrorCode::kTooLarge);
    }
    for (rules::Token token = range.first; token <= range.last; ++token) {
      out.push_back(token);
    }
  }
  return true;
}

// Rewrites rule `id` as free text with triggers, if it has the form
// `(a | b)* tail`.  Returns false after an error.
bool LarkReader::dispatch_in(RuleId id) {
  ExprId tail;
  const std::vector<Branch> branches = dispatch_branches(id, tail);
  if (branches.empty()) return true;
  if (!check_branches(branches)) return false;
  if (has_options(branches, tail)) return spread_dispatch(id, branches, tail);
  const bool by_token = branches.front().head.tokens.has_value();
  rules::FreeTextExpr text;
  rules::TokenTextExpr token_text;
  for (const Branch& branch : branches) {
    const Head& head = branch.head;
    const RuleId target = rule_after(branch);
    if (!by_token) {
      text.triggers.push_back({head.text, target, head.hide, head.capture});
      continue;
    }
    std::vector<rules::Token> tokens;
    if (!trigger_tokens(branch, tokens)) return false;
    for (const rules::Token token : tokens) {
      token_text.triggers.push_back({token, target});
    }
  }
  const ExprId body = by_token ? rules_.token_text(std::move(token_text))
                               : rules_.free_text(std::move(text));
  rules_.rules[id].body = body;
  return true;
}

// The rules that `id` consists of, from the outermost, down to any text.
std::vector<RuleId> LarkReader::rules_around_text(ExprId id) const {
  std::vector<RuleId> out;
  for (;;) {
    const Expr& expr = rules_.exprs[parts_of(id)[0]];
    if (expr.kind != ExprKind::kRule) return out;
    out.push_back(expr.rule());
    id = rules_.rules[expr.rule()].body;
  }
}

// Whether a rule of the dispatch has options that one free text cannot carry.
bool LarkReader::has_options(const std::vector<Branch>& branches,
                             ExprId tail) const {
  const auto labelled = [&](RuleId id) {
    const rules::RuleOptions& options = rules_.rules[id].options;
    return options.limited() || !options.capture.empty() || options.temperature;
  };
  if (std::ranges::any_of(rules_around_text(tail), labelled)) return true;
  return std::ranges::any_of(branches, [&](const Branch& branch) {
    return std::ranges::any_of(branch.head.chain, labelled) ||
           (branch.head.before != kNoExpr &&
            std::ranges::any_of(rules_around_text(branch.head.before),
                                labelled));
  });
}

// A reference to copies of the rules `chain`, each of which contains the next;
// the last one contains `body`.
ExprId LarkReader::copied(const std::vector<RuleId>& chain, ExprId body) {
  for (std::size_t i = chain.size(); i-- > 0;) {
    Rule copy = rules_.rules[chain[i]];
    copy.body = body;
    const auto id = static_cast<RuleId>(rules_.rules.size());
    rules_.rules.push_back(std::move(copy));
    body = rules_.reference(id);
  }
  return body;
}

// Rewrites rule `id` as the same language in as many rules as it had, so that
// each keeps its options: `(a | b)* tail` of the same form, in which no text
// before a trigger, and no tail, contains a trigger.
bool LarkReader::spread_dispatch(RuleId id, const std::vector<Branch>& branches,
                                 ExprId tail) {
  const bool by_token = branches.front().head.tokens.has_value();
  if (!by_token && !check_apart(branches)) return false;
  rules::FreeTextExpr text;
  rules::TokenTextExpr token_text;
  for (const Branch& branch : branches) {
    if (!by_token) {
      text.excludes.push_back(branch.head.text);
    } else if (!trigger_tokens(branch, token_text.excludes)) {
      return false;
    }
  }
  Rule without{.name = "text without triggers"};
  without.body = by_token ? rules_.token_text(std::move(token_text))
                          : rules_.free_text(std::move(text));
  const auto plain = static_cast<RuleId>(rules_.rules.size());
  rules_.rules.push_back(std::move(without));
  std::vector<ExprId> bodies;
  for (const Branch& branch : branches) {
    const ExprId head = head_without(branch.head, plain);
    const RuleId rest = rule_after(branch);
    bodies.push_back(rules_.sequence({head, rules_.reference(rest)}));
  }
  const std::vector<RuleId> around = rules_around_text(tail);
  const ExprId last = copied(around, rules_.reference(plain));
  const ExprId loop =
      rules_.repeat(rules_.choice(std::move(bodies)), 0, rules::kUnbounded);
  const ExprId body = rules_.sequence({loop, last});
  rules_.rules[id].body = body;
  return true;
}

// The head, with the text of rule `text` before its trigger.
ExprId LarkReader::head_without(const Head& head, RuleId text) {
  const auto before = [&] { return rules_.reference(text); };
  if (head.before != kNoExpr) {
    const ExprId first = copied(rules_around_text(head.before), before());
    return rules_.sequence(
        {first, rules_.tokens(rules_.token_sets[*head.tokens])});
  }
  // The last rule of the chain is the lexeme.
  std::vector<RuleId> outer = head.chain;
  Rule lexeme = rules_.rules[outer.back()];
  outer.pop_back();
  ExprId inner;
  if (head.tokens) {
    lexeme.options.lazy = false;
    inner = rules_.sequence(
        {before(), rules_.tokens(rules_.token_sets[*head.tokens])});
  } else if (lexeme.options.marker == kNoExpr) {
    // A capture of the lazy rule contains the trigger.
    lexeme.options.lazy = false;
    Rule ends{.name = lexeme.name, .body = before(), .options = {}};
    ends.options.marker = rules_.bytes(head.text);
    inner = rules_.reference(static_cast<RuleId>(rules_.rules.size()));
    rules_.rules.push_back(std::move(ends));
  } else {
    lexeme.options.marker = rules_.bytes(head.text);
    lexeme.options.marker_optional = false;
    inner = before();
  }
  lexeme.body = inner;
  const auto id = static_cast<RuleId>(rules_.rules.size());
  rules_.rules.push_back(std::move(lexeme));
  return copied(outer, rules_.reference(id));
}

// Fails if a trigger may begin inside another one and end in or after it: then
// it depends on the order in which they end which of them is read.
bool LarkReader::check_apart(const std::vector<Branch>& branches) {
  for (const Branch& one : branches) {
    const std::string& text = one.head.text;
    for (const Branch& other : branches) {
      const std::string_view word = other.head.text;
      if (++steps_ > 20'000'000 || word == text) continue;
      bool overlap = text.find(word, 1) != std::string::npos;
      for (std::size_t size = 1; size < word.size() && size <= text.size();
           ++size) {
        overlap = overlap || word.ends_with(text.substr(0, size));
      }
      if (!overlap) continue;
      return fail(one.span.begin, one.span.end,
                  "The triggers \"" + text + "\" and \"" + other.head.text +
                      "\" overlap, so that the rules of their free text take "
                      "no options; give them to rules after the triggers.",
                  ErrorCode::kUnsupported);
    }
  }
  return true;
}

bool LarkReader::find_dispatch() {
  const auto count = static_cast<RuleId>(info_.size());
  for (RuleId id; id < count; ++id) {
    if (!info_[id].terminal && !dispatch_in(id)) return false;
    // Rules may visit the same rules again, so the total work is limited.
    if (steps_ > 20'000'000) {
      return fail(at_, at_, "The rules with free text are too many.",
                  ErrorCode::kTooLarge);
    }
  }
  // A lazy rule that may end with any token of a negated set never has to end.
  for (const Rule& rule : rules_.rules) {
    if (!rule.options.lazy || rule.body == kNoExpr) continue;
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
    if (rule.options.marker == kNoExpr || rule.options.lazy) continue;
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
  for (RuleId id; id < count; ++id) {
    const Rule rule = rules_.rules[id];
    if (!rule.options.lazy || rule.options.marker != kNoExpr ||
        rule.body == kNoExpr) {
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
