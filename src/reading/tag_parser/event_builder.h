#ifndef PARLANCE_SRC_TAG_PARSER_EVENT_BUILDER_H_
#define PARLANCE_SRC_TAG_PARSER_EVENT_BUILDER_H_

// Turns regions, as they are opened, written and closed, into events and the
// message.
//
// At most one region is open at a time.  A region inside another interrupts it:
// the outer region is closed, and opened again when more text for it arrives.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "call_stream/attempts.h"
#include "call_stream/call_stream.h"
#include "events/field_values.h"
#include "events/held_space.h"
#include "events/output.h"
#include "parlance/json.h"
#include "parlance/message.h"
#include "tag_parser/regions.h"

namespace parlance::tag_parser {

// Which events report calls, see StreamOptions.
struct CallOptions {
  bool stream_calls = false;
  bool attempts = false;
};

class EventBuilder {
 public:
  // `regions` and `out` must outlive the builder.
  EventBuilder(const Regions& regions, events::Output& out,
               CallOptions options);

  // Opens the region of the format `id`, which begins after `delimiter`.
  // `whole`: all of the delimiter was written, so a call has its name.
  void open(structural_tag::TagNodeId id, Span delimiter, bool whole = true);
  // Writes text to the region of `id`, and opens the region if it is not open.
  // REQUIRES: `text` stays valid until the next round, since events point to
  // it.
  void write(structural_tag::TagNodeId id, std::string_view text, Span bytes);
  // With stream_calls: the open region is a call, which `reader` reads; and
  // its arguments have more text.
  void open_call(std::unique_ptr<call_stream::CallReader> reader,
                 std::string_view id);
  void write_call(std::string_view text, Span bytes);
  bool streams_calls() const { return calls_.has_value(); }
  bool tells_attempts() const { return attempts_.has_value(); }
  // With attempts: a call that ends, with the open region if there is one.
  struct EndingCall {
    std::string text = {};
    Span bytes = {};
    std::string id = {};
    // If it cannot be read: why, and what reads its arguments (may be null).
    CallStatus status = CallStatus::kMalformed;
    std::string why = {};
    std::unique_ptr<call_stream::CallReader> reader = nullptr;
  };
  void end_attempt(EndingCall call) { ending_ = std::move(call); }
  // No region is open, or none of the call, which cannot be read.
  void tell_attempt() { tell_attempt(nullptr); }

  // Writes text that fits no format, in a region of its own ("rest").
  void write_rest(std::string_view text, Span bytes);

  // Closes the open region if it is the region of `id`.
  // `value`: the value of the region; null: its text is the value.
  // `cut`: the end of the region is missing.
  void close(structural_tag::TagNodeId id, Span delimiter,
             const json::Value* value = nullptr, bool cut = false);
  // Closes the open region of any format; its text is the value.
  void close_open(std::size_t at, bool cut);
  // Closes the open region at a mismatch; `why` is its diagnostic.
  void close_malformed(std::size_t at, const Diagnostic& why);
  // The text of the open region ends at `at`, maybe inside a character.
  void end_text(std::size_t at);

  bool is_open(structural_tag::TagNodeId id) const { return open_ == id; }
  structural_tag::TagNodeId open_region() const { return open_; }
  // The text of the open region so far.
  const std::string& text() const { return text_; }
  // White space that is held until other text shows that it is content.
  const events::HeldSpace& held() const { return space_; }

  void diagnose(Diagnostic diagnostic) { out_.diagnose(std::move(diagnostic)); }
  // The fields of the message.
  json::Value fields() const;

 private:
  // Stands for the region of the text that fits no format.
  static constexpr structural_tag::TagNodeId kRest{0xFFFFFFFE};

  Event& add(EventKind kind, Span bytes) {
    return out_.round.add(kind, field_name(), field_, bytes);
  }
  void write_chunk(std::string_view text, Span bytes);
  void add_chunk(std::string_view text, Span bytes);
  void end(json::Value value, Span delimiter, bool cut);
  events::RegionEnd region_end(Span delimiter, bool cut) const {
    return {.name = field_name(),
            .field = field_,
            .begin = begin_,
            .delimiter = delimiter,
            .cut = cut};
  }
  Event call_event(Span bytes) const {
    return events::event_of(field_name(), field_, bytes);
  }
  void end_call(const json::Value* value, Span bytes);
  // Adds the attempt that ends; `value` is that of the region, or null.
  void tell_attempt(const json::Value* value);
  void store(const json::Value& value);
  json::Value take_text() {
    const std::size_t size = text_.size();
    return json::Value::adopt(std::move(text_), 0, size);
  }
  std::string_view field_name() const { return regions_.fields()[field_]; }

  const Regions& regions_;
  events::Output& out_;

  structural_tag::TagNodeId open_ = structural_tag::kNoTagNode;
  std::uint32_t field_ = 0;
  RegionKind kind_ = RegionKind::kText;
  bool dirty_ = false;
  std::size_t begin_ = 0;
  std::string text_;
  std::string begun_;  // the bytes of a character, after text_
  events::HeldSpace space_;

  // By field: the joined texts of its regions, or the list of their values.
  events::FieldValues values_;

  // With stream_calls, and with attempts; and for both the text of the open
  // call's arguments.
  std::optional<call_stream::CallStream> calls_;
  std::optional<call_stream::Attempts> attempts_;
  std::optional<EndingCall> ending_;
  std::string call_text_;
  std::size_t opened_at_ = 0;  // where the open region begins
};

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_EVENT_BUILDER_H_
