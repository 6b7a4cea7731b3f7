#ifndef PARLANCE_SRC_PARSE_ASSEMBLER_H_
#define PARLANCE_SRC_PARSE_ASSEMBLER_H_

// From regions to events and the message.
//
// The assembler collects the text of the open region, turns it into a value
// when the region closes, stores the value under its field, and appends an
// event for each step.  Its input has positions in the sanitized text; its
// events have positions in the caller's bytes.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "call_stream/attempts.h"
#include "call_stream/call_stream.h"
#include "events/field_values.h"
#include "events/held_space.h"
#include "events/output.h"
#include "format/description.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/message.h"
#include "parlance/tools.h"
#include "parse/delimiter_program.h"
#include "parse/flat_content.h"
#include "parse/reading_filter.h"
#include "parse/region_values.h"
#include "parse/segmenter.h"
#include "parse/utf8_sanitizer.h"
#include "schema/cast_calls.h"

namespace parlance::parse {

class Assembler final : public SegmentSink {
 public:
  struct Options {
    bool recover = false;
    bool stream_calls = false;
    bool attempts = false;
    // No events, and instead of the message fields().
    bool fields_only = false;
    ToolSet tools = {};
  };

  // `sanitizer` converts positions in the sanitized text to positions in the
  // caller's bytes.  The references must outlive the assembler.
  Assembler(const format::FormatImpl& format, const DelimiterProgram& program,
            const Utf8Sanitizer& sanitizer, events::Output& out,
            Options options);

  // Ends a round: sets the texts of the open region's events.
  void end_round() {
    if (calls_due_) advance_calls(body_);
    if (!chunks_.empty()) set_chunk_texts(body_.data());
  }

  // Allocates memory for a region with `bytes` more bytes.  Capacities double
  // at least, so that many calls take linear time.
  void expect(std::size_t bytes) {
    const std::size_t needed = body_.size() + bytes;
    if (needed <= body_.capacity()) return;
    body_.reserve(std::max(needed, 2 * body_.capacity()));
  }

  // With fields_only: declares that `text` outlives the assembler, so that
  // fields may point into it.
  void borrow_from(std::string_view text) { lender_ = text; }

  void on_text(std::string_view text, std::uint64_t begin,
               std::span<const MarkAt> marks) override;
  void on_element(const ElementToken& token) override {
    elements_.push_back(token);
  }
  void on_delimiter(const Delimited& delimiter) override;
  void on_value_end(std::uint64_t position) override;
  bool on_abandon(std::uint64_t position) override;
  void on_turn_end(std::uint64_t begin, std::uint64_t end, bool more) override;
  void on_markup(const Delimited& markup) override;
  void on_left_out(std::string_view text, std::uint64_t begin,
                   std::string_view what) override;
  void on_empty_text(FieldId closes) override;
  void on_quoted(FieldId field, bool close, std::uint64_t begin,
                 std::uint64_t end) override;
  void on_limit(std::uint64_t begin, std::uint64_t end,
                std::string_view what) override;

  // Whether `region` is read as a value, and the value consists of calls.
  bool is_call(const CandidateRegion& region);

  // Reports the text at the end of the stream with which a delimiter may begin.
  // `goes_on`: Segmenter::begun_goes_on().
  void report_begun(const Delimited& begun, bool goes_on);

  // Ends the stream at `position`: closes the open region, reports required
  // fields that are missing, and drops empty fields.
  void finish(std::uint64_t position);

  // Where text begins (in the caller's bytes) that the segmenter has delivered
  // and that is in no event yet.  No such text: the greatest number.
  std::uint64_t unreported_begin() const {
    return unclaimed_.empty() ? ~std::uint64_t{0} : unclaimed_bytes_.begin;
  }

  // With attempts: `text` is what the segmenter gets next.
  void write_down(std::string_view text) {
    if (options_.attempts) written_.append(text);
  }
  // Where the open region begins in the text of the segmenter, if its calls are
  // reported as attempts; else the greatest number.
  std::uint64_t attempt_begin() const {
    return attempts_ && opened_ ? region_at_ : ~std::uint64_t{0};
  }
  // What was written before `position` is not asked for any more.
  void forget(std::uint64_t position) {
    constexpr std::size_t kLeast = 4096;  // what is worth a move
    if (!options_.attempts || position <= written_at_) return;
    const std::size_t gone = position - written_at_;
    if (gone < std::max(kLeast, written_.size() / 2)) return;
    written_.erase(0, gone);
    written_at_ = position;
  }

  // White space that is held because no other text of the implicit field has
  // come yet.
  const events::HeldSpace& held() const { return space_; }
  // An end of turn has come, and nothing but white space after it.
  bool at_turn_end() const { return ended_ || at_turn_end_; }

  // The fields of the message.
  json::Value fields() const;
  // With fields_only, after finish(): calls visit(name, view, fixed) for each
  // member of the message; `fixed`: its text is a default.
  template <class Visit>
  void visit_fields(const Visit& visit) const {
    auto of_default = program_.default_fields.begin();
    for (const auto& [name, value] : description_.defaults.members()) {
      const std::optional<FieldId> field = *of_default++;
      const bool fixed = !field && value.is_string();
      visit(name,
            field   ? values_.view(*field)
            : fixed ? events::FieldValues::View{.text = value.as_string()}
                    : events::FieldValues::View{.value = &value},
            fixed);
    }
    values_.visit_completed([&](std::uint32_t i) {
      const events::FieldValues::View view = values_.view(i);
      if (!view.empty()) visit(description_.fields[i].name, view, false);
    });
  }
  const std::optional<Error>& failure() const { return failure_; }

 private:
  // Whether a parser of the content distinguishes marks from their spellings.
  bool reads_marks(const format::Content& content) const;

  // Where the text of a chunk event of the open region is in body_, which
  // grows until the region closes or the round ends.
  struct ChunkRange {
    std::size_t event;
    std::size_t offset;
    std::size_t size;
  };

  // Ends the open region, which `by` (text in [begin, end)) interrupts.
  void interrupt_region(const Delimited& by, std::string_view what);

  // Opens the region of the implicit field with its first text, or holds the
  // text and returns false.
  bool open_text(std::string_view text, std::uint64_t begin);
  // Text between regions, where there is no implicit field.
  void collect_unclaimed(std::string_view text, std::uint64_t begin);
  void report_unclaimed();

  void open_region(FieldId field, const Delimited* delimiter,
                   std::uint64_t position);
  // How a region ends.
  enum class RegionStop : std::uint8_t {
    kEnded,      // by its delimiter, with its value, or because another opens
    kStreamEnd,  // with the stream
    kUnclosed,   // without it: with the response, or interrupted
  };
  // `delimiter` is null if the region does not end with its delimiter.
  void close_region(const Delimited* delimiter, std::uint64_t position,
                    RegionStop stop);
  // The region that is closing.
  struct Closing {
    FieldId field;
    bool cut;               // by the end of the response
    Span text;              // in the caller's bytes
    Span delimiter;         // empty if there is none
    bool at_end = false;    // of the stream
    std::uint64_t end = 0;  // position
  };
  // What follows from the value of a region, or from the error of reading it.
  void finish_region(const Closing& region, json::Value value);
  void spoil_region(const Closing& region, const Error& error);
  // Ends the calls of the region and adds its last event and its part.
  // `why` is of a region without a value.
  void publish_region(const Closing& region, const json::Value* value,
                      const Diagnostic* why = nullptr);
  // How strings of arguments are cast.
  schema::Strings strings_of(FieldId field) const;
  // With stream_calls.  open_calls(): the region that has opened may have
  // calls. advance_calls(): emits what is certain of them in `text`, the text
  // of the region so far.  close_calls(): ends them; `value` is that of the
  // region, or null.
  void open_calls();
  bool can_read_item(std::string_view item) const;
  void advance_calls(std::string_view text);
  void close_calls(std::string_view text, const json::Value* value, Span bytes);
  // Adds the calls of the region, whose text is `text`, to attempts_.
  void add_attempts(const Closing& region, std::string_view text,
                    const json::Value* value, const Diagnostic* why);
  std::unique_ptr<call_stream::CallReader> call_reader(
      FieldId field, const std::vector<MarkAt>& marks) const;
  Event call_event(Span bytes) const {
    return events::event_of(description_.fields[calls_field_].name,
                            calls_field_, bytes);
  }
  Event& add_event(EventKind kind, FieldId field, Span bytes) {
    return out_.round.add(kind, description_.fields[field].name, field, bytes);
  }
  // Sets the texts of the chunk events of the region whose text is at `body`.
  void set_chunk_texts(const char* body);

  bool ends_by_itself(FieldId index) const;
  Result<json::Value> region_value(FieldId index, bool cut,
                                   std::uint64_t position);
  bool has_elements(std::uint64_t position);
  // A region before its value is read.
  struct RegionText {
    FieldId field;
    MarkedText body;
    std::span<const std::pair<std::string, std::string>> captures;
    bool cut = false;
    // Those of the body; null if they are not known.
    const std::vector<ElementToken>* elements = nullptr;
  };
  // Reads a region.  `remarks` as in parse_content(), `damage` and `ends` as in
  // read_values().
  Result<json::Value> read_region(const RegionText& region,
                                  std::vector<Remark>* remarks,
                                  std::vector<ValueDamage>& damage,
                                  std::vector<ItemEnd>* ends = nullptr) const;
  // An error whose span is in body(), which ends at `end`: then its span is in
  // the stream, and its message names the place.  It has none in a body from
  // which text was dropped.
  Error placed(Error error, std::size_t end) const;
  bool is_read(FieldId field) const;
  // parlance.read of a field, or null.
  const format::FieldReading* reading(FieldId field) const {
    return program_.readings[field];
  }
  // Whether the value of the field is the text of its region.
  bool is_text(FieldId field) const;
  void add_chunk(Span bytes, bool adjacent, std::size_t size);
  void append(std::string_view text);
  // The text of the open region.
  std::string_view body() const {
    return borrowed_.empty() ? body_ : borrowed_;
  }
  // The value of a region of text, which moves from body_ if it is long.
  json::Value text_value(FieldId field);
  std::optional<Error> join(FieldId index, const json::Value& value);
  std::optional<Error> append(FieldId index, json::Value value);
  std::optional<Error> store(FieldId field, json::Value value);
  bool store_text(FieldId field);
  bool store_flat(FieldId field);
  // The caller's byte for a position.
  std::size_t at(std::uint64_t position) const {
    return static_cast<std::size_t>(sanitizer_.original(position));
  }

  const format::FormatImpl& format_;
  const format::Description& description_;
  const DelimiterProgram& program_;
  const Utf8Sanitizer& sanitizer_;
  events::Output& out_;
  Options options_;

  // The current region.
  FieldId field_;
  bool opened_ = false;
  bool ended_ = false;          // the response has ended; text is unclaimed
  bool at_turn_end_ = false;    // see at_turn_end()
  std::uint64_t text_end_ = 0;  // of the last text of a region
  events::HeldSpace space_;
  std::string body_;
  // Instead of body_, while the text is one stretch of lender_.
  std::string_view borrowed_;
  std::string_view lender_;
  FlatContent flat_;
  std::vector<ElementToken> elements_;  // of the open region, in the stream
  std::uint64_t elements_begin_ = 0;    // where the region's text begins
  std::vector<MarkAt> body_marks_;      // where the content's parser needs them
  std::size_t region_begin_ = 0;
  std::size_t body_begin_ = 0;
  std::vector<std::pair<std::string, std::string>> captures_;

  // With stream_calls.
  std::optional<call_stream::CallStream> calls_;
  FieldId calls_field_;     // of the region
  bool calls_due_ = false;  // the open region has text that calls_ has not read
  Span calls_bytes_;        // that text

  // The position of a byte of the open region's text.
  std::uint64_t position_of(std::size_t offset) const;
  std::string_view written(std::uint64_t begin, std::uint64_t end) const {
    return std::string_view(written_).substr(begin - written_at_, end - begin);
  }

  // With attempts, and with tools, for the diagnostics of calls that do not fit
  // them.
  std::optional<call_stream::Attempts> attempts_;
  // With attempts: what was written from written_at_ on.
  std::string written_;
  std::uint64_t written_at_ = 0;
  // With attempts_, of the open region: where it begins, the stretches of its
  // text, which are separated by what is left out, and its items.
  std::uint64_t region_at_ = 0;
  struct Stretch {
    std::size_t offset;  // in the text of the region
    std::uint64_t position;
  };
  std::vector<Stretch> stretches_;
  std::vector<ItemEnd> items_;

  events::FieldValues values_;

  std::vector<ChunkRange> chunks_;  // of the open region, in this round
  // The last region that is_call() has read, which usually closes next.
  struct ReadRegion {
    FieldId field = kNoField;
    std::string body = {};
    std::vector<std::pair<std::string, std::string>> captures = {};
    json::Value value = {};
    std::vector<ItemEnd> items = {};
  };
  ReadRegion read_;
  // The text of the closing region, if its value has adopted it.
  const char* adopted_ = nullptr;

  // Text between regions that no field claims, from its first byte that is not
  // white space; and its span in the caller's bytes, which ends with the last
  // such byte.
  std::string unclaimed_;
  std::size_t unclaimed_used_ = 0;  // size without white space at its end
  Span unclaimed_bytes_;

  bool finished_ = false;
  std::optional<Error> failure_;
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_ASSEMBLER_H_
