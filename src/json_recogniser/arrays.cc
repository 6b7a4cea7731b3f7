// Items of arrays.

#include <algorithm>

#include "json_recogniser/intern_list.h"
#include "json_recogniser/json_recogniser.h"

namespace parlance::json_recogniser {

using schema_solver::ConjunctionId;
using schema_solver::JsonType;
using schema_solver::kUnboundedCount;
using schema_solver::SchemaSolver;

// The frame in which the next item comes; 0 if there can be none.
JsonRecogniser::FrameId JsonRecogniser::next_item(FrameId id) {
  if (frames_[id].next_item != kUnknown) return frames_[id].next_item;
  if (frames_[id].kind == FrameKind::kCoarse) return frames_[id].used;
  const SchemaSolver::ScopedDepthLimit levels(solver_, levels_in(id));
  const Frame& frame = frames_[id];
  Frame next;
  next.kind = FrameKind::kArray;
  next.pending = true;
  next.depth = frame.depth;
  next.parent = frame.parent;
  next.used = frame.used;
  std::uint64_t cap = 0;
  std::vector<Alternative> made;
  const std::vector<Alternative> now(alternatives(frame),
                                     alternatives(frame) + frame.size);
  for (const Alternative& one : now) {
    const schema_solver::ArrayConstraints& disjunct =
        solver_.array(one.disjunct);
    cap = std::max({cap, disjunct.prefix, disjunct.min});
    if (disjunct.max != kUnboundedCount) cap = std::max(cap, disjunct.max);
    if (frame.count >= disjunct.max) continue;
    // Each count and each witness may take this item or not.
    struct Way {
      ConjunctionId conjunction;
      std::vector<std::uint64_t> counts;
    };
    std::vector<Way> ways = {
        {solver_.item_conjunction(one.disjunct, frame.count),
         counts_[one.state]}};
    for (std::size_t i = 0; i < disjunct.counts.size(); ++i) {
      const schema_solver::ItemCount& count = disjunct.counts[i];
      std::vector<Way> more;
      for (const Way& way : ways) {
        Way with{solver_.with(way.conjunction, count.literal), way.counts};
        // More than enough need not be counted where there is no bound.
        if (count.max != kUnboundedCount || with.counts[i] < count.min) {
          ++with.counts[i];
        }
        const bool bounded = count.max != kUnboundedCount;
        if (with.counts != way.counts) more.push_back(std::move(with));
        more.push_back(
            {bounded ? solver_.with(way.conjunction,
                                    schema_solver::negation(count.literal))
                     : way.conjunction,
             way.counts});
      }
      ways = std::move(more);
    }
    for (std::size_t i = 0; i < disjunct.witnesses.size(); ++i) {
      if ((one.state != 0 && (counts_[one.state].back() >> i & 1) != 0) ||
          frame.count < disjunct.witnesses[i].first) {
        continue;
      }
      std::vector<Way> more;
      for (const Way& way : ways) {
        if ((way.counts.back() >> i & 1) != 0) {
          more.push_back(way);
          continue;
        }
        Way with{solver_.with(way.conjunction, disjunct.witnesses[i].second),
                 way.counts};
        with.counts.back() |= std::uint64_t{1} << i;
        more.push_back(std::move(with));
        more.push_back(way);
      }
      ways = std::move(more);
    }
    for (Way& way : ways) {
      if (!solver_.satisfiable(way.conjunction)) continue;
      std::vector<std::uint64_t> counted(way.counts.begin(),
                                         way.counts.end() - 1);
      if (!solver_.completable_array(
              one.disjunct, std::uint64_t{frame.count} + 1, counted,
              static_cast<std::uint32_t>(way.counts.back()))) {
        continue;
      }
      made.push_back({one.up, one.disjunct,
                      intern_list(counts_, counts_of_, std::move(way.counts)),
                      way.conjunction});
    }
  }
  next.count = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::uint64_t{frame.count} + 1, cap));
  FrameId result = 0;
  if (!made.empty()) {
    const bool unique = frame.unique;
    result = intern(std::move(next), std::move(made));
    // Every value may have been used already.
    if (unique && enter_string(result) == 0 && enter_number(result) == 0 &&
        enter_literal(result, JsonType::kNull) == 0 &&
        enter_literal(result, JsonType::kBoolean) == 0 &&
        open(result, JsonType::kObject) == 0 &&
        open(result, JsonType::kArray) == 0) {
      result = 0;
    }
  }
  frames_[id].next_item = result;
  return result;
}

}  // namespace parlance::json_recogniser
