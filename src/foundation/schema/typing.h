#ifndef PARLANCE_SRC_SCHEMA_TYPING_H_
#define PARLANCE_SRC_SCHEMA_TYPING_H_

// Types for loose values: the types that a tool's schema allows for an argument
// that was written as text.
//
//   candidate_types({"type": ["integer", "null"]})    kInteger, kNull
//   cast("7", {kInteger, kNull})                      7
//   cast("seven", {kInteger, kNull})                  nothing: it stays text
//
// The types depend on four keywords: "type", "anyOf", "oneOf" and
// "nullable".  "allOf", "$ref", "enum" and "const" are not.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "parlance/json.h"

namespace parlance::schema {

// ORDER: LooseType, names in typing.cc
enum class LooseType : std::uint8_t {
  kInteger,
  kNumber,
  kBoolean,
  kNull,
  kObject,
  kArray,
  kString,   // casts nothing
  kUnknown,  // a name that JSON Schema does not have; casts nothing
};
// "integer", ..., "string", "unknown".
std::string_view to_string(LooseType type);

// The types a schema allows, in the order in which they are tried: those of
// "type", then of each "anyOf", then of each "oneOf", then null if "nullable"
// is truthy and null is not among them yet.  Duplicates are not removed.  Empty
// if the schema is not an object or has none of these keywords.
std::vector<LooseType> candidate_types(const json::Value& schema);

// Whether an "anyOf" or "oneOf" that candidate_types() visits is a value
// without elements (a number or true).  Upstream raises a TypeError for a
// parameter with such a schema; candidate_types() ignores the keyword.
bool has_bad_union(const json::Value& schema);

// How a text becomes a number.
enum class Numbers : std::uint8_t {
  kPython,  // as in transformers: by way of a double
  kJson,    // a number of JSON is the number that the reader of JSON reads
};

// `text` as a value of the first type that it can be read as, or nothing.
//
//   integer  Python's int(), or a whole number as float() reads it ("3.0")
//   number   Python's float(), finite; an integer when the value is whole and
//            the text has no point ("1e3"), exact for the double.  With
//            Numbers::kJson, a number of JSON beyond 2^53 that has a point or
//            an exponent, also one beyond a double, is what the reader of JSON
//            makes of it
//   boolean  true 1 false 0, in any case, surrounded by white space or not
//   null     null None, the same
//   object, array  JSON text of that shape
std::optional<json::Value> cast(std::string_view text,
                                const std::vector<LooseType>& types,
                                Numbers numbers = Numbers::kPython);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_TYPING_H_
