#ifndef PARLANCE_SRC_VOCAB_VOCAB_TEXT_H_
#define PARLANCE_SRC_VOCAB_VOCAB_TEXT_H_

// The vocabulary text that scripts/fetch-vocab.mjs writes:
//
//   vocab 1
//   size 3
//   eos 2
//   tokens
//   T aGVsbG8=
//   U
//   S PHxlbmR8Pg==
//
// A head of "key value" lines, the line "tokens", then a line per id from 0: T
// for an ordinary token, S for a control token, U for none.

#include <string_view>

#include "parlance/error.h"
#include "vocab/table.h"

namespace parlance::vocab {

// Whether `text` begins as a vocabulary text does.
bool is_vocab_text(std::string_view text);

std::optional<Error> read_vocab_text(std::string_view text,
                                     TableBuilder& builder);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_VOCAB_TEXT_H_
