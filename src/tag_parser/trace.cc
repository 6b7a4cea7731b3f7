// Lists with shared beginnings; see trace.h.

#include "tag_parser/trace.h"

namespace parlance::tag_parser {
namespace {

constexpr StepId kDropped = 0xFFFFFFFF;

}  // namespace

StepId Trace::add(StepId before, Step step) {
  const Node& above = nodes_[before];
  const Node& far = nodes_[above.jump];
  Node node{step, before, before, above.depth + 1};
  // Two jumps of one length make one of twice that and the step between.
  if (above.depth - far.depth == far.depth - nodes_[far.jump].depth) {
    node.jump = far.jump;
  }
  nodes_.push_back(node);
  return static_cast<StepId>(nodes_.size() - 1);
}

StepId Trace::at_depth(StepId id, std::uint32_t depth) const {
  while (nodes_[id].depth > depth) {
    const Node& node = nodes_[id];
    id = nodes_[node.jump].depth >= depth ? node.jump : node.before;
  }
  return id;
}

StepId Trace::common(StepId a, StepId b) const {
  if (nodes_[a].depth > nodes_[b].depth) a = at_depth(a, nodes_[b].depth);
  if (nodes_[b].depth > nodes_[a].depth) b = at_depth(b, nodes_[a].depth);
  while (a != b) {
    const StepId far_a = nodes_[a].jump;
    const StepId far_b = nodes_[b].jump;
    // Jumps that a compaction has cut may end at different depths.
    const bool far =
        far_a != far_b && nodes_[far_a].depth == nodes_[far_b].depth;
    a = far ? far_a : nodes_[a].before;
    b = far ? far_b : nodes_[b].before;
  }
  return a;
}

void Trace::begin_compact(StepId root) {
  root_ = root;
  renumbered_.assign(nodes_.size(), kDropped);
  renumbered_[root] = 0;
}

void Trace::mark(StepId id) {
  while (renumbered_[id] == kDropped) {
    renumbered_[id] = 0;
    id = nodes_[id].before;
  }
}

// A step comes after all that are before it, so one pass renumbers.
void Trace::compact() {
  std::vector<Node> kept;
  for (StepId id = root_; id < nodes_.size(); ++id) {
    if (renumbered_[id] == kDropped) continue;
    renumbered_[id] = static_cast<StepId>(kept.size());
    Node node = nodes_[id];
    node.depth -= nodes_[root_].depth;
    if (id == root_) {
      node.before = node.jump = 0;
    } else {
      node.before = renumbered_[node.before];
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
