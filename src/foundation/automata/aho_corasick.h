#ifndef PARLANCE_SRC_AUTOMATA_AHO_CORASICK_H_
#define PARLANCE_SRC_AUTOMATA_AHO_CORASICK_H_

// Search for words in free text (Aho and Corasick, 1975).
//
// A node is the longest suffix of the text so far that begins a trigger or an
// exclude.  Words are inserted, then link() computes the failure links.
//
//   at = automaton.insert("<call>");
//   automaton.nodes[at].calls.push_back(7);
//   automaton.link();
//
// A text of tokens is made of symbols: bytes, and marks, tokens that stand for
// a spelling of their own.  A word may contain marks:
//
//   at = automaton.insert({mark_symbol(0), '\n'});
//
// A mark begins or continues a word: step() returns kRefused where it would be
// plain text.  After the first mark of a word, the text is committed to the
// word: a symbol that continues neither that word nor another one with all its
// marks is refused as well, and the text cannot end there (may_end()).
//
// A text may also have to be free of matches of patterns (pattern_dfa.h).  Then
// a state of a reader is a pair of a node and a state of the automaton of the
// patterns, as one number; the number of a pair with the first state of that
// automaton is the node.  at() gives the node of a state.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "automata/pattern_dfa.h"

namespace parlance::automata {

// A byte, or a mark: 256 and the mark's number in its grammar.
using WordSymbol = std::uint32_t;
inline constexpr WordSymbol kFirstMarkSymbol = 256;
constexpr WordSymbol mark_symbol(std::uint32_t mark) {
  return kFirstMarkSymbol + mark;
}
constexpr bool is_mark(WordSymbol symbol) { return symbol >= kFirstMarkSymbol; }

struct AhoCorasick {
  static constexpr std::uint32_t kRefused = 0xFFFFFFFF;

  struct Node {
    std::map<WordSymbol, std::uint32_t> next = {};
    std::uint32_t fail = 0;
    std::uint32_t depth = 0;  // symbols on the path to it
    // Symbols on the path from its first mark on; 0: no mark.
    std::uint32_t committed = 0;
    bool excluded = false;
    // The caller's numbers of the triggers that end here, longer ones first.
    std::vector<std::uint32_t> calls = {};
  };
  std::vector<Node> nodes = std::vector<Node>(1);
  // A mark is read by its bytes, as other tokens are: a value, or a text that a
  // user wrote.
  bool marks_are_bytes = false;
  // The text contains no match of these patterns; null: none.  Marks count as
  // their spellings, `mark_spellings`, by number.
  std::shared_ptr<const PatternDfa> patterns;
  std::vector<std::string> mark_spellings;

  // The node of a word.
  std::uint32_t insert(std::string_view word);
  std::uint32_t insert(std::span<const WordSymbol> word);
  // Computes the failure links, and adds to every node the `excluded` of its
  // suffixes, and the `calls` of those that have all its marks.  Called once.
  void link();
  // Finds the states that are committed to words, none of which can be
  // completed: all are excluded, or contain a match of a pattern, or no text
  // continues after them.  Their nodes become excluded, or step() refuses them.
  // `live_call`: whether a text continues after this call.
  // REQUIRES: linked, with the patterns, and the nodes do not change any more.
  void find_dead_ends(const std::function<bool(std::uint32_t)>& live_call);

  // The state after `symbol`; kRefused for marks, after marks, and where a
  // match of a pattern is complete.
  std::uint32_t step(std::uint32_t state, WordSymbol symbol) const {
    return patterns == nullptr ? step_words(state, symbol)
                               : step_both(state, symbol);
  }
  // The node of a state.
  std::uint32_t node_of(std::uint32_t state) const {
    return patterns == nullptr
               ? state
               : state % static_cast<std::uint32_t>(nodes.size());
  }
  const Node& at(std::uint32_t state) const { return nodes[node_of(state)]; }
  // The state of the automaton of the patterns.  REQUIRES: patterns.
  std::uint32_t pattern_state_of(std::uint32_t state) const {
    return state / static_cast<std::uint32_t>(nodes.size());
  }
  // Whether the text may end in `state`: it is committed to no word.
  bool may_end(std::uint32_t state) const { return at(state).committed == 0; }

  // The largest product of the bytes of all words and the states of the
  // automaton of the patterns.  Whoever adds patterns checks it.
  static constexpr std::size_t kMaxPairs = std::size_t{1} << 25;

  // The calls of the words that `text` begins with, shorter words first.
  // REQUIRES: not linked.
  std::vector<std::uint32_t> words_that_begin(std::string_view text) const;
  // The first call of the word that ends first in `text`; of several words that
  // end there, of the longest.
  // REQUIRES: linked.
  std::optional<std::uint32_t> first_in(std::string_view text) const;

 private:
  std::uint32_t insert_one(std::uint32_t at, WordSymbol symbol);
  // The longest suffix that is a node, whether or not a mark is lost.
  std::uint32_t follow(std::uint32_t node, WordSymbol symbol) const;
  std::uint32_t step_words(std::uint32_t node, WordSymbol symbol) const;
  std::uint32_t step_both(std::uint32_t state, WordSymbol symbol) const;
  std::uint32_t step_patterns(std::uint32_t state, WordSymbol symbol) const;
  void exclude_dead_ends(const std::function<bool(std::uint32_t)>& live_call);
  void find_dead_states(const std::function<bool(std::uint32_t)>& live_call);

  // By state; empty unless there are patterns and marks.
  std::vector<bool> dead_;
};

// The call of each word is its index in `words`.
AhoCorasick word_trie(const std::vector<std::string>& words);
AhoCorasick word_automaton(const std::vector<std::string>& words);

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_AHO_CORASICK_H_
