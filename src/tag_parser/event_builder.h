#ifndef PARLANCE_SRC_TAG_PARSER_EVENT_BUILDER_H_
#define PARLANCE_SRC_TAG_PARSER_EVENT_BUILDER_H_

// Regions as they are opened, written and closed become events and the message.
//
// One region is open at a time.  One inside another interrupts it: the outer
// one is closed, and opened again when text for it comes.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/json.h"
#include "parlance/message.h"
#include "tag_parser/regions.h"

namespace parlance::tag_parser {

class EventBuilder {
 public:
  EventBuilder(const Regions& regions, bool keep_message,
               std::size_t diagnostics);

  // Forgets the events of the last round and what they point to.
  void begin_round();
  std::vector<Event>& events() { return events_; }

  // A region of the format `id` begins, behind its delimiter.
  void open(structural_tag::TagNodeId id, Span delimiter);
  // Text for the region of `id`, which is opened if it is not open.  `text` is
  // good until begin_round().
  void write(structural_tag::TagNodeId id, std::string_view text, Span bytes);
  // Text that fits no format, in a region of its own.
  void write_rest(std::string_view text, Span bytes);

  // Ends the open region if it is that of `id`.
  // `value`: what it stands for; null: its text.  `cut`: its end is missing.
  void close(structural_tag::TagNodeId id, Span delimiter,
             const json::Value* value = nullptr, bool cut = false);
  // The same for any open region.
  void close_open(std::size_t at, bool cut);
  // Ends it where it does not fit, which `why` says.
  void close_malformed(std::size_t at, const Diagnostic& why);

  bool is_open(structural_tag::TagNodeId id) const { return open_ == id; }
  structural_tag::TagNodeId open_region() const { return open_; }
  // The text of the open region so far.
  const std::string& text() const { return text_; }

  void diagnose(Diagnostic diagnostic);
  Message& message();

 private:
  static constexpr structural_tag::TagNodeId kRest{0xFFFFFFFE};

  Event& add(EventKind kind, Span bytes);
  void write_chunk(std::string_view text, Span bytes);
  void end(json::Value value, Span bytes, bool cut, bool malformed);
  void store(const json::Value& value);
  json::Value take_text() {
    const std::size_t size = text_.size();
    return json::Value::adopt(std::move(text_), 0, size);
  }
  std::string_view field_name() const { return regions_.fields()[field_]; }

  const Regions& regions_;
  const bool keep_;
  const std::size_t max_diagnostics_;

  structural_tag::TagNodeId open_ = structural_tag::kNoTagNode;
  std::uint32_t field_ = 0;
  RegionKind kind_ = RegionKind::kText;
  bool dirty_ = false;
  std::size_t begin_ = 0;
  std::string text_;

  std::vector<Event> events_;
  std::deque<json::Value> values_;
  std::deque<std::string> texts_;
  std::deque<Diagnostic> whys_;

  // By field: joined text, or a list.
  struct Slot {
    bool used = false;
    bool list = false;
    std::string text = {};
    json::Array items = {};
  };
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> order_;
  bool stale_ = true;
  Message message_;
};

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_EVENT_BUILDER_H_
