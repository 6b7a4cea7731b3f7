#ifndef PARLANCE_SRC_NOTATION_EXPRESSION_READER_H_
#define PARLANCE_SRC_NOTATION_EXPRESSION_READER_H_

// What the notations of grammars have in common: named rules with options,
// whose bodies are alternatives of sequences of items with operators, in
// parentheses.  The base of the readers of EBNF, GBNF and Lark, which differ in
// their items, their white space, and in how a rule ends.
//
// A reader passes over the text once, with a stack of open groups of its own,
// so that nesting costs no call stack.
//
// A method that returns bool returns false after it has called fail().  Only
// the first error is reported.

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "notation/text_cursor.h"
#include "rules/rules.h"

namespace parlance::notation {

// Returns the tokens with a given text.  Null: there is no vocabulary, and
// tokens by name are errors.
using TokensSpelled =
    std::function<std::vector<rules::Token>(std::string_view)>;

class ExpressionReader : protected TextCursor {
 protected:
  // An open group, or the body of a rule.
  struct Frame {
    std::size_t begin = 0;
    char close = '\0';  // ")", "]", or none
    bool hint = false;  // EBNF's (= ...)
    std::vector<rules::ExprId> alternatives = {};
    std::vector<rules::ExprId> conjuncts = {};  // Lark's a & b, but the last
    std::vector<rules::ExprId> sequence = {};
    bool negated = false;         // Lark's ~: the next item
    std::size_t operator_at = 0;  // of Lark's last ~ or &
    bool has_element = false;     // the alternative is not empty
    bool closed = false;          // by a hint: nothing may follow
    // The last element may take an operator.
    bool operand = false;
    bool repeated = false;  // it has one
  };
  // A rule by its name.
  struct Info {
    Span first_use = {};
    bool defined = false;
    bool terminal = false;  // Lark
  };

  ExpressionReader(std::string_view text, std::size_t at,
                   const rules::RulesLimits& limits,
                   const TokensSpelled& tokens)
      : TextCursor(text, at), limits_(limits), tokens_spelled_(tokens) {}
  virtual ~ExpressionReader() = default;

  // What differs between the notations.
  virtual void skip_blanks() = 0;  // white space and comments within a line
  virtual void skip_space();       // and the ends of lines
  virtual std::string name() = 0;
  virtual bool string(std::string& out) = 0;
  // The value of the options "suffix" and "stop".
  virtual bool marker(rules::ExprId& out) = 0;
  // An option that only this notation has.  `known` is false for any other.
  virtual bool own_option(rules::RuleOptions&, const std::string&,
                          const std::string&, std::size_t, bool, bool& known) {
    known = false;
    return true;
  }

  // The message begins with the text found at the cursor.
  bool fail_here(std::string message);
  bool read_source();  // checks size and encoding
  bool within_limits(std::size_t begin);
  // Fails unless every lazy rule can be one.
  bool check_lazy();

  // Rules.
  rules::RuleId rule_called(const std::string& name, Span span);
  rules::RuleId add_rule(std::string name, Info info);
  // Fails if rule `id` is defined already, else notes that it is.
  bool define(rules::RuleId id, Span span);
  bool check_references();

  // Expressions.
  void begin_body();
  bool open(char close);
  // Closes the group at the cursor; `out` is its expression.
  // REQUIRES: its last alternative has been ended.
  bool close(Frame& inner, rules::ExprId& out);
  void end_alternative();
  rules::ExprId finish(Frame& frame);
  bool end_body(rules::ExprId& out);
  void push(rules::ExprId id);
  bool repeat_last(std::size_t begin, std::uint32_t min, std::uint32_t max);
  // One of ? * + and {...} at the cursor.
  bool repetition();
  bool braces(std::uint32_t& min, std::uint32_t& max);
  bool count(std::uint32_t& out);

  // Options [key=value, ...] of a rule.  REQUIRES: the cursor is at "[".
  bool options(rules::RuleOptions& out, const std::string& rule_name);
  bool option(rules::RuleOptions& out, const std::string& key,
              const std::string& rule_name, std::size_t begin);
  bool temperature(std::size_t begin, rules::RuleOptions& out);
  bool capture_name(std::string& out);

  // Reads `least` to `most` hexadecimal digits of the escape at `begin`, which
  // are the number of a character.
  bool hex_escape(std::size_t begin, std::size_t least, std::size_t most,
                  char32_t& out);

  // A token by its id, and the tokens <name>.
  bool token_number(rules::Token& out);
  bool token_name(rules::TokenSetExpr& out);

  rules::Rules rules_;
  std::vector<Frame> frames_;
  std::unordered_map<std::string, rules::RuleId> ids_;
  std::vector<Info> info_;  // by rule
  const rules::RulesLimits& limits_;
  const TokensSpelled& tokens_spelled_;
  // What the notation allows.
  bool no_minimum_ = false;      // {,5}
  bool many_operators_ = false;  // a+* is (a+)*
};

}  // namespace parlance::notation

#endif  // PARLANCE_SRC_NOTATION_EXPRESSION_READER_H_
