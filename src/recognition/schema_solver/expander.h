#ifndef PARLANCE_SRC_SCHEMA_SOLVER_EXPANDER_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_EXPANDER_H_

// Tableau expansion of a conjunction to disjunctive normal form.
//
// A *branch* is an unfinished disjunct with the literals that it has yet to
// assume.  Assuming a literal adds constraints or further literals to the
// branch; a disjunction splits the branch.  A branch that has assumed a literal
// and its negation is closed: no value satisfies it.  A branch without pending
// literals is finished.
//
// Positive literals are assumed before negative ones.  They decide most of the
// negative ones (a disjunct whose kind is "a" satisfies "not {kind: const b}"),
// and a literal that is decided splits nothing.
//
// Files: expand.cc keeps the branches and converts finished branches to
// disjuncts, expand_positive.cc assumes positive literals, expand_negative.cc
// negative ones.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "schema_solver/solver.h"

namespace parlance::schema_solver {

// What an expansion does not generate, for NoteList::leave_out().
struct LeftOut {
  LeftOutBy by = LeftOutBy::kUnsupported;
  NodeId node = {};
  std::string_view keyword;
  std::string why;
};

struct Strings {
  std::vector<automata::LanguageBounds> languages;
  // Why some of them are not exact: said if strings are missing in the end.
  std::vector<LeftOut> inexact;
  bool negates_inexact = false;  // one of those is negated
  void add_negated(const std::optional<LeftOut>& why) {
    if (!why) return;
    inexact.push_back(*why);
    negates_inexact = true;
  }
  std::uint64_t min = 0;
  std::uint64_t max = kUnboundedCount;
};

struct SchemaSolver::Branch {
  struct Assumption {
    Literal literal;
    std::uint32_t by = 0xFFFFFFFF;  // the entry of `assumed` that required it
  };
  std::vector<Assumption> positive;  // pending, next one last
  std::vector<Assumption> negative;  // pending, next one last
  std::vector<Assumption> assumed;   // in order; none contradicts another
  // Entries of `assumed` that another entry requires, too: (entry, by).  Only
  // where unevaluated rules depend on it.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> also;
  std::variant<Constants, automata::NumberSpec, Strings, ObjectConstraints,
               ArrayConstraints>
      disjunct;
  // Of an object: conditions to be joined to that of the disjunct.
  std::vector<ConditionId> clauses;
};

// Expands one conjunction for one type.
class SchemaSolver::Expander {
 public:
  // A disjunction splits the branch, or is joined: about an object into its
  // condition, about a string into one language.
  enum class Disjunctions : std::uint8_t { kSplit, kJoin };
  // `tracks_evaluated`: the disjuncts depend on which nodes hold, because an
  // unevaluated rule is among the nodes.
  Expander(SchemaSolver& solver, JsonType type, std::size_t limit,
           bool tracks_evaluated,
           Disjunctions disjunctions = Disjunctions::kSplit)
      : solver_(solver),
        type_(type),
        limit_(limit),
        tracks_evaluated_(tracks_evaluated),
        joins_(disjunctions == Disjunctions::kJoin) {}

  // Counts open branches towards the limit as well, so that a product of
  // disjunctions is found before it is expanded.
  void limit_open_branches() { limits_open_ = true; }
  // If there are too many branches, the expansion is repeated with disjunctions
  // joined, so it ends then.
  void may_be_joined() { joinable_ = true; }
  // Expands until no branch is open or a limit is reached.
  void run(const std::vector<Literal>& literals);
  void run(Branch branch);

  std::vector<Branch>& finished() { return finished_; }
  class Writer;  // of finished branches, as disjuncts
  bool truncated() const { return truncated_; }
  // What was not generated beside that.
  const std::vector<LeftOut>& left_out() const { return left_out_; }
  // Whether the finished branches are all that there are.
  bool complete() const { return !truncated_ && left_out_.empty(); }

 private:
  using Node = schema::Node;

  // One alternative of a disjunction: literals to assume and one edit of the
  // disjunct.
  struct Choice {
    std::vector<Literal> literals = {};
    KeyId at_key = kNoKey;  // `at` is about the member or item here
    std::uint64_t at_index = 0;
    Literal at = kNoLiteral;
    enum class Edit : std::uint8_t {
      kNone,
      kRequire,       // at_key
      kForbid,        // at_key
      kRequireValue,  // at_key, at
      kCondition,     // condition, nodes
      kItem,          // at_index, at
      kItemWitness,   // at_index, at
      kCount,         // count
      kBounds,        // min, max
      kLanguage,      // language
      kNumber,        // number
      kConstants,     // constants
    };
    Edit edit = Edit::kNone;
    ConditionId condition = kAlways;
    std::vector<NodeId> nodes = {};
    ItemCount count = {};
    std::uint64_t min = 0;
    std::uint64_t max = kUnboundedCount;
    automata::LanguageBounds language = {};
    std::optional<LeftOut> inexact = {};  // of the language
    automata::NumberSpec number = {};
    Constants constants = 3;
  };
  using Disjunct = decltype(Branch::disjunct);

  static constexpr std::string_view kTooManyOverlaps =
      "values are left out, because too many of the alternatives overlap";

  // expand.cc: the branches.
  const schema::Document& document() const { return solver_.document_; }
  void leave_out(LeftOutBy by, NodeId node, std::string_view keyword,
                 std::string_view why) {
    left_out_.push_back({by, node, keyword, std::string(why)});
  }
  void require(Branch& branch, Literal literal,
               std::uint32_t by = 0xFFFFFFFF) const;
  // The node of an entry of Branch::assumed, for leave_out().
  NodeId place_of(const Branch& branch, std::uint32_t entry) const {
    return entry < branch.assumed.size() ? branch.assumed[entry].literal.node()
                                         : document().root;
  }
  bool finish(Branch& branch);
  bool choose(Branch& branch, std::vector<Choice>& choices, std::uint32_t by);
  bool apply(Branch& branch, const Choice& choice, std::uint32_t by);
  bool apply_member(Branch& branch, const Choice& choice);
  bool bound(Branch& branch, std::uint64_t min, std::uint64_t max);
  static void add_number(automata::NumberSpec& into,
                         const automata::NumberSpec& from);
  static void add_minimum(automata::NumberSpec& into,
                          const base::Decimal& bound, bool exclusive);
  static void add_maximum(automata::NumberSpec& into,
                          const base::Decimal& bound, bool exclusive);
  // Whether the node allows the type.
  bool possible(NodeId id) const {
    return (document().node(id).types & type_bit(type_)) != 0;
  }

  // expand_positive.cc.  False if `branch` is not to be continued: it is
  // closed, or it was split and its parts are on the stack.
  bool assume_positive(Branch& branch, NodeId id, std::uint32_t entry);
  bool split(Branch& branch, std::vector<std::vector<Choice>>& splits,
             std::uint32_t entry);
  bool assume_enum(Branch& branch, const Node& node,
                   std::vector<Choice>* choices);
  Constants constants_in(const std::vector<json::Value>& values) const;
  static automata::NumberSpec number_spec(const Node& node);
  bool assume_rules(Branch& branch, NodeId id, const Node& node);
  bool assume_array(Branch& branch, NodeId id, const schema::ArrayRules& rules);
  bool assume_object(Branch& branch, NodeId id,
                     const schema::ObjectRules& rules);
  std::vector<Literal> key_literals(const ObjectConstraints& object, KeyId key);
  std::vector<Choice> any_of(NodeId id, const Node& node);
  std::vector<Choice> one_of(NodeId id);
  static bool has_only_members(const Node& node);
  bool chooses_members(const Node& node) const;
  std::vector<Choice> conditional(const Node& node) const;
  bool add_dependent(Branch& branch, std::string_view name, NodeId id);
  // Adds to the condition of an object, at once or when the branch ends.
  bool join_clauses(Branch& branch);
  void add_condition(Branch& branch, ConditionId condition,
                     const std::vector<NodeId>& nodes);
  bool join(Branch& branch, const std::vector<Choice>& choices);
  automata::LanguageBounds language_of(const Choice& choice);
  ConditionId condition_of(const Choice& choice, std::vector<NodeId>& nodes);
  std::vector<Choice> dependent(std::string_view name, NodeId child);

  // expand_negative.cc.  assume_negative() returns what assume_positive()
  // does.
  bool assume_negative(Branch& branch, NodeId id, std::uint32_t entry);
  bool negate_objects(NodeId id, std::vector<NodeId>& negated,
                      std::vector<Choice>& choices,
                      std::unordered_set<NodeId>& seen);
  void add_negated_clause(std::vector<NodeId> negated,
                          std::vector<Choice>& choices);
  bool contradicts_objects(const ObjectConstraints& object,
                           const std::vector<NodeId>& negated);
  bool negate_logic(NodeId id, std::vector<Choice>& choices);
  static Choice negated(NodeId node) { return {.literals = {fails(node)}}; }
  bool contradicts(const Branch& branch, NodeId id);
  bool impossible(Disjunct& disjunct);
  bool negate_enum(const Node& node, std::vector<Choice>& choices);
  void add_language(std::vector<Choice>& choices,
                    automata::LanguageBounds language);
  void negate_format(NodeId id, schema::PatternId format,
                     std::vector<Choice>& choices);
  static void add_bounds(std::vector<Choice>& choices,
                         std::optional<std::uint64_t> min,
                         std::optional<std::uint64_t> max);
  void negate_rules(NodeId id, const Node& node, std::vector<Choice>& choices);
  void negate_number(const Node& node, std::vector<Choice>& choices);
  void negate_array(NodeId id, const schema::ArrayRules& rules,
                    std::vector<Choice>& choices);
  bool negate_one_of(NodeId id, std::vector<Choice>& choices);

  static bool is_number(const json::Value& value) {
    return value.kind() == json::Kind::kInt ||
           value.kind() == json::Kind::kBigInt ||
           value.kind() == json::Kind::kFloat;
  }
  static base::Decimal decimal(const json::Value& number) {
    const auto value = base::Decimal::from_json(json::dump(number));
    return value ? *value : base::Decimal{};
  }

  SchemaSolver& solver_;
  JsonType type_;
  std::size_t limit_;
  bool tracks_evaluated_;
  bool joins_;
  bool limits_open_ = false;
  bool joinable_ = false;
  std::size_t steps_ = 0;
  bool truncated_ = false;
  std::vector<LeftOut> left_out_;
  std::vector<Branch> stack_;
  std::vector<Branch> finished_;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_EXPANDER_H_
