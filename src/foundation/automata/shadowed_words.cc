// See shadowed_words.h.

#include "automata/shadowed_words.h"

#include <cstddef>
#include <optional>

#include "automata/aho_corasick.h"

namespace parlance::automata {

std::vector<ShadowedWord> shadowed_words(
    const std::vector<std::string>& words) {
  const AhoCorasick automaton = word_automaton(words);
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

}  // namespace parlance::automata
