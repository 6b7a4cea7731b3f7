// States and frames: see states.h.

#include "cfg_recogniser/states.h"

#include <algorithm>

#include "base/mix.h"

namespace parlance::cfg_recogniser {

using recogniser::Configuration;

States::States(const NetworkFacts& facts, const Contexts& contexts,
               TableMemory& memory)
    : facts_(facts), memory_(memory), used_(contexts), slots_(contexts) {
  states_.push_back({});  // the dead one
  intern_frame({});       // id 0
}

FrameId States::intern_frame(std::span<const ContextId> contexts) {
  const auto [id, added] = frames_.intern(contexts);
  if (added) memory_.add(frames_.bytes_of(contexts.size()));
  return id;
}

LexId States::intern_state(const Contents& contents) {
  const auto& [items, kernel] = contents;
  std::uint64_t hash = ItemHash()(std::span(items));
  base::mix(hash, ItemHash()(std::span(kernel)));
  const auto known = state_of_.find(hash, [&](LexId id) {
    return states_[id].items == contents.items &&
           states_[id].kernel == contents.kernel;
  });
  if (known) return *known;
  const LexId id{states_.size()};
  states_.push_back({});
  State& state = states_.back();
  state.items = items;
  state.kernel = kernel;
  state.can_end = std::ranges::any_of(items, [&](const Item& item) {
    return item.state == facts_.network.accept;
  });
  state_of_.add(hash, id);
  memory_.add((items.size() + kernel.size()) * sizeof(Item) + sizeof(State) +
              32);
  return id;
}

Configuration States::intern(Contents& contents, bool pure,
                             std::span<const ContextId> slots) {
  // First the slots of the preceding frame that are still used, in their order;
  // then the others in the order of the items.
  slots_.clear();
  if (pure) {
    used_.clear();
    for (const Items* items : {&contents.items, &contents.kernel}) {
      for (const Item& item : *items) used_.add(item.context);
    }
    for (const ContextId slot : slots) {
      if (used_.has(slot)) slots_.add(slot);
    }
  }
  for (Items* items : {&contents.items, &contents.kernel}) {
    for (Item& item : *items) {
      item.context = ContextId{slots_.add(item.context)};
    }
    if (!std::ranges::is_sorted(*items)) std::ranges::sort(*items);
  }
  const FrameId frame = intern_frame(slots_.list());
  return {intern_state(contents), frame, 0, 0};
}

Configuration States::reorder(Configuration config,
                              std::span<const ContextId> slots) {
  contents_of(config, reordered_);
  return intern(reordered_, /*pure=*/true, slots);
}

}  // namespace parlance::cfg_recogniser
