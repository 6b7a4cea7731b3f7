// Each step reads one marker, or the text before it, and queues its tokens.
//
//   text                     step      ended by
//   <cofl:value name="a"     kTag      ">" outside quotes
//   ... type="raw">x         kText     a closing marker that counts
//   ... type="json">[1       kJson     a closing marker outside strings
//   ... type="dict">         kBetween  an opening or closing marker
//   ]<]minimax[>[<a>         kText     the marker of an element in it, or the
//                                      closing marker of its name that counts,
//                                      or of an element around it
//   {"a":                    kBody     the end of the text
//
// Invariant: frames_ has the elements that contain at_, and the text before at_
// is in tokens.  A step that needs more text returns false.  The next step
// begins at the same marker, but searched_, name_search_, blank_ and look_ say
// how far the text has been searched, so no byte is searched twice for the same
// purpose.

#include "call_syntax/nested_scanner.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/python_number.h"
#include "base/white_space.h"
#include "parlance/json.h"

namespace parlance::call_syntax {
namespace {

constexpr std::string_view kCohereOpen = "<cofl:value";
constexpr std::string_view kCohereClose = "</cofl:value>";
constexpr std::string_view kMinimax = "]<]minimax[>[";
constexpr std::string_view kTooDeep =
    "the nesting is deeper than Limits::json_depth: ";

std::uint64_t skip_space(const Input& input, std::uint64_t at) {
  while (at < input.total() &&
         base::is_ascii_space(
             input.text[static_cast<std::size_t>(at - input.base)])) {
    ++at;
  }
  return at;
}

std::string_view rest(const Input& input, std::uint64_t from) {
  return input.slice(from, input.total());
}

// Whether `text` is the beginning of `marker`, of which more may come.
bool begins(std::string_view marker, std::string_view text) {
  return text.size() < marker.size() && marker.starts_with(text);
}

// name="..." type="..."
struct Attributes {
  std::optional<std::string_view> name = {};
  std::optional<std::string_view> type = {};
};

// Reads `text` into `out`.  Returns what is wrong with it; "" if nothing is.
std::string_view read_attributes(std::string_view text, Attributes& out) {
  for (;;) {
    while (!text.empty() && base::is_space(text.front())) text.remove_prefix(1);
    if (text.empty()) return {};
    const std::size_t equals = text.find("=\"");
    const std::size_t close =
        equals == std::string_view::npos ? equals : text.find('"', equals + 2);
    const std::string_view key = text.substr(0, std::min(equals, text.size()));
    if (close == std::string_view::npos || (key != "name" && key != "type")) {
      return "a value has more than the attributes name and type: ";
    }
    std::optional<std::string_view>& attribute =
        key == "name" ? out.name : out.type;
    if (attribute) return "a value has an attribute twice: ";
    attribute = text.substr(equals + 2, close - (equals + 2));
    text.remove_prefix(close + 1);
  }
}

}  // namespace

State NestedScanner::state() const {
  constexpr std::array<std::string_view, 6> kSteps = {
      "between", "tag", "text", "json", "body", "done"};
  static_assert(kSteps.size() == static_cast<std::size_t>(Step::kDone) + 1);
  State out = {kSteps[static_cast<std::size_t>(step_)],
               step_ == Step::kText   ? Phase::kElement
               : step_ == Step::kJson ? Phase::kInside
               : step_ == Step::kDone ? Phase::kAfter
                                      : Phase::kOutside,
               at_, step_ == Step::kBetween ? at_ : opening_begin_};
  for (const Frame& frame : frames_) {
    out.open += '/' + (frame.list ? "[]" : frame.name);
  }
  return out;
}

bool NestedScanner::fail(std::string_view damage, std::uint64_t begin,
                         std::uint64_t end, ErrorCode code) {
  damage_ = damage;
  code_ = code;
  step_ = Step::kDone;
  queue(Kind::kBad, begin, end);
  return true;
}

Token NestedScanner::next(const Input& input) {
  while (taken_ == count_) {
    taken_ = count_ = 0;
    if (!step(input) && count_ == 0) {
      return {Kind::kMore, Encoding::kPlain, at_, at_};
    }
  }
  return queued_[taken_++];
}

bool NestedScanner::step(const Input& input) {
  switch (step_) {
    case Step::kBetween:
      return read_between(input);
    case Step::kTag:
      return read_tag(input);
    case Step::kText:
      return read_text(input);
    case Step::kJson:
      return read_json(input);
    case Step::kBody:
      return read_body(input);
    case Step::kDone:
      break;
  }
  return false;
}

void NestedScanner::begin_arguments() {
  if (!begun_) queue(Kind::kObject, at_, at_);
  begun_ = true;
}

// White space between elements is layout.  "{" before any element begins
// arguments that are JSON: no marker begins with it.
bool NestedScanner::read_between(const Input& input) {
  at_ = skip_space(input, at_);
  const std::string_view left = rest(input, at_);
  if (left.empty()) {
    if (!input.end) return false;
    if (!frames_.empty()) {
      return fail("the text ends inside an element: ", opening_begin_, at_);
    }
    begin_arguments();
    closing_begin_ = at_;
    queue(Kind::kClose, at_, at_);
    step_ = Step::kDone;
    return true;
  }
  if (!begun_ && left[0] == '{') {
    step_ = Step::kBody;
    return true;
  }
  return style_ == NestedStyle::kCohereXml ? read_value(input, left)
                                           : read_marker(input);
}

// The arguments are a JSON object: they are known when the text has ended.
bool NestedScanner::read_body(const Input& input) {
  if (!input.end) return false;
  const std::string_view text = base::python_strip(rest(input, at_));
  const Result<json::Value> value = json::parse(text, {.limits = limits_});
  if (!value || !value->is_object()) {
    return fail("not a JSON object: ", at_, input.total());
  }
  queue(Kind::kScalar, at_, at_ + text.size(), Encoding::kJson);
  at_ = input.total();
  step_ = Step::kDone;
  return true;
}

// ---- cohere_xml ----

// Between values.  A closing marker outside all of them is stray, if it comes
// directly after another closing marker.
bool NestedScanner::read_value(const Input& input, std::string_view left) {
  if (left.starts_with(kCohereClose) && (closed_ || !frames_.empty())) {
    closing_begin_ = at_;
    at_ += kCohereClose.size();
    queue(frames_.empty() ? Kind::kSpace : Kind::kClose, closing_begin_, at_);
    if (!frames_.empty()) frames_.pop_back();
    closed_ = true;
    return true;
  }
  if (left.starts_with(kCohereOpen)) {
    begin_arguments();
    opening_begin_ = at_;
    at_ = searched_ = at_ + kCohereOpen.size();
    quoted_ = false;
    step_ = Step::kTag;
    return true;
  }
  if (!input.end && (begins(kCohereOpen, left) || begins(kCohereClose, left))) {
    return false;
  }
  return fail("expected a value (<cofl:value ...>), found ", at_,
              input.total());
}

// Reads to the end of the opening, ">" outside quotes: name="a>b" has one
// inside.
bool NestedScanner::read_tag(const Input& input) {
  for (const char c : rest(input, searched_)) {
    ++searched_;
    if (c == '"') quoted_ = !quoted_;
    if (quoted_ || c != '>') continue;
    return begin_value(input, input.slice(at_, searched_ - 1));
  }
  return input.end &&
         fail("the opening of a value is not complete: ", opening_begin_,
              input.total());
}

// The opening of a value has ended before searched_.
bool NestedScanner::begin_value(const Input& input,
                                std::string_view attributes) {
  const auto wrong = [&](std::string_view what) {
    return fail(what, opening_begin_, searched_);
  };
  Attributes found;
  const std::string_view damage = read_attributes(attributes, found);
  if (!damage.empty()) return wrong(damage);
  const auto& [name, type] = found;
  const bool container = type == "dict" || type == "list";
  if (!container && type != "raw" && type != "json") {
    return wrong("the type of a value is not raw, json, dict or list: ");
  }
  // An item needs no name, and a name that it has is ignored.
  const bool in_list = !frames_.empty() && frames_.back().list;
  if (!in_list && !name) return wrong("a member of a dict has no name: ");
  if (container && frames_.size() + 1 >= limits_.json_depth) {
    return fail(kTooDeep, opening_begin_, searched_, ErrorCode::kTooDeep);
  }
  if (!in_list) {
    const std::uint64_t begin =
        input.base +
        static_cast<std::uint64_t>(name->data() - input.text.data());
    queue(Kind::kKey, begin, begin + name->size());
  }
  at_ = opening_end_ = searched_;
  closed_ = false;
  if (container) {
    const bool list = type == "list";
    queue(list ? Kind::kList : Kind::kObject, opening_begin_, at_);
    frames_.push_back({.list = list});
    step_ = Step::kBetween;
  } else if (type == "raw") {
    queue(Kind::kTextBegin, at_, at_);
    string_ = true;
    step_ = Step::kText;
  } else {
    quoted_ = escaped_ = false;
    step_ = Step::kJson;
  }
  return true;
}

// Outside strings no "<" is JSON, so the first closing marker there counts.
// quoted_ and escaped_ say where the bytes before searched_ end.
bool NestedScanner::read_json(const Input& input) {
  bool found = false;
  for (const char c : rest(input, searched_)) {
    if (escaped_) {
      escaped_ = false;
    } else if (quoted_) {
      escaped_ = c == '\\';
      quoted_ = c != '"';
    } else if (c == '"') {
      quoted_ = true;
    } else if (c == '<') {
      const std::string_view left = rest(input, searched_);
      // The marker may go on in what comes next: "<" is read again.
      if (!input.end && begins(kCohereClose, left)) return false;
      found = left.starts_with(kCohereClose);
      if (found) break;
    }
    ++searched_;
  }
  if (!found) {
    return input.end &&
           fail("the text ends inside a value: ", at_, input.total());
  }
  const std::uint64_t begin = skip_space(input, at_);
  const std::string_view text =
      base::python_strip(input.slice(begin, searched_));
  queue(Kind::kScalar, begin, begin + text.size(), Encoding::kJson);
  closing_begin_ = searched_;
  at_ = searched_ + kCohereClose.size();
  closed_ = true;
  step_ = Step::kBetween;
  return true;
}

// ---- The text of elements ----

// The string grows to `end`.  White space at the beginning of an element of
// minimax_m3_xml waits: it may stand before another element ("<a> <b>"), which
// makes the element an object or a list.  The string begins with the first
// other byte, or with the closing marker, and then has the white space.
void NestedScanner::grow(const Input& input, std::uint64_t end) {
  if (!string_) {
    blank_ = skip_space(input, std::max(blank_, at_));
    if (blank_ >= end) return;
    queue(Kind::kTextBegin, at_, at_);
  }
  if (end == at_) return;
  string_ = true;
  queue(Kind::kText, at_, end);
  at_ = end;
}

// Whether the closing marker that ends at `end` counts; nothing while that is
// not known.
std::optional<bool> NestedScanner::may_follow(const Input& input,
                                              std::uint64_t end) {
  look_ = skip_space(input, std::max(look_, end));
  // The marker and the white space after it are held until it is known.
  if (look_ - end > limits_.held_bytes / 2) return true;
  const std::string_view left = rest(input, look_);
  const bool cohere = style_ == NestedStyle::kCohereXml;
  for (const std::string_view marker :
       {cohere ? kCohereOpen : kMinimax, cohere ? kCohereClose : kMinimax}) {
    if (left.starts_with(marker)) return true;
    // Nothing follows, or a part of a marker: at the end of the text that part
    // is damage between elements.
    if (!begins(marker, left)) continue;
    if (input.end) return true;
    return std::nullopt;
  }
  return false;
}

// The marker at searched_ ends at `end` and closes the element, if it counts.
bool NestedScanner::end_text(const Input& input, std::uint64_t end) {
  const std::optional<bool> counts = may_follow(input, end);
  if (!counts) return false;
  if (!*counts) {
    searched_ = end;
    grow(input, end);
    return true;
  }
  // The element has no text, or white space alone.
  if (!string_) {
    queue(Kind::kTextBegin, at_, at_);
    if (at_ < searched_) queue(Kind::kText, at_, searched_);
  }
  closing_begin_ = searched_;
  queue(Kind::kTextEnd, closing_begin_, end);
  at_ = end;
  closed_ = true;
  step_ = Step::kBetween;
  if (style_ == NestedStyle::kMinimaxM3Xml) {
    last_ = std::move(frames_.back().name);
    frames_.pop_back();
  }
  return true;
}

// Invariant: no marker that counts begins between at_ and searched_.
bool NestedScanner::read_text(const Input& input) {
  if (searched_ == input.total() && !input.end) return false;
  const bool cohere = style_ == NestedStyle::kCohereXml;
  const std::string_view sought = cohere ? kCohereClose : kMinimax;
  const std::string_view left = rest(input, searched_);
  const std::size_t found = left.find(sought);
  if (found == std::string_view::npos) {
    // The end of the text may be the beginning of a marker: it stays.
    std::size_t most = std::min(sought.size() - 1, left.size());
    while (most > 0 && (left[left.size() - most] != sought[0] ||
                        !begins(sought, left.substr(left.size() - most)))) {
      --most;
    }
    searched_ = input.total() - most;
    grow(input, searched_);
    return input.end &&
           fail("the text ends inside an element: ", opening_begin_,
                input.total());
  }
  searched_ += found;
  grow(input, searched_);
  if (cohere) return end_text(input, searched_ + kCohereClose.size());
  const std::optional<Marker> marker = marker_at(input, searched_);
  if (!marker) return false;
  if (!marker->valid) {
    return fail("a marker is not complete: ", searched_, input.total());
  }
  if (marker->closes && marker->name == frames_.back().name) {
    return end_text(input, marker->end);
  }
  if (marker->closes) {
    // That of an element around it shows that this one lacks its own.
    if (std::ranges::find(frames_, marker->name, &Frame::name) !=
        frames_.end()) {
      return fail("a marker closes no open element: ", searched_, marker->end);
    }
    searched_ = marker->end;
    grow(input, searched_);
    return true;
  }
  // An element begins: what contains it has elements, and no text.
  if (string_) return fail("text between elements: ", at_, marker->end);
  queue(Kind::kElements, opening_begin_, opening_end_);
  return open_element(*marker, searched_);
}

// ---- minimax_m3_xml ----

// Reads the marker at `at`, to its ">"; nothing if it is not whole yet.  At the
// end of the text, what is not whole is not valid.
std::optional<NestedScanner::Marker> NestedScanner::marker_at(
    const Input& input, std::uint64_t at) {
  Marker out;
  const std::uint64_t begin = at + kMinimax.size();
  name_search_ = std::max(name_search_, begin);
  const std::size_t length = rest(input, name_search_).find('>');
  if (length == std::string_view::npos) {
    name_search_ = input.total();
    if (input.end) return out;
    return std::nullopt;
  }
  out.end = name_search_ + length + 1;
  out.name = input.slice(begin, out.end - 1);
  out.closes = out.name.starts_with("</");
  out.valid = out.name.starts_with('<');
  const std::size_t skipped =
      std::min<std::size_t>(out.name.size(), out.closes ? 2 : 1);
  out.name.remove_prefix(skipped);
  out.name_begin = begin + skipped;
  return out;
}

// An element begins with the marker at `begin`.
bool NestedScanner::open_element(const Marker& marker, std::uint64_t begin) {
  if (frames_.size() + 1 >= limits_.json_depth) {
    return fail(kTooDeep, begin, marker.end, ErrorCode::kTooDeep);
  }
  opening_begin_ = begin;
  at_ = searched_ = opening_end_ = marker.end;
  queue(Kind::kKey, marker.name_begin, marker.name_begin + marker.name.size());
  frames_.push_back({.name = std::string(marker.name)});
  string_ = false;
  step_ = Step::kText;
  return true;
}

// Between elements.  A closing marker closes the innermost element, or is stray
// if it repeats the one that was closed last; any other is damage.
bool NestedScanner::read_marker(const Input& input) {
  const std::string_view left = rest(input, at_);
  if (!left.starts_with(kMinimax)) {
    if (!input.end && begins(kMinimax, left)) return false;
    return fail("expected an element, found ", at_, input.total());
  }
  const std::optional<Marker> marker = marker_at(input, at_);
  if (!marker) return false;
  if (!marker->valid) {
    return fail("a marker is not complete: ", at_, input.total());
  }
  if (!marker->closes) {
    begin_arguments();
    return open_element(*marker, at_);
  }
  const bool inner = !frames_.empty() && frames_.back().name == marker->name;
  if (!inner && !(closed_ && last_ == marker->name)) {
    return fail("a marker closes no open element: ", at_, marker->end);
  }
  closing_begin_ = at_;
  at_ = marker->end;
  queue(inner ? Kind::kClose : Kind::kSpace, closing_begin_, at_);
  closed_ = true;
  if (inner) {
    last_ = std::move(frames_.back().name);
    frames_.pop_back();
  }
  return true;
}

}  // namespace parlance::call_syntax
