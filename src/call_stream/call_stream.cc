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
      continue;
    }
    if (!next.is_object()) continue;
    const json::Value* function = next.find("function");
    const json::Value& inner =
        function != nullptr && function->is_object() ? *function : next;
    const json::Value* name = inner.find("name");
    const json::Value* arguments = inner.find("arguments");
    if (name == nullptr || !name->is_string() || arguments == nullptr) continue;
    out.push_back({name->as_string(), id_of(next), arguments});
  }
  return out;
}

void CallStream::open(std::unique_ptr<CallReader> reader) {
  open_ = true;
  reader_ = std::move(reader);
}

Event& CallStream::add(EventKind kind, std::uint32_t call, const Event& like,
                       events::Round& round) {
  Event& event = round.add(kind, like);
  event.call = call;
  return event;
}

// Emits what the writer has beyond the events so far.
void CallStream::emit(const Event& like, events::Round& round) {
  const std::vector<Call>& calls = writer_.calls_;
  if (announced_ == 0 && calls.empty()) return;
  for (std::size_t i = announced_ == 0 ? 0 : announced_ - 1; i < calls.size();
       ++i) {
    const auto number = static_cast<std::uint32_t>(first_ + i);
    if (i == announced_) {
      Event& event = add(EventKind::kCallOpen, number, like, round);
      event.text = round.keep_text(calls[i].name);
      if (!calls[i].id.empty()) event.call_id = round.keep_text(calls[i].id);
      ++announced_;
      written_ = 0;
    }
    const std::string_view arguments = calls[i].arguments;
    if (arguments.size() == written_) continue;
    add(EventKind::kCallArguments, number, like, round).text =
        round.keep_text(arguments.substr(written_));
    written_ = arguments.size();
  }
}

void CallStream::advance(std::string_view text, const Event& like,
                         events::Round& round) {
  if (reader_ == nullptr) return;
  reader_->advance(text, false, writer_);
  emit(like, round);
}

// Whether the announced call `i` is `wanted`, as far as it is written.  What is
// missing of its arguments is then added.
bool CallStream::complete(std::size_t i, const CallView& wanted,
                          const Event& like, events::Round& round) {
  Call& call = writer_.calls_[i];
  if (call.name != wanted.name || call.id != wanted.id) return false;
  if (writer_.rest_ && i + 1 == writer_.calls_.size()) {
    add_rest(*wanted.arguments, call.arguments);
  }
  if (!call.arguments.empty()) {
    json::ParseOptions options;
    options.limits = limits_;
    const Result<json::Value> written = json::parse(call.arguments, options);
    return written && *written == *wanted.arguments;
  }
  call.arguments = json::standard_text(*wanted.arguments);
  // emit() continues only the call that was announced last.
  if (i + 1 < announced_) {
    add(EventKind::kCallArguments, static_cast<std::uint32_t>(first_ + i), like,
        round)
        .text = round.keep_text(call.arguments);
  }
  return true;
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
  // can only be at `next` or after it.
  std::size_t found = 0;
  std::size_t next = 0;
  while (found < calls.size()) {
    std::size_t at = next;
    while (at < announced.size() && !complete(at, calls[found], like, round)) {
      ++at;
    }
    if (at == announced.size()) break;
    announced[at].complete = true;
    next = at + 1;
    ++found;
  }
  std::optional<std::uint32_t> differs;
  if (found < calls.size() && next < announced.size()) {
    differs = static_cast<std::uint32_t>(first_ + next);
  }
  emit(like, round);
  for (std::size_t i = found; i < calls.size(); ++i) {
    writer_.open(calls[i].name, calls[i].id);
    writer_.arguments() = json::standard_text(*calls[i].arguments);
    emit(like, round);
    announced.back().complete = true;
  }
  for (std::size_t i = 0; i < announced.size(); ++i) {
    if (!announced[i].complete) continue;
    add(EventKind::kCallClose, static_cast<std::uint32_t>(first_ + i), like,
        round);
  }
  finish_region();
  return differs;
}

void CallStream::abandon() { finish_region(); }

void CallStream::finish_region() {
  first_ += static_cast<std::uint32_t>(writer_.calls_.size());
  if (calls_ != nullptr) {
    std::move(writer_.calls_.begin(), writer_.calls_.end(),
              std::back_inserter(*calls_));
  }
  writer_.calls_.clear();
  writer_.rest_ = false;
  announced_ = 0;
  written_ = 0;
  reader_ = nullptr;
  open_ = false;
}

}  // namespace parlance::call_stream
