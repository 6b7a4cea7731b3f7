// Nested elements as JSON text; see nested_calls.h.

#include "call_stream/nested_calls.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/python_number.h"
#include "call_stream/member_writer.h"
#include "json/writer.h"
#include "parlance/json.h"
#include "schema/cast_calls.h"

namespace parlance::call_stream {
namespace {

constexpr std::string_view kCohereOpen = "<cofl:value";
constexpr std::string_view kCohereClose = "</cofl:value>";
constexpr std::string_view kMinimax = "]<]minimax[>[";
constexpr std::string_view kItem = "item";
constexpr std::uint8_t kContainers = schema::kArray | schema::kObject;

// The end of `text` without what may be the beginning of `marker`.  No marker
// begins before `from`.
std::size_t without_beginning(std::string_view text, std::string_view marker,
                              std::size_t from) {
  const std::size_t most = std::min(marker.size() - 1, text.size() - from);
  for (std::size_t size = most; size > 0; --size) {
    if (marker.starts_with(text.substr(text.size() - size))) {
      return text.size() - size;
    }
  }
  return text.size();
}

}  // namespace

// ---- cohere_xml ----

CohereCallReader::CohereCallReader(std::string_view name, std::string_view id,
                                   Casts casts, const Limits& limits)
    : name_(name),
      id_(id),
      casts_(std::move(casts)),
      limits_(limits),
      parameters_(schema::parameters_of(casts_.tools, name)) {}

std::size_t CohereCallReader::text_end(std::string_view text, bool& found) {
  const std::size_t close = text.find(kCohereClose, searched_);
  found = close != std::string_view::npos;
  searched_ = found ? close : without_beginning(text, kCohereClose, searched_);
  return searched_;
}

// Between values.
bool CohereCallReader::read_next(std::string_view text, bool end,
                                 std::string& out) {
  while (at_ < text.size() && base::is_space(text[at_])) ++at_;
  const std::string_view left = text.substr(at_);
  if (left.empty()) {
    if (!end || open_.size() > 1) return false;
    if (!begun_) out += '{';
    out += '}';
    return stop();
  }
  if (open_.size() > 1 && left.starts_with(kCohereClose)) {
    at_ += kCohereClose.size();
    target(out) += open_.back() == '[' ? ']' : '}';
    open_.pop_back();
    end_value(out);
    return true;
  }
  if (left.starts_with(kCohereOpen)) {
    if (!begun_) out += '{';
    begun_ = true;
    at_ += kCohereOpen.size();
    searched_ = at_;
    quoted_ = false;
    step_ = Step::kTag;
    return true;
  }
  const bool may_come =
      kCohereOpen.starts_with(left) || kCohereClose.starts_with(left);
  return !may_come && stop();
}

bool CohereCallReader::read_tag(std::string_view text, std::string& out) {
  for (; searched_ < text.size(); ++searched_) {
    if (text[searched_] == '"') quoted_ = !quoted_;
    if (quoted_ || text[searched_] != '>') continue;
    const std::string_view attributes = text.substr(at_, searched_ - at_);
    at_ = ++searched_;
    return begin_value(attributes, out);
  }
  return false;
}

// Reads name="..." type="...", and writes what comes before the value.
bool CohereCallReader::begin_value(std::string_view attributes,
                                   std::string& out) {
  std::optional<std::string_view> name;
  std::string_view type;
  for (;;) {
    while (!attributes.empty() && base::is_space(attributes.front())) {
      attributes.remove_prefix(1);
    }
    if (attributes.empty()) break;
    const std::size_t equals = attributes.find("=\"");
    if (equals == std::string_view::npos) return stop();
    const std::size_t close = attributes.find('"', equals + 2);
    if (close == std::string_view::npos) return stop();
    const std::string_view key = attributes.substr(0, equals);
    const std::string_view value =
        attributes.substr(equals + 2, close - (equals + 2));
    if (key != "name" && key != "type") return stop();
    if (key == "name") name = value;
    if (key == "type") type = value;
    attributes.remove_prefix(close + 1);
  }
  const bool container = type == "dict" || type == "list";
  const bool in_list = open_.back() == '[';
  if ((!container && type != "raw" && type != "json") || (!in_list && !name) ||
      (container && open_.size() >= limits_.json_depth)) {
    return stop();
  }
  if (!first_) target(out) += ", ";
  if (!in_list) {
    json::append_string(target(out), *name, false);
    target(out) += ": ";
  }
  first_ = false;
  if (open_.size() == 1 && parameters_ != nullptr) {
    const auto found = parameters_->find(*name);
    if (found != parameters_->end() &&
        (schema::may_cast_string(found->second, casts_.strings) ||
         schema::may_cast_list(found->second))) {
      held_ = &found->second;
      held_text_.clear();
    }
  }
  step_ = Step::kNext;
  if (container) {
    open_ += type == "dict" ? '{' : '[';
    target(out) += open_.back();
    first_ = true;
  } else if (type == "raw") {
    target(out) += '"';
    step_ = Step::kRaw;
  } else {
    scanner_.emplace(limits_.json_depth, at_);
    value_begin_ = at_;
    step_ = Step::kJson;
  }
  return true;
}

// Invariant: the text of the value before at_ is written.
bool CohereCallReader::read_raw(std::string_view text, std::string& out) {
  bool found = false;
  const std::size_t end = text_end(text, found);
  append_escaped(target(out), text.substr(at_, end - at_));
  at_ = end;
  if (!found) return false;
  at_ += kCohereClose.size();
  target(out) += '"';
  end_value(out);
  return true;
}

// The same.  White space around the value is written with it.
bool CohereCallReader::read_json(std::string_view text, std::string& out) {
  using Token = JsonScanner::Token;
  bool found = false;
  const std::size_t end = text_end(text, found);
  const std::string_view inside = text.substr(0, end);
  Token token = Token::kBegin;
  while (token != Token::kMore && token != Token::kFailed) {
    token = scanner_->next(inside);
  }
  if (token == Token::kFailed) {
    // What is before the byte that is damage has been certain.
    scanner_->copy(inside, at_, scanner_->position(), target(out));
    return stop();
  }
  scanner_->copy(inside, at_, end, target(out));
  if (!found) return false;
  if (!json::parse(base::python_strip(inside.substr(value_begin_)),
                   {.limits = limits_})) {
    return stop();
  }
  at_ += kCohereClose.size();
  end_value(out);
  return true;
}

// A value ends, whose text is written.
void CohereCallReader::end_value(std::string& out) {
  first_ = false;
  step_ = Step::kNext;
  if (held_ == nullptr || open_.size() > 1) return;
  Result<json::Value> value = json::parse(held_text_);
  if (!value) {
    stop();
    return;
  }
  if (auto changed = schema::cast_argument(*value, *held_, casts_.strings)) {
    *value = std::move(*changed);
  }
  out += json::standard_text(*value);
  held_ = nullptr;
}

// Invariant: the text before at_ is written, or is in held_text_.
void CohereCallReader::advance(std::string_view text, bool end,
                               CallWriter& writer) {
  if (!opened_) writer.open(name_, id_);
  opened_ = true;
  std::string& out = writer.arguments();
  bool more = true;
  while (more && step_ != Step::kStopped) {
    switch (step_) {
      case Step::kNext:
        more = read_next(text, end, out);
        break;
      case Step::kTag:
        more = read_tag(text, out);
        break;
      case Step::kRaw:
        more = read_raw(text, out);
        break;
      case Step::kJson:
        more = read_json(text, out);
        break;
      case Step::kStopped:
        break;
    }
  }
}

// ---- minimax_m3_xml ----

MinimaxCallReader::MinimaxCallReader(std::string_view name, std::string_view id,
                                     ToolSet tools, bool exact,
                                     const Limits& limits)
    : name_(name),
      id_(id),
      tools_(std::move(tools)),
      exact_(exact),
      limits_(limits),
      frames_(1) {
  frames_[0].kind = Frame::Kind::kObject;
}

// Whether text in the element can only be a string.
bool MinimaxCallReader::is_string(const Frame& frame) const {
  const schema::Parameter& parameter = frame.parameter;
  if (!exact_) {
    return !schema::may_cast_string(parameter, schema::Strings::kWritten) &&
           (schema::types_of(parameter) & kContainers) == 0;
  }
  return schema::types_of(parameter) == schema::kString;
}

// Writes what comes before the value of the innermost element.
void MinimaxCallReader::write_key(std::string& out) {
  Frame& parent = frames_[frames_.size() - 2];
  if (!parent.first) out += ", ";
  parent.first = false;
  if (parent.kind == Frame::Kind::kList) return;
  json::append_string(out, frames_.back().name, false);
  out += ": ";
}

// Writes the growing text of the innermost element up to `end`.
void MinimaxCallReader::grow(std::string_view text, std::size_t end,
                             std::string& out) {
  Frame& frame = frames_.back();
  if (frame.kind == Frame::Kind::kOpen) {
    const std::string_view so_far = text.substr(frame.begin, end - frame.begin);
    if (base::python_strip(so_far).empty() || !is_string(frame)) return;
    write_key(out);
    out += '"';
    frame.kind = Frame::Kind::kString;
    at_ = frame.begin;
  }
  if (frame.kind != Frame::Kind::kString || end <= at_) return;
  append_escaped(out, text.substr(at_, end - at_));
  at_ = end;
}

// An element begins in the innermost one.  False: what follows cannot be
// written before the region closes.
bool MinimaxCallReader::begin_element(std::string_view name, std::string& out) {
  Frame& parent = frames_.back();
  if (parent.kind == Frame::Kind::kOpen) {
    const std::uint8_t types = schema::types_of(parent.parameter);
    const bool list = (types & schema::kArray) != 0;
    const bool object = (types & schema::kObject) != 0;
    const bool is_list = name == kItem && list && !object;
    // An object that has only items may be a list, unless its schema says no.
    if (!is_list && name == kItem && !(object && !list)) return false;
    write_key(out);
    out += is_list ? '[' : '{';
    parent.kind = is_list ? Frame::Kind::kList : Frame::Kind::kObject;
  } else if (parent.kind == Frame::Kind::kList) {
    if (name != kItem) return false;
  }
  if (parent.kind == Frame::Kind::kObject &&
      !parent.names.emplace(name).second) {
    return false;
  }
  Frame next;
  next.name = name;
  next.begin = at_;
  if (frames_.size() > 1) {
    next.parameter =
        schema::inner_parameter(parent.parameter, name, parent.items++);
  } else if (const auto declared = schema::parameter_of(
                 tools_, name_, name, schema::Strings::kWritten)) {
    next.parameter = *declared;
  }
  frames_.push_back(std::move(next));
  return true;
}

// The innermost element ends at `end`.  False: its value is known when the
// region closes.
bool MinimaxCallReader::end_element(std::string_view text, std::size_t end,
                                    std::string& out) {
  grow(text, end, out);
  Frame& frame = frames_.back();
  switch (frame.kind) {
    case Frame::Kind::kString:
      out += '"';
      break;
    case Frame::Kind::kList:
      out += ']';
      break;
    case Frame::Kind::kObject:
      out += '}';
      break;
    case Frame::Kind::kOpen: {
      const std::string_view inside =
          text.substr(frame.begin, end - frame.begin);
      if (exact_) {
        const Result<json::Value> value =
            json::parse(base::python_strip(inside), {.limits = limits_});
        const std::uint8_t types = schema::types_of(frame.parameter);
        if (!value || value->is_string() || types == 0 ||
            (types & schema::kString) != 0) {
          return false;
        }
        write_key(out);
        out += json::standard_text(*value);
        break;
      }
      write_key(out);
      out +=
          json::standard_text(schema::value_of_leaf(inside, frame.parameter));
      break;
    }
  }
  frames_.pop_back();
  return true;
}

// Reads up to the next marker, or the text before what may be one.  Returns
// false if more text is needed.
bool MinimaxCallReader::step(std::string_view text, std::string& out) {
  const std::size_t marker = text.find(kMinimax, searched_);
  if (marker == std::string_view::npos) {
    searched_ = without_beginning(text, kMinimax, searched_);
    grow(text, searched_, out);
    return false;
  }
  // What is before the marker is certain, whatever the marker is.
  grow(text, marker, out);
  searched_ = marker;
  const std::size_t begin = marker + kMinimax.size();
  name_searched_ = std::max(name_searched_, begin);
  const std::size_t end = text.find('>', name_searched_);
  if (end == std::string_view::npos) {
    name_searched_ = text.size();
    return false;
  }
  std::string_view name = text.substr(begin, end - begin);
  const bool closes = name.starts_with("</");
  const bool valid = name.starts_with('<');
  name.remove_prefix(std::min<std::size_t>(name.size(), closes ? 2 : 1));
  const Frame& top = frames_.back();
  // Text beside elements is damage.
  const bool leaf = closes && (top.kind == Frame::Kind::kOpen ||
                               top.kind == Frame::Kind::kString);
  if (!valid || (closes && (frames_.size() == 1 || top.name != name)) ||
      (!leaf && top.kind == Frame::Kind::kString) ||
      (!closes && frames_.size() >= limits_.json_depth)) {
    stopped_ = true;
    return false;
  }
  if (closes) {
    if (!end_element(text, marker, out)) rest_ = true;
    at_ = end + 1;
  } else {
    at_ = end + 1;
    if (!begin_element(name, out)) rest_ = true;
  }
  searched_ = at_;
  return !rest_;
}

// Invariant: the elements before at_ are written, and of the innermost open
// element the text before at_, if it is a string.
void MinimaxCallReader::advance(std::string_view text, bool end,
                                CallWriter& writer) {
  if (!opened_) {
    writer.open(name_, id_);
    writer.arguments() += '{';
  }
  opened_ = true;
  std::string& out = writer.arguments();
  while (!stopped_ && !rest_ && step(text, out)) {
  }
  if (!end || stopped_) return;
  stopped_ = true;
  if (!rest_) {
    if (frames_.size() == 1) out += '}';
    return;
  }
  // Ends what is open.  The value of the region has the rest.
  for (; frames_.size() > 1; frames_.pop_back()) {
    if (frames_.back().kind == Frame::Kind::kList) out += ']';
    if (frames_.back().kind == Frame::Kind::kObject) out += '}';
  }
  writer.leave_rest();
}

}  // namespace parlance::call_stream
