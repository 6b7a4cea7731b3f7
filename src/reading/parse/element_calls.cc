// Elements and lines as JSON text; see element_calls.h.

#include "parse/element_calls.h"

#include <algorithm>
#include <optional>

#include "base/python_number.h"
#include "base/utf8.h"
#include "parse/argument_values.h"
#include "parse/content.h"
#include "schema/cast_calls.h"

namespace parlance::parse {

using call_stream::CallWriter;

MemberReader::MemberReader(std::string_view name, std::string_view id,
                           const format::Content& content,
                           const DelimiterProgram& program,
                           const std::vector<MarkAt>& marks,
                           call_stream::Casts casts, const Limits& limits)
    : content_(content),
      program_(program),
      marks_(marks),
      casts_(std::move(casts)),
      limits_(limits),
      name_(name),
      id_(id) {}

void MemberReader::open(CallWriter& out) {
  if (!opened_) out.open(name_, id_);
  opened_ = true;
}

void MemberReader::end(CallWriter& out) {
  json_.end_members(out.arguments());
  out.end();
}

std::shared_ptr<const schema::Parameter> MemberReader::parameter_of(
    std::string_view key) const {
  return schema::parameter_of(casts_.tools, name_, key, casts_.strings);
}

bool MemberReader::write(std::string_view key, std::string_view type,
                         const MarkedText& raw, bool null, std::string& out) {
  if (repeats(key)) return false;
  ContentResult value =
      read_argument(raw, null, type, content_, reading_, program_, limits_);
  if (!value) return false;
  write(key, *std::move(value), out);
  return true;
}

void MemberReader::write(std::string_view key, json::Value value,
                         std::string& out) {
  if (const auto parameter = parameter_of(key)) {
    if (auto changed =
            schema::cast_argument(value, *parameter, casts_.strings)) {
      value = *std::move(changed);
    }
  }
  json_.member(key, out);
  json_.value(value, out);
}

// --- xml-inline --------------------------------------------------------------

ElementCallReader::ElementCallReader(std::string_view name, std::string_view id,
                                     const format::Content& content,
                                     const DelimiterProgram& program,
                                     const std::vector<MarkAt>& marks,
                                     call_stream::Casts casts,
                                     const Limits& limits)
    : MemberReader(name, id, content, program, marks, std::move(casts), limits),
      whole_(program.tags.at(&content)),
      halves_(program.elements.at(&content)) {
  if (halves_) scanner_.start(halves_, /*in_stream=*/false, 0);
  const auto reading = program.arguments.find(&content);
  if (reading != program.arguments.end()) reading_ = reading->second;
}

void ElementCallReader::search_from(std::size_t begin, std::string_view text) {
  automata::Context context;
  context.text_start = begin == 0;
  context.line_start = begin == 0 || text[begin - 1] == '\n';
  search_.start(whole_.automaton.get(), begin, context);
  started_ = true;
}

// Searches on in the text.  True: the search is decided.
bool ElementCallReader::run(std::string_view text, bool end) {
  run_search(search_, marked(text), text.size());
  if (end && !search_.decided()) search_.finish();
  return search_.decided();
}

std::string ElementCallReader::name_of(std::string_view written) const {
  return reading_ != nullptr && reading_->xml_keys ? decode_references(written)
                                                   : std::string(written);
}

bool ElementCallReader::read_element(std::string_view text, std::string& out) {
  search_.match(match_);
  // An empty match would be found again at the same place, for ever.
  if (match_.end == match_.begin) return false;
  std::size_t wanted = 0;
  std::optional<std::pair<std::size_t, std::size_t>> groups[3];
  for (std::size_t i = 0; i < whole_.groups.size(); ++i) {
    if (whole_.groups[i] == 0) continue;
    const auto [begin, end] = match_.groups[wanted++];
    if (begin != automata::kNoPosition) groups[i] = {begin, end};
  }
  if (!groups[0]) return false;
  const auto [begin, end] = *groups[0];
  const bool null = whole_.groups[1] != 0 && !groups[1];
  MarkedText raw("");
  if (groups[1]) {
    raw = marked(text).substr(groups[1]->first,
                              groups[1]->second - groups[1]->first);
  }
  std::string_view type;
  if (groups[2]) {
    type = text.substr(groups[2]->first, groups[2]->second - groups[2]->first);
  }
  if (!write(name_of(text.substr(begin, end - begin)), type, raw, null, out)) {
    return false;
  }
  search_from(static_cast<std::size_t>(match_.end), text);
  return true;
}

// Whether the value that begins can only be the string of its text.
bool ElementCallReader::is_string() const {
  const auto parameter = parameter_of(key_);
  if (parameter != nullptr &&
      schema::may_cast_string(*parameter, casts_.strings)) {
    return false;
  }
  if (reading_ != nullptr) {
    if (reading_->decode != format::ArgumentReading::Decode::kNone ||
        reading_->line_feeds > 1) {
      return false;
    }
    for (const auto& [name, kind] : reading_->types) {
      if (name == type_ && !reading_->type_capture.empty()) {
        return kind == "string";
      }
    }
  }
  return content_.value_parser == nullptr;
}

bool ElementCallReader::read_head(std::string_view text, std::string& out) {
  const auto [begin, end] = scanner_.token().key;
  if (begin == automata::kNoPosition) return false;
  key_ = name_of(text.substr(begin, end - begin));
  const auto [from, to] = scanner_.token().type;
  type_ = text.substr(from, to - from);
  written_ = scanner_.token().value.begin;
  growing_ = is_string();
  begun_ = false;
  if (object_ || (growing_ && repeats(key_))) return false;
  if (growing_) {
    json_.member(key_, out);
    json_.open_string(out);
  }
  return true;
}

bool ElementCallReader::read_tail(std::string_view text, std::string& out) {
  const auto [begin, end] = scanner_.token().value;
  if (!growing_) {
    return write(key_, type_, marked(text).substr(begin, end - begin), false,
                 out);
  }
  grow(text, end, out);
  json_.close_string(out);
  growing_ = false;
  return true;
}

bool ElementCallReader::read_object(std::string_view text, std::string& out) {
  if (object_ || json_.depth() > 0) return false;
  const auto [begin, end] = scanner_.token().value;
  const Result<json::Value> object =
      json::parse(text.substr(begin, end - begin), {.limits = limits_});
  if (!object || !object->is_object()) return false;
  object_ = true;
  for (const auto& [key, value] : object->members()) {
    write(key, value, out);
  }
  return true;
}

// While the value of an element grows, its text before written_ is written.
bool ElementCallReader::read_halves(std::string_view text, bool end,
                                    std::string& out) {
  using Kind = ElementScanner::Kind;
  for (;;) {
    bool read = true;
    switch (scanner_.next({marked(text), end})) {
      case Kind::kMore:
        if (growing_ && !end) grow(text, scanner_.position(), out);
        return !end || !scanner_.inside() || !halves_.strict;
      case Kind::kHead:
        read = read_head(text, out);
        break;
      case Kind::kValue:
        read = read_tail(text, out);
        break;
      case Kind::kJson:
        read = read_object(text, out);
        break;
      case Kind::kStray:
        break;
      case Kind::kOther:
        // A value that turns out to hide elements.
        if (growing_) grow(text, scanner_.token().value.end, out);
        read = false;
        break;
    }
    if (!read) return false;
  }
}

// Invariant: all elements before the beginning of the search are written.
bool ElementCallReader::read_whole(std::string_view text, bool end,
                                   std::string& out) {
  if (!started_) {
    while (blank_ < text.size()) {
      std::size_t next = blank_;
      if (!base::is_python_space(base::next_code_point(text, next))) break;
      blank_ = next;
    }
    // An object in place of the elements comes from the value.
    rest_ = halves_.strict && text.substr(blank_).starts_with('{');
    if (rest_) return false;
    if (blank_ == text.size() && !end) return true;
    search_from(0, text);
  }
  while (run(text, end)) {
    if (!read_element(text, out)) return false;
  }
  return true;
}

// Writes the value up to `end`.  Where the file says that the line feeds around
// a value are markup, one at `end` waits for the next byte: "x\n" and then
// "</parameter>" is x, but "x\ny" has both lines.
void ElementCallReader::grow(std::string_view text, std::size_t end,
                             std::string& out) {
  if (end <= written_) return;
  const bool line_feeds = reading_ != nullptr && reading_->line_feeds == 1;
  // The line feeds before and after the value are markup.
  if (line_feeds && !begun_ && text[written_] == '\n') ++written_;
  begun_ = true;
  if (line_feeds && end > written_ && text[end - 1] == '\n') --end;
  if (end <= written_) return;
  json_.text(text.substr(written_, end - written_),
             call_syntax::Encoding::kPlain, out);
  written_ = end;
}

void ElementCallReader::advance(std::string_view text, bool end,
                                CallWriter& writer) {
  open(writer);
  std::string& out = writer.arguments();
  if (!stopped_) {
    stopped_ =
        !(halves_ ? read_halves(text, end, out) : read_whole(text, end, out));
  }
  if (stopped_) {
    if (end && std::exchange(rest_, false)) writer.leave_rest();
    return;
  }
  if (!end) return;
  stopped_ = true;
  if (!growing_) MemberReader::end(writer);
}

// --- kv-lines ----------------------------------------------------------------

void LineCallReader::advance(std::string_view text, bool end,
                             CallWriter& writer) {
  open(writer);
  std::string& out = writer.arguments();
  const std::string& separator = content_.line_separator;
  while (!stopped_ && at_ <= text.size()) {
    std::size_t line_end = text.find(separator, std::max(at_, searched_));
    if (line_end == std::string_view::npos) {
      if (!end) {
        // A separator may have begun.
        searched_ = text.size() - std::min(text.size(), separator.size() - 1);
        return;
      }
      line_end = text.size();
    }
    const auto strip = [&](std::string_view part) {
      return content_.strip ? base::python_strip(part) : part;
    };
    const std::string_view line = strip(text.substr(at_, line_end - at_));
    at_ = line_end + separator.size();
    const std::size_t split = line.find(content_.key_separator);
    if (line.empty() || split == std::string_view::npos) continue;
    const std::string_view key = strip(line.substr(0, split));
    const std::string_view raw =
        strip(line.substr(split + content_.key_separator.size()));
    const auto begin = static_cast<std::size_t>(raw.data() - text.data());
    stopped_ =
        !write(key, "", marked(text).substr(begin, raw.size()), false, out);
  }
  if (!end || stopped_) return;
  stopped_ = true;
  MemberReader::end(writer);
}

}  // namespace parlance::parse
