// Regions that end with their values: the part of the segmenter that combines
// the delimiters' automaton with a ValueScanner.  docs/design/recovery.md has
// the inputs that the rules come from.
//
//   {"name": "f", "arguments": {"s": "a </f> b"}} </f>
//                                     ^^^^^^^^^^  ^ the value ends here: what
//                   a match in a string is text     may follow is a delimiter
//
// The scanner reads ahead to its next change of phase; then the matches that
// begin in what it has read are decided.
//
//   outside strings   a match ends the region, also if the value is incomplete
//   in a string       a match is a candidate: it is text if a token that may
//                     follow a string follows this one, and ends the region if
//                     not, because then the string never ended.  Where the text
//                     ends in the string, is_meant() decides
//   after the value   a match that begins before other text ends the region;
//                     else the region ends with the value
//
// Where the text stops being a value, the region ends at its first delimiter
// from there on.
//
// A region of elements (ElementScanner) ends with its close alone.  In the
// value of an element
//
//   the close        is a candidate: it is text if the value's tail comes, and
//                    ends the region if an opener, another delimiter or the end
//                    of the text comes first
//   another match    counts as it does between the elements
//
// What is held: a candidate and the text after it, and the text after a value,
// in both cases not longer than the automaton may hold a match.
//
// Invariant: matches that begin before the last change of phase that handled_
// includes are decided, and passed_ is not after the candidate or the value's
// end.

#include <algorithm>
#include <string_view>

#include "base/python_number.h"
#include "base/white_space.h"
#include "parse/segmenter.h"

namespace parlance::parse {

// Decides whether the first match begins before `position`.
Segmenter::Found Segmenter::look_before(std::uint64_t position, bool end) {
  if (watch_->automaton == nullptr) return Found::kNone;
  search_on(end, position);
  if (search_.decided()) {
    search_.match(match_);
    return match_.begin < position && match_.begin < total_ ? Found::kMatch
                                                            : Found::kNone;
  }
  if (search_.over() || search_.hold() >= position) return Found::kNone;
  return Found::kUnknown;
}

// Lets the scanner read up to its next change of phase, or to where a candidate
// or white space after a value has been held long enough.
// Returns whether it gave a token of elements: then it may have more of them.
bool Segmenter::scan_value(bool end) {
  if (by_elements_) {
    const std::uint64_t before = read();
    const auto kind =
        elements_.next({{window_, marks_, base_}, end, block_bytes_});
    if (kind != ElementToken::Kind::kMore && !elements_.gave_up()) {
      sink_.on_element(elements_.token());
    }
    work_ += read() - std::min(before, read());
    return kind != ElementToken::Kind::kMore;
  }
  std::uint64_t stop = total_;
  if (candidate_) {
    stop = std::min(stop, candidate_->match.begin + block_bytes_);
  }
  if (handled_ == Phase::kAfter) {
    stop = std::min(stop, scanner_.value_end() + block_bytes_);
  }
  const std::uint64_t before = scanner_.position();
  const bool ends = end && stop == total_;
  if (before > stop || (before == stop && !ends)) return false;
  scanner_.scan({.text = slice(before, stop),
                 .base = before,
                 .marks = marks_,
                 .end = ends});
  work_ += scanner_.position() - before;
  return false;
}

// Lets the scanner read the window, which is all new.  Returns whether the text
// is passed on as it comes: it changes no phase, and a match that begins in it
// would be decided.
bool Segmenter::stays_in_phase() {
  const bool plain = handled_ == Phase::kOutside ||
                     handled_ == Phase::kInside || handled_ == Phase::kElement;
  if (!plain || phase() != handled_ || candidate_ || string_is_text_ ||
      scanned() != base_) {
    return false;
  }
  scan_value(/*end=*/false);
  return phase() == handled_ && scanned() == total_;
}

// A match that consists of brackets and separators of JSON, such as "]".
bool Segmenter::is_part_of_value(const automata::Match& match) const {
  return !by_elements_ && match.end > match.begin &&
         match.end <= scanner_.position() &&
         scanner_.phase() != Phase::kBroken &&
         slice(match.begin, match.end).find_first_not_of("[]{},: \t\r\n") ==
             std::string_view::npos;
}

// Commits the candidate.  Afterwards there is no candidate.
bool Segmenter::commit_candidate() {
  const Candidate found = *std::exchange(candidate_, std::nullopt);
  return commit_match(found.match, *found.winner);
}

// Commits a match, unless it is an opener that does not interrupt.
bool Segmenter::commit_match(const automata::Match& match,
                             const Watched& winner) {
  Delimited found;
  read_match(winner, match, found);
  if (judge(found, false) == Verdict::kText) {
    watch(std::max(found.end, found.begin + 1));
    return false;
  }
  commit(found);
  return true;
}

// Ends the region after its last value, at `position`.
bool Segmenter::end_with_value(std::uint64_t position) {
  pass(position);
  follows_call_ = program_.calls[field_];
  unclosed_call_ = follows_call_ ? field_ : kNoField;
  field_ = kNoField;
  enter_region(position);
  sink_.on_value_end(position);
  // A part of the close at the end of the text may follow the value.
  if (begun_.watched != nullptr) longer_ = begun_;
  if (position > longer_.begin) longer_ = {};
  watch(std::max(position, passed_));
  return true;
}

// The text stops being a value at the scanner's position.
void Segmenter::give_up_value() {
  const std::uint64_t at = scanner_.position();
  const bool otherwise =
      program_.readings[field_]->otherwise_content && !scanner_.has_value();
  pass(at);
  valued_ = false;
  candidate_.reset();
  if (otherwise && sink_.on_abandon(at)) {
    field_ = kNoField;
    enter_region(at);
  }
  watch(std::max(at, passed_));
}

// Advances in a region that ends with its value.  Returns whether process() has
// more to do: the region has ended, or is an ordinary one from here on.
// `end`: no more text comes.
//
// Each of the functions below handles one phase.  It returns true to go on at
// once; false with valued_ if more text is needed.
bool Segmenter::process_value(bool end) {
  while (valued_) {
    const bool given = phase() == handled_ && scan_value(end);
    bool more = false;
    switch (handled_) {
      case Phase::kOutside:
        more = process_outside(end, given);
        break;
      case Phase::kInside:
        more = process_string(end);
        break;
      case Phase::kUnconfirmed:
        more = process_unconfirmed(end);
        break;
      case Phase::kElement:
        more = process_element(end);
        break;
      default:
        more = process_after(end);
        break;
    }
    if (!more) return false;
  }
  return true;
}

// `given`: the scanner gave a token just now.
bool Segmenter::process_outside(bool end, bool given) {
  const Phase now = phase();
  const bool complete = now == Phase::kAfter || now == Phase::kOther;
  const std::uint64_t to = complete ? scanner_.value_end() : scanned();
  // 1. A match outside strings.
  switch (look_before(to, end)) {
    case Found::kMatch:
      if (is_part_of_value(match_)) {
        watch(match_.end);
      } else {
        commit_match(match_, watch_->patterns[match_.pattern]);
      }
      return true;
    case Found::kUnknown:
      pass(std::min(search_.hold(), to));
      return false;
    case Found::kNone:
      break;
  }
  // 2. None: the text is the region's.
  pass(to);
  switch (now) {
    case Phase::kBroken:
      give_up_value();
      return true;
    case Phase::kOutside:
      // At the end of the text several tokens may have been read at once.
      return read() < total_ || (end && given);
    case Phase::kOther:
      handled_ = Phase::kAfter;
      return true;
    default:
      handled_ = now;
      return true;
  }
}

// Finds the first match that begins in the string, up to `at`, and would count,
// and passes the text before it.  False if more text is needed.
bool Segmenter::find_candidate(Phase now, std::uint64_t at, bool end) {
  std::uint64_t to = at;
  if (!candidate_ && !string_is_text_) {
    Found found = look_before(at, end);
    while (found == Found::kMatch) {
      const Watched& winner = watch_->patterns[match_.pattern];
      Delimited opener;
      read_match(winner, match_, opener);
      if (judge(opener, false) != Verdict::kText) break;
      skipped_until_ = std::max(match_.end, match_.begin + 1);
      watch(skipped_until_);
      found = look_before(at, end);
    }
    switch (found) {
      case Found::kMatch:
        candidate_ = {match_, &watch_->patterns[match_.pattern]};
        break;
      case Found::kUnknown:
        to = std::min(search_.hold(), at);
        if (now != Phase::kInside) {
          pass(to);
          return false;
        }
        break;
      case Found::kNone:
        break;
    }
  }
  if (candidate_ && at >= candidate_->match.begin + block_bytes_) {
    candidate_.reset();
    string_is_text_ = true;
  }
  if (candidate_) to = candidate_->match.begin;
  pass(std::min(to, at));
  return true;
}

// The text ends in a string that begins before the candidate.  Either the
// response was cut off in a string that quotes a delimiter, or the string lacks
// its end, and the delimiter was meant: if nothing follows it, or if the turn
// ends after it, by a mark or with the last text.  The first match that opens
// nothing becomes the candidate.
//
// Invariant of the loop: `meant` is that match, if there was one, and `last` is
// the end of the match or of the last end of turn after it.
bool Segmenter::is_meant() {
  std::optional<Candidate> meant;
  std::uint64_t last = 0;
  for (Candidate one = *candidate_;;
       one = {match_, &watch_->patterns[match_.pattern]}) {
    const std::uint64_t begin = one.match.begin;
    const std::uint64_t to = one.match.end;
    if (!meant) {
      last = to;
      if (!is_opener(one.winner->field, one.winner->close)) meant = one;
    } else if (one.winner->field == kTurnEnd ||
               program_.ends_turn(slice(begin, to))) {
      const bool by_mark = std::ranges::any_of(marks_, [&](const MarkAt& mark) {
        return mark.position >= begin && mark.position < to;
      });
      last = by_mark ? total_ : to;
      if (last == total_) break;
    }
    watch(std::max(to, begin + 1));
    if (look_before(total_, /*end=*/true) != Found::kMatch) break;
  }
  candidate_ = std::move(meant);
  return candidate_ && (stopped_ || base::is_blank(slice(last, total_)));
}

bool Segmenter::process_string(bool end) {
  const Phase now = phase();
  const std::uint64_t at = scanned();
  if (!find_candidate(now, at, end)) return false;
  if (leaves_json(now)) return leave_json();
  switch (now) {
    case Phase::kInside: {
      if (at < total_) return true;
      if (!end) return false;
      if (candidate_ && is_meant()) {
        if (commit_candidate()) return true;
      }
      pass(total_);
      return false;
    }
    case Phase::kAfter:  // the string is the value
    case Phase::kOther:
      candidate_.reset();
      string_is_text_ = false;
      pass(scanner_.value_end());
      watch(std::max(scanner_.value_end(), passed_));
      handled_ = Phase::kAfter;
      return true;
    case Phase::kBroken:
      if (candidate_) {
        if (commit_candidate()) return true;
      }
      give_up_value();
      return true;
    default:
      handled_ = now;
      return true;
  }
}

bool Segmenter::process_unconfirmed(bool end) {
  const Phase now = phase();
  const std::uint64_t at = scanned();
  if (candidate_ && at >= candidate_->match.begin + block_bytes_) {
    candidate_.reset();
    string_is_text_ = true;
  }
  if (now == Phase::kUnconfirmed) {
    if (at < total_) return true;
    if (end) pass(total_);
    if (!candidate_) pass(string_end());
    return false;
  }
  if (leaves_json(now)) return leave_json();
  if (now == Phase::kInside) {  // a third quote: the string goes on
    handled_ = now;
    return true;
  }
  if (now == Phase::kBroken && candidate_) {
    commit_candidate();
    return true;
  }
  // The string was one: matches in it are text, and others may begin after it.
  if (candidate_ || string_is_text_ || skipped_until_ > string_end()) {
    candidate_.reset();
    string_is_text_ = false;
    pass(string_end());
    watch(std::max(string_end(), passed_));
  }
  handled_ = Phase::kOutside;
  return true;
}

// Whether the JSON of an element, or in place of elements, has ended or turned
// out to be none.
bool Segmenter::leaves_json(call_syntax::Phase now) const {
  return by_elements_ && (now == Phase::kElement || elements_.is_damaged());
}

// A match in a string that never ended was meant.
bool Segmenter::leave_json() {
  if (candidate_ && elements_.is_damaged()) {
    if (commit_candidate()) return true;
  }
  candidate_.reset();
  string_is_text_ = false;
  watch(std::max(scanned(), passed_));
  handled_ = phase();
  return true;
}

bool Segmenter::process_element(bool end) {
  const Phase now = phase();
  const bool ended = now != Phase::kElement;
  const std::uint64_t at = ended ? elements_.token().value.end : scanned();
  // 1. The matches in the value.
  std::uint64_t to = at;
  Found found = look_before(at, end);
  for (; found == Found::kMatch; found = look_before(at, end)) {
    const Watched& winner = watch_->patterns[match_.pattern];
    if (winner.field == field_ && winner.close) {
      if (!candidate_) candidate_ = {match_, &winner};
      watch(std::max(match_.end, match_.begin + 1));
    } else if (candidate_ && winner.field != kDropped) {
      commit_candidate();
      return true;
    } else if (commit_match(match_, winner)) {
      return true;
    }
  }
  if (found == Found::kUnknown) to = std::min(search_.hold(), at);
  // A value that ends with the text, and not with a closer, ends at the close.
  const bool at_end =
      ended && elements_.token().end == total_ &&
      base::python_strip(slice(at, elements_.token().end)).empty();
  if (candidate_ && at_end) {
    commit_candidate();
    return true;
  }
  // 2. A candidate that has been held long enough is text.
  if (candidate_ && candidate_->match.begin < passed_) candidate_.reset();
  if (candidate_ && at >= candidate_->match.begin + block_bytes_) {
    sink_.on_quoted(field_, true, candidate_->match.begin,
                    candidate_->match.end);
    candidate_.reset();
  }
  if (candidate_) to = std::min(to, candidate_->match.begin);
  // 3. The value goes on.
  if (!ended || found == Found::kUnknown) {
    pass(to);
    if (ended) return false;
    if (read() < total_) return true;
    if (!end) return false;
    if (candidate_) {
      commit_candidate();
      return true;
    }
    pass(total_);
    return false;
  }
  // 4. It has ended: the close in it is text.
  if (candidate_) {
    sink_.on_quoted(field_, true, candidate_->match.begin,
                    candidate_->match.end);
    candidate_.reset();
  }
  pass(elements_.token().end);
  watch(std::max(elements_.token().end, passed_));
  handled_ = Phase::kOutside;
  return true;
}

static constexpr std::string_view kBrackets =
    "a closing bracket after the value";

// Whether closing brackets too many stand between the value and the region's
// close, which then ends the region.
Segmenter::Found Segmenter::drop_brackets(bool end) {
  const std::uint64_t first = scanner_.other();
  if (judged_ != first) judged_ = body_at_ = first;
  const auto is_bracket = [&](std::uint64_t at) {
    const char c = window_[at - base_];
    return c == '}' || c == ']';
  };
  if (!is_bracket(first)) return Found::kNone;
  while (body_at_ < total_ &&
         (is_bracket(body_at_) ||
          base::is_ascii_space(window_[body_at_ - base_]))) {
    if (++body_at_ - first >= block_bytes_) return Found::kNone;
  }
  if (body_at_ == total_) {
    if (!end) return Found::kUnknown;
    pass(scanner_.value_end());
    sink_.on_left_out(slice(first, total_), first, kBrackets);
    passed_ = total_;
    end_with_value(total_);
    return Found::kMatch;
  }
  const Found found = look_before(body_at_ + 1, end);
  if (found != Found::kMatch) return found;
  const Watched& winner = watch_->patterns[match_.pattern];
  if (winner.field != field_ || !winner.close || match_.begin < first) {
    return Found::kNone;
  }
  pass(scanner_.value_end());
  sink_.on_left_out(slice(first, match_.begin), first, kBrackets);
  passed_ = match_.begin;
  commit_match(match_, watch_->patterns[match_.pattern]);
  return Found::kMatch;
}

bool Segmenter::process_after(bool end) {
  const Phase now = scanner_.phase();
  const std::uint64_t at = scanner_.position();
  const bool other = now == Phase::kOther;
  // 1. A delimiter before any other text.
  switch (look_before(other ? scanner_.other() + 1 : at, end)) {
    case Found::kMatch: {
      // What is not the region's own close is found again after the region.
      const Watched& winner = watch_->patterns[match_.pattern];
      if (!winner.close) return end_with_value(scanner_.value_end());
      commit_match(match_, winner);
      return true;
    }
    case Found::kUnknown:
      if (at < scanner_.value_end() + block_bytes_) return false;
      break;
    case Found::kNone:
      break;
  }
  // 2. None.
  switch (now) {
    case Phase::kOther:
      switch (drop_brackets(end)) {
        case Found::kMatch:
          return true;
        case Found::kUnknown:
          if (total_ < scanner_.value_end() + block_bytes_) return false;
          break;
        case Found::kNone:
          break;
      }
      return end_with_value(scanner_.value_end());
    case Phase::kAfter:
      if (at >= scanner_.value_end() + block_bytes_) {
        return end_with_value(scanner_.value_end());
      }
      if (at < total_) return true;
      return end && end_with_value(total_);
    case Phase::kBroken:
      give_up_value();
      return true;
    default:  // the next value
      pass(at);
      handled_ = Phase::kOutside;
      return true;
  }
}

}  // namespace parlance::parse
