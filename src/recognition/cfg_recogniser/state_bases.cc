// States that are another state and a few literals: see state_bases.h.

#include "cfg_recogniser/state_bases.h"

#include <algorithm>
#include <cstddef>

#include "base/byte_set.h"

namespace parlance::cfg_recogniser {

using recogniser::Configuration;

namespace {

// A state with more literals beside its base, or with more slots, has no base.
constexpr std::size_t kMostLiterals = 8;
constexpr std::size_t kMostSlots = 32;

}  // namespace

void StateBases::note(ShapeId shape, const MadeOfKernel& part,
                      std::span<const Item> literals, Configuration to) {
  const std::span<const ContextId> frame = states_.frame(to.frame);
  if (facts_.counts_tokens || literals.size() > kMostLiterals ||
      frame.size() > kMostSlots) {
    return;
  }
  StateBase made{.lex = LexId{part.to.lex}};
  for (const Item& item : literals) {
    if (facts_.state_of(item).action != Action::kBytes) return;
    base::add_byte(made.others, facts_.next_byte(item));
  }
  const StateBase*& base = states_[to.lex].base;
  if (base == nullptr) {
    numbers_.clear();
    for (const ContextId context : states_.frame(part.to.frame)) {
      const auto at = std::ranges::find(frame, context);
      numbers_.push_back(static_cast<std::uint32_t>(at - frame.begin()));
    }
    made.slots = slot_lists_.add(numbers_);
    made.frame_size = static_cast<std::uint32_t>(frame.size());
    memory_.add(sizeof(StateBase) + made.slots.size() * sizeof(std::uint32_t));
    bases_.push_back(made);
    base = &bases_.back();
  }
  // The order of the slots of a pure closure depends on the frame before.
  if (part.pure || base->lex != made.lex) return;
  if (made_of_.emplace(pair_key(shape, made.lex), LexId{to.lex}).second) {
    memory_.add(48);
  }
}

// Puts the contexts of the part and of the literals into the slots in which
// they are in the state.  They are alike if that gives each slot one context
// and each context one slot.
Configuration StateBases::find(ShapeId shape, const MadeOfKernel& part,
                               std::span<const Item> literals) {
  if (part.pure) return {};
  const auto known = made_of_.find(pair_key(shape, part.to.lex));
  if (known == made_of_.end()) return {};
  const State& to = states_[known->second];
  constexpr ContextId kNone{0xFFFFFFFF};
  frame_.assign(to.base->frame_size, kNone);
  const auto put = [&](std::uint32_t slot, ContextId context) {
    std::uint32_t& of = slots_[context];
    if (of < frame_.size() && frame_[of] == context) return of == slot;
    if (frame_[slot] != kNone) return false;
    of = slot;
    frame_[slot] = context;
    return true;
  };
  const std::span<const ContextId> contexts = states_.frame(part.to.frame);
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    if (!put(to.base->slots[i], contexts[i])) return {};
  }
  for (const Item& item : literals) {
    // In a place of its own, so that there is one item.
    auto at = std::ranges::lower_bound(to.items, item.state, {}, &Item::state);
    while (at != to.items.end() && at->inner != item.inner) ++at;
    if (at == to.items.end() || at->state != item.state ||
        !put(at->context, item.context)) {
      return {};
    }
  }
  return {known->second, states_.intern_frame(frame_), 0, 0};
}

Configuration StateBases::base_of(Configuration config) {
  const StateBase* const base = states_[config.lex].base;
  if (base == nullptr) return {};
  const std::span<const ContextId> frame = states_.frame(config.frame);
  frame_.clear();
  for (const std::uint32_t slot : base->slots) frame_.push_back(frame[slot]);
  return {base->lex, states_.intern_frame(frame_), 0, 0};
}

}  // namespace parlance::cfg_recogniser
