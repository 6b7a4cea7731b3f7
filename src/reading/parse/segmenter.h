#ifndef PARLANCE_SRC_PARSE_SEGMENTER_H_
#define PARLANCE_SRC_PARSE_SEGMENTER_H_

// From a stream of text to regions: which stretch belongs to which field.
//
// At any time one set of delimiters is watched.  Of all their matches the one
// that begins first wins; then the longest; then an open before a close; then
// the field whose name sorts first.  A match is committed as soon as no later
// text can produce a better one.  Text before the first position where a match
// may still begin is delivered at once.  So every decision is the one that a
// search in the whole text would make, wherever the stream was cut.
//
// In a family file a region may end with its value (value_regions.cc), an
// opener or markup between regions may interrupt it, and a text may end the
// whole response.  An opener need not count: judge() decides.
//
// Differs from upstream: its searches decide some matches at the end of what
// has arrived, which makes its result depend on the cut (docs/reference/
// response-templates.md, "Differences").

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/dfa.h"
#include "base/white_space.h"
#include "parlance/limits.h"
#include "parse/delimiter_program.h"
#include "parse/element_scanner.h"
#include "parse/marked_text.h"
#include "parse/spoofs.h"
#include "parse/value_scanner.h"

namespace parlance::parse {

inline constexpr FieldId kNoField{0xFFFFFFFFu};

// A delimiter that was found.
struct Delimited {
  FieldId field;
  bool close = false;
  // An opener that lacks what the family writes, or the close of a region that
  // ends with its value, where the value is not whole.
  bool damaged = false;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string_view text = {};  // in [begin, end)
  std::span<const MarkAt> marks = {};
  // Named groups that took part.
  std::vector<std::pair<std::string_view, std::string_view>> captures = {};
};

// Receives the segments.  Calls come in the order of the text.
class SegmentSink {
 public:
  // `text` belongs to the current region and begins at `begin`.  `marks` are
  // the marks in it, with positions in the stream.
  virtual void on_text(std::string_view text, std::uint64_t begin,
                       std::span<const MarkAt> marks) = 0;
  // In a region of elements: a token, before its text is passed on.  The region
  // may still end inside it, or before it.
  virtual void on_element(const ElementToken& /*token*/) {}
  virtual void on_delimiter(const Delimited& delimiter) = 0;
  // The open region ends at `position` without a delimiter: its value is
  // complete.
  virtual void on_value_end(std::uint64_t position) = 0;
  // The open region turns out to be text: what precedes `position` is no value,
  // and what follows belongs to no region.  False: it has a call all the same,
  // and goes on.
  virtual bool on_abandon(std::uint64_t position) = 0;
  // A text that ends the response.  Text that follows is not of the response,
  // unless `more`.
  virtual void on_turn_end(std::uint64_t begin, std::uint64_t end,
                           bool more) = 0;
  // Markup was found between regions, or ends the open region.
  virtual void on_markup(const Delimited& markup) = 0;
  // A text that begins at `begin` is left out, because it is `what`.
  virtual void on_left_out(std::string_view text, std::uint64_t begin,
                           std::string_view what) = 0;
  // A delimiter comes next that is left out, where nothing but white space
  // stands in the text: it is layout, and the text begins after the delimiter.
  // `closes`: the field that it closes late, or kNoField.
  virtual void on_empty_text(FieldId closes) = 0;
  // The opener of a field of calls, or the close of one, in [begin, end), is
  // text: in a value, or where no call has begun.
  virtual void on_quoted(FieldId field, bool close, std::uint64_t begin,
                         std::uint64_t end) = 0;
  // A limit was passed at the text in [begin, end).  `what` names the limit
  // and the consequence for the text.
  virtual void on_limit(std::uint64_t begin, std::uint64_t end,
                        std::string_view what) = 0;

 protected:
  ~SegmentSink() = default;
};

class Segmenter {
 public:
  // `program` and `sink` must outlive the segmenter.
  Segmenter(const DelimiterProgram& program, const Limits& limits,
            SegmentSink& sink);

  // REQUIRES: `text` is UTF-8 and consists of whole characters.
  void feed(std::string_view text);
  // Feeds a mark: an added or control token that delimiters spell.
  void feed_mark(automata::Symbol symbol, std::string_view spelling);
  // Feeds the last text, which reaches the sink in the caller's memory as far
  // as possible, and ends the stream: nothing is held any longer.  `stopped`:
  // a token has ended the turn that is no text.
  void finish(std::string_view rest = {}, bool stopped = false);

  // The position of the next byte.
  std::uint64_t total() const { return total_; }
  // All text before this position has been delivered.
  std::uint64_t passed() const { return passed_; }
  std::string_view held() const;
  std::uint64_t work() const { return work_ + hidden_.work(); }

  // The text at the end of the stream with which a delimiter may begin, and
  // which is text because nothing follows.  `text` is valid as long as the last
  // input is.
  // REQUIRES: finish() was called.
  std::optional<Delimited> begun() const;
  // Whether that text follows a delimiter or a value, and belongs to what could
  // have followed it.
  bool begun_goes_on() const { return begun_.watched == nullptr; }

 private:
  // The next match of one backtracker, as far as it is known.  The states are
  // drawn above Segmenter::track().
  struct Tracked {
    DelimiterId id;
    enum class Status : std::uint8_t { kUnknown, kMatch, kPartial };
    Status status = Status::kUnknown;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t searched = 0;  // kUnknown: no match begins before this
    std::uint64_t seen = 0;      // end of the text that the last search saw
    std::vector<regex::Pcre2::GroupSpan> groups = {};
    std::optional<regex::Pcre2::Scratch> scratch = std::nullopt;
  };
  // The best match of all watched delimiters, as far as it is known.
  struct Best {
    // The decided match that begins first; among those the longest, and then
    // the one of the lowest rank.  Null: no match is decided.
    const Watched* watched = nullptr;
    bool tracked = false;  // a backtracker found it, not the automaton
    std::uint64_t begin = automata::kNoPosition;
    std::uint64_t end = 0;
    // The first position at which an undecided match may begin.
    std::uint64_t hold = automata::kNoPosition;
  };
  void feed_block(std::string_view text);
  void retain(bool in_place);
  void process(bool end);
  bool process_delimiter(bool end, Delimited& delimiter);
  void skip_opener(const Delimited& opener);
  Best find_best(bool end);
  void read_best(const Best& best, Delimited& out);
  Tracked& tracked_of(DelimiterId id);
  void watch(std::uint64_t position);
  void search_on(bool end, std::uint64_t limit);
  void release(std::uint64_t from, std::uint64_t to);
  void track(const Backtracker& b, Tracked& tracked, bool end);
  void note_begun(const Watched& watched, std::uint64_t begin);
  void drop_overtaken(Tracked& tracked) const;
  std::optional<std::uint64_t> search_from(const Tracked& tracked,
                                           std::uint64_t known, bool end) const;
  void record(const regex::Pcre2::Found& found, std::uint64_t from,
              std::uint64_t known, Tracked& tracked);
  bool may_be_empty(DelimiterId id, std::uint64_t position) const;
  void commit(Delimited& delimiter);
  template <class GroupOf>
  void read_delimiter(const Watched& winner, std::uint64_t begin,
                      std::uint64_t end, GroupOf group_of,
                      Delimited& out) const;
  void read_match(const Watched& winner, const automata::Match& match,
                  Delimited& out) const;
  // What a delimiter that was found does.
  enum class Verdict : std::uint8_t { kCounts, kText, kUnknown };
  Verdict judge(const Delimited& delimiter, bool end);
  Verdict judge_body(const Delimited& opener, bool end);
  bool is_opener(FieldId field, bool close) const;
  // Whether a delimiter is the close of a field, at rest.
  bool is_stray_close(const Delimited& delimiter) const {
    return field_ == kNoField && delimiter.close &&
           delimiter.field < program_.looked_at.size() &&
           program_.looked_at[delimiter.field];
  }
  bool is_certain(const Delimited& opener) const;
  bool names_call(const Delimited& opener) const;
  bool is_tolerated(const Delimited& opener) const;
  bool begins_line(const Delimited& opener) const;
  void enter_region(std::uint64_t position);
  void watch_lines();
  bool blank_line_before(std::uint64_t position) const;

  // Regions that end with their values: value_regions.cc.
  enum class Found : std::uint8_t { kNone, kMatch, kUnknown };
  Found look_before(std::uint64_t position, bool end);
  bool process_value(bool end);
  bool process_outside(bool end, bool given);
  bool find_candidate(Phase now, std::uint64_t at, bool end);
  bool is_meant();
  bool process_string(bool end);
  bool process_unconfirmed(bool end);
  bool process_element(bool end);
  bool leaves_json(call_syntax::Phase now) const;
  bool leave_json();
  bool process_after(bool end);
  Found drop_brackets(bool end);
  bool scan_value(bool end);
  bool stays_in_phase();
  // Of scanner_ or elements_.
  Phase phase() const {
    return by_elements_ ? elements_.phase() : scanner_.phase();
  }
  std::uint64_t scanned() const {
    return by_elements_ ? elements_.position() : scanner_.position();
  }
  std::uint64_t read() const {
    return by_elements_ ? elements_.read() : scanner_.position();
  }
  std::uint64_t string_end() const {
    return by_elements_ ? elements_.string_end() : scanner_.string_end();
  }
  bool commit_match(const automata::Match& match, const Watched& winner);
  bool commit_candidate();
  bool is_part_of_value(const automata::Match& match) const;
  bool end_with_value(std::uint64_t position);
  void give_up_value();
  void pass(std::uint64_t to);
  void send(std::string_view text, std::uint64_t begin,
            std::span<const MarkAt> marks) {
    text_after_end_ |= ended_ && !base::is_blank(text);
    sink_.on_text(text, begin, marks);
  }
  void check_limit();
  void hide_spoofs(bool end);
  std::string_view slice(std::uint64_t begin, std::uint64_t end) const;

  const DelimiterProgram& program_;
  FieldId field_;              // of the open explicit region, or kNoField
  std::uint64_t block_bytes_;  // a power of two, at most half the limit
  std::uint64_t block_end_;    // the next multiple of block_bytes_
  SegmentSink& sink_;

  // The text in [base_, total_): the caller's chunk, or part of buffer_.
  std::string_view window_;
  std::string buffer_;
  std::size_t buffer_start_ = 0;
  std::uint64_t base_ = 0;
  std::uint64_t passed_ = 0;
  std::uint64_t total_ = 0;
  char before_base_ = '\0';
  std::vector<MarkAt> marks_;
  std::size_t next_mark_ = 0;

  // The text that backtracking searches read.  It is the window; but where
  // ordinary tokens may spell marks, it is a copy in which such spellings are
  // changed, and which ends before a spelling that has only begun.
  std::string_view visible_;
  HiddenSpoofs hidden_;

  const Watch* watch_ = nullptr;
  automata::Search search_;
  automata::Match match_;
  std::vector<Tracked> tracked_;

  bool stopped_ = false;  // finish() says that a token has ended the turn
  // The response has ended; then other text than white space has come, after
  // which nothing is an end of turn.
  bool ended_ = false;
  bool text_after_end_ = false;
  // Openers that interrupt are not watched before this position.
  std::uint64_t uninterrupted_until_ = 0;
  // Other text than white space has come since the region began.
  bool has_text_ = false;
  // An opener of calls that does not count, until its text is passed on:
  // a delimiter may still begin where it does.
  struct Quoted {
    FieldId field = kNoField;
    bool close = false;
    std::uint64_t begin = automata::kNoPosition;
    std::uint64_t end = automata::kNoPosition;
  };
  Quoted quoted_;
  // While judge_body() or drop_brackets() is undecided: the beginning of the
  // opener or of the brackets, and where what is skipped ends so far.
  std::uint64_t judged_ = automata::kNoPosition;
  std::uint64_t body_at_ = 0;
  // The field of text, and of calls, whose last region has ended without what
  // closes it.
  FieldId unclosed_ = kNoField;
  FieldId unclosed_call_ = kNoField;
  std::vector<bool> had_block_;  // by field
  // The region before the implicit text was one of calls.
  bool follows_call_ = false;
  // Whether it depends on lines what an opener does in the current state.
  bool watches_lines_ = false;
  // Whether white space alone stands between the last line feed, or the
  // beginning of the region, and passed_.
  bool blank_line_ = true;

  // The values of the open region, while its end depends on them.
  bool valued_ = false;
  ValueScanner scanner_;
  // Instead of scanner_, where the region consists of elements.
  bool by_elements_ = false;
  ElementScanner elements_;
  // The phase of the scanner up to which matches have been decided.
  Phase handled_ = Phase::kOutside;
  // The first match that begins in the string that scanner_ read last.  It
  // counts only if the string turns out to lack its closing quote.
  struct Candidate {
    automata::Match match;
    const Watched* winner;
  };
  std::optional<Candidate> candidate_;
  // Matches in that string are text.
  bool string_is_text_ = false;
  // The end of the last match in a string that would not count.
  std::uint64_t skipped_until_ = 0;

  // begun(), where the search of watch_ has come to the end of the stream: a
  // delimiter that has begun; or how a delimiter that was found could have gone
  // on, or what closes the region after its value, of which the second is not
  // known to be text yet.
  struct Begun {
    const Watched* watched = nullptr;
    std::uint64_t begin = 0;
  };
  Begun begun_;
  Begun longer_;

  // The delimiters that have matched the empty string at empty_at_.
  std::uint64_t empty_at_ = 0;
  std::vector<DelimiterId> empty_ids_;
  std::uint64_t work_ = 0;
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_SEGMENTER_H_
