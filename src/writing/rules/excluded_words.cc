// See excluded_words.h.

#include "rules/excluded_words.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace parlance::rules {

using automata::AhoCorasick;
using automata::WordSymbol;

namespace {

using Word = std::vector<WordSymbol>;

class ExcludedWords {
 public:
  ExcludedWords(AhoCorasick& automaton, const Marks& marks)
      : automaton_(automaton) {
    for (const Mark& mark : marks.marks()) spellings_.push_back(mark.spelling);
  }

  // Excludes the beginnings of triggers whose spelling contains an exclude, or
  // contains another trigger after a mark or in it: in a text, that trigger
  // would come first.
  void exclude_inside(std::span<const std::string> excludes,
                      std::span<const std::string> triggers) {
    std::vector<std::string> all(excludes.begin(), excludes.end());
    all.insert(all.end(), triggers.begin(), triggers.end());
    const AhoCorasick words = automata::word_automaton(all);
    struct Open {
      std::uint32_t node = 0;
      std::uint32_t at = 0;   // of `words`, after what the path spells
      std::size_t bytes = 0;  // that the path spells
    };
    std::vector<Open> open = {{}};
    while (!open.empty()) {
      const Open here = open.back();
      open.pop_back();
      for (const auto& [symbol, next] : automaton_.nodes[here.node].next) {
        Open more{next, here.at, here.bytes};
        bool found = false;
        for (const char c : spelling(symbol)) {
          more.at = words.step(more.at, static_cast<std::uint8_t>(c));
          ++more.bytes;
          for (const std::uint32_t word : words.nodes[more.at].calls) {
            found = found || word < excludes.size() ||
                    (automaton_.nodes[next].committed != 0 &&
                     all[word].size() < more.bytes);
          }
        }
        if (found) {
          excluded_.push_back(next);
        } else {
          open.push_back(more);
        }
      }
    }
  }

  // Finds the words that begin with bytes of `exclude` and end with the
  // beginning of a trigger that has a mark and spells the rest of the exclude,
  // except the beginnings of triggers.
  void find_across(std::string_view exclude) {
    struct Open {
      std::uint32_t node = 0;
      std::string_view left;  // of the exclude
      Word path = {};         // from the root to the node
    };
    std::vector<Open> open;
    for (std::size_t begin = 1; begin < exclude.size(); ++begin) {
      open.push_back({0, exclude.substr(begin)});
      while (!open.empty()) {
        const Open at = std::move(open.back());
        open.pop_back();
        for (const auto& [symbol, next] : automaton_.nodes[at.node].next) {
          if (!automata::is_mark(symbol) &&
              symbol != static_cast<std::uint8_t>(at.left.front())) {
            continue;
          }
          const std::string text = spelling(symbol);
          const std::size_t size = std::min(text.size(), at.left.size());
          if (text.compare(0, size, at.left, 0, size) != 0) continue;
          Open more{next, at.left.substr(size), at.path};
          more.path.push_back(symbol);
          if (!more.left.empty()) {
            open.push_back(std::move(more));
          } else if (automaton_.nodes[next].committed != 0) {
            Word word = byte_symbols(exclude.substr(0, begin));
            word.insert(word.end(), more.path.begin(), more.path.end());
            if (!begins_trigger(word)) words_.push_back(std::move(word));
          }
        }
      }
    }
  }

  void insert() {
    for (const std::uint32_t node : excluded_) {
      automaton_.nodes[node].excluded = true;
    }
    for (const Word& word : words_) {
      automaton_.nodes[automaton_.insert(word)].excluded = true;
    }
  }

 private:
  bool begins_trigger(const Word& word) const {
    std::uint32_t node = 0;
    for (const WordSymbol symbol : word) {
      const auto next = automaton_.nodes[node].next.find(symbol);
      if (next == automaton_.nodes[node].next.end()) return false;
      node = next->second;
    }
    return true;
  }
  std::string spelling(WordSymbol symbol) const {
    if (automata::is_mark(symbol)) {
      return spellings_[symbol - automata::kFirstMarkSymbol];
    }
    return std::string(1, static_cast<char>(symbol));
  }

  AhoCorasick& automaton_;
  std::vector<std::string> spellings_;  // of the marks
  std::vector<std::uint32_t> excluded_;
  std::vector<Word> words_;
};

}  // namespace

void insert_excluded(AhoCorasick& automaton,
                     std::span<const std::string> excludes,
                     std::span<const std::string> triggers, const Marks* marks,
                     std::vector<SpelledMarker>* spelled) {
  const bool has_marks = std::ranges::any_of(
      automaton.nodes, [](const auto& node) { return node.committed != 0; });
  if (has_marks) {
    // The words are looked for before any is inserted: they are made of the
    // triggers.
    ExcludedWords words(automaton, *marks);
    words.exclude_inside(excludes, triggers);
    for (const std::string& exclude : excludes) words.find_across(exclude);
    for (const std::string& trigger : triggers) words.find_across(trigger);
    words.insert();
  }
  const auto exclude = [&](const std::string& word) {
    const std::uint32_t node = automaton.insert(word);
    automaton.nodes[node].excluded = true;
    return node;
  };
  const auto has_mark = [&](const std::string& word) {
    return marks != nullptr && !marks->either() &&
           std::ranges::any_of(marks->spellings(word)[0], automata::is_mark);
  };
  for (const std::string& word : excludes) {
    const std::uint32_t node = exclude(word);
    if (spelled != nullptr && has_mark(word)) spelled->push_back({node, word});
  }
  for (const std::string& word : triggers) {
    if (!has_mark(word)) continue;
    const std::uint32_t node = exclude(word);
    if (spelled != nullptr) spelled->push_back({node, word});
  }
}

}  // namespace parlance::rules
