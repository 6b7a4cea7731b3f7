#ifndef PARLANCE_SRC_NOTATION_LARK_READER_H_
#define PARLANCE_SRC_NOTATION_LARK_READER_H_

// The reader of Lark.  lark.cc reads statements and items; lark_terms.cc reads
// terminals and tokens; lark_directives.cc the statements and items that begin
// with "%"; lark_templates.cc templates.
// After the whole text has been read, lark_operators.cc gives terminals with
// "&" and "~" their meaning, and lark_dispatch.cc finds free text with
// triggers.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "notation/expression_reader.h"
#include "notation/lark.h"

namespace parlance::notation {

// The pattern of a terminal of the library "common"; "" if the library has no
// terminal of this name.
std::string_view common_terminal(std::string_view name);

// The message of an error in the source `called`, with its place there.
std::string message_in(const std::string& called, std::string_view source,
                       const Error& error);

// Of LarkContext::read_bytes.  A source is read again in each "%lark {...}"
// that imports it, and may have several of them itself.
inline constexpr std::size_t kMaxReadBytes = std::size_t{16} << 20;

// Shared by the readers of one source, of its named grammars and of the
// grammars nested in it.
struct LarkContext {
  const LarkOptions& options;
  std::vector<std::string> chain = {};  // names being read
  std::map<std::string, rules::Rules> compiled = {};
  std::size_t depth = 0;
  // Read beside the text and the named grammars: sources that are imported,
  // each time that one is, and the bodies of templates, with the names of rules
  // that they make.
  std::size_t read_bytes = 0;
  std::vector<std::string> declared = {};  // terminals without a text
};

class LarkReader : private ExpressionReader {
 public:
  LarkReader(std::string_view text, LarkContext& context);
  // Reads a grammar nested in `outer`, from `begin` up to the "}" that closes
  // it.
  LarkReader(const LarkReader& outer, std::size_t begin);
  Result<rules::Rules> run(std::string_view start_rule = "start");
  std::size_t end() const { return at_; }

 private:
  void skip_blanks() override;

  // lark.cc
  bool statements();
  bool definition();
  bool body(rules::ExprId& out);
  bool priority();
  bool defined_twice(const std::string& called, Span span);
  bool no_number(std::size_t begin);
  bool without_trailing_ignored(rules::ExprId& id);
  bool item();
  bool structure(bool& found);
  bool named_item();
  bool close_group();
  bool alternative();
  bool no_operand();  // fails: the last "~" or "&" has none
  bool tilde();
  void push_item(rules::ExprId id);
  void push_lexeme(rules::ExprId id);
  std::string name() override;
  static bool is_terminal(std::string_view name);
  rules::RuleId named_rule(const std::string& name, Span span);
  // Adds the rules of another grammar and returns its root.
  rules::RuleId append(const rules::Rules& other);
  bool only_in_rules(std::size_t begin, std::string_view what);
  bool finish(std::string_view start_rule);
  bool check_terminals();

  // lark_terms.cc
  bool string(std::string& out) override;
  bool code_point_escape(std::size_t digits, std::string& out);
  bool text_item(rules::ExprId& out, bool& ranged);
  bool folded(const std::string& text, Span span, rules::ExprId& out);
  bool pattern_source(std::string_view& source, std::string_view& flags);
  bool pattern(rules::ExprId& out);
  bool tokens(rules::ExprId& out);
  bool token_list(rules::TokenSetExpr& out);
  bool named_grammar(rules::ExprId& out);

  bool marker(rules::ExprId& out) override;

  // lark_directives.cc
  bool directive();
  bool inline_directive(rules::ExprId& out);
  bool import();
  bool import_path(std::string& module, std::string& from, Span& span);
  bool import_one(const std::string& module, const std::string& from,
                  const std::string& to, Span span);
  bool read_module(const std::string& module, Span span);
  bool declare();
  bool add_terminal(rules::RuleId id, Span span, rules::ExprId body);
  bool grammar_options();
  bool json_object(json::Value& out);
  bool substring(rules::ExprId& out);
  // Fails if grammars and sources are nested too deeply.
  bool may_nest(Span span);
  bool nested(rules::ExprId& out);

  // lark_templates.cc
  //
  // A template is read once for each list of arguments that it is used with:
  // the rule `name{a,b}`.
  struct Template {
    std::vector<std::string> parameters = {};
    // Its body: where it is, and the names that it refers to.
    std::string_view text = {};
    std::size_t begin = 0;
    std::size_t last_ignore = 0;  // in `text`
    std::string prefix = {};
    Span span = {};
  };
  // What a parameter stands for: a rule, or a terminal or text, after which
  // ignored text may follow.  Equal keys mean the same.
  struct Argument {
    rules::RuleId rule = rules::kNoRule;
    bool lexeme = false;
    std::string key = {};
  };
  struct Instance {
    rules::RuleId rule = rules::kNoRule;
    std::string called = {};
    std::vector<Argument> arguments = {};
  };
  bool define_template(const std::string& called, Span span);
  bool skip_body();
  bool uses_template();
  bool instance(const std::string& called, Span span, Argument& out);
  bool argument(Argument& out);
  // What a name means: a parameter, a template, a rule or a terminal.
  bool argument_called(const std::string& called, Span span, Argument& out);
  bool read_instances();
  // Adds to LarkContext::read_bytes.  False: it exceeds kMaxReadBytes.
  bool count_read(std::size_t bytes);

  // lark_operators.cc
  //
  // A terminal that is a conjunction or, if `negated`, the complement of its
  // one operand.  Until its meaning is computed, the body of the rule is the
  // union of the operands.
  struct Combination {
    rules::RuleId rule = rules::kNoRule;
    std::vector<rules::ExprId> operands = {};
    bool negated = false;
    bool inside = false;  // it is an operand itself
    Span span = {};
  };
  class Meanings;
  rules::ExprId combine(std::vector<rules::ExprId> operands, bool negated);
  bool combine_terminals();

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
    std::optional<std::uint32_t> tokens = {};  // of Rules::token_sets
    bool hide = false;
    std::string capture = {};
    // The rules around it, from the outermost to the lexeme.  Or the text
    // `before` the tokens and the tokens are two items.
    std::vector<rules::RuleId> chain = {};
    rules::ExprId before = rules::kNoExpr;
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
  std::map<std::string, rules::RuleId> named_;  // roots of @grammars
  bool in_terminal_ = false;
  bool in_lexeme_ = false;   // a terminal, or a lazy rule
  bool no_rules_ = false;    // a rule with a suffix: of terminals only
  std::size_t last_ignore_;  // the offset of the last "%ignore" in `text_`
  bool weave_ = false;       // there may be ignored text
  rules::RuleId ignored_ = rules::kNoRule;
  std::vector<rules::ExprId> ignores_;
  bool initial_skip_ = false;
  bool ignored_once_ = false;
  // Of the names in the module that is being read; "" for this grammar.
  std::string prefix_;
  std::vector<std::string> modules_;  // those that have been read
  std::map<std::string, Template> templates_;
  std::map<std::string, Argument> bound_;  // the parameters of an instance
  std::vector<Instance> pending_;          // instances that are not read yet
  std::size_t argument_depth_ = 0;
  std::vector<Combination> combinations_;
  std::unordered_map<rules::RuleId, std::size_t> combination_of_;
};

}  // namespace parlance::notation

#endif  // PARLANCE_SRC_NOTATION_LARK_READER_H_
