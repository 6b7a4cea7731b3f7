// Writes rules as EBNF that read_ebnf() reads as the same language.  A stack of
// pending writes replaces recursion, so nesting costs no call stack.

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "json/writer.h"
#include "notation/ebnf.h"

namespace parlance::notation {

using rules::Expr;
using rules::ExprKind;
using rules::kNoExpr;
using rules::RuleId;
using rules::Rules;
namespace {

bool is_name(std::string_view name) {
  bool first = true;
  for (char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        c == '_' || c == '-';
    const bool digit = (c >= '0' && c <= '9') || c == '.';
    if (!letter && (first || !digit)) return false;
    first = false;
  }
  return !name.empty();
}

void append_escape(std::string& out, char32_t c) {
  static const char* digits = "0123456789ABCDEF";
  const bool wide = c > 0xFFFF;
  out += wide ? "\\U" : "\\u";
  for (int shift = wide ? 28 : 12; shift >= 0; shift -= 4) {
    out += digits[(c >> shift) & 15];
  }
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const char32_t c = base::next_code_point(text, i);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20 || c == 0x7F || c == 0x85 || c == 0xFEFF) {
      append_escape(out, c);
    } else {
      base::append_utf8(out, c);
    }
  }
  out += '"';
}

std::string hexadecimal(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto value = static_cast<unsigned char>(byte);
    out += digits[value >> 4];
    out += digits[value & 15];
  }
  return out;
}

void append_member(std::string& out, char32_t c) {
  if (c == '\\' || c == ']' || c == '[' || c == '^' || c == '-') {
    out += '\\';
    out += static_cast<char>(c);
  } else if (c < 0x20 || c == 0x7F || c == 0x85 || c >= 0x2000) {
    append_escape(out, c);
  } else {
    base::append_utf8(out, c);
  }
}

void append_class(std::string& out, const regex::CharClass& set) {
  static const regex::CharClass scalar_values(
      {{0, 0xD7FF}, {0xE000, regex::kMaxCodePoint}});
  out += '[';
  // Half of a surrogate pair is in no text, and has no spelling.
  const regex::CharClass shown = set.intersect(scalar_values);
  for (const regex::CharRange& range : shown.ranges()) {
    append_member(out, range.first);
    if (range.last != range.first) {
      out += '-';
      append_member(out, range.last);
    }
  }
  out += ']';
}

class Writer {
 public:
  explicit Writer(const Rules& rules) : rules_(rules) {}

  std::string run() {
    names_.resize(rules_.rules.size());
    use(rules_.root);
    for (std::size_t i = 0; i < order_.size(); ++i) rule(order_[i]);
    return std::move(out_);
  }

 private:
  // The context of an expression.  ORDER: from loose to tight
  enum class Context : unsigned char { kAlternatives, kSequence, kOperand };
  struct Task {
    std::string_view text = {};
    rules::ExprId expr = kNoExpr;
    Context context = Context::kAlternatives;
  };

  // `wanted`, followed by a number if that name is taken.
  std::string unused(const std::string& wanted) {
    // The search begins at the last number, so that each of many rules with one
    // name takes one step.
    std::string chosen = wanted;
    std::size_t& n = numbers_[wanted];
    while (!taken_.insert(chosen).second) {
      chosen = wanted + "_" + std::to_string(++n);
    }
    return chosen;
  }

  // A rule gets its name, and its turn to be written, where it is first
  // mentioned.  So rules that the root does not reach are not written.
  const std::string& use(RuleId id) {
    if (names_[id].empty()) {
      std::string wanted = id == rules_.root ? "root" : rules_.rules[id].name;
      if (!is_name(wanted)) wanted = "rule";
      names_[id] = unused(wanted);
      order_.push_back(id);
    }
    return names_[id];
  }

  void rule(RuleId id) {
    const rules::Rule& rule = rules_.rules[id];
    std::string marker_name;
    const std::string name = names_[id];
    out_ += name;
    options(rule, name, marker_name, id == rules_.root);
    out_ += " ::= ";
    if (rule.body == kNoExpr) {
      out_ += "[]";
    } else {
      expression(rule.body);
    }
    out_ += '\n';
    if (marker_name.empty()) return;
    out_ += marker_name + " ::= ";
    expression(rule.options.marker);
    out_ += '\n';
  }

  void options(const rules::Rule& rule, const std::string& name,
               std::string& marker_name, bool root) {
    const rules::RuleOptions& options = rule.options;
    std::string text;
    auto add = [&](std::string_view key) -> std::string& {
      if (!text.empty()) text += ", ";
      return text += key;
    };
    if (options.lazy) add("lazy");
    if (options.max_tokens) {
      add("max_tokens=") += std::to_string(*options.max_tokens);
    }
    if (options.max_chars) {
      add("max_chars=") += std::to_string(*options.max_chars);
    }
    if (options.temperature) {
      json::append_float(add("temperature="), *options.temperature);
    }
    if (!options.capture.empty()) {
      append_string(add("capture="), options.capture);
    }
    if (options.marker != kNoExpr) {
      add(options.hide_marker ? "stop=" : "suffix=");
      const Expr& marker = rules_.exprs[options.marker];
      // An option is a string or the name of a rule.  Any other marker becomes
      // a rule of its own, which follows this one.
      if (marker.kind == ExprKind::kBytes) {
        append_string(text, rules_.texts[marker.index]);
      } else if (marker.kind == ExprKind::kRule) {
        text += use(marker.rule());
      } else {
        marker_name = unused(name + "_marker");
        text += marker_name;
      }
    }
    if (options.marker_optional) add("marker_optional");
    if (!options.marker_capture.empty()) {
      append_string(add("stop_capture="), options.marker_capture);
    }
    if (root && !rules_.prefix.empty()) {
      if (base::is_utf8(rules_.prefix)) {
        append_string(add("prefix="), rules_.prefix);
      } else {
        add("prefix_bytes=") += '"' + hexadecimal(rules_.prefix) + '"';
      }
    }
    if (!text.empty()) out_ += "[" + text + "]";
  }

  void expression(rules::ExprId root) {
    std::vector<Task> left{{{}, root, Context::kAlternatives}};
    while (!left.empty()) {
      const Task task = left.back();
      left.pop_back();
      if (task.expr == kNoExpr) {
        out_ += task.text;
      } else {
        write(task, left);
      }
    }
  }

  // Writes a terminal, or pushes the parts of an expression to `left`.
  // Invariant: the text of `task` is the text in out_ since the call, followed
  // by the tasks that the call has pushed, from the last to the first.
  void write(const Task& task, std::vector<Task>& left) {
    const Expr& expr = rules_.exprs[task.expr];
    // The stack is popped from its end, so children are pushed in reverse.
    auto list = [&](std::string_view between, Context inner, Context loosest) {
      // Parentheses where the context binds more tightly than a list may.
      const bool bare = task.context <= loosest;
      if (!bare) left.push_back({")"});
      for (std::size_t i = expr.children.size(); i-- > 0;) {
        left.push_back({{}, expr.children[i], inner});
        if (i > 0) left.push_back({between});
      }
      if (!bare) left.push_back({"("});
    };
    switch (expr.kind) {
      case ExprKind::kEmpty:
        out_ += "\"\"";
        break;
      case ExprKind::kBytes:
        append_string(out_, rules_.texts[expr.index]);
        break;
      case ExprKind::kClass:
        append_class(out_, rules_.classes[expr.index]);
        break;
      case ExprKind::kSequence:
        if (expr.children.empty()) {
          out_ += "\"\"";
        } else {
          list(" ", Context::kSequence, Context::kAlternatives);
        }
        break;
      case ExprKind::kChoice:
        if (expr.children.empty()) {
          out_ += "[]";
        } else {
          list(" | ", Context::kAlternatives, Context::kAlternatives);
        }
        break;
      case ExprKind::kRepeat:
        repeat(task, expr, left);
        break;
      case ExprKind::kRule:
        out_ += use(expr.rule());
        break;
      case ExprKind::kRegex:
        regex(rules_.regexes[expr.index]);
        break;
      case ExprKind::kSubstring:
        call("Substring", rules_.substrings[expr.index].chunks);
        break;
      case ExprKind::kFreeText:
        free_text(rules_.free_texts[expr.index]);
        break;
      case ExprKind::kTokens:
        tokens(rules_.token_sets[expr.index]);
        break;
      case ExprKind::kTokenText:
        token_text(rules_.token_texts[expr.index]);
        break;
      case ExprKind::kSchema:
        schema(rules_.schemas[expr.index]);
        break;
    }
  }

  void repeat(const Task& task, const Expr& expr, std::vector<Task>& left) {
    const bool bare = task.context != Context::kOperand;
    if (!bare) left.push_back({")"});
    // The counts follow the body, so their text must outlive this call.
    counts_.push_back(counts(expr));
    left.push_back({});
    left.back().text = counts_text(expr);
    left.push_back({{}, expr.children[0], Context::kOperand});
    if (!bare) left.push_back({"("});
  }

  static std::string counts(const Expr& expr) {
    std::string text = "{" + std::to_string(expr.min);
    if (expr.max != expr.min) {
      text += ",";
      if (expr.max != rules::kUnbounded) text += std::to_string(expr.max);
    }
    return text + "}";
  }
  std::string_view counts_text(const Expr& expr) {
    if (expr.max == rules::kUnbounded && expr.min <= 1) {
      return expr.min == 0 ? "*" : "+";
    }
    if (expr.min == 0 && expr.max == 1) return "?";
    return counts_.back();
  }

  void call(std::string_view name, const std::vector<std::string>& texts) {
    out_ += name;
    out_ += '(';
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (i > 0) out_ += ", ";
      append_string(out_, texts[i]);
    }
    out_ += ')';
  }

  void regex(const rules::RegexExpr& expr) {
    out_ += "Regex(";
    append_string(out_, expr.source);
    if (expr.has_flags) append_string(out_ += ", flags=", expr.flags);
    if (expr.json_string) out_ += ", json_string=true";
    out_ += ')';
  }

  void free_text(const rules::FreeTextExpr& text) {
    out_ += "TagDispatch(";
    for (const rules::FreeTextExpr::Trigger& trigger : text.triggers) {
      // A trigger that begins with an exclude is never reached, and read_ebnf()
      // refuses it.
      bool reachable = true;
      for (const std::string& exclude : text.excludes) {
        reachable = reachable && !trigger.text.starts_with(exclude);
      }
      if (!reachable) continue;
      append_string(out_ += '(', trigger.text);
      out_ += ", " + use(trigger.rule);
      if (!trigger.capture.empty()) {
        append_string(out_ += ", ", trigger.capture);
      }
      if (trigger.hide) out_ += ", stop";
      out_ += "), ";
    }
    out_ += "loop_after_dispatch=";
    out_ += text.loop ? "true" : "false";
    if (!text.excludes.empty()) call(", excludes=", text.excludes);
    if (!text.exclude_patterns.empty()) {
      call(", exclude_patterns=", text.exclude_patterns);
    }
    out_ += ')';
  }

  void tokens(const rules::TokenSetExpr& set) {
    static constexpr rules::Token kLast = 0xFFFFFFFE;
    // The last id that read_ebnf() takes.  ExcludeToken() without an id is not
    // in the notation, so any token is written as a range.
    if (set.negated && set.ranges.empty()) {
      out_ += "Token(0-" + std::to_string(kLast) + ")";
      return;
    }
    if (set.ranges.empty()) {
      out_ += "[]";
      return;
    }
    out_ += set.negated ? "ExcludeToken(" : "Token(";
    for (std::size_t i = 0; i < set.ranges.size(); ++i) {
      if (i > 0) out_ += ", ";
      out_ += std::to_string(set.ranges[i].first);
      if (set.ranges[i].last == set.ranges[i].first) continue;
      out_ += "-" + std::to_string(std::min(set.ranges[i].last, kLast));
    }
    out_ += ')';
  }

  void token_text(const rules::TokenTextExpr& text) {
    out_ += "TokenTagDispatch(";
    for (const rules::TokenTextExpr::Trigger& trigger : text.triggers) {
      out_ += "(" + std::to_string(trigger.token) + ", " + use(trigger.rule) +
              "), ";
    }
    out_ += "loop_after_dispatch=";
    out_ += text.loop ? "true" : "false";
    if (!text.excludes.empty()) {
      out_ += ", excludes=(";
      for (rules::Token token : text.excludes) {
        out_ += std::to_string(token) + ",";
      }
      out_ += ')';
    }
    out_ += ')';
  }

  void schema(const rules::SchemaExpr& expr) {
    json::DumpOptions compact;
    compact.ascii = false;
    compact.compact = true;
    out_ += "JsonSchema(";
    append_string(out_, json::dump(expr.schema, compact));
    if (!expr.options.is_null()) {
      append_string(out_ += ", options=", json::dump(expr.options, compact));
    }
    out_ += ')';
  }

  const Rules& rules_;
  std::string out_;
  std::vector<std::string> names_;  // by rule; "": not used so far
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::size_t> numbers_;  // the last given
  std::vector<RuleId> order_;
  std::deque<std::string> counts_;
};

}  // namespace

std::string to_ebnf(const Rules& rules) { return Writer(rules).run(); }

}  // namespace parlance::notation
