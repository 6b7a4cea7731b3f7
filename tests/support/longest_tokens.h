#ifndef PARLANCE_TESTS_SUPPORT_LONGEST_TOKENS_H_
#define PARLANCE_TESTS_SUPPORT_LONGEST_TOKENS_H_

// A tokenizer for vocabularies that have none.

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/vocabulary.h"

namespace parlance::testing {

// The tokens of `text`, each the longest that the rest of the text begins with;
// of several the first.  Added and control tokens are read by their spelling.
inline std::vector<TokenId> longest_tokens(const Vocabulary& vocabulary,
                                           std::string_view text) {
  std::vector<TokenId> out;
  while (!text.empty()) {
    std::optional<TokenId> longest;
    std::size_t size = 0;
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      const std::string_view spelling = vocabulary.spelling(id);
      if (spelling.size() > size && text.starts_with(spelling)) {
        longest = id;
        size = spelling.size();
      }
    }
    if (!longest) throw std::logic_error("no token for " + std::string(text));
    out.push_back(*longest);
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_LONGEST_TOKENS_H_
