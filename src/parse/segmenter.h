#ifndef PARLANCE_SRC_PARSE_SEGMENTER_H_
#define PARLANCE_SRC_PARSE_SEGMENTER_H_

// From a stream of text to regions: which stretch belongs to which field.
//
// At any time one set of delimiters is watched.  Of all their matches the one
// that begins first counts; then the longest; then an open before a close;
// then the field's name.  It is taken as soon as nothing that is still to come
// could win against it, and text before the first place where something may
// still begin is passed on at once.  So every decision is the one that a
// search in the whole text would make, wherever the stream was cut.
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
#include "parlance/limits.h"
#include "parse/delimiter_program.h"
#include "parse/marked_text.h"

namespace parlance::parse {

inline constexpr std::uint32_t kNoField = 0xFFFFFFFF;

// A delimiter that was met.
struct Delimited {
  std::uint32_t field = 0;
  bool close = false;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  // Named groups that took part.
  std::vector<std::pair<std::string_view, std::string_view>> captures = {};
};

// Who is told.  Calls come in the order of the text.
class SegmentSink {
 public:
  // `text` belongs to the current region; it stands at `begin`.  `marks` are
  // those in it, with positions in the stream.
  virtual void on_text(std::string_view text, std::uint64_t begin,
                       std::span<const MarkAt> marks) = 0;
  virtual void on_delimiter(const Delimited& delimiter) = 0;
  // Markup stands between regions.
  virtual void on_markup() = 0;
  // A limit was passed: text from `begin` to `end` was held too long and is
  // text now, whatever might have become of it.
  virtual void on_limit(std::uint64_t begin, std::uint64_t end,
                        std::string_view what) = 0;

 protected:
  ~SegmentSink() = default;
};

class Segmenter {
 public:
  // `implicit`: the field that text at rest belongs to, or kNoField.  `program`
  // and `sink` must outlive the segmenter.
  Segmenter(const DelimiterProgram& program, const Limits& limits,
            SegmentSink& sink);

  // `text` is UTF-8 in whole characters.
  void feed(std::string_view text);
  // An added or control token that delimiters spell.
  void feed_mark(automata::Symbol symbol, std::string_view spelling);
  // The text is over: nothing is held any longer.
  void finish();

  // Where the next byte will stand.
  std::uint64_t total() const { return total_; }
  // Everything before this place has been passed on.
  std::uint64_t passed() const { return passed_; }
  std::string_view held() const;
  std::uint64_t work() const { return work_; }

 private:
  // What is known of one backtracker's next match.
  struct Tracked {
    std::uint32_t id = 0;
    enum class Status : std::uint8_t { kUnknown, kMatch, kPartial };
    Status status = Status::kUnknown;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t searched = 0;  // kUnknown: no match begins before this place
    std::uint64_t seen = 0;      // how much text the last search knew
    std::vector<std::pair<std::size_t, std::size_t>> groups = {};
    std::optional<regex::Pcre2::Scratch> scratch = std::nullopt;
  };
  void feed_block(std::string_view text);
  void process(bool end);
  void watch(std::uint64_t position);
  void search_on(bool end);
  void release(std::uint64_t from, std::uint64_t to);
  void track(const Backtracker& b, Tracked& tracked, bool end);
  bool may_be_empty(std::uint32_t id, std::uint64_t position) const;
  void commit(const Delimited& delimiter);
  void pass(std::uint64_t to);
  void check_limit();
  void hide_spoofs(bool end);
  std::string_view slice(std::uint64_t begin, std::uint64_t end) const;

  const DelimiterProgram& program_;
  std::uint32_t field_;        // the explicit region we are in, or kNoField
  std::uint64_t block_bytes_;  // a power of two, at most half the limit
  std::uint64_t block_end_;    // the next multiple of block_bytes_
  SegmentSink& sink_;

  // The text from base_ on: either the caller's chunk or our own buffer.
  std::string_view window_;
  std::string buffer_;
  std::size_t buffer_start_ = 0;
  std::uint64_t base_ = 0;
  std::uint64_t passed_ = 0;
  std::uint64_t total_ = 0;
  char before_base_ = '\0';
  std::vector<MarkAt> marks_;
  std::size_t next_mark_ = 0;

  // What backtracking searches look at: the window, or where ordinary tokens
  // may spell marks, a copy in which such spellings differ from marks and
  // which ends before a spelling that has only begun.
  std::string_view visible_;
  std::string hidden_;

  const Watch* watch_ = nullptr;
  automata::Search search_;
  automata::Match match_;
  std::vector<Tracked> tracked_;

  // Delimiters that have matched the empty string at empty_at_.
  std::uint64_t empty_at_ = 0;
  std::vector<std::uint32_t> empty_ids_;
  std::uint64_t work_ = 0;
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_SEGMENTER_H_
