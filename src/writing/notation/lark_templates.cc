// Templates of Lark: rules with parameters.
//
//   list{item, sep}: item (sep item)*
//   start: list{INT, ","}
//
// Each list of arguments makes a rule of its own, here `list{INT,","}`, whose
// body is the template's, read with the parameters bound.  Bodies are read
// after all statements, so that a template may be used before it is defined,
// and one that uses itself with the same arguments is a rule that uses itself.

#include <algorithm>
#include <utility>

#include "notation/lark_reader.h"

namespace parlance::notation {

using rules::ExprId;
namespace {

// Of the name of a rule with its arguments: arguments that grow at each use
// would go on for ever.
constexpr std::size_t kMaxKeyBytes = 10'000;

}  // namespace

// Reads the parameters of a template, and skips its body.
// REQUIRES: the cursor is at "{".
bool LarkReader::define_template(const std::string& called, Span span) {
  Template made;
  made.span = span;
  made.prefix = prefix_;
  ++at_;
  do {
    skip_blanks();
    const std::size_t begin = at_;
    std::string parameter = name();
    if (parameter.empty()) {
      return fail_here("a parameter of the template belongs here.");
    }
    if (std::ranges::find(made.parameters, parameter) !=
        made.parameters.end()) {
      return fail(begin, at_,
                  "The template has the parameter \"" + parameter + "\" twice.",
                  ErrorCode::kConflict);
    }
    made.parameters.push_back(std::move(parameter));
    skip_blanks();
  } while (match(","));
  if (!match("}")) return fail_here("parameters are written {a, b}.");
  if (!priority()) return false;
  if (peek() == '[') {
    return fail(at_, at_ + 1,
                "A template takes no options; give them to a rule that uses "
                "it.",
                ErrorCode::kUnsupported);
  }
  skip_blanks();
  if (!match(":")) return fail_here("a name is followed by \":\".");
  made.text = text_;
  made.begin = at_;
  made.last_ignore = last_ignore_;
  const auto rule = ids_.find(prefix_ + called);
  if ((rule != ids_.end() && info_[rule->second].defined) ||
      !templates_.emplace(prefix_ + called, std::move(made)).second) {
    return defined_twice(called, span);
  }
  return skip_body();
}

// Skips a body: up to the end of a line that no "|" follows, outside of groups,
// texts and patterns.
bool LarkReader::skip_body() {
  std::size_t depth = 0;
  for (;;) {
    skip_blanks();
    const char c = peek();
    if (at_end() || at_newline()) {
      const std::size_t saved = at_;
      skip_space();
      if (!at_end() && (depth > 0 || peek() == '|')) continue;
      at_ = saved;
      return true;
    }
    if (nested_ && c == '}' && depth == 0) return true;
    if (c == '"') {
      std::string text;
      if (!string(text)) return false;
      continue;
    }
    if (c == '/') {
      std::string_view source;
      std::string_view flags;
      if (!pattern_source(source, flags)) return false;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (depth > 0 && (c == ')' || c == ']' || c == '}')) --depth;
    ++at_;
  }
}

// Whether arguments follow the name, and not a count as in a{2,3}.
bool LarkReader::uses_template() {
  if (peek() != '{') return false;
  const std::size_t next = text_.find_first_not_of(" \t", at_ + 1);
  return next < text_.size() && !is_digit(text_[next]) && text_[next] != ',';
}

bool LarkReader::argument_called(const std::string& called, Span span,
                                 Argument& out) {
  if (uses_template()) return instance(called, span, out);
  if (const auto bound = bound_.find(called); bound != bound_.end()) {
    out = bound->second;
    return true;
  }
  out.rule = named_rule(called, span);
  out.lexeme = info_[out.rule].terminal;
  out.key = prefix_ + called;
  return true;
}

// Reads one argument: a name, a template with its arguments, a text or pattern.
bool LarkReader::argument(Argument& out) {
  const std::size_t begin = at_;
  const std::string called = name();
  if (!called.empty()) return argument_called(called, {begin, at_}, out);
  ExprId made;
  bool ranged = false;
  if (peek() == '"') {
    if (!text_item(made, ranged)) return false;
  } else if (peek() == '/') {
    if (!pattern(made)) return false;
  } else {
    return fail_here("a name, \"text\" or /pattern/ belongs here.");
  }
  out.key = text_.substr(begin, at_ - begin);
  out.rule = rule_called(out.key, {begin, at_});
  out.lexeme = true;
  if (info_[out.rule].defined) return true;
  info_[out.rule].defined = info_[out.rule].terminal = true;
  rules_.rules[out.rule].body = made;
  return true;
}

// Reads the arguments of a template, and notes that its body is to be read for
// them unless it has been.  REQUIRES: the cursor is at "{".
bool LarkReader::instance(const std::string& called, Span span, Argument& out) {
  Instance made{.called = prefix_ + called};
  out.key = made.called + "{";
  ++at_;
  // Arguments may be templates with arguments: their nesting is that of the
  // names that are made.
  if (++argument_depth_ > 100) {
    return fail(span.begin, at_, "Templates are nested more than 100 deep.",
                ErrorCode::kTooLarge);
  }
  do {
    skip_space();
    Argument one;
    if (!argument(one)) return false;
    if (!made.arguments.empty()) out.key += ",";
    out.key += one.key;
    made.arguments.push_back(std::move(one));
    skip_space();
  } while (match(","));
  --argument_depth_;
  if (!match("}")) return fail_here("arguments are written {a, b}.");
  out.key += "}";
  if (!count_read(out.key.size()) || out.key.size() > kMaxKeyBytes) {
    return fail(span.begin, at_,
                "The arguments of templates are too large; does a template use "
                "itself with arguments that grow?",
                ErrorCode::kTooLarge);
  }
  out.rule = rule_called(out.key, span);
  if (info_[out.rule].defined) return true;
  info_[out.rule].defined = true;
  made.rule = out.rule;
  pending_.push_back(std::move(made));
  return true;
}

bool LarkReader::count_read(std::size_t bytes) {
  context_.read_bytes += bytes;
  return context_.read_bytes <= kMaxReadBytes;
}

// Reads the bodies of all instances, which may make further ones.
bool LarkReader::read_instances() {
  const std::string_view text = text_;
  const std::size_t at = at_;
  const std::size_t last_ignore = last_ignore_;
  while (!pending_.empty()) {
    const Instance next = std::move(pending_.back());
    pending_.pop_back();
    const Span used = info_[next.rule].first_use;
    const auto found = templates_.find(next.called);
    if (found == templates_.end()) {
      return fail(used.begin, used.end,
                  "There is no template \"" + next.called + "\".",
                  ErrorCode::kBadReference);
    }
    const Template& of = found->second;
    if (of.parameters.size() != next.arguments.size()) {
      return fail(used.begin, used.end,
                  "The template \"" + next.called + "\" has " +
                      std::to_string(of.parameters.size()) +
                      " parameters, and here are " +
                      std::to_string(next.arguments.size()) + " arguments.");
    }
    text_ = of.text;
    at_ = of.begin;
    last_ignore_ = of.last_ignore;
    prefix_ = of.prefix;
    bound_.clear();
    for (std::size_t i = 0; i < next.arguments.size(); ++i) {
      bound_[of.parameters[i]] = next.arguments[i];
    }
    in_terminal_ = in_lexeme_ = no_rules_ = false;
    ExprId made;
    const bool good = body(made);
    const bool counted = count_read(at_ - of.begin);
    // What stands in a module has no place in this text.
    if (!good && of.text.data() != text.data()) error_->span = of.span;
    text_ = text;
    last_ignore_ = last_ignore;
    prefix_.clear();
    if (!good) return false;
    rules_.rules[next.rule].body = made;
    if (!counted || !within_limits(used.begin)) {
      return fail(used.begin, used.end,
                  "The templates of the grammar make too many rules.",
                  ErrorCode::kTooLarge);
    }
  }
  at_ = at;
  bound_.clear();
  return true;
}

}  // namespace parlance::notation
