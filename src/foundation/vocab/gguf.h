#ifndef PARLANCE_SRC_VOCAB_GGUF_H_
#define PARLANCE_SRC_VOCAB_GGUF_H_

// The tokenizer in a GGUF file: versions 2 and 3, little-endian.
//
//   "GGUF" version:u32 tensors:u64 pairs:u64
//   pair:   key:string type:u32 value
//   string: size:u64 bytes
//   array:  type:u32 count:u64 values
//
// Only the header's pairs are read, so the beginning of the file that contains
// them is enough; tensors are never read.  Every count is checked against the
// bytes that are present before memory is reserved for it, and values that are
// not part of the tokenizer are skipped without a copy.
//
// A token's bytes are the output of llama.cpp for that token alone, with
// special tokens enabled.

#include <string_view>

#include "parlance/error.h"
#include "vocab/table.h"

namespace parlance::vocab {

// Whether `bytes` begin with the signature of a GGUF file.
bool is_gguf(std::string_view bytes);

// Reads the beginning of a file.  On an error, `truncated` is whether the
// file could be valid with more of its bytes.
std::optional<Error> read_gguf(std::string_view bytes, bool& truncated,
                               TableBuilder& builder);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_GGUF_H_
