#ifndef PARLANCE_SRC_VOCAB_TOKENIZER_JSON_H_
#define PARLANCE_SRC_VOCAB_TOKENIZER_JSON_H_

// Hugging Face's tokenizer.json: model, added tokens and decoder.  Merges,
// scores, post-processor, truncation and padding do not affect a token's
// bytes and are not looked at.

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

// The added token in `value`, which is at `path`, without its id.
Result<AddedToken> read_added_token(const json::Value& value,
                                    const std::string& path);

// The id in `value`, of which kind and range are checked.
Result<std::uint64_t> read_id(const json::Value& value, std::string path);

// `more`: the added tokens that another file lists.  Tokens with a new id are
// added; for the others the flags in `more` apply.  Error: kConflict for
// another content with the same id, with a path in this file.
std::optional<Error> read_tokenizer_json(std::string_view text,
                                         const AddedTokens& more,
                                         const Limits& limits,
                                         TableBuilder& builder);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TOKENIZER_JSON_H_
