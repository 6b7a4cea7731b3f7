// Elements as JSON text, step by step; see call_reader.h.

#include "arguments/call_reader.h"

#include <algorithm>
#include <utility>

#include "arguments/elements.h"
#include "arguments/markup.h"
#include "base/unwinding.h"

namespace parlance::arguments {

using structural_tag::ArgumentStyle;

bool ArgumentCallReader::streams(const ArgumentRules& rules) {
  if (rules.nests() || rules.root_list() == kNone) return false;
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
                                       std::mutex& mutex, const Limits& limits)
    : call_(name),
      owner_(std::move(owner)),
      shared_(std::move(rules)),
      rules_(*shared_),
      mutex_(mutex),
      limits_(limits),
      layout_(rules_.layout()),
      dialect_({.max_depth = limits.json_depth}) {}

std::size_t ArgumentCallReader::skip(std::string_view text,
                                     std::size_t pos) const {
  return layout_.loose ? skip_space(text, pos) : pos;
}

std::size_t ArgumentCallReader::find(std::string_view text,
                                     std::string_view marker) {
  const std::size_t found = text.find(marker, searched_);
  if (found != std::string_view::npos) return found;
  // A marker may have begun at the end of the text.
  const std::size_t most = std::min(marker.size() - 1, text.size() - searched_);
  searched_ = text.size();
  for (std::size_t size = most; size > 0; --size) {
    if (!marker.starts_with(text.substr(text.size() - size))) continue;
    searched_ = text.size() - size;
    break;
  }
  return std::string_view::npos;
}

bool ArgumentCallReader::find_member(std::string_view written) {
  const ObjectRule& rule = rules_.list(rules_.root_list()).objects[0];
  const auto declared = rule.by_written.find(written);
  if (declared != rule.by_written.end()) {
    name_ = rule.members[declared->second].name;
    value_ = rule.members[declared->second].value;
    return true;
  }
  for (const ObjectRule::Extra& extra : rule.extras) {
    if (!rules_.name_fits(extra, written)) continue;
    name_ = written;
    value_ = extra.value;
    return true;
  }
  return false;
}

bool ArgumentCallReader::read_open(std::string_view text) {
  at_ = skip(text, at_);
  const std::string open =
      first_ ? layout_.open : layout_.between + layout_.open;
  const std::string_view left = text.substr(at_);
  // An element has more than `open`, which may be empty.
  if (left.size() <= open.size()) return false;
  if (!left.starts_with(open)) {
    step_ = Step::kStopped;
    return true;
  }
  at_ += open.size();
  searched_ = at_;
  step_ = Step::kName;
  return true;
}

bool ArgumentCallReader::read_name(std::string_view text) {
  const std::size_t found = find(text, layout_.middle);
  if (found == std::string_view::npos) return false;
  if (!find_member(text.substr(at_, found - at_))) {
    step_ = Step::kStopped;
    return true;
  }
  at_ = found + layout_.middle.size();
  searched_ = at_;
  step_ = Step::kAttribute;
  if (layout_.loose && layout_.after_type.empty()) begin_value("");
  return true;
}

// The text of a type and the text after it, of an exact layout.  No such text
// begins with another one.
bool ArgumentCallReader::read_type(std::string_view text) {
  const std::string_view left = text.substr(at_);
  bool wait = false;
  for (const TypeGroup& group : rules_.groups()) {
    const std::string written =
        layout_.types.empty() ? "" : group.text + layout_.after_type;
    if (left.starts_with(written)) {
      at_ += written.size();
      begin_exact_value(group);
      return true;
    }
    wait = wait || written.starts_with(left);
  }
  if (!wait) step_ = Step::kStopped;
  return !wait;
}

bool ArgumentCallReader::read_attribute(std::string_view text) {
  if (!layout_.loose) return read_type(text);
  if (rules_.style() == ArgumentStyle::kGlmXml) {
    at_ = skip_space(text, at_);
    searched_ = std::max(searched_, at_);
  }
  const std::size_t found = find(text, layout_.after_type);
  if (found == std::string_view::npos) return false;
  const std::string_view attribute = text.substr(at_, found - at_);
  if (rules_.style() == ArgumentStyle::kGlmXml && !attribute.empty()) {
    step_ = Step::kStopped;
    return true;
  }
  at_ = found + layout_.after_type.size();
  begin_value(attribute);
  return true;
}

// The value begins at at_.
void ArgumentCallReader::begin_value(std::string_view attribute) {
  const ValueRule& rule = rules_.value(value_);
  string_first_ = attribute == "true" || attribute == "string";
  const bool is_string =
      rule.json_types == 0 ||
      (string_first_ && rule.strings == ValueRule::Strings::kAny);
  start_value(is_string);
  end_ = {"", layout_.close, ""};
}

void ArgumentCallReader::begin_exact_value(const TypeGroup& group) {
  string_first_ = false;
  group_ = &group;
  start_value((rules_.value(value_).json_types & group.types) == 0 ||
              (group.types == schema::kString &&
               layout_.strings != ElementLayout::Strings::kJson));
  const CloseText close = close_text(layout_.close);
  end_ = {std::string(close.before), std::string(close.text),
          layout_.close.substr(close.before.size() + close.text.size())};
}

void ArgumentCallReader::start_value(bool is_string) {
  step_ = is_string ? Step::kString : Step::kValue;
  searched_ = at_;
  string_written_ = false;
  scanner_.reset();
  json_end_.reset();
  no_json_ = false;
}

// Whether the value at at_ may become a CDATA section, which needs more text.
// If it is one, the text in it is what is read next.
bool ArgumentCallReader::may_be_cdata(std::string_view text) {
  if (layout_.strings != ElementLayout::Strings::kCdata || string_written_ ||
      end_.text == kCdataClose) {
    return false;
  }
  const std::string_view left = text.substr(at_);
  if (left.starts_with(kCdataOpen)) {
    at_ += kCdataOpen.size();
    // With a text for each type, that of strings has come.
    start_value(!layout_.types.empty() || rules_.value(value_).json_types == 0);
    no_json_ = true;
    end_ = {"", std::string(kCdataClose), layout_.close};
    return false;
  }
  return kCdataOpen.starts_with(left);
}

// The white space before `end` that belongs to the marker that ends a string:
// all of StringEnd::before, or what of it has come.  The text of the marker
// begins at `end`, or may begin after the text.
std::size_t ArgumentCallReader::held_before(std::string_view text,
                                            std::size_t end) const {
  const std::string_view string = text.substr(at_, end - at_);
  const std::string_view before = end_.before;
  if (end < text.size()) return string.ends_with(before) ? before.size() : 0;
  for (std::size_t size = before.size(); size > 0; --size) {
    if (string.ends_with(before.substr(0, size))) return size;
  }
  return 0;
}

void ArgumentCallReader::end_element(std::size_t at) {
  at_ = at;
  first_ = false;
  step_ = Step::kOpen;
}

// Writes the string between at_ and the closing marker, or what is certain of
// it.  Invariant: the text before at_ is written, or is markup.
bool ArgumentCallReader::read_string(std::string_view text, std::string& out) {
  const auto begin = [&] {
    if (string_written_) return;
    json_.member(name_, out);
    json_.open_string(out);
    string_written_ = true;
  };
  if (layout_.line_feeds && !string_written_) {
    // The line feed before the value is markup.
    if (at_ == text.size()) return false;
    begin();
    if (text[at_] == '\n') searched_ = std::max(searched_, ++at_);
  }
  if (may_be_cdata(text)) return false;
  const std::size_t found = find(text, end_.text);
  std::size_t certain = found == std::string_view::npos ? searched_ : found;
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
  if (found == std::string_view::npos) return false;
  const std::size_t after = found + end_.text.size();
  if (held == end_.before.size() &&
      std::string_view(end_.after).starts_with(text.substr(after)) &&
      text.size() - after < end_.after.size()) {
    return false;
  }
  if (held != end_.before.size() ||
      !text.substr(after).starts_with(end_.after)) {
    step_ = Step::kStopped;
    return true;
  }
  begin();
  json_.close_string(out);
  end_element(after + end_.after.size());
  return true;
}

// Decides between JSON, which determines its own end, and a string, which ends
// at the first closing marker.  JSON is decided when its end and the marker
// after it have come; it is excluded when it fails or something else follows.
bool ArgumentCallReader::read_value(std::string_view text, bool end,
                                    std::string& out) {
  if (may_be_cdata(text) && !end) return false;
  if (step_ == Step::kString) return true;
  scan_json(text);
  if (!json_end_ && !no_json_) {
    if (!end) return false;
    no_json_ = true;
  }
  const std::size_t found = find(text, end_.text);
  if (!no_json_) {
    const Taken taken = take_json(text, found, out);
    if (taken != Taken::kNothing) return taken == Taken::kAll;
  }
  if (found == std::string_view::npos) return false;
  return take_string(text, found, end, out);
}

// Looks for the end of a JSON text at at_: sets json_end_ or no_json_, or
// neither if the text is too short to say.
void ArgumentCallReader::scan_json(std::string_view text) {
  using call_syntax::Kind;
  if (!scanner_) scanner_.emplace(dialect_, at_);
  while (!json_end_ && !no_json_) {
    const call_syntax::Token token = scanner_->next({.text = text});
    if (token.kind == Kind::kMore) return;
    no_json_ = token.kind == Kind::kBad;
    if (scanner_->has_value()) json_end_ = token.end;
  }
}

// Writes the JSON text before json_end_ if it is the value; `found` is the end
// marker of a string.  Afterwards no_json_ says whether it is not.
ArgumentCallReader::Taken ArgumentCallReader::take_json(std::string_view text,
                                                        std::size_t found,
                                                        std::string& out) {
  const std::size_t after = skip(text, *json_end_);
  const std::string_view left = text.substr(after);
  if (left.size() < layout_.close.size() && layout_.close.starts_with(left)) {
    return Taken::kTooShort;
  }
  const std::size_t begin = skip(text, at_);
  no_json_ = !left.starts_with(layout_.close) ||
             rules_.json_end(value_, text, begin,
                             layout_.loose ? "" : layout_.close) != *json_end_;
  if (no_json_) return Taken::kNothing;
  const bool as_string =
      string_first_ && found != std::string_view::npos &&
      rules_.string_fits(value_,
                         raw_string(layout_, text.substr(at_, found - at_)));
  if (as_string) return Taken::kNothing;
  if (found < *json_end_ && may_be_string(text, found)) {
    step_ = Step::kUndecided;
    return Taken::kAll;
  }
  const std::string_view json = text.substr(begin, *json_end_ - begin);
  std::optional<json::Value> value = parse_json(json, limits_);
  if (!value || !(layout_.loose || in_group(*value, *group_))) {
    return Taken::kNothing;
  }
  if (value->kind() == json::Kind::kFloat) {
    value = rules_.number_value(rules_.parameter_of(name_).get(), json,
                                *std::move(value));
  }
  json_.member(name_, out);
  json_.value(*value, out);
  end_element(after + layout_.close.size());
  return Taken::kAll;
}

// Whether the value may also be the string before the end marker at `found`,
// because an element may begin after this marker.
bool ArgumentCallReader::may_be_string(std::string_view text,
                                       std::size_t found) {
  const std::size_t held = held_before(text, found);
  const std::string_view left = text.substr(found + end_.text.size());
  if (held != end_.before.size() || !left.starts_with(end_.after)) return false;
  const std::size_t next =
      skip(text, found + end_.text.size() + end_.after.size());
  return text.substr(next).starts_with(layout_.between + layout_.open) &&
         rules_.string_fits(
             value_, raw_string(layout_, text.substr(at_, found - held - at_)));
}

// Writes the string before the end marker at `found`, if it is valid.
bool ArgumentCallReader::take_string(std::string_view text, std::size_t found,
                                     bool end, std::string& out) {
  const std::size_t held = held_before(text, found);
  const std::size_t after = found + end_.text.size();
  const std::string_view left = text.substr(after);
  if (!end && left.size() < end_.after.size() &&
      std::string_view(end_.after).starts_with(left)) {
    return false;
  }
  const std::string_view raw =
      raw_string(layout_, text.substr(at_, found - held - at_));
  const bool strings = layout_.loose || (group_->types & schema::kString) != 0;
  if (!strings || held != end_.before.size() || !left.starts_with(end_.after) ||
      rules_.value(value_).strings == ValueRule::Strings::kNoString ||
      !rules_.string_fits(value_, raw)) {
    step_ = Step::kStopped;
    return true;
  }
  // JSON between white space, or in CDATA, is not a string.
  const bool typed = string_first_ || !layout_.types.empty();
  json_.member(name_, out);
  json_.value(typed ? json::Value(raw) : rules_.raw_value(name_, value_, raw),
              out);
  end_element(after + end_.after.size());
  return true;
}

// Invariant: all elements before the one that is being read are written.
void ArgumentCallReader::advance(std::string_view text, bool end,
                                 call_stream::CallWriter& writer) {
  if (!opened_) writer.open(call_, "");
  opened_ = true;
  std::string& out = writer.arguments();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (rules_.broken()) step_ = Step::kStopped;
  const base::OnUnwinding failed([&] { rules_.break_off(); });
  bool more = true;
  while (more && step_ != Step::kStopped) {
    switch (step_) {
      case Step::kOpen:
        more = read_open(text);
        break;
      case Step::kName:
        more = read_name(text);
        break;
      case Step::kAttribute:
        more = read_attribute(text);
        break;
      case Step::kString:
        more = read_string(text, out);
        break;
      case Step::kValue:
        more = read_value(text, end, out);
        break;
      case Step::kUndecided:
        more = false;
        break;
      case Step::kStopped:
        break;
    }
  }
  if (!end) return;
  if (step_ == Step::kOpen) {
    json_.end_members(out);
    writer.end();
  } else if (step_ == Step::kUndecided || out.empty()) {
    writer.leave_rest();
  }
  step_ = Step::kStopped;
}

}  // namespace parlance::arguments
