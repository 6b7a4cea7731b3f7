#ifndef PARLANCE_SRC_TAG_PARSER_HISTORY_H_
#define PARLANCE_SRC_TAG_PARSER_HISTORY_H_

// What threads have done: persistent lists that share their beginnings.
//
//   0 ── enter tag @0 ── enter any_text @3 ─┬─ leave any_text @9
//                                           └─ leave any_text @12
//
// The lists form a tree whose root is the beginning.  A thread holds the id of
// the last step of its list.  Steps that all threads have in common are
// certain; steps that no thread has are removed by a compaction.
//
// Every node also has a jump to a distant ancestor.  The lengths of the jumps
// are those of a skew-binary number (Myers, "An applicative random-access
// stack", 1983), so that an ancestor at any depth, and the lowest common
// ancestor of two nodes, are found in a logarithmic number of jumps.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/id.h"

namespace parlance::tag_parser {

struct HistoryNode;
using HistoryId = base::Id<HistoryNode>;

// A format was entered or left, or the pattern of one of its rules began.
struct ParseStep {
  enum class Kind : std::uint8_t { kEnter, kLeave, kRule };
  std::uint64_t position = 0;  // in the text
  std::uint32_t format = 0;
  Kind kind = Kind::kEnter;
};

// A parse that is still open.
struct OpenParse {
  HistoryId step;         // its last step
  std::uint64_t end = 0;  // the text before this position is its text

  bool operator==(const OpenParse&) const = default;
};

struct HistoryNode {
  ParseStep step;
  HistoryId parent;
  HistoryId jump;
  std::uint32_t depth = 0;
};

class History {
 public:
  // Node 0 is the beginning; it has no step.
  History() : nodes_(1) {}

  HistoryId add(HistoryId parent, ParseStep step);
  const ParseStep& operator[](HistoryId id) const { return nodes_[id].step; }
  HistoryId parent(HistoryId id) const { return nodes_[id].parent; }
  // The id of the node that is added next.
  HistoryId next_id() const { return HistoryId{nodes_.size()}; }

  // The last step that both lists have.
  HistoryId common_ancestor(HistoryId a, HistoryId b) const;
  // The first step after `ancestor` in the list that ends with `id`.
  // REQUIRES: `ancestor` is in that list, and is not `id`.
  HistoryId child_towards(HistoryId ancestor, HistoryId id) const {
    return at_depth(id, nodes_[ancestor].depth + 1);
  }

  std::size_t bytes() const { return nodes_.size() * sizeof(HistoryNode); }

  // A compaction keeps `root`, the nodes given to mark(), and the nodes
  // between; it removes all others.  new_id() maps the ids of nodes that are
  // left.  REQUIRES: `root` is an ancestor of every marked node.
  void begin_compaction(HistoryId root);
  void mark(HistoryId id);
  void compact();
  HistoryId new_id(HistoryId id) const { return renumbered_[id]; }

 private:
  HistoryId at_depth(HistoryId id, std::uint32_t depth) const;

  std::vector<HistoryNode> nodes_;
  HistoryId root_;
  std::vector<HistoryId> renumbered_;
};

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_HISTORY_H_
