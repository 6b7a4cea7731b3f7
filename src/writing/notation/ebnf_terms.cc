// Reads the terms of EBNF and GBNF: strings, classes, tokens, macros, and the
// options that only rules of EBNF have.

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/utf8.h"
#include "notation/ebnf_reader.h"
#include "notation/exclude_patterns.h"
#include "notation/regex_rules.h"
#include "rules/schema_options.h"

namespace parlance::notation {

using rules::ExprId;
using rules::FreeTextExpr;
using rules::Token;

// Reads an escape: a control character by its letter, a character by its number
// or punctuation.  REQUIRES: the cursor is at "\".
bool EbnfReader::escape(bool in_class, char32_t& out) {
  static constexpr std::string_view kLetters = "nrtbfave0";
  static constexpr std::string_view kControls("\n\r\t\b\f\a\v\x1B\0", 9);
  const std::size_t begin = at_++;
  const char c = peek();
  ++at_;
  if (c == 'x') return hex_escape(begin, gbnf_ ? 2 : 1, gbnf_ ? 2 : 64, out);
  if (c == 'u') return hex_escape(begin, 4, 4, out);
  if (c == 'U') return hex_escape(begin, 8, 8, out);
  const std::size_t letter = kLetters.substr(0, gbnf_ ? 3 : 9).find(c);
  if (letter != std::string_view::npos) {
    out = static_cast<unsigned char>(kControls[letter]);
    return true;
  }
  const std::string_view plain = gbnf_ ? "\"\\[]-"
                                 : in_class
                                     ? "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
                                     : "\"\\/'?[]";
  if (c != '\0' && plain.find(c) != std::string_view::npos) {
    out = static_cast<unsigned char>(c);
    return true;
  }
  return fail(begin, at_,
              gbnf_ ? "Unknown escape; GBNF has \\\" \\\\ \\[ \\] \\- \\n \\r "
                      "\\t, and \\x41, \\u0041, \\U00000041 for characters by "
                      "number."
                    : "Unknown escape; there are \\\" \\\\ \\n \\r \\t and "
                      "others, and \\x41, \\u0041 for characters by number.");
}

// Whether a string or class ends unclosed here.
bool EbnfReader::line_ends() const {
  return at_end() || (!gbnf_ && at_newline());
}

// REQUIRES: the cursor is at the opening quote.
bool EbnfReader::string(std::string& out) {
  const std::size_t begin = at_++;
  for (;;) {
    if (line_ends()) {
      return fail(begin, at_,
                  gbnf_ ? "This string is never closed; add a '\"'."
                        : "This string is not closed on its line; add a "
                          "'\"', or write \\n for a line feed.");
    }
    if (match("\"")) return true;
    if (peek() == '\\') {
      char32_t c = 0;
      if (!escape(false, c)) return false;
      base::append_utf8(out, c);
    } else {
      out += text_[at_++];
    }
  }
}

// REQUIRES: the cursor is at "[".
bool EbnfReader::char_class(ExprId& out) {
  const std::size_t begin = at_++;
  const bool negated = match("^");
  std::vector<regex::CharRange> ranges;
  auto member = [&](char32_t& c) {
    if (line_ends()) {
      return fail(begin, at_,
                  gbnf_ ? "This class is never closed; add a \"]\"."
                        : "This class is not closed on its line; add a \"]\", "
                          "or write \\n for a line feed.");
    }
    if (peek() == '\\') return escape(true, c);
    c = base::next_code_point(text_, at_);
    return true;
  };
  while (!match("]")) {
    const std::size_t item = at_;
    char32_t first = 0;
    if (!member(first)) return false;
    char32_t last = first;
    if (peek() == '-' && peek(1) != ']') {
      ++at_;
      if (!member(last)) return false;
    }
    if (first > last) {
      return fail(item, at_,
                  "The range \"" + std::string(text_.substr(item, at_ - item)) +
                      "\" runs backwards.");
    }
    ranges.push_back({first, last});
  }
  if (gbnf_ && ranges.empty()) {
    return fail(begin, at_,
                "This class has no characters; write \"\" for the empty text, "
                "and \".\" for any character.");
  }
  regex::CharClass set(std::move(ranges));
  out = rules_.char_class(negated ? set.negated() : std::move(set));
  return true;
}

// GBNF's <think>, <[1000]>, and these with "!": any other token.
bool EbnfReader::token(ExprId& out) {
  rules::TokenSetExpr set;
  set.negated = match("!");
  if (peek() != '<') return fail_here("a token is written <[12]> or <name>.");
  if (peek(1) == '[') {
    at_ += 2;
    rules::TokenSetExpr::Range range;
    if (!token_number(range.first)) return false;
    range.last = range.first;
    if (!match("]>")) return fail_here("a token by its id is written <[12]>.");
    set.ranges.push_back(range);
  } else if (!token_name(set)) {
    return false;
  }
  out = rules_.tokens(std::move(set));
  return true;
}

// --- Options of a rule -------------------------------------------------------

// What is EBNF's alone: options for printed grammars.
bool EbnfReader::own_option(rules::RuleOptions& out, const std::string& key,
                            const std::string& rule_name, std::size_t begin,
                            bool has_value, bool& known) {
  if (key == "marker_optional" && !has_value) {
    out.marker_optional = true;
    return true;
  }
  const bool prefix = key == "prefix" || key == "prefix_bytes";
  known = has_value && (prefix || key.starts_with("capture_hidden_"));
  if (!known) return true;
  if (!prefix) {
    std::uint64_t unused = 0;
    return number(0, 0xFFFFFFFF, unused);
  }
  if (!prefix_of_.empty()) {
    return fail(begin, at_, "Only one rule, the root, has a prefix.",
                ErrorCode::kConflict);
  }
  prefix_of_ = rule_name;
  prefix_span_ = {begin, at_};
  if (peek() != '"') return fail_here("a string belongs here.");
  if (!string(rules_.prefix)) return false;
  return key == "prefix" || read_hex(begin);
}

// The bytes that the prefix is the hexadecimal digits of.
bool EbnfReader::read_hex(std::size_t begin) {
  const std::string digits = std::exchange(rules_.prefix, {});
  const char* at = digits.data();
  const char* const end = at + digits.size();
  while (at + 1 < end) {
    unsigned byte = 0;
    if (std::from_chars(at, at + 2, byte, 16).ptr != at + 2) break;
    rules_.prefix += static_cast<char>(byte);
    at += 2;
  }
  if (at == end) return true;
  return fail(begin, at_, "Bytes are written as two hexadecimal digits each.");
}

// The value of "suffix" or "stop": a string or the name of a rule.
bool EbnfReader::marker(ExprId& out) {
  const std::size_t begin = at_;
  if (peek() == '"') {
    std::string text;
    if (!string(text)) return false;
    if (text.empty()) {
      return fail(begin, at_, "What ends a rule may not be empty.",
                  ErrorCode::kEmptyValue);
    }
    out = rules_.bytes(text);
    return true;
  }
  std::string called = name();
  if (called.empty()) {
    return fail_here("a string or a rule's name belongs here.");
  }
  out = rules_.reference(rule_called(called, {begin, at_}));
  return true;
}

// --- Macros -----------------------------------------------------------------

bool EbnfReader::value(Value& out, int depth) {
  const std::size_t begin = at_;
  if (peek() == '"') {
    out.kind = Value::Kind::kText;
    if (!string(out.text)) return false;
  } else if (is_digit(peek())) {
    out.kind = Value::Kind::kNumber;
    if (!number(0, 0xFFFFFFFE, out.number)) return false;
    out.last = out.number;
    if (match("-") && !number(out.number, 0xFFFFFFFE, out.last)) return false;
  } else if (match("(")) {
    out.kind = Value::Kind::kTuple;
    if (depth >= 4) {
      return fail(begin, at_, "Tuples are nested too deeply here.",
                  ErrorCode::kTooLarge);
    }
    for (skip_space(); !match(")"); skip_space()) {
      if (!out.items.empty()) {
        if (!match(",")) return fail_here("a tuple is written (a, b).");
        skip_space();
        if (match(")")) break;
      }
      Value item;
      if (!value(item, depth + 1)) return false;
      out.items.push_back(std::move(item));
    }
  } else {
    out.kind = Value::Kind::kName;
    out.text = name();
    if (out.text.empty()) return fail_here("an argument belongs here.");
    if (out.text == "true" || out.text == "false") {
      out.kind = Value::Kind::kBool;
      out.truth = out.text == "true";
    }
  }
  out.span = {begin, at_};
  return true;
}

// REQUIRES: the cursor is at "(".
bool EbnfReader::arguments(Arguments& out) {
  const std::size_t begin = at_++;
  skip_space();
  for (bool first = true; !match(")"); first = false) {
    if (!first) {
      if (!match(",")) return fail_here("arguments are separated by \",\".");
      skip_space();
    }
    Value read;
    if (!value(read, 0)) return false;
    skip_space();
    if (read.kind == Value::Kind::kName && match("=")) {
      skip_space();
      Value given;
      if (!value(given, 0)) return false;
      if (!out.named.emplace(read.text, std::move(given)).second) {
        return fail(read.span.begin, read.span.end,
                    "The argument \"" + read.text + "\" is given twice.",
                    ErrorCode::kConflict);
      }
    } else if (!out.named.empty()) {
      return fail(read.span.begin, read.span.end,
                  "Arguments with a name come last.");
    } else {
      out.positional.push_back(std::move(read));
    }
    skip_space();
  }
  out.span = {begin, at_};
  return true;
}

bool EbnfReader::take_named(Arguments& args, std::string_view key,
                            Value::Kind kind, std::optional<Value>& out) {
  auto found = args.named.find(std::string(key));
  if (found == args.named.end()) return true;
  if (found->second.kind != kind) {
    const char* wanted = kind == Value::Kind::kBool   ? "true or false"
                         : kind == Value::Kind::kText ? "a string"
                                                      : "a tuple";
    return fail(found->second.span.begin, found->second.span.end,
                "\"" + std::string(key) + "\" must be " + wanted + ".",
                ErrorCode::kWrongType);
  }
  out = std::move(found->second);
  args.named.erase(found);
  return true;
}

bool EbnfReader::no_more_named(const Arguments& args) {
  if (args.named.empty()) return true;
  const auto& [key, given] = *args.named.begin();
  return fail(given.span.begin, given.span.end,
              "There is no argument \"" + key + "\" here.",
              ErrorCode::kUnknownName);
}

bool EbnfReader::macro(const std::string& called, std::size_t begin,
                       ExprId& out) {
  const bool dispatch = called == "TagDispatch" || called == "TokenTagDispatch";
  if (dispatch || called == "Substring" || called == "JsonSchema") {
    for (const Frame& frame : frames_) {
      if (!frame.hint) continue;
      return fail(begin, at_, "A (= ...) may not hold " + called + ".");
    }
  }
  Arguments args;
  if (!arguments(args)) return false;
  args.span.begin = begin;
  if (called == "Regex") return regex_macro(args, out);
  if (called == "Substring") return substring_macro(args, out);
  if (called == "JsonSchema") return schema_macro(args, out);
  if (dispatch) {
    return dispatch_macro(args, called == "TokenTagDispatch", out);
  }
  return token_macro(args, called == "ExcludeToken", out);
}

bool EbnfReader::is_macro(std::string_view called) {
  for (std::string_view known :
       {"Regex", "Substring", "TagDispatch", "Token", "ExcludeToken",
        "TokenTagDispatch", "JsonSchema"}) {
    if (called == known) return true;
  }
  return false;
}

bool EbnfReader::regex_macro(Arguments& args, ExprId& out) {
  if (args.positional.size() != 1 ||
      args.positional[0].kind != Value::Kind::kText) {
    return fail(args.span.begin, args.span.end,
                "Regex takes one pattern in quotes: Regex(\"[a-z]+\").");
  }
  std::optional<Value> json_string;
  std::optional<Value> flags;
  if (!take_named(args, "json_string", Value::Kind::kBool, json_string) ||
      !take_named(args, "flags", Value::Kind::kText, flags) ||
      !no_more_named(args)) {
    return false;
  }
  RegexOptions reading;
  reading.embedded = true;
  reading.has_flags = flags.has_value();
  if (flags) reading.flags = flags->text;
  reading.json_string = json_string && json_string->truth;
  Result<rules::RegexExpr> expr = read_regex(args.positional[0].text, reading);
  if (!expr) {
    return fail(args.positional[0].span.begin, args.positional[0].span.end,
                expr.error().message, expr.error().code);
  }
  out = rules_.regex(std::move(*expr));
  return true;
}

bool EbnfReader::substring_macro(Arguments& args, ExprId& out) {
  if (!no_more_named(args)) return false;
  std::vector<std::string> chunks;
  for (Value& given : args.positional) {
    if (given.kind != Value::Kind::kText) {
      return fail(given.span.begin, given.span.end,
                  "A chunk is a string in quotes.", ErrorCode::kWrongType);
    }
    chunks.push_back(std::move(given.text));
  }
  out = rules_.substring(std::move(chunks));
  return true;
}

bool EbnfReader::token_macro(Arguments& args, bool excluded, ExprId& out) {
  if (!no_more_named(args)) return false;
  rules::TokenSetExpr set;
  set.negated = excluded;
  for (const Value& given : args.positional) {
    if (given.kind != Value::Kind::kNumber) {
      return fail(given.span.begin, given.span.end,
                  "A token is given by its id, a number, or a range 3-7.",
                  ErrorCode::kWrongType);
    }
    set.ranges.push_back(
        {static_cast<Token>(given.number), static_cast<Token>(given.last)});
  }
  if (set.ranges.empty()) {
    return fail(args.span.begin, args.span.end,
                "At least one id belongs here: Token(1, 2).");
  }
  out = rules_.tokens(std::move(set));
  return true;
}

// Reads the patterns of TagDispatch, and makes their automaton.
bool EbnfReader::read_patterns(const Value& given, FreeTextExpr& text) {
  for (const Value& one : given.items) {
    if (one.kind != Value::Kind::kText || one.text.empty()) {
      return fail(one.span.begin, one.span.end,
                  "A pattern is a string, and not empty.",
                  ErrorCode::kWrongType);
    }
    text.exclude_patterns.push_back(one.text);
  }
  auto made = read_exclude_patterns(text.exclude_patterns);
  if (made) {
    text.exclude_dfa = *std::move(made);
    return true;
  }
  // The span of the error counts in the string, whose escapes are resolved.  So
  // the error is at the string as a whole: the path is "/INDEX" or empty.
  const std::string& path = made.error().path;
  std::size_t index = given.items.size();
  std::from_chars(path.data() + !path.empty(), path.data() + path.size(),
                  index);
  const Span span =
      index < given.items.size() ? given.items[index].span : given.span;
  return fail(span.begin, span.end, made.error().message, made.error().code);
}

// TagDispatch or, with `tokens`, TokenTagDispatch; only one of `text` and
// `token_text` is filled.
struct EbnfReader::Dispatch {
  bool tokens = false;
  FreeTextExpr text = {};
  rules::TokenTextExpr token_text = {};

  // Whether an argument is a valid trigger or exclude: a text that is not empty
  // or one token id, not a range.
  bool fits(const Value& given) const {
    return given.kind == (tokens ? Value::Kind::kNumber : Value::Kind::kText) &&
           given.last == given.number && (tokens || !given.text.empty());
  }
  // A trigger may give, after its rule, the name under which its text is
  // captured, and `stop` if captures omit the trigger.
  bool read_capture(const Value& given, FreeTextExpr::Trigger& to) const {
    if (tokens) return given.items.size() == 2;
    for (std::size_t i = 2; i < given.items.size(); ++i) {
      const Value& item = given.items[i];
      if (item.kind == Value::Kind::kText && i == 2 && !item.text.empty()) {
        to.capture = item.text;
      } else if (item.kind == Value::Kind::kName && item.text == "stop" &&
                 !to.hide) {
        to.hide = true;
      } else {
        return false;
      }
    }
    return true;
  }
};

bool EbnfReader::dispatch_excludes(const std::optional<Value>& excludes,
                                   Dispatch& out) {
  if (!excludes) return true;
  // ("a") could be "a" in parentheses.  Here it is a list of one string.
  for (const Value& given : excludes->items) {
    if (!out.fits(given)) {
      return fail(given.span.begin, given.span.end,
                  out.tokens ? "An exclude is the id of a token."
                             : "An exclude is a string, and not empty.",
                  ErrorCode::kWrongType);
    }
    if (out.tokens) {
      out.token_text.excludes.push_back(static_cast<Token>(given.number));
    } else {
      out.text.excludes.push_back(given.text);
    }
  }
  return true;
}

bool EbnfReader::dispatch_trigger(const Value& given, Dispatch& out) {
  FreeTextExpr::Trigger made;
  if (given.kind != Value::Kind::kTuple || given.items.size() < 2 ||
      !out.read_capture(given, made) || !out.fits(given.items[0]) ||
      given.items[1].kind != Value::Kind::kName) {
    return fail(given.span.begin, given.span.end,
                out.tokens ? "Expected a token's id and a rule: (7, rule)."
                           : "Expected a text that is not empty and a rule: "
                             "(\"<tag>\", rule), perhaps with a capture "
                             "of the text: (\"<tag>\", rule, \"name\", stop).");
  }
  const Value& trigger = given.items[0];
  rules::RuleId rule = rule_called(given.items[1].text, given.items[1].span);
  for (const std::string& exclude : out.text.excludes) {
    if (trigger.text.starts_with(exclude)) {
      return fail(trigger.span.begin, trigger.span.end,
                  "This can never be written: the exclude \"" + exclude +
                      "\" is its beginning.",
                  ErrorCode::kConflict);
    }
  }
  const auto token = static_cast<Token>(trigger.number);
  if (out.tokens && std::ranges::find(out.token_text.excludes, token) !=
                        out.token_text.excludes.end()) {
    return fail(trigger.span.begin, trigger.span.end,
                "A token cannot be a trigger and excluded.",
                ErrorCode::kConflict);
  }
  if (out.tokens) {
    out.token_text.triggers.push_back({token, rule});
  } else {
    made.text = trigger.text;
    made.rule = rule;
    out.text.triggers.push_back(std::move(made));
  }
  return true;
}

// Converts the arguments of TagDispatch or, with `tokens`, TokenTagDispatch.
// The excludes come first, because triggers are checked against them.
bool EbnfReader::dispatch_macro(Arguments& args, bool tokens, ExprId& out) {
  std::optional<Value> loop;
  std::optional<Value> excludes;
  std::optional<Value> patterns;
  if (!take_named(args, "loop_after_dispatch", Value::Kind::kBool, loop) ||
      !take_named(args, "excludes", Value::Kind::kTuple, excludes) ||
      (!tokens &&
       !take_named(args, "exclude_patterns", Value::Kind::kTuple, patterns))) {
    return false;
  }
  if (!no_more_named(args)) return false;
  Dispatch made{.tokens = tokens};
  if (!dispatch_excludes(excludes, made)) return false;
  if (patterns && !read_patterns(*patterns, made.text)) return false;
  for (const Value& given : args.positional) {
    if (!dispatch_trigger(given, made)) return false;
  }
  made.text.loop = made.token_text.loop = !loop || loop->truth;
  out = tokens ? rules_.token_text(std::move(made.token_text))
               : rules_.free_text(std::move(made.text));
  return true;
}

bool EbnfReader::schema_macro(Arguments& args, ExprId& out) {
  std::optional<Value> options_text;
  if (args.positional.size() != 1 ||
      args.positional[0].kind != Value::Kind::kText) {
    return fail(args.span.begin, args.span.end,
                "JsonSchema takes one schema as a string.");
  }
  if (!take_named(args, "options", Value::Kind::kText, options_text) ||
      !no_more_named(args)) {
    return false;
  }
  rules::SchemaExpr expr;
  auto read = [&](const Value& given, json::Value& to) {
    Result<json::Value> parsed =
        json::parse(given.text, {.exact_floats = true});
    if (!parsed) {
      return fail(given.span.begin, given.span.end, parsed.error().message,
                  ErrorCode::kInvalidJson);
    }
    to = std::move(*parsed);
    return true;
  };
  expr.span = args.positional[0].span;
  if (!read(args.positional[0], expr.schema)) return false;
  if (options_text) {
    if (!read(*options_text, expr.options)) return false;
    Result<JsonSchemaOptions> options =
        rules::read_schema_options(expr.options);
    if (!options) {
      return fail(options_text->span.begin, options_text->span.end,
                  options.error().message, options.error().code);
    }
  }
  out = rules_.schema(std::move(expr));
  return true;
}

}  // namespace parlance::notation
