#ifndef PARLANCE_SRC_SCHEMA_SOLVER_NODE_CHECKS_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_NODE_CHECKS_H_

// What can be said of each node of a schema by itself, before any conjunction
// is expanded: errors, and notes on what the grammar ignores or narrows.
//
// The solver's check_nodes() runs all of them, once.  A caller that has other
// ways than a recogniser to enforce the keywords asks for single notes.

#include <optional>
#include <string>

#include "parlance/error.h"
#include "parlance/schema_options.h"
#include "schema/document.h"
#include "schema_solver/contains.h"
#include "schema_solver/notes.h"
#include "schema_solver/string_sets.h"

namespace parlance::schema_solver {

// What the checks read, and the two tables that they add to.
struct NodeChecks {
  const schema::Document& document;
  const JsonSchemaOptions& options;
  const ItemChoices& choices;
  StringSets& strings;
  NoteList& notes;
};

// Returns an error for a pattern that is not regular or a keyword that cannot
// be enforced (in lenient mode: adds a note).  Adds the notes below.
std::optional<Error> check_nodes(const NodeChecks& of);

// What the expression of a format leaves out; empty if it is exact.
std::string format_note(const schema::Document& document,
                        schema::PatternId pattern);

// Adds a note if the pattern of the node's format accepts only a part of the
// format's strings.
void note_format(const schema::Document& document, schema::NodeId id,
                 NoteList& notes);

// Adds notes on what negations and `contains` leave out.
void note_negated(const schema::Document& document, const ItemChoices& choices,
                  NoteList& notes);

}  // namespace parlance::schema_solver

#endif  // PARLANCE_SRC_SCHEMA_SOLVER_NODE_CHECKS_H_
