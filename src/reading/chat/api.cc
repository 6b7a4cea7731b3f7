// Implements parlance/chat.h.

#include <utility>

#include "base/unwinding.h"
#include "chat/blocks.h"
#include "chat/writers.h"
#include "parlance/chat.h"

namespace parlance {
namespace {

std::unique_ptr<chat::BlockWriter> writer_of(
    const chat::Conversation& conversation) {
  switch (conversation.options.api) {
    case ChatApi::kChatCompletions:
      break;
    case ChatApi::kResponses:
      return chat::responses_writer(conversation);
    case ChatApi::kMessages:
      return chat::messages_writer(conversation);
  }
  return chat::completions_writer(conversation);
}

chat::Conversation conversation_of(std::vector<ChatField> fields,
                                   ChatOptions options) {
  chat::Conversation out;
  out.options = std::move(options);
  out.other = events::FieldValues(fields.size());
  out.fields = std::move(fields);
  if (out.options.id.empty()) {
    constexpr std::string_view kPrefixes[] = {"chatcmpl-", "resp_", "msg_"};
    out.options.id =
        chat::random_id(kPrefixes[static_cast<std::size_t>(out.options.api)]);
  }
  return out;
}

}  // namespace

struct ChatStream::Impl {
  Impl(std::vector<ChatField> fields, ChatOptions options)
      : conversation(conversation_of(std::move(fields), std::move(options))),
        writer(writer_of(conversation)),
        builder(conversation, *writer) {}

  // When there is no memory, the stream has ended.
  void fail() { begun = conversation.ended = true; }

  void begin() {
    if (begun) return;
    begun = true;
    writer->begin();
  }

  chat::Conversation conversation;
  std::unique_ptr<chat::BlockWriter> writer;
  chat::BlockBuilder builder;
  bool begun = false;
};

ChatStream::ChatStream(std::vector<ChatField> fields, ChatOptions options)
    : impl_(std::make_unique<Impl>(std::move(fields), std::move(options))) {}
ChatStream::~ChatStream() = default;
ChatStream::ChatStream(ChatStream&&) noexcept = default;
ChatStream& ChatStream::operator=(ChatStream&&) noexcept = default;

std::vector<ChatChunk> ChatStream::begin() {
  const base::OnUnwinding fail([&] { impl_->fail(); });
  impl_->begin();
  return impl_->writer->take();
}

std::vector<ChatChunk> ChatStream::feed(std::span<const Event> events) {
  const base::OnUnwinding fail([&] { impl_->fail(); });
  impl_->begin();
  if (!impl_->conversation.ended) {
    for (const Event& event : events) impl_->builder.read(event);
  }
  return impl_->writer->take();
}

std::vector<ChatChunk> ChatStream::end(ChatEnd why, const ChatUsage& usage) {
  const base::OnUnwinding fail([&] { impl_->fail(); });
  impl_->begin();
  if (!impl_->conversation.ended) {
    impl_->builder.finish();
    impl_->conversation.why = why;
    impl_->conversation.set_usage(usage);
    impl_->conversation.ended = true;
    impl_->writer->end();
  }
  return impl_->writer->take();
}

json::Value ChatStream::response() const { return impl_->writer->response(); }

TokenCounts ChatStream::tokens() const { return impl_->conversation.counts(); }

}  // namespace parlance
