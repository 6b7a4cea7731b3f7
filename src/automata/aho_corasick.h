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

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

  // The node of a word.
  std::uint32_t insert(std::string_view word);
  std::uint32_t insert(std::span<const WordSymbol> word);
  // Computes the failure links, and adds to every node the `excluded` and
  // `calls` of its suffixes.  Called once.
  void link();
  // kRefused only for marks, and after them.
  std::uint32_t step(std::uint32_t node, WordSymbol symbol) const;
  // Whether the text may end in `node`: it is committed to no word.
  bool may_end(std::uint32_t node) const { return nodes[node].committed == 0; }

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
};

// The call of each word is its index in `words`.
AhoCorasick word_trie(const std::vector<std::string>& words);
AhoCorasick word_automaton(const std::vector<std::string>& words);

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_AHO_CORASICK_H_
