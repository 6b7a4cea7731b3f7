// Reads the statements and items of Lark that begin with "%".

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "json/container_end.h"
#include "notation/lark_reader.h"
#include "notation/regex_rules.h"
#include "regex/unicode_properties.h"

namespace parlance::notation {

using rules::ExprId;
namespace {

// The characters of a text, or its runs of word characters, of white space, and
// of others.
std::vector<std::string> pieces_of(std::string_view text, bool words) {
  enum class Kind : unsigned char { kNone, kWord, kSpace, kOther };
  const regex::CharClass& spaces =
      regex::property_class(regex::Property::kSpace);
  std::vector<std::string> out;
  Kind last = Kind::kNone;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t from = i;
    const char32_t c = base::next_code_point(text, i);
    const Kind kind = !words               ? Kind::kNone
                      : regex::is_word(c)  ? Kind::kWord
                      : spaces.contains(c) ? Kind::kSpace
                                           : Kind::kOther;
    if (kind == Kind::kNone || kind != last) out.emplace_back();
    out.back() += text.substr(from, i - from);
    last = kind;
  }
  return out;
}

}  // namespace

// Lark's library of terminals, as one pattern each.
std::string_view common_terminal(std::string_view name) {
  struct Entry {
    std::string_view name;
    std::string_view pattern;
  };
  static constexpr Entry kCommon[] = {
      {"DIGIT", "[0-9]"},
      {"HEXDIGIT", "[0-9A-Fa-f]"},
      {"INT", "[0-9]+"},
      {"SIGNED_INT", "[+\\-]?[0-9]+"},
      {"DECIMAL", "[0-9]+\\.[0-9]*|\\.[0-9]+"},
      {"_EXP", "[eE][+\\-]?[0-9]+"},
      {"FLOAT",
       "[0-9]+[eE][+\\-]?[0-9]+|([0-9]+\\.[0-9]*|\\.[0-9]+)"
       "([eE][+\\-]?[0-9]+)?"},
      {"SIGNED_FLOAT",
       "[+\\-]?([0-9]+[eE][+\\-]?[0-9]+|([0-9]+\\.[0-9]*|\\.[0-9]+)"
       "([eE][+\\-]?[0-9]+)?)"},
      {"NUMBER", "([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+\\-]?[0-9]+)?"},
      {"SIGNED_NUMBER",
       "[+\\-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+\\-]?[0-9]+)?"},
      {"ESCAPED_STRING", "\"([^\"\\\\\\n]|\\\\[^\\n])*\""},
      {"_STRING_INNER", "[^\\n]*"},
      {"_STRING_ESC_INNER", "([^\\\\\\n]|\\\\[^\\n])*"},
      {"LCASE_LETTER", "[a-z]"},
      {"UCASE_LETTER", "[A-Z]"},
      {"LETTER", "[A-Za-z]"},
      {"WORD", "[A-Za-z]+"},
      {"CNAME", "[_A-Za-z][_A-Za-z0-9]*"},
      {"WS_INLINE", "[ \\t]+"},
      {"WS", "[ \\t\\f\\r\\n]+"},
      {"CR", "\\r"},
      {"LF", "\\n"},
      {"NEWLINE", "(\\r?\\n)+"},
      {"SH_COMMENT", "#[^\\n]*"},
      {"CPP_COMMENT", "\\/\\/[^\\n]*"},
      {"C_COMMENT", "\\/\\*([^*]|\\*+[^*\\/])*\\*+\\/"},
      {"SQL_COMMENT", "--[^\\n]*"},
  };
  for (const Entry& entry : kCommon) {
    if (entry.name == name) return entry.pattern;
  }
  return "";
}

std::string message_in(const std::string& called, std::string_view source,
                       const Error& error) {
  std::string out = "In \"" + called + "\"";
  if (error.span) {
    out += ", " + to_string(line_column(source, error.span->begin));
  }
  return out + ": " + error.message;
}

// Reads a statement.  REQUIRES: the cursor is at "%".
bool LarkReader::directive() {
  const std::size_t begin = at_++;
  const std::string called = name();
  if (called == "import") return import();
  if (called == "declare") return declare();
  if (called == "llguidance" || called == "grammar_options") {
    return grammar_options();
  }
  if (called == "ignore") {
    in_terminal_ = in_lexeme_ = true;
    no_rules_ = false;
    ExprId id;
    if (!body(id)) return false;
    if (rules_.exprs[id].kind == rules::ExprKind::kEmpty) {
      return fail(begin, at_, "What is ignored may not be empty.",
                  ErrorCode::kEmptyValue);
    }
    // Ignored text is that of the grammar which imports a module.
    if (prefix_.empty()) ignores_.push_back(id);
    return true;
  }
  return fail(begin, at_,
              "\"%" + called +
                  "\" is not supported; statements are %import, %ignore, "
                  "%declare and %llguidance.",
              ErrorCode::kUnsupported);
}

// Reads an item of a rule.  REQUIRES: the cursor is at "%".
bool LarkReader::inline_directive(ExprId& out) {
  const std::size_t begin = at_++;
  const std::string called = name();
  if (called == "regex") return substring(out);
  if (called == "lark") {
    return only_in_rules(begin, "%lark") && nested(out);
  }
  if (called == "json") {
    if (!only_in_rules(begin, "%json")) return false;
    rules::SchemaExpr expr;
    skip_space();
    const std::size_t schema_begin = at_;
    if (!json_object(expr.schema)) return false;
    expr.span = Span{schema_begin, at_};
    out = rules_.schema(std::move(expr));
    return true;
  }
  return fail(begin, at_,
              "\"%" + called +
                  "\" is no item; items are %json, %lark and "
                  "%regex.",
              ErrorCode::kUnknownName);
}

// Reads the names after "%declare".  In Lark such terminals are produced by a
// program after the lexer, for indentation, for example.  A grammar has no such
// program, so these terminals match no text; the grammar's report says so.
bool LarkReader::declare() {
  for (skip_blanks(); !at_end() && !at_newline(); skip_blanks()) {
    const std::size_t begin = at_;
    const std::string called = name();
    if (called.empty()) return fail_here("%declare is followed by names.");
    const Span span{begin, at_};
    if (!add_terminal(named_rule(called, span), span, rules_.choice({}))) {
      return false;
    }
    context_.declared.push_back(called);
  }
  return true;
}

// Reads "common.X" or ".module.X".  Without a list of names, the last name is
// the one to import.
bool LarkReader::import_path(std::string& module, std::string& from,
                             Span& span) {
  match(".");
  for (;;) {
    span.begin = at_;
    std::string part = name();
    if (part.empty()) return fail_here("write %import common.X.");
    span.end = at_;
    const bool more = peek() == '.';
    const std::size_t saved = at_;
    skip_blanks();
    const bool list = peek() == '(';
    at_ = saved;
    if (!more && !list) {
      from = std::move(part);
      break;
    }
    if (!module.empty()) module += ".";
    module += part;
    if (list) return true;
    ++at_;
  }
  if (!module.empty()) return true;
  return fail_here("write %import common.X or %import common (X, Y).");
}

// REQUIRES: the cursor is after "%import".
bool LarkReader::import() {
  skip_blanks();
  std::string module;
  std::string from;
  Span span;
  if (!import_path(module, from, span)) return false;
  skip_blanks();
  if (!from.empty()) {
    std::string to = from;
    if (match("->")) {
      skip_blanks();
      to = name();
      if (to.empty()) return fail_here("a name for the terminal belongs here.");
    }
    return import_one(module, from, to, span);
  }
  match("(");
  for (skip_space(); !match(")"); skip_space()) {
    span.begin = at_;
    from = name();
    span.end = at_;
    if (from.empty()) return fail_here("a name belongs here.");
    if (!import_one(module, from, from, span)) return false;
    skip_space();
    if (!match(",") && peek() != ')') {
      return fail_here("names are separated by \",\".");
    }
  }
  return true;
}

// Defines a terminal.  A lower-case name is that of a rule, in which ignored
// text may follow.
bool LarkReader::add_terminal(rules::RuleId id, Span span, ExprId body) {
  if (!define(id, span)) return false;
  if (weave_ && !info_[id].terminal) {
    body = rules_.sequence({body, rules_.reference(ignored_)});
  }
  rules_.rules[id].body = body;
  return true;
}

bool LarkReader::import_one(const std::string& module, const std::string& from,
                            const std::string& to, Span span) {
  if (module != "common" || context_.options.sources.contains(module)) {
    if (!read_module(module, span)) return false;
    const auto found = ids_.find(module + "." + from);
    if (found == ids_.end()) {
      return fail(span.begin, span.end,
                  "\"" + module + "\" has no \"" + from + "\".",
                  ErrorCode::kUnknownName);
    }
    const rules::RuleId id = named_rule(to, span);
    const ExprId body = rules_.reference(found->second);
    if (is_terminal(from)) return add_terminal(id, span, body);
    if (info_[id].terminal) {
      return fail(span.begin, span.end,
                  "\"" + from + "\" is a rule, and \"" + to +
                      "\" the name of a terminal.");
    }
    if (!define(id, span)) return false;
    rules_.rules[id].body = body;
    return true;
  }
  const std::string_view pattern = common_terminal(from);
  if (pattern.empty()) {
    return fail(span.begin, span.end,
                "The library \"common\" has no \"" + from + "\".",
                ErrorCode::kUnknownName);
  }
  Result<rules::RegexExpr> expr = read_regex(pattern);
  if (!expr) return fail(span.begin, span.end, expr.error().message);
  return add_terminal(named_rule(to, span), span,
                      rules_.regex(std::move(*expr)));
}

// Reads the statements of another source.  Its names get the prefix "module.",
// which no name of a grammar has, and its ignored text is left out.
bool LarkReader::read_module(const std::string& module, Span span) {
  if (std::ranges::find(modules_, module) != modules_.end()) return true;
  const auto source = context_.options.sources.find(module);
  if (source == context_.options.sources.end()) {
    return fail(span.begin, span.end,
                "There is no library \"" + module +
                    "\"; \"common\" is built in, and others are given as "
                    "sources by their names.",
                ErrorCode::kUnknownName);
  }
  if (!may_nest(span)) return false;
  if (!count_read(source->second.size())) {
    return fail(span.begin, span.end,
                "The sources that are imported, and what templates make, have "
                "more than " +
                    std::to_string(kMaxReadBytes) +
                    " bytes.  A source counts each time that a \"%lark\" "
                    "imports it.",
                ErrorCode::kTooLarge);
  }
  modules_.push_back(module);
  const auto first = static_cast<rules::RuleId>(rules_.rules.size());
  const std::string_view text = std::exchange(text_, source->second);
  const std::size_t at = std::exchange(at_, 0);
  const std::size_t last_ignore =
      std::exchange(last_ignore_, text_.rfind("%ignore"));
  const std::string prefix = std::exchange(prefix_, module + ".");
  const bool nested = std::exchange(nested_, false);
  ++context_.depth;
  const bool good = read_source() && statements();
  --context_.depth;
  nested_ = nested;
  prefix_ = prefix;
  text_ = text;
  at_ = at;
  last_ignore_ = last_ignore;
  if (!good) {
    error_->message = message_in(module, source->second, *error_);
    error_->span = span;
    return false;
  }
  // What is in another text has no place in this one.
  for (std::size_t id = first; id < info_.size(); ++id) {
    info_[id].first_use = span;
  }
  for (auto& [name, made] : templates_) {
    if (made.text.data() == source->second.data()) made.span = span;
  }
  return true;
}

bool LarkReader::grammar_options() {
  const std::size_t begin = at_;
  json::Value given;
  if (!json_object(given)) return false;
  // How text is ignored is for the grammar which imports a module to say.
  const bool own = prefix_.empty();
  for (const auto& [key, value] : given.members()) {
    if (key == "skip_repetition") {
      const bool once = value.as_string() == "once";
      if (own) ignored_once_ = once;
      if (once || value.as_string() == "repeat") continue;
      return fail(begin, at_, "\"" + key + "\" is \"repeat\" or \"once\".",
                  ErrorCode::kInvalidValue);
    }
    const bool known = key == "allow_initial_skip" || key == "no_forcing" ||
                       key == "allow_invalid_utf8";
    if (!known) {
      return fail(begin, at_, "There is no grammar option \"" + key + "\".",
                  ErrorCode::kUnknownName);
    }
    if (value.kind() != json::Kind::kBool) {
      return fail(begin, at_, "\"" + key + "\" must be true or false.",
                  ErrorCode::kWrongType);
    }
    if (own && key == "allow_initial_skip") initial_skip_ = value.as_bool();
    // "no_forcing" is for the caller, who need not ask for forced tokens.
    if (key == "allow_invalid_utf8" && value.as_bool()) {
      return fail(
          begin, at_,
          "\"" + key + "\" cannot be switched on here: all text is UTF-8.",
          ErrorCode::kUnsupported);
    }
  }
  return true;
}

// Reads a JSON object, up to the brace that closes it.
bool LarkReader::json_object(json::Value& out) {
  skip_space();
  const std::size_t begin = at_;
  if (peek() != '{') return fail_here("a JSON object belongs here.");
  const std::size_t end = json::container_end(text_, begin);
  if (end == std::string_view::npos) {
    return fail(begin, begin + 1, "This JSON object is not closed.",
                ErrorCode::kInvalidJson);
  }
  at_ = end;
  Result<json::Value> value =
      json::parse(text_.substr(begin, end - begin), {.exact_floats = true});
  if (!value) {
    const Span span = value.error().span.value_or(Span{0, 0});
    return fail(begin + span.begin, begin + span.end, value.error().message,
                ErrorCode::kInvalidJson);
  }
  out = std::move(*value);
  return true;
}

// Reads a %regex item: any run of consecutive chunks of a text.
// REQUIRES: the cursor is after "%regex".
bool LarkReader::substring(ExprId& out) {
  const std::size_t begin = at_;
  json::Value given;
  if (!json_object(given)) return false;
  const json::Value* chunks = given.find("substring_chunks");
  const json::Value* chars = given.find("substring_chars");
  const json::Value* words = given.find("substring_words");
  std::vector<std::string> pieces;
  bool good = given.size() == 1;
  if (good && chunks != nullptr) {
    good = chunks->is_array();
    for (const json::Value& chunk : chunks->items()) {
      good = good && chunk.is_string();
      pieces.emplace_back(chunk.as_string());
    }
  } else if (good && (chars != nullptr || words != nullptr)) {
    const json::Value& whole = chars != nullptr ? *chars : *words;
    good = whole.is_string();
    pieces = pieces_of(whole.as_string(), words != nullptr);
  } else if (good) {
    return fail(begin, at_,
                "%regex knows substring_chunks, substring_words and "
                "substring_chars.",
                ErrorCode::kUnsupported);
  }
  if (!good) {
    return fail(begin, at_,
                "Write %regex {\"substring_chunks\": [\"a\", \"b\"]}, "
                "%regex {\"substring_words\": \"a b\"} or "
                "%regex {\"substring_chars\": \"ab\"}.");
  }
  out = rules_.substring(std::move(pieces));
  return true;
}

bool LarkReader::may_nest(Span span) {
  constexpr std::size_t kMaxDepth = 64;
  if (context_.depth < kMaxDepth) return true;
  return fail(
      span.begin, span.end,
      "Grammars are nested more than " + std::to_string(kMaxDepth) + " deep.",
      ErrorCode::kTooLarge);
}

// REQUIRES: the cursor is after "%lark".
bool LarkReader::nested(ExprId& out) {
  skip_space();
  const std::size_t begin = at_;
  if (!match("{")) return fail_here("a grammar in braces belongs here.");
  if (!may_nest({begin, at_})) return false;
  ++context_.depth;
  LarkReader inner(*this, at_);
  Result<rules::Rules> rules = inner.run();
  --context_.depth;
  if (!rules) {
    error_ = std::move(rules).error();
    return false;
  }
  at_ = inner.end() + 1;
  out = rules_.reference(append(*rules));
  return true;
}

}  // namespace parlance::notation
