#ifndef PARLANCE_SRC_VOCAB_TOKEN_LIST_H_
#define PARLANCE_SRC_VOCAB_TOKEN_LIST_H_

// A list of spelled tokens, as other libraries take it.

#include <optional>

#include "parlance/error.h"
#include "parlance/vocabulary.h"
#include "vocab/table.h"

namespace parlance::vocab {

std::optional<Error> read_token_list(const TokenList& list,
                                     TableBuilder& builder);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TOKEN_LIST_H_
