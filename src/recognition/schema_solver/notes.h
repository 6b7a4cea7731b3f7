#ifndef PARLANCE_SRC_SCHEMA_SOLVER_NOTES_H_
#define PARLANCE_SRC_SCHEMA_SOLVER_NOTES_H_

// Notes on a schema: what has no effect, and what is narrower than written.
//
// A compile remembers nodes.  Their pointers and the sentences are made when
// somebody reads the notes, because few do, and a pointer is found by a walk
// over the whole schema.

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/schema_options.h"
#include "schema/document.h"
#include "schema_solver/exactness.h"

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

// The notes that a solver makes, in order.  Its owner takes them.
class NoteList {
 public:
  void add(NodeNote note) { notes_.push_back(std::move(note)); }

  // The only way to leave values out.  Makes a note of kind kNarrowed about the
  // keyword of the node, once for each message; the result belongs in the
  // verdict, the expansion, or whatever else rests on the values that are left
  // (see exactness.h).  `keyword`: a literal or text of the document; empty if
  // the loss belongs to no single keyword.  `why`: a sentence without a full
  // stop, about the texts that are left out.
  //
  // The node is where the user has to look.  SchemaSolver::place() returns one
  // for what is made of several nodes.
  [[nodiscard]] Exactness leave_out(LeftOutBy by, schema::NodeId node,
                                    std::string_view keyword,
                                    std::string_view why);

  // The notes since the last call, without ignored_notes().
  std::vector<NodeNote> take() { return std::exchange(notes_, {}); }

 private:
  std::vector<NodeNote> notes_;
  // The notes of leave_out(), by node and text.
  std::set<std::pair<schema::NodeId, std::string>> left_out_;
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
