#ifndef PARLANCE_SRC_SCHEMA_SOLVER_EXCLUSIVE_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_EXCLUSIVE_H_

// Which options of a oneOf visibly exclude each other.
//
//   {"oneOf": [{"properties": {"kind": {"const": "a"}}, "required": ["kind"]},
//              {"properties": {"kind": {"const": "b"}}, "required": ["kind"]},
//              {"properties": {"a": {"type": "integer"}}}]}
//
//   overlaps    0: {2}   1: {2}   2: {0, 1}
//
// An option that holds implies that no option holds which it excludes.  So
// "exactly one" need only be said of options that overlap, and options that a
// constant or a type tells apart cost what an anyOf costs: linear in their
// number, where all pairs would be quadratic.
//
// What an option says is collected as facts about *slots*: the value itself,
// its members, its items, and those inside.  Two options exclude each other if
// one requires a slot where their facts contradict each other, or that the
// other forbids.  Of a disjunction inside an option, what all of its
// alternatives have in common is a fact.  This is sufficient and not necessary:
// an overlap that is found here may be none.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "parlance/schema_options.h"
#include "schema/document.h"
#include "schema_solver/constraints.h"

namespace parlance::schema_solver {

// A text that equal scalars share; its first character is their type.
std::string scalar_key(const json::Value& scalar);

// For each option, the other options that may hold with it, sorted; nothing if
// these are more than `most` in total.  Options without values of `type` (one
// of schema::TypeBits) overlap with none.
//
// Complexity: linear in the size of the options and the number of overlaps, if
// each option has a slot in which few others can have its value.
using Overlaps = std::vector<std::vector<std::uint32_t>>;
std::optional<Overlaps> overlaps(const schema::Document& document,
                                 std::span<const schema::NodeId> options,
                                 std::uint8_t type, std::size_t most);

// overlaps() of the oneOf of each node, once asked for.
class OverlapTable {
 public:
  // Both must outlive this.
  OverlapTable(const schema::Document& document,
               const JsonSchemaOptions& options)
      : document_(document), options_(options) {}

  // Null: there are too many overlaps.  The result is valid as long as this.
  const Overlaps* of(schema::NodeId node, JsonType type);

 private:
  const schema::Document& document_;
  const JsonSchemaOptions& options_;
  // By node and type.
  std::unordered_map<std::uint64_t, std::optional<Overlaps>> known_;
};

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_EXCLUSIVE_H_
