#ifndef PARLANCE_SRC_EVENTS_STAGE_H_
#define PARLANCE_SRC_EVENTS_STAGE_H_

// How far a parser of a stream is: at the events of its prefix, in its input,
// or at its end.  Text and tokens are two kinds of input, and a parser reads
// one of them.

#include <cstdint>
#include <optional>

#include "parlance/error.h"

namespace parlance::events {

class Stage {
 public:
  // Whether no round has begun, so that the events are those of the prefix.
  bool initial() const { return stage_ == At::kPrefix; }
  bool finalized() const { return stage_ == At::kEnd; }

  // A round of text, or of tokens, begins.  Returns whether to read it: the
  // stream has not ended, and the parser reads inputs of this kind.  Otherwise
  // misuse() says why not, up to the next round.
  bool begin_text(bool reads_tokens) {
    return begin_input(!reads_tokens,
                       "The parser has a vocabulary, so it reads token ids: "
                       "feed_tokens().");
  }
  bool begin_tokens(bool reads_tokens) {
    return begin_input(reads_tokens,
                       "The parser was made without a vocabulary, so it reads "
                       "text: feed().");
  }
  // The last round begins.  Returns false if it has been already.
  bool begin_end() {
    misuse_.reset();
    if (finalized()) return false;
    stage_ = At::kEnd;
    return true;
  }

  const Error* misuse() const { return misuse_ ? &*misuse_ : nullptr; }

 private:
  enum class At : std::uint8_t { kPrefix, kInput, kEnd };

  bool begin_input(bool reads_kind, const char* otherwise) {
    misuse_.reset();
    if (finalized()) {
      misuse_ = Error{.code = ErrorCode::kFinalized,
                      .message =
                          "The parser is finalized: a parser is for one "
                          "response."};
      return false;
    }
    stage_ = At::kInput;
    if (!reads_kind) {
      misuse_ = Error{.code = ErrorCode::kUsage, .message = otherwise};
    }
    return reads_kind;
  }

  At stage_ = At::kPrefix;
  std::optional<Error> misuse_;
};

}  // namespace parlance::events

#endif  // PARLANCE_SRC_EVENTS_STAGE_H_
