// Events of calls; see call_stream.h.
//
// The calls that a reader has written, in order:
//
//   before decided_   all their events are emitted; closed_ of them are closed,
//                     and are the first closed_ calls of the value
//   decided_          if announced_, its events are emitted up to sent_
//   after it          have no events yet, because decided_ may still be open

#include "call_stream/call_stream.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "json/surrogates.h"
#include "json/writer.h"

namespace parlance::call_stream {
namespace {

std::string id_of(const json::Value& call) {
  const json::Value* id = call.find("id");
  if (id == nullptr || id->is_null()) return {};
  if (id->is_string()) return std::string(id->as_string());
  return json::standard_text(*id);
}

// Closes the object `written`, if anything is, with the members of `value` that
// it lacks.  A member that has another value by now is written again: of equal
// keys the last counts.  What was written of it is in events, and is not taken
// back.
void add_rest(const json::Value& value, std::string& written) {
  if (written.empty()) {
    written = json::standard_text(value);
    return;
  }
  const Result<json::Value> known = json::parse(written + "}");
  if (!known || !value.is_object()) return;
  bool first = known->size() == 0;
  for (const auto& [key, member] : value.members()) {
    const json::Value* old = known->find(key);
    if (old != nullptr && *old == member) continue;
    if (!first) written += ", ";
    first = false;
    json::append_string(written, key, false);
    written += ": " + json::standard_text(member);
  }
  written += '}';
}

}  // namespace

std::string shown_name(std::string_view name) {
  constexpr std::size_t kMost = 100;
  return '\'' + base::to_utf8(name.substr(0, kMost)) + '\'';
}

// Readers write nothing after the end of the value, so the byte that completes
// it can only be the last.
std::size_t sendable(std::string_view arguments, std::size_t sent) {
  if (arguments.empty()) return 0;
  const char first = arguments.front();
  if (first != '{' && first != '[') return 0;
  const char closing = first == '{' ? '}' : ']';
  if (arguments.back() == closing) arguments.remove_suffix(1);
  return json::size_of_whole_escapes(arguments, sent);
}

std::optional<CallView> view_call(const json::Value& value) {
  const json::Value* function = value.find("function");
  const bool inside = function != nullptr && function->is_object();
  const json::Value& inner = inside ? *function : value;
  const json::Value* name = inner.find("name");
  if (name == nullptr || !name->is_string()) return std::nullopt;
  const json::Value* arguments = inner.find("arguments");
  if (!inside && arguments == nullptr) return std::nullopt;
  return CallView{name->as_string(), id_of(value), arguments};
}

namespace {

// Calls take(element, call) for each element of `value` that is no list, in
// order, recursively through lists; `call` is nothing if it is no call.
template <class Take>
void for_each_element(const json::Value& value, const Take& take) {
  // The stack has the values that are left, the next one last.
  std::vector<const json::Value*> left = {&value};
  while (!left.empty()) {
    const json::Value& next = *left.back();
    left.pop_back();
    if (!next.is_array()) {
      take(next, view_call(next));
      continue;
    }
    for (std::size_t i = next.items().size(); i-- > 0;) {
      left.push_back(&next.items()[i]);
    }
  }
}

}  // namespace

std::vector<CallView> calls_in(const json::Value& value) {
  std::vector<CallView> out;
  for_each_element(value, [&](const json::Value&, auto call) {
    if (call) out.push_back(*std::move(call));
  });
  return out;
}

std::string text_of(const json::Value& value) {
  return value.is_string() ? std::string(value.as_string())
                           : json::dump(value, {.ascii = false});
}

std::string text_beside_calls(const json::Value& value) {
  std::string out;
  bool calls = value.is_array() && value.items().empty();
  for_each_element(value, [&](const json::Value& element, const auto& call) {
    if (call) {
      calls = true;
      return;
    }
    if (!out.empty()) out += '\n';
    out += text_of(element);
  });
  return calls ? out : text_of(value);
}

std::string CallView::json() const {
  return arguments == nullptr ? "{}" : json::standard_text(*arguments);
}

std::string CallView::text() const {
  return arguments != nullptr && arguments->is_string()
             ? arguments_text(arguments->as_string())
             : json();
}

std::optional<json::Value> object_in(std::string_view string) {
  Result<json::Value> inside = json::parse(string);
  if (!inside || !inside->is_object()) return std::nullopt;
  return *std::move(inside);
}

std::string arguments_text(std::string_view string) {
  const std::optional<json::Value> inside = object_in(string);
  if (!inside) return json::standard_text(json::Value(string));
  // NaN and Infinity are no JSON.
  json::ParseOptions strict;
  strict.allow_nonfinite = false;
  return json::parse(string, strict) ? std::string(string)
                                     : json::standard_text(*inside);
}

void CallStream::open(std::unique_ptr<CallReader> reader,
                      ItemReader read_item) {
  open_ = true;
  reader_ = std::move(reader);
  read_item_ = std::move(read_item);
}

Event& CallStream::add(EventKind kind, std::uint32_t call, const Event& like,
                       events::Round& round) {
  Event& event = round.add(kind, like);
  event.call = call;
  return event;
}

// Emits what the writer has of the call `decided_` beyond its events so far.
// `closes`: the call is complete, and its events end.
void CallStream::emit_call(bool closes, const Event& like,
                           events::Round& round) {
  Call& call = writer_.written_[decided_].call;
  const auto number = static_cast<std::uint32_t>(first_ + decided_);
  if (!announced_) {
    if (encodable_) {
      call.name = json::without_surrogates(call.name, true);
      call.id = json::without_surrogates(call.id, true);
    }
    Event& event = add(EventKind::kCallOpen, number, like, round);
    event.text = round.keep_text(call.name);
    if (!call.id.empty()) event.call_id = round.keep_text(call.id);
    announced_ = true;
    sent_ = 0;
  }
  const std::string_view arguments = call.arguments;
  const std::size_t end =
      closes ? arguments.size() : sendable(arguments, sent_);
  if (end > sent_) {
    if (encodable_) {
      json::replace_surrogate_escapes(call.arguments, sent_, end);
    }
    add(EventKind::kCallArguments, number, like, round).text =
        round.keep_text(arguments.substr(sent_, end - sent_));
    sent_ = end;
  }
  if (!closes) return;
  call.complete = true;
  add(EventKind::kCallClose, number, like, round);
}

// Whether the item of the call `decided_` has ended, or another has begun.
// `closes`: it is the call.  An item is empty as long as its reader has not
// ended the call; if the reader has begun another one by then, it never will.
bool CallStream::read_item(std::string_view text, bool& closes) const {
  if (read_item_ == nullptr) return false;
  const Span item = writer_.written_[decided_].item;
  if (item.size() == 0) return decided_ + 1 < writer_.written_.size();
  closes = read_item_(text.substr(item.begin, item.size()));
  return true;
}

// Emits what is certain.  Invariant of the loop: the calls before `decided_`
// were closed with their items, or their items are none.
void CallStream::emit(std::string_view text, const Event& like,
                      events::Round& round) {
  while (decided_ < writer_.written_.size()) {
    bool closes = false;
    const bool ends = read_item(text, closes);
    emit_call(closes, like, round);
    if (!ends) return;
    closed_ += closes ? 1 : 0;
    ++decided_;
    announced_ = false;
  }
}

void CallStream::advance(std::string_view text, const Event& like,
                         events::Round& round) {
  if (reader_ == nullptr) return;
  reader_->advance(text, false, writer_);
  emit(text, like, round);
}

// Emits the calls that are left; those that are complete are closed.
void CallStream::emit_all(const Event& like, events::Round& round) {
  for (; decided_ < writer_.written_.size(); ++decided_) {
    emit_call(writer_.written_[decided_].call.complete, like, round);
    announced_ = false;
  }
}

// The calls that have ended are the first of the value that were not closed:
// the loop pairs them.  From a call on that the reader did not end, which of
// its calls are calls of the value is not known: those stay open, and the rest
// of the value's calls are written after them, as new ones.
std::optional<std::uint32_t> CallStream::close(std::string_view text,
                                               const json::Value& value,
                                               const Event& like,
                                               events::Round& round) {
  using End = CallWriter::End;
  if (reader_ != nullptr) reader_->advance(text, true, writer_);
  emit(text, like, round);
  const std::vector<CallView> calls = calls_in(value);
  std::vector<CallWriter::Written>& written = writer_.written_;
  std::size_t found = closed_;
  std::size_t next = decided_;
  for (; found < calls.size() && next < written.size(); ++found, ++next) {
    auto& [call, end, item] = written[next];
    if (end == End::kOpen) break;
    if (end == End::kLeft) {
      static const json::Value kNone = json::Object();
      const json::Value* arguments = calls[found].arguments;
      add_rest(arguments == nullptr ? kNone : *arguments, call.arguments);
    }
    call.complete = true;
  }
  // Calls of the value are left, and calls of the reader as well.
  std::optional<std::uint32_t> differs;
  if (found < calls.size() && next < written.size()) {
    differs = static_cast<std::uint32_t>(first_ + next);
  }
  for (; found < calls.size(); ++found) {
    writer_.open(calls[found].name, calls[found].id);
    writer_.arguments() = calls[found].json();
    written.back().call.complete = true;
  }
  emit_all(like, round);
  finish_region();
  return differs;
}

void CallStream::abandon(const Event& like, events::Round& round) {
  emit_all(like, round);
  finish_region();
}

void CallStream::finish_region() {
  first_ += static_cast<std::uint32_t>(writer_.written_.size());
  for (CallWriter::Written& written : writer_.written_) {
    Call& call = written.call;
    // A call that is not complete has the part of its arguments that was sent.
    if (!call.complete) call.arguments.resize(sendable(call.arguments, 0));
    if (calls_ != nullptr) calls_->push_back(std::move(call));
  }
  writer_ = CallWriter();
  decided_ = 0;
  closed_ = 0;
  announced_ = false;
  sent_ = 0;
  reader_ = nullptr;
  read_item_ = nullptr;
  open_ = false;
}

}  // namespace parlance::call_stream
