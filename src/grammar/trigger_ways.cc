// Joining triggers, see trigger_ways.h.

#include "grammar/trigger_ways.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace parlance::grammar {

std::vector<TriggerWay> join_triggers(std::vector<TriggerWay> ways,
                                      Rules& rules) {
  // A trigger comes before those that it begins.
  std::stable_sort(
      ways.begin(), ways.end(),
      [](const TriggerWay& a, const TriggerWay& b) { return a.text < b.text; });
  std::vector<TriggerWay> out;
  for (std::size_t i = 0; i < ways.size();) {
    const std::string& first = ways[i].text;
    std::vector<ExprId> behind;
    std::size_t j = i;
    for (; j < ways.size() && ways[j].text.starts_with(first); ++j) {
      const std::string rest = ways[j].text.substr(first.size());
      behind.push_back(
          rest.empty() ? ways[j].behind
                       : rules.sequence({rules.bytes(rest), ways[j].behind}));
    }
    out.push_back({first, rules.choice(std::move(behind))});
    i = j;
  }
  return out;
}

}  // namespace parlance::grammar
