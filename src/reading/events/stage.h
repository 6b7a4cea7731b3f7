#ifndef PARLANCE_SRC_EVENTS_STAGE_H_
#define PARLANCE_SRC_EVENTS_STAGE_H_

// How far a parser of a stream is: at the events of its prefix, in its input,
// or at its end.  Text and tokens are two kinds of input, and a parser reads
// one of them.
//
// A round that is left by an exception, because there was no memory, has read
// an unknown part of its input, so it is the end of the stream.  The next call
// of finalize() says so, in a diagnostic.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "parlance/error.h"
#include "parlance/message.h"

namespace parlance::events {

class Stage {
 public:
  // Whether no round has begun, so that the events are those of the prefix.
  bool initial() const { return stage_ == At::kPrefix; }
  bool finalized() const { return stage_ >= At::kRound; }

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
  // The round was read.
  void end_input() { stage_ = At::kInput; }

  // Between rounds: whether one was left by an exception, and that is not yet
  // in a diagnostic.
  bool failed() const { return stage_ == At::kRound; }
  // The diagnostic of a parser that has read `bytes` bytes when memory ran out.
  static Diagnostic failure(std::size_t bytes) {
    return {ErrorCode::kTooLarge,
            "there was no memory to read the response any further",
            "",
            {bytes, bytes}};
  }

  // The last round begins.  Returns false if it has been already.
  bool begin_end() {
    misuse_.reset();
    if (finalized()) return false;
    stage_ = At::kRound;
    return true;
  }
  // It was read, or the diagnostic is written.
  void end() { stage_ = At::kEnd; }

  const Error* misuse() const { return misuse_ ? &*misuse_ : nullptr; }

 private:
  //   kPrefix --begin_text()--> kRound --end_input()--> kInput --> kRound ...
  //   kPrefix or kInput --begin_end()--> kRound --end()--> kEnd
  //
  // Only an exception leaves kRound standing between two calls, so finalized()
  // counts it as the end: no input is read from an unknown place.
  enum class At : std::uint8_t { kPrefix, kInput, kRound, kEnd };

  bool begin_input(bool reads_kind, const char* otherwise) {
    misuse_.reset();
    if (finalized()) {
      misuse_ = Error{.code = ErrorCode::kFinalized,
                      .message =
                          "The parser is finalized: a parser is for one "
                          "response."};
      return false;
    }
    // A refused input drops the events of the prefix, too, so At::kPrefix ends.
    stage_ = reads_kind ? At::kRound : At::kInput;
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
