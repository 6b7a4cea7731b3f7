// Errors and notes of single nodes: see node_checks.h.  The notes on negations
// are in negation_notes.cc.

#include "schema_solver/node_checks.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/work.h"
#include "schema/formats.h"

namespace parlance::schema_solver {
namespace {

using schema::NodeId;

// Refuses a keyword of a node; in lenient mode it is noted instead.
std::optional<Error> refuse(const NodeChecks& of, NodeId id,
                            std::string_view keyword, ErrorCode code,
                            const std::string& why) {
  if (of.options.lenient) {
    of.notes.add({GrammarNote::Kind::kIgnored, id, keyword, why});
    return std::nullopt;
  }
  return Error{code,
               "'" + std::string(keyword) + "': " + why,
               of.document.pointer(id),
               {}};
}

std::optional<Error> check_pattern(const NodeChecks& of, NodeId id,
                                   std::string_view keyword,
                                   schema::PatternId pattern) {
  if (pattern == schema::kNoPattern) return std::nullopt;
  const std::optional<Error> wrong = of.strings.compile(pattern);
  if (!wrong) return std::nullopt;
  return refuse(of, id, keyword, wrong->code, wrong->message);
}

std::optional<Error> check_node(const NodeChecks& of, NodeId id) {
  const schema::Node& node = of.document.node(id);
  if (node.string_rules != nullptr) {
    for (const auto& [keyword, pattern] :
         {std::pair("pattern", node.string_rules->pattern),
          std::pair("format", node.string_rules->format)}) {
      if (auto error = check_pattern(of, id, keyword, pattern)) return error;
    }
    note_format(of.document, id, of.notes);
  }
  for (const auto& [pattern, child] : node.objects().pattern_properties) {
    if (auto error = check_pattern(of, id, "patternProperties", pattern)) {
      return error;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> check_nodes(const NodeChecks& of) {
  for (NodeId id; id < of.document.nodes.size(); ++id) {
    if (std::optional<Error> error = check_node(of, id)) return error;
    if (!base::spend_work(64)) break;
  }
  note_negated(of.document, of.choices, of.notes);
  return std::nullopt;
}

std::string format_note(const schema::Document& document,
                        schema::PatternId pattern) {
  const std::string_view name = document.patterns[pattern].format;
  const std::optional<schema::FormatId> format = schema::find_format(name);
  if (!format || schema::format_leaves_out(*format).empty()) return {};
  return "\"" + std::string(name) + "\" leaves out " +
         std::string(schema::format_leaves_out(*format));
}

void note_format(const schema::Document& document, NodeId id, NoteList& notes) {
  const schema::PatternId pattern = document.node(id).strings().format;
  if (pattern == schema::kNoPattern) return;
  const std::string why = format_note(document, pattern);
  if (why.empty()) return;
  static_cast<void>(
      notes.leave_out(LeftOutBy::kUnsupported, id, "format", why));
}

}  // namespace parlance::schema_solver
