#ifndef PARLANCE_SRC_NOTATION_EBNF_READER_H_
#define PARLANCE_SRC_NOTATION_EBNF_READER_H_

// The reader of EBNF and of GBNF, which differ in names, ends of rules, escapes
// and operators, and in what only one of them has: macros, options and hints;
// tokens in angle brackets.  ebnf.cc reads rules and elements, ebnf_terms.cc
// terminals (strings, classes, tokens, macros) and the options of rules.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "notation/ebnf.h"
#include "notation/expression_reader.h"

namespace parlance::notation {

class EbnfReader : private ExpressionReader {
 public:
  EbnfReader(std::string_view text, const rules::RulesLimits& limits);
  EbnfReader(std::string_view text, const GbnfOptions& options);
  Result<rules::Rules> run(std::string_view root_rule);

 private:
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

  void skip_blanks() override;
  void skip_space() override;
  bool first_on_line(std::size_t at) const;

  // Rules (ebnf.cc).
  bool grammar();
  bool rule();
  bool begins_rule() const;
  bool in_name(char c) const;
  bool begins_name(char c) const;
  bool at_end_of_rule();
  bool body(rules::ExprId& out);
  bool element();
  bool terminal(rules::ExprId& out);
  bool named_element(rules::ExprId& out);
  bool open_group();
  bool close_group();
  bool alternative(std::size_t end);
  std::string name() override;

  // Terms (ebnf_terms.cc).
  bool string(std::string& out) override;
  bool line_ends() const;
  bool char_class(rules::ExprId& out);
  bool escape(bool in_class, char32_t& out);
  bool token(rules::ExprId& out);
  bool read_hex(std::size_t begin);
  bool own_option(rules::RuleOptions& out, const std::string& key,
                  const std::string& rule_name, std::size_t begin,
                  bool has_value, bool& known) override;
  bool marker(rules::ExprId& out) override;
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

  bool gbnf_ = false;
  std::string prefix_of_;  // the rule with a prefix; "" for none
  Span prefix_span_;
};

}  // namespace parlance::notation

#endif  // PARLANCE_SRC_NOTATION_EBNF_READER_H_
