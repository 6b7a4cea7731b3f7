#ifndef PARLANCE_SRC_TAG_PARSER_HISTORY_H_
#define PARLANCE_SRC_TAG_PARSER_HISTORY_H_

// What threads have done: lists that share their beginnings.
//
//   0 ── enter tag @0 ── enter any_text @3 ─┬─ leave any_text @9
//                                           └─ leave any_text @12
//
// A thread names the last step of its list.  What all threads have in common
// is certain; steps of threads that are gone are dropped now and then.
//
// Every step also points to one far above it (Myers, 1983), so that going up
// any distance takes a logarithmic number of jumps.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace parlance::tag_parser {

using HistoryId = std::uint32_t;

struct ParseStep {
  enum class Kind : std::uint8_t { kEnter, kLeave, kRule };
  std::uint64_t position = 0;  // in the text
  std::uint32_t format = 0;
  Kind kind = Kind::kEnter;
};

class History {
 public:
  // ParseStep 0 is the beginning.
  History() : nodes_(1) {}

  HistoryId add(HistoryId parent, ParseStep step);
  const ParseStep& operator[](HistoryId id) const { return nodes_[id].step; }
  HistoryId parent(HistoryId id) const { return nodes_[id].parent; }

  // The last step that both lists have.
  HistoryId common_ancestor(HistoryId a, HistoryId b) const;
  // The step of the list of `id` that comes next behind `above`.  REQUIRES:
  // `above` is in the list, and not `id`.
  HistoryId child_towards(HistoryId above, HistoryId id) const {
    return at_depth(id, nodes_[above].depth + 1);
  }

  std::size_t bytes() const { return nodes_.size() * sizeof(HistoryNode); }

  // Keeps `root` and the steps behind it that lead to those marked, and drops
  // all others.  new_id() tells what became of those kept.
  void begin_compaction(HistoryId root);
  void mark(HistoryId id);
  void compact();
  HistoryId new_id(HistoryId id) const { return renumbered_[id]; }

 private:
  struct HistoryNode {
    ParseStep step;
    HistoryId parent = 0;
    HistoryId jump = 0;
    std::uint32_t depth = 0;
  };
  HistoryId at_depth(HistoryId id, std::uint32_t depth) const;

  std::vector<HistoryNode> nodes_;
  HistoryId root_ = 0;
  std::vector<HistoryId> renumbered_;
};

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_HISTORY_H_
