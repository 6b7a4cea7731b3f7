#ifndef PARLANCE_SRC_VOCAB_ADDED_TOKENS_H_
#define PARLANCE_SRC_VOCAB_ADDED_TOKENS_H_

// Added tokens, as tokenizer.json and tokenizer_config.json list them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "parlance/error.h"
#include "parlance/json.h"
#include "vocab/table.h"

namespace parlance::vocab {

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

// The error that a token is `spelling` here and has another content in
// tokenizer_config.json.
Error other_content(std::uint64_t id, std::string_view spelling,
                    const AddedToken& other, std::string path);

// Adds an added token with these bytes.
std::optional<Error> add_added(std::uint64_t id, std::string_view bytes,
                               const AddedToken& token, TableBuilder& builder);

// A token of a file that does not list its added tokens apart.
struct ListedToken {
  std::uint64_t id;
  std::string_view bytes;
  Kind kind;
  std::string_view spelling;
};

// Adds `token`; if `added` lists its id, as an added token.  Error: kConflict,
// with `path`, if its content there is not the spelling.
std::optional<Error> add_listed(const ListedToken& token,
                                const AddedTokens& added,
                                const std::string& path, TableBuilder& builder);

// Adds the tokens of `added` that `builder` does not have, with their content
// as bytes.
std::optional<Error> add_others(const AddedTokens& added,
                                TableBuilder& builder);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_ADDED_TOKENS_H_
