#ifndef PARLANCE_SRC_TAG_PARSER_TRACE_H_
#define PARLANCE_SRC_TAG_PARSER_TRACE_H_

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

using StepId = std::uint32_t;

struct Step {
  enum class Kind : std::uint8_t { kEnter, kLeave, kRule };
  std::uint64_t position = 0;  // in the text
  std::uint32_t format = 0;
  Kind kind = Kind::kEnter;
};

class Trace {
 public:
  // Step 0 is the beginning.
  Trace() : nodes_(1) {}

  StepId add(StepId before, Step step);
  const Step& operator[](StepId id) const { return nodes_[id].step; }
  StepId before(StepId id) const { return nodes_[id].before; }

  // The last step that both lists have.
  StepId common(StepId a, StepId b) const;
  // The step of the list of `id` that comes next behind `above`.  REQUIRES:
  // `above` is in the list, and not `id`.
  StepId next_behind(StepId above, StepId id) const {
    return at_depth(id, nodes_[above].depth + 1);
  }

  std::size_t bytes() const { return nodes_.size() * sizeof(Node); }

  // Keeps `root` and the steps behind it that lead to those marked, and drops
  // all others.  new_id() tells what became of those kept.
  void begin_compact(StepId root);
  void mark(StepId id);
  void compact();
  StepId new_id(StepId id) const { return renumbered_[id]; }

 private:
  struct Node {
    Step step;
    StepId before = 0;
    StepId jump = 0;
    std::uint32_t depth = 0;
  };
  StepId at_depth(StepId id, std::uint32_t depth) const;

  std::vector<Node> nodes_;
  StepId root_ = 0;
  std::vector<StepId> renumbered_;
};

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_TRACE_H_
