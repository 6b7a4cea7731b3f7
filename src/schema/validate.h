#ifndef PARLANCE_SRC_SCHEMA_VALIDATE_H_
#define PARLANCE_SRC_SCHEMA_VALIDATE_H_

// Whether a value is valid under a schema, rule by rule in the order of the
// standard.
//
// This is the reference implementation for the automata that constrain a model:
// tests compare them with it.  It reads a complete value, has no state between
// values, and is simple rather than fast.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "regex/pcre2.h"
#include "schema/document.h"

namespace parlance::schema {

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
  bool matches(PatternId id, std::string_view text);

  const Document& document_;
  std::vector<std::optional<regex::Pcre2>> patterns_;
};

// The same for one value.
bool validate(const Document& document, NodeId node, const json::Value& value);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_VALIDATE_H_
