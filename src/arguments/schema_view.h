#ifndef PARLANCE_SRC_ARGUMENTS_SCHEMA_VIEW_H_
#define PARLANCE_SRC_ARGUMENTS_SCHEMA_VIEW_H_

// A schema as the compiler of arguments (to_rules.h) uses it: the texts of a
// string, and the elements of an object or an array.
//
// The constraints on a value are a set of nodes of the document that must hold,
// or must not (Conjunction).  The strings that satisfy a conjunction are
// computed exactly, as a language.  Objects and arrays are expanded to
// alternatives, each a plain list of members or items, in one of two ways:
//
//   alternatives.cc         a conjunction of which each node holds for a value
//                           of the type whatever else does: references, allOf,
//                           anyOf, and oneOf with exclusive branches.  Every
//                           rule is still at its node, so an error points to
//                           its keyword, as "/items/uniqueItems".
//   solved_alternatives.cc  any other: a negation, also one that oneOf, `if` or
//                           a dependency implies.  The schema solver decides
//                           it.  The constraints of a disjunct are those of
//                           many nodes together, so an error points to the
//                           value.
//
// needs_solver() decides which.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments/text_languages.h"
#include "automata/language.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "parlance/schema_options.h"
#include "schema/document.h"
#include "schema_solver/contains.h"
#include "schema_solver/solver.h"
#include "structural_tag/structural_tag.h"

namespace parlance::arguments {

// Literals of the schema solver: nodes that must hold, or must not.  Sorted,
// without repetitions.  Empty: anything is valid.
using Conjunction = std::vector<schema_solver::Literal>;

// Adds a literal to a conjunction, or a node to a sorted list of nodes, if it
// is not there yet.  O(size).
void insert(std::vector<std::uint32_t>& sorted, std::uint32_t id);

// A schema as the grammar and the reader of arguments load it: closed, and with
// the nodes that the solver adds.  Immutable, so the two share one.
struct ArgumentDocument {
  schema::Document document;
  schema_solver::ItemChoices choices;

  // Errors: those of schema::load().
  static Result<std::shared_ptr<const ArgumentDocument>> load(
      const json::Value& schema, const Limits& limits);
};

// One alternative of an object.
struct ArgumentObject {
  struct Member {
    std::string name;
    Conjunction value;
    bool required = false;
    bool operator==(const Member&) const = default;
  };
  // Undeclared members: any name of the language that contains none of
  // `excludes` and is not among `declared`.
  struct Extra {
    automata::LanguageId names = 0;
    Conjunction value;
    bool by_pattern = false;  // of patternProperties
    // Kept apart from `names`, which then is the same language for most
    // objects.
    std::vector<std::string> excludes = {};
    std::vector<std::string> declared = {};
    bool operator==(const Extra&) const = default;
  };
  std::vector<Member> members;  // in the order of the schema
  std::vector<Extra> extras;
  std::uint64_t min = 0;
  std::uint64_t max = kUnbounded;
  bool operator==(const ArgumentObject&) const = default;

  static constexpr std::uint64_t kUnbounded = ~std::uint64_t{0};
};

// One alternative of an array.
struct ArgumentArray {
  std::vector<Conjunction> prefix;
  std::optional<Conjunction> rest;  // nothing: no further items
  std::uint64_t min = 0;
  std::uint64_t max = ArgumentObject::kUnbounded;
  bool operator==(const ArgumentArray&) const = default;
};

// The limit of the number of alternatives of one object or array.
inline constexpr std::size_t kMaxAlternatives = 256;

struct Lengths {
  std::uint64_t min = 0;
  std::uint64_t max = ArgumentObject::kUnbounded;
};

// The undeclared names that can be written, as patterns that match a whole
// name.
struct UndeclaredNames {
  std::string_view writable = "[^<>\"&\\x00-\\x20\\x7f]+";
  // Those that neither patternProperties nor propertyNames describe.
  std::string_view unconstrained = "[A-Za-z_][A-Za-z0-9_]*";
};

// Not thread-safe.
class ArgumentSchema {
 public:
  // All must outlive this.  `source` is the value `loaded` was loaded from.
  ArgumentSchema(const ArgumentDocument& loaded, const json::Value& source,
                 TextLanguages& languages);

  // A superset of the types that a value may have.
  std::uint8_t types(const Conjunction& all);

  bool unconstrained(const Conjunction& all) const;

  // The strings that satisfy the conjunction.  Errors: those of its patterns.
  Result<automata::LanguageId> strings(const Conjunction& all);
  bool accepts(automata::LanguageId language, std::string_view text);
  // The strings, in the order of the schema, if a node that must hold lists
  // them.
  std::optional<std::vector<std::string>> listed_strings(
      const Conjunction& all, automata::LanguageId language);
  // The bounds of the length, if there are some and nothing else constrains
  // strings.
  std::optional<Lengths> lengths(const Conjunction& all) const;

  // Errors: kUnsupported, kTooLarge.
  Result<std::vector<ArgumentObject>> objects(
      const Conjunction& all, const UndeclaredNames& names = {});
  Result<std::vector<ArgumentArray>> arrays(const Conjunction& all);

  // Extra::names without Extra::excludes and Extra::declared.
  automata::LanguageId names_of(const ArgumentObject::Extra& extra);
  // Removes the names whose written form contains one of `texts`.  Returns
  // false if one of these names is required.
  bool remove_names(ArgumentObject& constraints,
                    const structural_tag::ElementLayout& layout,
                    const std::vector<std::string>& texts);

  // A schema for the values of the types `types` that satisfy the conjunction.
  // `integers`: their numbers are integers.  `finite`: their numbers are in the
  // range of a double.
  json::Value schema_of(const Conjunction& all, std::uint8_t types,
                        bool integers = false, bool finite = false);

  // Where objects() and arrays() leave values out: a pointer into the schema,
  // and a sentence.
  const std::vector<std::pair<std::string, std::string>>& narrowed() const {
    return narrowed_;
  }

 private:
  using NodeId = schema::NodeId;
  using Literal = schema_solver::Literal;
  using Nodes = std::vector<NodeId>;  // sorted, without repetitions

  std::uint8_t types_of(NodeId id);
  std::uint8_t types_of_literal(Literal literal);
  std::uint8_t whole_types(NodeId id) const;
  Result<automata::LanguageId> strings_of(NodeId id);
  Result<automata::LanguageId> strings_here(const schema::Node& node);
  Result<automata::LanguageId> pattern(schema::PatternId id);

  // Calls `use` with each node that applies in place to a value of the type,
  // once; conditions (not, if) apart.  Stops and returns true once `use` does.
  template <class Use>
  bool any_in_place(const Nodes& nodes, schema::TypeBits type, Use use);
  // Whether only the solver can expand the conjunction.
  bool needs_solver(const Conjunction& all, schema::TypeBits type);
  // REQUIRES: needs_solver() is false for the nodes.
  Result<std::vector<Nodes>> alternatives(const Nodes& all,
                                          schema::TypeBits type);
  bool tracks_evaluated(const Nodes& all, schema::TypeBits type);
  std::vector<Nodes> any_sets(const schema::Node& node, schema::TypeBits type,
                              bool tracked);
  // The branches of oneOf that may hold for the type.
  Nodes able_branches(const schema::Node& node, schema::TypeBits type);
  bool mutually_exclusive(NodeId a, NodeId b) const;

  // solved_alternatives.cc
  Result<schema_solver::SchemaSolver*> solver();
  Result<std::vector<ArgumentObject>> solved_objects(
      const Conjunction& all, const UndeclaredNames& names);
  Result<std::vector<ArgumentArray>> solved_arrays(const Conjunction& all);
  void note_narrowed(const Conjunction& all, std::string_view what);
  // Notes that the solver left alternatives out, unless it did before.
  void note_combinations(const Conjunction& all, bool narrowed_before);
  bool is_unlistable(const schema_solver::ArrayConstraints& constraints,
                     const Conjunction& all, std::optional<Error>& why) const;

  Result<std::optional<ArgumentObject>> object_constraints(
      const Nodes& nodes, const UndeclaredNames& names);
  Result<std::vector<ArgumentObject::Extra>> extras(
      const Nodes& nodes, const ArgumentObject& constraints,
      automata::LanguageId names, bool names_constrained,
      const UndeclaredNames& undeclared);
  // Names that match the same patterns.
  struct NameClass {
    automata::LanguageId names;
    std::vector<schema::PatternId> matched;
  };
  Result<std::vector<NameClass>> name_classes(const Nodes& nodes,
                                              automata::LanguageId names);
  bool forbids_undeclared(const Nodes& nodes);
  std::optional<Conjunction> undeclared_value(
      const Nodes& nodes, const std::vector<schema::PatternId>& matched);
  Result<ArgumentArray> item_constraints(const Nodes& nodes);
  std::size_t declared_items(const Nodes& nodes) const;
  // The node and those of `nodes` that are in place in it.
  std::vector<NodeId> nodes_inside(const Nodes& nodes, NodeId id) const;
  // Whether the node's unevaluatedProperties do not see a value that the nodes
  // `evaluating` evaluate.
  bool is_evaluated(const Nodes& nodes, NodeId id,
                    const std::vector<NodeId>& evaluating) const;
  // Whether a member that only the nodes `evaluating` evaluate is refused by a
  // closed level (schema/close.h).
  bool closes(const Nodes& nodes, const std::vector<NodeId>& evaluating) const;
  // Adds the unevaluatedProperties that hold for a value that only the nodes
  // `evaluating` evaluate.
  void insert_unevaluated(const Nodes& nodes,
                          const std::vector<NodeId>& evaluating,
                          Conjunction& value) const;
  // The constraints on the value of a member; nothing if it must be absent.
  Result<std::optional<Conjunction>> member(const Nodes& nodes,
                                            std::string_view name);

  static Error too_many(std::string path);
  std::string pointer(const Conjunction& all) const {
    return all.empty() ? "" : document_.pointer(all[0] >> 1);
  }
  Error unsupported(NodeId id, std::string_view keyword,
                    std::string_view what) const;

  const schema::Document& document_;
  const schema_solver::ItemChoices& choices_;
  const json::Value& source_;
  TextLanguages& languages_;
  std::map<NodeId, std::uint8_t> types_;
  std::map<NodeId, automata::LanguageId> strings_;
  std::map<schema::PatternId, automata::LanguageId> patterns_;
  std::vector<std::pair<std::string, std::string>> narrowed_;
  JsonSchemaOptions solver_options_;
  std::unique_ptr<schema_solver::SchemaSolver> solver_;  // null until needed
};

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_SCHEMA_VIEW_H_
