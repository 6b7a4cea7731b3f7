// Adopting a configuration of another recogniser of the same network: see
// cfg_recogniser.h.
//
// An item refers to states of the network, which both recognisers share, and to
// interned objects: its context, its activation, the configuration of a schema.
// These are interned here again, with everything that they refer to.  Of an
// activation only the kernel is copied; its closure is computed again.

#include <algorithm>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/work.h"
#include "cfg_recogniser/tables.h"

namespace parlance::cfg_recogniser {

using recogniser::Configuration;

// The copy of a set of items, with everything it refers to.
class CfgRecogniser::Adoption {
 public:
  Adoption(CfgRecogniser& from, CfgRecogniser& to)
      : owner_from_(from),
        owner_to_(to),
        from_(*from.tables_),
        to_(*to.tables_) {}

  // Replaces the items of `from` by items of `to`.  False if no text leads to a
  // configuration of a schema.
  bool take(Items& items) {
    if (!find_contexts(items)) return false;
    make_contexts();
    for (Item& item : items) item = made(item);
    return true;
  }

 private:
  // Collects all contexts that are reachable from the items, sorted by id, and
  // adopts the configurations of schemas on the way.
  bool find_contexts(const Items& items) {
    base::spend_work(1 + items.size() / 4);
    std::vector<ContextId> left;
    std::vector<ActivationId> left_activations;
    const auto meet = [&](const Item& item) {
      if (item.context != kOutermost &&
          context_of_.try_emplace(item.context, kOutermost).second) {
        contexts_.push_back(item.context);
        left.push_back(item.context);
      }
      if (to_.activations.begun(item) &&
          activation_of_.try_emplace(item.inner, ActivationId{}).second) {
        left_activations.emplace_back(item.inner);
      }
      return take_config(item);
    };
    if (!std::ranges::all_of(items, meet)) return false;
    const auto meet_all = [&](std::span<const Item> content) {
      base::spend_work(1 + content.size() / 4);
      return std::ranges::all_of(content, meet);
    };
    while (!left.empty() || !left_activations.empty()) {
      if (!left.empty()) {
        const ContextId context = left.back();
        left.pop_back();
        if (!meet_all(from_.contexts[context])) return false;
      } else {
        const ActivationId id = left_activations.back();
        left_activations.pop_back();
        if (!meet_all(from_.activations[id].kernel)) return false;
      }
    }
    std::ranges::sort(contexts_);
    return true;
  }

  bool take_config(const Item& item) {
    const NetworkState& state = to_.facts->state_of(item);
    if (state.action != Action::kSchema || item.inner == 0) return true;
    const auto [known, added] = config_of_.try_emplace(item.inner);
    if (!added) return true;
    Configuration config = from_.parts[PartConfigId{item.inner}];
    Recogniser& before = from_.parts.unlocked(state);
    Recogniser& after = to_.parts.unlocked(state);
    if (&before != &after) {
      // No other part is locked here, and all threads lock two parts in the
      // order of their addresses, so that none of them deadlock.
      owner_from_.release();
      owner_to_.release();
      const bool older_first = std::less<>()(&before, &after);
      const Lock first(older_first ? before : after);
      const Lock second(older_first ? after : before);
      config = after.adopt(before, config);
    }
    if (config.dead()) return false;
    known->second = to_.parts.intern(config);
    return true;
  }

  // Interns the contexts in ascending order.  A context refers only to contexts
  // with smaller ids, except for the members of a cycle.  These have
  // consecutive ids, and between any two neighbours a reference leads from the
  // first or one before it to the second or one after it.  So a group is
  // extended for as long as one of its members refers past its end.
  void make_contexts() {
    for (std::size_t i = 0; i < contexts_.size();) {
      const ContextId first = contexts_[i];
      ContextId last = first;
      bool loop = false;
      for (std::size_t at = i; at < contexts_.size() && contexts_[at] <= last;
           ++at) {
        for (const Item& item : from_.contexts[contexts_[at]]) {
          loop = loop || item.context >= first;
          last = std::max(last, item.context);
        }
      }
      std::size_t end = i;
      while (end < contexts_.size() && contexts_[end] <= last) ++end;
      const std::span<const ContextId> group =
          std::span(contexts_).subspan(i, end - i);
      std::vector<Items> contents;
      for (const ContextId id : group) {
        contents.push_back(content_of(id, group));
      }
      i = end;
      ContextId id = loop ? to_.contexts.intern_loop(contents)
                          : to_.contexts.intern(contents[0]);
      for (const ContextId old : group) {
        context_of_[old] = id;
        ++id;
      }
    }
  }

  // `group`: the contexts interned together, which refer to each other by
  // index.
  Items content_of(ContextId id, std::span<const ContextId> group) {
    const std::span<const Item> items = from_.contexts[id];
    Items content(items.begin(), items.end());
    for (Item& item : content) {
      const ContextId context = item.context;
      item = made(item);
      if (context < group.front()) continue;
      const auto at = std::ranges::lower_bound(group, context);
      item.context =
          local_context(static_cast<std::size_t>(at - group.begin()));
    }
    std::ranges::sort(content);
    return content;
  }

  // Recursive: activations are nested at most CfgRecogniserLimits::depth deep.
  Item made(Item item) {
    if (item.context != kOutermost) item.context = context_of_.at(item.context);
    if (item.inner == 0) return item;
    const Action action = to_.facts->state_of(item).action;
    if (action == Action::kSchema) {
      item.inner = config_of_.at(item.inner);
    } else if (to_.activations.begun(item)) {
      ActivationId& known = activation_of_.at(item.inner);
      if (known == ActivationId{}) {
        const RuleActivation& one = from_.activations.of(item);
        Items kernel = one.kernel;
        for (Item& inside : kernel) inside = made(inside);
        known = to_.activations.intern(one.budget, std::move(kernel));
      }
      item.inner = known;
    }
    return item;
  }

  CfgRecogniser& owner_from_;
  CfgRecogniser& owner_to_;
  Tables& from_;
  Tables& to_;
  std::vector<ContextId> contexts_;
  // From the ids of `from_` to those of `to_`.
  std::unordered_map<ContextId, ContextId> context_of_;
  std::unordered_map<std::uint32_t, ActivationId> activation_of_;
  std::unordered_map<std::uint32_t, PartConfigId> config_of_;
};

Configuration CfgRecogniser::adopt(Recogniser& from, Configuration config) {
  if (config.dead() || from.broken() || broken()) return {};
  auto& other = static_cast<CfgRecogniser&>(from);
  Items kernel = other.tables_->configurations.kernel_of(config);
  const TableMemory& memory = tables_->memory;
  const std::size_t before = memory.bytes();
  const std::size_t room = room_;
  room_ = ~std::size_t{0} / 2;
  Configuration made;
  if (Adoption(other, *this).take(kernel)) {
    made = tables_->configurations.find_or_make(std::move(kernel)).to;
  }
  room_ = room + 2 * (memory.bytes() - before);
  other.release();
  return made;
}

}  // namespace parlance::cfg_recogniser
