// Lists with shared beginnings; see history.h.

#include "tag_parser/history.h"

namespace parlance::tag_parser {
namespace {

constexpr HistoryId kDropped = 0xFFFFFFFF;

}  // namespace

HistoryId History::add(HistoryId parent, ParseStep step) {
  const HistoryNode& above = nodes_[parent];
  const HistoryNode& far = nodes_[above.jump];
  HistoryNode node{step, parent, parent, above.depth + 1};
  // Two jumps of one length make one of twice that and the step between.
  if (above.depth - far.depth == far.depth - nodes_[far.jump].depth) {
    node.jump = far.jump;
  }
  nodes_.push_back(node);
  return static_cast<HistoryId>(nodes_.size() - 1);
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
  while (a != b) {
    const HistoryId far_a = nodes_[a].jump;
    const HistoryId far_b = nodes_[b].jump;
    // Jumps that a compaction has cut may end at different depths.
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
  renumbered_[root] = 0;
}

void History::mark(HistoryId id) {
  while (renumbered_[id] == kDropped) {
    renumbered_[id] = 0;
    id = nodes_[id].parent;
  }
}

// A step comes after all that are before it, so one pass renumbers.
void History::compact() {
  std::vector<HistoryNode> kept;
  for (HistoryId id = root_; id < nodes_.size(); ++id) {
    if (renumbered_[id] == kDropped) continue;
    renumbered_[id] = static_cast<HistoryId>(kept.size());
    HistoryNode node = nodes_[id];
    node.depth -= nodes_[root_].depth;
    if (id == root_) {
      node.parent = node.jump = 0;
    } else {
      node.parent = renumbered_[node.parent];
      // Beyond the root there is nothing to jump to.
      node.jump = node.jump < root_ || renumbered_[node.jump] == kDropped
                      ? 0
                      : renumbered_[node.jump];
    }
    kept.push_back(node);
  }
  nodes_ = std::move(kept);
  root_ = 0;
}

}  // namespace parlance::tag_parser
