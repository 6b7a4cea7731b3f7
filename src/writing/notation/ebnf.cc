// Reads the structure of EBNF and GBNF: rules and elements.

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

using base::is_letter;
using base::is_space;

const TokensSpelled kNoVocabulary;

}  // namespace

EbnfReader::EbnfReader(std::string_view text, const rules::RulesLimits& limits)
    : ExpressionReader(text, 0, limits, kNoVocabulary) {}

EbnfReader::EbnfReader(std::string_view text, const GbnfOptions& options)
    : ExpressionReader(text, 0, options.limits, options.tokens_spelled),
      gbnf_(true) {
  many_operators_ = true;
}

void EbnfReader::skip_blanks() {
  for (; !at_end(); ++at_) {
    if (peek() == '#') {
      skip_line();
      return;
    }
    if (peek() != ' ' && peek() != '\t') return;
  }
}

// In GBNF, the end of a line ends an expression outside parentheses.
void EbnfReader::skip_space() {
  if (gbnf_ && frames_.size() == 1) {
    skip_blanks();
  } else {
    ExpressionReader::skip_space();
  }
}

bool EbnfReader::first_on_line(std::size_t at) const {
  while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) --at;
  return at == 0 || (at == 3 && text_.starts_with("\xEF\xBB\xBF")) ||
         text_[at - 1] == '\n' || text_[at - 1] == '\r';
}

bool EbnfReader::in_name(char c) const {
  return is_letter(c) || is_digit(c) || c == '-' ||
         (!gbnf_ && (c == '_' || c == '.'));
}

bool EbnfReader::begins_name(char c) const {
  return in_name(c) && (gbnf_ || (!is_digit(c) && c != '.'));
}

std::string EbnfReader::name() {
  std::size_t begin = at_;
  if (!at_end() && begins_name(peek())) {
    while (!at_end() && in_name(peek())) ++at_;
  }
  return std::string(text_.substr(begin, at_ - begin));
}

Result<rules::Rules> EbnfReader::run(std::string_view root_rule) {
  if (!read_source() || !grammar() || !check_references()) return *error_;
  auto root = ids_.find(std::string(root_rule));
  if (root == ids_.end()) {
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
  if (!check_lazy()) return *error_;
  return std::move(rules_);
}

bool EbnfReader::grammar() {
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  for (skip_space(); !at_end(); frames_.clear(), skip_space()) {
    if (!rule()) return false;
  }
  return true;
}

bool EbnfReader::rule() {
  std::size_t begin = at_;
  std::string called = name();
  if (called.empty()) {
    return fail_here(
        gbnf_ && peek() == '|'
            ? "a rule ends with its line; write the \"|\" at the end of the "
              "line before, or the alternatives in parentheses."
            : "a rule begins with its name, as in \"root ::= ...\".");
  }
  if (!first_on_line(begin)) {
    return fail(begin, at_, "A rule must begin its line.");
  }
  const Span span{begin, at_};
  RuleId id = rule_called(called, span);
  if (!define(id, span)) return false;
  rules::RuleOptions chosen;
  if (!gbnf_ && peek() == '[' && !options(chosen, called)) return false;
  gbnf_ ? skip_blanks() : skip_space();
  if (!match("::=")) {
    return fail_here(gbnf_ ? "a rule's name (letters, digits and \"-\") is "
                             "followed by \"::=\"."
                           : "a rule's name is followed by \"::=\".");
  }
  ExprId made;
  if (!body(made)) return false;
  rules_.rules[id].body = made;
  rules_.rules[id].options = std::move(chosen);
  return within_limits(begin);
}

// Whether the name at the cursor is being defined rather than used.
bool EbnfReader::begins_rule() const {
  if (!first_on_line(at_)) return false;
  std::size_t i = at_;
  while (i < text_.size() && in_name(text_[i])) ++i;
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

// A rule of EBNF ends where the next one begins, a rule of GBNF with its line.
bool EbnfReader::at_end_of_rule() {
  if (at_end()) return true;
  if (!gbnf_) return begins_name(peek()) && begins_rule();
  return frames_.size() == 1 && at_newline();
}

bool EbnfReader::body(ExprId& out) {
  frames_.clear();
  skip_space();
  begin_body();
  for (;;) {
    skip_space();
    if (at_end_of_rule()) {
      if (frames_.size() == 1 && !alternative(at_)) return false;
      return end_body(out);
    }
    if (!element()) return false;
  }
}

// Reads one element or operator: structure first, then the terminals.
bool EbnfReader::element() {
  const char c = peek();
  switch (c) {
    case '|':
      if (!alternative(at_)) return false;
      ++at_;
      // In GBNF a "|" at the end of a line continues the rule.
      ExpressionReader::skip_space();
      return true;
    case ')':
      return close_group();
    default:
      break;
  }
  if (frames_.back().closed) {
    return fail_here("nothing may follow a (= ...) but \"|\" or \")\".");
  }
  if (c == '(') return open_group();
  if (c == '?' || c == '*' || c == '+' || c == '{') return repetition();
  ExprId id;
  if (!terminal(id)) return false;
  push(id);
  return true;
}

bool EbnfReader::terminal(ExprId& out) {
  const char c = peek();
  if (c == '"') {
    std::string text;
    if (!string(text)) return false;
    out = rules_.bytes(text);
    return true;
  }
  if (c == '[') return char_class(out);
  if (c == '.') {
    ++at_;
    out = rules_.char_class(regex::CharClass::any());
    return true;
  }
  if (gbnf_ && (c == '<' || c == '!')) return token(out);
  if (begins_name(c)) return named_element(out);
  return fail_here(
      gbnf_
          ? "expected a \"string\", a [class], a rule's name (letters, digits "
            "and \"-\"), a <token> or a parenthesis."
          : "expected a \"string\", a [class], a rule's name or a "
            "parenthesis.");
}

bool EbnfReader::named_element(ExprId& out) {
  const std::size_t begin = at_;
  const std::string called = name();
  const Span span{begin, at_};
  if (!gbnf_ && peek() == '(' && is_macro(called)) {
    return macro(called, begin, out);
  }
  const std::size_t saved = at_;
  skip_space();
  if (match("::=")) return fail(begin, at_, "A rule must begin its line.");
  at_ = saved;
  out = rules_.reference(rule_called(called, span));
  return true;
}

bool EbnfReader::open_group() {
  if (!open(')')) return false;
  Frame& inner = frames_.back();
  inner.hint = !gbnf_ && match("=");
  skip_space();
  // "()" is the empty text.
  inner.has_element = peek() == ')' && !inner.hint;
  return true;
}

bool EbnfReader::close_group() {
  Frame inner;
  ExprId id;
  if (frames_.size() > 1 && !alternative(at_)) return false;
  if (!close(inner, id)) return false;
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

// Ends an alternative.  In EBNF it is not empty.
bool EbnfReader::alternative(std::size_t end) {
  if (!gbnf_ && !frames_.back().has_element) {
    return fail(end, std::min(end + 1, text_.size()),
                "An alternative is empty here; write \"\" for the empty "
                "text.");
  }
  end_alternative();
  return true;
}

Result<rules::Rules> read_ebnf(std::string_view text,
                               std::string_view root_rule,
                               const rules::RulesLimits& limits) {
  return EbnfReader(text, limits).run(root_rule);
}

Result<rules::Rules> read_gbnf(std::string_view text,
                               const GbnfOptions& options) {
  return EbnfReader(text, options).run(options.root_rule);
}

}  // namespace parlance::notation
