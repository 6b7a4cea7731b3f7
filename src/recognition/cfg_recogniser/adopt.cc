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
#include "cfg_recogniser/cfg_recogniser.h"

namespace parlance::cfg_recogniser {

using recogniser::Configuration;

// The copy of a set of items, with everything it refers to.
class CfgRecogniser::Adoption {
 public:
  Adoption(CfgRecogniser& from, CfgRecogniser& to) : from_(from), to_(to) {}

  // Replaces the items of `from` by items of `to`.  False if no text leads to a
  // configuration of a schema.
  bool take(Items& items) {
    if (!find_contexts(items)) return false;
    make_contexts();
    for (Item& item : items) item = made(item);
    return true;
  }

 private:
  bool is_activation(const Item& item) const {
    return item.inner != 0 && !outward(item) &&
           to_.network_.states[item.state].action == Action::kCall;
  }

  // Collects all contexts that are reachable from the items, sorted by id, and
  // adopts the configurations of schemas on the way.
  bool find_contexts(const Items& items) {
    base::spend_work(1 + items.size() / 4);
    std::vector<std::pair<std::uint32_t, bool>> left;  // an activation?
    const auto meet = [&](const Item& item) {
      if (item.context != kOutermost &&
          context_of_.try_emplace(item.context, kOutermost).second) {
        contexts_.push_back(item.context);
        left.emplace_back(item.context, false);
      }
      if (is_activation(item) &&
          activation_of_.try_emplace(item.inner, 0).second) {
        left.emplace_back(item.inner, true);
      }
      return take_config(item);
    };
    if (!std::ranges::all_of(items, meet)) return false;
    while (!left.empty()) {
      const auto [id, activation] = left.back();
      left.pop_back();
      const std::span<const Item> content =
          activation ? std::span<const Item>(from_.activations_[id].kernel)
                     : from_.contexts_[id];
      base::spend_work(1 + content.size() / 4);
      if (!std::ranges::all_of(content, meet)) return false;
    }
    std::ranges::sort(contexts_);
    return true;
  }

  bool take_config(const Item& item) {
    const NetworkState& state = to_.network_.states[item.state];
    if (state.action != Action::kSchema || item.inner == 0) return true;
    const auto [known, added] = config_of_.try_emplace(item.inner, 0);
    if (!added) return true;
    Configuration config = from_.configs_[item.inner];
    Recogniser& before = *from_.schemas_[state.index];
    Recogniser& after = *to_.schemas_[state.index];
    if (&before != &after) {
      // No other part is locked here, and all threads lock two parts in the
      // order of their addresses, so that none of them deadlock.
      from_.release();
      to_.release();
      const bool older_first = std::less<>()(&before, &after);
      const Lock first(older_first ? before : after);
      const Lock second(older_first ? after : before);
      config = after.adopt(before, config);
    }
    if (config.dead()) return false;
    known->second = to_.intern_config(config);
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
        for (const Item& item : from_.contexts_[contexts_[at]]) {
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
      ContextId id = 0;
      if (loop) {
        id = to_.intern_loop(contents);
      } else {
        const auto [known, added] = to_.contexts_.intern(contents[0]);
        if (added) to_.bytes_ += to_.contexts_.bytes_of(contents[0].size());
        id = known;
      }
      for (const ContextId old : group) context_of_[old] = id++;
    }
  }

  // `group`: the contexts interned together, which refer to each other by
  // index.
  Items content_of(ContextId id, std::span<const ContextId> group) {
    const std::span<const Item> items = from_.contexts_[id];
    Items content(items.begin(), items.end());
    for (Item& item : content) {
      const ContextId context = item.context;
      item = made(item);
      if (context < group.front()) continue;
      const auto at = std::ranges::lower_bound(group, context);
      item.context = kLocal | static_cast<ContextId>(at - group.begin());
    }
    std::ranges::sort(content);
    return content;
  }

  // Recursive: activations are nested at most CfgRecogniserLimits::depth deep.
  Item made(Item item) {
    if (item.context != kOutermost) item.context = context_of_.at(item.context);
    if (item.inner == 0) return item;
    const Action action = to_.network_.states[item.state].action;
    if (action == Action::kSchema) {
      item.inner = config_of_.at(item.inner);
    } else if (is_activation(item)) {
      std::uint32_t& known = activation_of_.at(item.inner);
      if (known == 0) {
        const RuleActivation& one = from_.activations_[item.inner];
        Items kernel = one.kernel;
        for (Item& inside : kernel) inside = made(inside);
        known = to_.intern_activation(one.budget, std::move(kernel));
      }
      item.inner = known;
    }
    return item;
  }

  CfgRecogniser& from_;
  CfgRecogniser& to_;
  std::vector<ContextId> contexts_;
  // From the ids of `from_` to those of `to_`.
  std::unordered_map<ContextId, ContextId> context_of_;
  std::unordered_map<std::uint32_t, std::uint32_t> activation_of_;
  std::unordered_map<std::uint32_t, std::uint32_t> config_of_;
};

Configuration CfgRecogniser::adopt(Recogniser& from, Configuration config) {
  if (config.dead() || from.broken() || broken()) return {};
  auto& other = static_cast<CfgRecogniser&>(from);
  Items kernel = other.kernel_of(config);
  const std::size_t before = bytes_;
  const std::size_t room = room_;
  room_ = ~std::size_t{0} / 2;
  Configuration made;
  if (Adoption(other, *this).take(kernel)) {
    made = configuration(std::move(kernel));
  }
  room_ = room + 2 * (bytes_ - before);
  other.release();
  return made;
}

}  // namespace parlance::cfg_recogniser
