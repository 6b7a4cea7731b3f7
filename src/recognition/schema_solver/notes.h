#ifndef PARLANCE_SRC_SCHEMA_SOLVER_NOTES_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_NOTES_H_

// Notes on a schema: what has no effect, and what is narrower than written.
//
// A compile remembers nodes.  Their pointers and the sentences are made when
// somebody reads the notes, because few do, and a pointer is found by a walk
// over the whole schema.

#include <string>
#include <string_view>
#include <vector>

#include "parlance/schema_options.h"
#include "schema/document.h"

namespace parlance::schema_solver {

// Of a rule whose negation is not generated.
inline constexpr std::string_view kNegatedLeftOut =
    "where it must not hold, texts that break just this rule are left out";

struct NodeNote {
  GrammarNote::Kind kind = GrammarNote::Kind::kIgnored;
  schema::NodeId node = schema::kNoNode;
  std::string_view keyword;  // of the document, or a literal
  std::string message;
  bool by_limit = false;  // a narrower language because of a limit
};

// The notes on what the document ignores.
std::vector<NodeNote> ignored_notes(const schema::Document& document);

// The notes with the pointers of their nodes, in order; of equal ones the
// first.
// Complexity: O(size of the schema + notes log notes).
std::vector<GrammarNote> locate(const schema::Document& document,
                                std::vector<NodeNote> notes);

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_NOTES_H_
