#ifndef PARLANCE_SRC_MASK_TEXT_MASKS_H_
#define PARLANCE_SRC_MASK_TEXT_MASKS_H_

// Masks in any text of which no hint is known.
//
//   few bytes are possible              the trie of all tokens
//   the mask of a configuration is      that mask, corrected where bytes lead
//   known that most bytes lead from     to different configurations
//   to the same
//   else                                the trie of token classes
//                                       (token_class_walk.h)

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/byte_set.h"
#include "mask/mask_builder.h"
#include "mask/mask_resources.h"
#include "mask/mask_source.h"
#include "mask/token_class_walk.h"
#include "mask/token_walk.h"

namespace parlance::mask {

// Reuses its memory.  Not thread-safe.
class TextMasks {
 public:
  TextMasks(const MaskResources& resources, TokenWalk& walk);

  // The mask of `place`.  Returns whether most tokens were read
  // (RecogniserMasks::lately).
  bool make(const Where& place, MaskBuilder& mask);

 private:
  // A walk over fewer nodes is faster byte by byte than by token classes.
  static constexpr std::size_t kManyNodes = 1000;

  std::size_t nodes_below(const base::ByteSet& bytes) const;
  bool like_another(const Where& place, MaskBuilder& mask);
  bool like(const Where& place, Configuration other, MaskBuilder& mask);
  bool same_marks(const MaskSource& source, Configuration one,
                  Configuration other);
  std::optional<base::ByteSet> bytes_apart(const MaskSource& source,
                                           Configuration one,
                                           Configuration other) const;
  bool correct(const Where& place, Configuration other, std::uint32_t root,
               MaskBuilder& mask);

  const MaskResources& resources_;
  const vocab::TokenTrie& trie_;
  TokenWalk& walk_;
  TokenClassWalk token_class_walk_;
  Recogniser::TokenIds marks_, marks_of_other_;
  // Of the current path of correct(), by depth.
  std::vector<Configuration> states_ =
      std::vector<Configuration>(vocab::kMaxTokenBytes + 1);
  std::vector<Configuration> states_of_other_ =
      std::vector<Configuration>(vocab::kMaxTokenBytes + 1);
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_TEXT_MASKS_H_
