// Activations of lazy and limited rules: see activations.h.

#include "cfg_recogniser/activations.h"

#include <algorithm>
#include <utility>

#include "base/append_bytes.h"

namespace parlance::cfg_recogniser {

Activations::Activations(const NetworkFacts& facts, TableMemory& memory)
    : facts_(facts), memory_(memory) {
  all_.emplace_back();  // id 0
}

ActivationId Activations::intern(Budget budget, Items kernel,
                                 const RuleActivation* closed) {
  std::sort(kernel.begin(), kernel.end());
  kernel.erase(std::unique(kernel.begin(), kernel.end()), kernel.end());
  std::string key;
  base::append_bytes(key, budget);
  base::append_bytes(key, kernel.size());
  key.append(reinterpret_cast<const char*>(kernel.data()),
             kernel.size() * sizeof(Item));
  if (closed != nullptr) {
    base::append_bytes(key, closed->whole);
    base::append_bytes(key, closed->body_end);
    base::append_bytes(key, closed->reach);
    key.append(reinterpret_cast<const char*>(closed->items.data()),
               closed->items.size() * sizeof(Item));
  }
  const std::size_t size = key.size();
  const auto [known, added] = id_of_.try_emplace(std::move(key), all_.size());
  if (!added) return known->second;
  memory_.add(2 * size + sizeof(RuleActivation) + 64);
  if (closed != nullptr) {
    all_.push_back(*closed);
  } else {
    const Reading left = reading_of(kernel, &RuleActivation::left);
    all_.push_back(
        {.budget = budget, .kernel = std::move(kernel), .left = left});
  }
  return known->second;
}

void Activations::close(ActivationId id, RuleActivation closed) {
  memory_.add(closed.items.size() * sizeof(Item));
  all_[id] = std::move(closed);
}

Reading Activations::reading_of(const Items& items,
                                Reading RuleActivation::*inside) const {
  Reading reading;
  for (const Item& item : items) {
    if (item.inner == 0 || facts_.state_of(item).action != Action::kCall) {
      reading.always = true;
    } else if (is_outward(item)) {
      const std::uint32_t level = item.inner & ~kOutward;
      if (level > 1) reading.outward |= std::uint64_t{1} << (level - 2);
    } else {
      const Reading& of_call = of(item).*inside;
      reading.always = reading.always || of_call.always;
      reading.outward |= of_call.outward >> 1;
    }
  }
  return reading;
}

std::vector<ActivationId> Activations::nested_in(const Items& items) const {
  std::vector<ActivationId> found;
  const auto add = [&](const Items& from) {
    for (const Item& item : from) {
      if (begun(item)) found.emplace_back(item.inner);
    }
  };
  std::vector<bool> seen;
  add(items);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (seen.empty()) seen.resize(all_.size(), false);
    const ActivationId id = found[i];
    if (seen[id]) continue;
    seen[id] = true;
    found[kept++] = id;
    add(all_[id].items);
  }
  found.resize(kept);
  return found;
}

}  // namespace parlance::cfg_recogniser
