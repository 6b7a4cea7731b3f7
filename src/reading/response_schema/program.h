#ifndef PARLANCE_SRC_RESPONSE_SCHEMA_PROGRAM_H_
#define PARLANCE_SRC_RESPONSE_SCHEMA_PROGRAM_H_

// A response schema with its patterns compiled, ready to read texts.  A Program
// is immutable, so several parses may use it at once.

#include <cstddef>
#include <optional>
#include <vector>

#include "parlance/limits.h"
#include "parse/finder.h"
#include "response_schema/description.h"

namespace parlance::response_schema {

struct SubstitutionProgram {
  parse::Finder finder;
  // For each reference of the replacement, in order: its index in
  // Found::groups, or kWhole for the whole match.
  static constexpr std::size_t kWhole = static_cast<std::size_t>(-1);
  std::vector<std::size_t> references;
};

struct NodeProgram {
  std::vector<SubstitutionProgram> substitutions;
  std::optional<parse::Finder> regex;
  std::optional<parse::Finder> iterator;
  std::optional<parse::Finder> key_value;
};

struct Program {
  Description description;
  std::vector<NodeProgram> nodes;  // parallel to description.nodes
  Limits limits;
};

Program compile(Description description, const Limits& limits);

}  // namespace parlance::response_schema

#endif  // PARLANCE_SRC_RESPONSE_SCHEMA_PROGRAM_H_
