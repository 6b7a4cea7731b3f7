// The next item of an array.
//
// An array's rules about single items ("items", "prefixItems") depend on the
// index alone.  Two kinds of rules are about the whole array: counts (between
// `min` and `max` items fulfil a literal, from "contains") and witnesses (some
// item from an index on fulfils a literal).  Such a rule is decided item by
// item: an alternative branches into "this item fulfils the literal" and "it
// need not, or must not", and remembers the count, or that a witness was found.

#include <algorithm>

#include "json_recogniser/frames.h"
#include "schema_solver/contains.h"

namespace parlance::json_recogniser {

using schema_solver::ConjunctionId;
using schema_solver::JsonType;
using schema_solver::kUnboundedCount;
using schema_solver::SchemaSolver;

// Adds the choice, unless it serves too many rules or no item can fulfil it:
// then neither can any choice that it branches into.
void Frames::add_choice(std::vector<ItemChoice>& list, std::size_t most,
                        ItemChoice choice) {
  if (choice.served <= most && solver_.satisfiable(choice.conjunction)) {
    list.push_back(std::move(choice));
  }
}

// Each choice branches on whether the item serves the count.  A count without
// a maximum has no use for the negated literal: the item may still fulfil it.
void Frames::branch_on_count(const schema_solver::ItemCount& count,
                             std::size_t index, std::size_t most,
                             std::vector<ItemChoice>& choices) {
  std::vector<ItemChoice> more;
  const bool bounded = count.max != kUnboundedCount;
  for (const ItemChoice& choice : choices) {
    ItemChoice with{solver_.with(choice.conjunction, count.literal),
                    choice.counts, choice.served + 1};
    // Without a maximum the count saturates at the minimum.
    if (bounded || with.counts[index] < count.min) ++with.counts[index];
    if (with.counts != choice.counts) add_choice(more, most, std::move(with));
    add_choice(more, most,
               {bounded ? solver_.with(choice.conjunction,
                                       schema_solver::negation(count.literal))
                        : choice.conjunction,
                choice.counts, choice.served});
  }
  choices = std::move(more);
}

// Each choice that has not found the witness branches on whether the item is
// one.
void Frames::branch_on_witness(schema_solver::Literal literal,
                               std::size_t index, std::size_t most,
                               std::vector<ItemChoice>& choices) {
  std::vector<ItemChoice> more;
  for (const ItemChoice& choice : choices) {
    if ((choice.counts.back() >> index & 1) != 0) {
      more.push_back(choice);
      continue;
    }
    ItemChoice with{solver_.with(choice.conjunction, literal), choice.counts,
                    choice.served + 1};
    with.counts.back() |= std::uint64_t{1} << index;
    add_choice(more, most, std::move(with));
    more.push_back(choice);
  }
  choices = std::move(more);
}

// What the next item of the alternative may be, with the rules that it serves.
//
// The choices start with the rules for this index alone, and branch on each
// count, then on each witness that is not found yet and may stand at this
// index.
std::vector<Frames::ItemChoice> Frames::item_choices(
    const Frame& frame, const Alternative& alternative) {
  const schema_solver::ArrayConstraints& disjunct =
      solver_.array(alternative.disjunct);
  const std::span<const std::uint64_t> counts =
      frames_.counts(alternative.state);
  std::vector<ItemChoice> choices = {
      {solver_.item_conjunction(alternative.disjunct, frame.count),
       {counts.begin(), counts.end()}}};
  const std::size_t most = schema_solver::rules_at_once(
      disjunct.counts.size() + disjunct.witnesses.size());
  for (std::size_t i = 0; i < disjunct.counts.size(); ++i) {
    branch_on_count(disjunct.counts[i], i, most, choices);
  }
  for (std::size_t i = 0; i < disjunct.witnesses.size(); ++i) {
    const bool found = alternative.state != 0 && (counts.back() >> i & 1) != 0;
    if (found || frame.count < disjunct.witnesses[i].first) continue;
    branch_on_witness(disjunct.witnesses[i].second, i, most, choices);
  }
  return choices;
}

// The frame in which the next item comes, though all values may have been
// used; 0 if there can be none.
//
// Invariant: each alternative of the result is satisfiable by some item, after
// which the array can be completed.  So the result is 0 exactly if no item may
// come.
FrameId Frames::make_next_item(FrameId id) {
  const schema_solver::ScopedDepthLimit levels(solver_.satisfiability(),
                                               frames_.levels_in(id));
  const Frame& frame = frames_[id];
  std::uint64_t cap = 0;
  std::vector<Alternative> made;
  const schema_solver::IsUsed is_used = [this, id](std::string_view value) {
    return values_.contains(frames_[id].used, value);
  };
  const std::span<const Alternative> now = frame.alternatives;
  for (const Alternative& alternative : now) {
    const schema_solver::ArrayConstraints& disjunct =
        solver_.array(alternative.disjunct);
    cap = std::max({cap, disjunct.prefix, disjunct.min});
    if (disjunct.max != kUnboundedCount) cap = std::max(cap, disjunct.max);
    if (frame.count >= disjunct.max) continue;
    // The choices that an item can fulfil, and that leave an array that can be
    // completed, become alternatives.
    for (ItemChoice& choice : item_choices(frame, alternative)) {
      if (!solver_.satisfiable(choice.conjunction)) continue;
      std::vector<std::uint64_t> counted(choice.counts.begin(),
                                         choice.counts.end() - 1);
      const std::optional<std::vector<schema_solver::ValueText>> needed =
          solver_.satisfiability().barred_before(
              alternative.disjunct, std::uint64_t{frame.count} + 1, counted,
              static_cast<std::uint32_t>(choice.counts.back()), is_used);
      if (!needed) continue;
      UsedValues::Set barred = UsedValues::kNone;
      if (disjunct.unique) {
        barred = frames_[id].used;
        for (const std::string& value : *needed) {
          barred = values_.with_spellings(barred, value);
        }
      }
      made.push_back({alternative.outer, alternative.disjunct,
                      frames_.intern_counts(choice.counts), choice.conjunction,
                      barred});
    }
  }
  Frame next;
  next.kind = FrameKind::kArray;
  next.pending = true;
  next.depth = frame.depth;
  next.parent = frame.parent;
  next.used = frame.used;
  // Beyond every bound and every index with rules of its own, counts behave
  // alike: `cap` stands for them.
  next.count = static_cast<std::uint32_t>(
      std::min({std::uint64_t{frame.count} + 1, cap, kMostCounted}));
  next.items = frame.items;
  if (frame.partial != 0) next.partial = partials_.with_index(frame.partial);
  return made.empty() ? kNoFrame : frames_.intern(next, made);
}

}  // namespace parlance::json_recogniser
