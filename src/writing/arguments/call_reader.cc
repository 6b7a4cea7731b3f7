// Elements as JSON text, step by step; see call_reader.h.

#include "arguments/call_reader.h"

#include <utility>

#include "arguments/elements.h"
#include "arguments/markup.h"
#include "base/mutex.h"
#include "base/unwinding.h"

namespace parlance::arguments {

bool ArgumentCallReader::streams(const ArgumentRules& rules) {
  if (rules.nests() || rules.root_list() == kNoList) return false;
  // What follows a number must not continue it.
  const std::string_view close = rules.layout().close;
  if (close.empty() || std::string_view("0123456789.eE+-").find(close[0]) !=
                           std::string_view::npos) {
    return false;
  }
  const ListRule& list = rules.list(rules.root_list());
  return list.objects.size() == 1 && list.objects[0].names_with_middle.empty();
}

ArgumentCallReader::ArgumentCallReader(std::string_view name,
                                       std::shared_ptr<void> owner,
                                       std::shared_ptr<ArgumentRules> rules,
                                       base::Mutex& mutex, const Limits& limits)
    : call_(name),
      owner_(std::move(owner)),
      shared_(std::move(rules)),
      rules_(*shared_),
      mutex_(mutex),
      limits_(limits),
      layout_(rules_.layout()),
      head_(head_at(0, true)),
      dialect_({.max_depth = limits.json_depth}) {}

bool ArgumentCallReader::read_head(std::string_view text) {
  const ElementHead::Found found = head_.read(text);
  if (found == ElementHead::Found::kNo) step_ = Step::kStopped;
  if (found == ElementHead::Found::kYes) step_ = Step::kBegin;
  return found != ElementHead::Found::kMore;
}

bool ArgumentCallReader::begin_value(std::string_view text, bool end) {
  const std::size_t begin = head_.value_begin();
  const std::string_view left = text.substr(begin);
  if (layout_.strings == ElementLayout::Strings::kCdata && !end &&
      left.size() < kCdataOpen.size() && kCdataOpen.starts_with(left)) {
    return false;
  }
  string_ = string_text(layout_, text, begin);
  at_ = string_.begin;
  search_.start(at_);
  written_ = false;
  json_end_.reset();
  scanner_.emplace(dialect_, begin);
  // With a text for each type, that of strings has come before CDATA.
  no_json_ = string_.cdata;
  const bool only_string =
      string_.cdata ? !layout_.types.empty() ||
                          rules_.value(head_.member().value).json_types == 0
                    : head_.is_string();
  step_ = only_string ? Step::kString : Step::kValue;
  return true;
}

// The white space before `end` that belongs to the marker that ends a string:
// all of StringText::before, or the beginning of it that has come so far.  The
// text of the marker begins at `end`, or may begin after the text.
std::size_t ArgumentCallReader::held_before(std::string_view text,
                                            std::size_t end) const {
  const std::string_view string = text.substr(at_, end - at_);
  const std::string_view before = string_.before;
  if (end < text.size()) return string.ends_with(before) ? before.size() : 0;
  for (std::size_t size = before.size(); size > 0; --size) {
    if (string.ends_with(before.substr(0, size))) return size;
  }
  return 0;
}

void ArgumentCallReader::end_element(std::size_t at) {
  head_ = head_at(at, false);
  step_ = Step::kHead;
}

// Writes the string between at_ and the closing marker, or what is certain of
// it.  Invariant: the text before at_ is written, or is markup.
bool ArgumentCallReader::read_string(std::string_view text, std::string& out) {
  const auto begin = [&] {
    if (written_) return;
    json_.member(head_.member().name, out);
    json_.open_string(out);
    written_ = true;
  };
  if (layout_.line_feeds && !written_) {
    // The line feed before the value is markup.
    if (at_ == text.size()) return false;
    begin();
    if (text[at_] == '\n') search_.start(++at_);
  }
  const std::size_t found = search_.find(text, string_.text);
  const bool ends = found != std::string_view::npos;
  std::size_t certain = ends ? found : search_.position();
  const std::size_t held = held_before(text, certain);
  certain -= held;
  // The line feed before the closing marker is markup.
  if (layout_.line_feeds && certain > at_ && text[certain - 1] == '\n') {
    --certain;
  }
  if (certain > at_) {
    begin();
    json_.text(text.substr(at_, certain - at_), call_syntax::Encoding::kPlain,
               out);
    at_ = certain;
  }
  if (!ends) return false;
  const std::string_view left = text.substr(found + string_.text.size());
  if (held == string_.before.size() && left.size() < string_.after.size() &&
      string_.after.starts_with(left)) {
    return false;
  }
  if (held != string_.before.size() || !left.starts_with(string_.after)) {
    step_ = Step::kStopped;
    return true;
  }
  begin();
  json_.close_string(out);
  end_element(found + string_.text.size() + string_.after.size());
  return true;
}

// Looks for the end of a JSON text: sets json_end_ or no_json_, or neither if
// the text is too short to say.
void ArgumentCallReader::scan_json(std::string_view text) {
  using call_syntax::Kind;
  while (!json_end_ && !no_json_) {
    const call_syntax::Token token = scanner_->next({.text = text});
    if (token.kind == Kind::kMore) return;
    no_json_ = token.kind == Kind::kBad;
    if (scanner_->has_value()) json_end_ = token.end;
  }
}

// Decides between JSON, when its end and the marker after it have come or it
// fails, and a string.
bool ArgumentCallReader::read_value(std::string_view text, bool end,
                                    std::string& out) {
  scan_json(text);
  if (!json_end_ && !no_json_) {
    if (!end) return false;
    no_json_ = true;
  }
  std::optional<ElementValue> json;
  if (!no_json_) {
    json_end_ = skip_layout(layout_, text, *json_end_);
    const std::string_view left = text.substr(*json_end_);
    if (left.size() < layout_.close.size() && layout_.close.starts_with(left)) {
      return false;
    }
    json = json_value(rules_, head_, text, limits_);
    no_json_ = !json;
  }
  const std::size_t found = search_.find(text, string_.text);
  std::optional<ElementValue> value;
  if (found != std::string_view::npos) {
    value = string_value(rules_, head_, text);
    if (!json && !value) {
      const std::string_view left = text.substr(found + string_.text.size());
      if (!end && left.size() < string_.after.size() &&
          string_.after.starts_with(left)) {
        return false;
      }
      step_ = Step::kStopped;
      return true;
    }
  }
  if (json && !(value && head_.says_string())) {
    if (value && value->end < json->end &&
        text.substr(skip_layout(layout_, text, value->end))
            .starts_with(layout_.between + layout_.open)) {
      step_ = Step::kUndecided;
      return true;
    }
    value = std::move(json);
  }
  if (!value) return false;
  json_.member(head_.member().name, out);
  json_.value(value->value, out);
  end_element(value->end);
  return true;
}

// Invariant: all elements before the one that is being read are written.
void ArgumentCallReader::advance(std::string_view text, bool end,
                                 call_stream::CallWriter& writer) {
  if (!opened_) writer.open(call_, "");
  opened_ = true;
  std::string& out = writer.arguments();
  const std::lock_guard<base::Mutex> lock(mutex_);
  if (rules_.broken()) step_ = Step::kStopped;
  const base::OnUnwinding failed([&] { rules_.break_off(); });
  bool more = true;
  while (more) {
    switch (step_) {
      case Step::kHead:
        more = read_head(text);
        break;
      case Step::kBegin:
        more = begin_value(text, end);
        break;
      case Step::kString:
        more = read_string(text, out);
        break;
      case Step::kValue:
        more = read_value(text, end, out);
        break;
      case Step::kUndecided:
      case Step::kStopped:
        more = false;
        break;
    }
  }
  if (!end) return;
  if (step_ == Step::kHead && head_.is_missing(text)) {
    json_.end_members(out);
    writer.end();
  } else if (step_ == Step::kUndecided || out.empty()) {
    writer.leave_rest();
  }
  step_ = Step::kStopped;
}

}  // namespace parlance::arguments
