#ifndef PARLANCE_SRC_VOCAB_PROMPT_TEXT_H_
#define PARLANCE_SRC_VOCAB_PROMPT_TEXT_H_

// The text of a prompt that is given as token ids: special tokens are spelled,
// and a space that the vocabulary adds after them is left out.

#include <span>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "parlance/vocabulary.h"

namespace parlance::vocab {

// Calls on_special(id, position, size) for each special token, with the place
// of its spelling in the text.
template <class OnSpecial>
std::string text_of_prompt(const Vocabulary& vocabulary,
                           std::span<const TokenId> ids,
                           const OnSpecial& on_special) {
  std::string text;
  bool drop_space = false;
  for (const TokenId id : ids) {
    const TokenKind kind = vocabulary.kind(id);
    if (kind == TokenKind::kOrdinary) {
      std::string_view bytes = vocabulary.bytes(id);
      if (drop_space && bytes.starts_with(' ')) bytes.remove_prefix(1);
      text += bytes;
      drop_space = false;
    } else if (kind == TokenKind::kUnused) {
      text += base::kReplacement;
    } else {
      const std::string_view spelling = vocabulary.spelling(id);
      on_special(id, text.size(), spelling.size());
      text += spelling;
      drop_space = vocabulary.space_after_marks();
    }
  }
  return text;
}

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_PROMPT_TEXT_H_
