// From regions to events and the message, see assembler.h.
//
// The text of the open region may move while it grows.  So its chunk events get
// their texts when the region closes, or when the round ends (ChunkRange).

#include "parse/assembler.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/ascii.h"
#include "base/python_number.h"
#include "base/utf8.h"
#include "base/white_space.h"
#include "call_syntax/json_values.h"
#include "json/surrogates.h"
#include "json/writer.h"
#include "parse/argument_values.h"
#include "parse/call_readers.h"
#include "parse/content.h"

namespace parlance::parse {
namespace {

// From this size on a text region's bytes move into its value.
constexpr std::size_t kAdoptBytes = 1024;

constexpr std::size_t kLongestCharacter = 4;  // bytes

// Nodes of a flat value that are allocated before it is known how many it has.
constexpr std::size_t kFewNodes = 256;

std::optional<std::size_t> place_of(const Error& error) {
  if (!error.span) return std::nullopt;
  return error.span->begin;
}

// Whether `value` is a call or a list of calls: objects whose "function" has a
// name and an object of arguments.
bool consists_of_calls(const json::Value& value) {
  if (value.is_array()) {
    return value.size() > 0 &&
           std::ranges::all_of(value.items(), [](const json::Value& item) {
             return item.is_object() && consists_of_calls(item);
           });
  }
  const json::Value* function = value.find("function");
  if (function == nullptr) return value.is_object();
  const json::Value* name = function->find("name");
  const json::Value* arguments = function->find("arguments");
  return name != nullptr && name->is_string() && !name->as_string().empty() &&
         arguments != nullptr && arguments->is_object();
}

// Adds the items of `value` that are no calls to `damage`, if others are: the
// list of calls of a region, whose text is `text`.
void add_strays(const json::Value& value, std::string_view text,
                std::vector<ValueDamage>& damage) {
  const auto is_stray = [](const json::Value& item) {
    return call_stream::calls_in(item).empty();
  };
  const json::Array& items = value.items();
  if (std::ranges::all_of(items, is_stray) ||
      std::ranges::none_of(items, is_stray)) {
    return;
  }
  const std::vector<Span> places = call_syntax::json_items(
      {.text = text, .end = true},
      {.values = call_syntax::JsonDialect::Values::kLoose}, /*list=*/true);
  const bool own = places.size() == items.size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!is_stray(items[i])) continue;
    damage.push_back({own ? places[i] : Span{0, text.size()},
                      Error{ErrorCode::kInvalidContent,
                            "a call must be an object with a name", ""}});
  }
}

// Removes ids that are null or "": a call without an id has no member for it.
void drop_empty_ids(json::Value& value) {
  if (value.is_array()) {
    for (json::Value& item : value.mutable_items()) {
      if (item.is_object()) drop_empty_ids(item);
    }
    return;
  }
  const json::Value* id = value.find("id");
  if (id != nullptr && (id->is_null() || *id == json::Value(""))) {
    value.mutable_members().erase("id");
  }
}

}  // namespace

Assembler::Assembler(const format::FormatImpl& format,
                     const DelimiterProgram& program,
                     const Utf8Sanitizer& sanitizer, events::Output& out,
                     Options options)
    : format_(format),
      description_(format.description),
      program_(program),
      sanitizer_(sanitizer),
      out_(out),
      options_(std::move(options)),
      field_(description_.implicit.value_or(kNoField)),
      space_(format.limits.held_bytes / 2),
      values_(description_.fields.size()) {
  if (!options_.fields_only) {
    // Capacity for a typical response, so that the vectors need not grow.
    out_.round.events().reserve(8);
    chunks_.reserve(4);
    body_.reserve(256);
    if (out_.keeps_message) out_.message.parts.reserve(6);
  }
  if (options_.stream_calls) {
    calls_.emplace(out_.keeps_message ? &out_.message.calls : nullptr,
                   format_.recovers);
  }
  const bool diagnoses = options_.recover && !options_.tools.empty();
  if (options_.attempts || diagnoses) {
    attempts_.emplace(out_, options_.tools,
                      call_stream::Attempts::Options{.tells = options_.attempts,
                                                     .diagnoses = diagnoses});
  }
  for (std::uint32_t i = 0; i < values_.size(); ++i) {
    const std::optional<FieldId>& of = description_.fields[i].values_of;
    if (of) values_.share(i, *of);
  }
  for (std::uint32_t i = 0; i < values_.size(); ++i) {
    if (program_.defaults[i] == nullptr) continue;
    values_.set_default(i, *program_.defaults[i]);
  }
}

void Assembler::set_chunk_texts(const char* body) {
  for (const ChunkRange& range : chunks_) {
    out_.round.events()[range.event].text = {body + range.offset, range.size};
  }
  chunks_.clear();
}

void Assembler::open_region(FieldId field, const Delimited* delimiter,
                            std::uint64_t position) {
  field_ = field;
  opened_ = true;
  body_.clear();
  body_marks_.clear();
  elements_.clear();
  elements_begin_ = delimiter == nullptr ? position : delimiter->end;
  captures_.clear();
  region_begin_ = at(position);
  body_begin_ = region_begin_;
  region_at_ = position;
  stretches_.clear();
  if (options_.fields_only) {
    if (delimiter == nullptr) return;
    body_begin_ = at(delimiter->end);
    for (const auto& [name, text] : delimiter->captures) {
      captures_.emplace_back(name, text);
    }
    return;
  }
  Event& event =
      add_event(EventKind::kRegionOpen, field, {at(position), at(position)});
  if (delimiter != nullptr) {
    body_begin_ = at(delimiter->end);
    event.bytes = {at(delimiter->begin), at(delimiter->end)};
    if (!delimiter->captures.empty()) {
      for (const auto& [name, text] : delimiter->captures) {
        captures_.emplace_back(name, text);
      }
      event.captures = out_.round.keep_captures(delimiter->captures);
    }
  }
  open_calls();
}

// --- Calls while they are written --------------------------------------------

schema::Strings Assembler::strings_of(FieldId index) const {
  // A bare template casts like transformers, JSON strings included.
  const format::Field& field = description_.fields[index];
  const format::Content* values = field.content.value_parser.get();
  const bool typed =
      field.content.kind == format::ContentKind::kJson ||
      field.content.kind == format::ContentKind::kPythonCallList ||
      (values != nullptr && values->kind == format::ContentKind::kJson) ||
      (reading(index) != nullptr && reads_values(field, *reading(index)));
  const format::FieldReading* read = reading(index);
  if (read != nullptr && !typed) {
    const format::ArgumentReading& arguments = read->arguments;
    if (!arguments.type_capture.empty()) return schema::Strings::kTyped;
    if (arguments.python) return schema::Strings::kPython;
  }
  if (!format_.recovers) return schema::Strings::kText;
  return typed ? schema::Strings::kTyped : schema::Strings::kWritten;
}

void Assembler::open_calls() {
  calls_due_ = false;
  const format::Field& field = description_.fields[field_];
  if (!calls_) return;
  const format::FieldReading* read = reading(field_);
  if (read != nullptr && !reads_values(field, *read)) read = nullptr;
  if (read == nullptr && !program_.calls[field_]) return;
  calls_field_ = field_;
  call_stream::ItemReader read_item;
  if (read != nullptr && has_several_values(field, *read) && !field.join) {
    read_item = [this](std::string_view item) { return can_read_item(item); };
  }
  calls_->open(call_reader(field_, body_marks_), std::move(read_item));
  calls_due_ = true;
  calls_bytes_ = {body_begin_, body_begin_};
}

// A reader of the calls of the region, or of an item, with the marks in it.
std::unique_ptr<call_stream::CallReader> Assembler::call_reader(
    FieldId index, const std::vector<MarkAt>& marks) const {
  const format::Field& field = description_.fields[index];
  const format::FieldReading* read = reading(index);
  if (read != nullptr && !reads_values(field, *read)) read = nullptr;
  return make_call_reader(
      field,
      {program_, format_.limits, captures_, marks, reads_marks(field.content),
       read, program_.call_parts[index]},
      {options_.tools, strings_of(index)});
}

// Whether an item of the region with calls will be in the value of the region.
bool Assembler::can_read_item(std::string_view item) const {
  std::vector<ValueDamage> damage;
  return read_region({calls_field_, {item, {}}, captures_}, nullptr, damage) &&
         damage.empty();
}

void Assembler::advance_calls(std::string_view text) {
  calls_->advance(text, call_event(calls_bytes_), out_.round);
  calls_due_ = false;
}

void Assembler::close_calls(std::string_view text, const json::Value* value,
                            Span bytes) {
  if (calls_due_) advance_calls(text);
  if (value == nullptr) return calls_->abandon(call_event(bytes), out_.round);
  const auto differs =
      calls_->close(text, *value, call_event(bytes), out_.round);
  if (!differs) return;
  out_.diagnose({ErrorCode::kInvalidContent,
                 "call " + std::to_string(*differs) +
                     " was announced while it was written, and the text after "
                     "it changed it; it is announced again if it is a call",
                 description_.fields[calls_field_].name, bytes});
}

std::uint64_t Assembler::position_of(std::size_t offset) const {
  const auto after =
      std::ranges::upper_bound(stretches_, offset, {}, &Stretch::offset);
  const Stretch& in = *std::prev(after);
  return in.position + (offset - in.offset);
}

// A region is one attempt, or, if its items stand alone, each item is one.  The
// response ends in the last one that cannot be read, if nothing follows it.
void Assembler::add_attempts(const Closing& region, std::string_view text,
                             const json::Value* value, const Diagnostic* why) {
  const format::Field& field = description_.fields[region.field];
  const format::FieldReading* const read = reading(region.field);
  call_stream::Attempts::Place place = {
      .field = field.name, .index = region.field, .inner = region.text};
  const bool alone =
      read != nullptr && has_several_values(field, *read) && !field.join;
  // What could not be split into items is the region as a whole.
  const bool whole =
      items_.empty() || (value == nullptr && items_.size() == 1 &&
                         items_[0].bytes.size() == text.size());
  if (!alone || whole) {
    if (attempts_->tells()) place.text = written(region_at_, region.end);
    place.bytes = {region_begin_, region.delimiter.end};
    if (value != nullptr) return attempts_->add(std::move(place), *value);
    if (!attempts_->tells()) return;
    const bool nameless = items_.size() == 1 && items_[0].nameless;
    return attempts_->add_failed(std::move(place),
                                 region.at_end ? CallStatus::kCutOff
                                 : nameless    ? CallStatus::kNoName
                                               : CallStatus::kMalformed,
                                 why->message,
                                 call_reader(region.field, body_marks_), text);
  }
  std::size_t next = 0;  // of the calls of the value
  const std::string_view stripped = base::python_strip(text);
  const auto end =
      static_cast<std::size_t>(stripped.data() + stripped.size() - text.data());
  for (const ItemEnd& item : items_) {
    const std::uint64_t begin = position_of(item.bytes.begin);
    const std::uint64_t stop = position_of(item.bytes.end - 1) + 1;
    place.bytes = place.inner = {at(begin), at(stop)};
    const bool copied = attempts_->tells() && attempts_->copies(place.bytes);
    place.text = copied ? written(begin, stop) : std::string();
    if (!item.error) {
      attempts_->add(place, value->items()[next++]);
      continue;
    }
    std::vector<MarkAt> marks;
    auto mark = std::ranges::lower_bound(body_marks_, item.bytes.begin, {},
                                         &MarkAt::position);
    for (;
         copied && mark != body_marks_.end() && mark->position < item.bytes.end;
         ++mark) {
      marks.push_back(*mark);
      marks.back().position -= item.bytes.begin;
    }
    const bool last = item.bytes.end >= end;
    attempts_->add_failed(place,
                          region.at_end && last ? CallStatus::kCutOff
                          : item.nameless       ? CallStatus::kNoName
                                                : CallStatus::kMalformed,
                          placed(*item.error, region.text.end).message,
                          copied ? call_reader(region.field, marks) : nullptr,
                          text.substr(item.bytes.begin, item.bytes.size()));
  }
}

bool Assembler::reads_marks(const format::Content& content) const {
  return program_.spoofable &&
         (content.kind == format::ContentKind::kXmlInline ||
          !content.string_delims.empty() ||
          (content.value_parser && reads_marks(*content.value_parser)));
}

// Adds `size` bytes of text to the last chunk event, or begins another.  A text
// that was dropped separates chunks: then this one is not adjacent.
inline void Assembler::add_chunk(Span bytes, bool adjacent, std::size_t size) {
  const bool joins = adjacent && !chunks_.empty() &&
                     chunks_.back().event + 1 == out_.round.size() &&
                     out_.round.events().back().bytes.end == bytes.begin;
  if (joins) {
    chunks_.back().size += size;
    out_.round.events().back().bytes.end = bytes.end;
    return;
  }
  chunks_.push_back({out_.round.size(), body_.size(), size});
  add_event(EventKind::kRegionChunk, field_, bytes).dirty =
      format_.dirty(field_);
}

// Adds `text` to the body where there is a lender: the body is borrowed as long
// as each piece follows the last one in lender_.
void Assembler::append(std::string_view text) {
  const std::less_equal<const char*> up_to;
  const char* const end = text.data() + text.size();
  if (body_.empty() && up_to(lender_.data(), text.data()) &&
      up_to(end, lender_.data() + lender_.size()) &&
      (borrowed_.empty() ||
       borrowed_.data() + borrowed_.size() == text.data())) {
    const char* const start =
        borrowed_.empty() ? text.data() : borrowed_.data();
    borrowed_ = {start, static_cast<std::size_t>(end - start)};
    return;
  }
  if (!borrowed_.empty()) body_ = std::exchange(borrowed_, {});
  body_.append(text);
}

void Assembler::on_text(std::string_view text, std::uint64_t begin,
                        std::span<const MarkAt> marks) {
  if (field_ == kNoField) {
    if (description_.reports_unclaimed || ended_) {
      collect_unclaimed(text, begin);
    }
    return;
  }
  if (!opened_ && !open_text(text, begin)) return;
  Span bytes = {at(begin), at(begin + text.size())};
  const bool adjacent = begin == text_end_;
  text_end_ = begin + text.size();
  if (attempts_ && (!adjacent || stretches_.empty())) {
    stretches_.push_back({body().size(), begin});
  }
  if (!options_.fields_only) add_chunk(bytes, adjacent, text.size());
  if (body().empty()) body_begin_ = bytes.begin;
  if (!marks.empty() && reads_marks(description_.fields[field_].content)) {
    for (const MarkAt& mark : marks) {
      body_marks_.push_back(
          {body().size() + (mark.position - begin), mark.length, mark.symbol});
    }
  }
  if (lender_.empty()) {
    body_.append(text);
  } else {
    append(text);
  }
  if (calls_ && calls_->is_open()) {
    if (!calls_due_) calls_bytes_.begin = bytes.begin;
    calls_bytes_.end = bytes.end;
    calls_due_ = true;
  }
}

// White space that is held is dropped where the field would end, in
// close_region().
bool Assembler::open_text(std::string_view text, std::uint64_t begin) {
  if (program_.rests_in_text && space_.hold(text, begin)) return false;
  open_region(field_, nullptr, std::min(begin, space_.begin()));
  space_.release([this](std::string_view space, std::uint64_t position) {
    on_text(space, position, {});
  });
  return true;
}

void Assembler::on_delimiter(const Delimited& delimiter) {
  if (delimiter.close) {
    close_region(&delimiter, delimiter.begin, RegionStop::kEnded);
    at_turn_end_ = program_.ends_turn(delimiter.text);
    return;
  }
  report_unclaimed();
  at_turn_end_ = false;
  if (field_ != kNoField && description_.fields[field_].open) {
    interrupt_region(
        delimiter,
        "the opening of \"" + description_.fields[delimiter.field].name + '"');
  } else {
    close_region(nullptr, delimiter.begin, RegionStop::kEnded);
  }
  open_region(delimiter.field, &delimiter, delimiter.begin);
  const bool damaged =
      delimiter.damaged ||
      (format_.recovers &&
       std::ranges::any_of(delimiter.captures, [](const auto& capture) {
         return capture.first == "damage";
       }));
  if (!damaged) return;
  out_.diagnose({ErrorCode::kInvalidContent,
                 "the opening is damaged",
                 description_.fields[delimiter.field].name,
                 {at(delimiter.begin), at(delimiter.end)}});
}

void Assembler::on_markup(const Delimited& markup) {
  report_unclaimed();
  at_turn_end_ = program_.ends_turn(markup.text);
  if (field_ != kNoField) {
    interrupt_region(markup, "text that stands between regions");
  }
}

void Assembler::on_left_out(std::string_view text, std::uint64_t begin,
                            std::string_view what) {
  out_.diagnose({ErrorCode::kUnexpectedSpecial,
                 std::string(what) + " is left out",
                 description_.fields[field_].name,
                 {at(begin), at(begin + text.size())}});
}

void Assembler::on_empty_text(FieldId /*closes*/) { space_.drop(); }

void Assembler::on_quoted(FieldId field, bool close, std::uint64_t begin,
                          std::uint64_t end) {
  const std::string name =
      field_ == kNoField ? "" : description_.fields[field_].name;
  out_.diagnose({ErrorCode::kInvalidContent,
                 (close ? "the closing of \"" : "the opening of \"") +
                     description_.fields[field].name +
                     (close ? "\" counts as text: it stands inside a value, or "
                              "no call has begun"
                            : "\" counts as text: it stands inside a line, or "
                              "no call follows"),
                 name,
                 {at(begin), at(end)}});
}

void Assembler::interrupt_region(const Delimited& by, std::string_view what) {
  const std::string& name = description_.fields[field_].name;
  out_.diagnose({ErrorCode::kInvalidContent,
                 std::string(what) + " ends \"" + name +
                     "\", whose closing delimiter is missing",
                 name,
                 {at(by.begin), at(by.end)}});
  close_region(nullptr, by.begin, RegionStop::kUnclosed);
}

void Assembler::on_value_end(std::uint64_t position) {
  close_region(nullptr, position, RegionStop::kEnded);
}

bool Assembler::on_abandon(std::uint64_t position) {
  close_region(nullptr, position, RegionStop::kUnclosed);
  return true;
}

void Assembler::on_turn_end(std::uint64_t begin, std::uint64_t /*end*/,
                            bool more) {
  report_unclaimed();
  close_region(nullptr, begin, RegionStop::kUnclosed);
  at_turn_end_ = true;
  if (more) return;
  ended_ = true;
  field_ = kNoField;
}

// Collects text that no field claims, without white space at its ends.  It is
// reported in pieces of bounded size, whose ends do not depend on how the
// stream was cut.
void Assembler::collect_unclaimed(std::string_view text, std::uint64_t begin) {
  const std::size_t most =
      std::max<std::size_t>(format_.limits.held_bytes, kLongestCharacter);
  // The last byte of `text` so far that is not white space; text.size(): none.
  std::size_t last = text.size();
  const auto note_end = [&] {
    if (last < text.size()) unclaimed_bytes_.end = at(begin + last + 1);
    last = text.size();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inside = (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
    if (!inside && unclaimed_.size() + kLongestCharacter > most) {
      note_end();
      report_unclaimed();
    }
    const bool blank =
        base::kAsciiSpace.find(text[i]) != std::string_view::npos;
    if (blank && unclaimed_.empty()) continue;
    at_turn_end_ = false;
    if (unclaimed_.empty()) unclaimed_bytes_.begin = at(begin + i);
    unclaimed_ += text[i];
    if (blank) continue;
    last = i;
    unclaimed_used_ = unclaimed_.size();
  }
  note_end();
}

void Assembler::report_unclaimed() {
  if (unclaimed_.empty()) return;
  unclaimed_.resize(unclaimed_used_);
  Diagnostic diagnostic;
  diagnostic.message =
      ended_ ? "text after the end of the response"
             : "text that no field claims: expected the opening of ";
  for (std::size_t i = 0; !ended_ && i < description_.fields.size(); ++i) {
    if (i > 0) {
      diagnostic.message += i + 1 == description_.fields.size() ? " or " : ", ";
    }
    diagnostic.message += '"' + description_.fields[i].name + '"';
  }
  diagnostic.bytes = unclaimed_bytes_;
  if (options_.fields_only) {
    unclaimed_.clear();
    return out_.diagnose(std::move(diagnostic));
  }
  Event& event = out_.round.add(
      EventKind::kTextUnclaimed, "",
      static_cast<std::uint32_t>(description_.fields.size()), unclaimed_bytes_);
  event.text = out_.round.take_text(unclaimed_);
  event.diagnostic = &out_.round.keep_diagnostic(diagnostic);
  out_.diagnose(std::move(diagnostic));
}

void Assembler::on_limit(std::uint64_t begin, std::uint64_t end,
                         std::string_view what) {
  out_.diagnose(
      {ErrorCode::kTooLarge,
       std::string(what),
       field_ == kNoField ? std::string() : description_.fields[field_].name,
       {at(begin), at(end)}});
}

bool Assembler::is_text(FieldId index) const {
  const format::Field& field = description_.fields[index];
  return field.content.kind == format::ContentKind::kText && !field.transform &&
         (reading(index) == nullptr || !reads_values(field, *reading(index)));
}

json::Value Assembler::text_value(FieldId field) {
  std::string_view text = body();
  if (description_.fields[field].content.strip) text = base::python_strip(text);
  if (!borrowed_.empty()) return json::Value(text);
  // A value that would keep much more memory than it needs is a copy.
  if (text.size() <= json::Value::kInlineBytes || body_.size() < kAdoptBytes ||
      body_.capacity() / 4 > body_.size()) {
    return json::Value(text);
  }
  adopted_ = body_.data();
  const auto begin = static_cast<std::size_t>(text.data() - body_.data());
  return json::Value::adopt(std::move(body_), begin, text.size());
}

// Whether the text of a region shows by itself that it is complete, as the last
// bracket of a JSON value does.  Of elements and lines nothing but the closing
// delimiter says that no argument follows.
bool Assembler::ends_by_itself(FieldId index) const {
  using Syntax = format::ValueSyntax;
  const format::FieldReading* read = reading(index);
  const Syntax syntax = read == nullptr ? Syntax::kTemplate : read->syntax;
  if (syntax == Syntax::kTemplate) {
    const format::ContentKind kind = description_.fields[index].content.kind;
    return kind == format::ContentKind::kJson ||
           kind == format::ContentKind::kPythonCallList;
  }
  return !nested_style(syntax);
}

Result<json::Value> Assembler::read_region(const RegionText& region,
                                           std::vector<Remark>* remarks,
                                           std::vector<ValueDamage>& damage,
                                           std::vector<ItemEnd>* ends) const {
  const format::Field& field = description_.fields[region.field];
  const format::FieldReading* read = reading(region.field);
  const std::vector<std::pair<std::string_view, std::string_view>> captures(
      region.captures.begin(), region.captures.end());
  if (region.cut && options_.recover && program_.calls[region.field] &&
      !ends_by_itself(region.field)) {
    return Error{ErrorCode::kInvalidContent,
                 "the response ends before the closing delimiter, so arguments "
                 "may be missing"};
  }
  if (read != nullptr && reads_values(field, *read)) {
    return read_values(
        field, *read, program_.call_parts[region.field], region.body, captures,
        {program_, format_.limits, options_.tools, strings_of(region.field)},
        damage, ends);
  }
  Result<json::Value> value = json::Value();
  if (field.content.kind == format::ContentKind::kText) {
    value =
        json::Value(field.content.strip ? base::python_strip(region.body.text)
                                        : region.body.text);
  } else {
    const CallContent parts = {field, read};
    value = parse_content(
        region.body, field.content, program_, format_.limits,
        region.cut && options_.recover, remarks,
        format_.recovers && program_.calls[region.field] ? &parts : nullptr,
        region.elements);
  }
  if (value && field.transform) {
    value = apply_transform(field, std::move(*value), captures);
  }
  if (value && !options_.tools.empty()) {
    if (auto error = schema::cast_tool_calls(*value, options_.tools,
                                             strings_of(region.field))) {
      return std::move(*error);
    }
  }
  if (value && format_.recovers && program_.calls[region.field]) {
    add_strays(*value, region.body.text, damage);
  }
  return value;
}

// Whether the segmenter has read the elements of the region, which ends at
// `position`, as parse_content() would; then they get their places in the body.
// So it is, if elements and white space are all of the text: what a tail looks
// ahead at is then the next element or the end.
bool Assembler::has_elements(std::uint64_t position) {
  using Kind = ElementToken::Kind;
  const std::string_view text = body();
  if (position - elements_begin_ != text.size() ||
      (!program_.marks.empty() && !program_.spoofable)) {
    return false;
  }
  const auto move = [&](std::uint64_t& place) {
    if (place != automata::kNoPosition) place -= elements_begin_;
  };
  std::uint64_t end = 0;
  bool inside = false;
  for (ElementToken& token : elements_) {
    // The text after the region is other text.
    if (token.kind == Kind::kOther && token.stray.begin >= position) continue;
    if (token.kind == Kind::kOther || token.end > position) return false;
    for (auto* part : {&token.key, &token.type, &token.value, &token.stray}) {
      move(part->begin);
      move(part->end);
    }
    move(token.end);
    end = token.end;
    inside = token.kind == Kind::kHead;
  }
  if (!elements_.empty() && elements_.back().kind == Kind::kOther) {
    elements_.pop_back();
  }
  return !inside && base::is_blank(text.substr(end));
}

Error Assembler::placed(Error error, std::size_t end) const {
  if (!error.span) return error;
  const auto begin = static_cast<std::size_t>(body_begin_);
  if (begin + body().size() != end) {
    error.span.reset();
    return error;
  }
  error.span->begin += begin;
  error.span->end += begin;
  error.message += " (byte " + std::to_string(error.span->begin) + ")";
  return error;
}

Result<json::Value> Assembler::region_value(FieldId index, bool cut,
                                            std::uint64_t position) {
  const format::Field& field = description_.fields[index];
  std::vector<Remark> remarks;
  std::vector<ValueDamage> damage;
  items_.clear();
  if (is_read(index)) items_ = std::move(read_.items);
  Result<json::Value> value =
      is_read(index)
          ? json::Value(std::move(read_.value))
          : read_region(
                {index,
                 {body(), body_marks_},
                 captures_,
                 cut,
                 has_elements(position) ? &elements_ : nullptr},
                options_.recover && field.content.dirty() ? &remarks : nullptr,
                damage, attempts_ ? &items_ : nullptr);
  read_.field = kNoField;
  if (!value) return placed(std::move(value).error(), at(position));
  for (ValueDamage& part : damage) {
    const Error error = placed(std::move(part.error), at(position));
    out_.diagnose({error.code,
                   "a value beside others cannot be read: " + error.message,
                   field.name,
                   {static_cast<std::size_t>(body_begin_) + part.bytes.begin,
                    static_cast<std::size_t>(body_begin_) + part.bytes.end},
                   place_of(error)});
  }
  for (const auto& [part, what] : remarks) {
    out_.diagnose({ErrorCode::kInvalidContent,
                   std::string(what),
                   field.name,
                   {static_cast<std::size_t>(body_begin_) + part.begin,
                    static_cast<std::size_t>(body_begin_) + part.end}});
  }
  if (format_.recovers && program_.calls[index]) drop_empty_ids(*value);
  // A bare template keeps halves of surrogate pairs, like transformers.
  if (format_.recovers && (body().find("\\u") != std::string_view::npos ||
                           body().find("\\U") != std::string_view::npos)) {
    json::replace_surrogates(*value);
  }
  return value;
}

bool Assembler::is_call(const CandidateRegion& region) {
  std::vector<ValueDamage> damage;
  std::vector<ItemEnd> items;
  Result<json::Value> value =
      read_region({region.field, {region.body, region.marks}, region.captures},
                  nullptr, damage, attempts_ ? &items : nullptr);
  if (!value || !consists_of_calls(*value)) return false;
  // Keep the value for when the region is closed.
  const format::FieldReading* read = reading(region.field);
  if (region.marks.empty() && damage.empty() && read != nullptr &&
      reads_values(description_.fields[region.field], *read)) {
    read_.field = region.field;
    read_.body = region.body;
    read_.captures.assign(region.captures.begin(), region.captures.end());
    read_.value = std::move(*value);
    read_.items = std::move(items);
  }
  return true;
}

// Whether is_call() has read the region that is closing now.
bool Assembler::is_read(FieldId field) const {
  return read_.field == field && read_.body == body() && body_marks_.empty() &&
         read_.captures == captures_;
}

// Puts the text of a region, which is borrowed, under its field.  Returns false
// if store() has to do it.
bool Assembler::store_text(FieldId index) {
  const format::Field& field = description_.fields[index];
  if (field.join ? !values_.empty(index) : field.repeats) return false;
  values_.set_view(
      index, field.content.strip ? base::python_strip(borrowed_) : borrowed_);
  return true;
}

// Puts the value of a region of JSON, which is borrowed, under its field.
// Returns false if it has to be read and stored by region_value() and store().
bool Assembler::store_flat(FieldId index) {
  const format::Field& field = description_.fields[index];
  const bool read =
      reading(index) != nullptr && reads_values(field, *reading(index));
  // A list of calls may have items of which read_region() has to tell.
  const bool list = format_.recovers && program_.calls[index] &&
                    (!field.transform || field.transform_each);
  if (field.content.kind != format::ContentKind::kJson || field.join || read ||
      list || !options_.tools.empty()) {
    return false;
  }
  const bool has_nodes = values_.has_nodes(index);
  if (field.repeats && !has_nodes && !values_.empty(index)) return false;
  std::vector<json::FlatNode>& nodes = values_.nodes(index);
  if (!has_nodes) {
    // Of a short region, so that its nodes need not move.
    json::expect_nodes(std::min(borrowed_.size() / 8 + 24, kFewNodes), nodes);
    if (field.repeats) {
      nodes.push_back(json::flat_container(json::Kind::kArray));
    }
  }
  // A value that is replaced stays until there is another.
  const std::size_t before = nodes.size();
  std::vector<std::pair<std::string_view, std::string_view>> captures;
  if (!captures_.empty()) captures.assign(captures_.begin(), captures_.end());
  if (!flat_.append_region(field, borrowed_, captures, program_, format_.limits,
                           format_.recovers && program_.calls[index], nodes)) {
    return false;
  }
  if (field.repeats) {
    json::close_flat(0, nodes[0].size + std::size_t{1}, nodes);
  } else {
    nodes.erase(nodes.begin(),
                nodes.begin() + static_cast<std::ptrdiff_t>(before));
  }
  values_.set_nodes(index);
  return true;
}

// Adds text to that of a field with "join".
std::optional<Error> Assembler::join(FieldId index, const json::Value& value) {
  if (!value.is_string()) {
    return Error{ErrorCode::kInvalidContent,
                 "\"join\" needs text, and this region's value is of type " +
                     std::string(json::to_string(value.kind()))};
  }
  const json::Kind kind = values_.kind(index);
  if (kind != json::Kind::kNull && kind != json::Kind::kString) {
    return Error{ErrorCode::kContentType,
                 "\"join\" needs text to join to, and the default is of "
                 "type " +
                     std::string(json::to_string(kind))};
  }
  values_.join(index, *description_.fields[index].join, value.as_string());
  return std::nullopt;
}

// Adds an item to the list of a field with "repeats".
std::optional<Error> Assembler::append(FieldId index, json::Value value) {
  const json::Kind kind = values_.kind(index);
  if (!values_.empty(index) && kind != json::Kind::kArray) {
    return Error{ErrorCode::kContentAttribute,
                 "\"repeats\" needs a list to append to, and the default is "
                 "of type " +
                     std::string(json::to_string(kind))};
  }
  values_.append(index, std::move(value));
  return std::nullopt;
}

// Puts the value of a region under its field: replacing, appending or joining.
std::optional<Error> Assembler::store(FieldId index, json::Value value) {
  const format::Field& field = description_.fields[index];
  if (field.join) return join(index, value);
  if (reading(index) != nullptr && value.is_array() &&
      has_several_values(field, *reading(index))) {
    // The calls of all regions are one list.
    if (values_.kind(index) == json::Kind::kArray) {
      values_.append_all(index, value);
    } else {
      values_.set(index, std::move(value));
    }
    return std::nullopt;
  }
  if (field.repeats) return append(index, std::move(value));
  values_.set(index, std::move(value));
  return std::nullopt;
}

// Closes the open region, if there is one: returns to rest (the implicit field,
// or none), and turns the text of the region into a value, or an error.
void Assembler::close_region(const Delimited* delimiter, std::uint64_t position,
                             RegionStop stop) {
  const FieldId index = field_;
  const bool opened = opened_;
  field_ = description_.implicit.value_or(kNoField);
  opened_ = false;
  space_.drop();
  if (!opened) return;
  const format::Field& field = description_.fields[index];
  const bool cut = stop == RegionStop::kStreamEnd && field.open &&
                   field.close && !program_.ends_with_turn[index];
  if (cut) out_.message.complete = false;
  Closing region = {.field = index,
                    .cut = cut,
                    .text = {body_begin_, at(position)},
                    .delimiter = {at(position), at(position)},
                    .at_end = stop == RegionStop::kStreamEnd,
                    .end = position};
  if (delimiter != nullptr) {
    region.end = delimiter->end;
    region.delimiter = {at(delimiter->begin), at(delimiter->end)};
    for (const auto& [name, text] : delimiter->captures) {
      captures_.emplace_back(name, text);
    }
  }
  if (!borrowed_.empty() &&
      (is_text(index) ? store_text(index) : store_flat(index))) {
    borrowed_ = {};
    return;
  }
  // A region that its delimiter did not end must account for all of its text.
  Result<json::Value> value =
      is_text(index)
          ? text_value(index)
          : region_value(index, cut || stop == RegionStop::kUnclosed, position);
  if (value) {
    finish_region(region, *std::move(value));
  } else {
    spoil_region(region, value.error());
  }
  body_.clear();
  borrowed_ = {};
  adopted_ = nullptr;
}

void Assembler::finish_region(const Closing& region, json::Value value) {
  // The field alone needs the value where there are no events and no tools.
  const bool copied = !options_.fields_only || !options_.tools.empty();
  if (out_.keeps_message) {
    if (auto error = store(region.field, copied ? value : std::move(value))) {
      // The chunk events of this round point to a text that it has adopted.
      if (adopted_ != nullptr) out_.round.keep_value(value);
      return spoil_region(region, *error);
    }
  } else {
    values_.attempt(region.field);  // the field counts as present
  }
  if (!options_.fields_only) return publish_region(region, &value);
  if (attempts_ && program_.calls[region.field]) {
    add_attempts(region, body(), &value, nullptr);
  }
}

void Assembler::spoil_region(const Closing& region, const Error& error) {
  const format::Field& field = description_.fields[region.field];
  values_.attempt(region.field);
  Diagnostic diagnostic;
  diagnostic.code = error.code;
  diagnostic.message = error.message;
  // The message of a fault that was found when the template was loaded names
  // the field already.
  const std::string named = "Field '" + field.name + "': ";
  if (diagnostic.message.starts_with(named)) {
    diagnostic.message.erase(0, named.size());
  }
  diagnostic.field = field.name;
  diagnostic.bytes = region.text;
  diagnostic.at = place_of(error);
  if (!options_.recover && !failure_) {
    failure_ =
        Error{error.code, "Field \"" + field.name + "\": " + diagnostic.message,
              "/fields/" + field.name, diagnostic.bytes};
  }
  if (!options_.fields_only) {
    publish_region(region, nullptr, &diagnostic);
  }
  out_.diagnose(std::move(diagnostic));
}

// The text of the region moves to the round, where its chunk events find it, or
// is kept alive by the value that adopted it.
void Assembler::publish_region(const Closing& region, const json::Value* value,
                               const Diagnostic* why) {
  const char* adopted = std::exchange(adopted_, nullptr);
  const std::string_view text = out_.round.take_text(body_);
  set_chunk_texts(adopted != nullptr ? adopted : text.data());
  if (calls_ && calls_->is_open()) {
    close_calls(text, value, region.delimiter);
  }
  if (attempts_ && program_.calls[region.field]) {
    add_attempts(region, text, value, why);
  }
  const events::RegionEnd end = {.name = description_.fields[region.field].name,
                                 .field = region.field,
                                 .begin = region_begin_,
                                 .delimiter = region.delimiter,
                                 .cut = region.cut};
  if (value != nullptr) {
    out_.close_region(end, *value);
  } else {
    out_.spoil_region(end, text, *why);
  }
}

// A bare template does not report it, like transformers.  A single character,
// such as the "<" of "a <", says too little, and so do words that no delimiter
// precedes: an answer may end with them.
void Assembler::report_begun(const Delimited& begun, bool goes_on) {
  if (!format_.recovers || options_.fields_only) return;
  const std::string_view text = base::python_strip(begun.text);
  std::size_t first = 0;
  if (!text.empty()) base::next_code_point(text, first);
  const auto in_words = [](unsigned char c) {
    return base::is_letter(c) || base::is_digit(c) ||
           std::string_view(" _-.,!?").find(static_cast<char>(c)) !=
               std::string_view::npos;
  };
  if (first == text.size()) return;
  if (!goes_on && std::ranges::all_of(text, in_words)) return;
  std::string what;
  if (begun.field == kTurnEnd) {
    what = "of a text that ends the response";
  } else if (begun.field == kMarkup) {
    what = "of text that stands between regions";
  } else if (begun.field == kDropped || begun.field == kLateClose) {
    what = "of a closing delimiter";
  } else {
    const bool near = begun.field == kNearMiss;
    const FieldId field = near                       ? program_.first_calls
                          : begun.field == kRepeated ? field_
                                                     : begun.field;
    what = std::string(begun.close && !near ? "of the closing of \""
                                            : "of the opening of \"") +
           description_.fields[field].name + '"';
  }
  constexpr std::size_t kShown = 64;  // bytes
  const std::string shown = text.size() <= kShown ? json::quoted(text) : "text";
  const auto space = static_cast<std::size_t>(text.data() - begun.text.data());
  out_.diagnose(
      {ErrorCode::kInvalidContent,
       "the response ends with " + shown + ", which may be the beginning " +
           what + "; it counts as text",
       field_ == kNoField ? "" : description_.fields[field_].name,
       {at(begun.begin + space), at(begun.begin + space + text.size())}});
}

void Assembler::finish(std::uint64_t position) {
  out_.message.complete = true;
  report_unclaimed();
  close_region(nullptr, position, RegionStop::kStreamEnd);
  finished_ = true;
  out_.fields_stale = true;
  std::string missing;
  for (std::uint32_t i = 0; i < values_.size(); ++i) {
    const format::Field& field = description_.fields[i];
    if (field.optional || !values_.empty(i)) continue;
    if (values_.attempted(i) && (options_.recover || !out_.keeps_message)) {
      continue;
    }
    if (!missing.empty()) missing += ", ";
    missing += '"' + field.name + '"';
  }
  if (missing.empty()) return;
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::kMissingRequired;
  diagnostic.message =
      "required fields are missing from the response: " + missing;
  diagnostic.bytes = {at(position), at(position)};
  if (!options_.recover && !failure_) {
    failure_ =
        Error{diagnostic.code, diagnostic.message, "/fields", diagnostic.bytes};
  }
  out_.diagnose(std::move(diagnostic));
}

json::Value Assembler::fields() const {
  json::Object out;
  for (const auto& [key, value] : description_.defaults.members()) {
    out.set(key, value);
  }
  for (std::uint32_t i = 0; i < values_.size(); ++i) {
    json::Value* value = out.find(description_.fields[i].name);
    if (value != nullptr && out_.keeps_message) *value = values_.value(i);
  }
  values_.visit_completed([&](std::uint32_t i) {
    if (finished_ && values_.view(i).empty()) return;
    out.set(description_.fields[i].name, values_.value(i));
  });
  return out;
}

}  // namespace parlance::parse
