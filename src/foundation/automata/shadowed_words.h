#ifndef PARLANCE_SRC_AUTOMATA_SHADOWED_WORDS_H_
#define PARLANCE_SRC_AUTOMATA_SHADOWED_WORDS_H_

// Words that are never matched, because a shorter word inside them always
// matches first.
//
// A search for triggers in free text reports a trigger at its last byte.  A
// trigger that contains another one, and does not begin with it, is shadowed:
// the search has left the free text before the longer one can end.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parlance::automata {

// `word` contains `inside`, which always matches first; both are indexes.
struct ShadowedWord {
  std::uint32_t word = 0;
  std::uint32_t inside = 0;
};
std::vector<ShadowedWord> shadowed_words(const std::vector<std::string>& words);

// The text of the error for such a trigger.
std::string shadowed_message(std::string_view trigger, std::string_view inside);

}  // namespace parlance::automata

#endif  // PARLANCE_SRC_AUTOMATA_SHADOWED_WORDS_H_
