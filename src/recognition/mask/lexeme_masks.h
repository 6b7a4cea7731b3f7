#ifndef PARLANCE_SRC_MASK_LEXEME_MASKS_H_
#define PARLANCE_SRC_MASK_LEXEME_MASKS_H_

// Masks inside any other lexeme: a string with a pattern, a key, a number.  See
// lexeme_mask.h for the idea.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/fingerprint.h"
#include "mask/lexeme_mask.h"
#include "mask/lexeme_walk.h"
#include "mask/mask_builder.h"
#include "mask/mask_resources.h"
#include "mask/mask_source.h"
#include "mask/token_walk.h"

namespace parlance::mask {

// Reuses its memory.  Not thread-safe.
class LexemeMasks {
 public:
  LexemeMasks(const MaskResources& resources, TokenWalk& walk);

  // The mask of `inside`, whose place is `lexeme`.
  void make(const Where& inside, const LexemeHint& lexeme, MaskBuilder& mask);
  // The mask of `inside`, whose place is `keys`.
  void make(const Where& inside, const SplitKeys& keys, MaskBuilder& mask);

 private:
  // A lexeme whose LexemeMask is made or looked for, in the memory of `mask`.
  struct Lexeme {
    const Where& inside;
    const LexemeHint& hint;
    MaskBuilder& mask;
  };
  using SharedMask = std::shared_ptr<const LexemeMask>;
  using Part = LexemeStates::Parts::Part;

  SharedMask find_or_make(const Lexeme& of, Configuration config,
                          std::uint32_t room, bool bounded);
  SharedMask by_state(const Lexeme& of, const Part& part, std::uint32_t room,
                      bool bounded);
  static void unite(std::span<const SharedMask> parts,
                    std::span<std::uint32_t> words, LexemeMask& made);
  void intersect(LexemeStates& states, std::uint32_t state,
                 std::span<const SharedMask> parts,
                 std::span<std::uint32_t> words, LexemeMask& made);
  void walk_tokens(const Lexeme& of, Configuration config, LexemeMask& made);
  SharedMask store(const Lexeme& of, const base::Fingerprint& key,
                   std::shared_ptr<LexemeMask> made);
  bool leave_by_whitespace(const Lexeme& of);

  const MaskResources& resources_;
  const vocab::TokenTrie& trie_;
  TokenWalk& walk_;
  LexemeWalk lexeme_walk_;
  // By depth of the current path: the configuration, and the node.
  std::vector<Configuration> states_ =
      std::vector<Configuration>(vocab::kMaxTokenBytes + 1);
  std::vector<std::uint32_t> path_ =
      std::vector<std::uint32_t>(vocab::kMaxTokenBytes + 1);
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_LEXEME_MASKS_H_
