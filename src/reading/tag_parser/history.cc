// The tree of histories: nodes with a link to the parent and a jump to a
// distant ancestor, ancestors by depth, and compaction.  The jumps are
// described in history.h.

#include "tag_parser/history.h"

namespace parlance::tag_parser {
namespace {

constexpr HistoryId kDropped{0xFFFFFFFF};

}  // namespace

HistoryId History::add(HistoryId parent, ParseStep step) {
  const HistoryNode& above = nodes_[parent];
  const HistoryNode& far = nodes_[above.jump];
  HistoryNode node{step, parent, parent, above.depth + 1};
  // Skew-binary increment: two consecutive jumps of equal length become one
  // jump over both and the new node.
  if (above.depth - far.depth == far.depth - nodes_[far.jump].depth) {
    node.jump = far.jump;
  }
  nodes_.push_back(node);
  return HistoryId{nodes_.size() - 1};
}

HistoryId History::at_depth(HistoryId id, std::uint32_t depth) const {
  while (nodes_[id].depth > depth) {
    const HistoryNode& node = nodes_[id];
    id = nodes_[node.jump].depth >= depth ? node.jump : node.parent;
  }
  return id;
}

HistoryId History::common_ancestor(HistoryId a, HistoryId b) const {
  if (nodes_[a].depth > nodes_[b].depth) a = at_depth(a, nodes_[b].depth);
  if (nodes_[b].depth > nodes_[a].depth) b = at_depth(b, nodes_[a].depth);
  // Invariant: `a` and `b` have the same depth, and their common ancestor is
  // the one that was asked for.
  while (a != b) {
    const HistoryId far_a = nodes_[a].jump;
    const HistoryId far_b = nodes_[b].jump;
    // Nodes of one depth jump to one depth, unless a compaction has shortened
    // a jump.
    const bool far =
        far_a != far_b && nodes_[far_a].depth == nodes_[far_b].depth;
    a = far ? far_a : nodes_[a].parent;
    b = far ? far_b : nodes_[b].parent;
  }
  return a;
}

void History::begin_compaction(HistoryId root) {
  root_ = root;
  renumbered_.assign(nodes_.size(), kDropped);
  renumbered_[root] = HistoryId{0};
}

// Marks `id` and its ancestors below the first marked one.
void History::mark(HistoryId id) {
  while (renumbered_[id] == kDropped) {
    renumbered_[id] = HistoryId{0};
    id = nodes_[id].parent;
  }
}

// A node is stored after its ancestors, so one pass renumbers all links.
void History::compact() {
  std::vector<HistoryNode> kept;
  for (HistoryId id = root_; id < nodes_.size(); ++id) {
    if (renumbered_[id] == kDropped) continue;
    renumbered_[id] = HistoryId{kept.size()};
    HistoryNode node = nodes_[id];
    node.depth -= nodes_[root_].depth;
    if (id == root_) {
      node.parent = node.jump = HistoryId{0};
    } else {
      node.parent = renumbered_[node.parent];
      // A jump to an ancestor of the root becomes a jump to the root.
      node.jump = node.jump < root_ || renumbered_[node.jump] == kDropped
                      ? HistoryId{0}
                      : renumbered_[node.jump];
    }
    kept.push_back(node);
  }
  nodes_ = std::move(kept);
  root_ = HistoryId{0};
}

}  // namespace parlance::tag_parser
