// Builds blocks from events; see blocks.h.
//
// Invariant between two events: at most one block is open, and it is the last.
// All others are closed, so a writer gets the changes of one block in one
// stretch.  What is held back (FieldState::held) is white space alone.

#include "chat/blocks.h"

#include <algorithm>
#include <optional>
#include <random>

#include "base/python_number.h"
#include "base/reasoning_names.h"
#include "base/utf8.h"
#include "call_stream/call_stream.h"
#include "json/surrogates.h"
#include "parlance/json.h"

namespace parlance::chat {
namespace {

Source source_of(const Event& event) { return {event.bytes, event.tokens}; }

// The size of `text` without white space at its end.
std::size_t trimmed_size(std::string_view text) {
  // python_strip() strips both ends; a letter protects the first.
  std::string guarded = "x";
  guarded += text;
  return base::python_strip(guarded).size() - 1;
}

// The number of bytes of white space at the beginning of `text`.
std::size_t leading_space(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t next = at;
    if (!base::is_python_space(base::next_code_point(text, next))) break;
    at = next;
  }
  return at;
}

events::TokenPart part_of(BlockKind kind) {
  switch (kind) {
    case BlockKind::kReasoning:
      return &TokenCounts::reasoning;
    case BlockKind::kContent:
      return &TokenCounts::content;
    case BlockKind::kCall:
      break;
  }
  return &TokenCounts::tool_calls;
}

// Whether the text of the field is text of the answer.
bool is_text(const ChatField& field) {
  return field.is_content || field.name == "content" ||
         base::is_reasoning_name(field.name);
}

}  // namespace

void Conversation::set_usage(const ChatUsage& given) {
  usage = given;
  const Message* const message = std::exchange(usage.message, nullptr);
  if (message == nullptr) return;
  const std::int64_t total = message->tokens.total();
  if (!usage.completion_tokens && total > 0) usage.completion_tokens = total;
  if (!options.extras) return;
  turn_ended = message->turn_ended;
  prefix_bytes = message->prefix_bytes;
  for (const Attempt& attempt : message->attempts) {
    attempted_calls.push_back(to_json(attempt));
  }
}

void Conversation::add_extras(json::Object& out) const {
  if (!turn_ended) return;
  out.set("turn_ended", *turn_ended);
  out.set("attempted_calls", attempted_calls);
  out.set("prefix_bytes", static_cast<std::int64_t>(prefix_bytes));
}

json::Object Conversation::other_fields() const {
  json::Object out;
  other.visit_completed([&](std::uint32_t field) {
    if (other.view(field).empty()) return;
    out.set(fields[field].name, other.value(field));
  });
  return out;
}

void Conversation::add_other(json::Object& out) const {
  json::Object added = other_fields();
  if (!added.empty()) out.set("fields", std::move(added));
}

std::string Conversation::text(BlockKind kind) const {
  std::string out;
  for (const Block& block : blocks) {
    if (block.kind == kind) out += block.text;
  }
  return out;
}

bool Conversation::has_complete_call() const {
  return std::any_of(blocks.begin(), blocks.end(), [](const Block& block) {
    return block.kind == BlockKind::kCall && block.complete;
  });
}

std::string random_id(std::string_view prefix) {
  constexpr std::string_view kDigits =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  // Each id is drawn from the system: a generator of this process would have
  // the same state in a process that is forked from it.
  std::random_device device;
  std::string out(prefix);
  std::uint32_t random = 0;
  for (int i = 0; i < 24; ++i) {
    if (i % 5 == 0) random = device();  // has a little more than five digits
    out += kDigits[random % kDigits.size()];
    random /= kDigits.size();
  }
  return out;
}

BlockBuilder::BlockBuilder(Conversation& conversation, BlockWriter& writer)
    : conversation_(conversation),
      writer_(writer),
      states_(conversation.fields.size()) {}

BlockKind BlockBuilder::kind_of(const ChatField& field) const {
  if (field.is_content) return BlockKind::kContent;
  if (base::is_reasoning_name(field.name)) return BlockKind::kReasoning;
  return field.name == "tool_calls" ? BlockKind::kCall : BlockKind::kContent;
}

void BlockBuilder::read(const Event& event) {
  conversation_.last_token = std::max(
      conversation_.last_token, static_cast<std::int64_t>(event.tokens.end));
  // It has no field: its index is the number of fields.
  if (event.kind == EventKind::kTextUnclaimed) {
    conversation_.tokens.count(&TokenCounts::content, event.tokens);
    write_text(BlockKind::kContent, event.text, source_of(event));
    return;
  }
  const ChatField& field = field_of(event);
  const BlockKind kind = kind_of(field);
  switch (event.kind) {
    case EventKind::kRegionOpen: {
      FieldState& state = states_[event.field_index];
      state.started = false;
      state.dirty = true;
      state.held.clear();
      call_announced_ = false;
      return;
    }
    case EventKind::kRegionChunk:
      conversation_.tokens.count(part_of(kind), event.tokens);
      states_[event.field_index].dirty = event.dirty;
      if (is_text(field) && !event.dirty) read_text(event);
      return;
    case EventKind::kRegionClose:
      close_region(event);
      return;
    case EventKind::kRegionMalformed:
      // A client has the chunks of a text already, and of an announced call the
      // beginning.  The rest becomes content: calls that were not announced,
      // and regions whose chunks were not passed on.
      if (kind == BlockKind::kCall && call_announced_) {
        if (open_) close_block(/*complete=*/false);
      } else if (!is_text(field) || states_[event.field_index].dirty) {
        write_text(BlockKind::kContent, event.text, source_of(event));
      }
      return;
    case EventKind::kCallOpen:
      open_call(event.text, event.call_id, event.call, source_of(event));
      return;
    case EventKind::kCallArguments:
      append_arguments(event.text, event.call, source_of(event));
      return;
    case EventKind::kCallClose:
      close_call(event.call);
      return;
    case EventKind::kTextUnclaimed:
    case EventKind::kCallAttempt:
      return;
  }
}

// Writes the text of a chunk, less the white space that may turn out to be at
// an end of the region.
void BlockBuilder::read_text(const Event& event) {
  FieldState& state = states_[event.field_index];
  std::string_view text = event.text;
  if (!field_of(event).trimmed) return write_region(event, text);
  // Of the region's text, all but white space at its beginning is written or
  // held, and what is held comes after all that is written.
  if (!state.started) text.remove_prefix(leading_space(text));
  const std::size_t size = trimmed_size(text);
  if (size == 0) {
    if (state.started) state.held += text;
    return;
  }
  state.held += text.substr(0, size);
  const std::string ready =
      std::exchange(state.held, std::string(text.substr(size)));
  write_region(event, ready);
}

// Writes text of the field's open region, after what joins it to the last.
void BlockBuilder::write_region(const Event& event, std::string_view text) {
  const ChatField& field = field_of(event);
  FieldState& state = states_[event.field_index];
  if (!state.started && state.any) {
    write_text(kind_of(field), field.join.value_or("\n"), source_of(event));
  }
  state.started = state.any = true;
  write_text(kind_of(field), text, source_of(event));
}

void BlockBuilder::write_text(BlockKind kind, std::string_view text,
                              Source source) {
  if (text.empty()) return;
  // Only a bare template keeps them.
  std::string encodable;
  if (json::has_surrogates(text)) {
    encodable = json::without_surrogates(text, false);
    text = encodable;
  }
  std::vector<Block>& blocks = conversation_.blocks;
  if (!open_ || blocks.back().kind != kind) {
    if (open_) close_block(blocks.back().kind != BlockKind::kCall);
    Block& block = blocks.emplace_back();
    block.kind = kind;
    open_ = true;
    block.id = random_id(kind == BlockKind::kReasoning ? "rs_" : "msg_");
    writer_.open(block, blocks.size() - 1, source);
  }
  blocks.back().text += text;
  writer_.append(blocks.back(), blocks.size() - 1, text, source);
}

void BlockBuilder::open_call(std::string_view name, std::string_view id,
                             std::uint32_t event_call, Source source) {
  std::vector<Block>& blocks = conversation_.blocks;
  // A call that was not closed before the next one opens is not complete.
  if (open_) close_block(blocks.back().kind != BlockKind::kCall);
  const ChatOptions& options = conversation_.options;
  Block& block = blocks.emplace_back();
  block.kind = BlockKind::kCall;
  block.id = random_id("fc_");
  block.call = calls_++;
  block.event_call = event_call;
  block.name = json::without_surrogates(name, true);
  if (options.model_call_ids && !id.empty()) {
    block.call_id = json::without_surrogates(id, true);
  } else if (!options.call_id_prefix.empty()) {
    block.call_id = options.call_id_prefix + std::to_string(block.call);
  } else {
    block.call_id = random_id("call_");
  }
  open_ = true;
  call_announced_ = true;
  writer_.open(block, blocks.size() - 1, source);
}

bool BlockBuilder::is_open(std::uint32_t event_call) const {
  if (!open_) return false;
  const Block& last = conversation_.blocks.back();
  return last.kind == BlockKind::kCall && last.event_call == event_call;
}

void BlockBuilder::append_arguments(std::string_view text,
                                    std::uint32_t event_call, Source source) {
  if (!is_open(event_call) || text.empty()) return;
  Block& block = conversation_.blocks.back();
  std::string decoded;
  if (block.text.empty() && text[0] == '"') {
    // A string comes in one piece (call_stream::sendable()).
    const Result<json::Value> value = json::parse(text);
    if (value && value->is_string()) {
      decoded = call_stream::arguments_text(value->as_string());
      text = decoded;
    }
  }
  // Also in one piece: sendable() does not cut an escape, nor a pair of two.
  if (text.find("\\u") != std::string_view::npos) {
    decoded = text;
    json::replace_surrogate_escapes(decoded, 0, decoded.size());
    text = decoded;
  }
  block.text += text;
  writer_.append(block, conversation_.blocks.size() - 1, text, source);
}

void BlockBuilder::close_call(std::uint32_t event_call) {
  if (is_open(event_call)) close_block(/*complete=*/true);
}

void BlockBuilder::close_block(bool complete) {
  std::vector<Block>& blocks = conversation_.blocks;
  Block& last = blocks.back();
  if (last.kind == BlockKind::kCall && !complete && last.text.empty()) {
    // Clients take a call without any text for one without arguments.
    append_arguments("{", last.event_call, {});
  }
  open_ = false;
  blocks.back().complete = complete;
  writer_.close(blocks.back(), blocks.size() - 1);
}

void BlockBuilder::close_region(const Event& event) {
  const ChatField& field = field_of(event);
  states_[event.field_index].held.clear();
  if (event.value == nullptr) return;
  if (field.name == "tool_calls") {
    // Without events of calls the calls come with the value.
    if (!call_announced_) add_calls(*event.value, source_of(event));
    write_text(BlockKind::kContent,
               call_stream::text_beside_calls(*event.value), source_of(event));
  } else if (is_text(field)) {
    close_text(event);
  } else {
    set_other(event.field_index, *event.value);
  }
}

// Writes the text of a region that was not in its chunks.
void BlockBuilder::close_text(const Event& event) {
  const FieldState& state = states_[event.field_index];
  // An empty value is in no message.
  const bool empty = events::FieldValues::View{.value = event.value}.empty();
  const std::string text =
      state.dirty && !empty ? call_stream::text_of(*event.value) : "";
  // An empty text is joined like any other.
  if (!text.empty() || (!state.started && field_of(event).join)) {
    write_region(event, text);
  }
}

// Gives another field a value in the way in which the message gets it.
void BlockBuilder::set_other(std::uint32_t index, json::Value value) {
  json::replace_surrogates(value);
  const ChatField& field = conversation_.fields[index];
  events::FieldValues& values = conversation_.other;
  const json::Kind kind = values.kind(index);
  const bool fresh = values.empty(index);
  if (field.join && value.is_string() &&
      (fresh || kind == json::Kind::kString)) {
    values.join(index, *field.join, value.as_string());
  } else if (field.repeats && !field.join &&
             (fresh || kind == json::Kind::kArray)) {
    values.append(index, std::move(value));
  } else {
    values.set(index, std::move(value));
  }
}

void BlockBuilder::add_calls(const json::Value& value, Source source) {
  // No event has the number of such a call: it opens and closes right here.
  for (const call_stream::CallView& call : call_stream::calls_in(value)) {
    const auto number = static_cast<std::uint32_t>(calls_);
    open_call(call.name, call.id, number, source);
    append_arguments(call.json(), number, source);
    close_block(/*complete=*/true);
  }
}

void BlockBuilder::finish() {
  if (!open_) return;
  close_block(conversation_.blocks.back().kind != BlockKind::kCall);
}

}  // namespace parlance::chat
