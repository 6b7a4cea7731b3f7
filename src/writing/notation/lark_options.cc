// Reads the options of Lark's rules.

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "notation/lark_reader.h"

namespace parlance::notation {
namespace {}  // namespace

// REQUIRES: the cursor is at "[".
bool LarkReader::options(rules::RuleOptions& out,
                         const std::string& rule_name) {
  const std::size_t begin = at_++;
  std::vector<std::string> seen;
  auto has = [&](std::string_view key) {
    return std::find(seen.begin(), seen.end(), key) != seen.end();
  };
  // Patterns of suffixes and stops are compiled as terminals are.
  in_terminal_ = in_lexeme_ = true;
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
    skip_blanks();
    if (!option(out, key, key_begin, rule_name)) return false;
    skip_space();
    if (match("]")) break;
    if (!match(",")) return fail_here("options are separated by \",\".");
  }
  if (has("stop") && has("suffix")) {
    return fail(begin, at_, "\"stop\" and \"suffix\" exclude each other.",
                ErrorCode::kConflict);
  }
  if (has("stop_capture") && out.marker == rules::kNoId) {
    return fail(begin, at_,
                "\"stop_capture\" captures a \"stop\" or a \"suffix\", and "
                "there is none.");
  }
  return true;
}

// Reads the value of the option `key` into `out`.  REQUIRES: the cursor is
// after the key, which begins at `begin`.
bool LarkReader::option(rules::RuleOptions& out, const std::string& key,
                        std::size_t begin, const std::string& rule_name) {
  const bool has_value = match("=");
  if (has_value) skip_blanks();
  if (key == "lazy" && !has_value) {
    out.lazy = true;
    return true;
  }
  if (key == "capture" && !has_value) {
    out.capture = rule_name;
    return true;
  }
  std::uint64_t value = 0;
  if (key == "max_tokens" || key == "max_chars") {
    const bool is_tokens = key == "max_tokens";
    if (!has_value) return fail_here("write " + key + "=20.");
    if (!number(is_tokens ? 1 : 0, is_tokens ? 1'000'000 : 0x7FFFFFFF, value)) {
      return false;
    }
    (is_tokens ? out.max_tokens : out.max_chars) =
        static_cast<std::uint32_t>(value);
    return true;
  }
  if (key == "capture") return capture_name(out.capture);
  if (key == "stop_capture") return capture_name(out.marker_capture);
  if (key == "suffix" || key == "stop") {
    out.hide_marker = key == "stop";
    return marker(out.marker);
  }
  if (key != "temperature") {
    return fail(begin, at_,
                "There is no option \"" + key +
                    "\"; there are lazy, suffix, stop, stop_capture, "
                    "max_tokens, max_chars, capture and temperature.",
                ErrorCode::kUnknownName);
  }
  const std::size_t digits_begin = at_;
  while (is_digit(peek()) || peek() == '.' || peek() == 'e' || peek() == 'E' ||
         ((peek() == '-' || peek() == '+') && at_ > digits_begin)) {
    ++at_;
  }
  const std::string digits(text_.substr(digits_begin, at_ - digits_begin));
  char* end = nullptr;
  const double read = std::strtod(digits.c_str(), &end);
  if (digits.empty() || *end != '\0' || !std::isfinite(read)) {
    return fail(begin, at_, "A temperature is a finite number, 0 or greater.");
  }
  out.temperature = read;
  return true;
}

bool LarkReader::capture_name(std::string& out) {
  const std::size_t begin = at_;
  if (peek() != '"') return fail_here("a name in quotes belongs here.");
  if (!string(out)) return false;
  bool good = !out.empty();
  for (char c : out) good = good && c > ' ' && c != 127;
  if (!good) return fail(begin, at_, "The name of a capture has no spaces.");
  return true;
}

// "text", /pattern/ or a terminal.
bool LarkReader::marker(rules::ExprId& out) {
  const std::size_t begin = at_;
  bool ranged = false;
  if (peek() == '/') return pattern(out);
  if (peek() == '"') {
    if (!text_item(out, ranged)) return false;
    if (rules_.exprs[out].kind == rules::ExprKind::kEmpty) {
      return fail(begin, at_, "What ends a rule may not be empty.",
                  ErrorCode::kEmptyValue);
    }
    return true;
  }
  const std::string called = name();
  if (!is_terminal(called)) {
    at_ = begin;
    return fail_here("\"text\", /pattern/ or a terminal belongs here.");
  }
  out = rules_.reference(rule_called(called, {begin, at_}));
  return true;
}

}  // namespace parlance::notation
