#ifndef PARLANCE_SRC_VOCAB_TIKTOKEN_H_
#define PARLANCE_SRC_VOCAB_TIKTOKEN_H_

// tiktoken's rank files: one line per token, base64 of its bytes, a space, its
// rank, which is its id.  Special tokens are not in the file.

#include <string_view>

#include "parlance/error.h"
#include "vocab/table.h"

namespace parlance::vocab {

// Adds the file's tokens to `builder`, which may hold the special ones already.
std::optional<Error> read_tiktoken(std::string_view ranks,
                                   TableBuilder& builder);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TIKTOKEN_H_
