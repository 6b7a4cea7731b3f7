#ifndef PARLANCE_SRC_SCHEMA_DECLARED_H_
#define PARLANCE_SRC_SCHEMA_DECLARED_H_

// What the schema of a tool says of one value in the arguments: through $ref,
// allOf, patternProperties and additionalProperties, as the grammar of the
// arguments follows them.
//
//   {"properties": {"n": {"$ref": "#/$defs/i"}},
//    "$defs": {"i": {"type": ["integer", "null"]}}}
//
//   Declared n = Declared::root(tool).member("n");
//   n.types()       kNumber | kNull
//   n.valid(7)      true
//   n.valid("7")    false

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/once.h"
#include "parlance/json.h"
#include "schema/document.h"

namespace parlance::schema {

// What a schema says of a value.
struct Verdict {
  // Nothing: the schema cannot be loaded, or the check takes more than
  // Declared::kMaxSteps.
  std::optional<bool> valid;
  // "" if it is valid; otherwise it has the JSON pointer of a value that is
  // not.
  std::string why;
};

// The parameters of a tool.  They are loaded when they are first asked for,
// since most values show their types without them.  Safe to share between
// threads.
class ToolSchema {
 public:
  explicit ToolSchema(json::Value parameters)
      : parameters_(std::move(parameters)) {}

  // Null: the schema cannot be loaded.
  const Document* document() const { return loaded(rules_, true); }

  // Whether the arguments as a whole are valid.  Here `format` is an
  // annotation, as the standard has it; grammars and Declared take it for a
  // rule.
  Verdict judge(const json::Value& arguments) const;

 private:
  struct Loaded {
    base::Once once;
    std::optional<Document> document;
  };
  const Document* loaded(Loaded& slot, bool formats) const;

  const json::Value parameters_;
  mutable Loaded rules_;
  mutable Loaded annotated_;
};

// What must hold for a value.
class Declared {
 public:
  // Nothing is known.
  Declared() = default;
  // The arguments as a whole.
  static Declared root(std::shared_ptr<const ToolSchema> tool);

  bool known() const { return tool_ != nullptr; }

  // A member of an object, and an item of an array, here: what each schema says
  // that holds in place ($ref, allOf), in each alternative (anyOf, oneOf, if)
  // that says something of it.  A value is valid if it is in one alternative,
  // whichever the other members chose.  Beyond kMaxAlternatives, alternatives
  // are not followed.
  Declared member(std::string_view name) const;
  Declared item(std::size_t index) const;

  // Whether a schema that may hold here requires a member: what conditions and
  // dependencies require, too.
  bool may_require(std::string_view name) const;

  // Whether some schema says something of the value.
  bool restricts() const { return !alternatives_.empty(); }

  // TypeBits: a value of another type is not valid.
  std::uint8_t types() const;

  // Nothing: not known, or the check takes more than kMaxSteps.
  std::optional<bool> valid(const json::Value& value) const;

  // The limit of the number of schemas and pairs of items that valid() looks
  // at.
  static constexpr std::size_t kMaxSteps = std::size_t{1} << 20;
  static constexpr std::size_t kMaxAlternatives = 64;

 private:
  // Schemas that a value must all satisfy, never none of them.
  using Conjunction = std::vector<NodeId>;

  Declared(std::shared_ptr<const ToolSchema> tool,
           std::vector<Conjunction> alternatives);
  // The nodes of each alternative and those that hold in place with them.
  std::vector<Conjunction> in_place() const;

  std::shared_ptr<const ToolSchema> tool_;
  std::vector<Conjunction> alternatives_;  // none: nothing is said
};

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_DECLARED_H_
