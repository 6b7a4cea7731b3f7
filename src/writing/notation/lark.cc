// Reads statements and items of Lark, and completes the rules after the last
// statement (finish()).

#include "notation/lark.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "notation/lark_reader.h"

namespace parlance::notation {

using rules::ExprId;
using rules::kUnbounded;
using rules::RuleId;
using rules::Rules;
namespace {

bool begins_lark_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool in_lark_name(char c) {
  return begins_lark_name(c) || is_digit(c) || c == '-';
}

}  // namespace

LarkReader::LarkReader(std::string_view text, LarkContext& context)
    : ExpressionReader(text, 0, context.options.limits,
                       context.options.tokens_spelled),
      nested_(false),
      context_(context),
      last_ignore_(text.rfind("%ignore")),
      weave_(last_ignore_ != std::string_view::npos) {
  no_minimum_ = true;
}

LarkReader::LarkReader(const LarkReader& outer, std::size_t begin)
    : ExpressionReader(outer.text_, begin, outer.limits_,
                       outer.tokens_spelled_),
      nested_(true),
      context_(outer.context_),
      last_ignore_(outer.last_ignore_),
      weave_(last_ignore_ != std::string_view::npos && last_ignore_ > begin) {
  no_minimum_ = true;
}

void LarkReader::skip_blanks() {
  for (; !at_end(); ++at_) {
    if (peek() == '#' || (peek() == '/' && peek(1) == '/')) {
      skip_line();
      return;
    }
    if (peek() == '\\') {
      // A line that ends with "\" continues.
      const std::size_t end = text_.find_first_not_of(" \r", at_ + 1);
      if (end >= text_.size() || text_[end] != '\n') return;
      at_ = end;
    } else if (peek() != ' ' && peek() != '\t' && peek() != '\f') {
      return;
    }
  }
}

std::string LarkReader::name() {
  std::size_t begin = at_;
  if (!at_end() && begins_lark_name(peek())) {
    while (!at_end() && in_lark_name(peek()) &&
           !(peek() == '-' && peek(1) == '>')) {
      ++at_;
    }
  }
  return std::string(text_.substr(begin, at_ - begin));
}

bool LarkReader::is_terminal(std::string_view name) {
  for (char c : name) {
    if (c >= 'a' && c <= 'z') return false;
    if (c >= 'A' && c <= 'Z') return true;
  }
  return false;
}

RuleId LarkReader::named_rule(const std::string& called, Span span) {
  const RuleId id = rule_called(prefix_ + called, span);
  info_[id].terminal = is_terminal(called);
  return id;
}

RuleId LarkReader::append(const Rules& other) {
  const RuleId root = rules_.append(other);
  Info known;
  known.first_use = {at_, at_};
  known.defined = true;
  info_.resize(rules_.rules.size(), known);
  return root;
}

Result<Rules> LarkReader::run(std::string_view start_rule) {
  if (weave_) {
    // A name with a space cannot be a name of the grammar.
    ignored_ = add_rule("ignored text", {{at_, at_}, true, true});
  }
  // What is nested has been checked as a part of the text around it.
  if ((!nested_ && !read_source()) || !statements() || !read_instances() ||
      !finish(start_rule)) {
    return *error_;
  }
  return std::move(rules_);
}

bool LarkReader::statements() {
  for (skip_space(); !at_end(); skip_space()) {
    if (nested_ && peek() == '}') return true;
    if (!(peek() == '%' ? directive() : definition())) return false;
    if (!within_limits(at_)) return false;
  }
  if (nested_) return fail_here("a \"}\" closes the grammar inside.");
  return true;
}

// ".2", ".-10".  A priority says which of two parses is meant; a grammar has
// the texts of both.
bool LarkReader::priority() {
  if (!match(".")) return true;
  if (peek() == '-' || peek() == '+') ++at_;
  std::uint64_t value = 0;
  return number(0, 0x7FFFFFFF, value);
}

bool LarkReader::defined_twice(const std::string& called, Span span) {
  return fail(span.begin, span.end, "\"" + called + "\" is defined twice.",
              ErrorCode::kConflict);
}

// Rules "name::_" of llguidance have a number as a parameter.
bool LarkReader::no_number(std::size_t begin) {
  if (!text_.substr(at_).starts_with("::")) return true;
  return fail(
      begin, at_ + 2,
      "Rules with a number (\"name::_\") are not supported; write a rule "
      "for each number.",
      ErrorCode::kUnsupported);
}

// Reads the definition of a rule or terminal: its name, its options, ":" and
// its body.
bool LarkReader::definition() {
  const std::size_t prefix = at_;
  // Both are about Lark's trees, in either order.
  if (match("?")) {
    match("!");
  } else if (match("!")) {
    match("?");
  }
  const std::size_t begin = at_;
  const std::string called = name();
  if (called.empty()) {
    at_ = prefix;
    return fail_here("a rule or terminal begins with its name.");
  }
  const Span span{begin, at_};
  if (peek() == '{') return define_template(called, span);
  if (templates_.contains(prefix_ + called)) return defined_twice(called, span);
  const RuleId id = named_rule(called, span);
  if (!define(id, span) || !priority()) return false;
  rules::RuleOptions chosen;
  if (peek() == '[') {
    if (info_[id].terminal) {
      return fail(at_, at_ + 1,
                  "A terminal takes no options; give them to a rule.",
                  ErrorCode::kUnsupported);
    }
    const std::size_t brackets = at_;
    if (!options(chosen, called)) return false;
    if (!chosen.marker_capture.empty() && chosen.marker == rules::kNoExpr) {
      return fail(brackets, at_,
                  "\"stop_capture\" captures a \"stop\" or a \"suffix\", and "
                  "there is none.");
    }
    if (!priority()) return false;
  }
  if (!no_number(begin)) return false;
  skip_blanks();
  if (!match(":")) return fail_here("a name is followed by \":\".");
  // Set how the body is read.  In a lexeme (a terminal, or a rule that is lazy
  // or has a marker), no ignored text follows the items.
  const bool lexeme = chosen.lazy || chosen.marker != rules::kNoExpr;
  in_terminal_ = info_[id].terminal;
  in_lexeme_ = in_terminal_ || lexeme;
  no_rules_ = chosen.marker != rules::kNoExpr;
  ExprId made;
  if (!body(made)) return false;
  // A temperature applies to the text of the rule itself: ignored text after
  // the last item is generated at the temperature of the enclosing rule.
  const bool peeled =
      chosen.temperature && !lexeme && without_trailing_ignored(made);
  if ((lexeme && weave_) || peeled) {
    // The lexeme is a rule of its own, so that ignored text stays outside.
    const RuleId inner = add_rule(called + " itself", {span, true});
    rules_.rules[inner].body = made;
    rules_.rules[inner].options = std::move(chosen);
    rules_.rules[id].body =
        rules_.sequence({rules_.reference(inner), rules_.reference(ignored_)});
    return true;
  }
  rules_.rules[id].body = made;
  rules_.rules[id].options = std::move(chosen);
  return true;
}

// If `id` is a sequence that ends with ignored text, makes it one without and
// returns true.
bool LarkReader::without_trailing_ignored(ExprId& id) {
  const rules::Expr& expr = rules_.exprs[id];
  if (!weave_ || expr.kind != rules::ExprKind::kSequence) return false;
  std::vector<ExprId> parts = expr.children;
  ExprId last = parts.back();
  const rules::Expr& end = rules_.exprs[last];
  if (end.kind == rules::ExprKind::kRule && end.index == ignored_) {
    parts.pop_back();
  } else if (without_trailing_ignored(last)) {
    parts.back() = last;
  } else {
    return false;
  }
  id = rules_.sequence(std::move(parts));
  return true;
}

// Reads the alternatives of a statement, up to its end.
bool LarkReader::body(ExprId& out) {
  begin_body();
  for (;;) {
    skip_blanks();
    if (frames_.size() > 1) skip_space();
    const bool line_end = at_end() || at_newline();
    if (line_end && frames_.size() == 1) {
      const std::size_t saved = at_;
      skip_space();
      if (peek() == '|') continue;
      at_ = saved;
    }
    const bool ends = at_end() || line_end ||
                      (nested_ && peek() == '}' && frames_.size() == 1);
    if (ends) return alternative() && end_body(out);
    if (!item()) return false;
  }
}

// Reads the structure of a body: "|", groups, operators and aliases.  Sets
// `found` to false if nothing of the kind is at the cursor.
bool LarkReader::structure(bool& found) {
  constexpr std::string_view kNotOperands = "|)]?*+{&";
  found = true;
  if (frames_.back().negated &&
      kNotOperands.find(peek()) != kNotOperands.npos) {
    return no_operand();
  }
  switch (peek()) {
    case '|':
      ++at_;
      return alternative();
    case '(':
      return open(')');
    case '[':
      return open(']');
    case ')':
    case ']':
      return close_group();
    case '?':
    case '*':
    case '+':
    case '{':
      return repetition();
    case '~':
      return tilde();
    case '&':
      if (!in_terminal_) break;
      frames_.back().operator_at = at_++;
      if (frames_.back().sequence.empty()) return no_operand();
      frames_.back().conjuncts.push_back(
          rules_.sequence(std::move(frames_.back().sequence)));
      frames_.back().sequence.clear();
      frames_.back().operand = false;
      return true;
    default:
      break;
  }
  found = match("->");
  if (!found) return true;
  if (frames_.back().negated) return no_operand();
  skip_blanks();
  if (name().empty()) return fail_here("an alias is a name: -> alias.");
  frames_.back().operand = false;
  return true;
}

// Reads one item or operator.
bool LarkReader::item() {
  bool found = false;
  if (!structure(found) || found) return error_ == std::nullopt;
  const char c = peek();
  ExprId id;
  if (begins_lark_name(c)) return named_item();
  if (c == '"') {
    bool ranged = false;
    if (!text_item(id, ranged)) return false;
  } else if (c == '/') {
    if (!pattern(id)) return false;
  } else if (c == '<') {
    if (!only_in_rules(at_, "a token") || !tokens(id)) return false;
  } else if (c == '@') {
    if (!only_in_rules(at_, "another grammar") || !named_grammar(id)) {
      return false;
    }
  } else if (c == '%') {
    if (!inline_directive(id)) return false;
  } else if (c == '&') {
    return fail_here("only terminals, with upper-case names, have \"&\".");
  } else {
    return fail_here("expected \"text\", /pattern/, a name or a group.");
  }
  push_lexeme(id);
  return true;
}

bool LarkReader::only_in_rules(std::size_t begin, std::string_view what) {
  if (!in_terminal_) return true;
  return fail(begin, begin + 1,
              "A terminal cannot hold " + std::string(what) +
                  "; make it a rule, with a lower-case name.");
}

bool LarkReader::named_item() {
  const std::size_t begin = at_;
  const std::string called = name();
  const Span span{begin, at_};
  Argument used;
  if (!no_number(begin) || !argument_called(called, span, used)) return false;
  if (used.lexeme) {
    push_lexeme(rules_.reference(used.rule));
    return true;
  }
  if (!only_in_rules(begin, "a rule")) return false;
  if (no_rules_) {
    return fail(begin, at_,
                "The body of a rule with a suffix or stop holds no rules, "
                "only terminals.",
                ErrorCode::kUnsupported);
  }
  push(rules_.reference(used.rule));
  return true;
}

// Adds an item of a terminal, or its complement after "~".
void LarkReader::push_item(ExprId id) {
  if (std::exchange(frames_.back().negated, false)) id = combine({id}, true);
  push(id);
}

// Adds an item; ignored text may follow it.
void LarkReader::push_lexeme(ExprId id) {
  if (weave_ && !in_lexeme_) {
    id = rules_.sequence({id, rules_.reference(ignored_)});
  }
  push_item(id);
}

bool LarkReader::close_group() {
  if (frames_.size() > 1 && !alternative()) return false;
  Frame inner;
  ExprId id;
  if (!close(inner, id)) return false;
  if (inner.close == ']') id = rules_.repeat(id, 0, 1);
  push_item(id);
  return true;
}

// Ends an alternative: "&" binds tighter than "|", and less than a sequence.
bool LarkReader::alternative() {
  Frame& frame = frames_.back();
  if (frame.negated) return no_operand();
  if (!frame.conjuncts.empty()) {
    if (frame.sequence.empty()) return no_operand();
    std::vector<ExprId> operands = std::move(frame.conjuncts);
    frame.conjuncts.clear();
    operands.push_back(rules_.sequence(std::move(frame.sequence)));
    frame.sequence = {combine(std::move(operands), false)};
  }
  end_alternative();
  return true;
}

bool LarkReader::no_operand() {
  const std::size_t begin = frames_.back().operator_at;
  return fail(begin, begin + 1,
              text_[begin] == '~'
                  ? "\"~\" is followed by an item: its complement is meant."
                  : "\"&\" stands between two texts; \"\" is the empty one.");
}

// "~3", "~2..5" after an item, or "~" before one: its complement.
bool LarkReader::tilde() {
  const std::size_t begin = at_++;
  skip_blanks();
  if (!is_digit(peek())) {
    if (!in_terminal_) {
      return fail(begin, begin + 1,
                  "Only terminals, with upper-case names, have \"~\" before an "
                  "item.");
    }
    frames_.back().negated = !frames_.back().negated;
    frames_.back().operator_at = begin;
    return true;
  }
  if (frames_.back().negated) return no_operand();
  std::uint32_t min = 0;
  if (!count(min)) return false;
  std::uint32_t max = min;
  skip_blanks();
  if (match("..")) {
    skip_blanks();
    if (!count(max)) return false;
  }
  return repeat_last(begin, min, max);
}

// --- After the last statement ------------------------------------------------

bool LarkReader::finish(std::string_view start_rule) {
  if (!check_references()) return false;
  // All %ignore statements have been read, so ignored text can be defined.
  if (weave_) {
    rules_.rules[ignored_].body =
        ignores_.empty() ? rules_.empty()
                         : rules_.repeat(rules_.choice(std::move(ignores_)), 0,
                                         ignored_once_ ? 1 : kUnbounded);
  }
  auto start = ids_.find(std::string(start_rule));
  if (start == ids_.end()) {
    return fail(at_, at_,
                "There is no rule \"" + std::string(start_rule) +
                    "\" to begin with; define it, or name another start rule.",
                ErrorCode::kBadReference);
  }
  rules_.root = start->second;
  // Rewrite rules of free text.  open_ended_lazy_rules() comes last, because it
  // rewrites lazy rules by which find_dispatch() recognises triggers.
  if (!check_terminals() || !combine_terminals()) return false;
  open_ended_markers();
  if (!find_dispatch()) return false;
  open_ended_lazy_rules();
  if (!check_lazy()) return false;
  // With allow_initial_skip, ignored text may precede the first item.
  if (weave_ && initial_skip_) {
    rules::Rule outer;
    outer.name = "start with ignored text";
    outer.body = rules_.sequence(
        {rules_.reference(ignored_), rules_.reference(rules_.root)});
    rules_.root = static_cast<RuleId>(rules_.rules.size());
    rules_.rules.push_back(std::move(outer));
  }
  return true;
}

// Fails if a terminal is recursive.
bool LarkReader::check_terminals() {
  enum class Mark : unsigned char { kNew, kOpen, kDone };
  std::vector<Mark> marks(info_.size(), Mark::kNew);
  std::vector<std::pair<RuleId, bool>> left;  // and whether to leave it
  for (RuleId first; first < info_.size(); ++first) {
    if (!info_[first].terminal) continue;
    left.emplace_back(first, false);
    while (!left.empty()) {
      auto [id, leave] = left.back();
      left.pop_back();
      if (leave) {
        marks[id] = Mark::kDone;
        continue;
      }
      if (marks[id] == Mark::kDone) continue;
      if (marks[id] == Mark::kOpen) {
        return fail(info_[id].first_use.begin, info_[id].first_use.end,
                    "Terminal \"" + rules_.rules[id].name +
                        "\" uses itself; make it a rule.");
      }
      marks[id] = Mark::kOpen;
      left.emplace_back(id, true);
      std::vector<ExprId> exprs{rules_.rules[id].body};
      while (!exprs.empty()) {
        const rules::Expr& expr = rules_.exprs[exprs.back()];
        exprs.pop_back();
        exprs.insert(exprs.end(), expr.children.begin(), expr.children.end());
        if (expr.kind == rules::ExprKind::kRule && expr.index < info_.size()) {
          left.emplace_back(expr.index, false);
        }
      }
    }
  }
  return true;
}

Result<Rules> read_lark(std::string_view text, const LarkOptions& options,
                        std::vector<std::string>* declared) {
  LarkContext context{options};
  Result<Rules> rules = LarkReader(text, context).run(options.start_rule);
  if (declared != nullptr) *declared = std::move(context.declared);
  return rules;
}

}  // namespace parlance::notation
