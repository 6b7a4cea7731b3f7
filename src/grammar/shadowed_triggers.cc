// Triggers beside one another, see shadowed_triggers.h.

#include "grammar/shadowed_triggers.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "grammar/trigger_automaton.h"

namespace parlance::grammar {

std::vector<TriggerTarget> join_equal_triggers(std::vector<TriggerTarget> ways,
                                               Rules& rules) {
  std::stable_sort(ways.begin(), ways.end(),
                   [](const TriggerTarget& a, const TriggerTarget& b) {
                     return a.text < b.text;
                   });
  std::vector<TriggerTarget> out;
  for (std::size_t i = 0; i < ways.size();) {
    std::vector<ExprId> behind;
    std::size_t j = i;
    for (; j < ways.size() && ways[j].text == ways[i].text; ++j) {
      behind.push_back(ways[j].behind);
    }
    out.push_back({ways[i].text, rules.choice(std::move(behind))});
    i = j;
  }
  return out;
}

std::vector<ShadowedWord> shadowed_words(
    const std::vector<std::string>& words) {
  const TriggerAutomaton automaton = word_automaton(words);
  std::vector<ShadowedWord> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word.empty()) continue;
    const auto inside = automaton.first_in(word.substr(0, word.size() - 1));
    // One that begins the word comes before others that end with it.
    if (!inside || word.starts_with(words[*inside])) continue;
    out.push_back({static_cast<std::uint32_t>(i), *inside});
  }
  return out;
}

std::string shadowed_message(std::string_view trigger,
                             std::string_view inside) {
  return "The trigger '" + std::string(trigger) + "' contains the trigger '" +
         std::string(inside) + "', which is read first, so it is never read.";
}

}  // namespace parlance::grammar
