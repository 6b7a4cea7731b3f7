#ifndef PARLANCE_SRC_VOCAB_TOKENIZER_JSON_H_
#define PARLANCE_SRC_VOCAB_TOKENIZER_JSON_H_

// Hugging Face's tokenizer.json.  The reader uses the model, the added tokens,
// the decoder, and the parts of the normalizer and the pre-tokenizer that
// affect decoding.  It ignores merges, scores, post-processor, truncation and
// padding, because they do not affect the bytes of a token.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "vocab/table.h"

namespace parlance::vocab {

// An added token, as tokenizer.json and tokenizer_config.json list them.
struct AddedToken {
  std::string content;
  bool special = false;
  bool strips_left = false;
  bool strips_right = false;
};
using AddedTokens = std::map<std::uint64_t, AddedToken>;

// Reads an added token, without its id.  `path` is the path of `value`.
Result<AddedToken> read_added_token(const json::Value& value,
                                    const std::string& path);

// Reads an id.  Error: kWrongType if `value` is not an integer; kBadVocabulary
// or kTooLarge if it is negative or larger than kMaxId.
Result<std::uint64_t> read_id(const json::Value& value, std::string path);

// Adds the tokens of a tokenizer.json to `builder`.  `more` are the added
// tokens that another file lists.  If tokenizer.json has an added token with
// the same id, both must have the same content, and the flags in `more` apply.
// Error: kConflict, with a path in this file, if the contents differ.
std::optional<Error> read_tokenizer_json(std::string_view text,
                                         const AddedTokens& more,
                                         const Limits& limits,
                                         TableBuilder& builder);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TOKENIZER_JSON_H_
