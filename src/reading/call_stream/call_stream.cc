// Events of calls, and the comparison with the value; see call_stream.h.

#include "call_stream/call_stream.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "json/writer.h"

namespace parlance::call_stream {
namespace {

std::string id_of(const json::Value& call) {
  const json::Value* id = call.find("id");
  if (id == nullptr) return {};
  if (id->is_string()) return std::string(id->as_string());
  return json::standard_text(*id);
}

// How much of the arguments can be sent before it is known that the call is
// complete: all of an object or a list but the byte that completes it, and
// nothing of any other value.  Readers write nothing after the end of the
// value, so that byte can only be the last.
std::size_t sendable(std::string_view arguments) {
  if (arguments.empty()) return 0;
  const char first = arguments.front();
  if (first != '{' && first != '[') return 0;
  const char closing = first == '{' ? '}' : ']';
  return arguments.size() - (arguments.back() == closing ? 1 : 0);
}

// Closes the object `written` with the members of `value` that it lacks.
void add_rest(const json::Value& value, std::string& written) {
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

std::vector<CallView> calls_in(const json::Value& value) {
  std::vector<CallView> out;
  // The stack has the values that are left, the next one last.
  std::vector<const json::Value*> left = {&value};
  while (!left.empty()) {
    const json::Value& next = *left.back();
    left.pop_back();
    if (next.is_array()) {
      for (std::size_t i = next.items().size(); i-- > 0;) {
        left.push_back(&next.items()[i]);
      }
    } else if (auto call = view_call(next)) {
      out.push_back(*std::move(call));
    }
  }
  return out;
}

std::string CallView::json() const {
  return arguments == nullptr ? "{}" : json::standard_text(*arguments);
}

std::string CallView::text() const {
  return arguments != nullptr && arguments->is_string()
             ? arguments_text(arguments->as_string())
             : json();
}

std::string arguments_text(std::string_view string) {
  const Result<json::Value> inside = json::parse(string);
  if (!inside || !inside->is_object()) {
    return json::standard_text(json::Value(string));
  }
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
  const Call& call = writer_.calls_[decided_];
  const auto number = static_cast<std::uint32_t>(first_ + decided_);
  if (!announced_) {
    Event& event = add(EventKind::kCallOpen, number, like, round);
    event.text = round.keep_text(call.name);
    if (!call.id.empty()) event.call_id = round.keep_text(call.id);
    announced_ = true;
    written_ = 0;
  }
  const std::string_view arguments = call.arguments;
  const std::size_t end = closes ? arguments.size() : sendable(arguments);
  if (end > written_) {
    add(EventKind::kCallArguments, number, like, round).text =
        round.keep_text(arguments.substr(written_, end - written_));
    written_ = end;
  }
  if (!closes) return;
  writer_.calls_[decided_].complete = true;
  add(EventKind::kCallClose, number, like, round);
}

// Reads the item of the call `decided_`, if it has ended.  If its call is
// another than the one that was written, this call and those after it wait for
// the value of the region.
CallStream::ItemState CallStream::read_item(std::string_view text) {
  if (waits_ || read_item_ == nullptr || decided_ >= writer_.items_.size()) {
    return ItemState::kOpen;
  }
  const Span item = writer_.items_[decided_];
  if (item.size() == 0) return ItemState::kOpen;
  const auto value = read_item_(text.substr(item.begin, item.size()));
  if (!value) return ItemState::kNone;
  const auto calls = calls_in(*value);
  waits_ = calls.size() != 1 || !complete(decided_, calls[0]);
  return waits_ ? ItemState::kOpen : ItemState::kCall;
}

// Emits what is certain.  Invariant of the loop: the calls before `decided_`
// were closed with their items, or their items are none.
void CallStream::emit(std::string_view text, const Event& like,
                      events::Round& round) {
  while (decided_ < writer_.calls_.size()) {
    const ItemState state = read_item(text);
    emit_call(state == ItemState::kCall, like, round);
    if (state == ItemState::kOpen) return;
    closed_ += state == ItemState::kCall;
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

// Whether the call `i` is `wanted`, as far as it is written.  What is missing
// of its arguments is then added.
bool CallStream::complete(std::size_t i, const CallView& wanted) {
  Call& call = writer_.calls_[i];
  if (call.name != wanted.name || call.id != wanted.id) return false;
  if (call.arguments.empty()) {
    call.arguments = wanted.json();
    return true;
  }
  static const json::Value kNone = json::Object();
  const json::Value& arguments =
      wanted.arguments == nullptr ? kNone : *wanted.arguments;
  if (writer_.rest_ && i + 1 == writer_.calls_.size()) {
    add_rest(arguments, call.arguments);
  }
  json::ParseOptions options;
  options.limits = limits_;
  const Result<json::Value> written = json::parse(call.arguments, options);
  if (!written) return false;
  if (*written == arguments) return true;
  // Values that are no JSON are written as others.
  const Result<json::Value> shown = json::parse(wanted.json(), options);
  return shown && *written == *shown;
}

// Emits the calls that are left; those that are complete are closed.
void CallStream::emit_all(const Event& like, events::Round& round) {
  for (; decided_ < writer_.calls_.size(); ++decided_) {
    emit_call(writer_.calls_[decided_].complete, like, round);
    announced_ = false;
  }
}

std::optional<std::uint32_t> CallStream::close(std::string_view text,
                                               const json::Value& value,
                                               const Event& like,
                                               events::Round& round) {
  if (reader_ != nullptr) reader_->advance(text, true, writer_);
  const std::vector<CallView> calls = calls_in(value);
  std::vector<Call>& announced = writer_.calls_;
  // Finds each call of the value among the announced ones, in order.
  // Invariant: the first `found` calls of the value are found, and the next one
  // can only be at `next` or after it.  Those that were closed are the first.
  std::size_t found = closed_;
  std::size_t next = decided_;
  while (found < calls.size()) {
    std::size_t at = next;
    while (at < announced.size() && !complete(at, calls[found])) ++at;
    if (at == announced.size()) break;
    announced[at].complete = true;
    next = at + 1;
    ++found;
  }
  std::optional<std::uint32_t> differs;
  if (found < calls.size() && next < announced.size()) {
    differs = static_cast<std::uint32_t>(first_ + next);
  }
  for (std::size_t i = found; i < calls.size(); ++i) {
    writer_.open(calls[i].name, calls[i].id);
    writer_.arguments() = calls[i].json();
    announced.back().complete = true;
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
  first_ += static_cast<std::uint32_t>(writer_.calls_.size());
  if (calls_ != nullptr) {
    // Of a call that is not complete, what was sent.
    for (Call& call : writer_.calls_) {
      if (!call.complete) call.arguments.resize(sendable(call.arguments));
    }
    std::move(writer_.calls_.begin(), writer_.calls_.end(),
              std::back_inserter(*calls_));
  }
  writer_.calls_.clear();
  writer_.items_.clear();
  writer_.rest_ = false;
  writer_.id_.clear();
  decided_ = 0;
  closed_ = 0;
  announced_ = false;
  written_ = 0;
  waits_ = false;
  reader_ = nullptr;
  read_item_ = nullptr;
  open_ = false;
}

}  // namespace parlance::call_stream
