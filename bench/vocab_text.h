#ifndef PARLANCE_BENCH_VOCAB_TEXT_H_
#define PARLANCE_BENCH_VOCAB_TEXT_H_

// The vocabulary text that bench/fetch-vocab.mjs writes:
//
//   vocab 1
//   size 3
//   eos 2
//   tokens
//   T aGVsbG8=
//   U
//   S PHxlbmR8Pg==
//
// A head of "key value" lines, the line "tokens", then a line per id from 0: T
// and base64 for an ordinary token, S and base64 for a control token, U for
// none.  `eos` lists the stop ids.  The other keys of the head (name, source,
// license; pattern, normalize, whole: how the tokenizer splits text) are for
// other readers.

#include <string>

#include "parlance/vocabulary.h"

namespace parlance::bench {

// Reads a vocabulary text, or what Vocabulary::from_file() reads.
Result<Vocabulary> read_vocabulary(const std::string& path);

}  // namespace parlance::bench

#endif  // PARLANCE_BENCH_VOCAB_TEXT_H_
