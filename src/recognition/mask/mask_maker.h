#ifndef PARLANCE_SRC_MASK_MASK_MAKER_H_
#define PARLANCE_SRC_MASK_MASK_MAKER_H_

// The mask of a configuration: the tokens that a recogniser can read from it.
//
// The reference is a walk over the trie of all tokens with step().  It is
// always correct and slow.  MaskMaker gives the same mask sooner; how, depends
// on the kind of configuration:
//
//   inside a string that accepts every character
//       tokens that stay inside    a stored mask, by the characters left
//       tokens that leave          the trie of what follows the quote
//   before a value
//       tokens that end in it      a mask stored for the value
//       tokens that continue       the subtrees at the value's exit points
//   between two lexemes
//       white space only           a stored mask, by the bytes left
//       white space, then more     the trie of what follows the white space
//       no white space             the trie of all tokens, below the few bytes
//                                  that are possible; below a quote that opens
//                                  a string, as inside a string
//   inside another lexeme
//       tokens that stay inside    a mask stored for the lexeme
//       tokens that leave          the paths to them (lexeme_mask.h)
//       keys, where patterns and   keys of the patterns as above; keys of the
//       fixed keys compete         schema by the trie of all tokens
//   in any other text
//       few bytes are possible     the trie of all tokens
//       else                       the trie of token classes
//                                  (token_class_walk.h)
//
// Each kind is a class: StringMasks, ValueMasks (also between lexemes),
// LexemeMasks, TextMasks.  They share a TokenWalk, which reads tokens byte by
// byte, and a MaskSource, the recogniser as they ask it.
//
// Configurations are many and masks are few.  Each of these relations between
// configurations saves work, from the finest to the coarsest (recogniser.h and
// hint.h define them):
//
//   relation             two related configurations have
//   -------------------  ---------------------------------------------------
//   mask_key             the same mask: they differ in counts that no token
//                        can exhaust
//   mask_equivalent      the same mask: whatever was read to make the mask of
//                        one is equal in the other
//   part_at              the same mask, in different grammars: both are at the
//                        same configuration of a shared part, and the mask
//                        depends on nothing after the part, or on the same
//                        text
//   Hint::value          the same tokens up to the end of the value that
//                        comes next
//   value_fingerprint    as Hint::value, in different recognisers
//   fingerprint of a     the same tokens that stay within the lexeme, in
//     lexeme             different recognisers
//   like_another         the same tokens except those whose bytes lead them to
//                        different configurations: inside a marker, after it
//
// The caches.  "With the recogniser" means RecogniserMasks, which live as long
// as the recogniser; the others belong to the compiler.
//
// What is made for one request may serve another one, of another client.  So a
// key holds all that the value reads: by content, or by a fingerprint that
// nobody can forge (base/fingerprint.h).  All of them read the vocabulary of
// the compiler; what else is said where each is declared.
//
//   cache                key                  stores        bound, eviction
//   -------------------  -------------------  ------------  ------------------
//   MaskStore            content of a mask    mask          cache_bytes for
//                                                           all masks;
//                                                           second chance
//   LexemeMaskCache      fingerprint,         LexemeMask    cache_bytes / 4;
//                        end, bound                         least recently
//                                                           used
//   SharedValueMasks     value_fingerprint;   PartialMask   4 MiB; all at once
//                        after a key, with
//                        how the key is left
//   WhitespaceBases      bytes of white       base of a     64 entries; never,
//                        space, characters    mask          later ones are not
//                        of a string                        stored
//   CompilerImpl::       text that follows a  whether a     256 entries; never,
//     no_token_extends   part                 token         later ones are not
//                                             extends it    stored
//   with the recogniser:
//   memo                 mask_equivalent of   MaskHandle    two halves of
//                        mask_key                           16,384 keys; the
//                                                           older half
//   independent          mask_key within      MaskHandle    as memo
//                        this part
//   by_following_text    text after this      MaskHandle    8 texts, each as
//                        part, then mask_key                memo; later texts
//                                                           are not stored
//   partial              Hint::value, or the  PartialMask   4 MiB; all at once
//                        same after a key
//   lately               most recent first    configuration 4 entries;
//                                                           overwritten
//   next                 configuration        forced byte   256 entries, by
//                                             or mark       hash; overwritten
//
// A recogniser keeps the RecogniserMasks of the last few compilers, and a
// GrammarCache the languages (part_cache.h).  A MaskHandle does not keep its
// mask alive: a handle whose mask was evicted is a miss.

#include <cstdint>

#include "mask/lexeme_masks.h"
#include "mask/mask_builder.h"
#include "mask/mask_resources.h"
#include "mask/mask_source.h"
#include "mask/recogniser_masks.h"
#include "mask/string_masks.h"
#include "mask/text_masks.h"
#include "mask/token_walk.h"
#include "mask/value_masks.h"

namespace parlance::mask {

// Makes one mask at a time and reuses its memory.  Not thread-safe.
class MaskMaker {
 public:
  explicit MaskMaker(const MaskResources& resources);
  MaskMaker(const MaskMaker&) = delete;
  MaskMaker& operator=(const MaskMaker&) = delete;

  // The mask of `config`.  Valid until the next call.
  // REQUIRES: the caller holds `recogniser.mutex`; `masks` are those of
  // `recogniser`.
  const MaskBuilder& make(Recogniser& recogniser, Configuration config,
                          RecogniserMasks& masks);
  // Whether the last make() read most tokens (RecogniserMasks::lately).
  bool read_most() const { return read_most_; }

 private:
  bool make_by_kind(const Where& place);
  void set_marks(Recogniser& recogniser, Configuration config);

  const MaskResources resources_;
  TokenWalk walk_;
  StringMasks strings_;
  ValueMasks values_;
  LexemeMasks lexemes_;
  TextMasks texts_;

  MaskBuilder mask_;
  bool read_most_ = false;
  Recogniser::TokenIds token_ids_;  // of set_marks()
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_MASK_MAKER_H_
