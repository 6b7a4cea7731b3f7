// The ends of regions as events and as parts of the message; see output.h.

#include "events/output.h"

namespace parlance::events {

Event& Output::end_region(EventKind kind, const RegionEnd& region,
                          const json::Value* value) {
  fields_stale = true;
  if (keeps_message) {
    message.parts.push_back({.field_index = region.field,
                             .value = value == nullptr ? json::Value() : *value,
                             .malformed = value == nullptr,
                             .cut = region.cut,
                             .bytes = {region.begin, region.delimiter.end}});
  }
  Event& event = round.add(kind, region.name, region.field, region.delimiter);
  event.cut = region.cut;
  return event;
}

void Output::close_region(const RegionEnd& region, json::Value value) {
  Event& event = end_region(EventKind::kRegionClose, region, &value);
  event.value = &round.keep_value(std::move(value));
}

void Output::spoil_region(const RegionEnd& region, std::string_view text,
                          Diagnostic why) {
  Event& event = end_region(EventKind::kRegionMalformed, region, nullptr);
  event.text = text;
  event.diagnostic = &round.keep_diagnostic(std::move(why));
}

void Output::attempt(std::string_view name, std::uint32_t field,
                     Attempt attempt) {
  round.add(EventKind::kCallAttempt, name, field, attempt.bytes);
  std::vector<Attempt>& all = attempts();
  if (all.empty()) all.reserve(4);
  all.push_back(std::move(attempt));
  ++new_attempts_;
}

void Output::join_attempts() {
  // The attempts of the round are the last of the list, in the order of their
  // events.  Only now does the list stay where it is, so only now can events
  // point into it.
  std::size_t next = attempts().size() - new_attempts_;
  for (Event& event : round.events()) {
    if (event.kind != EventKind::kCallAttempt) continue;
    Attempt& attempt = attempts()[next++];
    attempt.tokens = event.tokens;
    event.attempt = &attempt;
  }
}

}  // namespace parlance::events
