// Reads the structure of EBNF: rules, sequences, alternatives and operators.
// frames_ is the stack of open parentheses, below them the body of the rule.

#include "notation/ebnf.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "notation/ebnf_reader.h"

namespace parlance::notation {

using rules::ExprId;
using rules::RuleId;
namespace {

using base::is_space;

bool begins_ebnf_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '-';
}
bool in_ebnf_name(char c) {
  return begins_ebnf_name(c) || is_digit(c) || c == '.';
}

}  // namespace

EbnfReader::EbnfReader(std::string_view text, const rules::RulesLimits& limits)
    : TextCursor(text), limits_(limits) {}

// The message begins with the text found at the cursor.
bool EbnfReader::fail_here(std::string message) {
  if (at_end()) return fail(at_, at_, "The grammar ends here; " + message);
  std::size_t end = at_;
  base::next_code_point(text_, end);
  return fail(at_, end,
              "Found \"" + std::string(text_.substr(at_, end - at_)) + "\"; " +
                  message);
}

void EbnfReader::skip_space() {
  for (; !at_end(); ++at_) {
    if (peek() == '#') {
      while (!at_end() && peek() != '\n' && peek() != '\r') ++at_;
      if (at_end()) return;
    } else if (!is_space(peek())) {
      return;
    }
  }
}

bool EbnfReader::first_on_line(std::size_t at) const {
  while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) --at;
  return at == 0 || (at == 3 && text_.starts_with("\xEF\xBB\xBF")) ||
         text_[at - 1] == '\n' || text_[at - 1] == '\r';
}

std::string EbnfReader::name() {
  std::size_t begin = at_;
  if (!at_end() && begins_ebnf_name(peek())) {
    while (!at_end() && in_ebnf_name(peek())) ++at_;
  }
  return std::string(text_.substr(begin, at_ - begin));
}

RuleId EbnfReader::rule_called(const std::string& called, Span span) {
  auto [place, added] =
      ids_.try_emplace(called, static_cast<RuleId>(rules_.rules.size()));
  if (added) {
    rules::Rule made;
    made.name = called;
    rules_.rules.push_back(std::move(made));
    first_use_.push_back(span);
    defined_.push_back(false);
  }
  return place->second;
}

Result<rules::Rules> EbnfReader::run(std::string_view root_rule) {
  if (text_.size() > limits_.source_bytes) {
    return Error{ErrorCode::kTooLarge,
                 "The grammar is larger than the limit source_bytes."};
  }
  if (!base::is_utf8(text_)) {
    return Error{ErrorCode::kInvalidUtf8, "The grammar is not UTF-8."};
  }
  if (!grammar() || !check_references()) return *error_;
  auto root = ids_.find(std::string(root_rule));
  if (root == ids_.end() || !defined_[root->second]) {
    return Error{ErrorCode::kBadReference,
                 "There is no rule \"" + std::string(root_rule) +
                     "\" to begin with; define it, or name another root.",
                 {},
                 Span{0, 0}};
  }
  rules_.root = root->second;
  if (!prefix_of_.empty() && prefix_of_ != rules_.rules[rules_.root].name) {
    return Error{
        ErrorCode::kConflict,
        "Only the root, \"" + std::string(root_rule) + "\", has a prefix.",
        {},
        prefix_span_};
  }
  if (std::optional<rules::NotLazy> wrong = rules::find_not_lazy(rules_)) {
    return Error{ErrorCode::kUnsupported,
                 "Rule \"" + rules_.rules[wrong->rule].name +
                     "\" cannot be lazy: it " + wrong->why +
                     ".  The body of a lazy rule must be one automaton.",
                 {},
                 first_use_[wrong->rule]};
  }
  return std::move(rules_);
}

bool EbnfReader::grammar() {
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  for (skip_space(); !at_end(); skip_space()) {
    if (!rule()) return false;
  }
  return true;
}

bool EbnfReader::check_references() {
  for (RuleId id = 0; id < rules_.rules.size(); ++id) {
    if (!defined_[id]) {
      return fail(first_use_[id].begin, first_use_[id].end,
                  "There is no rule \"" + rules_.rules[id].name +
                      "\"; define it with \"::=\".",
                  ErrorCode::kBadReference);
    }
  }
  return true;
}

bool EbnfReader::rule() {
  std::size_t begin = at_;
  std::string called = name();
  if (called.empty()) {
    return fail_here("a rule begins with its name, as in \"root ::= ...\".");
  }
  if (!first_on_line(begin)) {
    return fail(begin, at_, "A rule must begin its line.");
  }
  const Span span{begin, at_};
  RuleId id = rule_called(called, span);
  if (defined_[id]) {
    return fail(
        begin, at_,
        "Rule \"" + called + "\" is defined twice; join the two with \"|\".",
        ErrorCode::kConflict);
  }
  defined_[id] = true;
  first_use_[id] = span;
  rules::RuleOptions chosen;
  if (peek() == '[' && !options(chosen, called)) return false;
  skip_space();
  if (!match("::=")) return fail_here("a rule's name is followed by \"::=\".");
  ExprId made = 0;
  if (!body(made)) return false;
  rules_.rules[id].body = made;
  rules_.rules[id].options = std::move(chosen);
  if (!rules_.within(limits_)) {
    return fail(begin, at_,
                "The grammar is larger than the limits of rules and "
                "expressions.",
                ErrorCode::kTooLarge);
  }
  return true;
}

// Whether the name at the cursor is being defined rather than used.
bool EbnfReader::begins_rule() const {
  if (!first_on_line(at_)) return false;
  std::size_t i = at_;
  while (i < text_.size() && in_ebnf_name(text_[i])) ++i;
  if (i < text_.size() && text_[i] == '[') {
    // Options contain no bracket outside strings, and end with "]".
    for (++i; i < text_.size() && text_[i] != ']'; ++i) {
      if (text_[i] == '[') return false;
      if (text_[i] != '"') continue;
      for (++i; i < text_.size() && text_[i] != '"' && text_[i] != '\n'; ++i) {
        if (text_[i] == '\\') ++i;
      }
    }
    if (i < text_.size()) ++i;
  }
  while (i < text_.size() && is_space(text_[i])) ++i;
  return text_.substr(std::min(i, text_.size())).starts_with("::=");
}

bool EbnfReader::body(ExprId& out) {
  frames_.clear();
  frames_.emplace_back();
  frames_.back().begin = at_;
  for (;;) {
    skip_space();
    const bool rule_follows =
        !at_end() && begins_ebnf_name(peek()) && begins_rule();
    if (at_end() || rule_follows) {
      if (frames_.size() > 1) {
        return fail(frames_.back().begin, frames_.back().begin + 1,
                    "This \"(\" is never closed; add a \")\".");
      }
      if (!end_alternative(at_)) return false;
      out = finish(frames_.back());
      return true;
    }
    if (!element()) return false;
  }
}

bool EbnfReader::element() {
  Frame& frame = frames_.back();
  const char c = peek();
  if (c == '|') {
    if (!end_alternative(at_)) return false;
    ++at_;
    return true;
  }
  if (c == ')') return close();
  if (frame.closed) {
    return fail_here("nothing may follow a (= ...) but \"|\" or \")\".");
  }
  if (c == '(') return open();
  if (c == '?' || c == '*' || c == '+' || c == '{') return repetition();
  ExprId id = 0;
  if (c == '"') {
    std::string text;
    if (!string(text)) return false;
    id = rules_.bytes(text);
  } else if (c == '[') {
    if (!char_class(id)) return false;
  } else if (c == '.') {
    ++at_;
    id = rules_.char_class(regex::CharClass::any());
  } else if (begins_ebnf_name(c)) {
    std::size_t begin = at_;
    std::string called = name();
    const Span span{begin, at_};
    if (peek() == '(' && is_macro(called)) {
      if (!macro(called, begin, id)) return false;
    } else {
      std::size_t saved = at_;
      skip_space();
      if (match("::=")) return fail(begin, at_, "A rule must begin its line.");
      at_ = saved;
      id = rules_.reference(rule_called(called, span));
    }
  } else {
    return fail_here(
        "expected a \"string\", a [class], a rule's name or a parenthesis.");
  }
  push(id);
  return true;
}

void EbnfReader::push(ExprId id) {
  Frame& frame = frames_.back();
  frame.sequence.push_back(id);
  frame.has_element = true;
  frame.operand = true;
  frame.repeated = false;
}

bool EbnfReader::open() {
  if (frames_.size() > limits_.depth) {
    return fail(at_, at_ + 1,
                "Parentheses are nested more deeply than the limit depth.",
                ErrorCode::kTooLarge);
  }
  Frame inner;
  inner.begin = at_;
  ++at_;
  inner.hint = match("=");
  skip_space();
  // "()" is the empty text.
  inner.has_element = peek() == ')' && !inner.hint;
  frames_.push_back(std::move(inner));
  return true;
}

bool EbnfReader::close() {
  if (frames_.size() == 1) {
    return fail(at_, at_ + 1, "There is no \"(\" for this \")\".");
  }
  if (!end_alternative(at_)) return false;
  ++at_;
  Frame inner = std::move(frames_.back());
  frames_.pop_back();
  ExprId id = finish(inner);
  if (!inner.hint) {
    push(id);
    return true;
  }
  Frame& frame = frames_.back();
  if (!frame.has_element) {
    return fail(inner.begin, at_,
                "A hint (= ...) must follow the elements that it describes.");
  }
  frame.closed = true;
  frame.operand = false;
  return true;
}

bool EbnfReader::end_alternative(std::size_t end) {
  Frame& frame = frames_.back();
  if (!frame.has_element) {
    return fail(end, std::min(end + 1, text_.size()),
                "An alternative is empty here; write \"\" for the empty "
                "text.");
  }
  frame.alternatives.push_back(rules_.sequence(std::move(frame.sequence)));
  frame.sequence.clear();
  frame.has_element = false;
  frame.closed = false;
  frame.operand = false;
  return true;
}

ExprId EbnfReader::finish(Frame& frame) {
  return rules_.choice(std::move(frame.alternatives));
}

bool EbnfReader::repetition() {
  Frame& frame = frames_.back();
  const std::size_t begin = at_;
  if (!frame.operand) {
    return fail_here("there is nothing before it to repeat.");
  }
  if (frame.repeated) {
    return fail_here("two operators in a row; put the first into parentheses.");
  }
  std::uint32_t min = 0;
  std::uint32_t max = rules::kUnbounded;
  switch (text_[at_++]) {
    case '?':
      max = 1;
      break;
    case '*':
      break;
    case '+':
      min = 1;
      break;
    default:
      if (!braces(min, max)) return false;
      if (min > max) {
        return fail(begin, at_,
                    "The least count is greater than the greatest; write the "
                    "smaller number first.");
      }
      break;
  }
  frame.sequence.back() = rules_.repeat(frame.sequence.back(), min, max);
  frame.repeated = true;
  return true;
}

// Reads "n}", "n,}" or "n,m}".  REQUIRES: the cursor is after "{".
bool EbnfReader::braces(std::uint32_t& min, std::uint32_t& max) {
  skip_space();
  if (!count(min)) return false;
  max = min;
  skip_space();
  if (match(",")) {
    skip_space();
    max = rules::kUnbounded;
    if (peek() != '}' && !count(max)) return false;
    skip_space();
  }
  if (!match("}")) return fail_here("a count is written {n}, {n,} or {n,m}.");
  return true;
}

bool EbnfReader::count(std::uint32_t& out) {
  std::size_t begin = at_;
  std::uint64_t value = 0;
  while (!at_end() && is_digit(peek())) {
    value = std::min<std::uint64_t>(value * 10 + std::uint64_t(peek() - '0'),
                                    std::uint64_t{1} << 40);
    ++at_;
  }
  if (at_ == begin) {
    return fail_here("a count is a number, as in {2,5}.");
  }
  if (value > 0x7FFFFFFF) {
    return fail(begin, at_, "A count goes up to 2147483647.",
                ErrorCode::kTooLarge);
  }
  out = static_cast<std::uint32_t>(value);
  return true;
}

Result<rules::Rules> read_ebnf(std::string_view text,
                               std::string_view root_rule,
                               const rules::RulesLimits& limits) {
  return EbnfReader(text, limits).run(root_rule);
}

}  // namespace parlance::notation
