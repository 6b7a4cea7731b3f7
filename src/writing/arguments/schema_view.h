#ifndef PARLANCE_SRC_ARGUMENTS_SCHEMA_VIEW_H_
#define PARLANCE_SRC_ARGUMENTS_SCHEMA_VIEW_H_

// A schema as the compiler of arguments (to_rules.h) uses it: the texts of a
// string, and the elements of an object or an array.
//
// The constraints on a value are a set of nodes of the document that must hold,
// or must not (Conjunction).  The schema solver decides everything about them:
// the strings, as a language, and the alternatives of objects and arrays, which
// alternatives.cc turns into plain lists of members or items.

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
    automata::LanguageId names = {};
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

  // Whether null satisfies the conjunction, and the booleans that do.
  bool allows_null(const Conjunction& all);
  std::vector<bool> booleans(const Conjunction& all);

  // The strings that satisfy the conjunction.  Errors: those of its patterns.
  Result<automata::LanguageId> strings(const Conjunction& all);
  bool accepts(automata::LanguageId language, std::string_view text);
  // The nodes that hold with the positive literals, each once.
  std::vector<schema::NodeId> conjuncts(const Conjunction& all) const;
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
  // `integers`: their numbers are integers.
  json::Value schema_of(const Conjunction& all, std::uint8_t types,
                        bool integers = false);

  // Where objects() and arrays() leave values out.
  const std::vector<GrammarNote>& narrowed() const { return narrowed_; }

 private:
  using NodeId = schema::NodeId;
  using Literal = schema_solver::Literal;

  std::string base_uri() const;
  void embed_source(json::Value& schema, const std::string& base) const;

  std::uint8_t types_of(NodeId id);
  std::uint8_t types_of_literal(Literal literal);
  std::uint8_t whole_types(NodeId id) const;

  // alternatives.cc
  // Why a list of elements cannot enforce the rules of a disjunct; nothing if
  // it can.
  std::optional<Error> why_unlistable(
      const schema_solver::ArrayConstraints& constraints,
      const Conjunction& all) const;
  void note_narrowed(std::string keyword, std::string path, std::string what);
  void add_notes(std::vector<schema_solver::NodeNote> notes);
  // Notes which strings of their formats the nodes leave out.
  void note_formats(const Conjunction& all);
  // Notes what the alternatives of a conjunction leave out.  `leaves_out`:
  // values that satisfy it may be among that.
  void note_left_out(const Conjunction& all, bool leaves_out);

  schema_solver::Constants constants(const Conjunction& all,
                                     schema_solver::JsonType type);
  static Error too_many(std::string path);
  std::string pointer(const Conjunction& all) const {
    return all.empty() ? "" : document_.pointer(all[0].node());
  }

  const schema::Document& document_;
  const json::Value& source_;
  TextLanguages& languages_;
  std::map<NodeId, std::uint8_t> types_;
  std::vector<GrammarNote> narrowed_;
  const JsonSchemaOptions solver_options_;
  schema_solver::SchemaSolver solver_;
  bool narrowed_before_ = false;
  // What negations in the document may leave out, until it matters.
  std::vector<schema_solver::NodeNote> negation_notes_;
};

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_SCHEMA_VIEW_H_
