#ifndef PARLANCE_SRC_ARGUMENTS_SCHEMA_VIEW_H_
#define PARLANCE_SRC_ARGUMENTS_SCHEMA_VIEW_H_

// A schema as the compiler of arguments (to_rules.h) uses it: the texts of a
// string, and the elements of an object or an array.
//
// The constraints on a value are a set of nodes of the document, all of which
// must hold (Conjunction).  The strings that satisfy a conjunction are computed
// exactly, as a language.  Objects and arrays are expanded to alternatives,
// each a plain list of members or items.  Keywords that do not allow this (not,
// if,
// ...) are errors.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments/text_languages.h"
#include "automata/language.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "schema/document.h"
#include "structural_tag/structural_tag.h"

namespace parlance::arguments {

// Sorted, without repetitions.  Empty: anything is valid.
using Conjunction = std::vector<schema::NodeId>;

// Adds a node, if it is not there yet.  O(size).
void insert(Conjunction& conjunction, schema::NodeId id);

// One alternative of an object.
struct ArgumentObject {
  struct Member {
    std::string name;
    Conjunction value;
    bool required = false;
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
  };
  std::vector<Member> members;  // in the order of the schema
  std::vector<Extra> extras;
  std::uint64_t min = 0;
  std::uint64_t max = kUnbounded;

  static constexpr std::uint64_t kUnbounded = ~std::uint64_t{0};
};

// One alternative of an array.
struct ArgumentArray {
  std::vector<Conjunction> prefix;
  std::optional<Conjunction> rest;  // nothing: no further items
  std::uint64_t min = 0;
  std::uint64_t max = ArgumentObject::kUnbounded;
};

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
  // All must outlive this.  `source` is the value `document` was loaded from.
  ArgumentSchema(const schema::Document& document, const json::Value& source,
                 TextLanguages& languages)
      : document_(document), source_(source), languages_(languages) {}

  // A superset of the types that a value may have.
  std::uint8_t types(const Conjunction& all);

  bool unconstrained(const Conjunction& all) const;

  // The strings that satisfy all nodes.  Errors: those of their patterns.
  Result<automata::LanguageId> strings(const Conjunction& all);
  bool accepts(automata::LanguageId language, std::string_view text);
  // The strings, in the order of the schema, if some node lists them.
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

  // A schema for the values of the types `types` that satisfy all nodes.
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

  std::uint8_t types_of(NodeId id);
  std::uint8_t whole_types(NodeId id) const;
  Result<automata::LanguageId> strings_of(NodeId id);
  Result<automata::LanguageId> strings_here(const schema::Node& node);
  Result<automata::LanguageId> pattern(schema::PatternId id);

  Result<std::vector<Conjunction>> alternatives(const Conjunction& all,
                                                schema::TypeBits type);
  bool tracks_evaluated(const Conjunction& all, schema::TypeBits type) const;
  std::vector<Conjunction> any_sets(const schema::Node& node,
                                    schema::TypeBits type, bool tracked);
  std::optional<Error> one_branch(const schema::Node& node,
                                  schema::TypeBits type,
                                  std::vector<NodeId>& branches);
  bool mutually_exclusive(NodeId a, NodeId b) const;

  Result<std::optional<ArgumentObject>> object_constraints(
      const Conjunction& nodes, const UndeclaredNames& names);
  Result<std::vector<ArgumentObject::Extra>> extras(
      const Conjunction& nodes, const ArgumentObject& constraints,
      automata::LanguageId names, bool names_constrained,
      const UndeclaredNames& undeclared);
  // The node and the nodes of the conjunction that are in place in it.
  std::vector<NodeId> nodes_inside(const Conjunction& nodes, NodeId id) const;
  // Whether the node's unevaluatedProperties do not see a value that the nodes
  // `evaluating` evaluate.
  bool is_evaluated(const Conjunction& nodes, NodeId id,
                    const std::vector<NodeId>& evaluating) const;
  // Whether a member that only the nodes `evaluating` evaluate is refused by a
  // closed level (schema/close.h).
  bool closes(const Conjunction& nodes,
              const std::vector<NodeId>& evaluating) const;
  // Adds the unevaluatedProperties that hold for a value that only the nodes
  // `evaluating` evaluate.
  void insert_unevaluated(const Conjunction& nodes,
                          const std::vector<NodeId>& evaluating,
                          Conjunction& value) const;
  // The constraints on the value of a member; nothing if it must be absent.
  Result<std::optional<Conjunction>> member(const Conjunction& nodes,
                                            std::string_view name);

  Error unsupported(NodeId id, std::string_view keyword,
                    std::string_view what) const;

  const schema::Document& document_;
  const json::Value& source_;
  TextLanguages& languages_;
  std::map<NodeId, std::uint8_t> types_;
  std::map<NodeId, automata::LanguageId> strings_;
  std::map<schema::PatternId, automata::LanguageId> patterns_;
  std::vector<std::pair<std::string, std::string>> narrowed_;
};

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_SCHEMA_VIEW_H_
