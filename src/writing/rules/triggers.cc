// See triggers.h.

#include "rules/triggers.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace parlance::rules {

std::vector<TriggerTarget> join_equal_triggers(
    std::vector<TriggerTarget> targets, Rules& rules) {
  std::stable_sort(targets.begin(), targets.end(),
                   [](const TriggerTarget& a, const TriggerTarget& b) {
                     return a.text < b.text;
                   });
  std::vector<TriggerTarget> out;
  for (std::size_t i = 0; i < targets.size();) {
    std::vector<ExprId> after;
    std::size_t j = i;
    for (; j < targets.size() && targets[j].text == targets[i].text; ++j) {
      after.push_back(targets[j].after);
    }
    out.push_back({targets[i].text, rules.choice(std::move(after))});
    i = j;
  }
  return out;
}

}  // namespace parlance::rules
