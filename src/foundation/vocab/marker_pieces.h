#ifndef PARLANCE_SRC_VOCAB_MARKER_PIECES_H_
#define PARLANCE_SRC_VOCAB_MARKER_PIECES_H_

// A marker as its vocabulary writes it: tokens that stand for a spelling of
// their own, and text between them.
//
//   "<tool_call>\n{"    with Qwen3     mark 151657, text "\n{"
//                       with GPT-2     text "<tool_call>\n{"
//
// A marker is any text that a description itself spells: the begin, end or
// trigger of a structural tag, the delimiter of a response template.  Grammars,
// masks and both parsers split a marker by this one rule, so a token that one
// of them forces is the token that the others read.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/vocabulary.h"
#include "vocab/special_spellings.h"

namespace parlance::vocab {

struct MarkerPiece {
  std::string text;               // never empty
  std::vector<TokenId> ids = {};  // of a mark: every token spelled so, by id
  bool is_mark() const { return !ids.empty(); }
  bool operator==(const MarkerPiece&) const = default;
};

class MarkerSplitter {
 public:
  // Shares `vocabulary`.  Complexity: O(added and control tokens).
  explicit MarkerSplitter(const Vocabulary& vocabulary);

  // Leftmost, then longest spelling of an added or control token first.  The
  // texts of the pieces add up to `marker`, and no two texts stand side by
  // side.  Empty for an empty marker.
  std::vector<MarkerPiece> split(std::string_view marker) const;

  // The pieces of `marker` from byte `from` on.  Where a mark of the whole
  // marker covers `from`, the rest is split by itself.
  std::vector<MarkerPiece> split_rest(std::string_view marker,
                                      std::size_t from) const;

 private:
  std::vector<TokenId> spelled_as(TokenId id) const;

  const Vocabulary vocabulary_;
  const SpecialSpellings spellings_;
};

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_MARKER_PIECES_H_
