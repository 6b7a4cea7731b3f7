// Which contexts make others redundant: see simulation.h.

#include "cfg_recogniser/simulation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "base/work.h"

namespace parlance::cfg_recogniser {
namespace {

// The number of pairs of contexts, and of items, that subsumed() may compare.
// Beyond it the result is false, and a redundant context may stay.
constexpr std::size_t kMostPairs = 128;
constexpr std::size_t kMostItems = 4000;
// The number of pairs after which a closure compares no more contexts.  Of
// hundreds of rules that call each other, each may be a local context with
// hundreds of callers.  Where a comparison gives up, those of similar contexts
// do too, so it counts as several.
constexpr std::size_t kMostPairsOfClosure = 4000;
constexpr std::size_t kPairsOfGivingUp = 800;
// While there are fewer assumptions and fewer items, a pair that is known to
// hold is compared again, so that the read set names contents and not
// identities.
constexpr std::size_t kExpandedPairs = 16;
constexpr std::size_t kExpandedItems = 256;
// An answer no that depends on more contexts is not stored with them.
constexpr std::size_t kMostCompared = 32;
// The items or contexts that are compared in the time of a step.
constexpr std::size_t kComparedPerStep = 8;
// How many items of the same state each item is compared with.
constexpr std::size_t kNeighbours = 8;

}  // namespace

void Simulation::begin(Trace* trace) {
  trace_ = trace;
  recorded_pairs_.clear();
  pairs_of_all_ = pairs_ = 0;
  gave_up_ = false;
}

// Whether `b` accepts all that `a` accepts, were their contexts equal.
bool Simulation::covers(const Item& b, const Item& a) const {
  if (a.state != b.state) return false;
  const NetworkState& state = network_.states[a.state];
  if (a.inner != b.inner) {
    return state.action == Action::kCall && a.inner != 0 && b.inner != 0 &&
           !is_outward(a) && !is_outward(b) &&
           covers(activations_.of(b), activations_.of(a),
                  network_.rules[state.index]);
  }
  if (a.count == b.count) return true;
  return (state.action == Action::kCount ||
          state.action == Action::kCountClass) &&
         b.count < a.count && b.count >= state.min;
}

// Whether activation `b` of `rule` accepts all that `a` accepts: it has read
// the same, and its budgets are not smaller.  An activation that ends where it
// may, or that ends in another way once its budget is used up, is not compared;
// nor is one with activations inside, which have budgets of their own.
bool Simulation::covers(const RuleActivation& b, const RuleActivation& a,
                        const NetworkRule& rule) const {
  return !rule.lazy && rule.options.marker == rules::kNoExpr &&
         b.budget.chars >= a.budget.chars &&
         b.budget.tokens >= a.budget.tokens && b.kernel == a.kernel &&
         a.reach == 0 && b.reach == 0 &&
         std::ranges::none_of(a.kernel, [&](const Item& item) {
           return network_.states[item.state].action == Action::kCall &&
                  item.inner != 0;
         });
}

// The entry of a pair in assumed_at_; 0 if the pair is not assumed.
//
// A search ends at an entry that is 0, so entries of assumptions that were
// withdrawn stay, and are void.  The table does not fill: each subsumed()
// clears it, and makes at most kMostPairs assumptions.
std::uint16_t& Simulation::assumption(ContextId a, ContextId b) {
  static_assert(kMostPairs * 2 < std::tuple_size_v<decltype(assumed_at_)>);
  const std::pair pair(a, b);
  const std::uint64_t hash = pair_key(a, b) * 0x9E3779B97F4A7C15;
  for (std::size_t at = hash >> 55;; at = (at + 1) % assumed_at_.size()) {
    std::uint16_t& entry = assumed_at_[at];
    if (entry == 0) return entry;
    if (entry <= assumed_.size() && assumed_[entry - 1U] == pair) return entry;
  }
}

// Whether `b` accepts all that `a` accepts: each item of `a` is covered by one
// of `b`, and the context of the one by that of the other.
//
// Invariant: assumed_ has the pairs that are assumed or were found to hold
// under these assumptions, taken_ those whose answer yes is known from before.
// When a pair is found not to hold, both lists are cut back to their sizes
// before it, because the conclusions from it are void.  compared_ is not cut
// back: the answer yes depends on the assumptions that remain in the end, the
// answer no on every pair that was compared.
//
// Recursive: at most kMostPairs deep.
bool Simulation::holds(ContextId a, ContextId b) {
  // Answers that need no comparison: the contexts are the same, the pair was
  // found to hold for an item before, or it is assumed, or known.
  a = locals_.settled(a);
  b = locals_.settled(b);
  if (a == b) return true;
  if (!is_local(a)) compared_.push_back(a);
  if (!is_local(b)) compared_.push_back(b);
  if (a == kOutermost || b == kOutermost) return false;
  const bool kept = !is_local(a) && !is_local(b);
  const std::uint64_t key = pair_key(a, b);
  if (recorded_pairs_.has(key)) return true;
  std::uint16_t& assumed = assumption(a, b);
  if (assumed != 0) return true;
  if (kept) {
    if (const auto known = contexts_.find_subsumption(a, b)) {
      if (!known->holds) return take_compared(known->compared);
      if (assumed_.size() >= kExpandedPairs || items_ >= kExpandedItems) {
        taken_.emplace_back(a, b);
        return true;
      }
    }
  }
  if (++pairs_ > kMostPairs || items_ > kMostItems ||
      !locals_.spend(1 + locals_.content_of(a).size() / 4)) {
    gave_up_ = true;
    return false;
  }
  // From here on the pair is assumed, so that a cycle back to it ends.
  const std::size_t mark = assumed_.size();
  const std::size_t mark_taken = taken_.size();
  const std::size_t mark_compared = compared_.size() - (kept ? 2 : 0);
  assumed_.emplace_back(a, b);
  if (assumed == 0) {
    assumed_entries_.push_back(
        static_cast<std::uint16_t>(&assumed - assumed_at_.data()));
  }
  assumed = static_cast<std::uint16_t>(assumed_.size());
  // Contents are sorted by state, so `first` only moves on.  Most items of two
  // lists of hundreds name the same two contexts, which are compared once: that
  // pair is `held` in `held_by`.
  const std::span<const Item> of_b = locals_.content_of(b);
  auto first = of_b.begin();
  ContextId held = kOutermost;
  ContextId held_by = kOutermost;
  const bool all =
      std::ranges::all_of(locals_.content_of(a), [&](const Item& item) {
        while (first != of_b.end() && first->state < item.state) ++first;
        for (auto at = first; at != of_b.end() && at->state == item.state;
             ++at) {
          ++items_;
          if (!covers(*at, item)) continue;
          if (item.context == held && at->context == held_by) return true;
          if (!holds(item.context, at->context)) continue;
          held = item.context;
          held_by = at->context;
          return true;
        }
        return false;
      });
  if (all) return true;
  assumed_.resize(mark);
  taken_.resize(mark_taken);
  // A search that gave up has found nothing out.
  if (kept && !gave_up_) {
    contexts_.remember_subsumption(
        a, b, {.holds = false, .compared = compared_since(mark_compared)});
  }
  return false;
}

// The answer no to a pair depends on what was compared to find it, now as then.
bool Simulation::take_compared(ReadSetId read_set) {
  if (read_set == Contexts::kTooMany) {
    too_many_compared_ = true;
  } else {
    const std::span<const ContextId> contexts = read_sets_[read_set];
    compared_.insert(compared_.end(), contexts.begin(), contexts.end());
  }
  return false;
}

ReadSetId Simulation::compared_since(std::size_t mark) {
  if (too_many_compared_) return Contexts::kTooMany;
  std::vector<ContextId> contexts(
      compared_.begin() + static_cast<std::ptrdiff_t>(mark), compared_.end());
  std::sort(contexts.begin(), contexts.end());
  contexts.erase(std::unique(contexts.begin(), contexts.end()), contexts.end());
  if (contexts.size() > kMostCompared) return Contexts::kTooMany;
  return read_sets_.intern(contexts);
}

// Whether context `b` subsumes context `a`; false if that is not found.
bool Simulation::subsumed(ContextId a, ContextId b) {
  pairs_of_all_ += std::exchange(pairs_, 0) + (gave_up_ ? kPairsOfGivingUp : 0);
  gave_up_ = false;
  if (pairs_of_all_ > kMostPairsOfClosure) return false;
  assumed_.clear();
  for (const std::uint16_t entry : assumed_entries_) assumed_at_[entry] = 0;
  assumed_entries_.clear();
  items_ = 0;
  taken_.clear();
  compared_.clear();
  too_many_compared_ = false;
  const bool all = holds(a, b);
  locals_.spend(1 + (items_ + compared_.size()) / kComparedPerStep);
  if (trace_ != nullptr) {
    for (const ContextId context : compared_) trace_->compared.add(context);
    if (too_many_compared_) trace_->compared_too_many = true;
  }
  if (!all) return false;
  for (const auto& [one, other] : assumed_) {
    if (is_local(one) || is_local(other)) continue;
    contexts_.remember_subsumption(one, other, {.holds = true});
  }
  return true;
}

// Adds the pairs that the last subsumed() compared to the read set: its result
// holds wherever those contexts have the same contents, and for pairs that were
// known, wherever they are the same contexts.
void Simulation::record_pairs() {
  for (const auto& [one, other] : assumed_) {
    if (trace_ != nullptr) {
      if (!is_local(one)) trace_->reads.add(one);
      if (!is_local(other)) trace_->reads.add(other);
    }
    recorded_pairs_.insert(pair_key(one, other));
  }
  if (trace_ == nullptr) return;
  for (const auto& [one, other] : taken_) {
    trace_->reads.add_by_identity(one);
    trace_->reads.add_by_identity(other);
  }
}

// Where two contexts have hundreds of states in common, they are compared once:
// `known` has the last two answers.
//
// Invariant of the loops: of two items that were compared and are not gone,
// neither is redundant beside the other.  Items are sorted by state and then by
// context, and of two equivalent ones the later is dropped, so the one with the
// older context stays.
bool Simulation::drop_redundant(Items& items) {
  const auto first = std::ranges::adjacent_find(items, {}, &Item::state);
  if (first == items.end()) return false;
  std::vector<bool>& gone = gone_;
  gone.assign(items.size(), false);
  bool any = false;
  struct Answer {
    ContextId a = kOutermost;
    ContextId b = kOutermost;
    bool holds = true;
  };
  std::array<Answer, 2> known;
  const auto redundant = [&](ContextId a, ContextId b) {
    for (const Answer& one : known) {
      if (one.a == a && one.b == b) return one.holds;
    }
    known[1] = known[0];
    known[0] = {a, b, subsumed(a, b)};
    if (known[0].holds) record_pairs();
    return known[0].holds;
  };
  for (auto i = static_cast<std::size_t>(first - items.begin());
       i < items.size(); ++i) {
    const std::size_t last = std::min(items.size(), i + 1 + kNeighbours);
    if (!base::work_left()) break;
    for (std::size_t j = i + 1; j < last && !gone[i]; ++j) {
      if (items[j].state != items[i].state) break;
      if (gone[j]) continue;
      if (covers(items[i], items[j]) &&
          redundant(items[j].context, items[i].context)) {
        gone[j] = any = true;
      } else if (covers(items[j], items[i]) &&
                 redundant(items[i].context, items[j].context)) {
        gone[i] = any = true;
      }
    }
  }
  if (!any) return false;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!gone[i]) items[kept++] = items[i];
  }
  items.resize(kept);
  return true;
}

ContextId Simulation::older_equal(std::uint32_t index) {
  const ContextId context = local_context(index);
  std::array<ContextId, kNeighbours> tried;
  std::size_t count = 0;
  for (const Item& item : locals_[index].content) {
    const ContextId other = locals_.settled(item.context);
    if (is_local(other) || other == kOutermost) continue;
    const auto last = tried.begin() + static_cast<std::ptrdiff_t>(count);
    if (std::find(tried.begin(), last, other) != last) continue;
    if (count == kNeighbours) break;
    tried[count++] = other;
    // Equivalent if each subsumes the other.  The second comparison overwrites
    // what the first has found out, and the result depends on both.
    if (!subsumed(context, other)) continue;
    const auto assumed = assumed_;
    const auto taken = taken_;
    if (!subsumed(other, context)) continue;
    record_pairs();
    assumed_ = assumed;
    taken_ = taken;
    record_pairs();
    return other;
  }
  return ContextId{kLocal};
}

}  // namespace parlance::cfg_recogniser
