#ifndef PARLANCE_SRC_NOTATION_EBNF_READER_H_
#define PARLANCE_SRC_NOTATION_EBNF_READER_H_

// The reader of EBNF: one pass over the text with its own stack of open
// parentheses.  ebnf.cc reads rules, sequences and operators; ebnf_terms.cc
// reads terminals (strings, classes, macros) and the options of rules.
//
// A method that returns bool returns false after it has called fail().  Only
// the first error is reported.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "notation/ebnf.h"
#include "notation/text_cursor.h"

namespace parlance::notation {

class EbnfReader : private TextCursor {
 public:
  EbnfReader(std::string_view text, const rules::RulesLimits& limits);
  Result<rules::Rules> run(std::string_view root_rule);

 private:
  // An open parenthesis, or the body of a rule.
  struct Frame {
    std::size_t begin = 0;
    bool hint = false;  // (= ...)
    std::vector<rules::ExprId> alternatives = {};
    std::vector<rules::ExprId> sequence = {};
    bool has_element = false;  // the alternative is not empty
    bool closed = false;       // by a hint: nothing may follow
    // The last element may take an operator.
    bool operand = false;
    bool repeated = false;  // it has one
  };

  // An argument of a macro.
  struct Value {
    enum class Kind : unsigned char { kText, kNumber, kBool, kName, kTuple };
    Kind kind = Kind::kText;
    std::string text = {};  // kText, kName
    std::uint64_t number = 0;
    std::uint64_t last = 0;  // kNumber: of a range, else `number`
    bool truth = false;
    std::vector<Value> items = {};
    Span span = {};
  };
  struct Arguments {
    std::vector<Value> positional;
    std::map<std::string, Value> named;
    Span span = {};
  };

  void skip_space();
  bool first_on_line(std::size_t at) const;
  bool fail_here(std::string message);

  // Rules (ebnf.cc).
  bool grammar();
  bool rule();
  bool begins_rule() const;
  bool body(rules::ExprId& out);
  bool element();
  bool open();
  bool close();
  bool end_alternative(std::size_t end);
  rules::ExprId finish(Frame& frame);
  void push(rules::ExprId id);
  bool repetition();
  bool braces(std::uint32_t& min, std::uint32_t& max);
  bool count(std::uint32_t& out);
  std::string name();
  rules::RuleId rule_called(const std::string& name, Span span);
  bool check_references();

  // Terms (ebnf_terms.cc).
  bool string(std::string& out);
  bool char_class(rules::ExprId& out);
  bool escape(bool in_class, char32_t& out);
  bool options(rules::RuleOptions& out, const std::string& rule_name);
  bool read_hex(std::size_t begin);
  bool option(rules::RuleOptions& out, const std::string& key,
              const std::string& rule_name, std::size_t begin);
  bool temperature(std::size_t begin, rules::RuleOptions& out);
  bool marker(rules::ExprId& out);
  bool macro(const std::string& called, std::size_t begin, rules::ExprId& out);
  bool arguments(Arguments& out);
  bool value(Value& out, int depth);
  bool regex_macro(Arguments& args, rules::ExprId& out);
  bool substring_macro(Arguments& args, rules::ExprId& out);
  bool read_patterns(const Value& given, rules::FreeTextExpr& text);
  struct Dispatch;
  bool dispatch_excludes(const std::optional<Value>& given, Dispatch& out);
  bool dispatch_trigger(const Value& given, Dispatch& out);
  bool dispatch_macro(Arguments& args, bool tokens, rules::ExprId& out);
  bool token_macro(Arguments& args, bool excluded, rules::ExprId& out);
  bool schema_macro(Arguments& args, rules::ExprId& out);
  bool take_named(Arguments& args, std::string_view key, Value::Kind kind,
                  std::optional<Value>& out);
  bool no_more_named(const Arguments& args);
  static bool is_macro(std::string_view called);

  rules::RulesLimits limits_;
  rules::Rules rules_;
  std::string prefix_of_;  // the rule with a prefix; "" for none
  Span prefix_span_;
  std::unordered_map<std::string, rules::RuleId> ids_;
  std::vector<Span> first_use_;  // by rule
  std::vector<bool> defined_;    // by rule
  std::vector<Frame> frames_;
};

}  // namespace parlance::notation

#endif  // PARLANCE_SRC_NOTATION_EBNF_READER_H_
