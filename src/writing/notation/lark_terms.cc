// Reads the terms of Lark: texts, patterns, tokens and references to other
// grammars.

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "notation/lark_reader.h"
#include "notation/regex_rules.h"
#include "parlance/error.h"

namespace parlance::notation {

using rules::ExprId;
using rules::Token;
using rules::TokenSetExpr;
namespace {

using base::is_letter;

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += "@" + name + " -> ";
  return out;
}

}  // namespace

// Reads a string: with the escapes of JSON, as llguidance has it, and with
// those that only Lark has: \xHH, \UHHHHHHHH, and a "\" before any other
// character, which is then itself.
// REQUIRES: the cursor is at the opening quote.
bool LarkReader::string(std::string& out) {
  const std::size_t begin = at_++;
  std::string spelled = "\"";
  while (!at_end() && peek() != '"' && peek() != '\n') {
    const std::size_t size =
        std::min<std::size_t>(peek() == '\\' ? 2 : 1, text_.size() - at_);
    const char escaped = size == 2 ? peek(1) : '\0';
    const bool number = escaped == 'x' || escaped == 'U';
    if (number) {
      if (!code_point_escape(escaped == 'x' ? 2 : 8, spelled)) return false;
      continue;
    }
    if (escaped != '\0' && std::string_view("\"\\/bfnrtu").find(escaped) ==
                               std::string_view::npos) {
      spelled += '\\';  // "\d" is a "\" and a "d"
    }
    // A tab may stand in a string; JSON wants it as an escape.
    if (peek() == '\t') {
      spelled += "\\t";
    } else {
      spelled += text_.substr(at_, size);
    }
    at_ += size;
  }
  if (at_end() || peek() != '"') {
    return fail(begin, at_, "This string is not closed on its line.");
  }
  ++at_;
  Result<json::Value> value = json::parse(spelled + "\"", {});
  if (!value) {
    return fail(
        begin, at_,
        "This is not a string as JSON has it: " + value.error().message);
  }
  out = std::string(value->as_string());
  if (!base::is_utf8(out)) {
    return fail(begin, at_, "A string may not hold half of a surrogate pair.");
  }
  return true;
}

// Adds the character of \xHH or \UHHHHHHHH to a string as JSON has it.
// REQUIRES: the cursor is at the "\".
bool LarkReader::code_point_escape(std::size_t digits, std::string& out) {
  const std::size_t begin = at_;
  char32_t value = 0;
  at_ += 2;
  if (!hex_escape(begin, digits, digits, value)) return false;
  std::string character;
  base::append_utf8(character, value);
  const std::string quoted = json::dump(json::Value(character));
  out += quoted.substr(1, quoted.size() - 2);
  return true;
}

// "text", "text"i, "a".."z".
bool LarkReader::text_item(ExprId& out, bool& ranged) {
  const std::size_t begin = at_;
  std::string text;
  if (!string(text)) return false;
  if (match("..")) {
    std::string last;
    if (peek() != '"') return fail_here("a range is written \"a\"..\"z\".");
    if (!string(last)) return false;
    if (base::count_code_points(text) != 1 ||
        base::count_code_points(last) != 1 || peek() == 'i') {
      return fail(begin, at_,
                  "The ends of a range are one character each, without "
                  "flags.");
    }
    std::size_t i = 0;
    std::size_t j = 0;
    const char32_t low = base::next_code_point(text, i);
    const char32_t high = base::next_code_point(last, j);
    if (low > high) return fail(begin, at_, "This range runs backwards.");
    ranged = true;
    out = rules_.char_class(regex::CharClass({{low, high}}));
    return true;
  }
  if (peek() == 'i' && !is_letter(peek(1)) && !is_digit(peek(1))) {
    ++at_;
    return folded(text, {begin, at_}, out);
  }
  out = rules_.bytes(text);
  return true;
}

// Text that matches regardless of the case of ASCII letters.
bool LarkReader::folded(const std::string& text, Span span, ExprId& out) {
  std::vector<ExprId> parts;
  for (char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      return fail(span.begin, span.end,
                  "The flag \"i\" is for ASCII text only.");
    }
    if (is_letter(c)) {
      const auto upper = static_cast<char32_t>(c & ~32);
      const auto lower = static_cast<char32_t>(c | 32);
      parts.push_back(rules_.char_class(
          regex::CharClass({{upper, upper}, {lower, lower}})));
    } else {
      parts.push_back(rules_.bytes(std::string_view(&c, 1)));
    }
  }
  out = rules_.sequence(std::move(parts));
  return true;
}

// Reads "/source/flags".  The source ends with its line, unless its flags
// contain "x".  REQUIRES: the cursor is at "/".
bool LarkReader::pattern_source(std::string_view& source,
                                std::string_view& flags) {
  const std::size_t begin = at_++;
  std::size_t line_end = std::string_view::npos;
  while (!at_end() && peek() != '/') {
    if (peek() == '\n') line_end = std::min(line_end, at_);
    at_ += peek() == '\\' ? 2 : 1;
  }
  at_ = std::min(at_, text_.size());
  const std::size_t end = at_;
  if (match("/")) {
    while (is_letter(peek())) ++at_;
    flags = text_.substr(end + 1, at_ - end - 1);
    source = text_.substr(begin + 1, end - begin - 1);
    if (line_end == std::string_view::npos ||
        flags.find('x') != std::string_view::npos) {
      return true;
    }
  }
  return fail(begin, std::min(end, line_end),
              "This pattern is not closed on its line; add \"/\".");
}

// REQUIRES: the cursor is at "/".
bool LarkReader::pattern(ExprId& out) {
  const std::size_t begin = at_;
  std::string_view source;
  RegexOptions reading;
  if (!pattern_source(source, reading.flags)) return false;
  reading.has_flags = true;
  reading.embedded = true;
  Result<rules::RegexExpr> expr = read_regex(source, reading);
  if (!expr) {
    Span span = expr.error().span.value_or(Span{0, source.size()});
    return fail(begin + 1 + span.begin, begin + 1 + span.end,
                expr.error().message, expr.error().code);
  }
  out = rules_.regex(std::move(*expr));
  return true;
}

// The value of "suffix" or "stop": "text", /pattern/ or a terminal.
bool LarkReader::marker(ExprId& out) {
  const std::size_t begin = at_;
  // It is read as terminals are.
  in_terminal_ = in_lexeme_ = true;
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
  out = rules_.reference(named_rule(called, {begin, at_}));
  return true;
}

// --- Tokens -----------------------------------------------------------------

// REQUIRES: the cursor is at "<".
bool LarkReader::tokens(ExprId& out) {
  TokenSetExpr set;
  if (!(peek(1) == '[' ? token_list(set) : token_name(set))) return false;
  out = rules_.tokens(std::move(set));
  return true;
}

// <[1,3-5]>, <[^1]>, <[*]>
bool LarkReader::token_list(TokenSetExpr& out) {
  const std::size_t begin = at_;
  at_ += 2;
  skip_blanks();
  if (match("*")) {
    out.negated = true;
    if (!match("]>")) return fail_here("<[*]> is any token.");
    if (!tokens_spelled_) {
      return fail(begin, at_, "<[*]> needs a vocabulary, and none is known.",
                  ErrorCode::kUsage);
    }
    return true;
  }
  out.negated = match("^");
  for (;;) {
    skip_blanks();
    TokenSetExpr::Range range;
    if (!token_number(range.first)) return false;
    range.last = range.first;
    skip_blanks();
    if (match("-")) {
      skip_blanks();
      const std::size_t last = at_;
      if (!token_number(range.last)) return false;
      if (range.last < range.first) {
        return fail(last, at_, "This range of tokens runs backwards.");
      }
      skip_blanks();
    }
    out.ranges.push_back(range);
    if (match("]>")) return true;
    if (!match(",")) return fail_here("tokens are listed as <[1,3-5]>.");
  }
}

// Reads "@name", a reference to another grammar.  A grammar is appended once,
// at its first reference.  REQUIRES: the cursor is at "@".
bool LarkReader::named_grammar(ExprId& out) {
  const std::size_t begin = at_++;
  const std::string called = name();
  if (called.empty()) return fail_here("\"@\" is followed by a name.");
  auto present = named_.find(called);
  if (present != named_.end()) {
    out = rules_.reference(present->second);
    return true;
  }
  const LarkOptions& options = context_.options;
  auto known = options.grammars.find(called);
  const rules::Rules* rules =
      known != options.grammars.end() ? &known->second : nullptr;
  auto done = context_.compiled.find(called);
  if (rules == nullptr && done != context_.compiled.end()) {
    rules = &done->second;
  }
  // It is not compiled yet: read its source, and add its rules to `compiled`.
  // `chain` has the names of the sources that are being read, to detect cycles.
  if (rules == nullptr) {
    auto source = options.sources.find(called);
    if (source == options.sources.end()) {
      return fail(begin, at_, "There is no grammar \"@" + called + "\".",
                  ErrorCode::kBadReference);
    }
    std::vector<std::string>& chain = context_.chain;
    if (std::find(chain.begin(), chain.end(), called) != chain.end()) {
      return fail(begin, at_,
                  "Grammars use each other in a circle: " + joined(chain) +
                      "@" + called + ".",
                  ErrorCode::kConflict);
    }
    if (!may_nest({begin, at_})) return false;
    chain.push_back(called);
    ++context_.depth;
    Result<rules::Rules> read = LarkReader(source->second, context_).run();
    --context_.depth;
    chain.pop_back();
    if (!read) {
      return fail(begin, at_,
                  message_in("@" + called, source->second, read.error()),
                  read.error().code);
    }
    // Drop the spans, which count bytes of another text.
    for (rules::SchemaExpr& schema : read->schemas) schema.span = std::nullopt;
    rules = &context_.compiled.emplace(called, std::move(*read)).first->second;
  }
  const rules::RuleId root = append(*rules);
  named_.emplace(called, root);
  out = rules_.reference(root);
  return true;
}

}  // namespace parlance::notation
