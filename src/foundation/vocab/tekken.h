#ifndef PARLANCE_SRC_VOCAB_TEKKEN_H_
#define PARLANCE_SRC_VOCAB_TEKKEN_H_

// Tekken, the tokenizer files of Mistral:
//
//   {"config": {"version": "v3", "default_vocab_size": 131072,
//               "default_num_special_tokens": 1000, ...},
//    "vocab": [{"rank": 0, "token_bytes": "AA==", ...}, ...],
//    "special_tokens": [{"rank": 0, "token_str": "<unk>",
//                        "is_control": true}, ...]}
//
// The special tokens come first: id 1000 is the first entry of "vocab".  Ids
// without an entry below 1000 are "<SPECIAL_20>" and so on.  Of "vocab", as
// many entries count as the size leaves.

#include <optional>

#include "parlance/error.h"
#include "parlance/json.h"
#include "vocab/added_tokens.h"
#include "vocab/table.h"

namespace parlance::vocab {

// Whether `file` has the keys of a Tekken file, and not a tokenizer.json's.
bool is_tekken(const json::Value& file);

// Adds the tokens to `builder`; those that `more` lists are added tokens.
// `end` becomes the id of "</s>", if there is one.
std::optional<Error> read_tekken(const json::Value& file,
                                 const AddedTokens& more, TableBuilder& builder,
                                 std::optional<Id>& end);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TEKKEN_H_
