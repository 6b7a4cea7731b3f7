// Traverses the automaton of a language by characters.

#include "arguments/character_dfa.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/utf8.h"

namespace parlance::arguments {
namespace {

using automata::StateId;

// As CharacterDfa::Range, with a state of Languages.  The characters are
// offsets from the first character with the bytes read so far.
using Range = CharacterDfa::Range;

void add_range(std::vector<Range>& ranges, std::uint32_t first,
               std::uint32_t last, std::uint32_t target) {
  if (!ranges.empty() && ranges.back().target == target &&
      ranges.back().last + 1 == first) {
    ranges.back().last = last;
    return;
  }
  ranges.push_back({first, last, target});
}

class CharacterSteps {
 public:
  explicit CharacterSteps(automata::Languages& languages)
      : languages_(languages) {}

  // The characters that may come next.  None leads to a dead state.
  std::vector<Range> from(StateId state) {
    std::vector<Range> out;
    for (std::uint32_t byte = 0; byte < 0x80; ++byte) {
      const StateId next =
          languages_.step(state, static_cast<std::uint8_t>(byte));
      if (next != automata::kDeadState) add_range(out, byte, byte, next);
    }
    for (std::uint32_t byte = 0xC2; byte < 0xF5; ++byte) {
      const StateId next =
          languages_.step(state, static_cast<std::uint8_t>(byte));
      if (next == automata::kDeadState) continue;
      const int left = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
      const std::uint32_t bits = byte & (0x3Fu >> left);
      const std::uint32_t base = bits << (6 * left);
      for (const Range& range : tails(next, left)) {
        add_range(out, base + range.first, base + range.last, range.target);
      }
    }
    return out;
  }

 private:
  // The ranges that `left` more bytes of a character lead to.  The recursion is
  // at most three calls deep: a character has four bytes.
  const std::vector<Range>& tails(StateId state, int left) {
    const auto key = std::make_pair(state, left);
    const auto known = tails_.find(key);
    if (known != tails_.end()) return known->second;
    std::vector<Range> out;
    if (left == 0) {
      out.push_back({0, 0, state});
    } else {
      const std::uint32_t width = std::uint32_t{1} << (6 * (left - 1));
      for (std::uint32_t i = 0; i < 64; ++i) {
        const StateId next =
            languages_.step(state, static_cast<std::uint8_t>(0x80 + i));
        if (next == automata::kDeadState) continue;
        for (const Range& range : tails(next, left - 1)) {
          add_range(out, i * width + range.first, i * width + range.last,
                    range.target);
        }
      }
    }
    return tails_[key] = std::move(out);
  }

  automata::Languages& languages_;
  std::map<std::pair<StateId, int>, std::vector<Range>> tails_;
};

// What a fingerprint is of: an automaton without some texts, or a state of it.
// Those of Languages::fingerprint() begin with smaller numbers.
constexpr std::uint64_t kWithoutTexts = 256;
constexpr std::uint64_t kStateWithoutTexts = 257;

// Nothing if the text is not UTF-8.
std::optional<std::u32string> characters(std::string_view text) {
  if (!base::is_utf8(text)) return std::nullopt;
  std::u32string out;
  for (std::size_t at = 0; at < text.size();) {
    out += base::next_code_point(text, at);
  }
  return out;
}

// False if some character of the text has no transition anywhere.
bool can_occur(const CharacterDfa& dfa, const std::u32string& text) {
  return std::all_of(text.begin(), text.end(), [&](char32_t c) {
    for (std::uint32_t i = 0; i < dfa.states.size(); ++i) {
      if (dfa.after(i, c)) return true;
    }
    return false;
  });
}

// The automaton of Aho and Corasick (1975) over characters.
class Search {
 public:
  // The characters that do not lead to the root, and the nodes they lead to.
  using Edges = std::map<std::uint32_t, std::uint32_t>;

  explicit Search(const std::vector<std::u32string>& texts) {
    for (const std::u32string& text : texts) {
      std::uint32_t at = 0;
      for (const char32_t c : text) {
        const auto next = static_cast<std::uint32_t>(nodes_.size());
        const auto [edge, is_new] = nodes_[at].edges.try_emplace(c, next);
        at = edge->second;
        if (is_new) nodes_.emplace_back();
      }
      nodes_[at].ends = true;
    }
    // Breadth first: a node's failure link has been completed before the node.
    // Then its edges are all of its transitions but those to the root: its own,
    // and for other characters those of the node that it falls back to.
    std::vector<std::uint32_t> failure(nodes_.size(), 0);
    std::vector<std::uint32_t> order = {0};
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t at = order[i];
      for (const auto& [c, next] : nodes_[at].edges) order.push_back(next);
      const Node& other = nodes_[failure[at]];
      for (const auto& [c, next] : nodes_[at].edges) {
        if (at == 0) continue;
        const auto found = other.edges.find(c);
        if (found != other.edges.end()) failure[next] = found->second;
      }
      if (at == 0) continue;
      nodes_[at].ends = nodes_[at].ends || other.ends;
      for (const auto& edge : other.edges) nodes_[at].edges.insert(edge);
    }
  }

  const Edges& edges(std::uint32_t node) const { return nodes_[node].edges; }
  // Whether one of the texts ends here.
  bool ends(std::uint32_t node) const { return nodes_[node].ends; }

 private:
  struct Node {
    bool ends = false;
    Edges edges = {};
  };
  std::vector<Node> nodes_ = std::vector<Node>(1);
};

}  // namespace

std::optional<std::uint32_t> CharacterDfa::after(std::uint32_t state,
                                                 char32_t c) const {
  const std::vector<Range>& ranges = states[state].ranges;
  const auto at =
      std::partition_point(ranges.begin(), ranges.end(),
                           [&](const Range& one) { return one.last < c; });
  if (at == ranges.end() || c < at->first) return std::nullopt;
  return at->target;
}

bool CharacterDfa::accepts(std::string_view text) const {
  if (!base::is_utf8(text)) return false;
  std::uint32_t state = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto next = after(state, base::next_code_point(text, at));
    if (!next) return false;
    state = *next;
  }
  return states[state].accepting;
}

std::size_t CharacterDfa::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + states.capacity() * sizeof(State);
  for (const State& state : states) {
    bytes += state.ranges.capacity() * sizeof(Range);
  }
  return bytes;
}

CharacterDfas::Dfa CharacterDfas::of(automata::Languages& languages,
                                     automata::LanguageId language,
                                     std::size_t max_states) {
  const StateId start = languages.start(language);
  const base::Fingerprint key = languages.fingerprint(start);
  if (const auto known = known_.find(key); known != known_.end()) {
    return known->second;
  }
  auto made = std::make_shared<CharacterDfa>();
  CharacterSteps steps(languages);
  std::vector<StateId> states = {start};
  std::unordered_map<StateId, std::uint32_t> number = {{start, 0}};
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states.size() > max_states) return nullptr;
    CharacterDfa::State state;
    state.fingerprint = languages.fingerprint(states[i]);
    state.accepting = languages.accepting(states[i]);
    state.ranges = steps.from(states[i]);
    // Their targets are states of `languages` until each has its number.
    for (Range& range : state.ranges) {
      const StateId target(range.target);
      const auto [entry, is_new] =
          number.try_emplace(target, static_cast<std::uint32_t>(states.size()));
      if (is_new) states.push_back(target);
      range.target = entry->second;
    }
    made->states.push_back(std::move(state));
  }
  if (!languages.narrowed()) keep(key, made);
  return made;
}

void CharacterDfas::keep(const base::Fingerprint& key, const Dfa& dfa) {
  if (states_ + dfa->states.size() > kMostStates) return;
  states_ += dfa->states.size();
  known_.emplace(key, dfa);
}

// Without excludes that cannot occur, the product of the automaton of the
// language with that of the excludes.
CharacterDfas::Dfa CharacterDfas::of(automata::Languages& languages,
                                     automata::LanguageId language,
                                     const std::vector<std::string>& excludes,
                                     std::size_t max_states) {
  Dfa all = of(languages, language, max_states);
  if (all == nullptr) return nullptr;
  std::vector<std::u32string> texts;
  for (const std::string& text : excludes) {
    if (auto read = characters(text); read && can_occur(*all, *read)) {
      texts.push_back(*std::move(read));
    }
  }
  if (texts.empty()) return all;
  base::Fingerprinter print(kWithoutTexts);
  print.add(all->states[0].fingerprint);
  for (const std::u32string& text : texts) {
    print.add(std::uint64_t{text.size()});
    for (const char32_t c : text) print.add(std::uint64_t{c});
  }
  const base::Fingerprint key = print.take();
  if (const auto known = known_.find(key); known != known_.end()) {
    return known->second;
  }
  // Invariant of the loop: made->states[i] is pairs[i], a state of the language
  // and the node for the longest end of the text that begins an excluded one.
  // No pair has a node at which an excluded text ends.
  const Search search(texts);
  auto made = std::make_shared<CharacterDfa>();
  using Pair = std::pair<std::uint32_t, std::uint32_t>;  // state, node
  std::vector<Pair> pairs = {{0, 0}};
  std::map<Pair, std::uint32_t> number = {{{0, 0}, 0}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs.size() > max_states) return nullptr;
    const auto [from, node] = pairs[i];
    CharacterDfa::State state;
    state.fingerprint = base::Fingerprinter(kStateWithoutTexts)
                            .add(key)
                            .add(std::uint64_t{i})
                            .take();
    state.accepting = all->states[from].accepting;
    const auto add = [&](std::uint32_t first, std::uint32_t last,
                         std::uint32_t target, std::uint32_t next) {
      const auto [entry, is_new] = number.try_emplace(
          Pair{target, next}, static_cast<std::uint32_t>(pairs.size()));
      if (is_new) pairs.push_back({target, next});
      add_range(state.ranges, first, last, entry->second);
    };
    // Each range is divided by the characters that lead on in an excluded text.
    const Search::Edges& edges = search.edges(node);
    for (const Range& range : all->states[from].ranges) {
      std::uint32_t first = range.first;
      for (auto edge = edges.lower_bound(range.first);
           edge != edges.end() && edge->first <= range.last; ++edge) {
        if (edge->first > first) add(first, edge->first - 1, range.target, 0);
        first = edge->first + 1;
        if (search.ends(edge->second)) continue;
        add(edge->first, edge->first, range.target, edge->second);
      }
      if (first <= range.last) add(first, range.last, range.target, 0);
    }
    made->states.push_back(std::move(state));
  }
  keep(key, made);
  return made;
}

}  // namespace parlance::arguments
