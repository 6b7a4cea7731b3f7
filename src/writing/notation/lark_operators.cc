// Terminals with "&" and "~": the texts that match both operands; any text that
// does not match.
//
//   LINES: /[a-z\n]*/ & ~/(?s:.*)\n\n(?s:.*)/
//
// Rules have no such operators.  So the meaning of a terminal with them is
// computed, as the deterministic automaton of its texts (automata/language.h),
// and becomes rules again: one for each state, which reads a character and goes
// on with the rule of the state that it leads to.
//
//   0: [a-z] 0 | "\n" 1 | ""     1: [a-z] 0 | ""
//
// Characters that no operand distinguishes form a class, and one character of a
// class says where all of them lead.

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "automata/language.h"
#include "base/utf8.h"
#include "notation/lark_reader.h"

namespace parlance::notation {

using automata::LanguageId;
using automata::StateId;
using rules::Expr;
using rules::ExprId;
using rules::ExprKind;
using rules::RuleId;
namespace {

using regex::Hir;
using regex::HirId;
using regex::HirKind;
using regex::HirNode;

// Steps of all automata, by states and classes of characters; states of one;
// and nodes of all operands.
constexpr std::size_t kMaxSteps = 8'000'000;
constexpr std::size_t kMaxStates = 10'000;
constexpr std::size_t kMaxNodes = 1'000'000;

}  // namespace

// The terminal as a rule of its own, whose body is its meaning later.
ExprId LarkReader::combine(std::vector<ExprId> operands, bool negated) {
  const Span span{frames_.back().begin, at_};
  const RuleId rule = add_rule("", {span, true, true});
  for (const ExprId operand : operands) {
    const Expr& expr = rules_.exprs[operand];
    if (expr.kind != ExprKind::kRule) continue;
    const auto other = combination_of_.find(expr.rule());
    if (other != combination_of_.end()) {
      combinations_[other->second].inside = true;
    }
  }
  combination_of_.emplace(rule, combinations_.size());
  combinations_.push_back(
      {.rule = rule, .operands = operands, .negated = negated, .span = span});
  rules_.rules[rule].body = rules_.choice(std::move(operands));
  return rules_.reference(rule);
}

// The languages of combinations, each of which is computed after those that it
// refers to.
class LarkReader::Meanings {
 public:
  explicit Meanings(LarkReader& reader)
      : reader_(reader),
        by_rule_(reader.combination_of_),
        known_(reader.combinations_.size()) {}

  // False after an error.
  bool compute(std::size_t index);
  bool emit(std::size_t index);

 private:
  struct Known {
    bool done = false;
    LanguageId language = {};
  };

  bool fail(std::size_t index, std::string message, ErrorCode code) {
    const Span span = reader_.combinations_[index].span;
    return reader_.fail(span.begin, span.end, std::move(message), code);
  }
  bool too_many_states(std::size_t index) {
    return fail(index, "A terminal with \"&\" or \"~\" needs too many states.",
                ErrorCode::kTooLarge);
  }
  // The combination that an expression is, also through the names of terminals.
  std::optional<std::size_t> combination_of(ExprId id) const;
  std::vector<ExprId> alternatives_of(ExprId id) const;
  bool language_of(std::size_t index, ExprId id, LanguageId& out);
  bool to_hir(std::size_t index, ExprId id, Hir& out);
  bool node_of(std::size_t index, ExprId id, Hir& out, HirNode& made);
  void note_boundaries(const Hir& hir);

  LarkReader& reader_;
  automata::Languages languages_;
  const std::unordered_map<RuleId, std::size_t>& by_rule_;
  std::vector<Known> known_;
  std::set<char32_t> boundaries_ = {0, 0xE000};
  std::size_t nodes_ = 0;
  std::size_t steps_ = 0;
};

std::optional<std::size_t> LarkReader::Meanings::combination_of(
    ExprId id) const {
  for (;;) {
    const Expr& expr = reader_.rules_.exprs[id];
    if (expr.kind != ExprKind::kRule) return std::nullopt;
    const auto found = by_rule_.find(expr.rule());
    if (found != by_rule_.end()) return found->second;
    id = reader_.rules_.rules[expr.rule()].body;
  }
}

// The alternatives of an operand, through the names of terminals.
std::vector<ExprId> LarkReader::Meanings::alternatives_of(ExprId id) const {
  const Expr* expr = &reader_.rules_.exprs[id];
  while (expr->kind == ExprKind::kRule && !by_rule_.contains(expr->rule())) {
    id = reader_.rules_.rules[expr->rule()].body;
    expr = &reader_.rules_.exprs[id];
  }
  return expr->kind == ExprKind::kChoice ? expr->children : std::vector{id};
}

// Computes a combination.  The stack has those that wait for others.  Terminals
// are not recursive, so each is pushed at most once for each use.
bool LarkReader::Meanings::compute(std::size_t first) {
  std::vector<std::size_t> stack{first};
  while (!stack.empty()) {
    const std::size_t index = stack.back();
    if (known_[index].done) {
      stack.pop_back();
      continue;
    }
    const std::size_t waiting = stack.size();
    for (const ExprId operand : reader_.combinations_[index].operands) {
      for (const ExprId one : alternatives_of(operand)) {
        const std::optional<std::size_t> other = combination_of(one);
        if (other && !known_[*other].done) stack.push_back(*other);
      }
    }
    if (stack.size() > waiting) continue;
    stack.pop_back();
    const Combination& combination = reader_.combinations_[index];
    std::vector<LanguageId> operands;
    for (const ExprId operand : combination.operands) {
      std::vector<LanguageId> parts;
      for (const ExprId one : alternatives_of(operand)) {
        if (!language_of(index, one, parts.emplace_back())) return false;
      }
      operands.push_back(languages_.any_of(std::move(parts)));
    }
    known_[index].done = true;
    known_[index].language = combination.negated
                                 ? languages_.complement(operands[0])
                                 : languages_.all_of(std::move(operands));
  }
  return true;
}

bool LarkReader::Meanings::language_of(std::size_t index, ExprId id,
                                       LanguageId& out) {
  if (const std::optional<std::size_t> other = combination_of(id)) {
    out = known_[*other].language;
    return true;
  }
  Hir hir;
  if (!to_hir(index, id, hir)) return false;
  note_boundaries(hir);
  Result<LanguageId> made =
      languages_.from_hir(hir, automata::Languages::Mode::kWhole);
  if (!made) return fail(index, made.error().message, made.error().code);
  out = *made;
  return true;
}

// An expression without "&" and "~" as a Hir.  Each rule is one node, however
// often it is used.  The stack is that of a walk in post-order.
bool LarkReader::Meanings::to_hir(std::size_t index, ExprId root, Hir& out) {
  std::unordered_map<ExprId, HirId> made;
  std::vector<ExprId> stack{root};
  while (!stack.empty()) {
    const ExprId id = stack.back();
    if (made.contains(id)) {
      stack.pop_back();
      continue;
    }
    const Expr& expr = reader_.rules_.exprs[id];
    std::vector<ExprId> children = expr.children;
    if (expr.kind == ExprKind::kRule) {
      if (by_rule_.contains(expr.rule())) {
        return fail(index,
                    "A part of a text in \"&\" or \"~\" cannot have \"&\" or "
                    "\"~\" itself; an operand as a whole can.",
                    ErrorCode::kUnsupported);
      }
      children = {reader_.rules_.rules[expr.rule()].body};
    }
    const std::size_t waiting = stack.size();
    for (const ExprId child : children) {
      if (!made.contains(child)) stack.push_back(child);
    }
    if (stack.size() > waiting) continue;
    stack.pop_back();
    HirNode node;
    for (const ExprId child : children) node.children.push_back(made[child]);
    if (!node_of(index, id, out, node)) return false;
    made[id] = static_cast<HirId>(out.nodes.size());
    out.nodes.push_back(std::move(node));
    nodes_ += 1 + children.size();
    if (nodes_ > kMaxNodes) {
      return fail(index, "The operands of \"&\" and \"~\" are too large.",
                  ErrorCode::kTooLarge);
    }
  }
  return true;
}

// Fills the node of an expression, whose children are filled already.
bool LarkReader::Meanings::node_of(std::size_t index, ExprId id, Hir& out,
                                   HirNode& made) {
  const rules::Rules& all = reader_.rules_;
  const Expr& expr = all.exprs[id];
  switch (expr.kind) {
    case ExprKind::kEmpty:
      made.kind = HirKind::kEmpty;
      return true;
    case ExprKind::kBytes:
      made.kind = HirKind::kLiteral;
      made.text = all.texts[expr.index];
      return true;
    case ExprKind::kClass:
      made.kind = HirKind::kClass;
      made.char_class = all.classes[expr.index];
      if (made.char_class.empty()) made.kind = HirKind::kNothing;
      return true;
    case ExprKind::kRule:
    case ExprKind::kSequence:
      made.kind = HirKind::kConcat;
      return true;
    case ExprKind::kChoice:
      made.kind =
          expr.children.empty() ? HirKind::kNothing : HirKind::kAlternation;
      return true;
    case ExprKind::kRepeat:
      made.kind = HirKind::kRepeat;
      made.min = expr.min;
      made.max = expr.max;
      return true;
    case ExprKind::kRegex: {
      const Hir& hir = all.regexes[expr.index].hir;
      const auto shift = static_cast<HirId>(out.nodes.size());
      for (HirNode node : hir.nodes) {
        for (HirId& child : node.children) child += shift;
        out.nodes.push_back(std::move(node));
      }
      nodes_ += hir.nodes.size();
      made.kind = HirKind::kConcat;
      made.children = {static_cast<HirId>(out.nodes.size() - 1)};
      return true;
    }
    default:
      return fail(index, "%regex cannot be an operand of \"&\" or \"~\".",
                  ErrorCode::kUnsupported);
  }
}

// Characters between two boundaries are alike.
void LarkReader::Meanings::note_boundaries(const Hir& hir) {
  const auto note = [&](char32_t first, char32_t last) {
    boundaries_.insert(first);
    boundaries_.insert(last + 1);
  };
  for (const HirNode& node : hir.nodes) {
    for (const regex::CharRange& range : node.char_class.ranges()) {
      note(range.first, range.last);
    }
    for (std::size_t i = 0; i < node.text.size();) {
      const char32_t c = base::next_code_point(node.text, i);
      note(c, c);
    }
  }
}

// Makes the rules of a combination's states.
bool LarkReader::Meanings::emit(std::size_t index) {
  rules::Rules& all = reader_.rules_;
  const RuleId rule = reader_.combinations_[index].rule;
  std::vector<regex::CharRange> alike;
  for (auto at = boundaries_.begin(); at != boundaries_.end(); ++at) {
    const auto next = std::next(at);
    const char32_t last =
        next == boundaries_.end() ? regex::kMaxCodePoint : *next - 1;
    // Surrogates are no characters.
    if (*at >= 0xD800 && *at < 0xE000) continue;
    if (*at <= regex::kMaxCodePoint) {
      alike.push_back(
          {*at, *at < 0xD800 ? std::min<char32_t>(last, 0xD7FF) : last});
    }
  }
  const StateId start = languages_.start(known_[index].language);
  if (start == automata::kDeadState) {
    // Beyond a limit a language with texts is dead, too.
    if (languages_.narrowed() ||
        !languages_.proves_empty(known_[index].language)) {
      return too_many_states(index);
    }
    all.rules[rule].body = all.choice({});
    return true;
  }
  std::vector<std::pair<StateId, RuleId>> found{{start, rule}};
  std::unordered_map<StateId, RuleId> rule_of{{start, rule}};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [state, id] = found[i];
    steps_ += alike.size();
    if (found.size() > kMaxStates || steps_ > kMaxSteps) {
      return too_many_states(index);
    }
    if (languages_.universal(state)) {
      all.rules[id].body = all.repeat(
          all.char_class(
              regex::CharClass({{0, 0xD7FF}, {0xE000, regex::kMaxCodePoint}})),
          0, rules::kUnbounded);
      continue;
    }
    std::map<StateId, std::vector<regex::CharRange>> steps;
    for (const regex::CharRange& range : alike) {
      const StateId target = languages_.step_char(state, range.first);
      if (target != automata::kDeadState) steps[target].push_back(range);
    }
    std::vector<ExprId> alternatives;
    for (auto& [target, ranges] : steps) {
      auto [place, added] = rule_of.try_emplace(target, rules::kNoRule);
      if (added) {
        place->second =
            reader_.add_rule("", {reader_.info_[rule].first_use, true, true});
        found.emplace_back(target, place->second);
      }
      alternatives.push_back(
          all.sequence({all.char_class(regex::CharClass(std::move(ranges))),
                        all.reference(place->second)}));
    }
    if (languages_.accepting(state)) alternatives.push_back(all.empty());
    all.rules[id].body = all.choice(std::move(alternatives));
  }
  if (!languages_.narrowed()) {
    return reader_.within_limits(reader_.combinations_[index].span.begin);
  }
  return too_many_states(index);
}

bool LarkReader::combine_terminals() {
  if (combinations_.empty()) return true;
  Meanings meanings(*this);
  for (std::size_t i = 0; i < combinations_.size(); ++i) {
    if (combinations_[i].inside) continue;
    if (!meanings.compute(i) || !meanings.emit(i)) return false;
  }
  return true;
}

}  // namespace parlance::notation
