// See segmenter.h.  The text that is still needed (held, plus what look-behind
// may see) lives in buffer_; when nothing is held a chunk is searched where it
// lies and only its undecided end is copied.

#include "parse/segmenter.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "parse/spoofs.h"

namespace parlance::parse {
namespace {

// A partial match of a backtracking engine is tried anew with every feed while
// it is short, and then each time it has grown by an eighth: the work stays
// linear in the length of what is held.
constexpr std::uint64_t kAlwaysRetry = 4096;

}  // namespace

Segmenter::Segmenter(const DelimiterProgram& program, const Limits& limits,
                     SegmentSink& sink)
    : program_(program),
      field_(kNoField),
      block_bytes_(
          std::bit_floor(std::max<std::size_t>(limits.held_bytes / 2, 1))),
      block_end_(block_bytes_),
      sink_(sink) {
  watch(0);
}

std::string_view Segmenter::slice(std::uint64_t begin,
                                  std::uint64_t end) const {
  return window_.substr(begin - base_, end - begin);
}

std::string_view Segmenter::held() const { return slice(passed_, total_); }

// Begins to watch what has to be watched from `position` on.
void Segmenter::watch(std::uint64_t position) {
  watch_ = field_ == kNoField ? &program_.resting : &program_.inside[field_];
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

// A delimiter may match the empty string once at each place, or a pair of them
// would open and close regions there for ever.
// Differs from upstream, which hangs or stops reading.
bool Segmenter::may_be_empty(std::uint32_t id, std::uint64_t position) const {
  return position != empty_at_ ||
         std::find(empty_ids_.begin(), empty_ids_.end(), id) ==
             empty_ids_.end();
}

void Segmenter::feed(std::string_view text) {
  // With backtracking searches the text is taken in blocks that end at fixed
  // places of the stream, so that their limit is passed at the same byte
  // however the text was cut.  Automata look at these places by themselves.
  while (program_.any_backtrackers && total_ + text.size() > block_end_) {
    auto room = static_cast<std::size_t>(block_end_ - total_);
    feed_block(text.substr(0, room));
    text.remove_prefix(room);
  }
  if (!text.empty()) feed_block(text);
}

void Segmenter::feed_mark(automata::Symbol symbol, std::string_view spelling) {
  marks_.push_back({total_, spelling.size(), symbol});
  feed_block(spelling);
}

void Segmenter::feed_block(std::string_view text) {
  bool in_place = buffer_.size() == buffer_start_ && !program_.any_backtrackers;
  if (in_place) {
    window_ = text;
    base_ = total_;
    // Most chunks are text through and through.
    if (watch_->automaton != nullptr && marks_.empty() &&
        total_ + text.size() < block_end_ && !search_.decided()) {
      work_ += search_.run(text);
      if (!search_.decided() && search_.hold() == total_ + text.size()) {
        total_ = passed_ = base_ = search_.position();
        before_base_ = text.back();
        window_ = {};
        sink_.on_text(text, total_ - text.size(), {});
        return;
      }
    }
  } else {
    buffer_.append(text);
    window_ = std::string_view(buffer_).substr(buffer_start_);
  }
  total_ += text.size();
  process(false);
  if (total_ >= block_end_) {
    block_end_ = (total_ | (block_bytes_ - 1)) + 1;
    check_limit();
  }

  // Keep what is held, and what look-behind may want to see before it.
  std::uint64_t from = passed_;
  if (program_.any_backtrackers) {
    from -= std::min<std::uint64_t>(from - base_, program_.context_bytes);
    // Not into the middle of a character.
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

void Segmenter::finish() {
  process(true);
  pass(total_);
}

void Segmenter::pass(std::uint64_t to) {
  if (to <= passed_) return;
  std::span<const MarkAt> marks;
  if (!marks_.empty()) {
    marks = MarkedText(window_, marks_, base_)
                .substr(passed_ - base_, to - passed_)
                .marks;
  }
  sink_.on_text(slice(passed_, to), passed_, marks);
  passed_ = to;
}

// Gives up on everything that may have begun between `from` and `to`.
void Segmenter::release(std::uint64_t from, std::uint64_t to) {
  // In order, as where it had come in pieces.
  pass(from);
  sink_.on_limit(from, to,
                 "held longer than Limits::held_bytes allows; it is text now");
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

// Reads on with the automaton until it is decided or the text is used up.
void Segmenter::search_on(bool end) {
  if (watch_->automaton == nullptr || search_.over()) return;
  std::uint64_t at = search_.position();
  std::uint64_t check = (at | (block_bytes_ - 1)) + 1;
  while (!search_.decided() && at < total_) {
    std::uint64_t stop = std::min(total_, check);
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
  if (end && !search_.decided()) search_.finish();
}

// Brings visible_ up to date.
void Segmenter::hide_spoofs(bool end) {
  visible_ = window_;
  if (!program_.any_backtrackers || !program_.spoofable) return;
  const MarkedText text(window_, marks_, base_);
  hidden_ = spoofs_hidden(text, program_.marks);
  visible_ = hidden_;
  // So that a spelling is hidden wherever the stream was cut.
  if (!end) {
    visible_ = visible_.substr(0, unfinished_spelling(text, program_.marks));
  }
}

// Brings what is known of a backtracker's next match up to date.
void Segmenter::track(const Backtracker& b, Tracked& tracked, bool end) {
  using Status = Tracked::Status;
  const std::uint64_t known = base_ + visible_.size();
  if (tracked.status == Status::kMatch) {
    bool usable =
        tracked.begin >= passed_ && (tracked.begin != tracked.end ||
                                     may_be_empty(tracked.id, tracked.begin));
    if (usable) return;
    tracked.status = Status::kUnknown;
    tracked.searched = passed_;
  }
  if (tracked.status == Status::kPartial && tracked.begin < passed_) {
    tracked.status = Status::kUnknown;
    tracked.searched = passed_;
  }
  std::uint64_t from = std::max(passed_, tracked.searched);
  if (tracked.status == Status::kPartial) {
    from = tracked.begin;
    if (!end && tracked.seen == known) return;
    std::uint64_t now = known - from;
    std::uint64_t then = tracked.seen - from;
    if (!end && now > kAlwaysRetry && now < then + then / 8 &&
        (known & (block_bytes_ - 1)) != 0) {
      return;
    }
  } else if (!end && from >= known) {
    return;
  }
  if (!tracked.scratch) tracked.scratch.emplace(b.code);
  work_ += known - from;
  auto found =
      b.code.search(visible_, from - base_,
                    {.more = !end,
                     .not_empty_at_start = !may_be_empty(tracked.id, from),
                     .not_text_start = base_ > 0},
                    *tracked.scratch, &tracked.groups);
  tracked.seen = known;
  tracked.status = Status::kUnknown;
  switch (found.status) {
    case regex::Pcre2::Status::kMatch:
      tracked.status = Status::kMatch;
      tracked.begin = base_ + found.begin;
      tracked.end = base_ + found.end;
      // The window may have moved before the match is taken.
      for (auto& group : tracked.groups) {
        if (group.first == regex::Pcre2::kUnset) continue;
        group.first += base_;
        group.second += base_;
      }
      break;
    case regex::Pcre2::Status::kPartial:
      if (base_ + found.begin < known) {
        tracked.status = Status::kPartial;
        tracked.begin = base_ + found.begin;
      }
      tracked.searched = known;
      break;
    case regex::Pcre2::Status::kLimit:
      sink_.on_limit(from, known,
                     "a pattern needed more steps here than "
                     "Limits::match_steps allows; it counts as no match");
      tracked.searched = known;
      break;
    case regex::Pcre2::Status::kNone:
      tracked.searched = known;
      break;
  }
}

void Segmenter::commit(const Delimited& delimiter) {
  pass(delimiter.begin);
  passed_ = delimiter.end;
  std::uint32_t id = 2 * delimiter.field + (delimiter.close ? 1 : 0);
  if (delimiter.begin == delimiter.end) {
    if (empty_at_ != delimiter.begin) empty_ids_.clear();
    empty_at_ = delimiter.begin;
    empty_ids_.push_back(id);
  }
  if (delimiter.field == kMarkup) {
    sink_.on_markup();
  } else {
    field_ = delimiter.close ? kNoField : delimiter.field;
    sink_.on_delimiter(delimiter);
  }
  watch(delimiter.end);
}

void Segmenter::process(bool end) {
  hide_spoofs(end);
  Delimited best;
  for (;;) {
    if (watch_->empty()) {
      pass(total_);
      return;
    }
    search_on(end);
    // Where something undecided begins; nothing from there on can be taken.
    std::uint64_t hold = automata::kNoPosition;
    if (!watch_->backtrackers.empty() && visible_.size() < window_.size()) {
      hold = base_ + visible_.size();
    }
    const Watched* winner = nullptr;
    const Tracked* winner_tracked = nullptr;
    best.begin = automata::kNoPosition;
    if (watch_->automaton != nullptr) {
      if (search_.decided()) {
        search_.match(match_);
        winner = &watch_->patterns[match_.pattern];
        best.begin = match_.begin;
        best.end = match_.end;
      } else if (!search_.over()) {
        hold = search_.hold();
      }
    }
    for (const Backtracker& b : watch_->backtrackers) {
      std::uint32_t id = b.watched.id();
      auto it = std::find_if(tracked_.begin(), tracked_.end(),
                             [&](const Tracked& t) { return t.id == id; });
      if (it == tracked_.end()) {
        tracked_.emplace_back().id = id;
        it = tracked_.end() - 1;
        winner_tracked = nullptr;
      }
      track(b, *it, end);
      if (it->status == Tracked::Status::kPartial) {
        hold = std::min(hold, it->begin);
      } else if (it->status == Tracked::Status::kMatch) {
        bool wins = winner == nullptr || it->begin < best.begin ||
                    (it->begin == best.begin &&
                     (it->end > best.end ||
                      (it->end == best.end && b.watched.rank < winner->rank)));
        if (wins) {
          winner = &b.watched;
          best.begin = it->begin;
          best.end = it->end;
        }
      }
    }
    // A match that begins where the text ends never counts, as upstream has it:
    // there is nothing left for it to open or close.
    if (winner == nullptr || best.begin >= hold || best.begin >= total_) {
      pass(end ? total_ : std::min({hold, best.begin, total_}));
      return;
    }
    best.field = winner->field;
    best.close = winner->close;
    best.captures.clear();
    bool by_automaton = watch_->automaton != nullptr && search_.decided() &&
                        winner == &watch_->patterns[match_.pattern];
    if (!by_automaton) {
      winner_tracked =
          &*std::find_if(tracked_.begin(), tracked_.end(),
                         [&](const auto& t) { return t.id == winner->id(); });
    }
    for (std::size_t g = 0; g < winner->names.size(); ++g) {
      std::uint64_t group_begin = automata::kNoPosition;
      std::uint64_t group_end = 0;
      if (by_automaton) {
        std::tie(group_begin, group_end) = match_.groups[g];
      } else if (winner->groups[g] < winner_tracked->groups.size()) {
        auto [b, e] = winner_tracked->groups[winner->groups[g]];
        if (b != regex::Pcre2::kUnset) {
          group_begin = b;
          group_end = e;
        }
      }
      if (group_begin == automata::kNoPosition) continue;
      best.captures.emplace_back(winner->names[g],
                                 slice(group_begin, group_end));
    }
    commit(best);
  }
}

}  // namespace parlance::parse
