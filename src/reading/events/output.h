#ifndef PARLANCE_SRC_EVENTS_OUTPUT_H_
#define PARLANCE_SRC_EVENTS_OUTPUT_H_

// What both parsers give: the events of a round, and the message that all
// events so far add up to.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "events/round.h"
#include "parlance/json.h"
#include "parlance/message.h"

namespace parlance::events {

// A region that ends.
struct RegionEnd {
  std::string_view name;  // of its field
  std::uint32_t field = 0;
  std::size_t begin = 0;  // where the region begins
  Span delimiter;         // empty if there is none
  bool cut = false;
};

struct Output {
  Output(bool keep, std::size_t diagnostics)
      : keeps_message(keep), most_diagnostics(diagnostics) {}

  void diagnose(Diagnostic diagnostic) {
    if (message.diagnostics.size() >= most_diagnostics) return;
    message.diagnostics.push_back(std::move(diagnostic));
  }

  // Adds the last event of a region, and its part of the message: the region
  // has a value, or, for the reason `why`, only its text.
  // REQUIRES: `text` stays valid until the next round.
  void close_region(const RegionEnd& region, json::Value value);
  void spoil_region(const RegionEnd& region, std::string_view text,
                    Diagnostic why);

  // Adds an attempted call of a field, with its event.  The event gets its
  // attempt, and the attempt its tokens, when the round ends.
  void attempt(std::string_view name, std::uint32_t field, Attempt attempt);
  // Before a round, and at its end.
  void begin_attempts() {
    if (std::exchange(new_attempts_, 0) > 0) attempts_.clear();
  }
  void end_attempts() {
    if (new_attempts_ > 0) join_attempts();
  }

  const bool keeps_message;
  const std::size_t most_diagnostics;
  Round round;
  Message message;
  bool fields_stale = true;  // Message::fields is out of date

 private:
  std::vector<Attempt>& attempts() {
    return keeps_message ? message.attempts : attempts_;
  }
  void join_attempts();
  Event& end_region(EventKind kind, const RegionEnd& region,
                    const json::Value* value);

  std::vector<Attempt> attempts_;  // of the round, if there is no message
  std::size_t new_attempts_ = 0;   // of the round
};

}  // namespace parlance::events

#endif  // PARLANCE_SRC_EVENTS_OUTPUT_H_
