// Reads the statements and items of Lark that begin with "%".

#include <utility>

#include "base/utf8.h"
#include "notation/lark_reader.h"
#include "notation/regex_rules.h"

namespace parlance::notation {

using rules::ExprId;

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

// Reads a statement.  REQUIRES: the cursor is at "%".
bool LarkReader::directive() {
  const std::size_t begin = at_++;
  const std::string called = name();
  if (called == "import") return import();
  if (called == "grammar_options") return grammar_options();
  if (called == "ignore") {
    in_terminal_ = in_lexeme_ = true;
    no_rules_ = false;
    ExprId id = 0;
    if (!body(id)) return false;
    ignores_.push_back(id);
    return true;
  }
  return fail(begin, at_,
              "\"%" + called +
                  "\" is not supported; statements are %import, %ignore and "
                  "%grammar_options.",
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

// REQUIRES: the cursor is after "%import".
bool LarkReader::import() {
  skip_blanks();
  const std::size_t begin = at_;
  const std::string library = name();
  if (library != "common") {
    return fail(begin, at_, "The only library is \"common\".",
                ErrorCode::kUnknownName);
  }
  auto one = [&](bool may_rename) {
    const std::size_t from_begin = at_;
    const std::string from = name();
    const Span span{from_begin, at_};
    std::string to = from;
    const std::size_t saved = at_;
    skip_blanks();
    if (may_rename && match("->")) {
      skip_blanks();
      to = name();
      if (to.empty()) return fail_here("a name for the terminal belongs here.");
    } else {
      at_ = saved;
    }
    return import_one(from, to, span);
  };
  if (match(".")) return one(true);
  skip_blanks();
  if (!match("(")) {
    return fail_here("write %import common.X or %import common (X, Y).");
  }
  for (skip_space(); !match(")"); skip_space()) {
    if (!one(false)) return false;
    skip_space();
    if (!match(",") && peek() != ')') {
      return fail_here("names are separated by \",\".");
    }
  }
  return true;
}

bool LarkReader::import_one(const std::string& from, const std::string& to,
                            Span span) {
  const std::string_view pattern = common_terminal(from);
  if (pattern.empty()) {
    return fail(span.begin, span.end,
                "The library \"common\" has no \"" + from + "\".",
                ErrorCode::kUnknownName);
  }
  const rules::RuleId id = rule_called(to, span);
  if (info_[id].defined) {
    return fail(span.begin, span.end, "\"" + to + "\" is defined twice.",
                ErrorCode::kConflict);
  }
  Result<rules::RegexExpr> expr = read_regex(pattern);
  if (!expr) return fail(span.begin, span.end, expr.error().message);
  info_[id].defined = true;
  ExprId body = rules_.regex(std::move(*expr));
  // A lower-case name is that of a rule, in which ignored text may follow.
  if (weave_ && !info_[id].terminal) {
    body = rules_.sequence({body, rules_.reference(ignored_)});
  }
  rules_.rules[id].body = body;
  return true;
}

bool LarkReader::grammar_options() {
  const std::size_t begin = at_;
  json::Value given;
  if (!json_object(given)) return false;
  for (const auto& [key, value] : given.members()) {
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
    if (key == "allow_initial_skip") {
      initial_skip_ = value.as_bool();
    } else if (value.as_bool()) {
      return fail(begin, at_, "\"" + key + "\" cannot be switched on here.",
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
  std::size_t depth = 0;
  do {
    if (at_end()) {
      return fail(begin, begin + 1, "This JSON object is not closed.",
                  ErrorCode::kInvalidJson);
    }
    const char c = text_[at_++];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != '"') continue;
    while (!at_end() && peek() != '"') at_ += peek() == '\\' ? 2 : 1;
    ++at_;
  } while (depth > 0);
  at_ = std::min(at_, text_.size());
  Result<json::Value> value =
      json::parse(text_.substr(begin, at_ - begin), {.exact_floats = true});
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
  std::vector<std::string> pieces;
  bool good = given.size() == 1;
  if (good && chunks != nullptr) {
    good = chunks->is_array();
    for (const json::Value& chunk : chunks->items()) {
      good = good && chunk.is_string();
      pieces.emplace_back(chunk.as_string());
    }
  } else if (good && chars != nullptr) {
    good = chars->is_string();
    const std::string_view text = chars->as_string();
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t from = i;
      base::next_code_point(text, i);
      pieces.emplace_back(text.substr(from, i - from));
    }
  } else if (good) {
    return fail(begin, at_,
                "%regex knows substring_chunks and substring_chars.",
                ErrorCode::kUnsupported);
  }
  if (!good) {
    return fail(begin, at_,
                "Write %regex {\"substring_chunks\": [\"a\", \"b\"]} or "
                "%regex {\"substring_chars\": \"ab\"}.");
  }
  out = rules_.substring(std::move(pieces));
  return true;
}

// REQUIRES: the cursor is after "%lark".
bool LarkReader::nested(ExprId& out) {
  skip_space();
  const std::size_t begin = at_;
  if (!match("{")) return fail_here("a grammar in braces belongs here.");
  if (context_.depth >= 64) {
    return fail(begin, at_, "Grammars are nested more than 64 deep.",
                ErrorCode::kTooLarge);
  }
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
