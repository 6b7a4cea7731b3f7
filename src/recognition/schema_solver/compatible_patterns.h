#ifndef PARLANCE_SRC_SCHEMA_SOLVER_COMPATIBLE_PATTERNS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_COMPATIBLE_PATTERNS_H_

// Which patterns for keys have rules that one value can satisfy together.

#include <cstdint>
#include <optional>
#include <vector>

#include "schema/document.h"
#include "schema_solver/literal.h"
#include "schema_solver/solver.h"

namespace parlance::schema_solver {

// What the value of a key that matches a pattern must satisfy.
struct PatternRules {
  std::vector<Literal> literals;
  std::uint8_t types = schema::kAllTypes;  // of their nodes
};

// The largest sets of patterns whose rules one value satisfies, one bit for
// each pattern; nothing if there are many, or it takes many steps.
std::optional<std::vector<std::vector<bool>>> compatible_patterns(
    SchemaSolver& solver, const std::vector<PatternRules>& patterns);

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_COMPATIBLE_PATTERNS_H_
