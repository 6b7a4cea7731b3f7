// The table of frames: see frame.h.

#include "json_recogniser/frame.h"

#include <algorithm>

#include "base/work.h"
#include "json_recogniser/distinct_list.h"

namespace parlance::json_recogniser {

using base::mix;
using schema_solver::ConjunctionId;

FrameId FrameTable::intern(Frame frame,
                           std::span<const Alternative> alternatives) {
  base::spend_work(1 + alternatives.size() / 4);
  std::uint64_t hash = static_cast<std::uint64_t>(frame.kind);
  mix(hash, std::uint64_t{frame.parent} << 32 | frame.count);
  mix(hash, std::uint64_t{frame.used} << 1 | (frame.pending ? 1 : 0));
  mix(hash, std::uint64_t{frame.partial} << 32 | frame.present);
  mix(hash, frame.items);
  for (const Alternative& alternative : alternatives) {
    mix(hash, std::uint64_t{alternative.outer} << 32 | alternative.disjunct);
    mix(hash, alternative.state);
    mix(hash, std::uint64_t{alternative.pending} << 32 | alternative.barred);
  }
  const auto is_same = [&](FrameId id) {
    const Frame& known = frames_[id].frame;
    return known.kind == frame.kind && known.parent == frame.parent &&
           known.count == frame.count && known.used == frame.used &&
           known.present == frame.present && known.partial == frame.partial &&
           known.items == frame.items && known.pending == frame.pending &&
           std::ranges::equal(known.alternatives, alternatives);
  };
  if (const auto known = ids_.find(hash, is_same)) return *known;
  const auto id = static_cast<FrameId>(frames_.size());
  if (frame.kind == FrameKind::kArray) {
    for (const Alternative& alternative : alternatives) {
      frame.distinct =
          frame.distinct || solver_.array(alternative.disjunct).unique;
    }
  }
  frame.unique = frame.distinct || frame.partial != 0;
  frame.alternatives = alternatives_.add(alternatives);
  alternative_count_ += alternatives.size();
  frames_.push_back({frame});
  ids_.add(hash, id);
  return id;
}

std::vector<ConjunctionId> FrameTable::conjunctions_in(FrameId id) const {
  std::vector<ConjunctionId> conjunctions;
  DistinctList distinct(conjunctions,
                        [](ConjunctionId one) { return one.value(); });
  for (const Alternative& one : (*this)[id].alternatives) {
    distinct.add(one.pending);
  }
  return conjunctions;
}

}  // namespace parlance::json_recogniser
