#ifndef PARLANCE_SRC_NOTATION_LARK_READER_H_
#define PARLANCE_SRC_NOTATION_LARK_READER_H_

// The reader of Lark: one pass over the text with its own stack of open
// groups.  lark.cc reads statements, sequences and operators; lark_terms.cc
// reads terminals and tokens; lark_options.cc reads the options of rules;
// lark_directives.cc reads the statements and items that begin with "%".  After
// the whole text has been read, lark_dispatch.cc finds free text with triggers.
//
// A method that returns bool returns false after it has called fail().  Only
// the first error is reported.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "notation/lark.h"
#include "notation/text_cursor.h"

namespace parlance::notation {

// The pattern of a terminal of the library "common"; "" if the library has no
// terminal of this name.
std::string_view common_terminal(std::string_view name);

// Shared by the readers of one source, of its named grammars and of the
// grammars nested in it.
struct LarkContext {
  const LarkOptions& options;
  std::vector<std::string> chain = {};  // names being read
  std::map<std::string, rules::Rules> compiled = {};
  std::size_t depth = 0;
};

class LarkReader : private TextCursor {
 public:
  LarkReader(std::string_view text, LarkContext& context);
  // Reads a grammar nested in `outer`, from `begin` up to the "}" that closes
  // it.
  LarkReader(const LarkReader& outer, std::size_t begin);
  Result<rules::Rules> run();
  std::size_t end() const { return at_; }

 private:
  // An open group, or the body of a statement.
  struct Frame {
    std::size_t begin = 0;
    char close = '\0';  // ")" or "]"
    std::vector<rules::ExprId> alternatives = {};
    std::vector<rules::ExprId> sequence = {};
    bool operand = false;   // the last item may take an operator
    bool repeated = false;  // it has one
  };
  struct Info {
    Span first_use = {};
    bool defined = false;
    bool terminal = false;
  };

  void skip_blanks();  // up to the end of the line
  void skip_space();   // also over the ends of lines
  bool fail_here(std::string message);

  // lark.cc
  bool statements();
  bool definition();
  bool body(rules::ExprId& out);
  bool without_trailing_ignored(rules::ExprId& id);
  bool item();
  bool named_item();
  bool open(char close);
  bool close();
  void end_alternative();
  bool operators();
  bool repeat_last(std::size_t begin, std::uint32_t min, std::uint32_t max);
  bool count(std::uint32_t& out);
  void push(rules::ExprId id);
  void push_lexeme(rules::ExprId id);
  std::string name();
  static bool is_terminal(std::string_view name);
  rules::RuleId rule_called(const std::string& name, Span span);
  // Adds the rules of another grammar and returns its root.
  rules::RuleId append(const rules::Rules& other);
  bool only_in_rules(std::size_t begin, std::string_view what);
  bool finish();
  bool check_terminals();

  // lark_terms.cc
  bool string(std::string& out);
  bool text_item(rules::ExprId& out, bool& ranged);
  bool folded(const std::string& text, Span span, rules::ExprId& out);
  bool pattern(rules::ExprId& out);
  bool tokens(rules::ExprId& out);
  bool token_list(rules::TokenSetExpr& out);
  bool token_number(rules::Token& out);
  bool token_name(rules::TokenSetExpr& out);
  bool named_grammar(rules::ExprId& out);

  // lark_options.cc
  bool options(rules::RuleOptions& out, const std::string& rule_name);
  bool option(rules::RuleOptions& out, const std::string& key,
              std::size_t begin, const std::string& rule_name);
  bool capture_name(std::string& out);
  bool marker(rules::ExprId& out);

  // lark_directives.cc
  bool directive();
  bool inline_directive(rules::ExprId& out);
  bool import();
  bool import_one(const std::string& from, const std::string& to, Span span);
  bool grammar_options();
  bool json_object(json::Value& out);
  bool substring(rules::ExprId& out);
  bool nested(rules::ExprId& out);

  // lark_dispatch.cc
  bool find_dispatch();
  struct Branch;
  std::vector<Branch> dispatch_branches(rules::RuleId id, rules::ExprId& tail);
  bool check_branches(const std::vector<Branch>& branches);
  rules::RuleId rule_after(const Branch& branch);
  bool dispatch_in(rules::RuleId rule);
  // The beginning of a branch: any text up to a trigger, `text` or `tokens`.
  struct Head {
    std::string text = {};
    std::uint32_t tokens = rules::kNoId;  // of Rules::token_sets
    bool hide = false;
    std::string capture = {};
    // The rules around it, from the outermost to the lexeme.  Or the text
    // `before` the tokens and the tokens are two items.
    std::vector<rules::RuleId> chain = {};
    rules::ExprId before = rules::kNoId;
    std::vector<rules::ExprId> rest = {};  // after it
  };
  bool trigger_tokens(const Branch& branch, std::vector<rules::Token>& out);
  std::vector<rules::RuleId> rules_around_text(rules::ExprId id) const;
  bool has_options(const std::vector<Branch>& branches,
                   rules::ExprId tail) const;
  rules::ExprId copied(const std::vector<rules::RuleId>& chain,
                       rules::ExprId body);
  bool spread_dispatch(rules::RuleId rule, const std::vector<Branch>& branches,
                       rules::ExprId tail);
  rules::ExprId head_without(const Head& head, rules::RuleId text);
  bool check_apart(const std::vector<Branch>& branches);
  bool head_of(rules::RuleId rule, Head& out) const;
  bool find_head(rules::RuleId rule, Branch& out) const;
  bool fixed_head(rules::ExprId id, Head& out) const;
  bool lexeme_head(const rules::Rule& rule, Head& out) const;
  std::vector<rules::ExprId> parts_of(rules::ExprId id) const;
  mutable std::size_t steps_ = 0;  // items visited, for the limit
  bool is_any_text(rules::ExprId id) const;
  void open_ended_markers();
  void open_ended_lazy_rules();

  bool nested_;
  LarkContext& context_;
  const rules::RulesLimits& limits_;
  rules::Rules rules_;
  std::unordered_map<std::string, rules::RuleId> ids_;
  std::map<std::string, rules::RuleId> named_;  // roots of @grammars
  std::vector<Info> info_;                      // by rule
  std::vector<Frame> frames_;
  bool in_terminal_ = false;
  bool in_lexeme_ = false;   // a terminal, or a lazy rule
  bool no_rules_ = false;    // a rule with a suffix: of terminals only
  std::size_t last_ignore_;  // the offset of the last "%ignore" in `text_`
  bool weave_ = false;       // there may be ignored text
  rules::RuleId ignored_ = rules::kNoId;
  std::vector<rules::ExprId> ignores_;
  bool initial_skip_ = false;
};

}  // namespace parlance::notation

#endif  // PARLANCE_SRC_NOTATION_LARK_READER_H_
