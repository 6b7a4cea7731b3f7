// The table of frames, opening and closing frames, and the effect of a value on
// the frame that it is in.
//
// A frame never changes: each step leads to another frame, which is interned
// (hash-consing), and most steps are memoised in the frame that they start at.

#include <algorithm>

#include "base/mix.h"
#include "base/work.h"
#include "json_recogniser/intern_list.h"
#include "json_recogniser/json_recogniser.h"
#include "json_recogniser/lexemes.h"

namespace parlance::json_recogniser {

using base::mix;
using recogniser::Configuration;
using schema_solver::ConjunctionId;
using schema_solver::DisjunctId;
using schema_solver::JsonType;
using schema_solver::kNothing;
using schema_solver::kUnboundedCount;
using schema_solver::SchemaSolver;

std::uint32_t JsonRecogniser::levels_in(FrameId frame) const {
  const std::uint64_t left = options_.limits.depth - frames_[frame].depth;
  return left > kDepthMargin ? SchemaSolver::kAnyLevels
                             : static_cast<std::uint32_t>(left);
}

JsonRecogniser::FrameId JsonRecogniser::intern(
    Frame frame, std::vector<Alternative> alternatives) {
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
    const Frame& known = frames_[id];
    return known.kind == frame.kind && known.parent == frame.parent &&
           known.count == frame.count && known.used == frame.used &&
           known.present == frame.present && known.partial == frame.partial &&
           known.items == frame.items && known.pending == frame.pending &&
           known.size == alternatives.size() &&
           std::equal(alternatives.begin(), alternatives.end(),
                      alternatives_.begin() + known.first);
  };
  if (const auto known = frame_of_.find(hash, is_same)) return *known;
  const auto id = static_cast<FrameId>(frames_.size());
  frame.first = static_cast<std::uint32_t>(alternatives_.size());
  frame.size = static_cast<std::uint32_t>(alternatives.size());
  if (frame.kind == FrameKind::kArray) {
    for (const Alternative& alternative : alternatives) {
      frame.distinct =
          frame.distinct || solver_.array(alternative.disjunct).unique;
    }
  }
  frame.unique = frame.distinct || frame.partial != 0;
  alternatives_.insert(alternatives_.end(), alternatives.begin(),
                       alternatives.end());
  frames_.push_back(std::move(frame));
  frame_of_.add(hash, id);
  return id;
}

std::vector<ConjunctionId> JsonRecogniser::conjunctions_in(
    const Frame& frame) const {
  std::vector<ConjunctionId> conjunctions;
  DistinctList distinct(conjunctions,
                        [](ConjunctionId id) { return id.value(); });
  for (std::uint32_t i = 0; i < frame.size; ++i) {
    distinct.add(alternatives(frame)[i].pending);
  }
  return conjunctions;
}

// Alternatives of one conjunction bar the same values, unless their arrays
// differ in what later items need.  Inside an item, some values may be barred
// because of what is around them.
UsedValues::Set JsonRecogniser::barred_in(FrameId id,
                                          ConjunctionId conjunction) {
  if (!frames_[id].unique) return UsedValues::kNone;
  const UsedValues::Set inside = frames_[id].partial != 0
                                     ? barred_inside(id, conjunction)
                                     : UsedValues::kNone;
  UsedValues::Set own = barred_by_items(frames_[id], conjunction);
  if (inside == UsedValues::kNone || inside == own) return own;
  if (own == UsedValues::kNone) return inside;
  for (const std::string& value : used_values_.texts(inside)) {
    own = with_value(own, value);
  }
  return own;
}

UsedValues::Set JsonRecogniser::barred_by_items(const Frame& frame,
                                                ConjunctionId conjunction) {
  if (!frame.distinct) return UsedValues::kNone;
  std::vector<UsedValues::Set> sets;
  for (std::uint32_t i = 0; i < frame.size; ++i) {
    const Alternative& alternative = alternatives(frame)[i];
    if (alternative.pending != conjunction) continue;
    if (alternative.barred == UsedValues::kNone) return UsedValues::kNone;
    sets.push_back(alternative.barred);
  }
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  if (sets.size() == 1) return sets.front();
  UsedValues::Set common = UsedValues::kNone;
  for (const std::string& value : used_values_.texts(sets.front())) {
    if (std::all_of(sets.begin(), sets.end(), [&](UsedValues::Set set) {
          return used_values_.contains(set, value);
        })) {
      common = with_value(common, value);
    }
  }
  return common;
}

// The frame of an object or array that opens where frame `id` expects a value;
// 0 if none may come.  Each conjunction of the value contributes its disjuncts
// of that type.
JsonRecogniser::FrameId JsonRecogniser::open(FrameId id, JsonType type) {
  const FrameId made = open_frame(id, type);
  return frames_[made].partial == 0 || finishes(made) ? made : 0;
}

JsonRecogniser::FrameId JsonRecogniser::open_frame(FrameId id, JsonType type) {
  const SchemaSolver::ScopedDepthLimit levels(solver_, levels_in(id));
  const Frame& outer = frames_[id];
  if (outer.depth >= options_.limits.depth) return 0;
  Frame frame;
  frame.kind =
      type == JsonType::kObject ? FrameKind::kObject : FrameKind::kArray;
  frame.parent = id;
  frame.depth = outer.depth + 1;
  if (outer.unique) {
    frame.partial = intern(Partial{.array = type == JsonType::kArray});
  }
  std::vector<Alternative> made;
  for (const ConjunctionId conjunction : conjunctions_in(frames_[id])) {
    for (const DisjunctId disjunct : solver_.disjuncts(conjunction, type)) {
      Alternative alternative{conjunction, disjunct, 0, kNothing};
      if (type == JsonType::kArray) {
        std::vector<std::uint64_t> counts(
            solver_.array(disjunct).counts.size() + 1, 0);
        alternative.state = intern_list(counts_, counts_of_, std::move(counts));
      } else {
        alternative.state = solver_.object(disjunct).condition;
      }
      made.push_back(alternative);
    }
  }
  return made.empty() ? 0 : intern(std::move(frame), std::move(made));
}

// Drops each alternative of an array of which another one is further in every
// count and has found at least the same witnesses: what completes the one also
// completes the other.  A count with a maximum has to be equal.
void JsonRecogniser::drop_dominated(std::vector<Alternative>& list) {
  if (list.size() < 2) return;
  const auto dominates = [&](const Alternative& more, const Alternative& less) {
    if (more.outer != less.outer || more.disjunct != less.disjunct ||
        more.state == less.state) {
      return false;
    }
    const auto& limits = solver_.array(more.disjunct).counts;
    const std::vector<std::uint64_t>& a = counts_[more.state];
    const std::vector<std::uint64_t>& b = counts_[less.state];
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

// The set of values with one more.
UsedValues::Set JsonRecogniser::with_value(UsedValues::Set values,
                                           const std::string& value) {
  const UsedValues::Set made = with_text(values, value);
  if (made != values &&
      value_set_from_.try_emplace(made, values, value).second) {
    list_bytes_ += 96 + value.size();
  }
  return made;
}

// The texts under which a set has a value.  A number is there in each spelling
// that can be followed byte by byte: without an exponent, unless that would be
// long.
std::vector<std::string> JsonRecogniser::spellings(
    const std::string& value) const {
  constexpr std::int64_t kMostZeros = schema::kMaxNumberDigits;
  std::vector<std::string> texts = {value};
  const bool number = value[0] == '-' || (value[0] >= '0' && value[0] <= '9');
  if (!number || value.find('e') == std::string::npos) return texts;
  const auto decimal = base::Decimal::from_json(value);
  if (!decimal || decimal->exponent > kMostZeros ||
      decimal->exponent < -kMostZeros) {
    return texts;
  }
  std::string plain = decimal->digits;
  if (decimal->exponent >= 0) {
    plain.append(static_cast<std::size_t>(decimal->exponent), '0');
  } else {
    const auto places = static_cast<std::size_t>(-decimal->exponent);
    if (plain.size() <= places) {
      plain.insert(0, places + 1 - plain.size(), '0');
    }
    plain.insert(plain.size() - places, ".");
  }
  texts.push_back((decimal->negative ? "-" : "") + plain);
  return texts;
}

// The set with one more item.
UsedValues::Set JsonRecogniser::with_used(UsedValues::Set values,
                                          const std::string& value) {
  for (const std::string& one : spellings(value)) {
    values = with_value(values, one);
  }
  return values;
}

// An alternative survives if its conjunction is among `survivors` and it does
// not bar the value.  Alternatives that become equal are merged.
//
// Invariant of the memo: Frame::after_all is the result if every alternative
// survives and no value is remembered, which is the usual case.
JsonRecogniser::FrameId JsonRecogniser::frame_after_value(
    FrameId id, const std::vector<ConjunctionId>& survivors,
    const std::string* unique_value, std::uint32_t nested) {
  const Frame& frame = frames_[id];
  const bool remember = frame.unique && unique_value != nullptr;
  if (frame.size == 1 && !remember && frame.after_all != kUnknown) {
    return frame.after_all;
  }
  // Step 1: the alternatives that survive.
  std::vector<Alternative> left;
  bool all = true;
  for (std::uint32_t i = 0; i < frame.size; ++i) {
    Alternative alternative = alternatives(frame)[i];
    if (std::find(survivors.begin(), survivors.end(), alternative.pending) ==
            survivors.end() ||
        (remember &&
         used_values_.contains(alternative.barred, *unique_value))) {
      all = false;
      continue;
    }
    alternative.pending = kNothing;
    alternative.barred = UsedValues::kNone;
    if (std::find(left.begin(), left.end(), alternative) == left.end()) {
      left.push_back(alternative);
    }
  }
  if (all && !remember && frame.after_all != kUnknown) return frame.after_all;
  if (left.empty()) return 0;
  if (frame.kind == FrameKind::kArray) drop_dominated(left);
  // Step 2: the frame without a pending value.  With uniqueItems, the set of
  // values gets this one.
  Frame next;
  next.kind = frame.kind;
  next.depth = frame.depth;
  next.parent = frame.parent;
  next.count = frame.count;
  next.used = remember && frame.distinct ? with_used(frame.used, *unique_value)
                                         : frame.used;
  next.items = remember && frame.distinct && nested != 0
                   ? with_item(frame.items, nested)
                   : frame.items;
  next.partial = remember && frame.partial != 0
                     ? with_part(frame.partial, *unique_value, nested)
                     : frame.partial;
  next.present = frame.present;
  const FrameId made = intern(std::move(next), std::move(left));
  if (all && !remember) frames_[id].after_all = made;
  return made;
}

Configuration JsonRecogniser::after_value(
    FrameId frame, const std::vector<ConjunctionId>& survivors,
    const std::string* unique_value, std::uint32_t nested) {
  if (frames_[frame].kind == FrameKind::kDetached) {
    if (frames_[frame].size == 1) return left_value(frame, {});
    std::vector<ConjunctionId> sorted = survivors;
    std::sort(sorted.begin(), sorted.end());
    return left_value(
        frame, {.fulfilled =
                    intern_list(survivors_, survivors_of_, std::move(sorted))});
  }
  const Kind kind =
      frames_[frame].kind == FrameKind::kRoot ? Kind::kEnd : Kind::kAfter;
  const FrameId after =
      frame_after_value(frame, survivors, unique_value, nested);
  if (after == 0) return {};
  return {static_cast<LexId>(kind), after, 0, 0};
}

// The configuration after the bracket that closes frame `id`: in the parent
// frame, the conjunctions survive of which an alternative is complete.  Dead if
// there are none.
Configuration JsonRecogniser::close(FrameId id) {
  if (frames_[id].closed_known) return frames_[id].closed;
  const Closing fits = closing(id);
  Configuration closed;
  if (!fits.survivors.empty() && frames_[id].partial == 0) {
    closed = after_value(frames_[id].parent, fits.survivors, nullptr);
  } else if (!fits.survivors.empty()) {
    closed = after_value(frames_[id].parent, fits.survivors, &fits.value,
                         frames_[id].partial);
    if (frames_[closed.frame].partial != 0 && !finishes(closed.frame)) {
      closed = {};
    }
  }
  frames_[id].closed = closed;
  frames_[id].closed_known = true;
  return closed;
}

// --- Canonical frames. -------------------------------------------------------

// The canonical representative of frames that no token distinguishes.  Frames
// differ by counts that no token can exhaust: an item count further than
// kItemReach from the maximum is moved back to the first index that no minimum
// and no rule about single items distinguishes.  Ancestors are made canonical
// as well.
JsonRecogniser::FrameId JsonRecogniser::canonical(FrameId id) {
  if (frames_[id].canonical != kUnknown) return frames_[id].canonical;
  // The chain of ancestors is walked without recursion, then converted from the
  // outermost inwards, so each parent is canonical before its child.
  std::vector<FrameId> path;
  for (FrameId at = id; frames_[at].canonical == kUnknown;
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
            ? 0
            : frames_[frame.parent].canonical;
    same.count = frame.count;
    same.used = frame.used;
    same.partial = frame.partial;
    same.items = frame.items;
    same.present = frame.present;
    const std::vector<Alternative> now(alternatives(frame),
                                       alternatives(frame) + frame.size);
    if (frame.kind == FrameKind::kArray && now.size() == 1) {
      const schema_solver::ArrayConstraints& disjunct =
          solver_.array(now[0].disjunct);
      const std::uint64_t last_bound = std::max(disjunct.min, disjunct.prefix);
      if (disjunct.max != kUnboundedCount && frame.count > last_bound &&
          disjunct.max - frame.count > kItemReach) {
        same.count = static_cast<std::uint32_t>(last_bound + 1);
      }
    }
    const FrameId made = intern(std::move(same), now);
    frames_[*it].canonical = made;
    frames_[made].canonical = made;
  }
  return frames_[id].canonical;
}

}  // namespace parlance::json_recogniser
