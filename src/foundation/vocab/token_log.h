#ifndef PARLANCE_SRC_VOCAB_TOKEN_LOG_H_
#define PARLANCE_SRC_VOCAB_TOKEN_LOG_H_

// The tokens of a stream: which of them hold which of its bytes.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "parlance/message.h"
#include "vocab/table.h"

namespace parlance::vocab {

class TokenLog {
 public:
  void add(Id id, std::uint64_t end) { entries_.push_back({end, id}); }

  // Half-open range of the tokens that hold `bytes`, counted from the first
  // token; {0, 0} where there are none.  `begin`: where tokens began.
  Span holding(Span bytes, std::uint64_t begin) const;
  // REQUIRES: `token` is one of holding(), and not forgotten.
  Id id(std::size_t token) const { return entries_[token - dropped_].id; }
  std::size_t size() const { return dropped_ + entries_.size(); }

  // Bytes before `position` will not be asked for any more.
  void forget(std::uint64_t position);

 private:
  struct Entry {
    std::uint64_t end = 0;  // of the token's bytes
    Id id = 0;
  };
  std::vector<Entry> entries_;
  std::size_t dropped_ = 0;
};

// The token with this number in the stream, at `at`, has an id that is not in
// the vocabulary.
Diagnostic unknown_token(std::size_t number, Id id, std::uint64_t at);

// The token with this number in the stream, at `at`, is a control token that
// the description knows nothing of.
Diagnostic unexpected_special(std::size_t number, Id id,
                              std::string_view spelling, std::uint64_t at);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_TOKEN_LOG_H_
