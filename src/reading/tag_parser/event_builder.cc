// Builds events and the message; see event_builder.h.
//
// Every region becomes a kRegionOpen, kRegionChunk for each piece of its text,
// and kRegionClose or kRegionMalformed.  If a message is wanted, a closed
// region also becomes a part of it, and its value goes into the slot of its
// field.

#include "tag_parser/event_builder.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "base/white_space.h"

namespace parlance::tag_parser {

using structural_tag::kNoTagNode;
using structural_tag::TagNodeId;

namespace {

// Half of the default of Limits::held_bytes, as in the parser of formats.
constexpr std::size_t kMostSpace = std::size_t{1} << 15;

}  // namespace

EventBuilder::EventBuilder(const Regions& regions, events::Output& out,
                           CallOptions options)
    : regions_(regions),
      out_(out),
      space_(kMostSpace),
      values_(regions.fields().size()) {
  if (options.stream_calls) {
    calls_.emplace(out_.keeps_message ? &out_.message.calls : nullptr,
                   /*encodable=*/true);
  }
  if (options.attempts) {
    attempts_.emplace(out_, ToolSet(), call_stream::Attempts::Options{true});
  }
}

void EventBuilder::open(TagNodeId id, Span delimiter, bool whole) {
  space_.drop();
  if (open_ != kNoTagNode) close_open(delimiter.begin, false);
  open_ = id;
  begin_ = delimiter.begin;
  text_.clear();
  call_text_.clear();
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
  opened_at_ = delimiter.end;
  Event& event = add(EventKind::kRegionOpen, delimiter);
  if (kind_ == RegionKind::kCall && whole) {
    event.captures = {&region.capture, 1};
  }
}

void EventBuilder::write(TagNodeId id, std::string_view text, Span bytes) {
  if (open_ != id) {
    if (!regions_.leaves_out_space(id)) {
      space_.drop();
    } else if (open_ == kNoTagNode && space_.hold(text, bytes.begin)) {
      return;  // it is dropped where the text ends, and when another opens
    }
    space_.release([&](std::string_view space, std::uint64_t position) {
      const auto begin = static_cast<std::size_t>(position);
      if (open_ != id) open(id, {begin, begin});
      write_chunk(out_.round.keep_text(space), {begin, begin + space.size()});
    });
    if (open_ != id) open(id, {bytes.begin, bytes.begin});
  }
  write_chunk(text, bytes);
}

void EventBuilder::write_rest(std::string_view text, Span bytes) {
  if (open_ != kRest) open(kRest, {bytes.begin, bytes.begin});
  write_chunk(text, bytes);
}

// The text of a region is decoded as one, however it is cut: the bytes of a
// character may come in several tokens.
void EventBuilder::write_chunk(std::string_view text, Span bytes) {
  if (!begun_.empty()) {
    bytes.begin -= begun_.size();
    begun_.append(text);
    text = out_.round.keep_text(std::exchange(begun_, {}));
  }
  if (!text.empty() && static_cast<std::uint8_t>(text.back()) >= 0x80) {
    const std::size_t begun = base::begun_character(text);
    begun_ = text.substr(text.size() - begun);
    text.remove_suffix(begun);
    bytes.end -= begun;
  }
  add_chunk(text, bytes);
}

void EventBuilder::add_chunk(std::string_view text, Span bytes) {
  if (text.empty()) return;
  if (!base::is_utf8(text)) {
    text = out_.round.keep_text(base::to_utf8(text));
  }
  text_.append(text);
  Event& event = add(EventKind::kRegionChunk, bytes);
  event.text = text;
  event.dirty = dirty_;
}

// --- Calls while they are written --------------------------------------------

void EventBuilder::open_call(std::unique_ptr<call_stream::CallReader> reader,
                             std::string_view id) {
  calls_->open(std::move(reader));
  calls_->identify(id);
  calls_->advance(call_text_, call_event({opened_at_, opened_at_}), out_.round);
}

void EventBuilder::write_call(std::string_view text, Span bytes) {
  if (!calls_ && !attempts_) return;
  call_text_.append(text);
  if (!calls_ || !calls_->is_open()) return;
  calls_->advance(call_text_, call_event(bytes), out_.round);
}

void EventBuilder::tell_attempt(const json::Value* value) {
  if (!ending_) return;
  EndingCall call = *std::exchange(ending_, std::nullopt);
  // ORDER: the first three of Regions::fields()
  constexpr std::uint32_t kCalls = 2;
  call_stream::Attempts::Place place = {.field = regions_.fields()[kCalls],
                                        .index = kCalls,
                                        .text = base::to_utf8(call.text),
                                        .bytes = call.bytes,
                                        .id = std::move(call.id)};
  if (value != nullptr && call.why.empty()) {
    return attempts_->add(std::move(place), *value);
  }
  attempts_->add_failed(std::move(place), call.status, call.why,
                        std::move(call.reader), call_text_);
}

void EventBuilder::end_call(const json::Value* value, Span bytes) {
  if (value == nullptr) return calls_->abandon(call_event(bytes), out_.round);
  const auto differs =
      calls_->close(call_text_, *value, call_event(bytes), out_.round);
  if (!differs) return;
  diagnose({ErrorCode::kInvalidContent,
            "call " + std::to_string(*differs) +
                " was announced while it was written, and its arguments are "
                "read in another way; it is announced again",
            std::string(field_name()), bytes});
}

void EventBuilder::end_text(std::size_t at) {
  const std::string begun = std::exchange(begun_, {});
  add_chunk(begun, {at - begun.size(), at});
}

void EventBuilder::close(TagNodeId id, Span delimiter, const json::Value* value,
                         bool cut) {
  space_.drop();
  if (open_ != id) return;
  end_text(delimiter.begin);
  end(value == nullptr ? take_text() : *value, delimiter, cut);
}

void EventBuilder::close_open(std::size_t at, bool cut) {
  if (open_ == kNoTagNode) return;
  end_text(at);
  end(take_text(), {at, at}, cut);
}

void EventBuilder::close_malformed(std::size_t at, const Diagnostic& why) {
  if (open_ == kNoTagNode) return;
  end_text(at);
  Diagnostic own = why;
  own.field = field_name();
  if (calls_ && calls_->is_open()) end_call(nullptr, {at, at});
  tell_attempt();
  const std::string_view text = out_.round.take_text(text_);
  out_.spoil_region(region_end({at, at}, true), text, std::move(own));
  open_ = kNoTagNode;
}

void EventBuilder::end(json::Value value, Span delimiter, bool cut) {
  if (calls_ && calls_->is_open()) end_call(&value, delimiter);
  tell_attempt(&value);
  if (out_.keeps_message) store(value);
  out_.close_region(region_end(delimiter, cut), std::move(value));
  open_ = kNoTagNode;
  text_.clear();
}

void EventBuilder::store(const json::Value& value) {
  if (field_name() == "tool_calls" || field_name() == "tags") {
    values_.append(field_, value);
  } else {
    values_.join(field_, regions_.join(field_), value.as_string());
  }
}

json::Value EventBuilder::fields() const {
  if (!out_.keeps_message) return {};
  // The fields "reasoning", "content" and "tool_calls" come first, in this
  // order; the others follow in the order of their first regions.
  json::Object out = {{"role", "assistant"}};
  const auto put = [&](std::uint32_t field) {
    // As by a format, a field with an empty text is left out.
    if (values_.kind(field) == json::Kind::kString &&
        values_.view(field).empty()) {
      return;
    }
    out.set(std::string(regions_.fields()[field]), values_.value(field));
  };
  // ORDER: the first three of Regions::fields()
  for (std::uint32_t field = 0; field < 3; ++field) {
    if (!values_.empty(field)) put(field);
  }
  values_.visit_completed([&](std::uint32_t field) {
    if (field >= 3) put(field);
  });
  return out;
}

}  // namespace parlance::tag_parser
