// Follows the elements of a call; see element_scanner.h.
//
//   the text so far      mode      it ends with
//   <p=a>1</p>           kBetween  a head, or "{" before any element
//   <p=a>1               kValue    a tail that counts
//   <p=a json>{"x": "    kJson     the end of the JSON, or damage: kValue
//   {"a": "              kJson     the end of the JSON, or damage: kBetween
//
// In kBetween and kValue one search runs over the text.  Text before its hold()
// belongs to no match; the rest is held.  In kJson the scanner of JSON
// reads instead, so a tail in its strings is text.  A function next_...() that
// changes the mode without a token sets goes_on.

#include "parse/element_scanner.h"

#include <algorithm>
#include <string_view>

#include "base/white_space.h"

namespace parlance::parse {

namespace {

// JSON as the values of elements are.
const ValueLanguage& plain_json() {
  static const ValueLanguage language;
  return language;
}

}  // namespace

// Invariant of the loop: the bytes and marks before `at` are read, and `next`
// is the first mark that is not.  A mark is one symbol, and its bytes are
// skipped; the bytes between marks are read at once.
bool run_search(automata::Search& search, const MarkedText& text,
                std::uint64_t stop) {
  std::uint64_t at = search.position();
  std::size_t next =
      text.marks.empty() || at >= stop
          ? text.marks.size()
          : text.first_mark(static_cast<std::size_t>(at - text.offset));
  while (!search.decided() && at < stop) {
    std::uint64_t to = stop;
    if (next < text.marks.size()) {
      const MarkAt& mark = text.marks[next];
      if (mark.position == at) {
        if (!search.mark(mark.symbol, mark.length)) break;
        at += mark.length;
        ++next;
        continue;
      }
      to = std::min(to, mark.position);
    }
    at +=
        search.run(text.text.substr(static_cast<std::size_t>(at - text.offset),
                                    static_cast<std::size_t>(to - at)));
  }
  return search.decided();
}

bool hides_elements(const ElementFinder& finder, const MarkedText& text,
                    const ElementToken& element) {
  const ElementToken::Stretch value = element.value;
  const auto has_closer = [&](std::uint64_t begin, std::uint64_t end) {
    const std::string_view part =
        text.text.substr(static_cast<std::size_t>(begin - text.offset),
                         static_cast<std::size_t>(end - begin));
    return std::ranges::any_of(finder.closers, [&](const std::string& closer) {
      return part.find(closer) != std::string_view::npos;
    });
  };
  if (!finder.strict || !has_closer(value.begin, value.end)) return false;
  bool closed = false;
  automata::Search search;
  automata::Match match;
  for (std::uint64_t at = value.begin; at < value.end; at = match.end) {
    automata::Context inside;
    inside.text_start = inside.line_start = false;
    search.start(finder.head.get(), at, inside);
    if (!run_search(search, text, value.end)) break;
    search.match(match);
    if (match.pattern == 0 && closed) return true;
    closed |= match.pattern == 1;
  }
  return closed && !has_closer(value.end, element.end);
}

void ElementScanner::start(const ElementFinder& finder, bool in_stream,
                           std::uint64_t position, bool line_start) {
  *this = ElementScanner();
  finder_ = &finder;
  in_stream_ = in_stream;
  begin_ = blank_ = token_.end = position;
  line_start_ = line_start;
  token_.value = {position, position};
}

// Searches for what ends `mode`, from `position`.
void ElementScanner::search(Mode mode, std::uint64_t position,
                            const Input& in) {
  mode_ = mode;
  automata::Context context;
  context.text_start = position == begin_;
  context.line_start = position == begin_ ? line_start_
                                          : position > in.text.offset &&
                                                at(in, position - 1) == '\n';
  search_.start(mode == Mode::kBetween ? finder_->head.get()
                : in_stream_           ? finder_->tail_in_stream.get()
                                       : finder_->tail.get(),
                position, context);
  started_ = true;
}

// Searches to the end of the text.  True: the search is decided.
//
// A tail is undecided while white space, or a part of a head, follows it.  If
// it is for more than Input::most bytes, it is text, and the search begins anew
// after what it has read.  Heads have no such bound: they are in no value.
bool ElementScanner::run(const Input& in) {
  const std::uint64_t total = in.text.offset + in.text.text.size();
  while (!search_.decided() && !search_.over() && search_.position() < total) {
    const std::uint64_t hold = search_.hold();
    const bool bounded = mode_ == Mode::kValue && in.most < total - hold;
    if (run_search(search_, in.text, bounded ? hold + in.most : total) ||
        !bounded) {
      continue;
    }
    // The match that is held may have failed by now, and a later one begun.
    if (search_.hold() == hold && search_.position() >= hold + in.most) {
      search(mode_, search_.position(), in);
      gave_up_ = true;
    }
  }
  if (in.end && !search_.decided() && !search_.over()) search_.finish();
  return search_.decided();
}

ElementScanner::Kind ElementScanner::read_token(const Input& in) {
  if (!started_) search(Mode::kBetween, begin_, in);
  for (;;) {
    bool goes_on = false;
    const Kind kind = mode_ == Mode::kBetween ? next_between(in, goes_on)
                      : mode_ == Mode::kValue ? next_value(in, goes_on)
                                              : next_json(in, goes_on);
    if (!goes_on) return kind;
  }
}

// Invariant: white space alone stands before blank_, from the end of the last
// element on, unless kOther was returned.  After kOther, or of a bare template,
// text between elements is skipped.
ElementScanner::Kind ElementScanner::next_between(const Input& in,
                                                  bool& goes_on) {
  const std::uint64_t total = in.text.offset + in.text.text.size();
  const bool strict = finder_->strict && !other_;
  if (strict) {
    while (blank_ < total && base::is_ascii_space(at(in, blank_))) ++blank_;
    if (blank_ < total && !any_ && at(in, blank_) == '{') {
      begin_json(blank_);
      goes_on = true;
      return Kind::kMore;
    }
  }
  // Text before the match, or before the beginning of a possible match, is no
  // element.
  const bool decided = run(in);
  if (decided) search_.match(match_);
  const std::uint64_t first = decided          ? match_.begin
                              : search_.over() ? total
                                               : search_.hold();
  if (strict && blank_ < first) {
    other_ = true;
    token_.stray = {blank_, first};
    return Kind::kOther;
  }
  if (!decided) return Kind::kMore;
  // The value of an interrupted call ends with a tail, and the next element
  // does not belong to this call.
  if (strict && match_.pattern == 0 && tail_first_) {
    other_ = true;
    token_.stray = {match_.begin, match_.end};
    return Kind::kOther;
  }
  // Pattern 0 is a head, 1 a tail (ElementFinder::head).
  tail_first_ |= !any_ && match_.pattern == 1;
  any_ = true;
  if (match_.pattern == 1) {
    token_.stray = {match_.begin, match_.end};
    token_.end = blank_ = match_.end;
    search(Mode::kBetween, match_.end, in);
    return Kind::kStray;
  }
  return begin_element(in, goes_on);
}

// match_ is the head of an element, and the value begins after it: an object
// with all arguments (without kHead, as it has no key), JSON, or text up to a
// tail.
ElementScanner::Kind ElementScanner::begin_element(const Input& in,
                                                   bool& goes_on) {
  const auto takes_part = [&](std::size_t i) {
    return i != 0 && match_.groups[i].first != automata::kNoPosition;
  };
  const auto group = [&](std::size_t i) -> Stretch {
    return {match_.groups[i].first, match_.groups[i].second};
  };
  token_.key = group(0);
  token_.type = takes_part(finder_->type) ? group(finder_->type)
                                          : Stretch{match_.begin, match_.begin};
  token_.damaged = takes_part(finder_->damage);
  if (token_.damaged) token_.stray = {match_.begin, match_.end};
  token_.value = {match_.end, match_.end};
  token_.end = match_.end;
  token_.whole = takes_part(finder_->whole);
  if (token_.whole) {
    in_element_ = true;
    begin_json(match_.end);
    goes_on = true;
    return Kind::kMore;
  }
  const auto& json = finder_->json_types;
  if (finder_->strict && !json.empty() &&
      std::ranges::find(
          json, in.text.text.substr(token_.type.begin - in.text.offset,
                                    token_.type.end - token_.type.begin)) !=
          json.end()) {
    in_element_ = true;
    begin_json(match_.end);
  } else {
    search(Mode::kValue, match_.end, in);
  }
  return Kind::kHead;
}

ElementScanner::Kind ElementScanner::next_value(const Input& in,
                                                bool& /*goes_on*/) {
  if (!run(in)) return Kind::kMore;
  // The look-ahead of a tail is not in the match: what follows is read again.
  search_.match(match_);
  token_.value.end = match_.begin;
  token_.end = blank_ = match_.end;
  search(Mode::kBetween, match_.end, in);
  if (!in_stream_ && hides_elements(*finder_, in.text, token_)) {
    other_ = true;
    token_.stray = token_.value;
    return Kind::kOther;
  }
  return token_.whole ? Kind::kJson : Kind::kValue;
}

void ElementScanner::begin_json(std::uint64_t position) {
  mode_ = Mode::kJson;
  any_ = true;
  damaged_ = false;
  token_.value.begin = token_.value.end = position;
  json_.start(&plain_json(), position);
}

// After the JSON of an element, its tail is searched from where the JSON ends.
// If the text was no JSON, the rest is text like that of any other value.  Text
// after an object in place of the elements is other text, as between elements.
//
// In the stream, next() returns at every change of phase, because a close
// delimiter in a string is to be judged when the string has ended.
ElementScanner::Kind ElementScanner::next_json(const Input& in, bool& goes_on) {
  const std::uint64_t total = in.text.offset + in.text.text.size();
  const Phase before = json_.phase();
  json_.scan({.text = in.text.text, .base = in.text.offset, .end = in.end});
  const Phase now = json_.phase();
  const bool ended = now == Phase::kAfter || now == Phase::kOther;
  damaged_ = now == Phase::kBroken;
  if (!ended && !damaged_) {
    // scan() reads to the next change of phase, or to the end of the text.
    goes_on = (now == before || !in_stream_) && json_.position() < total;
    return Kind::kMore;
  }
  const std::uint64_t end = ended ? json_.value_end() : json_.position();
  if (in_element_) {
    in_element_ = false;
    search(Mode::kValue, end, in);
    goes_on = !in_stream_;
    return Kind::kMore;
  }
  search(Mode::kBetween, end, in);
  if (damaged_) {
    other_ = true;
    token_.stray = {end, end};
    return Kind::kOther;
  }
  token_.value.end = token_.end = blank_ = end;
  return Kind::kJson;
}

call_syntax::State ElementScanner::state() const {
  if (mode_ == Mode::kJson) return json_.state();
  const bool value = mode_ == Mode::kValue;
  return {value ? "value of an element" : "between elements", phase(),
          position(), value ? token_.value.begin : position()};
}

}  // namespace parlance::parse
