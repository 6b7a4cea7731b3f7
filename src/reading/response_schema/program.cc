// Compiles every pattern of a response schema to a finder that reports only the
// groups that the reader uses: those of the extract or of the replacement.
//
// A pattern with a fault gets no finder, because the reader reports the fault
// before it uses the finder.

#include "response_schema/program.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>

namespace parlance::response_schema {
namespace {

// A finder that reports the named groups or, if there are none, the only group.
std::optional<parse::Finder> compile_extract(
    const std::optional<NodePattern>& pattern, const Limits& limits) {
  if (!pattern || pattern->fault) return std::nullopt;
  std::vector<std::uint32_t> groups;
  const regex::Hir& hir = pattern->pattern.hir;
  for (const regex::GroupName& name : hir.names) groups.push_back(name.group);
  if (groups.empty() && hir.group_count == 1) groups.push_back(1);
  return parse::compile_group_finder(pattern->pattern, std::move(groups),
                                     limits);
}

SubstitutionProgram compile_substitution(const Substitution& substitution,
                                         const Limits& limits) {
  SubstitutionProgram out;
  if (substitution.pattern.fault || substitution.fault) return out;
  std::vector<std::uint32_t> groups;
  for (const ReplacementPart& part : substitution.replacement) {
    const auto* group = std::get_if<std::uint32_t>(&part);
    if (group == nullptr) continue;
    if (*group == 0) {
      out.references.push_back(SubstitutionProgram::kWhole);
      continue;
    }
    auto known = std::find(groups.begin(), groups.end(), *group);
    out.references.push_back(static_cast<std::size_t>(known - groups.begin()));
    if (known == groups.end()) groups.push_back(*group);
  }
  out.finder = parse::compile_group_finder(substitution.pattern.pattern,
                                           std::move(groups), limits);
  return out;
}

NodeProgram compile_node(const Node& node, const Limits& limits) {
  NodeProgram out;
  for (const Substitution& substitution : node.substitutions) {
    out.substitutions.push_back(compile_substitution(substitution, limits));
  }
  out.regex = compile_extract(node.regex, limits);
  out.iterator = compile_extract(node.iterator, limits);
  out.key_value = compile_extract(node.key_value, limits);
  return out;
}

}  // namespace

Program compile(Description description, const Limits& limits) {
  Program out;
  out.description = std::move(description);
  out.limits = limits;
  for (const Node& node : out.description.nodes) {
    out.nodes.push_back(compile_node(node, limits));
  }
  return out;
}

}  // namespace parlance::response_schema
