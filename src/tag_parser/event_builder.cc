// Builds events and the message; see event_builder.h.
//
// Every region becomes a kRegionOpen, kRegionChunk for each piece of its text,
// and kRegionClose or kRegionMalformed.  If a message is wanted, a closed
// region also becomes a part of it, and its value goes into the slot of its
// field.

#include "tag_parser/event_builder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/utf8.h"

namespace parlance::tag_parser {

using structural_tag::kNoTagNode;
using structural_tag::TagNodeId;

namespace {

constexpr std::size_t kKeptEvents = 1024;

// Copying an event takes a third of the time of clearing one, which GCC does
// with a string instruction.
constexpr Event kEmptyEvent;

}  // namespace

EventBuilder::EventBuilder(const Regions& regions, bool keep_message,
                           bool stream_calls, std::size_t diagnostics)
    : regions_(regions),
      keep_(keep_message),
      max_diagnostics_(diagnostics),
      slots_(regions.fields().size()) {
  if (!stream_calls) return;
  // What was read within the limits of the tag's grammar is read again.
  Limits limits;
  limits.json_depth = std::numeric_limits<std::size_t>::max();
  limits.integer_digits = std::numeric_limits<std::size_t>::max();
  limits.source_bytes = std::numeric_limits<std::size_t>::max();
  calls_.emplace(keep_message ? &message_.calls : nullptr, limits);
}

void EventBuilder::begin_round() {
  // The memory that a long chunk needed is not retained for the next one.
  if (events_.capacity() > kKeptEvents) std::vector<Event>().swap(events_);
  events_.clear();
  if (!values_.empty()) values_.clear();
  if (!texts_.empty()) texts_.clear();
  if (!whys_.empty()) whys_.clear();
  if (calls_) calls_->begin_round();
}

Event& EventBuilder::add(EventKind kind, Span bytes) {
  Event& event = events_.emplace_back(kEmptyEvent);
  event.kind = kind;
  event.field = field_name();
  event.field_index = field_;
  event.bytes = bytes;
  return event;
}

void EventBuilder::open(TagNodeId id, Span delimiter) {
  if (open_ != kNoTagNode) close_open(delimiter.begin, false);
  open_ = id;
  begin_ = delimiter.begin;
  text_.clear();
  if (id == kRest) {
    const auto& names = regions_.fields();
    field_ = static_cast<std::uint32_t>(
        std::find(names.begin(), names.end(), "rest") - names.begin());
    kind_ = RegionKind::kText;
    dirty_ = false;
    add(EventKind::kRegionOpen, delimiter);
    return;
  }
  const Region& region = regions_.region(id);
  field_ = region.field;
  kind_ = region.kind;
  dirty_ = region.value != kNoTagNode;
  Event& event = add(EventKind::kRegionOpen, delimiter);
  if (kind_ == RegionKind::kCall) event.captures = {&region.capture, 1};
}

void EventBuilder::write(TagNodeId id, std::string_view text, Span bytes) {
  if (open_ != id) open(id, {bytes.begin, bytes.begin});
  write_chunk(text, bytes);
}

void EventBuilder::write_rest(std::string_view text, Span bytes) {
  if (open_ != kRest) open(kRest, {bytes.begin, bytes.begin});
  write_chunk(text, bytes);
}

void EventBuilder::write_chunk(std::string_view text, Span bytes) {
  if (!base::is_utf8(text)) {
    texts_.push_back(base::to_utf8(text));
    text = texts_.back();
  }
  text_.append(text);
  Event& event = add(EventKind::kRegionChunk, bytes);
  event.text = text;
  event.dirty = dirty_;
}

// --- Calls while they are written --------------------------------------------

Event EventBuilder::call_event(Span bytes) const {
  Event event = kEmptyEvent;
  event.field = field_name();
  event.field_index = field_;
  event.bytes = bytes;
  return event;
}

void EventBuilder::open_call(std::unique_ptr<call_stream::CallReader> reader) {
  const std::size_t at = events_.back().bytes.end;
  calls_->open(std::move(reader));
  call_text_.clear();
  calls_->advance(call_text_, call_event({at, at}), events_);
}

void EventBuilder::write_call(std::string_view text, Span bytes) {
  if (!calls_ || !calls_->is_open()) return;
  call_text_.append(text);
  calls_->advance(call_text_, call_event(bytes), events_);
}

void EventBuilder::end_call(const json::Value* value, Span bytes) {
  if (value == nullptr) return calls_->abandon();
  const auto differs =
      calls_->close(call_text_, *value, call_event(bytes), events_);
  if (!differs) return;
  diagnose({ErrorCode::kInvalidContent,
            "call " + std::to_string(*differs) +
                " was announced while it was written, and its arguments are "
                "read in another way; it is announced again",
            std::string(field_name()), bytes});
}

void EventBuilder::close(TagNodeId id, Span delimiter, const json::Value* value,
                         bool cut) {
  if (open_ != id) return;
  end(value == nullptr ? take_text() : *value, delimiter, cut, false);
}

void EventBuilder::close_open(std::size_t at, bool cut) {
  if (open_ == kNoTagNode) return;
  end(take_text(), {at, at}, cut, false);
}

void EventBuilder::close_malformed(std::size_t at, const Diagnostic& why) {
  if (open_ == kNoTagNode) return;
  whys_.push_back(why);
  whys_.back().field = field_name();
  texts_.push_back(std::move(text_));
  if (calls_ && calls_->is_open()) end_call(nullptr, {at, at});
  Event& event = add(EventKind::kRegionMalformed, {at, at});
  event.text = texts_.back();
  event.diagnostic = &whys_.back();
  event.cut = true;
  end(nullptr, {at, at}, true, true);
}

void EventBuilder::end(json::Value value, Span bytes, bool cut,
                       bool malformed) {
  if (calls_ && calls_->is_open()) {
    end_call(malformed ? nullptr : &value, bytes);
  }
  if (keep_) {
    Part part;
    part.field_index = field_;
    part.value = value;
    part.malformed = malformed;
    part.cut = cut;
    part.bytes = {begin_, bytes.end};
    message_.parts.push_back(std::move(part));
    if (!malformed) store(value);
    stale_ = true;
  }
  if (!malformed) {
    values_.push_back(std::move(value));
    Event& event = add(EventKind::kRegionClose, bytes);
    event.value = &values_.back();
    event.cut = cut;
  }
  open_ = kNoTagNode;
  text_.clear();
}

void EventBuilder::store(const json::Value& value) {
  Slot& slot = slots_[field_];
  if (!slot.used) {
    slot.used = true;
    slot.list = field_name() == "tool_calls" || field_name() == "tags";
    order_.push_back(field_);
  }
  if (slot.list) {
    slot.items.push_back(value);
  } else {
    if (slot.joined) slot.text.append(regions_.join(field_));
    slot.joined = true;
    slot.text.append(value.as_string());
  }
}

void EventBuilder::diagnose(Diagnostic diagnostic) {
  if (message_.diagnostics.size() >= max_diagnostics_) return;
  message_.diagnostics.push_back(std::move(diagnostic));
}

Message& EventBuilder::message() {
  if (!stale_ || !keep_) return message_;
  stale_ = false;
  // The fields "reasoning", "content" and "tool_calls" come first, in this
  // order; the others follow in the order of their first regions.
  json::Object fields = {{"role", "assistant"}};
  const auto put = [&](std::uint32_t field) {
    const Slot& slot = slots_[field];
    fields.set(std::string(regions_.fields()[field]),
               slot.list ? json::Value(slot.items) : json::Value(slot.text));
  };
  // ORDER: the first three of Regions::fields()
  for (std::uint32_t field = 0; field < 3; ++field) {
    if (slots_[field].used) put(field);
  }
  for (const std::uint32_t field : order_) {
    if (field >= 3) put(field);
  }
  message_.fields = std::move(fields);
  return message_;
}

}  // namespace parlance::tag_parser
