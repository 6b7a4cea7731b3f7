// The next item of an array.
//
// An array's rules about single items ("items", "prefixItems") depend on the
// index alone.  Two kinds of rules are about the whole array: counts (between
// `min` and `max` items fulfil a literal, from "contains") and witnesses (some
// item from an index on fulfils a literal).  Such a rule is decided item by
// item: an alternative branches into "this item fulfils the literal" and "it
// need not, or must not", and remembers the count, or that a witness was found.

#include <algorithm>

#include "json_recogniser/intern_list.h"
#include "json_recogniser/json_recogniser.h"
#include "schema_solver/contains.h"

namespace parlance::json_recogniser {

using schema_solver::ConjunctionId;
using schema_solver::JsonType;
using schema_solver::kUnboundedCount;
using schema_solver::SchemaSolver;

// The frame in which the next item comes; 0 if there can be none.
//
// Invariant: each alternative of the result is satisfiable by some item, after
// which the array can be completed.  So the result is 0 exactly if no item may
// come.
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
  for (const Alternative& alternative : now) {
    const schema_solver::ArrayConstraints& disjunct =
        solver_.array(alternative.disjunct);
    cap = std::max({cap, disjunct.prefix, disjunct.min});
    if (disjunct.max != kUnboundedCount) cap = std::max(cap, disjunct.max);
    if (frame.count >= disjunct.max) continue;
    // A choice says which counts and witnesses this item serves.  `counts` is
    // as in Alternative::state: a number per count, then a bit per witness.
    // The choices start with the rules for this index alone.
    struct Choice {
      ConjunctionId conjunction;
      std::vector<std::uint64_t> counts;
      std::size_t served = 0;  // rules that the item fulfils on purpose
    };
    std::vector<Choice> choices = {
        {solver_.item_conjunction(alternative.disjunct, frame.count),
         counts_[alternative.state]}};
    const std::size_t most = schema_solver::rules_at_once(
        disjunct.counts.size() + disjunct.witnesses.size());
    // A choice that no item can fulfil is of no use, and neither is any choice
    // that it branches into.
    const auto add = [&](std::vector<Choice>& list, Choice choice) {
      if (choice.served <= most && solver_.satisfiable(choice.conjunction)) {
        list.push_back(std::move(choice));
      }
    };
    // Step 1: each choice branches on each count.  A count without a maximum
    // has no use for the negated literal: the item may still fulfil it.
    for (std::size_t i = 0; i < disjunct.counts.size(); ++i) {
      const schema_solver::ItemCount& count = disjunct.counts[i];
      std::vector<Choice> more;
      for (const Choice& choice : choices) {
        Choice with{solver_.with(choice.conjunction, count.literal),
                    choice.counts, choice.served + 1};
        // Without a maximum the count saturates at the minimum.
        if (count.max != kUnboundedCount || with.counts[i] < count.min) {
          ++with.counts[i];
        }
        const bool bounded = count.max != kUnboundedCount;
        if (with.counts != choice.counts) add(more, std::move(with));
        add(more,
            {bounded ? solver_.with(choice.conjunction,
                                    schema_solver::negation(count.literal))
                     : choice.conjunction,
             choice.counts, choice.served});
      }
      choices = std::move(more);
    }
    // Step 2: each choice branches on each witness that is not found yet and
    // may stand at this index.
    for (std::size_t i = 0; i < disjunct.witnesses.size(); ++i) {
      if ((alternative.state != 0 &&
           (counts_[alternative.state].back() >> i & 1) != 0) ||
          frame.count < disjunct.witnesses[i].first) {
        continue;
      }
      std::vector<Choice> more;
      for (const Choice& choice : choices) {
        if ((choice.counts.back() >> i & 1) != 0) {
          more.push_back(choice);
          continue;
        }
        Choice with{
            solver_.with(choice.conjunction, disjunct.witnesses[i].second),
            choice.counts, choice.served + 1};
        with.counts.back() |= std::uint64_t{1} << i;
        add(more, std::move(with));
        more.push_back(choice);
      }
      choices = std::move(more);
    }
    // Step 3: the choices that an item can fulfil, and that leave an array
    // that can be completed, become alternatives.
    for (Choice& choice : choices) {
      if (!solver_.satisfiable(choice.conjunction)) continue;
      std::vector<std::uint64_t> counted(choice.counts.begin(),
                                         choice.counts.end() - 1);
      if (!solver_.completable_array(
              alternative.disjunct, std::uint64_t{frame.count} + 1, counted,
              static_cast<std::uint32_t>(choice.counts.back()))) {
        continue;
      }
      made.push_back(
          {alternative.outer, alternative.disjunct,
           intern_list(counts_, counts_of_, std::move(choice.counts)),
           choice.conjunction});
    }
  }
  // Beyond every bound and every index with rules of its own, counts behave
  // alike: `cap` stands for them.
  next.count = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::uint64_t{frame.count} + 1, cap));
  FrameId result = 0;
  if (!made.empty()) {
    const bool unique = frame.unique;
    result = intern(std::move(next), std::move(made));
    // With uniqueItems, all values that fit may have been used already.
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
