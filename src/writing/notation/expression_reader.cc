// Rules, groups, operators and options, as all notations have them.

#include "notation/expression_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/ascii.h"
#include "base/python_number.h"
#include "base/utf8.h"
#include "regex/char_class.h"

namespace parlance::notation {

using rules::ExprId;
using rules::kUnbounded;
using rules::RuleId;
using rules::Token;

void ExpressionReader::skip_space() {
  for (skip_blanks(); at_newline(); skip_blanks()) ++at_;
}

bool ExpressionReader::fail_here(std::string message) {
  if (at_end()) return fail(at_, at_, "The grammar ends here; " + message);
  std::size_t end = at_;
  const char32_t c = base::next_code_point(text_, end);
  const std::string shown =
      c == '\n' || c == '\r'
          ? "the end of the line"
          : "\"" + std::string(text_.substr(at_, end - at_)) + "\"";
  return fail(at_, end, "Found " + shown + "; " + message);
}

bool ExpressionReader::read_source() {
  const char* wrong = nullptr;
  ErrorCode code = ErrorCode::kTooLarge;
  if (text_.size() > limits_.source_bytes) {
    wrong = "The grammar is larger than the limit source_bytes.";
  } else if (!base::is_utf8(text_)) {
    wrong = "The grammar is not UTF-8.";
    code = ErrorCode::kInvalidUtf8;
  }
  if (wrong == nullptr) return true;
  error_ = Error{code, wrong};
  return false;
}

bool ExpressionReader::within_limits(std::size_t begin) {
  if (rules_.within(limits_)) return true;
  return fail(begin, at_,
              "The grammar is larger than the limits of rules and "
              "expressions.",
              ErrorCode::kTooLarge);
}

bool ExpressionReader::check_lazy() {
  const std::optional<rules::NotLazy> wrong = rules::find_not_lazy(rules_);
  if (!wrong) return true;
  const Span span = wrong->rule < info_.size() ? info_[wrong->rule].first_use
                                               : Span{at_, at_};
  return fail(span.begin, span.end,
              "Rule \"" + rules_.rules[wrong->rule].name +
                  "\" cannot be lazy: it " + wrong->why +
                  ".  The body of a lazy rule must be one automaton.",
              ErrorCode::kUnsupported);
}

// --- Rules -------------------------------------------------------------------

RuleId ExpressionReader::add_rule(std::string name, Info info) {
  const auto id = static_cast<RuleId>(rules_.rules.size());
  rules_.rules.push_back({.name = std::move(name)});
  info_.resize(rules_.rules.size());
  info_.back() = info;
  return id;
}

RuleId ExpressionReader::rule_called(const std::string& called, Span span) {
  const auto known = ids_.find(called);
  if (known != ids_.end()) return known->second;
  const RuleId id = add_rule(called, {.first_use = span});
  ids_.emplace(called, id);
  return id;
}

bool ExpressionReader::define(RuleId id, Span span) {
  Info& info = info_[id];
  if (info.defined) {
    return fail(span.begin, span.end,
                "\"" + rules_.rules[id].name +
                    "\" is defined twice; join the two with \"|\".",
                ErrorCode::kConflict);
  }
  info.defined = true;
  info.first_use = span;
  return true;
}

bool ExpressionReader::check_references() {
  for (RuleId id; id < info_.size(); ++id) {
    const Info& info = info_[id];
    if (info.defined) continue;
    return fail(info.first_use.begin, info.first_use.end,
                "There is no rule \"" + rules_.rules[id].name +
                    "\": it is used and not defined.",
                ErrorCode::kBadReference);
  }
  return true;
}

// --- Expressions -------------------------------------------------------------

void ExpressionReader::begin_body() {
  frames_.clear();
  frames_.emplace_back();
  frames_.back().begin = at_;
}

bool ExpressionReader::open(char close) {
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

bool ExpressionReader::close(Frame& inner, ExprId& out) {
  if (frames_.back().close != peek()) {
    return fail(at_, at_ + 1,
                peek() == ']' ? "There is no \"[\" for this \"]\"."
                              : "There is no \"(\" for this \")\".");
  }
  ++at_;
  inner = std::move(frames_.back());
  frames_.pop_back();
  out = finish(inner);
  return true;
}

void ExpressionReader::end_alternative() {
  // An empty alternative is the empty text: the sequence of nothing.
  Frame& frame = frames_.back();
  frame.alternatives.push_back(rules_.sequence(std::move(frame.sequence)));
  frame.sequence.clear();
  frame.has_element = false;
  frame.closed = false;
  frame.operand = false;
}

ExprId ExpressionReader::finish(Frame& frame) {
  return rules_.choice(std::move(frame.alternatives));
}

// Ends the body of a rule, whose last alternative has been ended.
bool ExpressionReader::end_body(ExprId& out) {
  const Frame& frame = frames_.back();
  if (frames_.size() > 1) {
    return fail(frame.begin, frame.begin + 1,
                "This \"" + std::string(1, text_[frame.begin]) +
                    "\" is never closed; add a \"" +
                    std::string(1, frame.close) + "\".");
  }
  out = finish(frames_.back());
  return true;
}

void ExpressionReader::push(ExprId id) {
  Frame& frame = frames_.back();
  frame.sequence.push_back(id);
  frame.has_element = true;
  frame.operand = true;
  frame.repeated = false;
}

bool ExpressionReader::repeat_last(std::size_t begin, std::uint32_t min,
                                   std::uint32_t max) {
  Frame& frame = frames_.back();
  if (min > max) {
    return fail(begin, at_,
                "The least count is greater than the greatest; write the "
                "smaller number first.");
  }
  if (!frame.operand) {
    return fail(begin, begin + 1, "There is nothing before it to repeat.");
  }
  if (frame.repeated && !many_operators_) {
    return fail(begin, begin + 1,
                "Two operators in a row; put the first into parentheses.");
  }
  frame.sequence.back() = rules_.repeat(frame.sequence.back(), min, max);
  frame.repeated = true;
  return true;
}

bool ExpressionReader::repetition() {
  const std::size_t begin = at_;
  std::uint32_t min = 0;
  std::uint32_t max = kUnbounded;
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
      break;
  }
  return repeat_last(begin, min, max);
}

// Reads "n}", "n,}", "n,m}" or ",m}".  REQUIRES: the cursor is after "{".
bool ExpressionReader::braces(std::uint32_t& min, std::uint32_t& max) {
  skip_space();
  min = 0;
  if (!(no_minimum_ && peek() == ',') && !count(min)) return false;
  max = min;
  skip_space();
  if (match(",")) {
    skip_space();
    max = kUnbounded;
    if (peek() != '}' && !count(max)) return false;
    skip_space();
  }
  if (match("}")) return true;
  return fail_here(no_minimum_ ? "a count is written {n}, {n,}, {,m} or {n,m}."
                               : "a count is written {n}, {n,} or {n,m}.");
}

bool ExpressionReader::count(std::uint32_t& out) {
  const std::size_t begin = at_;
  std::uint64_t value = 0;
  // Beyond what is accepted, so that 3000000000 is called too large.
  if (!number(0, std::uint64_t{1} << 40, value)) return false;
  if (value > 0x7FFFFFFF) {
    return fail(begin, at_, "A count goes up to 2147483647.",
                ErrorCode::kTooLarge);
  }
  out = static_cast<std::uint32_t>(value);
  return true;
}

// --- Options of a rule -------------------------------------------------------

bool ExpressionReader::options(rules::RuleOptions& out,
                               const std::string& rule_name) {
  const std::size_t begin = at_++;
  std::vector<std::string> seen;
  const auto has = [&](std::string_view key) {
    return std::ranges::find(seen, key) != seen.end();
  };
  for (;;) {
    skip_space();
    const std::size_t key_begin = at_;
    const std::string key = name();
    if (key.empty()) return fail_here("an option of the rule belongs here.");
    if (has(key)) {
      return fail(key_begin, at_, "The option \"" + key + "\" is given twice.",
                  ErrorCode::kConflict);
    }
    seen.push_back(key);
    skip_space();
    if (!option(out, key, rule_name, key_begin)) return false;
    skip_space();
    if (match("]")) break;
    if (!match(",")) return fail_here("options are separated by \",\".");
  }
  if (has("stop") && has("suffix")) {
    return fail(begin, at_, "\"stop\" and \"suffix\" exclude each other.",
                ErrorCode::kConflict);
  }
  return true;
}

// Reads the value of the option `key` into `out`.  REQUIRES: the cursor is
// after the key, which begins at `begin`.
//
// The branches: options without a value; those of this notation alone; then, as
// all others need a value, a check for it.
bool ExpressionReader::option(rules::RuleOptions& out, const std::string& key,
                              const std::string& rule_name, std::size_t begin) {
  const bool has_value = match("=");
  if (has_value) skip_space();
  if (key == "lazy" && !has_value) {
    out.lazy = true;
    return true;
  }
  if (key == "capture" && !has_value) {
    out.capture = rule_name;
    return true;
  }
  bool known = true;
  if (!own_option(out, key, rule_name, begin, has_value, known)) return false;
  if (known) return true;
  const bool tokens = key == "max_tokens";
  const bool budget = tokens || key == "max_chars";
  const bool name_option = key == "capture" || key == "stop_capture";
  const bool marks_end = key == "suffix" || key == "stop";
  if (!budget && !name_option && !marks_end && key != "temperature") {
    return fail(
        begin, key == "lazy" ? at_ : begin + key.size(),
        key == "lazy" ? "\"lazy\" takes no value."
                      : "There is no option \"" + key +
                            "\"; there are lazy, suffix, stop, "
                            "stop_capture, max_tokens, max_chars, "
                            "capture and temperature.",
        key == "lazy" ? ErrorCode::kBadSyntax : ErrorCode::kUnknownName);
  }
  if (!has_value) {
    return fail(begin, at_, "\"" + key + "\" needs a value: " + key + "=...");
  }
  if (budget) {
    std::uint64_t value = 0;
    if (!number(tokens ? 1 : 0, 0x7FFFFFFF, value)) return false;
    (tokens ? out.max_tokens : out.max_chars) =
        static_cast<std::uint32_t>(value);
    return true;
  }
  if (name_option) {
    return capture_name(key == "capture" ? out.capture : out.marker_capture);
  }
  if (!marks_end) return temperature(begin, out);
  out.hide_marker = key == "stop";
  return marker(out.marker);
}

bool ExpressionReader::capture_name(std::string& out) {
  const std::size_t begin = at_;
  if (peek() != '"') return fail_here("a name in quotes belongs here.");
  if (!string(out)) return false;
  const auto visible = [](char c) { return c > ' ' && c != 127; };
  if (!out.empty() && std::ranges::all_of(out, visible)) return true;
  return fail(begin, at_, "The name of a capture has no spaces.");
}

// REQUIRES: the cursor is after "=" of the option that begins at `begin`.
bool ExpressionReader::temperature(std::size_t begin, rules::RuleOptions& out) {
  const std::size_t number_begin = at_;
  while (is_digit(peek()) || peek() == '.' || peek() == 'e' || peek() == 'E' ||
         ((peek() == '-' || peek() == '+') && at_ > number_begin)) {
    ++at_;
  }
  double read = 0;
  if (!base::python_float(text_.substr(number_begin, at_ - number_begin),
                          read) ||
      !std::isfinite(read)) {
    return fail(begin, std::max(at_, begin + 1),
                "A temperature is a finite number, 0 or greater.");
  }
  out.temperature = read;
  return true;
}

// --- Escapes -----------------------------------------------------------------

bool ExpressionReader::hex_escape(std::size_t begin, std::size_t least,
                                  std::size_t most, char32_t& out) {
  std::size_t digits = 0;
  std::uint64_t value = 0;
  while (digits < most && base::hex_digit(peek()) >= 0) {
    value = std::min<std::uint64_t>(
        value * 16 + static_cast<unsigned>(base::hex_digit(peek())), 1u << 30);
    ++at_;
    ++digits;
  }
  if (digits < least) {
    return fail(
        begin, at_,
        "This escape needs " + std::to_string(least) + " hexadecimal digits.");
  }
  if (value > regex::kMaxCodePoint || (value >= 0xD800 && value < 0xE000)) {
    return fail(begin, at_, "This escape is not a Unicode character.");
  }
  out = static_cast<char32_t>(value);
  return true;
}

// --- Tokens ------------------------------------------------------------------

bool ExpressionReader::token_number(Token& out) {
  std::uint64_t value = 0;
  if (!number(0, 0xFFFFFFFE, value)) return false;
  out = static_cast<Token>(value);
  return true;
}

// <name>, <|name|>.  REQUIRES: the cursor is at "<".
bool ExpressionReader::token_name(rules::TokenSetExpr& out) {
  const std::size_t begin = at_++;
  while (!at_end() && peek() != '>' && peek() != '\n') ++at_;
  if (!match(">")) {
    return fail(begin, at_, "This token is not closed; add a \">\".");
  }
  const std::string_view spelled = text_.substr(begin, at_ - begin);
  if (!tokens_spelled_) {
    return fail(begin, at_,
                "A token by its name needs a vocabulary, and none is known.",
                ErrorCode::kUsage);
  }
  for (Token token : tokens_spelled_(spelled)) {
    out.ranges.push_back({token, token});
  }
  if (out.ranges.empty()) {
    return fail(begin, at_,
                "No token of the vocabulary is spelled \"" +
                    std::string(spelled) + "\".",
                ErrorCode::kBadReference);
  }
  return true;
}

}  // namespace parlance::notation
