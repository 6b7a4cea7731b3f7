// Reads the structure of Lark: statements, sequences, alternatives and
// operators; and completes the rules after the last statement (finish()).

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
    : TextCursor(text),
      nested_(false),
      context_(context),
      limits_(context.options.limits),
      last_ignore_(text.rfind("%ignore")),
      weave_(last_ignore_ != std::string_view::npos) {}

LarkReader::LarkReader(const LarkReader& outer, std::size_t begin)
    : TextCursor(outer.text_, begin),
      nested_(true),
      context_(outer.context_),
      limits_(outer.limits_),
      last_ignore_(outer.last_ignore_),
      weave_(last_ignore_ != std::string_view::npos && last_ignore_ > begin) {}

bool LarkReader::fail_here(std::string message) {
  if (at_end()) return fail(at_, at_, "The grammar ends here; " + message);
  std::size_t end = at_;
  const char32_t c = base::next_code_point(text_, end);
  const std::string shown =
      c == '\n' || c == '\r'
          ? "the end of the line"
          : "\"" + std::string(text_.substr(at_, end - at_)) + "\"";
  return fail(at_, end, "Found " + shown + "; " + message);
}

void LarkReader::skip_blanks() {
  for (; !at_end(); ++at_) {
    if (peek() == '#' || (peek() == '/' && peek(1) == '/')) {
      while (!at_end() && peek() != '\n' && peek() != '\r') ++at_;
      return;
    }
    if (peek() != ' ' && peek() != '\t' && peek() != '\f') return;
  }
}

void LarkReader::skip_space() {
  for (skip_blanks(); peek() == '\n' || peek() == '\r'; skip_blanks()) ++at_;
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

RuleId LarkReader::rule_called(const std::string& called, Span span) {
  auto [place, added] =
      ids_.try_emplace(called, static_cast<RuleId>(rules_.rules.size()));
  if (added) {
    rules::Rule made;
    made.name = called;
    rules_.rules.push_back(std::move(made));
    Info info;
    info.first_use = span;
    info.terminal = is_terminal(called);
    info_.push_back(info);
  }
  return place->second;
}

RuleId LarkReader::append(const Rules& other) {
  const RuleId root = rules_.append(other);
  Info known;
  known.first_use = {at_, at_};
  known.defined = true;
  info_.resize(rules_.rules.size(), known);
  return root;
}

Result<Rules> LarkReader::run() {
  if (weave_) {
    // A name with a space cannot be a name of the grammar.
    ignored_ = rule_called("ignored text", {at_, at_});
    info_[ignored_].defined = true;
    info_[ignored_].terminal = true;
  }
  if (!statements() || !finish()) return *error_;
  return std::move(rules_);
}

bool LarkReader::statements() {
  for (skip_space(); !at_end(); skip_space()) {
    if (nested_ && peek() == '}') return true;
    if (!(peek() == '%' ? directive() : definition())) return false;
    if (!rules_.within(limits_)) {
      return fail(at_, at_,
                  "The grammar is larger than the limits of rules and "
                  "expressions.",
                  ErrorCode::kTooLarge);
    }
  }
  if (nested_) return fail_here("a \"}\" closes the grammar inside.");
  return true;
}

// Reads the definition of a rule or terminal: its name, its options, ":" and
// its body.
bool LarkReader::definition() {
  const std::size_t prefix = at_;
  if (peek() == '?' || peek() == '!') ++at_;
  const std::size_t begin = at_;
  const std::string called = name();
  if (called.empty()) {
    at_ = prefix;
    return fail_here("a rule or terminal begins with its name.");
  }
  const Span span{begin, at_};
  const RuleId id = rule_called(called, span);
  if (info_[id].defined) {
    return fail(begin, at_, "\"" + called + "\" is defined twice.",
                ErrorCode::kConflict);
  }
  info_[id].defined = true;
  info_[id].first_use = span;
  if (peek() == '.') {
    return fail(begin, at_ + 1,
                "Priorities are not supported; a grammar allows every text "
                "that fits.",
                ErrorCode::kUnsupported);
  }
  rules::RuleOptions chosen;
  if (peek() == '[') {
    if (info_[id].terminal) {
      return fail(at_, at_ + 1,
                  "A terminal takes no options; give them to a rule.",
                  ErrorCode::kUnsupported);
    }
    if (!options(chosen, called)) return false;
  }
  skip_blanks();
  if (!match(":")) return fail_here("a name is followed by \":\".");
  // Set how the body is read.  In a lexeme (a terminal, or a rule that is lazy
  // or has a marker), no ignored text follows the items.
  const bool lexeme = chosen.lazy || chosen.marker != rules::kNoId;
  in_terminal_ = info_[id].terminal;
  in_lexeme_ = in_terminal_ || lexeme;
  no_rules_ = chosen.marker != rules::kNoId;
  ExprId made = 0;
  if (!body(made)) return false;
  // A temperature is that of the text itself: ignored text after the last item
  // is read at the temperature of what is around the rule.
  const bool peeled =
      chosen.temperature && !lexeme && without_trailing_ignored(made);
  if ((lexeme && weave_) || peeled) {
    // The lexeme is a rule of its own, so that ignored text stays outside.
    const RuleId inner = rule_called(called + " itself", span);
    info_[inner].defined = true;
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
  frames_.clear();
  frames_.emplace_back();
  frames_.back().begin = at_;
  for (;;) {
    skip_blanks();
    if (frames_.size() > 1) skip_space();
    const bool line_end = at_end() || peek() == '\n' || peek() == '\r';
    if (line_end && frames_.size() == 1) {
      const std::size_t saved = at_;
      skip_space();
      if (peek() == '|') continue;
      at_ = saved;
    }
    const bool ends = at_end() || line_end ||
                      (nested_ && peek() == '}' && frames_.size() == 1);
    if (ends) {
      if (frames_.size() > 1) {
        return fail(frames_.back().begin, frames_.back().begin + 1,
                    "This group is never closed.");
      }
      end_alternative();
      out = rules_.choice(std::move(frames_.back().alternatives));
      return true;
    }
    if (!item()) return false;
  }
}

// Reads one item or operator: structure first ("|", groups, operators,
// aliases), then the items, which add an expression to the sequence.
bool LarkReader::item() {
  const char c = peek();
  switch (c) {
    case '|':
      ++at_;
      end_alternative();
      return true;
    case '(':
      return open(')');
    case '[':
      return open(']');
    case ')':
    case ']':
      return close();
    case '?':
    case '*':
    case '+':
    case '~':
    case '{':
      return operators();
    default:
      break;
  }
  if (match("->")) {
    skip_blanks();
    if (name().empty()) return fail_here("an alias is a name: -> alias.");
    frames_.back().operand = false;
    return true;
  }
  ExprId id = 0;
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
  const RuleId id = rule_called(called, span);
  if (!info_[id].terminal) {
    if (!only_in_rules(begin, "a rule")) return false;
    if (no_rules_) {
      return fail(begin, at_,
                  "The body of a rule with a suffix or stop holds no rules, "
                  "only terminals.",
                  ErrorCode::kUnsupported);
    }
    if (peek() == '{' && begins_lark_name(peek(1))) {
      return fail(begin, at_ + 1, "Templates are not supported.",
                  ErrorCode::kUnsupported);
    }
    push(rules_.reference(id));
    return true;
  }
  push_lexeme(rules_.reference(id));
  return true;
}

void LarkReader::push(ExprId id) {
  Frame& frame = frames_.back();
  frame.sequence.push_back(id);
  frame.operand = true;
  frame.repeated = false;
}

// Adds an item; ignored text may follow it.
void LarkReader::push_lexeme(ExprId id) {
  if (weave_ && !in_lexeme_) {
    id = rules_.sequence({id, rules_.reference(ignored_)});
  }
  push(id);
}

bool LarkReader::open(char close) {
  if (frames_.size() > limits_.depth) {
    return fail(at_, at_ + 1,
                "Groups are nested more deeply than the limit depth.",
                ErrorCode::kTooLarge);
  }
  Frame inner;
  inner.begin = at_++;
  inner.close = close;
  frames_.push_back(std::move(inner));
  return true;
}

bool LarkReader::close() {
  if (frames_.back().close != peek()) {
    return fail_here("no group of this kind is open.");
  }
  end_alternative();
  Frame inner = std::move(frames_.back());
  frames_.pop_back();
  ExprId id = rules_.choice(std::move(inner.alternatives));
  if (text_[at_++] == ']') id = rules_.repeat(id, 0, 1);
  push(id);
  return true;
}

void LarkReader::end_alternative() {
  Frame& frame = frames_.back();
  frame.alternatives.push_back(rules_.sequence(std::move(frame.sequence)));
  frame.sequence.clear();
  frame.operand = false;
}

bool LarkReader::operators() {
  const std::size_t begin = at_;
  switch (text_[at_++]) {
    case '?':
      return repeat_last(begin, 0, 1);
    case '*':
      return repeat_last(begin, 0, kUnbounded);
    case '+':
      return repeat_last(begin, 1, kUnbounded);
    default:
      break;
  }
  const bool braces = text_[begin] == '{';
  std::uint32_t min = 0;
  std::uint32_t max = 0;
  skip_blanks();
  if (!(braces && peek() == ',') && !count(min)) return false;
  max = min;
  skip_blanks();
  if (match(braces ? "," : "..")) {
    skip_blanks();
    max = kUnbounded;
    if (!(braces && peek() == '}') && !count(max)) return false;
    skip_blanks();
  }
  if (braces && !match("}")) {
    return fail_here("a count is written {n}, {n,}, {,m} or {n,m}.");
  }
  if (min > max) {
    return fail(begin, at_,
                "The least count is greater than the greatest; write the "
                "smaller number first.");
  }
  return repeat_last(begin, min, max);
}

bool LarkReader::repeat_last(std::size_t begin, std::uint32_t min,
                             std::uint32_t max) {
  Frame& frame = frames_.back();
  if (!frame.operand) {
    return fail(begin, begin + 1, "There is nothing before this to repeat.");
  }
  if (frame.repeated) {
    return fail(begin, begin + 1,
                "Two operators in a row; put the first into parentheses.");
  }
  frame.sequence.back() = rules_.repeat(frame.sequence.back(), min, max);
  frame.repeated = true;
  return true;
}

bool LarkReader::count(std::uint32_t& out) {
  std::uint64_t value = 0;
  return number(0, 0x7FFFFFFF, value)
             ? (out = static_cast<std::uint32_t>(value), true)
             : false;
}

// --- After the last statement
// -------------------------------------------------------

bool LarkReader::finish() {
  // Every name must be defined.
  for (RuleId id = 0; id < info_.size(); ++id) {
    if (info_[id].defined) continue;
    return fail(info_[id].first_use.begin, info_[id].first_use.end,
                "\"" + rules_.rules[id].name + "\" is not defined.",
                ErrorCode::kBadReference);
  }
  // All %ignore statements have been read, so ignored text can be defined.
  if (weave_) {
    rules_.rules[ignored_].body =
        ignores_.empty()
            ? rules_.empty()
            : rules_.repeat(rules_.choice(std::move(ignores_)), 0, kUnbounded);
  }
  auto start = ids_.find("start");
  if (start == ids_.end()) {
    return fail(at_, at_, "There is no rule \"start\" to begin with.",
                ErrorCode::kBadReference);
  }
  rules_.root = start->second;
  // Rewrite rules of free text.  open_ended_lazy_rules() comes last, because it
  // rewrites lazy rules by which find_dispatch() recognises triggers.
  if (!check_terminals()) return false;
  open_ended_markers();
  if (!find_dispatch()) return false;
  open_ended_lazy_rules();
  if (std::optional<rules::NotLazy> wrong = rules::find_not_lazy(rules_)) {
    const Span span = wrong->rule < info_.size() ? info_[wrong->rule].first_use
                                                 : Span{at_, at_};
    return fail(span.begin, span.end,
                "Rule \"" + rules_.rules[wrong->rule].name +
                    "\" cannot be lazy: it " + wrong->why +
                    ".  The body of a lazy rule must be one automaton.",
                ErrorCode::kUnsupported);
  }
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
  for (RuleId first = 0; first < info_.size(); ++first) {
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

Result<Rules> read_lark(std::string_view text, const LarkOptions& options) {
  if (text.size() > options.limits.source_bytes) {
    return Error{ErrorCode::kTooLarge,
                 "The grammar is larger than the limit source_bytes."};
  }
  if (!base::is_utf8(text)) {
    return Error{ErrorCode::kInvalidUtf8, "The grammar is not UTF-8."};
  }
  LarkContext context{options};
  return LarkReader(text, context).run();
}

}  // namespace parlance::notation
