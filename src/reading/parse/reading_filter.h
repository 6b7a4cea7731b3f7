#ifndef PARLANCE_SRC_PARSE_READING_FILTER_H_
#define PARLANCE_SRC_PARSE_READING_FILTER_H_

// Between the segmenter and the assembler, for family files that need it:
//
//   layout      leaves out white space that belongs to the format
//   otherwise   holds a region until it is known to be a call; if it is none,
//               its text is text of the implicit field.  What it is does not
//               depend on its size: no limit ends the wait, and it takes the
//               memory that the text of an open region takes
//
// The assembler sees regions as if neither existed.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/description.h"
#include "parse/layout_trimmer.h"
#include "parse/segmenter.h"

namespace parlance::parse {

// A region whose events are held.
struct CandidateRegion {
  FieldId field;
  std::string_view body = {};
  std::span<const MarkAt> marks = {};  // positions in `body`
  std::span<const std::pair<std::string, std::string>> captures = {};
};

class ReadingFilter final : public SegmentSink {
 public:
  // `is_call` tells whether a region is read as a call.  The references must
  // outlive the filter.
  ReadingFilter(const format::FormatImpl& format, SegmentSink& sink,
                std::function<bool(const CandidateRegion&)> is_call);

  // Whether `format` needs a filter.
  static bool needed(const format::FormatImpl& format);

  void on_text(std::string_view text, std::uint64_t begin,
               std::span<const MarkAt> marks) override;
  void on_element(const ElementToken& token) override {
    sink_.on_element(token);
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
                 std::uint64_t end) override {
    sink_.on_quoted(field, close, begin, end);
  }
  void on_limit(std::uint64_t begin, std::uint64_t end,
                std::string_view what) override {
    sink_.on_limit(begin, end, what);
  }
  // Ends the stream.
  void finish();

  // The text that is held back, and the position where it begins; without such
  // text the greatest number.
  std::string held() const;
  std::uint64_t held_begin() const;

 private:
  using Literals = LayoutTrimmer::Literals;
  // The literals of a field's texts.
  struct Trim {
    Literals first;
    Literals last;
    Literals after;  // of the implicit text that follows
    // Of the implicit text that this field's opener ends.
    Literals ends_text;
    bool any() const { return !first.empty() || !last.empty(); }
  };
  // A stretch of text, where it stands and its marks.
  struct Piece {
    std::string text;
    std::uint64_t begin;
    std::vector<MarkAt> marks = {};  // positions in the stream
    // What it is, if it is left out of a region.
    std::string left_out = {};
  };
  struct Candidate {
    Delimited open;  // its captures are views into `captures`
    std::vector<std::pair<std::string, std::string>> captures;
    Piece opener;
    std::vector<Piece> body;
  };

  const format::FieldReading* reading(FieldId field) const;
  void begin_text(const Literals& first, const Literals& last);
  void pass_held_text(std::string_view piece, std::uint64_t offset);
  void end_text(const Literals& last);
  void begin_rest(const Literals* after);
  void add_text(std::string_view text, std::uint64_t begin,
                std::span<const MarkAt> marks);
  void open(const Delimited& delimiter);
  void end_response();
  // The text of the candidate as a region.
  std::string candidate_body() const;
  bool candidate_is_call(const Delimited* close) const;
  void accept_candidate();
  void refuse_candidate(const Delimited* close);
  bool settle_candidate(const Delimited* close, std::uint64_t end, bool whole);

  const format::FormatImpl& format_;
  SegmentSink& sink_;
  std::function<bool(const CandidateRegion&)> is_call_;
  std::optional<FieldId> implicit_;
  std::vector<Trim> trims_;  // by field
  Literals rest_last_;       // all that may end the implicit text
  Literals rest_first_;      // what may begin the implicit text that is open

  FieldId field_ = kNoField;  // of the open explicit region
  LayoutTrimmer trimmer_;
  bool trims_text_ = false;
  // Where pieces of the trimmed text begin: offset in it, position in the
  // stream.  The first counts for held text.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> joins_;
  std::uint64_t fed_ = 0;  // bytes given to trimmer_
  std::optional<Candidate> candidate_;
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_READING_FILTER_H_
