#ifndef PARLANCE_SRC_VOCAB_TOKENIZER_JSON_H_
#define PARLANCE_SRC_VOCAB_TOKENIZER_JSON_H_

// Hugging Face's tokenizer.json: model, added tokens and decoder.  Merges,
// scores, pre-tokenizer, post-processor, truncation and padding say nothing
// about a token's bytes and are not looked at.

#include <string_view>

#include "parlance/error.h"
#include "parlance/limits.h"
#include "vocab/table.h"

namespace parlance::vocab {

std::optional<Error> read_tokenizer_json(std::string_view text,
                                         const Limits& limits,
                                         TableBuilder& builder);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TOKENIZER_JSON_H_
