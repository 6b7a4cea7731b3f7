#ifndef PARLANCE_SRC_CALL_STREAM_ATTEMPTS_H_
#define PARLANCE_SRC_CALL_STREAM_ATTEMPTS_H_

// The calls that a response attempted, and what came of each (Attempt;
// docs/design/recovery.md).
//
//   end of a region --value, or error--> Attempts --> events, message
//
// Two outputs, each of which is optional: all attempts, as events and in the
// message; and a diagnostic for each complete call that does not fit the tools
// of the request.
//
// A region of calls has one attempt, or one for each of its items.  What is
// complete comes from the value that the region has in the message, so the
// complete attempts are the calls of the message.  Of an attempt that is not,
// a CallReader reads the text once more: the name, the id and the beginning of
// the arguments are those that are sent while the call is written.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "call_stream/call_stream.h"
#include "events/output.h"
#include "parlance/json.h"
#include "parlance/message.h"
#include "parlance/tools.h"

namespace parlance::call_stream {

class Attempts {
 public:
  struct Options {
    bool tells = false;      // events and the message have the attempts
    bool diagnoses = false;  // calls that do not fit the tools
  };
  // `out` must outlive this.
  Attempts(events::Output& out, ToolSet tools, Options options)
      : out_(out), tools_(std::move(tools)), options_(options) {}
  bool tells() const { return options_.tells; }

  // A stretch of the response in a region of the field.
  struct Place {
    std::string_view field;
    std::uint32_t index = 0;
    std::string text = {};
    Span bytes = {};
    Span inner = {};      // the bytes without delimiters
    std::string id = {};  // of a call whose reader does not know it
  };
  // Whether the next attempt, which has this place, gets its text, and is read
  // again if it is no call.  Calls that cannot be distinguished share a place,
  // and only the first 16 of them do.
  bool copies(Span place) {
    constexpr std::size_t kMost = 16;
    shares_ = place == last_ ? shares_ + 1 : 0;
    last_ = place;
    return shares_ < kMost;
  }
  // A value that is in the message: a call, or a list of calls, each an attempt
  // with this place.
  void add(Place place, const json::Value& value);
  // What cannot be read as a call.  `reader`, which may be null, reads
  // `written`, the text of the region.
  void add_failed(Place place, CallStatus status, std::string_view why,
                  std::unique_ptr<CallReader> reader, std::string_view written);

 private:
  // Half of a surrogate pair is U+FFFD, also where a bare template keeps it.
  static void make_encodable(Attempt& attempt);
  // What the arguments of a complete call are worth.
  CallStatus check(const CallView& call, std::string& why) const;
  void add_call(const Place& place, std::string text, const CallView& call);

  events::Output& out_;
  const ToolSet tools_;
  const Options options_;
  Span last_ = {};          // of copies()
  std::size_t shares_ = 0;  // attempts before the last with its place
};

}  // namespace parlance::call_stream

#endif  // PARLANCE_SRC_CALL_STREAM_ATTEMPTS_H_
