#ifndef PARLANCE_SRC_EVENTS_STAGE_H_
#define PARLANCE_SRC_EVENTS_STAGE_H_

// How far a parser of a stream is: at the events of its prefix, in its input,
// or at its end.  Text and tokens are two kinds of input, and a parser reads
// one of them.

#include <cstdint>

namespace parlance::events {

class Stage {
 public:
  // Whether no round has begun, so that the events are those of the prefix.
  bool initial() const { return stage_ == At::kPrefix; }
  bool finalized() const { return stage_ == At::kEnd; }

  // A round of input begins.  Returns whether to read it: the stream has not
  // ended, and the parser reads inputs of this kind.
  bool begin_input(bool reads_kind) {
    if (finalized()) return false;
    stage_ = At::kInput;
    return reads_kind;
  }
  // The last round begins.  Returns false if it has been already.
  bool begin_end() {
    if (finalized()) return false;
    stage_ = At::kEnd;
    return true;
  }

 private:
  enum class At : std::uint8_t { kPrefix, kInput, kEnd };
  At stage_ = At::kPrefix;
};

}  // namespace parlance::events

#endif  // PARLANCE_SRC_EVENTS_STAGE_H_
