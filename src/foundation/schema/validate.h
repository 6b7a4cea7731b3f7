#ifndef PARLANCE_SRC_SCHEMA_VALIDATE_H_
#define PARLANCE_SRC_SCHEMA_VALIDATE_H_

// Whether a value is valid under a schema, rule by rule in the order of the
// standard.
//
// This is the reference implementation for the automata that constrain a model:
// tests compare them with it.  It reads a complete value, has no state between
// values, and is simple rather than fast: valid_within() bounds its work.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "regex/pcre2.h"
#include "schema/document.h"

namespace parlance::schema {

// The bit of TypeBits of a value.
std::uint8_t type_bit(const json::Value& value);

// Equality of JSON: numbers by value, members in any order.
bool equal_values(const json::Value& a, const json::Value& b);

// Caches compiled patterns.  Not thread-safe.  Recursion is as deep as the
// value times the longest in-place chain of the schema.
class Validator {
 public:
  // `document` must outlive this.
  explicit Validator(const Document& document);

  bool valid(NodeId node, const json::Value& value);
  bool valid(const json::Value& value) { return valid(document_.root, value); }

  // Whether the value is valid under all of `nodes`; nothing if that takes more
  // than `max_steps`.  A step is a schema that is applied to a value, or a pair
  // of items that must differ.
  std::optional<bool> valid_within(const std::vector<NodeId>& nodes,
                                   const json::Value& value,
                                   std::size_t max_steps);

  // Whether some part of the text matches a pattern of the document.
  bool matches(PatternId id, std::string_view text);

 private:
  // The members (or items) of the value that have been evaluated, for
  // unevaluatedProperties and unevaluatedItems.  A schema adds its own only if
  // the value is valid under it.
  using Seen = std::vector<bool>;

  bool check(NodeId id, const json::Value& value, Seen& seen);
  bool check_here(const Node& node, const json::Value& value);
  bool check_in_place(const Node& node, const json::Value& value, Seen& seen);
  bool check_number(const Node& node, const json::Value& value) const;
  bool check_string(const StringRules& rules, std::string_view text);
  bool check_array(const ArrayRules& rules, const json::Array& items,
                   Seen& seen);
  bool check_object(const ObjectRules& rules, const json::Object& members,
                    Seen& seen);
  bool check_unevaluated(const Node& node, const json::Value& value,
                         Seen& seen);
  // Counts steps.  False: there are none left, and the result means nothing.
  bool spend(std::size_t steps);

  const Document& document_;
  std::vector<std::optional<regex::Pcre2>> patterns_;
  std::size_t steps_left_ = static_cast<std::size_t>(-1);
  bool exhausted_ = false;
};

// The same for one value.
bool validate(const Document& document, NodeId node, const json::Value& value);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_VALIDATE_H_
