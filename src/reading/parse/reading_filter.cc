// See reading_filter.h.
//
//   rest ---- opener ----> region ---- close, value end ----> rest
//    |                       ^
//    | opener of a field     | it is a call
//    | with "otherwise"      |
//    +----> candidate -------+
//                |  it is none: its text is text at rest
//
// A text at rest may go on after a candidate, so it ends only when the
// candidate is a call.

#include "parse/reading_filter.h"

#include <algorithm>

#include "parlance/json.h"

namespace parlance::parse {
namespace {

void add_all(std::vector<std::string>& to,
             const std::vector<std::string>& from) {
  for (const std::string& literal : from) {
    if (std::ranges::find(to, literal) == to.end()) to.push_back(literal);
  }
}

}  // namespace

bool ReadingFilter::needed(const format::FormatImpl& format) {
  return std::ranges::any_of(
      format.family.reading.fields, [](const format::FieldReading& reading) {
        return !reading.layout.empty() || reading.otherwise_content;
      });
}

ReadingFilter::ReadingFilter(
    const format::FormatImpl& format, SegmentSink& sink,
    std::function<bool(const CandidateRegion&)> is_call)
    : format_(format),
      sink_(sink),
      is_call_(std::move(is_call)),
      implicit_(format.description.implicit),
      trims_(format.description.fields.size()) {
  for (FieldId i; i < trims_.size(); ++i) {
    const format::FieldReading* read = reading(i);
    if (read == nullptr) continue;
    trims_[i].first = read->layout.first;
    trims_[i].last = read->layout.last;
    trims_[i].after = read->layout.after;
    trims_[i].ends_text = read->layout.before;
    if (implicit_) add_all(rest_last_, read->layout.before);
  }
  if (implicit_) {
    for (Trim& trim : trims_) {
      add_all(trim.ends_text, trims_[*implicit_].last);
    }
    add_all(rest_last_, trims_[*implicit_].last);
  }
  begin_rest(nullptr);
}

const format::FieldReading* ReadingFilter::reading(FieldId field) const {
  const auto& fields = format_.family.reading.fields;
  return field < fields.size() ? &fields[field] : nullptr;
}

void ReadingFilter::begin_text(const Literals& first, const Literals& last) {
  trims_text_ = !first.empty() || !last.empty();
  if (!trims_text_) return;
  trimmer_.begin(first, last);
  joins_.clear();
  fed_ = 0;
}

// Begins the text after a region, or of the response.
void ReadingFilter::begin_rest(const Literals* after) {
  field_ = kNoField;
  rest_first_.clear();
  if (implicit_) {
    rest_first_ = trims_[*implicit_].first;
    if (after != nullptr) add_all(rest_first_, *after);
  }
  begin_text(rest_first_, rest_last_);
}

// Gives text to the sink, trimmed if a field asks for it.
void ReadingFilter::add_text(std::string_view text, std::uint64_t begin,
                             std::span<const MarkAt> marks) {
  if (text.empty()) return;
  if (!trims_text_) {
    sink_.on_text(text, begin, marks);
    return;
  }
  const std::uint64_t start = fed_;
  if (joins_.empty() ||
      joins_.back().second + (start - joins_.back().first) != begin) {
    joins_.emplace_back(start, begin);
  }
  fed_ += text.size();
  trimmer_.feed(text, [&](std::string_view piece, std::uint64_t offset) {
    // Held text contains no mark, because layout is white space.
    if (offset >= start && marks.empty()) {
      sink_.on_text(piece, begin + (offset - start), {});
      return;
    }
    if (offset >= start) {
      const MarkedText all(text, marks, begin);
      const MarkedText part =
          all.substr(static_cast<std::size_t>(offset - start), piece.size());
      sink_.on_text(piece, begin + (offset - start), part.marks);
      return;
    }
    pass_held_text(piece, offset);
  });
  // Only the place of the held text is needed from here on.
  while (joins_.size() > 1 && joins_[1].first <= trimmer_.offset()) {
    joins_.erase(joins_.begin());
  }
}

// Passes on text that was held, which may come from several places.
void ReadingFilter::pass_held_text(std::string_view piece,
                                   std::uint64_t offset) {
  while (!piece.empty()) {
    auto next = std::ranges::find_if(
        joins_, [&](const auto& join) { return join.first > offset; });
    const auto& [from, position] = *(next - 1);
    const std::size_t size =
        next == joins_.end()
            ? piece.size()
            : std::min(piece.size(),
                       static_cast<std::size_t>(next->first - offset));
    sink_.on_text(piece.substr(0, size), position + (offset - from), {});
    piece.remove_prefix(size);
    offset += size;
  }
}

// Ends the text that is open.
void ReadingFilter::end_text(const Literals& last) {
  if (!trims_text_) return;
  trimmer_.end(last, [&](std::string_view piece, std::uint64_t offset) {
    pass_held_text(piece, offset);
  });
  trims_text_ = false;
}

void ReadingFilter::on_text(std::string_view text, std::uint64_t begin,
                            std::span<const MarkAt> marks) {
  if (!candidate_) {
    add_text(text, begin, marks);
    return;
  }
  Candidate& candidate = *candidate_;
  if (candidate.body.empty() || !candidate.body.back().left_out.empty() ||
      candidate.body.back().begin + candidate.body.back().text.size() !=
          begin) {
    candidate.body.push_back({"", begin});
  }
  Piece& piece = candidate.body.back();
  piece.text += text;
  piece.marks.insert(piece.marks.end(), marks.begin(), marks.end());
}

void ReadingFilter::on_left_out(std::string_view text, std::uint64_t begin,
                                std::string_view what) {
  if (!candidate_) {
    sink_.on_left_out(text, begin, what);
    return;
  }
  Piece& piece = candidate_->body.emplace_back();
  piece.text = text;
  piece.begin = begin;
  piece.left_out = what;
}

// Opens a region.
void ReadingFilter::open(const Delimited& delimiter) {
  end_text(field_ == kNoField ? trims_[delimiter.field].ends_text
                              : trims_[field_].last);
  sink_.on_delimiter(delimiter);
  field_ = delimiter.field;
  begin_text(trims_[field_].first, trims_[field_].last);
}

void ReadingFilter::on_delimiter(const Delimited& delimiter) {
  if (!delimiter.close) {
    if (candidate_) accept_candidate();
    const format::FieldReading* read = reading(delimiter.field);
    if (field_ != kNoField || read == nullptr || !read->otherwise_content ||
        !implicit_) {
      open(delimiter);
      return;
    }
    candidate_ = Candidate();
    Candidate& candidate = *candidate_;
    candidate.open = delimiter;
    for (const auto& [name, text] : delimiter.captures) {
      candidate.captures.emplace_back(name, text);
    }
    candidate.opener = {std::string(delimiter.text),
                        delimiter.begin,
                        {delimiter.marks.begin(), delimiter.marks.end()}};
    return;
  }
  if (candidate_ &&
      !settle_candidate(&delimiter, delimiter.begin, !delimiter.damaged)) {
    return;
  }
  const bool at_rest = field_ == kNoField;
  end_text(trims_[delimiter.field].last);
  sink_.on_delimiter(delimiter);
  begin_rest(at_rest ? nullptr : &trims_[delimiter.field].after);
}

void ReadingFilter::on_empty_text(FieldId closes) {
  if (field_ != kNoField) {
    begin_text(trims_[field_].first, trims_[field_].last);
  } else {
    begin_rest(closes == kNoField ? nullptr : &trims_[closes].after);
  }
  sink_.on_empty_text(closes);
}

void ReadingFilter::on_markup(const Delimited& markup) {
  if (field_ != kNoField) end_text(trims_[field_].last);
  sink_.on_markup(markup);
  if (field_ != kNoField) begin_rest(nullptr);
}

void ReadingFilter::on_value_end(std::uint64_t position) {
  if (candidate_ && !settle_candidate(nullptr, position, true)) return;
  const FieldId field = field_;
  end_text(trims_[field].last);
  sink_.on_value_end(position);
  begin_rest(&trims_[field].after);
}

bool ReadingFilter::on_abandon(std::uint64_t position) {
  if (candidate_) {
    return !settle_candidate(nullptr, position, false);
  }
  // A region that interrupted another is no candidate.
  const FieldId field = field_;
  end_text(trims_[field].last);
  const bool abandoned = sink_.on_abandon(position);
  begin_rest(&trims_[field].after);
  return abandoned;
}

void ReadingFilter::on_turn_end(std::uint64_t begin, std::uint64_t end,
                                bool more) {
  end_response();
  sink_.on_turn_end(begin, end, more);
  begin_rest(nullptr);
  if (!more) trims_text_ = false;
}

void ReadingFilter::finish() { end_response(); }

// Ends the open text and the candidate.  A candidate whose value is not
// complete was cut off: it is a region, which cannot be read.
void ReadingFilter::end_response() {
  if (candidate_) {
    const format::FieldReading* read = reading(candidate_->open.field);
    if (read->ends == format::RegionEnd::kValue || candidate_is_call(nullptr)) {
      accept_candidate();
    } else {
      refuse_candidate(nullptr);
    }
  }
  if (field_ != kNoField) {
    end_text(trims_[field_].last);
  } else if (implicit_) {
    end_text(trims_[*implicit_].last);
  }
}

std::string ReadingFilter::candidate_body() const {
  std::string body;
  for (const Piece& piece : candidate_->body) {
    if (piece.left_out.empty()) body += piece.text;
  }
  return body;
}

bool ReadingFilter::candidate_is_call(const Delimited* close) const {
  std::string body;
  std::vector<MarkAt> marks;
  for (const Piece& piece : candidate_->body) {
    if (!piece.left_out.empty()) continue;
    for (const MarkAt& mark : piece.marks) {
      marks.push_back({body.size() + (mark.position - piece.begin), mark.length,
                       mark.symbol});
    }
    body += piece.text;
  }
  auto captures = candidate_->captures;
  if (close != nullptr) {
    for (const auto& [name, text] : close->captures) {
      captures.emplace_back(name, text);
    }
  }
  return is_call_({candidate_->open.field, body, marks, captures});
}

// The candidate is a region: gives it to the sink.
void ReadingFilter::accept_candidate() {
  Candidate candidate = *std::exchange(candidate_, std::nullopt);
  candidate.open.captures.clear();
  for (const auto& [name, text] : candidate.captures) {
    candidate.open.captures.emplace_back(name, text);
  }
  candidate.open.text = candidate.opener.text;
  open(candidate.open);
  for (const Piece& piece : candidate.body) {
    if (piece.left_out.empty()) {
      add_text(piece.text, piece.begin, piece.marks);
    } else {
      sink_.on_left_out(piece.text, piece.begin, piece.left_out);
    }
  }
}

// The candidate is text at rest, with the delimiter that closed it.
void ReadingFilter::refuse_candidate(const Delimited* close) {
  const Candidate candidate = *std::exchange(candidate_, std::nullopt);
  add_text(candidate.opener.text, candidate.opener.begin,
           candidate.opener.marks);
  for (const Piece& piece : candidate.body) {
    add_text(piece.text, piece.begin, piece.marks);
  }
  if (close == nullptr) return;
  // A text that ends the response is no text of a field.
  std::size_t end = 0;
  for (const std::string& literal : format_.family.reading.turn_end) {
    if (close->text.ends_with(literal)) end = std::max(end, literal.size());
  }
  const MarkedText text(close->text, close->marks, close->begin);
  const MarkedText kept = text.substr(0, close->text.size() - end);
  add_text(kept.text, close->begin, kept.marks);
}

// Decides a candidate that ends at `end`.  Returns whether it has a call.
// `whole`: so is its value, which may be an answer in JSON.  Text that is no
// call, but has the brackets of an object or of arguments, is a call that
// cannot be read; in prose, such as "[see below]", no call begins.
bool ReadingFilter::settle_candidate(const Delimited* close, std::uint64_t end,
                                     bool whole) {
  if (candidate_is_call(close)) {
    accept_candidate();
    return true;
  }
  const std::string body = candidate_body();
  const auto begins = [](std::string_view text) {
    return text.find_first_of("{(") != std::string_view::npos;
  };
  const bool answer = whole && (json::parse(body) ||
                                json::parse(candidate_->opener.text + body));
  if (!answer && (begins(candidate_->opener.text) || begins(body))) {
    sink_.on_quoted(candidate_->open.field, /*close=*/false,
                    candidate_->open.begin, end);
  }
  refuse_candidate(close);
  return false;
}

std::uint64_t ReadingFilter::held_begin() const {
  if (trims_text_ && !trimmer_.held().empty()) {
    const auto& [offset, position] = joins_.front();
    return position + (trimmer_.offset() - offset);
  }
  return candidate_ ? candidate_->opener.begin : ~std::uint64_t{0};
}

std::string ReadingFilter::held() const {
  std::string out;
  if (trims_text_) out = trimmer_.held();
  if (candidate_) {
    out += candidate_->opener.text;
    for (const Piece& piece : candidate_->body) out += piece.text;
  }
  return out;
}

}  // namespace parlance::parse
