#ifndef PARLANCE_SRC_HARMONY_MARKS_H_
#define PARLANCE_SRC_HARMONY_MARKS_H_

// What each token id means in Harmony.
//
// The ids of the markers come from the vocabulary, by spelling.  Everything
// that is neither a marker nor a control token is text.

#include <cstdint>
#include <utility>
#include <vector>

#include "parlance/error.h"
#include "parlance/vocabulary.h"

namespace parlance::harmony {

enum class Mark : std::uint8_t {
  kText,       // an ordinary token, or an added token that plain text shows
  kStart,      // <|start|>
  kEnd,        // <|end|>
  kCall,       // <|call|>
  kReturn,     // <|return|>
  kEosToken,   // <|endoftext|>, and stop tokens that are no other marker
  kMessage,    // <|message|>
  kChannel,    // <|channel|>
  kConstrain,  // <|constrain|>
  kOther,      // another control token
  kUnknown,    // an id without a token
};

class Marks {
 public:
  // Error: kBadVocabulary, see HarmonyParser::create().
  static Result<Marks> find(const Vocabulary& vocabulary);

  // What `id` of that vocabulary means.
  // Complexity: O(1) for ordinary tokens, O(markers) for others.
  Mark of(const Vocabulary& vocabulary, TokenId id) const {
    const TokenKind kind = vocabulary.kind(id);
    return kind == TokenKind::kOrdinary ? Mark::kText : of_special(kind, id);
  }

 private:
  Mark of_special(TokenKind kind, TokenId id) const;

  std::vector<std::pair<TokenId, Mark>> marks_;
};

}  // namespace parlance::harmony

#endif  // PARLANCE_SRC_HARMONY_MARKS_H_
