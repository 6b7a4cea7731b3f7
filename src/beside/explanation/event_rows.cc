#include "explanation/event_rows.h"

#include <algorithm>
#include <utility>

#include "base/white_space.h"

namespace parlance::explanation {

Span tokens_of(const Explanation& explanation, Span bytes) {
  const std::vector<std::size_t>& ends = explanation.token_ends;
  const std::size_t prefix = explanation.prefix_bytes;
  if (ends.empty() || bytes.end <= prefix) return {};
  const std::size_t begin = std::max(bytes.begin, prefix);
  const auto first = std::upper_bound(ends.begin(), ends.end(), begin);
  auto last = std::lower_bound(first, ends.end(), bytes.end);
  if (last != ends.end()) ++last;
  return {static_cast<std::size_t>(first - ends.begin()),
          static_cast<std::size_t>(last - ends.begin())};
}

// Makes the chunk a part of the last row, if that is text of the same region
// and ends where the chunk begins.  A row does not begin in the prefix and end
// after it.
bool EventRows::join_row(const Event& event) {
  if (!join_ || !last_is_text_ || event.bytes.begin != owned_ ||
      owned_ == out_.prefix_bytes || event.bytes.end > out_.text.size()) {
    return false;
  }
  ExplanationRow& last = out_.rows.back();
  last.bytes.end = event.bytes.end;
  last.tokens.end = std::max(last.tokens.end, event.tokens.end);
  owned_ = event.bytes.end;
  return true;
}

void EventRows::add(const Event& event) {
  gap(event.bytes.begin, between_);
  const bool is_text = event.kind == EventKind::kRegionChunk;
  if (is_text && join_row(event)) {
    at_ = std::max(at_, event.bytes.end);
    return;
  }
  last_is_text_ = is_text;
  at_ = std::max(at_, event.bytes.end);
  switch (event.kind) {
    case EventKind::kRegionOpen:
      return open(event);
    case EventKind::kRegionChunk:
      field_row(ExplanationKind::kText, event, "text of ");
      return;
    case EventKind::kRegionClose:
      if (event.cut) {
        of_field(event, remark(ExplanationKind::kCut, event.bytes,
                               "the response ends inside " +
                                   std::string(event.field)));
      } else if (event.bytes.size() > 0) {
        field_row(ExplanationKind::kClose, event, "closes ");
      }
      return;
    case EventKind::kRegionMalformed:
      return malformed(event);
    case EventKind::kTextUnclaimed: {
      row(ExplanationKind::kUnclaimed, event.bytes, event.tokens, "in no field")
          .field_index = event.field_index;
      ExplanationRow& added = remark(ExplanationKind::kProblem, event.bytes,
                                     event.diagnostic->message);
      added.code = event.diagnostic->code;
      added.message = event.diagnostic->message;
      return;
    }
    case EventKind::kCallOpen:
    case EventKind::kCallArguments:
    case EventKind::kCallClose:
    case EventKind::kCallAttempt:
      return;
  }
}

void EventRows::open(const Event& event) {
  // The implicit field, which has no opening delimiter, opens with its first
  // character.
  if (event.bytes.size() == 0) return;
  std::string what = "opens " + std::string(event.field);
  for (const Capture& capture : event.captures) {
    what += ", " + std::string(capture.name) + "=";
    what += capture.text;
  }
  ExplanationRow& added = of_field(
      event,
      row(ExplanationKind::kOpen, event.bytes, event.tokens, std::move(what)));
  for (const Capture& capture : event.captures) {
    added.captures.emplace_back(capture.name, capture.text);
  }
}

void EventRows::malformed(const Event& event) {
  if (event.bytes.size() > 0) {
    field_row(ExplanationKind::kClose, event, "closes ");
  }
  const Diagnostic* why = event.diagnostic;
  std::string what = std::string(event.field) + " is malformed";
  if (why != nullptr) what += ": " + why->message;
  ExplanationRow& added =
      of_field(event, remark(ExplanationKind::kMalformed,
                             why == nullptr ? event.bytes : why->bytes,
                             std::move(what)));
  if (why == nullptr) return;
  added.code = why->code;
  added.message = why->message;
  added.at = why->at;
}

ExplanationRow& EventRows::of_field(const Event& event, ExplanationRow& added) {
  added.field = event.field;
  added.field_index = event.field_index;
  return added;
}

void EventRows::field_row(ExplanationKind kind, const Event& event,
                          std::string_view what) {
  of_field(event, row(kind, event.bytes, event.tokens,
                      std::string(what) + std::string(event.field)));
}

void EventRows::held(std::size_t fed, std::size_t end, std::size_t size) {
  const std::size_t begin = end - std::min(end, size);
  gap(begin, between_);
  if (size == 0) return;
  ExplanationRow& added =
      remark(ExplanationKind::kHeld, {begin, end},
             "held, " + std::to_string(fed) +
                 (out_.ids.empty() ? " bytes fed" : " tokens fed"));
  added.fed = fed;
}

// A text or a token that ends the turn has no event.
void EventRows::end(bool turn_ended) {
  gap(out_.text.size(), turn_ended ? "ends the turn" : "after the last region");
}

void EventRows::gap(std::size_t end, std::string_view what) {
  if (end <= at_) return;
  const Span bytes{at_, end};
  at_ = end;
  last_is_text_ = false;
  const std::string_view text = std::string_view(out_.text).substr(
      std::min(bytes.begin, out_.text.size()), bytes.size());
  const bool blank = base::is_blank(text);
  row(blank ? ExplanationKind::kLayout : ExplanationKind::kOutside, bytes,
      tokens_of(out_, bytes), std::string(blank ? "layout" : what));
}

ExplanationRow& EventRows::row(ExplanationKind kind, Span bytes, Span tokens,
                               std::string what) {
  // Text that was neither held nor reported has a row already, even if an event
  // claims it now.
  bytes.begin = std::min(std::max(bytes.begin, owned_), out_.text.size());
  bytes.end = std::clamp(bytes.end, bytes.begin, out_.text.size());
  owned_ = bytes.end;
  if (bytes.end <= out_.prefix_bytes) {
    what += " (prefix)";
  } else if (bytes.begin < out_.prefix_bytes) {
    what += " (from the prefix on)";
  }
  ExplanationRow& added = out_.rows.emplace_back();
  added.kind = kind;
  added.bytes = bytes;
  added.tokens = tokens;
  added.what = std::move(what);
  return added;
}

ExplanationRow& EventRows::remark(ExplanationKind kind, Span place,
                                  std::string what) {
  ExplanationRow& added = out_.rows.emplace_back();
  added.kind = kind;
  added.bytes = place;
  added.tokens = tokens_of(out_, place);
  added.what = std::move(what);
  return added;
}

}  // namespace parlance::explanation
