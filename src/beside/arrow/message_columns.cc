// Builds the columns of parsed messages: see message_columns.h.

#include "arrow/message_columns.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

#include "base/reasoning_names.h"

namespace parlance::arrow {
namespace {

// The text of a value: of a string, the string; else its JSON text.
void append_text(const json::Value& value, std::string& out) {
  if (value.is_string()) {
    out += value.as_string();
  } else {
    out += json::dump(value, {.ascii = false});
  }
}

}  // namespace

// --- Columns -----------------------------------------------------------------

void BitColumn::take(BitColumn&& other) {
  // Blocks have any number of rows, so whole bytes can be appended only after a
  // full one.  In the last byte the bits after the column are 0, as push()
  // expects.
  if ((size_ & 7) == 0) {
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    size_ += other.size_;
    zeros_ += other.zeros_;
  } else {
    bytes_.reserve(bytes_.size() + other.bytes_.size());
    for (std::size_t i = 0; i < other.size_; ++i) {
      push((other.bytes_[i >> 3] >> (i & 7) & 1) != 0);
    }
  }
  other = {};
}

void TextColumn::take(TextColumn&& other) {
  const auto begin = static_cast<std::int64_t>(bytes_.size());
  bytes_ += other.bytes_;
  ends_.reserve(ends_.size() + other.size());
  for (std::size_t i = 1; i < other.ends_.size(); ++i) {
    ends_.push_back(begin + other.ends_[i]);
  }
  valid_.take(std::move(other.valid_));
  other = {};
}

void ListColumn::take(ListColumn&& other) {
  const std::size_t begin = ends_.back();
  ends_.reserve(ends_.size() + other.ends_.size());
  for (std::size_t i = 1; i < other.ends_.size(); ++i) {
    ends_.push_back(begin + other.ends_[i]);
  }
  other = {};
}

std::vector<std::int32_t> ListColumn::offsets() const {
  std::vector<std::int32_t> out;
  out.reserve(ends_.size());
  for (const std::size_t end : ends_) {
    out.push_back(static_cast<std::int32_t>(end));
  }
  return out;
}

// --- Rows --------------------------------------------------------------------

void MessageColumns::push_null() {
  valid.push(false);
  reasoning.push_null();
  content.push_null();
  other.push_null();
  call_lists.end(calls.complete.size());
  complete.push(false);
  turn_ended.push(false);
  diagnostic_lists.end(diagnostics.offset.size());
  attempt_lists.end(attempts.offset.size());
  prefix_bytes.push_back(0);
}

// Several regions of a field are one value in the message, apart from those
// under different names of reasoning, which are joined here.
void MessageColumns::push(const Message& message) {
  valid.push(true);
  bool has_reasoning = false;
  bool has_content = false;
  json::Object rest;
  for (const json::Member& member : message.fields.members()) {
    if (base::is_reasoning_name(member.key)) {
      if (member.value.is_null()) continue;
      append_text(member.value, reasoning.bytes());
      has_reasoning = true;
    } else if (member.key == "content") {
      if (member.value.is_null()) continue;
      append_text(member.value, content.bytes());
      has_content = true;
    } else if (member.key != "tool_calls" && member.key != "role") {
      rest.set(member.key, member.value);
    }
  }
  reasoning.end(has_reasoning);
  content.end(has_content);
  if (rest.empty()) {
    other.push_null();
  } else {
    other.push(json::dump(json::Value(std::move(rest)), {.ascii = false}));
  }
  for (const Call& call : message.calls) {
    if (!call.complete) continue;
    if (call.id.empty()) {
      calls.id.push_null();
    } else {
      calls.id.push(call.id);
    }
    calls.name.push(call.name);
    calls.arguments.push(call.arguments);
    calls.complete.push(call.complete);
  }
  call_lists.end(calls.complete.size());
  complete.push(message.complete);
  turn_ended.push(message.turn_ended);
  for (const Attempt& one : message.attempts) {
    attempts.status.push(to_string(one.status));
    attempts.id.push(one.id);
    attempts.name.push(one.name);
    attempts.arguments.push(one.arguments);
    attempts.text.push(one.text);
    attempts.offset.push_back(static_cast<std::int64_t>(one.bytes.begin));
    attempts.end.push_back(static_cast<std::int64_t>(one.bytes.end));
    attempts.token_offset.push_back(
        static_cast<std::int64_t>(one.tokens.begin));
    attempts.token_end.push_back(static_cast<std::int64_t>(one.tokens.end));
    attempts.why.push(one.why);
  }
  for (const Diagnostic& one : message.diagnostics) {
    diagnostics.offset.push_back(static_cast<std::int64_t>(one.bytes.begin));
    diagnostics.end.push_back(static_cast<std::int64_t>(one.bytes.end));
    diagnostics.code.push(to_string(one.code));
    diagnostics.field.push(one.field);
    diagnostics.message.push(one.message);
  }
  diagnostic_lists.end(diagnostics.offset.size());
  attempt_lists.end(attempts.offset.size());
  prefix_bytes.push_back(static_cast<std::int64_t>(message.prefix_bytes));
}

void MessageColumns::push_unread(std::string_view text, const Error& error) {
  valid.push(true);
  reasoning.push_null();
  content.push(text);
  other.push_null();
  call_lists.end(calls.complete.size());
  complete.push(false);
  turn_ended.push(false);
  diagnostics.offset.push_back(0);
  diagnostics.end.push_back(static_cast<std::int64_t>(text.size()));
  diagnostics.code.push(to_string(error.code));
  diagnostics.field.push("");
  diagnostics.message.push(error.message);
  diagnostic_lists.end(diagnostics.offset.size());
  attempt_lists.end(attempts.offset.size());
  prefix_bytes.push_back(0);
}

MessageColumns MessageColumns::merge(std::vector<MessageColumns> blocks) {
  if (blocks.empty()) return {};
  MessageColumns out = std::move(blocks.front());
  const auto take = [&](auto column) {
    for (std::size_t i = 1; i < blocks.size(); ++i) {
      column(out).take(std::move(column(blocks[i])));
    }
  };
  take([](MessageColumns & of) -> auto& { return of.valid; });
  take([](MessageColumns & of) -> auto& { return of.reasoning; });
  take([](MessageColumns & of) -> auto& { return of.content; });
  take([](MessageColumns & of) -> auto& { return of.other; });
  take([](MessageColumns & of) -> auto& { return of.call_lists; });
  take([](MessageColumns & of) -> auto& { return of.diagnostic_lists; });
  take([](MessageColumns & of) -> auto& { return of.calls.id; });
  take([](MessageColumns & of) -> auto& { return of.calls.name; });
  take([](MessageColumns & of) -> auto& { return of.calls.arguments; });
  take([](MessageColumns & of) -> auto& { return of.calls.complete; });
  take([](MessageColumns & of) -> auto& { return of.complete; });
  take([](MessageColumns & of) -> auto& { return of.turn_ended; });
  take([](MessageColumns & of) -> auto& { return of.attempt_lists; });
  take([](MessageColumns & of) -> auto& { return of.attempts.status; });
  take([](MessageColumns & of) -> auto& { return of.attempts.id; });
  take([](MessageColumns & of) -> auto& { return of.attempts.name; });
  take([](MessageColumns & of) -> auto& { return of.attempts.arguments; });
  take([](MessageColumns & of) -> auto& { return of.attempts.text; });
  take([](MessageColumns & of) -> auto& { return of.attempts.why; });
  take([](MessageColumns & of) -> auto& { return of.diagnostics.code; });
  take([](MessageColumns & of) -> auto& { return of.diagnostics.field; });
  take([](MessageColumns & of) -> auto& { return of.diagnostics.message; });
  // Numbers are not freed one column after the other: the blocks have them
  // until the end.
  const auto take_numbers = [&](auto column) {
    std::vector<std::int64_t>& to = column(out);
    for (std::size_t i = 1; i < blocks.size(); ++i) {
      const std::vector<std::int64_t>& from = column(blocks[i]);
      to.insert(to.end(), from.begin(), from.end());
    }
  };
  take_numbers(
      [](MessageColumns & of) -> auto& { return of.diagnostics.offset; });
  take_numbers([](MessageColumns & of) -> auto& { return of.diagnostics.end; });
  take_numbers([](MessageColumns & of) -> auto& { return of.attempts.offset; });
  take_numbers([](MessageColumns & of) -> auto& { return of.attempts.end; });
  take_numbers(
      [](MessageColumns & of) -> auto& { return of.attempts.token_offset; });
  take_numbers(
      [](MessageColumns & of) -> auto& { return of.attempts.token_end; });
  take_numbers([](MessageColumns & of) -> auto& { return of.prefix_bytes; });
  return out;
}

// --- Export ------------------------------------------------------------------

namespace {

// What the arrays of one result share.
struct Storage {
  MessageColumns columns;
  std::vector<std::int32_t> call_offsets, diagnostic_offsets, attempt_offsets;
};

// The private data of an array.  A consumer may move a child out of its parent,
// so each array owns the storage.
struct ArrayNode {
  std::shared_ptr<const Storage> storage;
  std::array<const void*, 3> buffers = {};
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
};

void release_array(ArrowArray* array) {
  // A child without `release` was moved out by the consumer, who releases it
  // (Arrow C data interface, "Moving child arrays").
  auto* const node = static_cast<ArrayNode*>(array->private_data);
  for (ArrowArray& child : node->children) {
    if (child.release != nullptr) child.release(&child);
  }
  delete node;
  array->release = nullptr;
}

class ArrayWriter {
 public:
  explicit ArrayWriter(std::shared_ptr<const Storage> storage)
      : storage_(std::move(storage)) {}

  ArrowArray texts(const TextColumn& column) const {
    return array(column.size(), &column.valid(),
                 {column.offsets(), not_null(column.data())}, {});
  }
  ArrowArray bits(const BitColumn& column) const {
    return array(column.size(), nullptr, {not_null(column.data())}, {});
  }
  ArrowArray integers(const std::vector<std::int64_t>& column) const {
    return array(column.size(), nullptr, {not_null(column.data())}, {});
  }
  ArrowArray lists(const std::vector<std::int32_t>& offsets,
                   ArrowArray items) const {
    return array(offsets.size() - 1, nullptr, {offsets.data()}, {items});
  }
  ArrowArray structs(std::size_t size, const BitColumn* valid,
                     std::vector<ArrowArray> members) const {
    return array(size, valid, {}, std::move(members));
  }

 private:
  // The specification lets an empty buffer be null.  A pointer spares readers
  // the case.
  static const void* not_null(const void* data) {
    static const std::int64_t kNothing = 0;
    return data != nullptr ? data : &kNothing;
  }

  // `valid`: null if no row is null.
  ArrowArray array(std::size_t size, const BitColumn* valid,
                   std::vector<const void*> buffers,
                   std::vector<ArrowArray> children) const {
    auto node = std::make_unique<ArrayNode>();
    node->storage = storage_;
    const std::size_t nulls = valid == nullptr ? 0 : valid->zeros();
    // Without a null there is no bitmap, which the specification allows.
    if (nulls != 0) node->buffers[0] = valid->data();
    std::ranges::copy(buffers, node->buffers.begin() + 1);
    node->children = std::move(children);
    // The list of children does not grow from here on, so that their addresses
    // stay.
    node->pointers.reserve(node->children.size());
    for (ArrowArray& child : node->children) node->pointers.push_back(&child);
    ArrowArray out = {};
    out.length = static_cast<std::int64_t>(size);
    out.null_count = static_cast<std::int64_t>(nulls);
    out.n_buffers = static_cast<std::int64_t>(1 + buffers.size());
    out.buffers = node->buffers.data();
    out.n_children = static_cast<std::int64_t>(node->pointers.size());
    out.children = node->pointers.empty() ? nullptr : node->pointers.data();
    out.release = &release_array;
    out.private_data = node.release();
    return out;
  }

  std::shared_ptr<const Storage> storage_;
};

}  // namespace

std::optional<Error> export_columns(MessageColumns columns, ArrowArray* out) {
  constexpr std::size_t kMostItems = std::numeric_limits<std::int32_t>::max();
  for (const ListColumn* lists :
       {&columns.call_lists, &columns.diagnostic_lists,
        &columns.attempt_lists}) {
    if (lists->items() > kMostItems) {
      return Error{ErrorCode::kTooLarge,
                   "the column would have more than 2^31 - 1 calls or "
                   "diagnostics; parse it in parts"};
    }
  }
  auto storage = std::make_shared<Storage>();
  storage->call_offsets = columns.call_lists.offsets();
  storage->diagnostic_offsets = columns.diagnostic_lists.offsets();
  storage->attempt_offsets = columns.attempt_lists.offsets();
  storage->columns = std::move(columns);
  const MessageColumns& from = storage->columns;
  const ArrayWriter writer(storage);
  const MessageColumns::Calls& calls = from.calls;
  const MessageColumns::Diagnostics& notes = from.diagnostics;
  ArrowArray call = writer.structs(
      calls.complete.size(), nullptr,
      {writer.texts(calls.id), writer.texts(calls.name),
       writer.texts(calls.arguments), writer.bits(calls.complete)});
  ArrowArray note =
      writer.structs(notes.offset.size(), nullptr,
                     {writer.integers(notes.offset), writer.integers(notes.end),
                      writer.texts(notes.code), writer.texts(notes.field),
                      writer.texts(notes.message)});
  const MessageColumns::Attempts& attempts = from.attempts;
  ArrowArray attempt = writer.structs(
      attempts.offset.size(), nullptr,
      {writer.texts(attempts.status), writer.texts(attempts.id),
       writer.texts(attempts.name), writer.texts(attempts.arguments),
       writer.texts(attempts.text), writer.integers(attempts.offset),
       writer.integers(attempts.end), writer.integers(attempts.token_offset),
       writer.integers(attempts.token_end), writer.texts(attempts.why)});
  // ORDER: the columns, in arrow_message_schema()
  *out =
      writer.structs(from.valid.size(), &from.valid,
                     {writer.texts(from.reasoning), writer.texts(from.content),
                      writer.lists(storage->call_offsets, call),
                      writer.texts(from.other), writer.bits(from.complete),
                      writer.lists(storage->diagnostic_offsets, note),
                      writer.bits(from.turn_ended),
                      writer.lists(storage->attempt_offsets, attempt),
                      writer.integers(from.prefix_bytes)});
  return std::nullopt;
}

}  // namespace parlance::arrow

namespace parlance {

// --- The schema --------------------------------------------------------------

namespace {

struct SchemaNode {
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
};

void release_schema(ArrowSchema* schema) {
  auto* const node = static_cast<SchemaNode*>(schema->private_data);
  for (ArrowSchema& child : node->children) {
    if (child.release != nullptr) child.release(&child);
  }
  delete node;
  schema->release = nullptr;
}

// `format` and `name` are literals.
ArrowSchema schema_node(const char* format, const char* name, bool nullable,
                        std::vector<ArrowSchema> children = {}) {
  constexpr std::int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE
  auto node = std::make_unique<SchemaNode>();
  node->children = std::move(children);
  node->pointers.reserve(node->children.size());
  for (ArrowSchema& child : node->children) node->pointers.push_back(&child);
  ArrowSchema out = {};
  out.format = format;
  out.name = name;
  out.flags = nullable ? kNullable : 0;
  out.n_children = static_cast<std::int64_t>(node->pointers.size());
  out.children = node->pointers.empty() ? nullptr : node->pointers.data();
  out.release = &release_schema;
  out.private_data = node.release();
  return out;
}

}  // namespace

// ORDER: the columns, as export_columns() writes them
void arrow_message_schema(ArrowSchema* out) {
  const auto list = [](const char* name, std::vector<ArrowSchema> members) {
    return schema_node("+l", name, true,
                       {schema_node("+s", "item", true, std::move(members))});
  };
  *out = schema_node(
      "+s", "", true,
      {schema_node("U", "reasoning", true), schema_node("U", "content", true),
       list("tool_calls",
            {schema_node("U", "id", true), schema_node("U", "name", true),
             schema_node("U", "arguments", true),
             schema_node("b", "complete", true)}),
       schema_node("U", "other", true), schema_node("b", "complete", true),
       list("diagnostics",
            {schema_node("l", "offset", true), schema_node("l", "end", true),
             schema_node("U", "code", true), schema_node("U", "field", true),
             schema_node("U", "message", true)}),
       schema_node("b", "turn_ended", true),
       list(
           "attempted_calls",
           {schema_node("U", "status", true), schema_node("U", "id", true),
            schema_node("U", "name", true), schema_node("U", "arguments", true),
            schema_node("U", "text", true), schema_node("l", "offset", true),
            schema_node("l", "end", true),
            schema_node("l", "token_offset", true),
            schema_node("l", "token_end", true),
            schema_node("U", "why", true)}),
       schema_node("l", "prefix_bytes", true)});
}

}  // namespace parlance
