#ifndef PARLANCE_SRC_VOCAB_TOKENIZER_JSON_H_
#define PARLANCE_SRC_VOCAB_TOKENIZER_JSON_H_

// Hugging Face's tokenizer.json.  The reader uses the model, the added tokens,
// the decoder, and the parts of the normalizer and the pre-tokenizer that
// affect decoding.  It ignores merges, scores, post-processor, truncation and
// padding, because they do not affect the bytes of a token.

#include <optional>

#include "parlance/error.h"
#include "parlance/json.h"
#include "vocab/added_tokens.h"
#include "vocab/table.h"

namespace parlance::vocab {

// Adds the tokens of a tokenizer.json to `builder`.  `more` are the added
// tokens that another file lists.  If tokenizer.json has an added token with
// the same id, both must have the same content, and the flags in `more` apply.
// Error: kConflict, with a path in this file, if the contents differ.
std::optional<Error> read_tokenizer_json(const json::Value& tokenizer,
                                         const AddedTokens& more,
                                         TableBuilder& builder);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TOKENIZER_JSON_H_
