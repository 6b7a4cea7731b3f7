#ifndef PARLANCE_BENCH_ENCODE_H_
#define PARLANCE_BENCH_ENCODE_H_

// The tokens that a model writes a text with, for texts of English and code.
//
// The text is cut into words as llama-3's pattern does, and each word is put
// together from its bytes, the lowest id first.  Characters beyond ASCII count
// as letters, which is near enough for a benchmark.

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parlance/vocabulary.h"

namespace parlance::bench {

class Encoder {
 public:
  explicit Encoder(const Vocabulary& vocabulary);

  // REQUIRES: every byte is a token.
  std::vector<TokenId> encode(std::string_view text) const;

 private:
  void encode_word(std::string_view word, std::vector<TokenId>& out) const;

  std::unordered_map<std::string_view, TokenId> ids_;
};

}  // namespace parlance::bench

#endif  // PARLANCE_BENCH_ENCODE_H_
