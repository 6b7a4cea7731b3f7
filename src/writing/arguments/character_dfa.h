#ifndef PARLANCE_SRC_ARGUMENTS_CHARACTER_DFA_H_
#define PARLANCE_SRC_ARGUMENTS_CHARACTER_DFA_H_

// A language of strings as an automaton that reads characters instead of bytes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "automata/language.h"
#include "base/fingerprint.h"

namespace parlance::arguments {

// A language as a deterministic automaton over characters.  Immutable.
struct CharacterDfa {
  // Characters that lead to the state `target`.
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;  // inclusive
    std::uint32_t target = 0;
  };
  struct State {
    // Equal for states of which the same texts are left, in all automata.
    base::Fingerprint fingerprint = {};
    bool accepting = false;
    // Sorted; of two neighbours with the same target there is a gap between.
    std::vector<Range> ranges = {};
  };
  std::vector<State> states;  // the first is the start

  // The state after the character `c`; nothing if none is.
  std::optional<std::uint32_t> after(std::uint32_t state, char32_t c) const;
  bool accepts(std::string_view text) const;
  std::size_t memory_bytes() const;
};

// The automata of the languages of one compile.  Not thread-safe.
//
// Memory: at most kMostStates states are kept.
class CharacterDfas {
 public:
  using Dfa = std::shared_ptr<const CharacterDfa>;

  // The texts of a language of `languages` that contain none of `excludes`.
  // Null if the automaton has more than `max_states` states.
  Dfa of(automata::Languages& languages, automata::LanguageId language,
         const std::vector<std::string>& excludes, std::size_t max_states);

 private:
  static constexpr std::size_t kMostStates = 4096;

  Dfa of(automata::Languages& languages, automata::LanguageId language,
         std::size_t max_states);
  // Keeps an automaton if there is room.
  void keep(const base::Fingerprint& key, const Dfa& dfa);

  // By a fingerprint of all that an automaton is made of: that of the start of
  // the language, which is the same in all Languages, and the excluded texts.
  // `max_states` only decides whether it is made.
  std::unordered_map<base::Fingerprint, Dfa, base::FingerprintHash> known_;
  std::size_t states_ = 0;
};

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_CHARACTER_DFA_H_
