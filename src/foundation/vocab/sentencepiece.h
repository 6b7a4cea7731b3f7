#ifndef PARLANCE_SRC_VOCAB_SENTENCEPIECE_H_
#define PARLANCE_SRC_VOCAB_SENTENCEPIECE_H_

// SentencePiece's model files, tokenizer.model: a message of Protocol Buffers.
//
//   1 piece, repeated       1 text, 3 type (PieceType; default: normal)
//   2 trainer               24 white space is a suffix, 47 the piece that ends
//                           a text
//   3 normaliser            3 add_dummy_prefix, 4 remove_extra_whitespaces
//   5 denormaliser          2 rules that rewrite a decoded text
//
// The id of a piece is its position.  Other fields are skipped; of a field
// that is given twice, the last one counts, as the format requires.

#include <optional>
#include <string_view>

#include "parlance/error.h"
#include "vocab/added_tokens.h"
#include "vocab/table.h"

namespace parlance::vocab {

// Whether `bytes` begin as a message of these fields does and are no text.
bool is_sentencepiece(std::string_view bytes);

// Adds the pieces to `builder`; those that `more` lists are added tokens.
// `end` becomes the id of the control piece that ends a text, if there is one.
std::optional<Error> read_sentencepiece(std::string_view file,
                                        const AddedTokens& more,
                                        TableBuilder& builder,
                                        std::optional<Id>& end);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_SENTENCEPIECE_H_
