#ifndef PARLANCE_SRC_SCHEMA_SOLVER_LITERAL_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_LITERAL_H_

// A node of the schema that must hold, or must not.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "schema/document.h"

namespace parlance::schema_solver {

using schema::NodeId;

// 32 bits, without a cost of its own.  Literals of one node are adjacent in
// their order, the positive one first.
class Literal {
 public:
  // kNoLiteral.
  constexpr Literal() = default;
  // REQUIRES: `node` is a node of the document, so it is below 2^31 - 1.
  constexpr Literal(NodeId node, bool negated)
      : bits_(node << 1 | (negated ? 1 : 0)) {}

  // A number for tables: equal literals have equal numbers.
  constexpr std::uint32_t bits() const { return bits_; }
  static constexpr Literal from_bits(std::uint32_t bits) {
    Literal made;
    made.bits_ = bits;
    return made;
  }

  // REQUIRES: neither kNoLiteral nor kNever.
  constexpr NodeId node() const { return NodeId(bits_ >> 1); }
  constexpr bool negated() const { return (bits_ & 1) != 0; }
  // The literal of another node that must hold, or must not, as this one.
  constexpr Literal of(NodeId node) const { return {node, negated()}; }

  constexpr bool operator==(const Literal&) const = default;
  constexpr auto operator<=>(const Literal&) const = default;

 private:
  std::uint32_t bits_ = 0xFFFFFFFF;
};

// What a rule requires that is not there.
inline constexpr Literal kNoLiteral;
// No value satisfies it.  Greater than every literal of a node.
inline constexpr Literal kNever = Literal::from_bits(0xFFFFFFFE);

constexpr Literal holds(NodeId node) { return {node, false}; }
constexpr Literal fails(NodeId node) { return {node, true}; }
constexpr Literal negation(Literal literal) {
  return {literal.node(), !literal.negated()};
}

}  // namespace parlance::schema_solver

template <>
struct std::hash<parlance::schema_solver::Literal> {
  std::size_t operator()(
      parlance::schema_solver::Literal literal) const noexcept {
    return std::hash<std::uint32_t>()(literal.bits());
  }
};

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_LITERAL_H_
