// Segmentation of a stream, see segmenter.h.
//
//   0        base_       passed_       total_
//   |--------|-----------|-------------|
//    dropped  context for  held: not yet
//             look-behind  decided
//             [ window_                ]
//
// Invariant between calls: base_ <= passed_ <= total_, window_ is the text in
// [base_, total_), and every byte before passed_ is either delivered to the
// sink or part of a committed delimiter.
//
// The text that is still needed (held bytes, and the context that look-behind
// may read) is copied to buffer_.  While nothing is held, a chunk is searched
// in the caller's memory and only its undecided end is copied.

#include "parse/segmenter.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "base/python_number.h"
#include "base/white_space.h"

namespace parlance::parse {
namespace {

// A partial match of a backtracking engine is searched again after every feed
// while it is short, and after that each time it has grown by an eighth.  The
// lengths of the searches then form a geometric series, so the work stays
// linear in the number of held bytes.
constexpr std::uint64_t kAlwaysRetry = 4096;

// How many bytes at a time the automaton reads after a limit, to decide a match
// that begins before the limit.
constexpr std::uint64_t kBytesBeyond = 8;

// Bytes of the name of a Python call, and white space after it, that are held
// to see whether its parenthesis follows.
constexpr std::size_t kLongestName = 256;

}  // namespace

Segmenter::Segmenter(const DelimiterProgram& program, const Limits& limits,
                     SegmentSink& sink)
    : program_(program),
      field_(kNoField),
      block_bytes_(
          std::bit_floor(std::max<std::size_t>(limits.held_bytes / 2, 1))),
      block_end_(block_bytes_),
      sink_(sink) {
  had_block_.resize(program.looked_at.size());
  watch_lines();
  watch(0);
}

std::string_view Segmenter::slice(std::uint64_t begin,
                                  std::uint64_t end) const {
  return window_.substr(begin - base_, end - begin);
}

std::string_view Segmenter::held() const { return slice(passed_, total_); }

// Selects the delimiters that are watched in the current state (field_) and
// starts their automaton at `position`.
void Segmenter::watch(std::uint64_t position) {
  if (field_ == kNoField) {
    static const Watch nothing;
    watch_ = text_after_end_                   ? &nothing
             : ended_                          ? &program_.ended
             : position < uninterrupted_until_ ? &program_.resting_text
                                               : &program_.resting;
  } else {
    watch_ = position < uninterrupted_until_ ? &program_.uninterrupted[field_]
                                             : &program_.inside[field_];
  }
  begun_ = {};
  next_mark_ = 0;
  while (next_mark_ < marks_.size() && marks_[next_mark_].position < position) {
    ++next_mark_;
  }
  if (watch_->automaton == nullptr) return;
  automata::Context context;
  context.text_start = position == 0;
  char before = position > base_ ? window_[position - base_ - 1] : before_base_;
  context.line_start = position == 0 || before == '\n';
  if (empty_at_ == position && !empty_ids_.empty()) {
    for (std::uint32_t i = 0; i < watch_->patterns.size(); ++i) {
      if (may_be_empty(watch_->patterns[i].id(), position)) continue;
      context.not_empty.push_back(i);
    }
  }
  search_.start(watch_->automaton.get(), position, context);
}

// A delimiter may match the empty string once at each position.  Otherwise two
// of them would open and close regions at one position forever.
// Differs from upstream, which hangs or stops reading.
bool Segmenter::may_be_empty(DelimiterId id, std::uint64_t position) const {
  return position != empty_at_ ||
         std::find(empty_ids_.begin(), empty_ids_.end(), id) ==
             empty_ids_.end();
}

void Segmenter::feed(std::string_view text) {
  // With backtracking searches the text is processed in blocks that end at
  // fixed positions of the stream.  So the limit of held bytes is passed at the
  // same byte however the text was cut.  search_on() does the same for the
  // automaton.
  if (program_.any_backtrackers) {
    while (total_ + text.size() > block_end_) {
      auto room = static_cast<std::size_t>(block_end_ - total_);
      feed_block(text.substr(0, room));
      text.remove_prefix(room);
    }
  }
  if (!text.empty()) feed_block(text);
}

void Segmenter::feed_mark(automata::Symbol symbol, std::string_view spelling) {
  marks_.push_back({total_, spelling.size(), symbol});
  feed_block(spelling);
}

// Appends `text` to the window, processes it, and drops what is not needed any
// longer.  `text` does not cross block_end_ if there are backtrackers.
void Segmenter::feed_block(std::string_view text) {
  // Make window_ cover the new text, in the caller's memory if possible.
  const bool in_place =
      buffer_.size() == buffer_start_ && !program_.any_backtrackers;
  if (in_place) {
    window_ = text;
    base_ = total_;
  } else {
    buffer_.append(text);
    window_ = std::string_view(buffer_).substr(buffer_start_);
  }
  total_ += text.size();
  // Fast path: most chunks contain no beginning of a delimiter, and end in the
  // phase of a value in which they begin.
  if (in_place && watch_->automaton != nullptr && marks_.empty() &&
      base_ >= uninterrupted_until_ && total_ < block_end_ &&
      !search_.decided() && (!valued_ || stays_in_phase())) {
    work_ += search_.run(text);
    if (!search_.decided() && search_.hold() == total_) {
      if (watches_lines_) blank_line_ = blank_line_before(total_);
      has_text_ = has_text_ || !base::is_blank(text);
      passed_ = base_ = total_;
      before_base_ = text.back();
      window_ = {};
      send(text, total_ - text.size(), {});
      return;
    }
  }
  // Deliver and commit all that is decided.
  process(false);
  if (total_ >= block_end_) {
    block_end_ = (total_ | (block_bytes_ - 1)) + 1;
    check_limit();
  }
  retain(in_place);
}

// Retains the held bytes, and before them the context that look-behind may
// read.  `in_place`: the window is in the caller's memory.
void Segmenter::retain(bool in_place) {
  std::uint64_t from = passed_;
  if (program_.any_backtrackers) {
    from -= std::min<std::uint64_t>(from - base_, program_.context_bytes);
    // The context must not begin inside a character.
    while (from > base_ &&
           (static_cast<unsigned char>(window_[from - base_]) & 0xC0) == 0x80 &&
           from < total_) {
      --from;
    }
  }
  if (from > base_) before_base_ = window_[from - base_ - 1];
  if (in_place) {
    buffer_.assign(slice(from, total_));
    buffer_start_ = 0;
  } else {
    buffer_start_ += from - base_;
    if (buffer_start_ > buffer_.size() / 2) {
      buffer_.erase(0, buffer_start_);
      buffer_start_ = 0;
    }
  }
  base_ = from;
  window_ = std::string_view(buffer_).substr(buffer_start_);
  if (!marks_.empty()) {
    auto gone = std::find_if(
        marks_.begin(), marks_.end(),
        [&](const MarkAt& mark) { return mark.position >= base_; });
    auto count = static_cast<std::size_t>(gone - marks_.begin());
    marks_.erase(marks_.begin(), gone);
    next_mark_ -= std::min(next_mark_, count);
  }
}

void Segmenter::finish(std::string_view rest, bool stopped) {
  stopped_ = stopped;
  if (buffer_.size() == buffer_start_ && !program_.any_backtrackers) {
    window_ = rest;
    base_ = total_;
    total_ += rest.size();
  } else {
    feed(rest);
  }
  process(true);
  pass(total_);
}

void Segmenter::pass(std::uint64_t to) {
  if (to <= passed_) return;
  if (quoted_.begin < to) {
    sink_.on_quoted(quoted_.field, quoted_.close, quoted_.begin, quoted_.end);
    quoted_ = {};
  }
  std::span<const MarkAt> marks;
  if (!marks_.empty()) {
    marks = MarkedText(window_, marks_, base_)
                .substr(passed_ - base_, to - passed_)
                .marks;
  }
  if (watches_lines_) blank_line_ = blank_line_before(to);
  has_text_ = has_text_ || !base::is_blank(slice(passed_, to));
  send(slice(passed_, to), passed_, marks);
  passed_ = to;
}

// Whether white space alone stands between the beginning of the line, or of the
// region, and `position`.
bool Segmenter::blank_line_before(std::uint64_t position) const {
  const std::string_view text = slice(passed_, position);
  // What is usual is decided by the last character that is no space.
  std::size_t size = text.size();
  while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\r')) --size;
  if (size == 0) return blank_line_;
  const auto last = static_cast<unsigned char>(text[size - 1]);
  if (last == '\n') return true;
  if (last > ' ') return false;
  const std::size_t line = text.rfind('\n');
  if (line == std::string_view::npos && !blank_line_) return false;
  return base::is_blank(text.substr(line + 1));
}

// Whether a delimiter opens something: a field's opener, or markup inside a
// region.
bool Segmenter::is_opener(FieldId field, bool close) const {
  return !close && (field < program_.inside.size() ||
                    (field == kMarkup && field_ != kNoField));
}

// An opener is certain if it begins, after white space, with a mark or with the
// spelling of a control token.
bool Segmenter::is_certain(const Delimited& opener) const {
  const std::string_view text = slice(opener.begin, opener.end);
  const std::size_t blank =
      std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const std::uint64_t at = opener.begin + blank;
  for (const MarkAt& mark : marks_) {
    if (mark.position == at) return true;
  }
  return std::ranges::any_of(program_.reading->control,
                             [&](const std::string& control) {
                               return text.substr(blank).starts_with(control);
                             });
}

bool Segmenter::begins_line(const Delimited& opener) const {
  const std::string_view text = slice(opener.begin, opener.end);
  const std::string_view blank =
      text.substr(0, text.find_first_not_of(" \t\r\n"));
  return blank.find('\n') != std::string_view::npos ||
         blank_line_before(opener.begin);
}

// The rule of interruption (format/interruption.h).  Inside a region an opener
// counts if it is certain or begins a line.  In implicit text it counts, but an
// opener of calls that is only tolerated does as inside a region, and none
// counts before what cannot be the body of a call.
//
//   <think>I use <tool_call> now.</think>   inside a line of a region: text
//   The token `<tool_call>` opens it.       no body follows: text
//   <function=f> where the family writes    tolerated: counts where it begins a
//   <tool_call>\n<function=f>               line
Segmenter::Verdict Segmenter::judge(const Delimited& delimiter, bool end) {
  // 1. What is no opener of a field or of markup.
  if (delimiter.field == kLateClose) {
    const FieldId unclosed = delimiter.close ? unclosed_call_ : unclosed_;
    return unclosed == kNoField ? Verdict::kText : Verdict::kCounts;
  }
  if (delimiter.field == kNearMiss) return Verdict::kText;
  if (delimiter.field == kRepeated) {
    return has_text_ || !base::is_blank(slice(passed_, delimiter.begin))
               ? Verdict::kText
               : Verdict::kCounts;
  }
  if (!watches_lines_ || !is_opener(delimiter.field, delimiter.close)) {
    return Verdict::kCounts;
  }
  // 2. An opener: by its name, by its place, and by what follows it.
  if (!names_call(delimiter)) return Verdict::kText;
  const bool rests = field_ == kNoField;
  // An opener without text only looks at a stray closer.
  if (!rests && delimiter.begin == delimiter.end) return Verdict::kText;
  if (rests && !program_.calls[delimiter.field]) return Verdict::kCounts;
  if ((!rests || is_tolerated(delimiter)) && !is_certain(delimiter) &&
      !begins_line(delimiter)) {
    return Verdict::kText;
  }
  return rests ? judge_body(delimiter, end) : Verdict::kCounts;
}

// Whether the name of a call that an opener captures may be one.
bool Segmenter::names_call(const Delimited& opener) const {
  return opener.field == kMarkup || !program_.calls[opener.field] ||
         std::ranges::none_of(opener.captures, [](const auto& capture) {
           return capture.first == "name" &&
                  capture.second.find_first_of("<{\"'`") !=
                      std::string_view::npos;
         });
}

// Whether the family writes more before what `opener` begins with.
bool Segmenter::is_tolerated(const Delimited& opener) const {
  const format::FieldReading& reading = *program_.readings[opener.field];
  const std::string_view text =
      base::python_strip(slice(opener.begin, opener.end));
  return !reading.wrappers.empty() &&
         std::ranges::none_of(reading.wrappers, [&](const std::string& one) {
           return text.starts_with(one);
         });
}

// Whether what follows may be the body of a call.  `end`: no more text comes.
// What is held is white space, not longer than the automaton may hold a match,
// and the beginning of a body.
Segmenter::Verdict Segmenter::judge_body(const Delimited& opener, bool end) {
  const format::FieldReading& reading = *program_.readings[opener.field];
  if (reading.body.empty()) return Verdict::kCounts;
  if (judged_ != opener.begin) {
    judged_ = opener.begin;
    body_at_ = opener.end;
  }
  while (body_at_ < total_ && base::is_ascii_space(window_[body_at_ - base_])) {
    if (++body_at_ - opener.begin >= block_bytes_) return Verdict::kText;
  }
  const std::string_view body = slice(body_at_, total_);
  bool begun = false;
  for (const std::string& one : reading.body) {
    if (body.starts_with(one)) return Verdict::kCounts;
    begun |= one.starts_with(body);
  }
  if (!begun && reading.syntax == format::ValueSyntax::kPythonCalls) {
    // A name needs its parenthesis.
    const std::size_t name =
        std::min(body.find_first_of(" \t\r\n\f\v([{<>\"'`"), body.size());
    const std::size_t after =
        std::min(body.find_first_not_of(base::kAsciiSpace, name), body.size());
    if (name == 0 || after > kLongestName) return Verdict::kText;
    if (after < body.size()) {
      return body[after] == '(' ? Verdict::kCounts : Verdict::kText;
    }
    begun = true;
  }
  if (!begun) return Verdict::kText;
  return end ? Verdict::kCounts : Verdict::kUnknown;
}

// Treats the text in [from, to) as plain text, whatever delimiter it may have
// been the beginning of, and restarts all searches at `to`.
void Segmenter::release(std::uint64_t from, std::uint64_t to) {
  // Three calls, so that the sink sees the same order as for text that came in
  // pieces.
  pass(from);
  sink_.on_limit(from, to,
                 "text was held longer than Limits::held_bytes allows; it "
                 "counts as plain text");
  pass(to);
  for (Tracked& tracked : tracked_) {
    tracked.status = Tracked::Status::kUnknown;
    tracked.searched = to;
  }
  watch(to);
}

void Segmenter::check_limit() {
  if (!watch_->backtrackers.empty() && total_ - passed_ >= block_bytes_) {
    release(passed_, total_);
  }
}

// Runs the automaton until it is decided, or knows that no match begins before
// `limit`, or has read all of the window.
//
// Invariant of the loop: `at` is the automaton's position, marks_ before
// next_mark_ have been read, and `check` is the next block boundary.  Each
// iteration reads up to the next mark, the next block boundary or the end.  At
// a boundary a match that has been undecided for a whole block is given up.
void Segmenter::search_on(bool end, std::uint64_t limit) {
  if (watch_->automaton == nullptr || search_.over()) return;
  std::uint64_t at = search_.position();
  std::uint64_t check = (at | (block_bytes_ - 1)) + 1;
  while (!search_.decided() && at < total_ && search_.hold() < limit) {
    std::uint64_t stop = std::min(total_, check);
    stop = std::min(stop, at < limit ? limit : at + kBytesBeyond);
    if (next_mark_ < marks_.size()) {
      const MarkAt& mark = marks_[next_mark_];
      if (mark.position == at) {
        if (!search_.mark(mark.symbol, mark.length)) break;
        ++next_mark_;
        ++work_;
        stop = at;
      } else {
        stop = std::min(stop, mark.position);
      }
    }
    if (stop > at) work_ += search_.run(slice(at, stop));
    at = search_.position();
    if (at < check) continue;
    check = (at | (block_bytes_ - 1)) + 1;
    if (!search_.decided() && at - search_.hold() >= block_bytes_) {
      release(search_.hold(), at);
    }
  }
  if (!end || search_.decided() || at != total_) return;
  const std::uint64_t hold = search_.hold();
  if (hold == total_) return search_.finish();
  const Watched& watched = watch_->patterns[search_.held_pattern()];
  search_.finish();
  if (!search_.decided()) return note_begun(watched, hold);
  search_.match(match_);
  if (match_.end < total_) longer_ = {&watched, match_.end};
}

void Segmenter::note_begun(const Watched& watched, std::uint64_t begin) {
  if (begun_.watched != nullptr && begun_.begin <= begin) return;
  begun_ = {&watched, begin};
}

std::optional<Delimited> Segmenter::begun() const {
  const Begun& found = begun_.watched != nullptr ? begun_ : longer_;
  if (found.watched == nullptr) return std::nullopt;
  return Delimited{.field = found.watched->field,
                   .close = found.watched->close,
                   .begin = found.begin,
                   .end = total_,
                   .text = slice(found.begin, total_)};
}

// Makes visible_ the text that backtracking searches may read.
void Segmenter::hide_spoofs(bool end) {
  visible_ = window_;
  if (!program_.any_backtrackers || !program_.spoofable) return;
  visible_ = hidden_.update({window_, marks_, base_}, program_.marks, end);
}

// Updates the next match of one backtracker for the text that is visible now.
//
//                 search: match
//   kUnknown ------------------------> kMatch [begin, end)
//    |   ^  ^                            |          ^
//    |   |  +--- begin < passed_ --------+          |
//    |   |       or the empty match is not allowed  |
//    |   |                                          | search from begin: match
//    |   +------ begin < passed_ -----------+       |
//    |                                      |       |
//    +------------------------------------> kPartial begin
//      search: a match may begin at `begin`,
//      but its end needs more text
//
//   searched   kUnknown: no match begins before this position, so the next
//              search starts here (or at passed_, if that is greater).
//   seen       how far the text was visible to the last search.
//
// A search that finds nothing, or exceeds its step limit, leaves kUnknown with
// `searched` at the end of the visible text.
void Segmenter::track(const Backtracker& b, Tracked& tracked, bool end) {
  drop_overtaken(tracked);
  if (tracked.status == Tracked::Status::kMatch) return;
  const std::uint64_t known = base_ + visible_.size();
  const std::optional<std::uint64_t> from = search_from(tracked, known, end);
  if (!from) return;
  const bool begun = end && tracked.status == Tracked::Status::kPartial;
  const std::uint64_t begin = tracked.begin;
  if (!tracked.scratch) tracked.scratch.emplace(b.code);
  work_ += known - *from;
  const auto found =
      b.code.search(visible_, *from - base_,
                    {.more = !end,
                     .not_empty_at_start = !may_be_empty(tracked.id, *from),
                     .not_text_start = base_ > 0},
                    *tracked.scratch, &tracked.groups);
  record(found, *from, known, tracked);
  if (begun && tracked.status != Tracked::Status::kMatch) {
    note_begun(b.watched, begin);
  }
}

// Drops a result that the last delimiter has overtaken.
void Segmenter::drop_overtaken(Tracked& tracked) const {
  using Status = Tracked::Status;
  if (tracked.status == Status::kUnknown) return;
  const bool empty_again = tracked.status == Status::kMatch &&
                           tracked.begin == tracked.end &&
                           !may_be_empty(tracked.id, tracked.begin);
  if (tracked.begin >= passed_ && !empty_again) return;
  tracked.status = Status::kUnknown;
  tracked.searched = passed_;
}

// Where the next search of a backtracker begins; nothing if a search is not
// worth its cost: see kAlwaysRetry.  At a block boundary it is always made,
// because the limit of held bytes is checked there.  `known`: the end of the
// visible text.
std::optional<std::uint64_t> Segmenter::search_from(const Tracked& tracked,
                                                    std::uint64_t known,
                                                    bool end) const {
  if (tracked.status != Tracked::Status::kPartial) {
    const std::uint64_t from = std::max(passed_, tracked.searched);
    if (!end && from >= known) return std::nullopt;
    return from;
  }
  const std::uint64_t now = known - tracked.begin;
  const std::uint64_t then = tracked.seen - tracked.begin;
  if (!end && tracked.seen == known) return std::nullopt;
  if (!end && now > kAlwaysRetry && now < then + then / 8 &&
      (known & (block_bytes_ - 1)) != 0) {
    return std::nullopt;
  }
  return tracked.begin;
}

// Records the result of a search from `from` to `known` as stream positions.
void Segmenter::record(const regex::Pcre2::Found& found, std::uint64_t from,
                       std::uint64_t known, Tracked& tracked) {
  using Status = Tracked::Status;
  tracked.seen = known;
  tracked.status = Status::kUnknown;
  switch (found.status) {
    case regex::Pcre2::Status::kMatch:
      tracked.status = Status::kMatch;
      tracked.begin = base_ + found.begin;
      tracked.end = base_ + found.end;
      // The window may move before the match is committed.
      for (auto& group : tracked.groups) {
        if (group.first == regex::Pcre2::kUnset) continue;
        group.first += base_;
        group.second += base_;
      }
      return;
    case regex::Pcre2::Status::kPartial:
      if (base_ + found.begin < known) {
        tracked.status = Status::kPartial;
        tracked.begin = base_ + found.begin;
      }
      break;
    case regex::Pcre2::Status::kLimit:
      sink_.on_limit(from, known,
                     "a pattern needed more steps than Limits::match_steps "
                     "allows; it counts as not matching here");
      break;
    case regex::Pcre2::Status::kNone:
      break;
  }
  tracked.searched = known;
}

// Delivers the text before `delimiter` and then the delimiter itself, and
// changes to the state that follows it.
//
// Afterwards passed_ is the end of the delimiter, field_ is the region that is
// open then, and the search starts anew there.
void Segmenter::commit(Delimited& delimiter) {
  // 1. The text before it, and its own.
  pass(delimiter.begin);
  quoted_ = {};
  delimiter.text = slice(delimiter.begin, delimiter.end);
  if (!marks_.empty()) {
    delimiter.marks =
        MarkedText(window_, marks_, base_)
            .substr(delimiter.begin - base_, delimiter.end - delimiter.begin)
            .marks;
  }
  passed_ = delimiter.end;
  if (delimiter.begin >= longer_.begin) longer_ = {};
  // 2. An empty match counts once at its place: see may_be_empty().
  const DelimiterId id = delimiter_id(delimiter.field, delimiter.close);
  if (delimiter.begin == delimiter.end) {
    if (empty_at_ != delimiter.begin) empty_ids_.clear();
    empty_at_ = delimiter.begin;
    empty_ids_.push_back(id);
  }
  // 3. What it does.  Markup ends the region that is open.  Closers that come
  //    late, openers that come twice, and what the file drops are left out. All
  //    others open or close a region, or end the turn.
  if (delimiter.field == kMarkup) {
    sink_.on_markup(delimiter);
    field_ = kNoField;
    enter_region(delimiter.end);
  } else if (delimiter.field == kLateClose) {
    FieldId& unclosed = delimiter.close ? unclosed_call_ : unclosed_;
    if (!has_text_) sink_.on_empty_text(unclosed);
    unclosed = kNoField;
    sink_.on_left_out(delimiter.text, delimiter.begin,
                      "a closing delimiter of a region that has already ended");
  } else if (delimiter.field == kRepeated) {
    sink_.on_empty_text(kNoField);
    sink_.on_left_out(delimiter.text, delimiter.begin,
                      "an opening delimiter of the region that is open");
  } else if (text_after_end_) {
    send(delimiter.text, delimiter.begin, delimiter.marks);
  } else if (is_stray_close(delimiter) && had_block_[delimiter.field]) {
    if (!has_text_) sink_.on_empty_text(delimiter.field);
    sink_.on_left_out(delimiter.text, delimiter.begin,
                      "a closing delimiter of a region that has already ended");
  } else if (delimiter.field == kDropped) {
    // It may stand for an empty block, so at the beginning it is no damage.
    if (delimiter.close && !ended_) {
      if (has_text_) {
        sink_.on_left_out(delimiter.text, delimiter.begin,
                          "a closing delimiter that closes nothing");
      } else {
        sink_.on_empty_text(kNoField);
      }
    }
  } else {
    if (field_ != kNoField) {
      delimiter.damaged = delimiter.close &&
                          program_.values[field_] != nullptr &&
                          !(valued_ && handled_ == Phase::kAfter);
      const bool closed = delimiter.close && delimiter.begin != delimiter.end;
      follows_call_ = program_.calls[field_];
      (follows_call_ ? unclosed_call_ : unclosed_) = closed ? kNoField : field_;
    } else if (!delimiter.close && delimiter.field < program_.calls.size() &&
               program_.calls[delimiter.field] && program_.rests_in_text) {
      // The calls of a section have its opener once.
      delimiter.damaged =
          is_tolerated(delimiter) && (has_text_ || !follows_call_);
    }
    if (is_stray_close(delimiter)) {
      sink_.on_delimiter({.field = delimiter.field,
                          .begin = delimiter.begin,
                          .end = delimiter.begin});
    }
    if (delimiter.field < had_block_.size()) had_block_[delimiter.field] = true;
    bool over = delimiter.field == kTurnEnd;
    if (!over) {
      over = delimiter.close && program_.turn_end_is_last &&
             program_.ends_turn(slice(delimiter.begin, delimiter.end));
      sink_.on_delimiter(delimiter);
    }
    ended_ = over && program_.turn_end_is_last;
    if (over) sink_.on_turn_end(delimiter.begin, delimiter.end, !ended_);
    field_ = over || delimiter.close ? kNoField : delimiter.field;
    enter_region(delimiter.end);
  }
  watch(delimiter.end);
}

// Prepares for the text of field_, which begins at `position`.
void Segmenter::enter_region(std::uint64_t position) {
  uninterrupted_until_ = 0;
  watch_lines();
  blank_line_ = true;
  has_text_ = false;
  candidate_.reset();
  string_is_text_ = false;
  valued_ = field_ != kNoField &&
            (program_.values[field_] != nullptr ||
             program_.regions[field_] != nullptr) &&
            program_.inside[field_].backtrackers.empty();
  if (!valued_) return;
  by_elements_ = program_.values[field_] == nullptr;
  if (by_elements_) {
    elements_.start(*program_.regions[field_], /*in_stream=*/true, position);
  } else {
    scanner_.start(program_.values[field_].get(), position);
  }
  handled_ = phase();
}

void Segmenter::watch_lines() {
  watches_lines_ = field_ == kNoField ? program_.rests_in_text
                                      : program_.interrupted[field_];
}

// Sets `out` to the delimiter of `winner` at `begin` to `end`.  `group_of(g)`:
// where its g-th named group matched; it begins at kNoPosition if it did not.
template <class GroupOf>
void Segmenter::read_delimiter(const Watched& winner, std::uint64_t begin,
                               std::uint64_t end, GroupOf group_of,
                               Delimited& out) const {
  out.field = winner.field;
  out.close = winner.close;
  out.damaged = false;
  out.begin = begin;
  out.end = end;
  out.captures.clear();
  for (std::size_t g = 0; g < winner.names.size(); ++g) {
    const auto [from, to] = group_of(g);
    if (from == automata::kNoPosition) continue;
    out.captures.emplace_back(winner.names[g], slice(from, to));
  }
}

// Sets `out` to `match` of the automaton.
void Segmenter::read_match(const Watched& winner, const automata::Match& match,
                           Delimited& out) const {
  read_delimiter(
      winner, match.begin, match.end,
      [&](std::size_t g) { return match.groups[g]; }, out);
}

// Commits every delimiter that is decided, and delivers the text before the
// first position where a delimiter may still begin.  `end`: no more text comes.
//
// Invariant of the loop: field_ and watch_ are the state after the last
// committed delimiter, and no byte from passed_ on is classified.
void Segmenter::process(bool end) {
  hide_spoofs(end);
  Delimited delimiter;
  while (valued_ ? process_value(end) : process_delimiter(end, delimiter)) {
  }
}

// One step of process(), in `delimiter`, whose memory is used again; returns
// whether there may be another.  A match that begins before Best::hold cannot
// lose to later text, so it is committed.  Otherwise the text up to the smaller
// of the two is delivered.
bool Segmenter::process_delimiter(bool end, Delimited& delimiter) {
  const bool uninterrupted = passed_ < uninterrupted_until_;
  if (watch_->empty()) {
    if (!uninterrupted) {
      pass(total_);
      return false;
    }
    watch(uninterrupted_until_);
    pass(uninterrupted_until_);
    return true;
  }
  search_on(end, uninterrupted ? uninterrupted_until_ : automata::kNoPosition);
  const Best best = find_best(end);
  if (uninterrupted &&
      std::min(best.hold, best.begin) >= uninterrupted_until_) {
    const std::uint64_t from = uninterrupted_until_;
    pass(from);
    watch(from);
    return true;
  }
  // A match that begins at the end of the text never counts, as in upstream:
  // there is nothing left for it to open or close.
  if (best.watched == nullptr || best.begin >= best.hold ||
      best.begin >= total_) {
    pass(end ? total_ : std::min({best.hold, best.begin, total_}));
    return false;
  }
  read_best(best, delimiter);
  switch (judge(delimiter, end)) {
    case Verdict::kCounts:
      commit(delimiter);
      return true;
    case Verdict::kText:
      skip_opener(delimiter);
      return true;
    case Verdict::kUnknown:
      break;
  }
  pass(best.begin);
  return false;
}

// An opener that does not interrupt is text, but another delimiter may begin in
// it.
void Segmenter::skip_opener(const Delimited& opener) {
  if (opener.field == kNearMiss ||
      (opener.field == kLateClose && opener.close)) {
    quoted_ = {program_.first_calls, opener.field == kLateClose, opener.begin,
               opener.end};
  } else if (opener.field < program_.calls.size() &&
             program_.calls[opener.field]) {
    quoted_ = {opener.field, false, opener.begin, opener.end};
  }
  uninterrupted_until_ = std::max(opener.end, opener.begin + 1);
  while (uninterrupted_until_ < total_ &&
         (static_cast<unsigned char>(window_[uninterrupted_until_ - base_]) &
          0xC0) == 0x80) {
    ++uninterrupted_until_;
  }
  watch(opener.begin);
}

// The best of all watched delimiters: the automaton finds all regular ones at
// once, the backtracking searches are made one by one.
Segmenter::Best Segmenter::find_best(bool end) {
  Best best;
  if (!watch_->backtrackers.empty() && visible_.size() < window_.size()) {
    best.hold = base_ + visible_.size();
  }
  if (watch_->automaton != nullptr) {
    if (search_.decided()) {
      search_.match(match_);
      best.watched = &watch_->patterns[match_.pattern];
      best.begin = match_.begin;
      best.end = match_.end;
    } else if (!search_.over()) {
      best.hold = search_.hold();
    }
  }
  for (const Backtracker& b : watch_->backtrackers) {
    Tracked& tracked = tracked_of(b.watched.id());
    track(b, tracked, end);
    if (tracked.status == Tracked::Status::kPartial) {
      best.hold = std::min(best.hold, tracked.begin);
    } else if (tracked.status == Tracked::Status::kMatch) {
      const bool wins =
          best.watched == nullptr || tracked.begin < best.begin ||
          (tracked.begin == best.begin &&
           (tracked.end > best.end ||
            (tracked.end == best.end && b.watched.rank < best.watched->rank)));
      if (!wins) continue;
      best.watched = &b.watched;
      best.begin = tracked.begin;
      best.end = tracked.end;
      best.tracked = true;
    }
  }
  return best;
}

Segmenter::Tracked& Segmenter::tracked_of(DelimiterId id) {
  const auto known = std::ranges::find(tracked_, id, &Tracked::id);
  if (known != tracked_.end()) return *known;
  tracked_.emplace_back().id = id;
  return tracked_.back();
}

// Sets `out` to `best`, with the named groups of the engine that found it.
void Segmenter::read_best(const Best& best, Delimited& out) {
  if (!best.tracked) return read_match(*best.watched, match_, out);
  const Watched& winner = *best.watched;
  const Tracked& tracked = tracked_of(winner.id());
  using Group = std::pair<std::uint64_t, std::uint64_t>;
  read_delimiter(
      winner, best.begin, best.end,
      [&](std::size_t g) -> Group {
        static_assert(regex::Pcre2::kUnset == automata::kNoPosition);
        if (winner.groups[g] >= tracked.groups.size()) {
          return {automata::kNoPosition, 0};
        }
        const auto& [begin, end] = tracked.groups[winner.groups[g]];
        return {begin, end};
      },
      out);
}

}  // namespace parlance::parse
