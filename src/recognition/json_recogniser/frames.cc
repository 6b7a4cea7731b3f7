// Opening and closing frames, and the effect of a value on the frame that it is
// in: see frames.h.

#include "json_recogniser/frames.h"

#include <algorithm>
#include <utility>

#include "json_recogniser/next_members.h"
#include "json_recogniser/unique_items.h"

namespace parlance::json_recogniser {

using recogniser::Configuration;
using schema_solver::ConjunctionId;
using schema_solver::DisjunctId;
using schema_solver::JsonType;
using schema_solver::kNothing;
using schema_solver::kUnboundedCount;
using schema_solver::SchemaSolver;

// Alternatives of one conjunction bar the same values, unless their arrays
// differ in what later items need.  Inside an item, some values may be barred
// because of the frames that enclose them.
UsedValues::Set Frames::barred_in(FrameId id, ConjunctionId conjunction) {
  if (!frames_[id].unique) return UsedValues::kNone;
  const UsedValues::Set inside = frames_[id].partial != 0
                                     ? unique_.barred_inside(id, conjunction)
                                     : UsedValues::kNone;
  UsedValues::Set own = barred_by_items(frames_[id], conjunction);
  if (inside == UsedValues::kNone || inside == own) return own;
  if (own == UsedValues::kNone) return inside;
  for (const std::string& value : values_.texts(inside)) {
    own = values_.with_value(own, value);
  }
  return own;
}

UsedValues::Set Frames::barred_by_items(const Frame& frame,
                                        ConjunctionId conjunction) {
  if (!frame.distinct) return UsedValues::kNone;
  std::vector<UsedValues::Set> sets;
  for (const Alternative& alternative : frame.alternatives) {
    if (alternative.pending != conjunction) continue;
    if (alternative.barred == UsedValues::kNone) return UsedValues::kNone;
    sets.push_back(alternative.barred);
  }
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  if (sets.size() == 1) return sets.front();
  UsedValues::Set common = UsedValues::kNone;
  for (const std::string& value : values_.texts(sets.front())) {
    if (std::all_of(sets.begin(), sets.end(), [&](UsedValues::Set set) {
          return values_.contains(set, value);
        })) {
      common = values_.with_value(common, value);
    }
  }
  return common;
}

FrameId Frames::open(FrameId id, JsonType type) {
  const FrameId made = open_frame(id, type);
  return frames_[made].partial == 0 || unique_.finishes(made) ? made : kNoFrame;
}

// Each conjunction of the value contributes its disjuncts of that type.
FrameId Frames::open_frame(FrameId id, JsonType type) {
  const std::uint32_t left = frames_.levels_in(id);
  if (left == 0) return kNoFrame;
  const schema_solver::ScopedDepthLimit levels(solver_.satisfiability(), left);
  const Frame& outer = frames_[id];
  Frame frame;
  frame.kind =
      type == JsonType::kObject ? FrameKind::kObject : FrameKind::kArray;
  frame.parent = id;
  frame.depth = outer.depth + 1;
  if (outer.unique) {
    frame.partial =
        partials_.intern(Partial{.array = type == JsonType::kArray});
  }
  std::vector<Alternative> made;
  for (const ConjunctionId conjunction : frames_.conjunctions_in(id)) {
    for (const DisjunctId disjunct : solver_.disjuncts(conjunction, type)) {
      Alternative alternative{conjunction, disjunct, 0, kNothing};
      if (type == JsonType::kArray) {
        std::vector<std::uint64_t> counts(
            solver_.array(disjunct).counts.size() + 1, 0);
        alternative.state = frames_.intern_counts(counts);
      } else {
        alternative.state = solver_.object(disjunct).condition;
      }
      made.push_back(alternative);
    }
  }
  return made.empty() ? kNoFrame : frames_.intern(frame, made);
}

// Drops each alternative of an array that another alternative dominates: the
// other is at least as far in every count and has found at least the same
// witnesses, so whatever completes the first also completes the other.  Counts
// with a maximum have to be equal.
void Frames::drop_dominated(std::vector<Alternative>& list) {
  if (list.size() < 2) return;
  const auto dominates = [&](const Alternative& more, const Alternative& less) {
    if (more.outer != less.outer || more.disjunct != less.disjunct ||
        more.state == less.state) {
      return false;
    }
    const auto& limits = solver_.array(more.disjunct).counts;
    const std::span<const std::uint64_t> a = frames_.counts(more.state);
    const std::span<const std::uint64_t> b = frames_.counts(less.state);
    if (a.size() != b.size() || (b.back() & ~a.back()) != 0) return false;
    for (std::size_t i = 0; i + 1 < a.size(); ++i) {
      const bool bounded = limits[i].max != schema_solver::kUnboundedCount;
      if (bounded ? a[i] != b[i] : a[i] < b[i]) return false;
    }
    return true;
  };
  std::vector<Alternative> remaining;
  for (const Alternative& one : list) {
    if (std::none_of(list.begin(), list.end(), [&](const Alternative& other) {
          return dominates(other, one);
        })) {
      remaining.push_back(one);
    }
  }
  list = std::move(remaining);
}

// An alternative survives if its conjunction is among `survivors` and it does
// not bar the value.  Alternatives that become equal are merged.
//
// Invariant of the memo: FrameMemo::after_all is the result if every
// alternative survives and no value is remembered, which is the usual case.
FrameId Frames::frame_after_value(FrameId id,
                                  const std::vector<ConjunctionId>& survivors,
                                  const std::string* unique_value,
                                  std::uint32_t nested) {
  const Frame& frame = frames_[id];
  const bool remember = frame.unique && unique_value != nullptr;
  if (frame.alternatives.size() == 1 && !remember &&
      frames_.memo(id).after_all != kUnknown) {
    return frames_.memo(id).after_all;
  }
  // Step 1: the alternatives that survive.
  std::vector<Alternative> left;
  bool all = true;
  for (Alternative alternative : frame.alternatives) {
    if (std::find(survivors.begin(), survivors.end(), alternative.pending) ==
            survivors.end() ||
        (remember && values_.contains(alternative.barred, *unique_value))) {
      all = false;
      continue;
    }
    alternative.pending = kNothing;
    alternative.barred = UsedValues::kNone;
    if (std::find(left.begin(), left.end(), alternative) == left.end()) {
      left.push_back(alternative);
    }
  }
  if (all && !remember && frames_.memo(id).after_all != kUnknown) {
    return frames_.memo(id).after_all;
  }
  if (left.empty()) return kNoFrame;
  if (frame.kind == FrameKind::kArray) drop_dominated(left);
  // Step 2: the frame without a pending value.  With uniqueItems, the set of
  // values gets this one.
  Frame next;
  next.kind = frame.kind;
  next.depth = frame.depth;
  next.parent = frame.parent;
  next.count = frame.count;
  next.used = remember && frame.distinct
                  ? values_.with_spellings(frame.used, *unique_value)
                  : frame.used;
  next.items = remember && frame.distinct && nested != 0
                   ? partials_.with_item(frame.items, nested)
                   : frame.items;
  next.partial = remember && frame.partial != 0
                     ? partials_.with_part(frame.partial, *unique_value, nested)
                     : frame.partial;
  next.present = frame.present;
  const FrameId made = frames_.intern(next, left);
  if (all && !remember) frames_.memo(id).after_all = made;
  return made;
}

Configuration Frames::after_value(FrameId frame,
                                  const std::vector<ConjunctionId>& survivors,
                                  const std::string* unique_value,
                                  std::uint32_t nested) {
  if (frames_[frame].kind == FrameKind::kDetached) {
    if (frames_[frame].alternatives.size() == 1) return left_value(frame, {});
    std::vector<ConjunctionId> sorted = survivors;
    std::sort(sorted.begin(), sorted.end());
    return left_value(frame, {.fulfilled = survivors_.intern(sorted).first});
  }
  const Kind kind =
      frames_[frame].kind == FrameKind::kRoot ? Kind::kEnd : Kind::kAfter;
  const FrameId after =
      frame_after_value(frame, survivors, unique_value, nested);
  if (after == 0) return {};
  return {lex_of(kind), after, 0, 0};
}

// In the parent frame, a conjunction survives if one of its alternatives in
// this frame is complete.
Configuration Frames::close(FrameId id) {
  if (frames_.memo(id).closed_known) return frames_.memo(id).closed;
  const Closing fits = closing(id);
  Configuration closed;
  if (!fits.survivors.empty() && frames_[id].partial == 0) {
    closed = after_value(frames_[id].parent, fits.survivors, nullptr);
  } else if (!fits.survivors.empty()) {
    closed = after_value(frames_[id].parent, fits.survivors, &fits.value,
                         frames_[id].partial);
    if (frames_[closed].partial != 0 && !unique_.finishes(frame_of(closed))) {
      closed = {};
    }
  }
  frames_.memo(id).closed = closed;
  frames_.memo(id).closed_known = true;
  return closed;
}

Closing Frames::closing(FrameId id) {
  const Frame& frame = frames_[id];
  Closing closing;
  for (const Alternative& alternative : frame.alternatives) {
    bool complete = false;
    if (frame.kind == FrameKind::kObject) {
      complete = solver_.satisfiability().complete(
          alternative.disjunct,
          members_.members_of(alternative.disjunct, members_.progress_of(id),
                              alternative.condition()));
    } else {
      const std::span<const std::uint64_t> counts =
          frames_.counts(alternative.state);
      complete = solver_.satisfiability().complete_array(
          alternative.disjunct, frame.count,
          std::vector<std::uint64_t>(counts.begin(), counts.end() - 1),
          static_cast<std::uint32_t>(counts.back()));
    }
    if (complete) closing.survivors.push_back(alternative.outer);
  }
  std::ranges::sort(closing.survivors);
  closing.survivors.erase(
      std::unique(closing.survivors.begin(), closing.survivors.end()),
      closing.survivors.end());
  if (frame.partial == 0) return closing;
  const Partial value = partials_[frame.partial];
  closing.value = schema_solver::nested_text(print_of(value, value.sum));
  const Frame& outer = frames_[frame.parent];
  std::erase_if(closing.survivors, [&](ConjunctionId conjunction) {
    return std::ranges::none_of(
        outer.alternatives, [&](const Alternative& one) {
          return one.pending == conjunction &&
                 !values_.contains(one.barred, closing.value);
        });
  });
  return closing;
}

// --- Canonical frames. -------------------------------------------------------

// The canonical representative of frames that no token distinguishes.  Frames
// differ by counts that no token can exhaust: an item count further than
// kItemReach from the maximum is moved back to the first index that no minimum
// and no rule about single items distinguishes.  Ancestors are made canonical
// as well.
FrameId Frames::canonical(FrameId id) {
  if (frames_.memo(id).canonical != kUnknown) return frames_.memo(id).canonical;
  // The chain of ancestors is walked without recursion, then converted from the
  // outermost inwards, so each parent is canonical before its child.
  std::vector<FrameId> path;
  for (FrameId at = id; frames_.memo(at).canonical == kUnknown;
       at = frames_[at].parent) {
    path.push_back(at);
    if (frames_[at].kind == FrameKind::kRoot ||
        frames_[at].kind == FrameKind::kDetached) {
      break;
    }
  }
  for (auto it = path.rbegin(); it != path.rend(); ++it) {
    const Frame& frame = frames_[*it];
    Frame same;
    same.kind = frame.kind;
    same.pending = frame.pending;
    same.depth = frame.depth;
    same.parent =
        frame.kind == FrameKind::kRoot || frame.kind == FrameKind::kDetached
            ? kNoFrame
            : frames_.memo(frame.parent).canonical;
    same.count = frame.count;
    same.used = frame.used;
    same.partial = frame.partial;
    same.items = frame.items;
    same.present = frame.present;
    const std::span<const Alternative> now = frame.alternatives;
    if (frame.kind == FrameKind::kArray && now.size() == 1) {
      const schema_solver::ArrayConstraints& disjunct =
          solver_.array(now[0].disjunct);
      const std::uint64_t last_bound = std::max(disjunct.min, disjunct.prefix);
      if (disjunct.max != kUnboundedCount && frame.count > last_bound &&
          disjunct.max - frame.count > kItemReach) {
        same.count = static_cast<std::uint32_t>(last_bound + 1);
      }
    }
    const FrameId made = frames_.intern(same, now);
    frames_.memo(*it).canonical = made;
    frames_.memo(made).canonical = made;
  }
  return frames_.memo(id).canonical;
}

}  // namespace parlance::json_recogniser
