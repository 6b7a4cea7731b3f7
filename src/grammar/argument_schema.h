#ifndef PARLANCE_SRC_GRAMMAR_ARGUMENT_SCHEMA_H_
#define PARLANCE_SRC_GRAMMAR_ARGUMENT_SCHEMA_H_

// A schema as the writers of parameters see it: which texts a string may be,
// which elements an object or a list has.
//
// What a value has to fulfil is a set of nodes of the document, all of which
// must hold (Obligations).  Strings are answered exactly, as a language.
// Objects and arrays are taken apart into alternatives, each a plain list of
// members or items; what cannot be (not, if, ...) is an error that says so.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "automata/language.h"
#include "grammar/structural_tag.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "schema/document.h"

namespace parlance::grammar {

// Sorted, each once.  Of none: anything.
using Obligations = std::vector<schema::NodeId>;

// One alternative of an object.
struct ObjectPlan {
  struct Member {
    std::string name;
    Obligations value;
    bool required = false;
    // Not declared anywhere, only asked for.
    bool undeclared = false;
  };
  // Members that are not spelled out: any name of the language.
  struct Extra {
    automata::LanguageId names = 0;
    Obligations value;
    bool by_pattern = false;  // of patternProperties
  };
  std::vector<Member> members;  // in the order of the schema
  std::vector<Extra> extras;
  std::uint64_t min = 0;
  std::uint64_t max = kUnlimited;

  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
};

// One alternative of an array.
struct ArrayPlan {
  std::vector<Obligations> prefix;
  std::optional<Obligations> rest;  // nothing: no further items
  std::uint64_t min = 0;
  std::uint64_t max = ObjectPlan::kUnlimited;
};

struct Lengths {
  std::uint64_t min = 0;
  std::uint64_t max = ObjectPlan::kUnlimited;
};

// Not thread-safe.
class ArgumentSchema {
 public:
  // All must outlive this.  `source` is the value `document` was loaded from.
  ArgumentSchema(const schema::Document& document, const json::Value& source,
                 automata::Languages& languages)
      : document_(document), source_(source), languages_(languages) {}

  // The types that a value may have; some may turn out impossible.
  std::uint8_t types(const Obligations& all);

  bool unconstrained(const Obligations& all) const;

  // The strings that fulfil all.  Errors: of their patterns.
  Result<automata::LanguageId> strings(const Obligations& all);
  bool accepts(automata::LanguageId language, std::string_view text);
  // The strings if they are listed somewhere.  In the order of the list.
  std::optional<std::vector<std::string>> listed_strings(
      const Obligations& all, automata::LanguageId language);
  // The lengths if nothing else is asked of strings, and they are.
  std::optional<Lengths> lengths(const Obligations& all) const;

  // Errors: kUnsupported, kTooLarge.
  Result<std::vector<ObjectPlan>> objects(const Obligations& all);
  Result<std::vector<ArrayPlan>> arrays(const Obligations& all);

  // The strings of a language that hold none of `texts`.
  automata::LanguageId not_holding(automata::LanguageId strings,
                                   const std::vector<std::string>& texts);
  // Takes names out that hold one of `texts` as they are written; false if one
  // of them is required.
  bool leave_out_names(ObjectPlan& plan, ArgumentStyle style,
                       const std::vector<std::string>& texts);

  // A schema that says the same, of values of the types in `types` only.
  json::Value schema_of(const Obligations& all, std::uint8_t types);

 private:
  using NodeId = schema::NodeId;

  std::uint8_t types_of(NodeId id);
  std::uint8_t whole_types(NodeId id) const;
  Result<automata::LanguageId> strings_of(NodeId id);
  Result<automata::LanguageId> strings_here(const schema::Node& node);
  Result<automata::LanguageId> pattern(schema::PatternId id);

  Result<std::vector<Obligations>> alternatives(const Obligations& all,
                                                schema::TypeBits type);
  std::optional<Error> one_branch(const schema::Node& node,
                                  schema::TypeBits type,
                                  std::vector<NodeId>& branches);
  bool told_apart(NodeId a, NodeId b) const;

  Result<std::optional<ObjectPlan>> object_plan(const Obligations& nodes);
  Result<std::vector<ObjectPlan::Extra>> extras(const Obligations& nodes,
                                                const ObjectPlan& plan,
                                                automata::LanguageId names,
                                                bool names_are_told);
  // What the value of a member has to fulfil; nothing if it must not be there.
  Result<std::optional<Obligations>> member(const Obligations& nodes,
                                            std::string_view name,
                                            bool* declared);

  Error unsupported(NodeId id, std::string_view keyword,
                    std::string_view what) const;

  const schema::Document& document_;
  const json::Value& source_;
  automata::Languages& languages_;
  std::map<NodeId, std::uint8_t> types_;
  std::map<NodeId, automata::LanguageId> strings_;
  std::map<schema::PatternId, automata::LanguageId> patterns_;
};

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_ARGUMENT_SCHEMA_H_
