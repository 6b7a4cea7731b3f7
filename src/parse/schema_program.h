#ifndef PARLANCE_SRC_PARSE_SCHEMA_PROGRAM_H_
#define PARLANCE_SRC_PARSE_SCHEMA_PROGRAM_H_

// A response schema with its patterns made ready to be searched for.

#include <cstddef>
#include <optional>
#include <vector>

#include "format/response_schema.h"
#include "parlance/limits.h"
#include "parse/finder.h"

namespace parlance::parse {

struct SubstitutionProgram {
  Finder finder;
  // For each reference of the replacement in order, where in Found::groups it
  // is; kWhole for the whole match.
  static constexpr std::size_t kWhole = static_cast<std::size_t>(-1);
  std::vector<std::size_t> references;
};

struct NodeProgram {
  std::vector<SubstitutionProgram> substitutions;
  std::optional<Finder> regex;
  std::optional<Finder> iterator;
  std::optional<Finder> key_value;
};

struct SchemaProgram {
  format::SchemaDescription description;
  std::vector<NodeProgram> nodes;  // parallel to description.nodes
  Limits limits;
};

SchemaProgram compile_schema(format::SchemaDescription description,
                             const Limits& limits);

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_SCHEMA_PROGRAM_H_
