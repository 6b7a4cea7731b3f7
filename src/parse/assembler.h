#ifndef PARLANCE_SRC_PARSE_ASSEMBLER_H_
#define PARLANCE_SRC_PARSE_ASSEMBLER_H_

// From regions to events and the message.
//
// The assembler keeps the text of the open region, turns it into a value when
// the region closes, stores the value under its field, and writes down an event
// for each step.  Positions come as the segmenter's and go as the caller's.

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/description.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/message.h"
#include "parlance/tools.h"
#include "parse/delimiter_program.h"
#include "parse/segmenter.h"
#include "parse/utf8_sanitizer.h"

namespace parlance::parse {

class Assembler final : public SegmentSink {
 public:
  struct Options {
    bool recover = false;
    bool keep_message = true;
    ToolSet tools = {};
  };

  // `sanitizer` knows the caller's place of every position up to the text that
  // is being passed on.
  Assembler(const format::FormatImpl& format, const DelimiterProgram& program,
            const Utf8Sanitizer& sanitizer, Options options);

  // Forgets the events of the last round; what they point to goes with them.
  void begin_round();
  // Makes the events' views good.  They stay so until begin_round().
  void end_round();
  std::vector<Event>& events() { return events_; }

  void on_text(std::string_view text, std::uint64_t begin,
               std::span<const MarkAt> marks) override;
  void on_delimiter(const Delimited& delimiter) override;
  void on_markup() override { report_unclaimed(); }
  void on_limit(std::uint64_t begin, std::uint64_t end,
                std::string_view what) override;

  // The stream is over at `position`: closes what is open, checks what is
  // required and drops what is empty.
  void finish(std::uint64_t position);

  // The caller's byte where text begins that was passed on and is in no event
  // yet; if there is none, the greatest number.
  std::uint64_t unreported_begin() const {
    return unclaimed_.empty() ? ~std::uint64_t{0} : unclaimed_bytes_.begin;
  }

  void add_diagnostic(Diagnostic diagnostic);
  const Message& message() const;
  Message& mutable_message() { return message_; }
  const std::optional<Error>& failure() const { return failure_; }

 private:
  // Whether a parser of the content tells marks from their spellings.
  bool reads_marks(const format::Content& content) const;

  // What has been stored under a field.
  struct Slot {
    enum class Kind : std::uint8_t { kEmpty, kValue, kJoined };
    Kind kind = Kind::kEmpty;
    json::Value value = {};
    std::string joined = {};
    // A region of this field came but did not fit.
    bool attempted = false;
  };
  // A chunk's place in the texts of this round.
  struct ChunkPlace {
    std::size_t event;
    std::size_t body;  // index into retired_, or its size: the open one
    std::size_t offset;
    std::size_t size;
  };
  struct CapturePlace {
    std::size_t event;
    std::size_t first;
    std::size_t count;
  };

  // Text at rest where there is no implicit field.
  void collect_unclaimed(std::string_view text, std::uint64_t begin);
  void report_unclaimed();

  void open_region(std::uint32_t field, const Delimited* delimiter,
                   std::uint64_t position);
  // `delimiter` is null at the end of the stream and for a region that gives
  // way to another.
  void close_region(const Delimited* delimiter, std::uint64_t position,
                    bool at_end);
  Result<json::Value> region_value(const format::Field& field, bool cut);
  // The value of a long text region, made of body_ itself.
  json::Value adopt_body(const format::Field& field);
  std::optional<Error> store(std::uint32_t field, const json::Value& value);
  void build_fields() const;
  // The caller's byte for a position.
  std::size_t at(std::uint64_t position) const {
    return static_cast<std::size_t>(sanitizer_.original(position));
  }

  const format::FormatImpl& format_;
  const format::Description& description_;
  const DelimiterProgram& program_;
  const Utf8Sanitizer& sanitizer_;
  Options options_;

  // The current region.
  std::uint32_t field_;
  bool opened_ = false;
  std::string body_;
  std::vector<MarkAt> body_marks_;  // where the content's parser needs them
  std::size_t region_begin_ = 0;
  std::size_t body_begin_ = 0;
  std::vector<std::pair<std::string, std::string>> captures_;

  std::vector<Slot> slots_;           // by field
  std::vector<std::uint32_t> order_;  // fields by first completion

  std::vector<Event> events_;
  bool opened_or_closed_ = false;  // in this round
  std::vector<ChunkPlace> chunks_;
  // The text of a region that closed this round.  `adopted` points to it when
  // a value has taken it over.
  struct Retired {
    std::string text;
    const char* adopted = nullptr;
  };
  std::vector<Retired> retired_;
  std::size_t retired_count_ = 0;
  std::vector<json::Value> values_;  // of closes, one per entry of value_of_
  std::vector<std::size_t> value_of_;
  std::vector<std::pair<std::string, std::string>> shown_captures_;
  std::vector<Capture> capture_views_;
  std::vector<CapturePlace> capture_places_;
  std::vector<std::pair<std::size_t, std::size_t>> malformed_;
  std::vector<Diagnostic> round_malformed_;

  // Text at rest that no field claims, from its first byte that is not white
  // space; the caller's bytes of it up to the last such byte.
  std::string unclaimed_;
  std::size_t unclaimed_used_ = 0;  // bytes of it up to there
  Span unclaimed_bytes_;
  struct Unclaimed {
    std::string text;
    Diagnostic diagnostic;
  };
  std::deque<Unclaimed> round_unclaimed_;

  mutable Message message_;
  mutable bool fields_stale_ = true;
  bool finished_ = false;
  std::optional<Error> failure_;
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_ASSEMBLER_H_
