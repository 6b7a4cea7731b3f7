#ifndef PARLANCE_SRC_VOCAB_MODEL_FILES_H_
#define PARLANCE_SRC_VOCAB_MODEL_FILES_H_

// The files of a model's folder that define its tokens:
//
//   tokenizer.json           the tokens; without it tekken.json, or else
//                            tokenizer.model
//   tokenizer_config.json    added_tokens_decoder: flags, more added tokens;
//                            eos_token
//   generation_config.json   eos_token_id, one or a list
//   config.json              vocab_size, or else text_config.vocab_size: the
//                            number of ids in the model's output;
//                            eos_token_id, if there is no
//                            generation_config.json
//
// The message of an error names the file.  The path of an error is a path in
// that file.

#include <optional>
#include <string>
#include <string_view>

#include "parlance/error.h"
#include "parlance/limits.h"
#include "parlance/vocabulary.h"
#include "vocab/added_tokens.h"
#include "vocab/table.h"

namespace parlance::vocab {

// Adds the tokens of a tokenizer.json, a tekken.json or a SentencePiece model,
// recognised by its contents, and of `more`, the added tokens of another file.
// `name` becomes the file's usual name, and `end` the id that ends a response,
// if the file says which.
std::optional<Error> read_tokenizer(std::string_view text,
                                    const AddedTokens& more,
                                    const Limits& limits, TableBuilder& builder,
                                    std::string_view& name,
                                    std::optional<Id>& end);

std::optional<Error> read_model_files(const ModelFiles& files,
                                      const Limits& limits,
                                      TableBuilder& builder);

// The contents of a file, or of the files of a folder.  A missing file is "".
struct Loaded {
  bool folder = false;
  std::string text;  // of a GGUF file, its beginning
  std::string tokenizer;
  std::string tokenizer_config;
  std::string generation_config;
  std::string config;
};

// Reads the file or folder `path`.  Errors: kIo, also for a folder without a
// tokenizer; kTooLarge.
Result<Loaded> load(const std::string& path, const Limits& limits);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_MODEL_FILES_H_
