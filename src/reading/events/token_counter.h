#ifndef PARLANCE_SRC_EVENTS_TOKEN_COUNTER_H_
#define PARLANCE_SRC_EVENTS_TOKEN_COUNTER_H_

// Counts the tokens of a response by what they are part of.
//
// The text of a part is in chunks, and no token is in two of them: a token that
// contains the end of one and the beginning of the next counts once, for the
// first.  What no chunk contains is markup.

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/reasoning_names.h"
#include "parlance/message.h"

namespace parlance::events {

// A part: its member of TokenCounts.
using TokenPart = std::int64_t TokenCounts::*;

// The part that a field is.
inline TokenPart part_of(std::string_view field) {
  if (field == "tool_calls") return &TokenCounts::tool_calls;
  return base::is_reasoning_name(field) ? &TokenCounts::reasoning
                                        : &TokenCounts::content;
}

// Whether the bytes of an event are text of a part.
inline bool has_text(const Event& event) {
  return event.kind == EventKind::kRegionChunk ||
         event.kind == EventKind::kTextUnclaimed;
}

class TokenCounter {
 public:
  // The part has text in these tokens.
  // REQUIRES: calls come in the order of the response.
  void count(TokenPart part, Span tokens) {
    // The first of the tokens may be counted already, for the chunk before.
    const auto begin = std::max(end_, static_cast<std::int64_t>(tokens.begin));
    const auto end = static_cast<std::int64_t>(tokens.end);
    if (end <= begin) return;
    end_ = end;
    counts_.*part += end - begin;
  }

  // The counts of a response of `total` tokens so far.  Not all tokens are in a
  // part.
  TokenCounts counts(std::int64_t total) const {
    TokenCounts out = counts_;
    out.markup = std::max<std::int64_t>(total - counts_.total(), 0);
    return out;
  }

 private:
  TokenCounts counts_;
  std::int64_t end_ = 0;  // tokens before this are counted
};

}  // namespace parlance::events

#endif  // PARLANCE_SRC_EVENTS_TOKEN_COUNTER_H_
