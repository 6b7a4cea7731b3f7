#ifndef PARLANCE_SRC_GRAMMAR_TRIGGER_AUTOMATON_H_
#define PARLANCE_SRC_GRAMMAR_TRIGGER_AUTOMATON_H_

// Free text, watched for words.
//
// The automaton knows the longest suffix of the text so far that begins a
// trigger or an exclude (Aho and Corasick, 1975).  Words are inserted, then
// link() makes it ready.
//
//   at = automaton.insert("<call>");
//   automaton.nodes[at].calls.push_back(7);
//   automaton.link();

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parlance::grammar {

struct TriggerAutomaton {
  struct Node {
    std::map<std::uint8_t, std::uint32_t> next = {};
    std::uint32_t fail = 0;
    bool excluded = false;
    // Of the triggers that end here, longer ones first; the user's numbers.
    std::vector<std::uint32_t> calls = {};
  };
  std::vector<Node> nodes = std::vector<Node>(1);

  // The node of a word.
  std::uint32_t insert(std::string_view word);
  // Completes every node by what its suffixes say.  Called once.
  void link();
  std::uint32_t step(std::uint32_t node, std::uint8_t byte) const;

  // What the words say that `text` begins with, shorter ones first.
  // REQUIRES: not linked.
  std::vector<std::uint32_t> words_that_begin(std::string_view text) const;
  // What the word says that ends first in `text`, of several the longest.
  // REQUIRES: linked.
  std::optional<std::uint32_t> first_in(std::string_view text) const;
};

// Of words whose calls are their places in the list.
TriggerAutomaton word_trie(const std::vector<std::string>& words);
TriggerAutomaton word_automaton(const std::vector<std::string>& words);

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_TRIGGER_AUTOMATON_H_
